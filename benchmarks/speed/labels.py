"""Seconds that the method ``labeled`` takes for each metric where all of many rows have labels.

    OMP_NUM_THREADS=1 python -m benchmarks.speed.labels [--rows 20000] [--repeats 3]

One `ssme.evaluate` with the metric alone, intervals and 1,000 joint draws included; two classes and
seven classifiers. "all four" are the four metrics that an evaluation has unless told otherwise, in
one call. CPU seconds of the process, the least of the repeats, so that a busy machine disturbs them
less. Written to ``benchmarks/results/labeled_speed.csv``.
"""

from __future__ import annotations

import numpy as np

import ssme
from benchmarks.experiment import read_arguments
from benchmarks.speed._common import measure_seconds, write_rows
from ssme.arrays import FloatArray
from ssme.metrics import default_metrics

N_MODELS = 7
OTHERS = ("f1", "balanced_accuracy", "matthews_corrcoef", "log_loss", "brier_score", "ece_l2")


def make_scores(n_rows: int) -> tuple[FloatArray, FloatArray]:
    """Scores (n, M) of the positive class, a fifth of the rows, and all labels."""
    rng = np.random.default_rng(0)
    labels = rng.random(n_rows) < 0.2
    shared = 2.5 * (2.0 * labels - 1.0) - 1.0 + 1.5 * rng.normal(size=n_rows)
    logits = shared[:, None] + 1.2 * rng.normal(size=(n_rows, N_MODELS))
    return 1.0 / (1.0 + np.exp(-1.3 * logits)), labels.astype(np.float64)


def measure_metrics(n_rows: int, metrics: list[str], repeats: int) -> float:
    """CPU seconds of one evaluation, the least of so many."""
    scores, labels = make_scores(n_rows)
    ssme.evaluate(scores[:200], labels[:200], method="labeled", metrics=metrics)
    return measure_seconds(
        lambda: ssme.evaluate(scores, labels, method="labeled", metrics=metrics), repeats
    )


def main() -> None:
    given = read_arguments(__doc__, rows=20_000, repeats=3)
    usual = list(default_metrics(2))
    asked = {**{name: [name] for name in (*usual, *OTHERS)}, "all four": usual}
    rows = []
    for name, metrics in asked.items():
        seconds = measure_metrics(given.rows, metrics, given.repeats)
        rows.append((name, given.rows, N_MODELS, f"{seconds:.4g}"))
        print(f"{name:<20}{seconds:8.3f} s", flush=True)
    write_rows("labeled_speed", ["metric", "rows", "models", "seconds"], rows)


if __name__ == "__main__":
    main()
