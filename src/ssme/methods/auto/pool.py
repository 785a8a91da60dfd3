"""One score from many: the pool of the classifiers.

    log pi(k | x) = const + mean of log p(k | x) over six pools p,
                    {mean, geometric mean, median} x {standing s, weights w},

s being the classifiers' standing among themselves (`summary`), and w favoring a classifier further
only by what n labels can tell,

    w_j  proportional to  s_j exp( trust sqrt(n) * mean labeled log q_j(y) ),        trust = 1.

Scores q are clipped at `PoolConstants.clip` and renormalized. No single pool wins on all data:
means are robust to a classifier that is certain and wrong, geometric means to one that is vague,
medians to one that is odd. A classifier without a score for a row weighs nothing there.

`clip_scores` makes q of scores, `weigh_by_labels` gives w, and `log_pool` the pool itself. Two
classes take a faster way to the same numbers (`binary`).

Linear and logarithmic pools: Genest and Zidek, Statistical Science 1, 1986.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ssme.methods.auto.binary import pool_binary_log_odds
from ssme.methods.auto.constants import ALL_POOLS
from ssme.methods.estimators.ensemble import average_scores
from ssme.metrics.base import FloatArray

__all__ = ["clip_scores", "find_present", "log_pool", "log_softmax", "weigh_by_labels"]

CHUNK_CELLS = 1 << 20
"""Scores pooled at once, so that a million rows need no large temporary."""

BINARY_CHUNK_CELLS = 1 << 17
"""The same where the temporaries can stay in the cache."""


def log_softmax(logits: FloatArray) -> FloatArray:
    """``logits - log sum exp(logits)`` over the last axis."""
    shifted = logits - logits.max(axis=-1, keepdims=True)
    out: FloatArray = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    return out


def find_present(scores: FloatArray) -> NDArray[np.bool_]:
    """Where classifiers have a score: (n, M), of ``scores`` (n, M, K)."""
    if np.isfinite(scores).all():
        return np.ones(scores.shape[:2], dtype=np.bool_)
    present: NDArray[np.bool_] = ~np.isnan(scores.sum(axis=2))
    return present


def clip_scores(scores: FloatArray, clip: float) -> FloatArray:
    """q: ``scores`` (n, M, K) raised to at least ``clip`` and renormalized.

    A missing score becomes the mean of the others in its row, and equal shares where there are
    none.
    """
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

    ``q`` (n, M, K), ``present`` (n, M) and ``labels`` (n,) are of the labeled rows, and
    ``row_weights`` (n,) say how often each label counts: once where they are not given. A
    classifier that has no score on any of them counts as the mean of the others.
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
    out: FloatArray = weights / weights.sum()
    return out


def log_pool(
    q: FloatArray,
    present: NDArray[np.bool_],
    standing: FloatArray,
    weights: FloatArray,
    members: tuple[str, ...] = ALL_POOLS,
) -> FloatArray:
    """log pi (n, K) of clipped scores ``q`` (n, M, K); ``members`` are the pools that are averaged.

    Rows are pooled a part at a time, so that many rows need no large temporary arrays.
    """
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
    out: FloatArray = by_row / by_row.sum(axis=1, keepdims=True)
    return out


def _compute_weighted_median(
    ranked: FloatArray, order: NDArray[np.int64], weights: FloatArray
) -> FloatArray:
    """Median (n, K) of values sorted as ``ranked`` (n, K, M), linear between two middle ones."""
    n_models = ranked.shape[2]
    sorted_weights = np.take_along_axis(weights[:, None, :], order, axis=2)
    middle = np.cumsum(sorted_weights, axis=2) - 0.5 * sorted_weights
    above = np.clip((middle < 0.5).sum(axis=2, keepdims=True), 1, n_models - 1)
    low, high = np.take_along_axis(middle, above - 1, 2), np.take_along_axis(middle, above, 2)
    width = np.maximum(high - low, np.finfo(np.float64).tiny)
    share = np.clip((0.5 - low) / width, 0.0, 1.0)
    below = np.take_along_axis(ranked, above - 1, 2)
    out: FloatArray = below + share * (np.take_along_axis(ranked, above, 2) - below)
    return out[:, :, 0]
