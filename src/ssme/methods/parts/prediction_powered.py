"""Prediction-powered means: labels correct what predictions say about the unlabeled rows.

    theta = lambda * mean_unlabeled f + mean_labeled (t - lambda * f)

for a truth t known on n labeled rows and its prediction f known on all rows. For any fixed lambda
theta is unbiased; the power-tuned lambda = Cov(t, f) / ((1 + n/N) Var f) minimises its variance.
With a handful of labels that regression coefficient is itself noisy; the ridge form divides by
Var f + alpha instead, alpha being chosen by leave-one-out error among multiples of Var f.

Sources: Angelopoulos, Duchi and Zrnic, "PPI++: Efficient prediction-powered inference", 2023;
Eyre and Madras, "Regression for the mean: auto-evaluation and inference with few labels through
post-hoc regression", ICML 2025 (ridge).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ssme.metrics.base import FloatArray

__all__ = ["PoweredMean", "choose_ridge_factor", "estimate_powered_mean", "tune_power"]


@dataclass(frozen=True, eq=False)
class PoweredMean:
    """An estimate and what each row adds to its error: variance = sum of squares of both."""

    value: float
    on_labeled: FloatArray
    on_unlabeled: FloatArray

    @property
    def error(self) -> float:
        """Standard error."""
        return float(np.sqrt((self.on_labeled**2).sum() + (self.on_unlabeled**2).sum()))


def estimate_powered_mean(
    truth: FloatArray,
    predicted: FloatArray,
    predicted_unlabeled: FloatArray,
    lam: float,
    weights: FloatArray | None = None,
    weights_unlabeled: FloatArray | None = None,
) -> PoweredMean:
    """The estimate for a given ``lam``; ``truth`` and ``predicted`` are (n,).

    Weights are sampling weights: the target is then the weighted mean of the truth.
    """
    if truth.size == 0:
        return PoweredMean(np.nan, truth, np.full(predicted_unlabeled.shape, np.nan))
    if predicted_unlabeled.size == 0:
        value, shares = _compute_mean_and_shares(truth, weights)
        return PoweredMean(value, shares, predicted_unlabeled)
    rectifier, on_labeled = _compute_mean_and_shares(truth - lam * predicted, weights)
    imputed, on_unlabeled = _compute_mean_and_shares(lam * predicted_unlabeled, weights_unlabeled)
    return PoweredMean(imputed + rectifier, on_labeled, on_unlabeled)


def tune_power(
    truth: FloatArray,
    predicted: FloatArray,
    predicted_unlabeled: FloatArray,
    ridge_grid: Sequence[float] | None,
) -> float:
    """The variance-minimising lambda in [0, 1]; 0 where the data cannot tell.

    ``ridge_grid`` are the penalties to choose from, as multiples of the variance of the
    predictions; None: no penalty.
    """
    n, n_unlabeled = truth.size, predicted_unlabeled.size
    if n < 2 or n_unlabeled == 0:
        return 0.0
    covariance = float(np.cov(truth, predicted)[0, 1])
    variance = float(np.var(np.concatenate([predicted, predicted_unlabeled]), ddof=1))
    if variance <= 0.0 or covariance <= 0.0:
        return 0.0
    factor = 0.0 if ridge_grid is None else choose_ridge_factor(truth, predicted, ridge_grid)
    return float(np.clip(covariance / ((1 + n / n_unlabeled) * variance * (1 + factor)), 0.0, 1.0))


def choose_ridge_factor(truth: FloatArray, predicted: FloatArray, grid: Sequence[float]) -> float:
    """The penalty of ``grid`` with the least leave-one-out error of t regressed on f."""
    penalties = np.asarray(grid)
    t, f = truth - truth.mean(), predicted - predicted.mean()
    spread = float(f @ f)
    if truth.size < 3 or spread <= 0.0:
        return float(penalties[-1])
    shrunk = spread * (1 + penalties)
    residual = t[:, None] - f[:, None] * ((f @ t) / shrunk)
    leverage = 1 / truth.size + f[:, None] ** 2 / shrunk
    loss = ((residual / np.maximum(1 - leverage, 1e-9)) ** 2).sum(axis=0)
    return float(penalties[np.argmin(loss)])


def _compute_mean_and_shares(
    values: FloatArray, weights: FloatArray | None
) -> tuple[float, FloatArray]:
    """Mean (weighted), and each row's share of its deviation; NaN where no row has weight."""
    if weights is not None and weights.sum() == 0.0:
        return np.nan, np.full(values.size, np.nan)
    share = np.full(values.size, 1.0 / values.size) if weights is None else weights / weights.sum()
    mean = float(share @ values)
    return mean, share * (values - mean)
