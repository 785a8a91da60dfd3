"""The scale on which what is known of all rows is carried to a group.

A metric whose range is finite and of which more is better (accuracy, AUC, F1) moves on the logit
of its range, so that a group that is right 99 times in 100 is moved less than one that is right 80
times; an error, of which zero must stay within reach, moves by adding. Values at the very ends of
the range stay there.
"""

from __future__ import annotations

import numpy as np

from ssme.methods.parts.draws import log_odds
from ssme.metrics.base import FloatArray, Metric

__all__ = ["measure_step", "move_by", "move_median"]

EDGE = 1e-6
"""Share of the range at its ends that counts as the end itself."""


def measure_step(metric: Metric, start: FloatArray, end: FloatArray) -> FloatArray:
    """What leads from ``start`` to ``end`` on the scale of ``metric``; zero where undefined."""
    step = _to_scale(metric, end) - _to_scale(metric, start)
    return np.where(np.isfinite(step), step, 0.0)


def move_by(metric: Metric, values: FloatArray, step: FloatArray) -> FloatArray:
    """``values`` moved by ``step`` on the scale of ``metric``; by adding also out of its range.

    What is moved in several steps is cut to the range once, at the end: cut earlier, draws that met
    at zero would stay together.
    """
    if not _is_bounded(metric):
        return values + step
    span = metric.high - metric.low
    share = (values - metric.low) / span
    inside = metric.low + span / (1.0 + np.exp(-(_to_scale(metric, values) + step)))
    at_end = (share <= EDGE) | (share >= 1.0 - EDGE)
    out: FloatArray = np.where(at_end, values, inside)
    return out


def move_median(metric: Metric, draws: FloatArray, center: FloatArray) -> FloatArray:
    """``draws`` (D, M) moved to have ``center`` (M,) as their median.

    Undefined draws are replaced by the defined ones in turn.
    """
    known = np.isfinite(center) & np.isfinite(draws).any(axis=0)
    shown = draws[:, known]
    for m in np.flatnonzero(~np.isfinite(shown).all(axis=0)):
        defined = shown[np.isfinite(shown[:, m]), m]
        shown[:, m] = np.resize(defined, len(shown))
    target = center[known]
    moved = move_by(metric, shown, measure_step(metric, np.median(shown, axis=0), target))
    moved += target - np.median(moved, axis=0)
    out: FloatArray = np.full_like(draws, np.nan)
    out[:, known] = np.clip(moved, metric.low, metric.high)
    return out


def _is_bounded(metric: Metric) -> bool:
    return bool(metric.greater_is_better) and bool(np.isfinite(metric.high - metric.low))


def _to_scale(metric: Metric, values: FloatArray) -> FloatArray:
    if not _is_bounded(metric):
        return values
    return log_odds((values - metric.low) / (metric.high - metric.low), EDGE)
