"""Calibration records of judges: how well each agreed with people, and when this is outdated.

A file of JSON Lines has one record per judge and evaluation:

    {"judge": "judge_gpt", "prompt": "9f86d081884c", "n_labels": 120, "agreement": 0.91,
     "low": 0.84, "high": 0.95, "date": "2026-11-19"}

The last record of a judge is outdated where its prompt has changed, where its agreement differs by
more than chance from that of now, and where it is older than `LONGEST_DAYS`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from ssme.errors import InputError
from ssme.writing import write_text

LONGEST_DAYS = 90
CHANCE = 1.96
"""Standard errors of the difference of two agreements that chance explains."""
FIELDS = ("judge", "prompt", "n_labels", "agreement", "low", "high", "date")


def compare_records(
    path: Path | None, judges: Sequence[Mapping[str, Any]], prompts: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """The calibration of each judge now, and how the last record of it compares (``status``)."""
    if path is None:
        if prompts:
            raise InputError("`prompts` are for the record of judges", hint="name it with `record`")
        return []
    unknown = sorted(set(prompts) - {row["judge"] for row in judges})
    if unknown:
        raise InputError(f"`prompts` has {unknown[0]!r}, which is not a judge")
    last = {record["judge"]: record for record in _read(path)}
    found = []
    for row in judges:
        name = "accuracy" if "accuracy" in row else "correlation"
        record = {
            "judge": row["judge"],
            "prompt": _hash(prompts.get(row["judge"])),
            "n_labels": row["n_labels"],
            "agreement": _round(row[name]),
            "low": _round(row[f"{name}_low"]),
            "high": _round(row[f"{name}_high"]),
            "date": date.today().isoformat(),
        }
        found.append(record | {"status": _judge(last.get(row["judge"]), record)})
    return found


def add_records(path: Path, records: Sequence[Mapping[str, Any]]) -> None:
    """Add the records of judges with labels to the file."""
    lines = [json.dumps({name: record[name] for name in FIELDS}) for record in _read(path)]
    lines += [
        json.dumps({name: record[name] for name in FIELDS})
        for record in records
        if record["agreement"] is not None
    ]
    write_text(path, "\n".join(dict.fromkeys(lines)) + "\n")


def _judge(old: Mapping[str, Any] | None, new: Mapping[str, Any]) -> str:
    """Whether a record is still true of what is seen now."""
    if old is None:
        return "new"
    if old["prompt"] != new["prompt"] and new["prompt"] is not None:
        return f"outdated: another prompt than on {old['date']}"
    if new["agreement"] is not None and old["agreement"] is not None:
        squares = [
            ((each["high"] - each["low"]) / (2.0 * CHANCE)) ** 2
            for each in (old, new)
            if each["low"] is not None and each["high"] is not None
        ]
        off = new["agreement"] - old["agreement"]
        if len(squares) == 2 and abs(off) > CHANCE * sum(squares) ** 0.5:
            return f"outdated: agreement was {old['agreement']:.3f} on {old['date']}"
    days = (date.fromisoformat(new["date"]) - date.fromisoformat(old["date"])).days
    if days > LONGEST_DAYS:
        return f"outdated: {days} days old"
    return f"as on {old['date']}"


def _hash(prompt: Any) -> str | None:
    """The start of the SHA-256 of a prompt, the content of a file or text."""
    if prompt is None:
        return None
    text = str(prompt)
    content = text.encode()
    if len(text) < 1000 and "\n" not in text and Path(text).is_file():
        content = Path(text).read_bytes()
    return hashlib.sha256(content).hexdigest()[:12]


def _round(value: float) -> float | None:
    return round(float(value), 4) if value == value else None


def _read(path: Path) -> list[dict[str, Any]]:
    """The records in a file; none where there is no file yet."""
    if not path.exists():
        return []
    records = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            record = json.loads(line)
            date.fromisoformat(record["date"])
            if not set(FIELDS) <= record.keys():
                raise ValueError
        except (ValueError, KeyError, TypeError, AttributeError):
            raise InputError(
                f"line {number} of {path} is not a record of a judge",
                hint="correct it, or name another file with `record`",
            ) from None
        records.append(record)
    return records
