"""What a grade may stand for: a probability for every grade of every rater, found in several ways.

Each function returns one array (G,) per rater, rising with the grade.

- `weigh_grades`: grades are equal parts of the way from "surely negative" to "surely positive"; a
  Beta distribution fitted to how often each is given says where within its part a grade stands,
  E[p | grade]. Raters see the same rows, so that its mean is near the median of the raters'.
- `average_grades`: the mean of P(y) over the rows with that grade.
- `fit_classes`: P(y) of the rows by latent classes with a free P(grade | class) of every rater,
  by EM with labels held (Dawid and Skene, JRSS C 28, 1979),

      logit P(y_i = 1) = logit share + 1 / (1 + (M - 1) rho) sum_j log P(g_ij | 1) / P(g_ij | 0),

  so that raters who err together count as fewer.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, expit, logit

from ssme.arrays import FloatArray
from ssme.methods.answers.constants import AnswerConstants
from ssme.results.reliability import make_falling

IntArray = NDArray[np.int64]
LEAST = 1e-3
DEPENDENCE = 0.5
STEPS = 60


def weigh_grades(codes: IntArray, n_grades: int, of: AnswerConstants) -> list[FloatArray]:
    """By each rater's own use of its scale, ``codes`` (n, M) being grades from 0."""
    logits, sizes = np.linspace(-6.0, 6.0, 50), np.linspace(-1.5, 4.0, 50)
    mean, size = expit(logits)[:, None, None], np.exp(sizes)[None, :, None]
    edges = np.arange(n_grades + 1) / n_grades
    a, b = mean * size, (1.0 - mean) * size
    mass = np.diff(betainc(a, b, edges), axis=-1)
    first = mean * np.diff(betainc(a + 1.0, b, edges), axis=-1)
    log_mass = np.log(np.maximum(mass, 1e-12)) * min(of.scale_rows, len(codes))

    def weigh(column: IntArray, center: float, spread: float) -> FloatArray:
        log_p = log_mass @ (np.bincount(column, minlength=n_grades) / len(column))
        log_p = log_p - 0.5 * ((logits[:, None] - center) / spread) ** 2
        log_p = log_p - 0.5 * (sizes - of.scale_size) ** 2
        weights: FloatArray = np.exp(log_p - log_p.max())
        weights /= weights.sum()
        return weights

    broad = [weigh(column, 0.0, of.scale_mean).sum(axis=1) @ logits for column in codes.T]
    told = []
    for column in codes.T:
        weights = weigh(column, float(np.median(broad)), of.scale_shrinkage)[:, :, None]
        inside = (weights * first).sum((0, 1)) / np.maximum((weights * mass).sum((0, 1)), 1e-12)
        told.append(_make_rising(np.clip(inside, edges[:-1], edges[1:]), np.ones(n_grades)))
    return told


def average_grades(codes: IntArray, n_grades: int, values: FloatArray) -> list[FloatArray]:
    """Mean of ``values`` (n,) or (n, M) over the rows with each grade."""
    told = []
    for m, column in enumerate(codes.T):
        own = values if values.ndim == 1 else values[:, m]
        counts = np.bincount(column, minlength=n_grades) + 1.0
        total = np.bincount(column, own, n_grades) + own.mean()
        told.append(_make_rising(total / counts, counts))
    return told


def fit_classes(codes: IntArray, n_grades: int, start: FloatArray, labels: IntArray) -> FloatArray:
    """P(y = 1) (n,) by latent classes, begun at ``start`` (n,)."""
    n, n_models = codes.shape
    known, p = labels >= 0, start.copy()
    loud = 1.0 / (1.0 + (n_models - 1) * DEPENDENCE)
    for _ in range(STEPS):
        p[known] = labels[known]
        odds = np.full(n, logit(np.clip(p.mean(), LEAST, 1.0 - LEAST)))
        for column in codes.T:
            prior = 0.5 * n_grades * np.bincount(column, minlength=n_grades) / n
            one = np.bincount(column, p, n_grades) + prior
            zero = np.bincount(column, 1.0 - p, n_grades) + prior
            with np.errstate(divide="ignore", invalid="ignore"):  # grades that nobody gave
                odds += loud * (np.log(one / one.sum()) - np.log(zero / zero.sum()))[column]
        new = expit(odds)
        done = np.abs(new - p).max() < 1e-5
        p = new
        if done:
            break
    return p


def move_share(soft: FloatArray, share: float) -> FloatArray:
    """W (n, 2) with its log-odds moved to the mean ``share`` of the positive class."""
    odds = logit(np.clip(soft[:, 1], 1e-12, 1.0 - 1e-12))
    low, high = -10.0, 10.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if expit(odds + middle).mean() < share else (low, middle)
    positive = expit(odds + middle)
    return np.stack([1.0 - positive, positive], axis=1)


def _make_rising(values: FloatArray, weights: FloatArray) -> FloatArray:
    """The nearest rising values, a little apart, so that the order of grades remains."""
    rising = -make_falling(-values, weights) + 1e-6 * np.arange(values.size)
    return np.clip(rising, LEAST, 1.0 - LEAST)
