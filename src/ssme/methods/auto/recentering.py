"""One distribution from two: draws with the spread of the posterior and the center of the mode.

The metric at the mode is the better point estimate (draws are pulled towards vagueness, and their
calibration errors upwards: docs/auto-notebook.md), the draws know the spread. So draws x_d are
moved to have the point estimate v as their median,

    x_dj  <-  g^-1( g(v_j) + shared (1/M) sum_l z_dl + own [ z_dj - (1/M) sum_l z_dl ] ),
    z_dj = g(x_dj) - median_d g(x_dj),

with g the logit of the metric's range where that is finite and larger is better (accuracy, AUC,
F1, correlations on [-1, 1]), and the identity, cut off at the ends of the range, for errors, where
zero is "none found" and must stay within reach (calibration error, Brier score, log loss).

What classifiers share (how sharp the pool should be) cancels in a difference, what each has of its
own does not, and the two are not equally well known: their spreads have factors of their own, by
kind of metric. Both are one with one or two classifiers, and become one as the residual correction
takes over with its weight w,

    f = 1 - (1 - the kind's factor) (1 - w) max(0, 1 - 4/M^2).

A factor is about what the coefficients contribute. What the sampling of rows contributes, a share
s of the variance, is as large as it is:

    shared = sqrt( f^2 + (1 - f^2) s ),     likewise own.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ssme.methods.auto.constants import RecenteringConstants
from ssme.metrics.base import FloatArray, Metric
from ssme.metrics.kinds import is_same_metric

__all__ = ["Recenter", "find_spread_factors", "recenter"]

Recenter = Callable[
    [Metric, FloatArray, FloatArray, FloatArray | None, tuple[float, float], float], FloatArray
]


def recenter(
    metric: Metric,
    value: FloatArray,
    draws: FloatArray,
    resampled: FloatArray | None,
    factors: tuple[float, float],
    edge: float,
) -> FloatArray:
    """``draws`` (D, C) moved to median ``value`` (C,) on the metric's own scale.

    ``resampled`` (B, C) are values that differ by the sampling of rows alone; ``factors`` are those
    of the spread that classifiers share and of each one's own (`find_spread_factors`).
    """
    out: FloatArray = np.full_like(draws, np.nan)
    kept = np.flatnonzero(np.isfinite(value) & np.isfinite(draws).any(axis=0))
    if kept.size == 0:
        return out
    low, high = metric.low, metric.high
    bounded = bool(metric.greater_is_better) and np.isfinite(low) and np.isfinite(high)

    def scale(x: FloatArray) -> FloatArray:
        return _logit((x - low) / (high - low), edge) if bounded else x

    z = scale(np.stack([_complete(draws[:, m]) for m in kept], axis=1))
    parts = _split(z - np.median(z, axis=0))
    rows = None if resampled is None else _split(_center(scale(resampled[:, kept])))
    z = np.zeros_like(z)
    for i, (part, factor) in enumerate(zip(parts, factors, strict=True)):
        z += part * (factor if rows is None else _keep_rows(factor, part, rows[i]))
    z -= np.median(z, axis=0)
    target = scale(value[kept]) + z
    out[:, kept] = low + (high - low) / (1.0 + np.exp(-target)) if bounded else target
    return np.clip(out, low, high)


def find_spread_factors(
    metric: Metric,
    weight: float,
    n_effective: float,
    n_classes: int,
    constants: RecenteringConstants,
) -> tuple[float, float]:
    """f of what classifiers share and of what is their own, ``weight`` being w."""
    fades = (1.0 - weight) * max(0.0, 1.0 - constants.few / n_effective**2)
    shared, own = _measure_spread(metric, n_classes, constants)
    return 1.0 - (1.0 - shared) * fades, 1.0 - (1.0 - own) * fades


def _split(z: FloatArray) -> tuple[FloatArray, FloatArray]:
    """What the columns of ``z`` (D, C) share, and what each has beyond."""
    together = np.broadcast_to(z.mean(axis=1, keepdims=True), z.shape)
    return together, z - together


def _center(z: FloatArray) -> FloatArray:
    known = np.where(np.isfinite(z), z, 0.0)
    out: FloatArray = known - known.mean(axis=0)
    return out


def _keep_rows(factor: float, part: FloatArray, rows: FloatArray) -> float:
    """The factor of a part of which the share ``rows`` of the variance stays as it is."""
    total = float((part**2).mean())
    share = min(1.0, float((rows**2).mean()) / total) if total > 0.0 else 1.0
    return float(np.sqrt(factor**2 + (1.0 - factor**2) * share))


def _measure_spread(
    metric: Metric, n_classes: int, constants: RecenteringConstants
) -> tuple[float, float]:
    """The factors of the metric's kind, decisions at any threshold sharing theirs."""
    for kind, factors in constants.spread.items():
        if is_same_metric(kind, metric.kind, n_classes, any_threshold=True):
            return factors
    return constants.other_spread


def _complete(draws: FloatArray) -> FloatArray:
    """``draws`` (D,), undefined ones replaced by the defined ones in turn."""
    defined = np.isfinite(draws)
    return draws if defined.all() else np.resize(draws[defined], draws.size)


def _logit(share: FloatArray, edge: float) -> FloatArray:
    inside = np.clip(share, edge, 1.0 - edge)
    out: FloatArray = np.log(inside) - np.log1p(-inside)
    return out
