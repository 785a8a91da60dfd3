"""Do labeled and unlabeled rows come from one distribution? Two permutation tests on the scores.

- `run_classifier_test`: a classifier two-sample test (Lopez-Paz and Oquab, ICLR 2017). A ridge
  regression on functions of the scores says which rows are labeled, each row judged without itself;
  its correlation with the truth is compared with that under shuffled membership.
- `run_class_test`: prior shift. If the classes differ in frequency, so do the mean scores of the
  pool; the largest difference of a class, in standard errors, is compared with that under
  shuffling.

Both are exact whatever the scores are: under one distribution every shuffle is as probable.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ssme.diagnostics.permutations import compute_p_value, draw_samples, sum_samples
from ssme.metrics.base import FloatArray

__all__ = ["make_score_features", "run_class_test", "run_classifier_test"]


def make_score_features(pool: FloatArray, scores: FloatArray, clip: float = 1e-3) -> FloatArray:
    """Functions (n, F) of the pooled scores (n, K) and of all scores (n, M, K), standardized.

    Logarithms are those of scores of at least ``clip``.
    """
    log_pool = np.log(np.clip(pool, clip, 1.0))
    centered = log_pool - log_pool.mean(axis=1, keepdims=True)
    level = centered[:, : max(1, pool.shape[1] - 1)][:, :10]
    each = np.log(np.clip(scores, clip, 1.0))
    each = each[:, :, -1] - each[:, :, :-1].mean(axis=2)
    spread = each.std(axis=1, keepdims=True)
    sure = scores.max(axis=2).mean(axis=1, keepdims=True)
    every = np.concatenate([level, level**2, sure, spread, each[:, :20]], axis=1)
    scale = every.std(axis=0)
    kept = scale > 1e-9
    out: FloatArray = (every[:, kept] - every[:, kept].mean(axis=0)) / scale[kept]
    return out


def run_classifier_test(
    features: FloatArray,
    labeled: NDArray[np.bool_],
    rng: np.random.Generator,
    permutations: int,
    ridge: float = 1.0,
) -> tuple[float, float]:
    """How well membership is told from ``features`` (n, F), as a correlation, and its p-value.

    ``ridge`` is the weight of the penalty, in units of a feature's variance times the number of
    rows / 10.
    """
    n, size = features.shape
    if size == 0:
        return 0.0, 1.0
    gram = features.T @ features / n + ridge * 0.1 * np.eye(size)
    # the hat matrix, features @ weights + 1 / n, is never made: there are few features
    weights = np.linalg.solve(gram, features.T) / n
    own = (features * weights.T).sum(axis=1) + 1.0 / n
    # A row's own membership m is left out of the fit and of the mean, which would tell on it. With
    # z = weights @ m, what is told of a row is scaled @ z + base + m * added, and all sums over
    # rows that its correlation with m needs are z, sums over the first sample, and constants.
    count = float(labeled.sum())
    apart = 1.0 / (1.0 - own)
    scaled = features * apart[:, None]
    base = apart * count / n - count / (n - 1)
    added = 1.0 / (n - 1) - apart * own
    squared = (2.0 * base + added) * added
    rows = np.column_stack(
        [weights.T, scaled, scaled * added[:, None], added, base + added, squared]
    )
    sums = sum_samples(rows, draw_samples(labeled, rng, permutations))
    z, of_first, crossed = sums[:, :size], sums[:, size : 2 * size], sums[:, 2 * size : 3 * size]
    sum_added, sum_told, sum_squares = sums[:, 3 * size :].T
    total = z @ scaled.sum(axis=0) + base.sum() + sum_added
    covariance = (of_first * z).sum(axis=1) + sum_told - total * count / n
    squares = (
        ((z @ (scaled.T @ scaled) + 2.0 * (crossed + base @ scaled)) * z).sum(axis=1)
        + base @ base
        + sum_squares
    )
    spread = np.sqrt(np.maximum(squares, 0.0) * count * (1.0 - count / n))
    value = covariance / np.maximum(spread, 1e-12)
    return float(value[0]), compute_p_value(value)


def run_class_test(
    pool: FloatArray,
    labeled: NDArray[np.bool_],
    rng: np.random.Generator,
    permutations: int,
) -> tuple[float, float]:
    """Largest difference of mean ``pool`` (n, K) in standard errors, and its p-value."""
    spread = pool.std(axis=0)
    kept = spread > 1e-12
    if not kept.any():
        return 0.0, 1.0
    standard = (pool[:, kept] - pool[:, kept].mean(axis=0)) / spread[kept]
    among = sum_samples(standard, draw_samples(labeled, rng, permutations))
    count = float(labeled.sum())
    # the mean of the others is minus this sum over their number
    gap = among / count + among / (len(pool) - count)
    error = np.sqrt(1.0 / count + 1.0 / (len(pool) - count))
    value = np.abs(gap / error).max(axis=1)
    return float(value[0]), compute_p_value(value)
