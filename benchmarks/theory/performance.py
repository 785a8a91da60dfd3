"""How good a classifier is whose scores are normal given the label.

Scores of classifier k are N(c_k, 1) in the positive class and N(0, 1) in the negative one, and the
classes are balanced. With Phi the standard normal distribution function,

    AUC_k      = Phi(|c_k| / sqrt 2)
    accuracy_k = Phi(|c_k| / 2)          with the best threshold, c_k / 2.

Source: Shanmugam et al. 2025, sec. 3.2 and app. C.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri

from ssme.errors import InputError

__all__ = [
    "accuracy_of_separation",
    "auc_of_separation",
    "separation_of_accuracy",
    "separation_of_auc",
]

FloatArray = NDArray[np.float64]

AUC_SCALE, ACCURACY_SCALE = float(np.sqrt(2.0)), 2.0


def auc_of_separation(separation: ArrayLike) -> FloatArray:
    """Compute the AUC of a classifier from its separation.

    Parameters
    ----------
    separation : array_like
        Difference of the class means of the classifier's scores in standard deviations.

    Returns
    -------
    ndarray
        Phi(separation / sqrt 2).

    Examples
    --------
    >>> round(float(auc_of_separation(1.5)), 3)
    0.856
    """
    return _check_probability(separation, AUC_SCALE)


def accuracy_of_separation(separation: ArrayLike) -> FloatArray:
    """Compute the accuracy of a classifier, at the best threshold, from its separation.

    Parameters
    ----------
    separation : array_like
        Difference of the class means of the classifier's scores in standard deviations.

    Returns
    -------
    ndarray
        Phi(separation / 2).

    Examples
    --------
    >>> round(float(accuracy_of_separation(1.5)), 3)
    0.773
    """
    return _check_probability(separation, ACCURACY_SCALE)


def separation_of_auc(auc: ArrayLike) -> FloatArray:
    """Compute the separation at which a classifier has a given AUC.

    Parameters
    ----------
    auc : array_like
        Numbers of at least 0.5 and below 1.

    Returns
    -------
    ndarray
        Difference of the class means of the classifier's scores in standard deviations.

    Examples
    --------
    >>> round(float(separation_of_auc(0.856)), 2)
    1.5
    """
    return _check_separation(auc, AUC_SCALE, "auc")


def separation_of_accuracy(accuracy: ArrayLike) -> FloatArray:
    """Compute the separation at which a classifier has a given accuracy.

    Parameters
    ----------
    accuracy : array_like
        Numbers of at least 0.5 and below 1.

    Returns
    -------
    ndarray
        Difference of the class means of the classifier's scores in standard deviations.

    Examples
    --------
    >>> round(float(separation_of_accuracy(0.773)), 2)
    1.5
    """
    return _check_separation(accuracy, ACCURACY_SCALE, "accuracy")


def _check_probability(separation: ArrayLike, scale: float) -> FloatArray:
    out: FloatArray = ndtr(np.abs(np.asarray(separation, dtype=np.float64)) / scale)
    return out


def _check_separation(performance: ArrayLike, scale: float, name: str) -> FloatArray:
    values = np.asarray(performance, dtype=np.float64)
    if not ((values >= 0.5) & (values < 1.0)).all():
        raise InputError(
            f"values from {values.min():g} to {values.max():g}",
            option=name,
            must="be at least 0.5 and below 1",
            hint="a classifier below 0.5 has its classes the wrong way round: swap them first",
        )
    out: FloatArray = scale * ndtri(values)
    return out
