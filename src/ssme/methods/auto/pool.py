"""One score from many: the pool of the classifiers.

    log pi(k | x) = const + mean of log p(k | x) over six pools p,
                    {mean, geometric mean, median} x {standing s, weights w},

s being the classifiers' standing among themselves (`summary`), and w favoring a classifier further
only by what n labels can tell,

    w_j  proportional to  s_j exp( trust sqrt(n) * mean labeled log q_j(y) ),        trust = 1.

Scores q are clipped at `PoolConstants.clip` and renormalized. No single pool wins on all data:
means are robust to a classifier that is certain and wrong, geometric means to one that is vague,
medians to one that is odd. A classifier without a score for a row weighs nothing there.

Linear and logarithmic pools: Genest and Zidek, Statistical Science 1, 1986.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ssme.methods.auto.constants import ALL_POOLS, IndependenceConstants
from ssme.methods.regression import log_softmax
from ssme.methods.votes import average_scores
from ssme.metrics.base import FloatArray

# -------------------------------------------------------------------------------------------------
# Two classes, column by column: the same numbers as the general case below, several times faster.
#
# Every pool is one number per row, and log pi is fixed by its log-odds
#
#     lambda = 1/6 [ logit(mean) + logit(weighted mean) + logit(median) + logit(weighted median)
#                    + sum_j (s_j + w_j) logit(q_j) ],
#     logit W = o + b (lambda - o) + a_1 - a_0 + sum_j t_j (2 q_j - 1) - (2 pi - 1) sum_j t_j,
#
# q_j being clipped scores of class 1 and o the log-odds of the class shares. Classifiers are rows
# of a contiguous (M, n) array; float32 scores are worked on in float32, which leaves W good to
# 1e-6.


TIED = 1e-6
"""Scores of a row no further apart are tied: so far single precision takes equal ones."""

LARGEST = 80.0
"""Larger log-odds are as sure as these, also in float32, whose exponential ends at 88."""


def pool_binary_log_odds(q: FloatArray, standing: FloatArray, weights: FloatArray) -> FloatArray:
    """Log-odds lambda (n,) of the pool, from clipped scores ``q`` (M, n) of class 1."""
    if len(q) == 1:
        return _logit(q[0])
    both = [(each / each.sum()).astype(q.dtype) for each in (standing, weights)]
    total: FloatArray = (both[0] + both[1]) @ _logit(q)
    values, places = _sort_lines(q)
    tied = np.zeros(q.shape[1], dtype=bool)
    for low in range(len(q) - 1):
        tied |= values[low + 1] - values[low] <= TIED
    rows = np.flatnonzero(tied)
    by_row = q[:, rows].T[:, None, :]
    order = np.argsort(by_row, axis=2)
    ranked = np.take_along_axis(by_row, order, axis=2)
    for each in both:
        total += _logit(each @ q)
        sorted_weights = [np.take(each, at, mode="clip") for at in places]
        median = _compute_binary_median(values, sorted_weights)
        median[rows] = _compute_weighted_median(ranked, order, each[None])[:, 0]
        total += _logit(median)
    total /= 6.0
    return total


def compute_binary_posterior(q: FloatArray, pooling: PoolRule, mode: FloatArray) -> FloatArray:
    """W of class 1 (n,) of scores (M, n) at the ``mode``: log b, a_0, a_1 and all tilts t_j."""
    odds = pool_binary_log_odds(q, pooling.standing, pooling.weights)
    tilts = mode[3 : 3 + len(q)].astype(q.dtype)
    b, share_odds = float(np.exp(mode[0])), float(pooling.log_share[1] - pooling.log_share[0])
    z = b * odds
    z += float(mode[2] - mode[1]) + (1.0 - b) * share_odds
    z += (2.0 * tilts) @ q
    z -= float(2.0 * tilts.sum()) * _sigmoid(odds)
    return _sigmoid(z)


def _logit(p: FloatArray) -> FloatArray:
    out = np.subtract(1.0, p)
    np.divide(p, out, out=out)
    return np.log(out, out=out)


def _sigmoid(z: FloatArray) -> FloatArray:
    out = np.negative(z)
    np.minimum(out, LARGEST, out=out)
    np.exp(out, out=out)
    out += 1.0
    return np.divide(1.0, out, out=out)


def _sort_lines(q: FloatArray) -> tuple[list[FloatArray], list[Any]]:
    """Scores sorted over classifiers in each row, M lines, and whose scores they are."""
    # A classifier's number in the last bits of its scores (an error of some 1e-15, or 1e-6 in
    # float32) is sorted with them: M rounds of comparing neighboring lines.
    n_models = len(q)
    last_bits = (1 << (n_models - 1).bit_length()) - 1
    bits: Any = q.view(np.int64 if q.dtype == np.float64 else np.int32)
    keys = list((bits & ~last_bits) | np.arange(n_models, dtype=bits.dtype)[:, None])
    free = np.empty_like(keys[0])
    for turn in range(n_models):
        for low in range(turn % 2, n_models - 1, 2):
            one, other = keys[low], keys[low + 1]
            np.minimum(one, other, out=free)
            np.maximum(one, other, out=other)
            keys[low], free = free, one
    return [key.view(q.dtype) for key in keys], [key & last_bits for key in keys]


def _compute_binary_median(values: list[FloatArray], weights: list[FloatArray]) -> FloatArray:
    """Median (n,) of M sorted lines of ``values``, linear between the two middle ones."""
    halves = [0.5 * line for line in weights]
    middle = halves[0].copy()
    out: FloatArray = values[0].copy()
    for low in range(len(values) - 1):
        width = halves[low] + halves[low + 1]
        share = np.subtract(0.5, middle)
        share /= np.maximum(width, np.finfo(out.dtype).tiny)
        np.clip(share, 0.0, 1.0, out=share)
        share *= values[low + 1] - values[low]
        out += share
        middle += width
    return out


CHUNK_CELLS = 1 << 20
"""Scores pooled at once, so that a million rows need no large temporary."""

BINARY_CHUNK_CELLS = 1 << 17
"""The same where the temporaries can stay in the cache."""


def find_present(scores: FloatArray) -> NDArray[np.bool_]:
    """Where classifiers have a score: (n, M), of ``scores`` (n, M, K)."""
    if np.isfinite(scores).all():
        return np.ones(scores.shape[:2], dtype=np.bool_)
    return ~np.isnan(scores.sum(axis=2))


def clip_scores(scores: FloatArray, clip: float) -> FloatArray:
    """q: ``scores`` (n, M, K) at least ``clip``, renormalized; a missing one is its row's mean."""
    present = find_present(scores)
    if not present.all():
        known = present.any(axis=1)
        middle = np.full((len(scores), scores.shape[2]), 1.0 / scores.shape[2])
        middle[known] = average_scores(scores[known])
        scores = np.where(present[:, :, None], scores, middle[:, None, :])
    out: FloatArray = np.maximum(scores, clip)
    if scores.shape[2] == 2:  # the same sum, without a loop over two numbers for each row
        out /= (out[:, :, 0] + out[:, :, 1])[:, :, None]
    else:
        out /= out.sum(axis=2, keepdims=True)
    return out


def weigh_by_labels(
    q: FloatArray,
    present: NDArray[np.bool_],
    labels: NDArray[np.int64],
    standing: FloatArray,
    trust: float,
    row_weights: FloatArray | None = None,
) -> FloatArray:
    """Weights w (M,) of the classifiers from labeled rows; without labels, their ``standing``.

    ``row_weights`` (n,) say how often each label counts. A classifier without a score on any of
    these rows counts as the mean of the others.
    """
    n = len(q)
    counted = present if row_weights is None else present * row_weights[:, None]
    counts = counted.sum(axis=0)
    if not counts.any():
        return standing
    fit = (counted * np.log(q[np.arange(n), :, labels])).sum(axis=0)
    mean = fit / np.where(counts > 0.0, counts, 1.0)
    mean[counts == 0] = mean[counts > 0].mean()
    weights = standing * np.exp(trust * np.sqrt(n) * (mean - mean.max()))
    return weights / weights.sum()


def log_pool(
    q: FloatArray,
    present: NDArray[np.bool_],
    standing: FloatArray,
    weights: FloatArray,
    members: tuple[str, ...] = ALL_POOLS,
) -> FloatArray:
    """log pi (n, K) of clipped scores ``q`` (n, M, K), the mean of ``members``."""
    n, n_models, n_classes = q.shape
    if n_models == 1:
        return np.log(q[:, 0])
    out: FloatArray = np.empty((n, n_classes))
    binary = n_classes == 2 and members == ALL_POOLS and bool(present.all())
    step = max(1, (BINARY_CHUNK_CELLS if binary else CHUNK_CELLS) // (n_models * n_classes))
    for start in range(0, n, step):
        part = slice(start, start + step)
        if binary:
            odds = pool_binary_log_odds(np.ascontiguousarray(q[part, :, 1].T), standing, weights)
            np.negative(np.logaddexp(0.0, odds), out=out[part, 0])
            np.negative(np.logaddexp(0.0, -odds), out=out[part, 1])
        else:
            out[part] = _log_pool(q[part], present[part], standing, weights, members)
    return out


def _log_pool(
    q: FloatArray,
    present: NDArray[np.bool_],
    standing: FloatArray,
    weights: FloatArray,
    members: tuple[str, ...],
) -> FloatArray:
    """`log_pool` of rows that are few enough to be pooled at once, any number of classes."""
    log_q = np.log(q)
    if any(member.endswith("median") for member in members):
        order = np.argsort(q.transpose(0, 2, 1), axis=2)
        ranked = np.take_along_axis(q.transpose(0, 2, 1), order, axis=2)
    total: FloatArray = np.zeros((q.shape[0], q.shape[2]))
    for prefix, base in (("", standing), ("weighted ", weights)):
        by_row = _pool_by_row(base, present)
        if f"{prefix}mean" in members:
            total += log_softmax(np.log(np.einsum("nmk,nm->nk", q, by_row)))
        if f"{prefix}geometric mean" in members:
            total += log_softmax(np.einsum("nmk,nm->nk", log_q, by_row))
        if f"{prefix}median" in members:
            total += log_softmax(np.log(_compute_weighted_median(ranked, order, by_row)))
    return log_softmax(total / len(members))


def _pool_by_row(weights: FloatArray, present: NDArray[np.bool_]) -> FloatArray:
    """Weights (n, M) of the classifiers that have a score, summing to one in each row."""
    by_row = weights * np.where(present.any(axis=1, keepdims=True), present, True)
    return by_row / by_row.sum(axis=1, keepdims=True)


def _compute_weighted_median(
    ranked: FloatArray, order: NDArray[np.int64], weights: FloatArray
) -> FloatArray:
    """Median (n, K) of values sorted as ``ranked`` (n, K, M), linear between two middle ones."""
    n_models = ranked.shape[2]
    sorted_weights = np.take_along_axis(
        np.broadcast_to(weights[:, None, :], ranked.shape), order, axis=2
    )
    sorted_weights = _share_weights_of_tied(ranked, sorted_weights)
    middle = np.cumsum(sorted_weights, axis=2) - 0.5 * sorted_weights
    above = np.clip((middle < 0.5).sum(axis=2, keepdims=True), 1, n_models - 1)
    low, high = np.take_along_axis(middle, above - 1, 2), np.take_along_axis(middle, above, 2)
    width = np.maximum(high - low, np.finfo(np.float64).tiny)
    share = np.clip((0.5 - low) / width, 0.0, 1.0)
    below = np.take_along_axis(ranked, above - 1, 2)
    out: FloatArray = below + share * (np.take_along_axis(ranked, above, 2) - below)
    return out[:, :, 0]


def _share_weights_of_tied(ranked: FloatArray, weights: FloatArray) -> FloatArray:
    """``weights`` (n, K, M) of sorted values, those of tied ones replaced by their mean.

    The median lies on a line through the middles of the weights: it would else depend on which of
    the tied classifiers comes first.
    """
    apart = np.diff(ranked, axis=2) > TIED
    if apart.all():
        return weights
    places, edge = np.arange(ranked.shape[2]), np.ones((*ranked.shape[:2], 1), dtype=bool)
    first = np.maximum.accumulate(np.where(np.concatenate([edge, apart], 2), places, 0), axis=2)
    last = np.where(np.concatenate([apart, edge], 2), places, places[-1])
    last = np.minimum.accumulate(last[:, :, ::-1], axis=2)[:, :, ::-1]
    total = np.cumsum(weights, axis=2)
    before = np.take_along_axis(total - weights, first, axis=2)
    mean = (np.take_along_axis(total, last, axis=2) - before) / (last - first + 1)
    return np.where(first < last, mean, weights)


GEOMETRIC = ("weighted geometric mean",)
"""The one pool of classifiers whose evidence is added up."""


@dataclass(frozen=True, eq=False)
class PoolRule:
    """Weights (M,) in the plain and in the weighted pools, log p (K,), and the pools averaged."""

    standing: FloatArray
    weights: FloatArray
    log_share: FloatArray
    members: tuple[str, ...] = ALL_POOLS

    def __call__(self, q: FloatArray, present: NDArray[np.bool_]) -> FloatArray:
        """log pi (n, K) of clipped scores ``q`` (n, M, K)."""
        return log_pool(q, present, self.standing, self.weights, self.members)


# -------------------------------------------------------------------------------------------------
# Do classifiers err independently? If so, and if they are calibrated, their log scores add up:
#
#     W_k  proportional to  p_k prod_j (q_jk / p_k),      p_k the mean score of class k,
#
# and under this W their log-odds are uncorrelated within a class. rho is that correlation, averaged
# over classes and over pairs: 0.47 +- 0.17 over sets of real classifiers, at least 0.05
# (``benchmarks/results/auto_priors.csv``).


def add_evidence(q: FloatArray) -> FloatArray:
    """W (n, K) if the clipped scores ``q`` (n, M, K) were calibrated and erred independently."""
    log_share = np.log(q.mean(axis=(0, 1)))
    return np.exp(log_softmax((np.log(q) - log_share).sum(axis=1) + log_share))


def measure_correlation(
    q: FloatArray, w: FloatArray, standing: FloatArray, constants: IndependenceConstants
) -> float:
    """rho of scores ``q`` (n, M, K) under ``w`` (n, K); NaN where it cannot be measured."""
    log_odds = np.log(q) - np.log1p(-q)
    pairs = np.outer(standing, standing)
    np.fill_diagonal(pairs, 0.0)
    pairs /= pairs.sum()
    total = weight = 0.0
    for k in np.flatnonzero(w.sum(axis=0) > constants.least_class):
        size = w[:, k].sum()
        centered = log_odds[:, :, k] - w[:, k] @ log_odds[:, :, k] / size
        covariance = (centered * w[:, k : k + 1]).T @ centered / size
        sd = np.sqrt(np.diag(covariance))
        if sd.min() < constants.constant:
            return float("nan")
        total += size * float((pairs * covariance / np.outer(sd, sd)).sum())
        weight += size
    return total / weight if weight else float("nan")
