"""Fuzz config files: generated specs, wrong values and damaged bytes in TOML, YAML and JSON.

A case must end in one of two ways: the config is read, and writing what was read and reading that
gives the same spec; or it is refused with an `InputError` of bounded length. Anything else counts
as uncaught; a spec that changes on the way through a file counts as lost.

Run: python -m benchmarks.fuzz.config [--cases 10000] [--seed 0]
"""

from __future__ import annotations

import argparse
import csv
import json
import tempfile
import traceback
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.fuzz.values import TEXTS, plain_value
from ssme.config import config_text, parse_config, read_config
from ssme.errors import InputError
from ssme.run import RunSpec

RESULTS = Path(__file__).parents[1] / "results" / "fuzz_config.csv"
SUFFIXES = (".toml", ".yaml", ".json")
LONGEST_MESSAGE = 10_000
KEYS = {
    "read": (
        *(
            "label",
            "models",
            "group",
            "labels_file",
            "no_labels",
            "id",
            "weight",
            "layout",
            "pattern",
        ),
        *("classes", "positive", "unlabeled", "logits", "normalize", "delimiter", "model", "class"),
        "score",
    ),
    "run": ("method", "metric", "by", "threshold", "level", "draws", "seed", "option"),
    "engine": ("engine", "workers", "scheduler", "sample_rows", "checkpoint"),
}
SOUND: dict[str, Any] = {
    "label": "y",
    "models": ["a", "b"],
    "group": ["site"],
    "classes": ["ham", "spam"],
    "unlabeled": [-1],
    "logits": True,
    "method": "ensemble",
    "metric": ["accuracy", {"name": "ece", "norm": "l2"}],
    "by": [],
    "level": 0.9,
    "seed": None,
    "option": {"n_draws": 5},
}


def make_config(rng: np.random.Generator) -> dict[str, Any]:
    """A config, mostly sound."""
    config: dict[str, Any] = {"file": "scores.csv"} if rng.random() < 0.9 else {}
    for section, keys in KEYS.items():
        if rng.random() < 0.3:
            continue
        part = {}
        for key in keys:
            if key in SOUND and rng.random() < 0.3:
                part[key] = SOUND[key]
            elif rng.random() < 0.03:
                part[key] = plain_value(rng)
        if rng.random() < 0.02:
            part[str(TEXTS[rng.integers(len(TEXTS))])] = plain_value(rng)
        config[section] = part if rng.random() < 0.98 else plain_value(rng)
    return config


def make_bytes(suffix: str, rng: np.random.Generator) -> bytes:
    """The bytes of a config file, of which some are damaged."""
    config = make_config(rng)
    try:
        content = config_text(config, suffix).encode("utf-8", "surrogatepass")
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


def run(cases: int, seed: int) -> list[dict[str, Any]]:
    """Counts of how the cases of each format end."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for number, suffix in enumerate(SUFFIXES):
            rng = np.random.default_rng([seed, number])
            share = cases // len(SUFFIXES) + (number < cases % len(SUFFIXES))
            ends = Counter(
                try_case(make_bytes(suffix, rng), suffix, Path(folder)) for _ in range(share)
            )
            kinds = ("read", "refused", "lost", "uncaught")
            rows.append({"format": suffix, "cases": share, **{kind: ends[kind] for kind in kinds}})
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    rows = run(asked.cases, asked.seed)
    with RESULTS.open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
    for row in rows:
        print(row)


if __name__ == "__main__":
    main()
