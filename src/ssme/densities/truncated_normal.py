"""Normal distribution truncated to an interval, with the gradient of its log density.

    log f(x) = -z^2 / 2 - log sigma - log sqrt(2 pi) - log(Phi(b) - Phi(a)),   z = (x - mu) / sigma

with a, b the standardised ends of the interval. The normalizer is kept in logs (`log_ndtr`), on the
side of the normal where it does not cancel, so that intervals far in a tail stay exact.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

__all__ = ["differentiate_truncated_normal", "log_truncated_normal"]

FloatArray = NDArray[np.float64]
LOG_SQRT_2PI = 0.5 * float(np.log(2.0 * np.pi))


def log_truncated_normal(
    x: FloatArray, mu: float, sigma: float, low: float = 0.0, high: float = 1.0
) -> FloatArray:
    """Log density at ``x``, -inf outside [low, high]."""
    z = (x - mu) / sigma
    inside = -0.5 * z**2 - LOG_SQRT_2PI - np.log(sigma) - _log_normalizer(mu, sigma, low, high)
    out: FloatArray = np.where((x < low) | (x > high), -np.inf, inside)
    return out


def differentiate_truncated_normal(
    x: FloatArray, mu: float, sigma: float, low: float = 0.0, high: float = 1.0
) -> tuple[FloatArray, FloatArray]:
    """Derivatives of the log density at ``x`` with respect to mu and to log sigma."""
    z, a, b = (x - mu) / sigma, (low - mu) / sigma, (high - mu) / sigma
    log_normalizer = _log_normalizer(mu, sigma, low, high)
    at_a = np.exp(-0.5 * a**2 - LOG_SQRT_2PI - log_normalizer)
    at_b = np.exp(-0.5 * b**2 - LOG_SQRT_2PI - log_normalizer)
    by_mu: FloatArray = (z + at_b - at_a) / sigma
    by_log_sigma: FloatArray = z**2 - 1.0 + b * at_b - a * at_a
    return by_mu, by_log_sigma


def _log_normalizer(mu: float, sigma: float, low: float, high: float) -> float:
    """log(Phi(b) - Phi(a)), mirrored so that the larger of the two terms is not close to one."""
    a, b = (low - mu) / sigma, (high - mu) / sigma
    if a > 0:
        a, b = -b, -a
    upper, lower = log_ndtr(b), log_ndtr(a)
    return float(upper + np.log1p(-np.exp(lower - upper)))
