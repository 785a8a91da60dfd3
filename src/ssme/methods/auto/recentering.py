"""Draws moved onto the point estimate, with a spread that is right for the kind of metric.

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

    f = 1 - (1 - the kind's factor) (1 - w) max(0, 1 - 20/M^3);

so does the factor by which draws of odd regimes are wider. Draws become surer with labels sooner
than they should, so that a kind's factors are smaller with few labels: multiplied by
1 - (1 - h) min(1, 20/n)^2, h being the kind's `RecenteringConstants.few_labels`.

A factor is about what the coefficients contribute. What the sampling of rows contributes, a share
s of the variance, is as large as it is:

    shared = sqrt( f^2 + (1 - f^2) s ),     likewise own.

What is each one's own is evened out. The families know some of the directions in which classifiers
differ much better than others, and overrate that: differences held for well known miss by more than
the draws say, those held for badly known by less. With sigma_i the singular values of the own part,

    sigma_i  <-  sigma_i^p,  scaled to the same sum of squares,   p = 1 - (1 - e)(1 - s),

e being `RecenteringConstants.evenness`, faded as f is. Identical classifiers remain so.

The tails that intervals of differences need make the draws too careful about which of two
classifiers is better. `choose_pair_factor` gives the factor, faded as f is, by which differences
are drawn towards the estimated one when they are counted for P(better) and P(best). Who leads all
others is less certain than that, since what draws do not know makes the same one lead on all of
them: P(best) is the share of draws to a power, `choose_best_exponent`, faded as f is.

`choose_spread` gives the factors of a metric and `recenter` moves its draws.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ssme.methods.auto.constants import RecenteringConstants
from ssme.methods.parts.log_odds import log_odds
from ssme.metrics.base import FloatArray, Metric
from ssme.metrics.kinds import is_same_metric

__all__ = [
    "Recenter",
    "Spread",
    "choose_best_exponent",
    "choose_pair_factor",
    "choose_spread",
    "recenter",
]


@dataclass(frozen=True)
class Spread:
    """How draws are scaled about the point estimate.

    ``shared`` is the factor of what classifiers have in common, ``own`` that of what each has
    beyond it, and ``evenness`` is e, from which the exponent p follows.
    """

    shared: float = 1.0
    own: float = 1.0
    evenness: float = 1.0


Recenter = Callable[[Metric, FloatArray, FloatArray, FloatArray | None, Spread, float], FloatArray]
"""A function such as `recenter`, which a study can replace."""


def recenter(
    metric: Metric,
    value: FloatArray,
    draws: FloatArray,
    resampled: FloatArray | None,
    spread: Spread,
    edge: float,
) -> FloatArray:
    """Move ``draws`` (D, C) so that their median is ``value`` (C,), on the scale g of the metric.

    ``resampled`` (B, C) are values that differ by the sampling of rows alone, from which the share
    s follows; without them it is zero. ``spread`` is what `choose_spread` gives. The logit is taken
    of shares between ``edge`` and 1 - ``edge``. Columns without a value become NaN.
    """
    out: FloatArray = np.full_like(draws, np.nan)
    kept = np.flatnonzero(np.isfinite(value) & np.isfinite(draws).any(axis=0))
    if kept.size == 0:
        return out
    low, high = metric.low, metric.high
    bounded = bool(metric.greater_is_better) and np.isfinite(low) and np.isfinite(high)

    def to_scale(x: FloatArray) -> FloatArray:
        return log_odds((x - low) / (high - low), edge) if bounded else x

    z = to_scale(np.stack([_complete(draws[:, m]) for m in kept], axis=1))
    together, own = _split(z - np.median(z, axis=0))
    rows = (None, None) if resampled is None else _split(_center(to_scale(resampled[:, kept])))
    by_rows = [_compute_row_share(part, of) for part, of in zip((together, own), rows, strict=True)]
    own = _equalize(own, 1.0 - (1.0 - spread.evenness) * (1.0 - by_rows[1]))
    z = together * _keep_rows(spread.shared, by_rows[0]) + own * _keep_rows(spread.own, by_rows[1])
    z -= np.median(z, axis=0)
    target = to_scale(value[kept]) + z
    out[:, kept] = low + (high - low) / (1.0 + np.exp(-target)) if bounded else target
    return np.clip(out, low, high)


def choose_spread(
    metric: Metric,
    n_labeled: int,
    weight: float,
    n_effective: float,
    n_classes: int,
    constants: RecenteringConstants,
    widening: float = 1.0,
) -> Spread:
    """The spread of a metric's kind, faded with few classifiers and where labels decide.

    ``weight`` is w of the residual correction and ``n_effective`` the effective number of
    classifiers. ``widening`` is the factor of the regime, which is faded too.
    """
    of = _find_spread(metric, n_labeled, n_classes, constants)
    factors = (of.shared, of.own, of.evenness, widening)
    shared, own, evenness, wide = (_fade(f, weight, n_effective, constants) for f in factors)
    return Spread(wide * shared, wide * own, evenness)


def choose_pair_factor(
    metric: Metric,
    weight: float,
    n_effective: float,
    n_classes: int,
    constants: RecenteringConstants,
) -> float:
    """The factor of pairwise differences of a metric's kind, faded; one for kinds without one."""
    for kind, factor in constants.pairs.items():
        if is_same_metric(kind, metric.kind, n_classes, any_threshold=True):
            return _fade(factor, weight, n_effective, constants)
    return 1.0


def choose_best_exponent(
    weight: float, n_effective: float, constants: RecenteringConstants
) -> float:
    """The power to which shares of draws are raised for P(best), faded."""
    return _fade(constants.best, weight, n_effective, constants)


def _fade(
    factor: float, weight: float, n_effective: float, constants: RecenteringConstants
) -> float:
    """f: the ``factor``, nearer to one with few classifiers and where labels decide."""
    fades = (1.0 - weight) * max(0.0, 1.0 - constants.few / n_effective**3)
    return 1.0 - (1.0 - factor) * fades


def _split(z: FloatArray) -> tuple[FloatArray, FloatArray]:
    """What the columns of ``z`` (D, C) share, their mean, and what each has beyond it."""
    together = np.broadcast_to(z.mean(axis=1, keepdims=True), z.shape)
    return together, z - together


def _center(z: FloatArray) -> FloatArray:
    """``z`` (B, C) minus the mean of each column; undefined values count as zero."""
    known = np.where(np.isfinite(z), z, 0.0)
    out: FloatArray = known - known.mean(axis=0)
    return out


def _compute_row_share(part: FloatArray, rows: FloatArray | None) -> float:
    """Share s of the variance of a part that the sampling of ``rows`` contributes."""
    if rows is None:
        return 0.0
    total = float((part**2).mean())
    return min(1.0, float((rows**2).mean()) / total) if total > 0.0 else 1.0


def _keep_rows(factor: float, share: float) -> float:
    """sqrt(f^2 + (1 - f^2) s): the factor of a part when a share s of its variance is kept."""
    return float(np.sqrt(factor**2 + (1.0 - factor**2) * share))


def _equalize(own: FloatArray, exponent: float) -> FloatArray:
    """``own`` (D, C) with its singular values to a power, the sum of their squares kept."""
    if exponent == 1.0 or own.shape[1] < 3:
        return own
    left, size, right = np.linalg.svd(own, full_matrices=False)
    known = size > np.sqrt(np.finfo(np.float64).eps) * size[0]
    if not known.any():
        return own
    even = np.where(known, size, 0.0) ** exponent
    even *= np.sqrt((size**2).sum() / (even**2).sum())
    out: FloatArray = (left * even) @ right
    return out


def _find_spread(
    metric: Metric, n_labeled: int, n_classes: int, constants: RecenteringConstants
) -> Spread:
    """The spread of the metric's kind before it is faded; a threshold makes no difference."""
    for kind, (shared, own) in constants.spread.items():
        if is_same_metric(kind, metric.kind, n_classes, any_threshold=True):
            few = constants.few_labels_are / max(n_labeled, constants.few_labels_are)
            less = 1.0 - (1.0 - constants.few_labels.get(kind, 1.0)) * few**2
            return Spread(less * shared, less * own, constants.evenness)
    return Spread(*constants.other_spread)


def _complete(draws: FloatArray) -> FloatArray:
    """``draws`` (D,), undefined ones replaced by the defined ones in turn."""
    defined = np.isfinite(draws)
    return draws if defined.all() else np.resize(draws[defined], draws.size)
