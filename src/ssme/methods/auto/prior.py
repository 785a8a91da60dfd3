"""How sharp the pool should be, before any label is seen.

    log b ~ Student-t_4( mu, scale ),   mu = ALPHA + BETA (1 - 1/M) + GAMMA log( c / (c + KNEE) )

where c = 1 - mean top score of the classifiers is the error they state themselves, and M is the
effective number of classifiers (`summary`). Very confident classifiers are usually overconfident
(GAMMA); beyond a stated error of about ``KNEE`` vagueness tells little more. Averaging makes a pool
underconfident (BETA). The scale is how far the best log b of a set of classifiers lies from that
line, and more for few classifiers, which cannot check each other.

The three coefficients are a robust fit of the best log b, all labels known, over random subsets of
the classifiers of 36 sets of real classifiers; ``benchmarks/auto/priors.py`` refits them, with each
set left out in turn. The line misses a new domain by 0.2 to 0.5, so draws of log b have a wider
scale than its mode. All numbers are in `PriorConstants`, and `predict_temperature` computes the
line.

Agreement is a second witness that does not listen to what scores claim: the log b at which the mean
error of the classifiers under W is the one that their disagreement implies, which
`predict_agreed_temperature` finds by halving an interval. Classifiers that answer 0 or 1 state no
error: c is below ``least_error``, and agreement is all there is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

from ssme.methods.auto.constants import AgreementConstants, PriorConstants
from ssme.methods.auto.pool import log_softmax
from ssme.methods.auto.summary import ScoreSummary
from ssme.metrics.base import FloatArray
from ssme.metrics.confusion import predicted_classes

__all__ = [
    "TemperaturePrior",
    "are_answers_hard",
    "predict_agreed_temperature",
    "predict_temperature",
]


@dataclass(frozen=True)
class TemperaturePrior:
    """Center and scale of log b, which has a Student t distribution before any label is seen."""

    center: float
    scale: float

    def widen(self, factor: float) -> TemperaturePrior:
        """The prior with its scale times ``factor``, as the draws see it.

        To shrink log b hard towards its center is good for the mode, but not for an interval.
        """
        return TemperaturePrior(self.center, factor * self.scale)


def are_answers_hard(summary: ScoreSummary, constants: PriorConstants) -> bool:
    """Whether the classifiers answer 0 or 1, so that their scores state no error."""
    return summary.stated_error < constants.least_error


def predict_temperature(summary: ScoreSummary, constants: PriorConstants) -> TemperaturePrior:
    """Prior of log b from the error that the scores of all rows state."""
    few, c = 1.0 / summary.n_effective, summary.stated_error
    alpha, beta, gamma = constants.coefficients
    center = alpha + beta * (1.0 - few) + gamma * float(np.log(c / (c + constants.knee)))
    return TemperaturePrior(center, constants.scale + constants.scale_few * few)


def predict_agreed_temperature(
    summary: ScoreSummary,
    log_pi: FloatArray,
    log_share: FloatArray,
    offset: float,
    constants: AgreementConstants,
) -> float | None:
    """log b at which the classifiers' mean error under W is what their disagreement implies.

    W = softmax(log p + b log(pi / p)) for the rows of ``summary``, log pi (n, K) and log p (K,).
    The error implied is sigma(logit d + offset), d the mean disagreement. None where there is
    nobody to disagree with, or no b gives that error.
    """
    apart = summary.mean_disagreement
    if not np.isfinite(apart):
        return None
    d = float(np.clip(apart, 1e-3, 1.0 - 1e-3))
    implied, answers = float(expit(logit(d) + offset)), predicted_classes(summary.q)
    ratio, low, high = log_pi - log_share, -constants.furthest, constants.furthest
    for _ in range(constants.halvings):
        middle = 0.5 * (low + high)
        w = np.exp(log_softmax(np.exp(middle) * ratio + log_share))
        errors = 1.0 - np.take_along_axis(w, answers, axis=1).mean(axis=0)
        too_large = float(errors @ summary.counts) > implied
        low, high = (middle, high) if too_large else (low, middle)
    found = 0.5 * (low + high)
    return found if abs(found) < 0.99 * constants.furthest else None
