"""Theorem 1 of the SSME paper: how far an estimate can be from the truth.

Given the label, the scores of d classifiers are N(c, I) in one class and N(0, I) in the other; the
classes are balanced. An estimate that misses c by at most eps misses classifier k's performance by
at most

    |AUC_k - AUC_k^| <= Phi(c_k / sqrt 2) - Phi((c_k - eps) / sqrt 2)
    |ACC_k - ACC_k^| <= Phi(c_k / 2)      - Phi((c_k - eps) / 2).

With probability 1 - p, for an estimator of the class UL+ (`benchmarks.theory.ul_plus`),

    eps <= constant / p [ sqrt(d / (|c|^2 n_u)) + |c| exp(-n_l |c|^2 / 2 (1 - C0 r / |c|^2)_+^2) ]
    r    = sqrt(d log n_u / (|c|^2 n_u)),

provided that d >= 2 and

    n_u >= rows_constant max{ d, d / |c|^4, log n_u / min(|c|^2, |c|^4), d log(d n_u) / |c|^6 }.

The paper prints "up to a constant" for ``constant`` and ``rows_constant`` and calls ``c0`` a
universal constant; none is given. They are parameters here, 1 by default, so that the bound shows
how the error scales and not how large it is. Where 1 - C0 r / |c|^2 is negative the printed square
would grow again; it is taken as 0, which is the weaker and only meaningful reading.

Source: Shanmugam et al. 2025, sec. 3.2 and app. C; the bound on eps is that of Tifrea et al.,
"Can semi-supervised learning use all the data effectively? A lower bound perspective", NeurIPS
2023, turned into a probability by Markov's inequality.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr

from benchmarks.theory.performance import (
    ACCURACY_SCALE,
    AUC_SCALE,
    accuracy_of_separation,
    auc_of_separation,
)
from ssme.errors import InputError, make_unknown_name_error

__all__ = [
    "Condition",
    "TheoremOne",
    "accuracy_bound",
    "auc_bound",
    "performance_band",
    "separation_error",
    "theorem_1",
]

FloatArray = NDArray[np.float64]

SCALES = {"accuracy": ACCURACY_SCALE, "roc_auc": AUC_SCALE}


def auc_bound(separation: ArrayLike, epsilon: ArrayLike) -> FloatArray:
    """Compute the largest error in AUC that an error in the separation can cause.

    Parameters
    ----------
    separation : array_like
        Separation of the classifier.
    epsilon : array_like
        Largest error in the separation.

    Returns
    -------
    ndarray
        Largest error in AUC.

    Examples
    --------
    >>> bool(auc_bound(1.5, 0.1) > auc_bound(1.5, 0.05))
    True
    """
    return _evaluate_bound(separation, epsilon, AUC_SCALE)


def accuracy_bound(separation: ArrayLike, epsilon: ArrayLike) -> FloatArray:
    """Compute the largest error in accuracy that an error in the separation can cause.

    Parameters
    ----------
    separation : array_like
        Separation of the classifier.
    epsilon : array_like
        Largest error in the separation.

    Returns
    -------
    ndarray
        Largest error in accuracy.

    Examples
    --------
    >>> bool(accuracy_bound(1.5, 0.1) > accuracy_bound(1.5, 0.05))
    True
    """
    return _evaluate_bound(separation, epsilon, ACCURACY_SCALE)


def performance_band(
    metric: str, separation: ArrayLike, epsilon: ArrayLike
) -> tuple[FloatArray, FloatArray]:
    """Least and largest estimate of ``metric`` when ``separation`` is missed by ``epsilon``.

    Parameters
    ----------
    metric : {"accuracy", "roc_auc"}
        Which performance.
    separation, epsilon : array_like
        The classifier's separation and the largest error in it.

    Returns
    -------
    low, high : ndarray
        Phi((c - eps) / s) and Phi((c + eps) / s), s being sqrt 2 for AUC and 2 for accuracy.

    Examples
    --------
    >>> low, high = performance_band("accuracy", 1.5, 0.1)
    >>> round(float(low), 3), round(float(high), 3)
    (0.758, 0.788)
    """
    if metric not in SCALES:
        raise make_unknown_name_error("metric", metric, SCALES)
    c, eps = np.asarray(separation, float), np.asarray(epsilon, float)
    scale = SCALES[metric]
    return ndtr((c - eps) / scale), ndtr((c + eps) / scale)


def separation_error(
    n_unlabeled: ArrayLike,
    n_labeled: ArrayLike,
    d: ArrayLike,
    norm: ArrayLike,
    *,
    p: float = 1.0,
    c0: float = 1.0,
    constant: float = 1.0,
) -> FloatArray:
    """The bound on eps, the error in the estimated separation.

    Parameters
    ----------
    n_unlabeled, n_labeled : array_like
        Numbers of rows, at least 1 and 0.
    d : array_like
        Number of classifiers, at least 1 (the theorem itself asks for 2).
    norm : array_like
        ``|c|``, the distance of the class means over all classifiers, above 0.
    p : float
        The bound holds with probability 1 - p; with p = 1 it bounds the expected error.
    c0 : float
        The universal constant of the second term, at least 0 (default 1; its value is not known).
    constant : float
        The factor the paper leaves open, above 0 (default 1; its value is not known).

    Returns
    -------
    ndarray
        The bound, in standard deviations of a class's scores.

    Examples
    --------
    >>> round(float(separation_error(1000, 20, 4, 2.0)), 4)
    0.0316
    >>> round(float(separation_error(1000, 20, 4, 2.0, p=0.1)), 3)
    0.316
    """
    _check_constants(p=p, c0=c0, constant=constant)
    n_u, n_l = (
        _check_numbers("n_unlabeled", n_unlabeled, 1.0),
        _check_numbers("n_labeled", n_labeled, 0.0),
    )
    dims, c = _check_numbers("d", d, 1.0), np.asarray(norm, dtype=np.float64)
    if not (np.isfinite(c) & (c > 0)).all():
        raise InputError(option="norm", value=np.min(c), must="be above 0")
    unlabeled_term = np.sqrt(dims / (c**2 * n_u))
    slack = 1.0 - c0 / c**2 * np.sqrt(dims * np.log(n_u) / (c**2 * n_u))
    labeled_term = c * np.exp(-0.5 * n_l * c**2 * np.maximum(slack, 0.0) ** 2)
    out: FloatArray = constant * (unlabeled_term + labeled_term) / p
    return out


@dataclass(frozen=True)
class Condition:
    """One condition of the theorem: what it asks for, what there is, and whether that is enough.

    Attributes
    ----------
    name : str
        What the condition is about.
    required, found : float
        The number that the condition asks for, and the number that there is.
    """

    name: str
    required: float
    found: float

    @property
    def holds(self) -> bool:
        """Whether there is as much as the condition asks for."""
        return self.found >= self.required


@dataclass(frozen=True, eq=False)
class TheoremOne:
    """What theorem 1 says about d classifiers.

    Attributes
    ----------
    separation : ndarray of shape (d,)
        Separations of the classifiers.
    epsilon : float
        Bound on the error in the estimated separations, with probability 1 - p.
    auc, accuracy : ndarray of shape (d,)
        Performance that follows from the separations.
    auc_bound, accuracy_bound : ndarray of shape (d,)
        Largest errors of the estimates of these, with probability 1 - p.
    conditions : tuple of Condition
        The conditions of the theorem; where one fails, the theorem promises nothing.
    """

    separation: FloatArray
    epsilon: float
    auc: FloatArray
    accuracy: FloatArray
    auc_bound: FloatArray
    accuracy_bound: FloatArray
    conditions: tuple[Condition, ...]

    @property
    def applies(self) -> bool:
        """Whether every condition holds."""
        return all(condition.holds for condition in self.conditions)

    def rows(self) -> list[dict[str, Any]]:
        """Return one entry per classifier.

        Returns
        -------
        list of dict
            Separation, performance and bounds of each classifier.
        """
        names = ("separation", "auc", "auc_bound", "accuracy", "accuracy_bound")
        columns = zip(*(getattr(self, name).tolist() for name in names), strict=True)
        return [dict(zip(names, values, strict=True)) for values in columns]


def theorem_1(
    separation: ArrayLike,
    n_unlabeled: int,
    n_labeled: int,
    *,
    p: float = 0.1,
    c0: float = 1.0,
    constant: float = 1.0,
    rows_constant: float = 1.0,
) -> TheoremOne:
    """Theorem 1 for classifiers with these separations, its conditions included.

    Parameters
    ----------
    separation : array_like of shape (d,)
        Separation of each classifier, at least 0.
    n_unlabeled, n_labeled : int
        Numbers of rows.
    p : float
        The bounds hold with probability 1 - p.
    c0, constant, rows_constant : float
        The constants that the theorem leaves open; see the module's description.

    Returns
    -------
    TheoremOne

    Examples
    --------
    >>> said = theorem_1([1.5, 1.0, 1.2, 1.4], 1000, 20, p=0.1)
    >>> said.applies, round(said.epsilon, 2)
    (True, 0.25)
    """
    _check_constants(p=p, c0=c0, constant=constant, rows_constant=rows_constant)
    c = np.atleast_1d(np.asarray(separation, dtype=np.float64))
    if c.ndim != 1 or not (np.isfinite(c) & (c >= 0)).all() or not (c > 0).any():
        raise InputError(
            option="separation",
            value=c.tolist(),
            must="have one number of at least 0 per classifier, not all 0",
            hint="swap the classes of a classifier that is worse than chance",
        )
    d, norm = len(c), float(np.linalg.norm(c))
    epsilon = float(
        separation_error(n_unlabeled, n_labeled, d, norm, p=p, c0=c0, constant=constant)
    )
    needed = {
        "n_u >= d": d,
        "n_u >= d / |c|^4": d / norm**4,
        "n_u >= log n_u / min(|c|^2, |c|^4)": np.log(n_unlabeled) / min(norm**2, norm**4),
        "n_u >= d log(d n_u) / |c|^6": d * np.log(d * n_unlabeled) / norm**6,
    }
    conditions = [Condition("d >= 2", 2.0, float(d))]
    conditions += [
        Condition(name, rows_constant * float(value), float(n_unlabeled))
        for name, value in needed.items()
    ]
    return TheoremOne(
        c,
        epsilon,
        auc_of_separation(c),
        accuracy_of_separation(c),
        auc_bound(c, epsilon),
        accuracy_bound(c, epsilon),
        tuple(conditions),
    )


def _evaluate_bound(separation: ArrayLike, epsilon: ArrayLike, scale: float) -> FloatArray:
    c, eps = np.asarray(separation, float), np.asarray(epsilon, float)
    out: FloatArray = ndtr(c / scale) - ndtr((c - eps) / scale)
    return out


def _check_constants(**constants: float) -> None:
    """``p`` in (0, 1], ``c0`` at least 0, the others above 0."""
    for name, value in constants.items():
        least_is_allowed, most = name == "c0", 1.0 if name == "p" else np.inf
        above = value >= 0 if least_is_allowed else value > 0
        if not (above and value <= most and np.isfinite(value)):
            must = "be at least 0" if least_is_allowed else "be above 0"
            must += " and at most 1" if name == "p" else ""
            raise InputError(option=name, value=value, must=must)


def _check_numbers(name: str, values: ArrayLike, least: float) -> FloatArray:
    numbers = np.asarray(values, dtype=np.float64)
    if not (np.isfinite(numbers) & (numbers >= least)).all():
        raise InputError(option=name, value=np.min(numbers), must=f"be at least {least:g}")
    return numbers
