"""How sharp the pool should be, before any label is seen.

    log b ~ Student-t_4( mu, scale ),   mu = ALPHA + BETA (1 - 1/M) + GAMMA log( c / (c + KNEE) )

where c = 1 - mean top score of the classifiers is the error they state themselves. Classifiers that
answer 0 or 1 (judges) state none, c is below ``least_error``, and they have a center of their own:
the mean of the best log b of the sets below with their scores rounded to 0 and 1. Very confident
classifiers are usually overconfident (GAMMA); beyond a stated error of about ``KNEE`` vagueness
tells little more. Averaging makes a pool underconfident (BETA). The scale is how far the
best log b of a set of classifiers lies from that line, and more for few classifiers, which cannot
check each other.

The three coefficients are a robust fit of the best log b, all labels known, over random subsets of
the classifiers of 36 sets of real classifiers; ``benchmarks/auto/priors.py`` refits them, with each
set left out in turn. The line misses a new domain by 0.2 to 0.5, so draws of log b have a wider
scale than its mode. All numbers: `PriorConstants`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ssme.methods.auto.constants import PriorConstants
from ssme.metrics.base import FloatArray

__all__ = ["TemperaturePrior", "answer_hard", "predict_temperature", "stated_error"]


@dataclass(frozen=True)
class TemperaturePrior:
    """Center and scale of log b, a Student t."""

    center: float
    scale: float

    def widened(self, factor: float) -> TemperaturePrior:
        """As the draws see it: shrinking hard is good for the mode, not for an interval."""
        return TemperaturePrior(self.center, factor * self.scale)

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


def answer_hard(q: FloatArray, constants: PriorConstants) -> bool:
    """Whether the classifiers of clipped scores ``q`` (n, M, K) answer 0 or 1."""
    return stated_error(q) < constants.least_error


def predict_temperature(q: FloatArray, constants: PriorConstants) -> TemperaturePrior:
    """Prior of log b from the scores ``q`` (n, M, K) of all rows, labeled or not."""
    few, c = 1.0 / q.shape[1], stated_error(q)
    if answer_hard(q, constants):
        center = constants.hard_answers[0] + constants.hard_answers[1] * (1.0 - few)
    else:
        alpha, beta, gamma = constants.coefficients
        center = alpha + beta * (1.0 - few) + gamma * float(np.log(c / (c + constants.knee)))
    return TemperaturePrior(center, constants.scale + constants.scale_few * few)
