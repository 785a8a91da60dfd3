"""Permutation tests without permuting: which rows a shuffle would call the first sample.

Shuffling the membership of n rows, a of them in the first sample, gives every subset of a rows the
same chance. Floyd's algorithm (Bentley and Floyd, Communications of the ACM 30, 1987) draws such a
subset with a random numbers instead of n,

    for j = n - a, ..., n - 1:  take t drawn from 0, ..., j, or j itself where t is taken already,

and a statistic that is made of sums over the first sample then costs what that sample is large.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ssme.metrics.base import FloatArray

__all__ = ["compute_p_value", "draw_samples", "sum_samples"]

IntArray = NDArray[np.int64]


def draw_samples(
    labeled: NDArray[np.bool_], rng: np.random.Generator, permutations: int
) -> IntArray:
    """Rows (1 + permutations, a) of the first sample: as they are, then of shuffles."""
    n, own = len(labeled), np.flatnonzero(labeled)
    last = np.arange(n - own.size, n)[:, None]
    start = np.arange(permutations) * n  # of each shuffle's rows in `taken`
    drawn = rng.integers(0, last + 1, size=(own.size, permutations)) + start
    taken = np.zeros(permutations * n, dtype=bool)
    for row, instead in zip(drawn, last + start, strict=True):
        np.copyto(row, instead, where=taken[row])
        taken[row] = True
    out: IntArray = np.concatenate([own[None], (drawn - start).T])
    return out


def sum_samples(values: FloatArray, samples: IntArray) -> FloatArray:
    """Sum (P, d) of the rows of ``values`` (n, d) that are in each sample (P, a)."""
    from scipy.sparse import csr_array

    ends = np.arange(0, samples.size + 1, samples.shape[1])
    member = csr_array((np.ones(samples.size), samples.ravel(), ends), (len(samples), len(values)))
    return np.asarray(member @ values)


def compute_p_value(values: FloatArray) -> float:
    """Share of all values (P,) that are as large as the first one, which is that of the data."""
    return float((values >= values[0] - 1e-12).mean())
