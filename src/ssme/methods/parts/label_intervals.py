"""Closed-form intervals that hold with 20 labels.

Every function takes the point estimates (M,), what they rest on and a level, and returns
``(low, high)``, both (M,), NaN where the point is NaN or rests on nothing.

==========================  ==========================================================
`wilson`                    a proportion k / n: Wilson, JASA 22, 1927
`newcombe_auc`              ROC AUC: Newcombe, Statistics in Medicine 25, 2006, method 5,
                            the variance of Hanley and McNeil (Radiology 143, 1982) inverted
`boyd_ap`                   average precision: the logit interval of Boyd, Eng and Page (ECML
                            2013), here with one pseudo-success and one pseudo-failure
`find_ap_interval`               the same, its upper end no lower than Wilson's
`find_ece_interval`              calibration error: mean signed gap below, noise removed above
==========================  ==========================================================

Under sample weights the counts are Kish's effective ones, ``(sum w)^2 / sum w^2``
(Survey Sampling, 1965).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, ndtri

from ssme.metrics.base import FloatArray

__all__ = [
    "boyd_ap",
    "find_ap_interval",
    "find_ece_interval",
    "find_normal_quantile",
    "kish",
    "newcombe_auc",
    "wilson",
]

BISECTIONS = 60
"""Halvings of [0, 1]: the ends are then exact to double precision."""

BoolArray = NDArray[np.bool_]
Interval = tuple[FloatArray, FloatArray]


def find_normal_quantile(level: float) -> float:
    """z with P(|N(0, 1)| < z) = ``level``."""
    return float(ndtri(0.5 + level / 2.0))


def kish(weights: FloatArray) -> FloatArray:
    """Effective number of rows (M,) of ``weights`` (n, M): (sum w)^2 / sum w^2, 0 for no rows."""
    total, squares = weights.sum(axis=0), (weights**2).sum(axis=0)
    effective: FloatArray = total**2 / np.where(squares > 0.0, squares, 1.0)
    return effective


def wilson(proportion: FloatArray, n: FloatArray, level: float = 0.95) -> Interval:
    """Score interval of a binomial proportion: the p with (p_hat - p)^2 <= z^2 p (1 - p) / n."""
    z2 = find_normal_quantile(level) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        center = (proportion + z2 / (2.0 * n)) / (1.0 + z2 / n)
        spread = proportion * (1.0 - proportion) / n + z2 / (4.0 * n**2)
        half = np.sqrt(z2 * spread) / (1.0 + z2 / n)
    low, high = np.maximum(center - half, 0.0), np.minimum(center + half, 1.0)
    return _put_inside(proportion, low, high, defined=n > 0.0)


def newcombe_auc(
    auc: FloatArray, positives: FloatArray, negatives: FloatArray, level: float = 0.95
) -> Interval:
    """The A with (A_hat - A)^2 <= z^2 V(A), V after Hanley and McNeil with equal counts N*.

    V(A) = A (1 - A) [1 + N* (1 - A)/(2 - A) + N* A/(1 + A)] / (m n),   N* = (m + n)/2 - 1
    """
    z = find_normal_quantile(level)
    pairs = positives * negatives
    equal = (positives + negatives) / 2.0 - 1.0

    def reach(area: FloatArray) -> FloatArray:
        shape = 1.0 + equal * ((1.0 - area) / (2.0 - area) + area / (1.0 + area))
        variance = area * (1.0 - area) * shape / np.where(pairs > 0.0, pairs, np.nan)
        out: FloatArray = z * np.sqrt(np.maximum(variance, 0.0))
        return out

    low = _bisect(np.zeros_like(auc), auc, lambda a: auc - a > reach(a))
    high = _bisect(auc, np.ones_like(auc), lambda a: a - auc <= reach(a))
    return _put_inside(auc, low, high, defined=pairs > 0.0)


def boyd_ap(average_precision: FloatArray, positives: FloatArray, level: float = 0.95) -> Interval:
    """expit(logit(p) +- z / sqrt(n p (1 - p))), p = (n_pos AP + 1) / n and n = n_pos + 2."""
    z = find_normal_quantile(level)
    n = positives + 2.0
    p = (positives * average_precision + 1.0) / n
    half = z / np.sqrt(n * p * (1.0 - p))
    low, high = expit(logit(p) - half), expit(logit(p) + half)
    return _put_inside(average_precision, low, high, defined=positives > 0.0)


def find_ap_interval(
    average_precision: FloatArray, positives: FloatArray, level: float = 0.95
) -> Interval:
    """`boyd_ap`, its upper end no lower than Wilson's for a proportion of the positives.

    The pseudo-failure keeps Boyd's upper end away from 1, where near-perfect rankings belong.
    """
    low, high = boyd_ap(average_precision, positives, level)
    return low, np.maximum(high, wilson(average_precision, positives, level)[1])


def find_ece_interval(
    ece: FloatArray,
    gap: FloatArray,
    variance: FloatArray,
    noise: tuple[FloatArray, FloatArray],
    level: float = 0.95,
) -> Interval:
    """[ max(|g| - z s, sqrt((e - z s)^2 - M^2)),  max(|g|, sqrt(e^2 - m^2)) + z s ] in [0, 1].

    ``gap`` g is the mean of outcome minus score and s^2 = ``variance`` that of the mean: no
    binning makes the error e = ``ece`` smaller than |E g|, hence the first lower end. ``noise`` is
    the error that chance alone would show, a small guess m and a large one M; it adds to the true
    error in squares. The second lower end counts with many labels, when gaps of both signs cancel.
    """
    small, large = noise
    half = find_normal_quantile(level) * np.sqrt(variance)
    beyond = np.maximum(ece - half, 0.0) ** 2 - large**2
    low = np.maximum(np.abs(gap) - half, np.sqrt(np.maximum(beyond, 0.0)))
    true = np.sqrt(np.maximum(ece**2 - small**2, 0.0))
    high = np.minimum(np.maximum(np.abs(gap), true) + half, 1.0)
    return _put_inside(ece, low, high, defined=np.isfinite(half))


def _bisect(
    left: FloatArray, right: FloatArray, goes_right: Callable[[FloatArray], BoolArray]
) -> FloatArray:
    """The point of [left, right] up to which ``goes_right`` holds."""
    for _ in range(BISECTIONS):
        middle = (left + right) / 2.0
        beyond = goes_right(middle)
        left, right = np.where(beyond, middle, left), np.where(beyond, right, middle)
    end: FloatArray = (left + right) / 2.0
    return end


def _put_inside(
    point: FloatArray, low: FloatArray, high: FloatArray, defined: BoolArray
) -> Interval:
    """The interval with its ``point`` inside, NaN where nothing is ``defined``."""
    known = np.isfinite(point) & defined
    low = np.where(known, np.minimum(low, point), np.nan)
    high = np.where(known, np.maximum(high, point), np.nan)
    return low, high
