"""Damaged memories of a project: refused by name, or read without a crash.

    python -m benchmarks.fuzz.memory [--cases 10000] [--seed 0] [--workers 1]

A sound SQLite file is changed at random (`benchmarks.fuzz.mutations`), opened, read whole and added
to. It may be refused with an `InputError` that names the file, or read. SQLite keeps no checksums,
so a damaged file that reads may hold a changed value; ``read_changed`` counts these. Writes
``benchmarks/results/fuzz_memory.csv``, one line per kind of change.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.fuzz.tables import Outcomes, start, try_damaged
from ssme.memory import DecisionRecord, EstimateRecord, EvaluationRecord, LabelEvent, Memory

OUTCOMES = ("refused", "read", "read_changed", "not_named", "uncaught", "hang")


def fill(path: Path, seed: int | list[int]) -> None:
    """A memory as a project has it, of a few pages."""
    rng = np.random.default_rng(seed)
    events = [
        LabelEvent(f"row-{i}", ("spam", 1, True, None)[i % 4], annotator="ada", key=f"k{i}")
        for i in range(60)
    ]
    estimates = tuple(
        EstimateRecord(f"m{i}", "accuracy", "all", float(rng.random()), 0.1, 0.9, 0.5)
        for i in range(20)
    )
    decisions = (DecisionRecord("accuracy", "m0", 0.9, 0.01, ("m0", "m1")),)
    scores = {"m0": (0.5, 0.5)}
    with Memory(path) as memory:
        memory.add_labels(events)
        for turn in range(3):
            memory.add_evaluation(
                EvaluationRecord(
                    {"method": "auto"}, "auto", 100, turn, "0", estimates, decisions, scores
                )
            )


def read_all(path: Path) -> Any:
    """Everything that a memory holds."""
    with Memory(path) as memory:
        found = (memory.label_events(), memory.labels(), memory.conflicts(), memory.evaluations())
        memory.add_labels([LabelEvent("new", 1, key="new")])
        return found


def attack(cases: int, seed: int | list[int]) -> Outcomes:
    """Change and open ``cases`` memories."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "project.sqlite"
        fill(path, seed)
        sound = path.read_bytes()
        written = read_all(path)
        path.write_bytes(sound)
        rng = np.random.default_rng(seed)
        return try_damaged(path, lambda path: read_all(path) == written, cases, rng, OUTCOMES)


if __name__ == "__main__":
    start(attack, "fuzz_memory", __doc__)
