"""Damaged stores of finished cells: refused by name, or read without a changed number.

    python -m benchmarks.fuzz.store [--cases 10000] [--seed 0] [--workers 1]

A sound ``cells.jsonl`` is changed at random (`benchmarks.fuzz.mutations`) and opened. It may be
refused with an `InputError` that names the file, or read; then every cell has to be one that was
written, to the bit. Writes ``benchmarks/results/fuzz_store.csv``, one line per kind of change.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from benchmarks.fuzz.tables import Outcomes, start, try_damaged
from ssme.bench.store import CellStore


def make_cells(number: int | list[int]) -> list[dict[str, object]]:
    """Finished cells as a run keeps them."""
    rng = np.random.default_rng(number)
    return [
        {
            "key": f"set|{run}",
            "settings": '{"data":"0f","seed":0}',
            "provenance": {"ssme": "1", "source": "00", "numpy": "2"},
            "rows": [{"model": "a", "metric": "accuracy", "estimate": rng.random(), "low": None}],
            "seconds": rng.random(),
        }
        for run in range(4)
    ]


def attack(cases: int, seed: int | list[int]) -> Outcomes:
    """Change and open ``cases`` stores."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cells.jsonl"
        store, written = CellStore(path), make_cells(seed)
        for cell in written:
            store.keep(cell)
        rng = np.random.default_rng(seed)
        return try_damaged(
            path, lambda path: all(c in written for c in CellStore(path).done.values()), cases, rng
        )


if __name__ == "__main__":
    start(attack, "fuzz_store", __doc__)
