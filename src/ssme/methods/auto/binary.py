"""The model's mode for two classes, column by column: the same W, several times faster.

With two classes every pool is one number per row, and log pi is fixed by its log-odds

    lambda = 1/6 [ logit(mean) + logit(weighted mean) + logit(median) + logit(weighted median)
                   + sum_j (s_j + w_j) logit(q_j) ],

q_j being clipped scores of class 1 (the median of class 0 is one minus that of class 1), s_j the
classifiers' standing, in the plain pools, and w_j their weights, in the weighted ones. Then

    logit W = o + b (lambda - o) + a_1 - a_0 + sum_j t_j (2 q_j - 1) - (2 pi - 1) sum_j t_j,

o being the log-odds of the classes' shares.

`pool_binary_log_odds` computes lambda and `compute_binary_posterior` W. Classifiers are lines of a
contiguous (M, n) array, so that every operation runs along the rows. Scores in float32 are worked
on in float32, which leaves W good to 1e-6, and scores in float64 in float64. What `pool` and
`model` compute for any number of classes is the plain version, and the tests compare the two.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ssme.metrics.base import FloatArray

__all__ = ["compute_binary_posterior", "pool_binary_log_odds"]


LARGEST = 80.0
"""Larger log-odds are as sure as these, also in float32, whose exponential ends at 88."""


def pool_binary_log_odds(q: FloatArray, standing: FloatArray, weights: FloatArray) -> FloatArray:
    """Log-odds lambda (n,) of the pool, from clipped scores ``q`` (M, n) of class 1."""
    if len(q) == 1:
        return _logit(q[0])
    both = [(of / of.sum()).astype(q.dtype) for of in (standing, weights)]
    total: FloatArray = (both[0] + both[1]) @ _logit(q)
    values, places = _sort_lines(q)
    for of in both:
        total += _logit(of @ q)
        total += _logit(
            _compute_weighted_median(values, [np.take(of, at, mode="clip") for at in places])
        )
    total /= 6.0
    return total


def compute_binary_posterior(
    q: FloatArray,
    standing: FloatArray,
    weights: FloatArray,
    mode: FloatArray,
    log_share: FloatArray,
) -> FloatArray:
    """W of class 1 (n,) under the coefficients ``mode``, which are log b, a_0, a_1 and all t_j."""
    n_models = len(q)
    odds = pool_binary_log_odds(q, standing, weights)
    tilts = mode[3 : 3 + n_models].astype(q.dtype)
    b, share_odds = float(np.exp(mode[0])), float(log_share[1] - log_share[0])
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
    """Scores sorted over classifiers in each row, M lines, and whose scores they are.

    A classifier's number is written into the last bits of its scores (an error of some 1e-15,
    or 1e-6 in float32), so that sorting the scores sorts the numbers: M rounds of comparing
    neighbors, on whole lines, each line of the smaller written over one that is free.
    """
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


def _compute_weighted_median(values: list[FloatArray], weights: list[FloatArray]) -> FloatArray:
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
