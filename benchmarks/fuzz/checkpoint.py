"""Damaged checkpoints of a streamed pass: refused by name, or read without a changed number.

    python -m benchmarks.fuzz.checkpoint [--cases 10000] [--seed 0] [--workers 1]

A sound checkpoint is changed at random (`benchmarks.fuzz.mutations`) and loaded. It may be refused
with an `InputError` that names the file, or read; then its sums have to be those that were written,
to the bit. Writes ``benchmarks/results/fuzz_checkpoint.csv``, one line per kind of change.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from benchmarks.fuzz.tables import Outcomes, start, try_damaged
from ssme.stream.counting import Progress, RunMark, load, save

MARK = RunMark((("a.parquet", 10, 20, "ff"),), "0f")


def make_progress(seed: int | list[int]) -> Progress:
    """Sums over some parts, with two groups."""
    rng = np.random.default_rng(seed)
    made = Progress(3, 30, 2, {"ranking": rng.random((2, 5)), "decisions": rng.random(4)})
    made.groups.add_rows((value, {"ranking": rng.random((2, 5))}, 15, 1) for value in (0, 7))
    return made


def is_same(one: Progress, other: Progress) -> bool:
    """Whether both hold the same sums, to the bit."""
    plain = [
        (p.n_parts, p.n_rows, p.n_labeled, p.groups.rows, p.groups.labeled) for p in (one, other)
    ]
    return plain[0] == plain[1] and all(
        np.array_equal(values, found.get(name))
        for values_of, found in [
            (one.sums, other.sums),
            *((one.groups.take_sums(key), other.groups.take_sums(key)) for key in one.groups.rows),
        ]
        for name, values in values_of.items()
    )


def attack(cases: int, seed: int | list[int]) -> Outcomes:
    """Change and load ``cases`` checkpoints."""
    with tempfile.TemporaryDirectory() as folder:
        path, written = Path(folder) / "pass.ckpt", make_progress(seed)
        save(path, written, MARK)
        rng = np.random.default_rng(seed)
        return try_damaged(path, lambda path: is_same(written, load(path, MARK)), cases, rng)


if __name__ == "__main__":
    start(attack, "fuzz_checkpoint", __doc__)
