"""Four metrics of many label draws: scikit-learn's functions in a loop, and ours at once.

Run: OMP_NUM_THREADS=1 python -m benchmarks.speed.metrics

Both sides start from the same scores and label draws; ours includes planning. Processor time of one
core, same run; the loop is timed on some of the draws and scaled. Prints the largest difference
between the two beside the ratio.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.calibration import calibration_curve
from sklearn.metrics import accuracy_score, average_precision_score, roc_auc_score

from benchmarks.speed._common import measure_seconds
from ssme.metrics import default_metrics, get_metric, one_hot_mass

N_ROWS, N_MODELS, N_DRAWS, N_TIMED_DRAWS, N_REPEATS = 1020, 7, 100, 10, 20

Floats = NDArray[np.float64]


def compute_at_once(positive: Floats, labels: NDArray[np.int64]) -> Floats:
    """Values (4, D, M)."""
    scores = np.stack([1.0 - positive, positive], axis=2)
    mass = one_hot_mass(labels, 2)
    return np.stack([get_metric(name)(scores, mass) for name in default_metrics(2)])


def compute_in_a_loop(positive: Floats, labels: NDArray[np.int64]) -> Floats:
    """The same, as a user of scikit-learn would write it."""
    out = np.empty((4, len(labels), positive.shape[1]))
    for d, y in enumerate(labels):
        for m, score in enumerate(positive.T):
            frequency, mean = calibration_curve(y, score, n_bins=10, strategy="quantile")
            out[:, d, m] = (
                accuracy_score(y, score >= 0.5),
                np.abs(frequency - mean).mean(),
                roc_auc_score(y, score),
                average_precision_score(y, score),
            )
    return out


def main() -> None:
    rng = np.random.default_rng(0)
    positive = rng.random((N_ROWS, N_MODELS))
    labels = (rng.random((N_DRAWS, N_ROWS)) < positive.mean(axis=1)).astype(np.int64)
    some = labels[:N_TIMED_DRAWS]
    difference = np.abs(compute_at_once(positive, some) - compute_in_a_loop(positive, some)).max()
    ours = measure_seconds(lambda: compute_at_once(positive, labels), N_REPEATS, choose=np.median)
    theirs = measure_seconds(lambda: compute_in_a_loop(positive, some)) * N_DRAWS / N_TIMED_DRAWS
    print(
        f"{N_ROWS} rows, {N_MODELS} classifiers, {N_DRAWS} draws, {len(default_metrics(2))} metrics"
    )
    print(f"scikit-learn in a loop  {1e3 * theirs:8.1f} ms")
    print(f"ssme at once            {1e3 * ours:8.1f} ms")
    print(f"ratio                   {theirs / ours:8.0f} x   largest difference {difference:.1e}")


if __name__ == "__main__":
    main()
