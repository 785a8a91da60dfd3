"""Synthetic sets with a known truth: class-conditional normal scores.

Theory section of the paper: y is a fair coin and the d classifiers' scores are

    s | y = 1 ~ N(c, I),    s | y = 0 ~ N(0, I).

Classifier j alone then has log-odds ``c_j s_j - c_j^2 / 2``, which is what it reports as its
probability: P_j(y = 1) = sigmoid(sharpness * (c_j s_j - c_j^2 / 2)), calibrated at sharpness 1. Its
AUC is Phi(c_j / sqrt 2) and its accuracy at 0.5 is Phi(c_j / 2).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from ssme.data.scoreset import ScoreSet


def gaussian_set(
    n: int, separation: NDArray[np.float64], *, rng: np.random.Generator, sharpness: float = 1.0
) -> ScoreSet:
    """Draw fully labeled rows of classifiers whose scores are normal within a class.

    Parameters
    ----------
    n : int
        Number of rows.
    separation : ndarray of shape (d,)
        Distance between the means of the two classes, in standard deviations, of each classifier.
    rng : numpy.random.Generator
        Source of the random numbers.
    sharpness : float, default 1.0
        Factor of the log-odds: above 1 the classifiers are too sure, below 1 not sure enough.

    Returns
    -------
    ScoreSet

    Examples
    --------
    >>> import numpy as np
    >>> from benchmarks.datasets.synthetic import gaussian_set
    >>> gaussian_set(100, np.array([1.0, 2.0]), rng=np.random.default_rng(0)).scores.shape
    (100, 2, 2)
    """
    y = rng.integers(0, 2, n)
    s = rng.standard_normal((n, len(separation))) + y[:, None] * separation
    logit = separation * s - separation**2 / 2.0
    return ScoreSet.from_arrays(expit(sharpness * logit), y)


def separations(d: int, norm: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw the separations of classifiers as in the paper's appendix: N(c, 0.2), at least 0.01.

    Parameters
    ----------
    d : int
        Number of classifiers.
    norm : float
        Their mean separation c.
    rng : numpy.random.Generator
        Source of the random numbers.

    Returns
    -------
    ndarray of shape (d,)
    """
    return np.maximum(rng.normal(norm, 0.2, d), 0.01)
