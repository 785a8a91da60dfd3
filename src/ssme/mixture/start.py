"""Where EM starts: hard assignments of the unlabeled rows.

- ``draw``: one label per row drawn from the mean score of the classifiers (the paper's choice)
- ``knn``: the majority among the k = 5 nearest labeled rows (the paper's alternative)

Source: Shanmugam et al. 2025, sec. 3.1 and app. D (robustness to initializations).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ssme.densities.base import FloatArray
from ssme.errors import InputError

__all__ = ["STARTS", "draw_probabilities", "draw_start", "start_by_neighbors"]

STARTS = ("draw", "knn")


def draw_probabilities(scores: FloatArray) -> FloatArray:
    """Mean over classifiers (n, K) of ``scores`` (n, M, K), NaN left out.

    A row that no classifier scored gets the mean of the other rows.
    """
    present = np.isfinite(scores)
    count = present.sum(axis=1)
    mean: FloatArray = np.where(present, scores, 0.0).sum(axis=1) / np.maximum(count, 1)
    scored = count[:, 0] > 0
    mean[~scored] = mean[scored].mean(axis=0) if scored.any() else 1.0 / scores.shape[2]
    return mean


def draw_start(probabilities: FloatArray, rng: np.random.Generator) -> FloatArray:
    """One-hot rows (n, K), each class drawn from ``probabilities`` (n, K)."""
    upper = np.cumsum(probabilities, axis=1)
    drawn = (rng.random(len(upper))[:, None] * upper[:, -1:] >= upper[:, :-1]).sum(axis=1)
    one_hot: FloatArray = np.eye(upper.shape[1])[drawn]
    return one_hot


def start_by_neighbors(
    points: FloatArray, labels: NDArray[np.int64], n_classes: int, n_neighbors: int = 5
) -> FloatArray:
    """One-hot rows (n, K) by the vote of the nearest labeled rows; ties to the nearer ones.

    Distances over missing coordinates are means over those that both rows have.
    """
    labeled = np.flatnonzero(labels >= 0)
    if labeled.size == 0:
        raise InputError(
            "init='knn' with no labeled row", fix="label some rows, or start with init='draw'"
        )
    nearest = _find_nearest(points, points[labeled], min(n_neighbors, labeled.size))
    ballots = np.eye(n_classes)[labels[labeled][nearest]]
    nearness = 1.0 + 1e-3 / np.arange(1, nearest.shape[1] + 1)
    votes = np.einsum("ijk,j->ik", ballots, nearness)
    one_hot: FloatArray = np.eye(n_classes)[votes.argmax(axis=1)]
    return one_hot


def _find_nearest(rows: FloatArray, references: FloatArray, k: int) -> NDArray[np.intp]:
    """Indices (n, k) of the nearest ``references``, nearest first."""
    seen, seen_there = np.isfinite(rows), np.isfinite(references)
    a, b = np.where(seen, rows, 0.0), np.where(seen_there, references, 0.0)
    squared = (a**2) @ seen_there.T - 2.0 * a @ b.T + seen @ (b**2).T
    shared = seen.astype(np.float64) @ seen_there.T
    with np.errstate(divide="ignore", invalid="ignore"):
        mean_squared = np.where(shared > 0, squared / shared, np.inf)
    return np.argsort(mean_squared, axis=1, kind="stable")[:, :k]
