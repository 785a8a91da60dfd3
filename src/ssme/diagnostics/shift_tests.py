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
    n = len(features)
    if features.shape[1] == 0:
        return 0.0, 1.0
    gram = features.T @ features / n + ridge * 0.1 * np.eye(features.shape[1])
    # the hat matrix, features @ weights + 1 / n, is never made: there are few features
    weights = np.linalg.solve(gram, features.T) / n
    own = (features * weights.T).sum(axis=1) + 1.0 / n
    member = np.ascontiguousarray(_shuffle(labeled, rng, permutations).T)
    share = labeled.mean()
    fitted = features @ (weights @ member) + share
    # a row's own membership is left out of the mean too, which would tell on it otherwise
    apart = (fitted - own[:, None] * member) / (1.0 - own[:, None])
    told = apart - (labeled.sum() - member) / (n - 1)
    centered = member - share
    value = (told * centered).sum(axis=0) / np.maximum(
        np.sqrt((told**2).sum(axis=0) * (centered**2).sum(axis=0)), 1e-12
    )
    return float(value[0]), _compute_p_value(value)


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
    member = _shuffle(labeled, rng, permutations)
    ones = member.sum(axis=1, keepdims=True)
    standard = (pool[:, kept] - pool[:, kept].mean(axis=0)) / spread[kept]
    among = member @ standard
    gap = among / ones + among / (len(pool) - ones)  # the other mean is minus the sum over others
    error = np.sqrt(1.0 / ones + 1.0 / (len(pool) - ones))
    value = np.abs(gap / error).max(axis=1)
    return float(value[0]), _compute_p_value(value)


def _shuffle(labeled: NDArray[np.bool_], rng: np.random.Generator, permutations: int) -> FloatArray:
    """Membership (1 + permutations, n): as it is, then shuffled."""
    member = labeled.astype(np.float64)
    tiled = rng.permuted(np.tile(member, (permutations, 1)), axis=1)
    out: FloatArray = np.concatenate([member[None], tiled])
    return out


def _compute_p_value(values: FloatArray) -> float:
    """Of the first value among all, larger ones being more extreme."""
    return float((values >= values[0] - 1e-12).mean())
