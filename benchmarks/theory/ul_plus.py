"""UL+: the estimator that theorem 1 is about. Unlabeled rows find the line, labels its direction.

Model: s | y = 1 ~ N(m + c/2, I), s | y = 0 ~ N(m - c/2, I), classes balanced.

1. From the unlabeled rows alone: m is their mean, and theta = c/2 is known up to its sign. It
   starts at the leading eigenvector of their covariance I + theta theta', with length
   sqrt(lambda - 1), and is improved by EM for the mixture of N(theta, I) and N(-theta, I),

       theta <- mean_i x_i tanh(theta' x_i),       x_i = s_i - m,

   until it moves by no more than ``tol``.
2. The labeled rows choose the sign: theta' sum_i (2 y_i - 1) x_i must not be negative.

Labels serve for nothing else, so UL+ is no estimator to use; SSME, which fits labeled and unlabeled
rows together, is said to do at least as well.

Source: Shanmugam et al. 2025, sec. 3.2 and app. C; Tifrea et al., NeurIPS 2023, sec. 2.3; EM for
this mixture: Wu and Zhou, "Randomly initialized EM algorithm for two-component Gaussian mixture
achieves near optimality in O(sqrt n) iterations", Math. Stat. Learn. 4, 2021.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from benchmarks.theory.performance import accuracy_of_separation, auc_of_separation
from ssme.errors import InputError

__all__ = ["UlPlusFit", "ul_plus"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class UlPlusFit:
    """What UL+ found.

    Attributes
    ----------
    separation : ndarray of shape (d,)
        Separation of each classifier; negative where a classifier is worse than chance.
    center : ndarray of shape (d,)
        Middle between the class means.
    n_iter : int
        Number of steps of EM.
    converged : bool
        Whether EM converged.
    """

    separation: FloatArray
    center: FloatArray
    n_iter: int
    converged: bool

    @property
    def auc(self) -> FloatArray:
        """AUC (d,) of each classifier; below 0.5 where its separation is negative."""
        return _sign(auc_of_separation(self.separation), self.separation)

    @property
    def accuracy(self) -> FloatArray:
        """Accuracy (d,) of each classifier at the threshold between its class means."""
        return _sign(accuracy_of_separation(self.separation), self.separation)


def ul_plus(
    scores: ArrayLike, labels: ArrayLike, *, max_iter: int = 1000, tol: float = 1e-6
) -> UlPlusFit:
    """Estimate the separation of each classifier by UL+.

    Parameters
    ----------
    scores : array_like of shape (n, d)
        Real-valued scores whose standard deviation within a class is 1.
    labels : array_like of shape (n,)
        1 or 0, and -1 where a row has no label. Both kinds of rows are needed.
    max_iter, tol : int, float
        EM stops when no coordinate moves by more than ``tol``, or after ``max_iter`` steps.

    Returns
    -------
    UlPlusFit

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 40000)
    >>> scores = rng.standard_normal((40000, 3)) + y[:, None] * [1.0, 2.0, 1.5]
    >>> fit = ul_plus(scores, np.where(np.arange(40000) < 20, y, -1))
    >>> fit.separation.round(1).tolist()
    [1.0, 2.0, 1.5]
    """
    points, known = np.asarray(scores, dtype=np.float64), np.asarray(labels)
    if points.ndim != 2 or known.shape != points.shape[:1] or not np.isfinite(points).all():
        raise InputError(
            f"scores have the shape {points.shape} and labels {known.shape}, or are not finite",
            hint="give finite scores (n, d) and labels (n,)",
        )
    if not np.isin(known, (-1, 0, 1)).all():
        raise InputError(option="labels", must="be 0, 1 or -1")
    unlabeled, labeled = points[known == -1], known >= 0
    if len(unlabeled) < 2 or not labeled.any():
        raise InputError(
            f"there are {len(unlabeled)} unlabeled and {int(labeled.sum())} labeled rows",
            hint="add rows: UL+ needs unlabeled rows for a line and labels for its direction",
        )
    center = unlabeled.mean(axis=0)
    x = unlabeled - center
    theta, n_iter, converged = _find_line(x, max_iter, tol)
    signs = 2.0 * known[labeled] - 1.0
    if signs @ ((points[labeled] - center) @ theta) < 0:
        theta = -theta
    return UlPlusFit(2.0 * theta, center, n_iter, converged)


def _find_line(x: FloatArray, max_iter: int, tol: float) -> tuple[FloatArray, int, bool]:
    """theta (d,) up to its sign, steps taken, and whether they came to rest."""
    values, vectors = np.linalg.eigh(x.T @ x / len(x))
    # beside noise alone the leading eigenvalue is near 1; EM at theta = 0 would never move
    length = np.sqrt(max(values[-1] - 1.0, x.shape[1] / len(x)))
    theta = length * vectors[:, -1]
    for step in range(1, max_iter + 1):
        moved = np.tanh(x @ theta) @ x / len(x)
        change = np.abs(moved - theta).max()
        theta = moved
        if change <= tol:
            return theta, step, True
    return theta, max_iter, False


def _sign(performance: FloatArray, separation: FloatArray) -> FloatArray:
    return np.where(separation >= 0, performance, 1.0 - performance)
