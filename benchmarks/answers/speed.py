"""Seconds that a whole evaluation of judges takes: 1,000 rows and 30 judges, and other sizes.

Each row of ``benchmarks/results/answers_speed.csv`` is the median of so many evaluations in one
process on one core, data in memory, metrics accuracy and Cohen's kappa, 100 labels.

    python -m benchmarks.answers.speed
"""

from __future__ import annotations

import time

import numpy as np
import pandas as pd

import ssme
from benchmarks.experiment import RESULTS, read_arguments
from benchmarks.provenance import record
from ssme.data.scoreset import ScoreSet

SIZES = ((1_000, 30, 2), (1_000, 30, 4), (1_000, 7, 2), (10_000, 30, 2))
"""Rows, judges and classes."""


def make_judges(n: int, judges: int, classes: int, labels: int = 100, seed: int = 0) -> ScoreSet:
    """Judges who share difficulty; each answers 80% of the rows."""
    rng = np.random.default_rng(seed)
    truth, hard = rng.integers(0, classes, n), rng.normal(size=(n, 1))
    right = rng.normal(size=(n, judges)) < np.linspace(0.4, 1.8, judges) - hard
    wrong = (truth[:, None] + rng.integers(1, classes, (n, judges))) % classes
    said = np.where(right, truth[:, None], wrong).astype(object)
    away = rng.random((n, judges)) < 0.2
    away[np.arange(n), rng.integers(0, judges, n)] = False
    said[away] = None
    known = [int(y) if i < labels else None for i, y in enumerate(truth)]
    return ScoreSet.from_answers(said, known, classes=list(range(classes)))


def main() -> None:
    args = read_arguments(__doc__, repeats=5)
    rows = []
    for n, judges, classes in SIZES:
        data = make_judges(n, judges, classes)
        ssme.evaluate(data, metrics=["accuracy", "cohen_kappa"], random_state=0)
        seconds, cpu = [], []
        for _ in range(args.repeats):
            start, used = time.perf_counter(), time.process_time()
            ssme.evaluate(data, metrics=["accuracy", "cohen_kappa"], random_state=0)
            seconds.append(time.perf_counter() - start)
            cpu.append(time.process_time() - used)
        rows.append(
            {
                "rows": n,
                "judges": judges,
                "classes": classes,
                "seconds": float(np.median(seconds)),
                "cpu_seconds": float(np.median(cpu)),
            }
        )
        print(rows[-1], flush=True)
    file = RESULTS / "answers_speed.csv"
    pd.DataFrame(rows).to_csv(file, index=False, float_format="%.3g")
    record(file)


if __name__ == "__main__":
    main()
