"""Fuzz config files: generated specs, wrong values and damaged bytes in TOML, YAML and JSON.

A case must end in one of two ways: the config is read, and writing what was read and reading that
gives the same spec; or it is refused with an `InputError` of bounded length. Anything else counts
as uncaught; a spec that changes on the way through a file counts as lost.

Run: python -m benchmarks.fuzz.config [--cases 10000] [--seed 0] [--workers 1]
"""

from __future__ import annotations

import json
import tempfile
import traceback
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.fuzz.tables import CHUNK, make_parser, split_cases, spread, write_counts
from benchmarks.fuzz.values import TEXTS, make_plain_value
from ssme.config import format_config, parse_config, read_config
from ssme.errors import InputError
from ssme.options import list_declared
from ssme.run import RunSpec
from ssme.schema import ReadOptions

SUFFIXES = (".toml", ".yaml", ".json")
LONGEST_MESSAGE = 10_000
ENGINE = ("engine", "workers", "scheduler", "sample_rows", "checkpoint")
KEYS = {
    "read": tuple(each.key for each in list_declared(ReadOptions)),
    "run": tuple(
        each.key for each in list_declared(RunSpec) if each.name not in ("source", *ENGINE)
    ),
    "engine": ENGINE,
}
"""Every key that a config may have, from the declarations, so that none is left out."""
SOUND: dict[str, Any] = {
    "label": "y",
    "models": ["a", "b"],
    "groups": ["site"],
    "classes": ["ham", "spam"],
    "unlabeled": [-1],
    "logits": True,
    "method": "ensemble",
    "metrics": ["accuracy", {"name": "ece", "norm": "l2"}],
    "by": [],
    "level": 0.9,
    "random_state": None,
    "options": {"n_draws": 5},
}


def make_config(rng: np.random.Generator) -> dict[str, Any]:
    """A config, mostly sound."""
    config: dict[str, Any] = {"source": "scores.csv"} if rng.random() < 0.9 else {}
    for section, keys in KEYS.items():
        if rng.random() < 0.3:
            continue
        part = {}
        for key in keys:
            if key in SOUND and rng.random() < 0.3:
                part[key] = SOUND[key]
            elif rng.random() < 0.03:
                part[key] = make_plain_value(rng)
        if rng.random() < 0.02:
            part[str(TEXTS[rng.integers(len(TEXTS))])] = make_plain_value(rng)
        config[section] = part if rng.random() < 0.98 else make_plain_value(rng)
    return config


def make_bytes(suffix: str, rng: np.random.Generator) -> bytes:
    """The bytes of a config file, of which some are damaged."""
    config = make_config(rng)
    try:
        content = format_config(config, suffix).encode("utf-8", "surrogatepass")
    except InputError:
        content = json.dumps(config).encode()
    if rng.random() < 0.5:
        return content
    out = bytearray(content)
    for _ in range(rng.integers(1, 4)):
        place = int(rng.integers(len(out) + 1))
        if rng.random() < 0.5:
            out[place:place] = rng.choice(
                [b"&a ", b"*a", b"[", b"]", b"{", b"}", b"=", b":", b"\n", b"\xff", b"\x00", b"'''"]
            )
        else:
            del out[place : place + int(rng.integers(1, 6))]
    return bytes(out)


def try_case(content: bytes, suffix: str, folder: Path) -> str:
    """How a case ends: read, refused, lost or uncaught."""
    path = folder / f"run{suffix}"
    path.write_bytes(content)
    try:
        spec = RunSpec.from_dict(read_config(path))
        for each in SUFFIXES:
            text = spec.to_text(each)
            again = RunSpec.from_dict(parse_config(text, each, "it"))
            if repr(again) != repr(spec):
                return "lost"
    except InputError as error:
        return "refused" if len(str(error)) < LONGEST_MESSAGE else "uncaught"
    except Exception:
        traceback.print_exc()
        return "uncaught"
    return "read"


def try_cases(suffix: str, cases: int, seed: int, chunk: int) -> Counter[str]:
    """Counts of how so many cases of one format end."""
    rng = np.random.default_rng([seed, SUFFIXES.index(suffix), chunk])
    with tempfile.TemporaryDirectory() as folder:
        return Counter(
            try_case(make_bytes(suffix, rng), suffix, Path(folder)) for _ in range(cases)
        )


def run(cases: int, seed: int, workers: int = 1) -> list[dict[str, Any]]:
    """Counts of how ``cases`` of each format end."""
    tasks = [
        (suffix, size, seed, first // CHUNK)
        for suffix in SUFFIXES
        for first, size in split_cases(cases)
    ]
    ends = {suffix: Counter[str]() for suffix in SUFFIXES}
    for (suffix, *_), found in zip(tasks, spread(try_cases, tasks, workers), strict=True):
        ends[suffix].update(found)
    kinds = ("read", "refused", "lost", "uncaught")
    return [
        {"format": suffix, "cases": cases, **{kind: ends[suffix][kind] for kind in kinds}}
        for suffix in SUFFIXES
    ]


def main() -> int:
    asked = make_parser(__doc__).parse_args()
    rows = run(asked.cases, asked.seed, asked.workers)
    write_counts(rows, "fuzz_config")
    return 1 if any(row["lost"] or row["uncaught"] for row in rows) else 0


if __name__ == "__main__":
    raise SystemExit(main())
