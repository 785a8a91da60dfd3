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

import numpy as np

from ssme.metrics.base import FloatArray

__all__ = ["power_tuning", "prediction_powered_mean", "ridge_factor"]

RIDGE_GRID = np.concatenate([[0.0], np.logspace(-2, 2, 17)])
"""Candidate penalties, as multiples of the variance of the predictions."""


def prediction_powered_mean(
    truth: FloatArray,
    predicted: FloatArray,
    predicted_unlabeled: FloatArray,
    lam: float,
    weights: FloatArray | None = None,
    weights_unlabeled: FloatArray | None = None,
) -> tuple[float, float]:
    """Point estimate and standard error for a given ``lam``; ``truth`` and ``predicted`` are (n,).

    Weights are sampling weights: the target is then the weighted mean of the truth.
    """
    n, n_unlabeled = truth.size, predicted_unlabeled.size
    if n == 0:
        return np.nan, np.nan
    if n_unlabeled == 0:
        lam, predicted_unlabeled, n_unlabeled = 0.0, np.zeros(1), 1
        weights_unlabeled = None
    rectifier, rectifier_var = _mean_and_variance(truth - lam * predicted, weights)
    imputed, imputed_var = _mean_and_variance(lam * predicted_unlabeled, weights_unlabeled)
    error = np.sqrt(imputed_var / n_unlabeled + rectifier_var / n)
    return imputed + rectifier, float(error)


def power_tuning(
    truth: FloatArray,
    predicted: FloatArray,
    predicted_unlabeled: FloatArray,
    ridge: bool,
) -> float:
    """The variance-minimising lambda in [0, 1]; 0 where the data cannot tell."""
    n, n_unlabeled = truth.size, predicted_unlabeled.size
    if n < 2 or n_unlabeled == 0:
        return 0.0
    covariance = float(np.cov(truth, predicted)[0, 1])
    variance = float(np.var(np.concatenate([predicted, predicted_unlabeled]), ddof=1))
    if variance <= 0.0 or covariance <= 0.0:
        return 0.0
    factor = ridge_factor(truth, predicted) if ridge else 0.0
    return float(np.clip(covariance / ((1 + n / n_unlabeled) * variance * (1 + factor)), 0.0, 1.0))


def ridge_factor(truth: FloatArray, predicted: FloatArray) -> float:
    """Penalty, as a multiple of Var f, with the least leave-one-out error of t regressed on f."""
    t, f = truth - truth.mean(), predicted - predicted.mean()
    spread = float(f @ f)
    if truth.size < 3 or spread <= 0.0:
        return float(RIDGE_GRID[-1])
    shrunk = spread * (1 + RIDGE_GRID)
    residual = t[:, None] - f[:, None] * ((f @ t) / shrunk)
    leverage = 1 / truth.size + f[:, None] ** 2 / shrunk
    loss = ((residual / np.maximum(1 - leverage, 1e-9)) ** 2).sum(axis=0)
    return float(RIDGE_GRID[np.argmin(loss)])


def _mean_and_variance(values: FloatArray, weights: FloatArray | None) -> tuple[float, float]:
    """Mean and variance of one row's contribution to it; 0 where one row tells nothing."""
    if weights is None:
        return float(values.mean()), float(values.var())
    share = weights / weights.mean()
    mean = float((share * values).mean())
    return mean, float((share * (values - mean)).var())
