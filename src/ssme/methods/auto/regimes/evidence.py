"""How well the scores alone fit a regime: the densities of two label-free statistics.

- kappa, the conflict of the two witnesses (log b by agreement minus log b by what scores state):
  Student t_4 about its usual mean where scores are what they usually are, much wider where they
  have been distorted;
- rho, the correlation of the classifiers within classes: normal about its usual mean, or about
  zero where errors are independent.
"""

from __future__ import annotations

import numpy as np

from ssme.methods.auto.regimes.base import Situation

__all__ = ["log_conflict_density", "log_correlation_density", "log_usual_density"]


def log_conflict_density(situation: Situation, distorted: bool) -> float:
    """Log density of kappa, usual or ``distorted``; zero where there is no kappa."""
    of, kappa = situation.constants.regimes, situation.conflict
    if kappa is None:
        return 0.0
    if distorted:
        scale = of.distorted_conflict
        return float(-0.5 * (kappa / scale) ** 2 - np.log(scale * np.sqrt(2.0 * np.pi)))
    mean, scale = of.usual_conflict
    offset = (kappa - mean) / scale
    return float(-2.5 * np.log1p(offset**2 / 4.0) - np.log(scale) + np.log(0.375))


def log_correlation_density(situation: Situation, independent: bool) -> float:
    """Log density of rho, usual or where errors are ``independent``; zero where there is no rho."""
    rho, of = situation.correlation, situation.constants
    if not np.isfinite(rho):
        return 0.0
    mean, scale = of.independence.usual_rho
    if independent:
        mean, scale = 0.0, of.regimes.independent_rho
    return float(-0.5 * ((rho - mean) / scale) ** 2 - np.log(scale))


def log_usual_density(situation: Situation) -> float:
    """Log density of both where scores are what they usually are."""
    return log_conflict_density(situation, False) + log_correlation_density(situation, False)
