"""Additive log-ratio: s_k = log(p_k / p_K), k = 1..K-1, from the simplex to R^(K-1).

With two classes s_1 = log(p_1 / p_2) is one logit.

The logarithm is infinite at exact zeros, so probabilities are clipped first, on purpose:
every entry below ``eps`` becomes ``eps`` and the row is divided by its sum, so that the order
of classifiers' scores is kept and |s_k| never exceeds log(1/eps). ``only_exact=True`` touches
exact zeros only (and so exact ones), as the paper's public code does with eps = 1e-4.

Source: Aitchison, "The statistical analysis of compositional data", JRSS B 44, 1982.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ssme.errors import InputError

FloatArray = NDArray[np.float64]


def clip_simplex(
    probabilities: FloatArray, eps: float = 1e-6, *, only_exact: bool = False
) -> FloatArray:
    """``probabilities`` (..., K) with no entry below ``eps``, summing to one; NaN stays NaN."""
    n_classes = probabilities.shape[-1]
    if not 0.0 < eps < 1.0 / n_classes:
        raise InputError(option="eps", value=eps, must=f"be between 0 and 1/{n_classes}")
    too_small = probabilities <= 0.0 if only_exact else probabilities < eps
    floored = np.where(too_small, eps, probabilities)
    return floored / floored.sum(axis=-1, keepdims=True)


def alr(probabilities: FloatArray) -> FloatArray:
    """(..., K) strictly positive probabilities -> (..., K-1) log-ratios to the last class."""
    logs = np.log(probabilities)
    return logs[..., :-1] - logs[..., -1:]


def stack_alr(scores: FloatArray, eps: float = 1e-6, *, only_exact: bool = False) -> FloatArray:
    """Scores (n, M, K) of M classifiers -> points (n, M (K-1)); NaN where a score is missing."""
    ratios = alr(clip_simplex(scores, eps, only_exact=only_exact))
    return ratios.reshape(scores.shape[0], -1)
