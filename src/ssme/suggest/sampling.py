"""Rows drawn with known probabilities, spread over the rows rather than bunched.

    p_i = u n / N + (1 - u) n s_i / sum(s),     cut at 1, the rest raised in proportion

for n of N rows with sizes s_i; u is the share drawn uniformly, so that no row is out of reach and
no label stands for more than about 1 / u times the rows it would at random. Rows are put in an
order in which neighbors are alike, and each of the points start + 0, 1, ..., n - 1 picks the row
under it on the cumulated p (systematic sampling, Madow, Annals of Mathematical Statistics 20,
1949): row i is drawn with probability p_i exactly, and rows that are alike are not drawn together.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ssme.metrics.base import FloatArray

__all__ = ["draw_spread", "measure_gain", "set_probabilities"]

IntArray = NDArray[np.int64]


def set_probabilities(size: FloatArray, n: int, uniform: float) -> FloatArray:
    """Probabilities (N,) that sum to ``n``, a share ``uniform`` of them alike for every row.

    Parameters
    ----------
    size : array (N,)
        How much a label of each row is worth, nonnegative; all zero means all alike.
    n : int
        Number of rows to draw, at most N.
    uniform : float
        Share in (0, 1] that does not look at ``size``.
    """
    total = float(size.sum())
    share = size / total if total > 0.0 else np.full(size.size, 1.0 / size.size)
    rate = uniform / size.size + (1.0 - uniform) * share
    certain = np.zeros(size.size, dtype=bool)
    while True:
        left = n - int(certain.sum())
        scaled = left * rate / rate[~certain].sum() if left else np.zeros_like(rate)
        beyond = ~certain & (scaled >= 1.0)
        if not beyond.any():
            out: FloatArray = np.where(certain, 1.0, scaled)
            return out
        certain |= beyond


def measure_gain(size: FloatArray, probability: FloatArray) -> float:
    """How many labels drawn at random one drawn with ``probability`` (N,) is worth.

    The variance that labels leave is sum_i s_i^2 (1 / p_i - 1); the gain is that of equal
    probabilities over that of ``probability``, one where neither leaves any.
    """
    square, rows = size**2, size.size
    even = float(square.sum()) * (rows / float(probability.sum()) - 1.0)
    left = float((square * (1.0 / probability - 1.0)).sum())
    return even / left if left > 0.0 and even > 0.0 else 1.0


def draw_spread(probability: FloatArray, order: IntArray, rng: np.random.Generator) -> IntArray:
    """Row numbers drawn with ``probability`` (N,), spread along ``order`` (N,)."""
    ends = np.cumsum(probability[order])
    n = int(np.rint(ends[-1]))
    points = rng.random() + np.arange(n)
    found = np.searchsorted(ends, np.minimum(points, ends[-1] * (1.0 - 1e-12)), side="right")
    rows: IntArray = order[np.minimum(found, order.size - 1)]
    return rows
