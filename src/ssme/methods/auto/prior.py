"""How sharp the pool should be, before any label is seen.

    log b ~ Student-t_4( mu, scale ),   mu = ALPHA + BETA (1 - 1/M) + GAMMA log( c / (c + KNEE) )

where c = 1 - mean top score of the classifiers is the error they state themselves. Judges that
answer 0 or 1 state none (c below `LEAST_ERROR`) and have a center of their own, `JUDGES`. Very
confident classifiers are usually overconfident (GAMMA); beyond a stated error of about `KNEE`
vagueness tells little more. Averaging makes a pool underconfident (BETA). The scale is how far the
best log b of a set of classifiers lies from that line, and more for few classifiers, which cannot
check each other.

The three coefficients are a robust fit of the best log b, all labels known, over random subsets of
the classifiers of 36 sets of real classifiers; ``benchmarks/auto/priors.py`` refits them, with each
set left out in turn.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ssme.metrics.base import FloatArray

__all__ = [
    "COEFFICIENTS",
    "MARGIN",
    "TemperaturePrior",
    "are_judges",
    "stated_error",
    "temperature_prior",
]

MARGIN = 0.04
"""Added to the fitted ALPHA: a pool too vague costs more error than one too sharp."""

COEFFICIENTS = (-0.06, 0.43, 1.22)
"""ALPHA (margin included), BETA, GAMMA."""

KNEE = 0.02
"""Of log c alone the prediction of sets left out is worse (docs/auto.md)."""

LEAST_ERROR = 0.007
"""Who states a smaller error states none: a judge that answers 0 or 1."""

JUDGES = (-1.5, 0.5)
"""Center of log b for judges, by (1, 1 - 1/M), about equal class shares: the mean of the best log b
of the same sets with their scores rounded to 0 and 1."""

SCALE, SCALE_FEW = 0.12, 0.30
"""The center's scale is SCALE + SCALE_FEW / M."""

DOUBT = 2.2
"""The draws' scale is this many times the center's: the line misses a new domain by 0.2 to 0.5."""


@dataclass(frozen=True)
class TemperaturePrior:
    """Center and scale of log b, a Student t."""

    center: float
    scale: float

    @property
    def doubted(self) -> TemperaturePrior:
        """As the draws see it: shrinking hard is good for the center, not for an interval."""
        return TemperaturePrior(self.center, DOUBT * self.scale)

    def independent(self, probability: float, n_models: int) -> TemperaturePrior:
        """With that probability the classifiers are independent, and the center is log M."""
        gap = float(np.log(n_models)) - self.center
        spread = probability * (1.0 - probability) * gap**2
        return TemperaturePrior(
            self.center + probability * gap, float(np.hypot(self.scale, np.sqrt(spread)))
        )


def stated_error(q: FloatArray) -> float:
    """c: one minus the mean top score of clipped scores ``q`` (n, M, K)."""
    return float(1.0 - q.max(axis=2).mean())


def are_judges(q: FloatArray) -> bool:
    """Whether the classifiers of clipped scores ``q`` (n, M, K) answer 0 or 1."""
    return stated_error(q) < LEAST_ERROR


def temperature_prior(
    q: FloatArray, coefficients: tuple[float, float, float] = COEFFICIENTS
) -> TemperaturePrior:
    """Prior of log b from the scores ``q`` (n, M, K) of all rows, labeled or not."""
    alpha, beta, gamma = coefficients
    few, c = 1.0 / q.shape[1], stated_error(q)
    if are_judges(q):
        center = JUDGES[0] + JUDGES[1] * (1.0 - few)
    else:
        center = alpha + beta * (1.0 - few) + gamma * float(np.log(c / (c + KNEE)))
    return TemperaturePrior(center, SCALE + SCALE_FEW * few)
