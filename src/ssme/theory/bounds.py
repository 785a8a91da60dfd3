"""Theorem 1 of the SSME paper: how far an estimate can be from the truth.

Scores are normal given the label, N(c, I) against N(0, I). A semi-supervised estimate that misses
classifier k's separation c_k by at most eps misses its performance by at most

    |AUC - AUC^| <= Phi(c_k / sqrt 2) - Phi((c_k - eps) / sqrt 2)
    |ACC - ACC^| <= Phi(c_k / 2)      - Phi((c_k - eps) / 2)

and, with probability 1 - p and up to a constant,

    eps ~ 1/p [ sqrt(d / (|c|^2 n_u)) + |c| exp(-n_l |c|^2 / 2 (1 - C0/|c|^2 r)^2) ]
    r   = sqrt(d log n_u / (|c|^2 n_u)).

The unknown universal constants are 1 here: `separation_error` shows how the error scales, not its
size. Source: Shanmugam et al. 2025, section 4; appendix C.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr

__all__ = ["accuracy_bound", "auc_bound", "separation_error"]

FloatArray = NDArray[np.float64]


def auc_bound(separation: ArrayLike, epsilon: ArrayLike) -> FloatArray:
    """Largest error in AUC of a classifier with ``separation`` known to within ``epsilon``."""
    return _bound(separation, epsilon, np.sqrt(2.0))


def accuracy_bound(separation: ArrayLike, epsilon: ArrayLike) -> FloatArray:
    """Largest error in accuracy of a classifier with ``separation`` known to within ``epsilon``."""
    return _bound(separation, epsilon, 2.0)


def separation_error(
    n_unlabeled: ArrayLike, n_labeled: ArrayLike, d: ArrayLike, norm: ArrayLike, *, p: float = 1.0
) -> FloatArray:
    """How eps scales with rows, labels, number of classifiers ``d`` and ``norm`` = |c|."""
    n_u, n_l = np.asarray(n_unlabeled, float), np.asarray(n_labeled, float)
    dims, c = np.asarray(d, float), np.asarray(norm, float)
    unlabeled_term = np.sqrt(dims / (c**2 * n_u))
    slack = 1.0 - np.sqrt(dims * np.log(n_u) / (c**2 * n_u)) / c**2
    labeled_term = c * np.exp(-0.5 * n_l * c**2 * np.maximum(slack, 0.0) ** 2)
    out: FloatArray = (unlabeled_term + labeled_term) / p
    return out


def _bound(separation: ArrayLike, epsilon: ArrayLike, scale: float) -> FloatArray:
    c, eps = np.asarray(separation, float), np.asarray(epsilon, float)
    out: FloatArray = ndtr(c / scale) - ndtr((c - eps) / scale)
    return out
