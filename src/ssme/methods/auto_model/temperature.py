"""How sharp the pool should be, before any label is seen.

    log b ~ Student-t_4( mu, scale ),      mu = ALPHA + BETA (1 - 1/M) + GAMMA log c

where c = 1 - mean top score of the classifiers is the error they state themselves. Very confident
classifiers are usually overconfident (GAMMA), and averaging M of them makes a pool underconfident
(BETA). The scale is how far the best log b of a set of classifiers lies from that line, and more
for few classifiers, which cannot check each other.

The three coefficients are a least-squares fit of the best log b, all labels known, over random
subsets of the classifiers of eleven sets of real classifiers; ``benchmarks/auto/priors.py`` refits
them, with each set left out in turn.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ssme.metrics.base import FloatArray

__all__ = ["TemperaturePrior", "stated_error", "temperature_prior"]

ALPHA, BETA, GAMMA = 0.55, 0.30, 0.33
SCALE, SCALE_FEW = 0.15, 0.30


@dataclass(frozen=True)
class TemperaturePrior:
    """Center and scale of log b, a Student t."""

    center: float
    scale: float


def stated_error(q: FloatArray) -> float:
    """c: one minus the mean top score of clipped scores ``q`` (n, M, K)."""
    return float(1.0 - q.max(axis=2).mean())


def temperature_prior(
    q: FloatArray, coefficients: tuple[float, float, float] = (ALPHA, BETA, GAMMA)
) -> TemperaturePrior:
    """Prior of log b from the scores ``q`` (n, M, K) of all rows, labeled or not."""
    alpha, beta, gamma = coefficients
    few = 1.0 / q.shape[1]
    center = alpha + beta * (1.0 - few) + gamma * float(np.log(stated_error(q)))
    return TemperaturePrior(center, SCALE + SCALE_FEW * few)
