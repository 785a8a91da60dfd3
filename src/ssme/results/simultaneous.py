"""Intervals that hold for several groups at once, from their joint draws.

With x_dg draw d of group g, t_g its estimate and s the spread of the draws of a difference, c is
the quantile over d of the largest |difference of draws - difference of estimates| / s: all
differences lie within c s of their estimates together with the wanted probability.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ssme.methods.base import Estimate
from ssme.metrics.base import FloatArray, Metric
from ssme.results.comparison import compute_share_best

__all__ = [
    "compute_badness",
    "compute_joint_reach",
    "compute_p_worst",
    "compute_pair_reach",
    "gather_group_draws",
]

LEAST = 1e-9
"""Spread of draws below which they are taken to be the same number."""


def compute_pair_reach(
    offs: Sequence[FloatArray], level: float, most_paired: int = 100
) -> list[FloatArray]:
    """c s (G, G) of every pair of groups, c being the same for all ``offs`` (D, G).

    Of more than ``most_paired`` groups not every pair is looked at: the spreads of both are added.
    """
    spreads, largest = [], []
    for off in offs:
        if np.isnan(off).any():
            return [np.full((each.shape[1], each.shape[1]), np.nan) for each in offs]
        n_groups = off.shape[1]
        if n_groups > most_paired:
            own = off.std(axis=0)
            spreads.append(own[:, None] + own[None, :])
            largest.append((np.abs(off) / np.where(own > 0.0, own, np.inf)).max(axis=1))
            continue
        center = off - off.mean(axis=0)
        covariance = center.T @ center / len(off)
        variance = np.diag(covariance)
        spread = np.sqrt(np.maximum(variance[:, None] + variance[None, :] - 2.0 * covariance, 0.0))
        spread = np.where(spread > LEAST, spread, 0.0)
        inverse = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0.0)
        top = [(np.abs(row[:, None] - row[None, :]) * inverse).max() for row in off]
        spreads.append(spread)
        largest.append(np.array(top))
    c = float(np.quantile(np.max(largest, axis=0), level))
    return [c * spread for spread in spreads]


def compute_joint_reach(off: FloatArray, level: float) -> FloatArray:
    """c s (G,) of groups whose draws are ``off`` (D, G) from their values, all at once."""
    spread = off.std(axis=0)
    ratio = np.abs(off) * np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0.0)
    out: FloatArray = float(np.quantile(ratio.max(axis=1), level)) * spread
    return out


def gather_group_draws(estimates: Sequence[Estimate], j: int) -> FloatArray | None:
    """Draws (D, G) of classifier ``j``, undefined ones at the value; None where one has none."""
    columns: list[FloatArray | None] = []
    for estimate in estimates:
        if estimate.draws is None and np.isfinite(estimate.value[j]):
            return None
        if estimate.draws is None:
            columns.append(None)
            continue
        column = estimate.draws[:, j]
        columns.append(np.where(np.isfinite(column), column, estimate.value[j]))
    sizes = {column.size for column in columns if column is not None}
    if len(sizes) != 1:
        return None
    n_draws = sizes.pop()
    return np.stack([np.full(n_draws, np.nan) if c is None else c for c in columns], axis=1)


def compute_p_worst(draws: FloatArray, metric: Metric, estimates: Sequence[Estimate]) -> FloatArray:
    """P(worst) (G,) from ``draws`` (D, G) of groups with ``estimates``, ties shared.

    Among three groups or more, shares of draws are taken to the mean of the exponents of the
    estimates (`Estimate.worst_exponent`): the group that looks worst does so by luck, or by what
    all draws have in common, more often than they can tell.
    """
    share = compute_share_best(draws, greater_is_better=metric.greater_is_better is False)
    if len(estimates) > 2:
        share = share ** np.mean([estimate.worst_exponent for estimate in estimates])
    out: FloatArray = share / share.sum()
    return out


def compute_badness(value: float, metric: Metric) -> float:
    """A number that is smallest for the worst group; undefined values come last."""
    if value != value:
        return float("inf")
    return -value if metric.greater_is_better is False else value
