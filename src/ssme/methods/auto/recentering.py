"""One distribution from two: draws with the spread of the posterior and the center of the mode.

The metric at the mode is the better point estimate (draws are pulled towards vagueness, and their
calibration errors upwards: docs/auto-notebook.md), the draws know the spread. So draws x_d are
moved to have the point estimate v as their median,

    x_d  <-  g^-1( g(v) + stretch [ g(x_d) - median g(x) ] ),

with g the logit of the metric's range where that is finite and larger is better (accuracy, AUC,
F1, correlations on [-1, 1]), and the identity, cut off at the ends of the range, for errors, where
zero is "none found" and must stay within reach (calibration error, Brier score, log loss). Estimate
and interval then come from the same draws, and the estimate lies inside every interval. Draws
that are a little too wide with few labels are drawn together (stretch below 1); not so with one or
two classifiers, and less and less as the residual correction takes over with its weight w:

    stretch = 1 - (1 - the metric's stretch) (1 - w) max(0, 1 - 4/M^2).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ssme.methods.auto.constants import RecenteringConstants
from ssme.metrics.base import FloatArray, Metric
from ssme.metrics.kinds import is_same_metric

__all__ = ["Recenter", "recenter"]

Recenter = Callable[[Metric, FloatArray, FloatArray, float, int, RecenteringConstants], FloatArray]


def recenter(
    metric: Metric,
    value: FloatArray,
    draws: FloatArray,
    weight: float,
    n_classes: int,
    constants: RecenteringConstants,
) -> FloatArray:
    """``draws`` (D, M) moved to median ``value`` (M,) on the metric's own scale.

    ``weight`` is that of the residual correction.
    """
    many = max(0.0, 1.0 - constants.few / draws.shape[1] ** 2)
    own = _stretch_of(metric, n_classes, constants)
    stretch = 1.0 - (1.0 - own) * (1.0 - weight) * many
    out: FloatArray = np.full_like(draws, np.nan)
    for m in np.flatnonzero(np.isfinite(value) & np.isfinite(draws).any(axis=0)):
        complete = _complete(draws[:, m])
        out[:, m] = _move(metric, float(value[m]), complete, stretch, constants.edge)
    return out


def _stretch_of(metric: Metric, n_classes: int, constants: RecenteringConstants) -> float:
    """The stretch of the metric's kind, decisions at any threshold sharing one."""
    for kind, stretch in constants.stretch.items():
        if is_same_metric(kind, metric.kind, n_classes, any_threshold=True):
            return stretch
    return 1.0


def _complete(draws: FloatArray) -> FloatArray:
    """``draws`` (D,), undefined ones replaced by the defined ones in turn."""
    defined = np.isfinite(draws)
    return draws if defined.all() else np.resize(draws[defined], draws.size)


def _move(
    metric: Metric, value: float, draws: FloatArray, stretch: float, edge: float
) -> FloatArray:
    low, high = metric.low, metric.high
    if metric.greater_is_better and np.isfinite(low) and np.isfinite(high):
        z = _logit((draws - low) / (high - low), edge)
        target = _logit((np.asarray(value) - low) / (high - low), edge)
        draws = low + (high - low) / (1.0 + np.exp(-(target + stretch * (z - np.median(z)))))
    else:
        draws = stretch * draws
    out: FloatArray = np.clip(draws + (value - np.median(draws)), low, high)
    return out


def _logit(share: FloatArray, edge: float) -> FloatArray:
    inside = np.clip(share, edge, 1.0 - edge)
    out: FloatArray = np.log(inside) - np.log1p(-inside)
    return out
