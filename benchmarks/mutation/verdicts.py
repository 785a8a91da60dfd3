"""Files of a run over mutants: one line per mutant, counts, and why a fault survives.

`reasons.csv` says of changes why no test sees them, each with its kind (`KINDS`), by file,
function, line of code and text before and after. A survivor counts as equivalent where its kind
is one of `EQUIVALENT`; a mutant that was killed never does. A line is found again although
functions were renamed meanwhile: its function, and names that are called in it, may differ.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.mutation.operators import FUNCTIONS, Mutant

REASONS = Path(__file__).with_name("reasons.csv")
KINDS = {
    "same": "the result is the same for every input",
    "speed": "only speed or memory changes",
    "chance": "other draws of the same distribution, or an event of probability zero",
    "rounding": "the result changes by rounding only",
    "small": "the result changes by less than a test should notice",
    "late": "a test kills it that the run did not reach in its time, or that was written later",
    "unseen": "a fault that no test notices",
}
"""Why a mutant survives."""
EQUIVALENT = ("same", "speed", "chance", "rounding")
COLUMNS = ("group", "file", "line", "function", "code", "operator", "before", "after", "number")
COLUMNS += ("outcome", "killed_by", "tests", "seconds", "kind", "reason")


class Log:
    """A file to which every row is written at once."""

    def __init__(self, path: Path, rows: Sequence[dict[str, Any]] = ()) -> None:
        self.path, self.rows = path, list(rows)
        write(self.rows, path, COLUMNS)

    def add(self, row: dict[str, Any]) -> None:
        self.rows.append(row)
        with self.path.open("a", newline="") as file:
            csv.DictWriter(file, COLUMNS, lineterminator="\n").writerow(row)


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The rows of a run, without a last one that was cut off; none where there is no file."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    return [
        {**row, "line": int(row["line"]), "number": int(row["number"])}
        for row in rows
        if None not in row.values() and row["outcome"]
    ]


def write(rows: Iterable[dict[str, Any]], path: Path, columns: Sequence[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


Reasons = Sequence[dict[str, str]]


def read_reasons(path: Path = REASONS) -> Reasons:
    """The lines of `reasons.csv`."""
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def find_reason(row: dict[str, Any], known: Reasons) -> dict[str, str]:
    """Kind and reason of a survivor; both empty for what was killed."""
    if row["outcome"] == "killed":
        return {"kind": "", "reason": ""}
    alike = [each for each in known if _are_alike(each, row)]
    named = [each for each in alike if each["function"] == row["function"]] or alike
    found = {(each["kind"], each["reason"]) for each in named}
    kind, reason = found.pop() if len(found) == 1 else ("unseen", "")
    return {"kind": kind, "reason": reason}


def _are_alike(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two changes are the same but for the names of functions."""
    return one["file"] == other["file"] and all(
        _drop_called(one[name]) == _drop_called(other[name]) for name in ("code", "before", "after")
    )


def _drop_called(text: str) -> str:
    """Code without the names that it calls, but for NumPy's and those that a mutant changes."""
    called = r"(?<!np\.)\b[A-Za-z_]\w*(?=\()"
    return re.sub(called, lambda name: name[0] if name[0] in FUNCTIONS else "f", text)


def find_again(row: dict[str, Any], known: Sequence[Mutant]) -> Mutant | None:
    """The mutant of a row among the present ones of its file, the nearest of several alike."""
    present = [(mutant, asdict(mutant)) for mutant in known if mutant.operator == row["operator"]]
    same = [mutant for mutant, as_row in present if _are_alike(as_row, row)]
    same = [mutant for mutant in same if mutant.function == row["function"]] or same
    return min(
        same,
        key=lambda m: (
            m.code != row["code"],
            abs(m.line - row["line"]),
            abs(m.number - row["number"]),
        ),
        default=None,
    )


def summarize(rows: Sequence[dict[str, Any]], sizes: dict[str, int]) -> list[dict[str, Any]]:
    """Counts of every group and of all, where ``sizes`` has the mutants of every group.

    ``killed_share`` counts every survivor as missed; ``killed_of_different`` leaves out those that
    are equivalent, and has a 95% interval (Wilson's) for what all mutants would give.
    """
    table = []
    for group in (*sizes, "all"):
        of = [row for row in rows if group in (row["group"], "all")]
        if not of:
            continue
        killed = sum(row["outcome"] == "killed" for row in of)
        same = sum(row["kind"] in EQUIVALENT for row in of)
        low, high = _compute_interval(killed, len(of) - same)
        table.append(
            {
                "group": group,
                "mutants": sizes.get(group, sum(sizes.values())),
                "sampled": len(of),
                "killed": killed,
                "equivalent": same,
                "survived": len(of) - killed - same,
                "killed_share": round(killed / len(of), 3),
                "killed_of_different": round(killed / max(len(of) - same, 1), 3),
                "low": round(low, 3),
                "high": round(high, 3),
            }
        )
    return table


def _compute_interval(hits: int, tries: int, z: float = 1.96) -> tuple[float, float]:
    if not tries:
        return 0.0, 1.0
    share, slack = hits / tries, z * z / tries
    middle = (share + slack / 2) / (1 + slack)
    half = z * math.sqrt(share * (1 - share) / tries + slack / tries / 4) / (1 + slack)
    return middle - half, middle + half
