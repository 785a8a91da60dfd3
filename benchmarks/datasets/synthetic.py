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
    """``n`` labeled rows of classifiers (d,) whose scores are normal within a class.

    ``separation`` (d,) are the distances c between the means of the two classes, in standard
    deviations; with a ``sharpness`` above 1 the classifiers are too sure.
    """
    y = rng.integers(0, 2, n)
    s = rng.standard_normal((n, len(separation))) + y[:, None] * separation
    logit = separation * s - separation**2 / 2.0
    return ScoreSet.from_arrays(expit(sharpness * logit), y)


def separations(d: int, norm: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """Separations (d,) as in the paper's appendix: drawn from N(``norm``, 0.2), at least 0.01."""
    return np.maximum(rng.normal(norm, 0.2, d), 0.01)
