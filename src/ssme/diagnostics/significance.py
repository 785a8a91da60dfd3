"""The statistical tests behind the checks.

- `compute_right_answers_tail`: the number of right answers under a classifier's own scores is
  Poisson-binomial; exact up to some number of rows, normal beyond.
- `run_energy_test`: do two samples of score vectors come from one distribution? Energy distance
  (Székely and Rizzo, InterStat 5, 2004) with a permutation test.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from ssme.diagnostics.limits import Limits
from ssme.diagnostics.permutations import compute_p_value, draw_samples
from ssme.metrics.base import FloatArray

__all__ = ["compute_right_answers_tail", "format_tail", "run_energy_test"]

LEAST_PRINTED = 1e-12
"""Below this a probability is a sum of rounding errors, and is printed as less than it."""

FEW = 8
"""A sample this many times smaller than all rows is summed pair by pair, not by a product."""


def compute_right_answers_tail(
    right: int, chance: FloatArray, exact_rows: int = Limits.exact_rows
) -> float:
    """P(at most ``right`` right answers), answer i being right with probability ``chance`` (n,)."""
    n = chance.size
    if n > exact_rows:
        spread = float(np.sqrt((chance * (1.0 - chance)).sum()))
        if spread == 0.0:
            return float(right >= chance.sum())
        return float(ndtr((right + 0.5 - chance.sum()) / spread))
    law = np.zeros(n + 1)
    law[0] = 1.0
    for p in chance:
        law[1:] = law[1:] * (1.0 - p) + law[:-1] * p
        law[0] *= 1.0 - p
    return float(min(1.0, law[: right + 1].sum()))


def format_tail(p: float) -> str:
    """A small probability as text, as in ``p = 2e-10``; never as 0."""
    return f"p = {p:.1g}" if p >= LEAST_PRINTED else f"p < {LEAST_PRINTED:g}"


def run_energy_test(
    first: FloatArray,
    second: FloatArray,
    rng: np.random.Generator,
    permutations: int = Limits.permutations,
) -> tuple[float, float]:
    """Energy distance of ``first`` (a, d) and ``second`` (b, d), and its permutation p-value.

    2 E|X - Y| - E|X - X'| - E|Y - Y'| is a quadratic form in the sample membership: with m the
    indicator of the first sample, A the distances and s = 1/a + 1/b,

        -(1'A 1 / b^2 - 2 s m'A 1 / b + s^2 m'A m).
    """
    points = np.concatenate([first, second])
    squares = (points**2).sum(axis=1)
    apart: FloatArray = points @ (-2.0 * points.T)
    apart += squares[:, None]
    apart += squares
    np.sqrt(np.maximum(apart, 0.0, out=apart), out=apart)
    np.fill_diagonal(apart, 0.0)
    a, b = len(first), len(second)
    samples = draw_samples(np.arange(a + b) < a, rng, permutations)
    rows, scale = apart.sum(axis=1), 1.0 / a + 1.0 / b
    distance = (
        2.0 * scale / b * rows[samples].sum(axis=1)
        - rows.sum() / b**2
        - scale**2 * _sum_within(apart, samples)
    )
    return float(distance[0]), compute_p_value(distance)


def _sum_within(apart: FloatArray, samples: NDArray[np.int64]) -> FloatArray:
    """m'A m of every sample (P, a), given as numbers of rows."""
    a, n = samples.shape[1], len(apart)
    if FEW * a < n:
        flat, rows = apart.ravel(), np.ascontiguousarray(samples.T)
        pairs = np.zeros(len(samples))
        for i in range(1, a):
            pairs += flat.take(rows[:i] + n * rows[i]).sum(axis=0)
        return 2.0 * pairs
    member = np.zeros((len(samples), n))
    np.put_along_axis(member, samples, 1.0, axis=1)
    out: FloatArray = np.einsum("pi,pi->p", member @ apart, member)
    return out
