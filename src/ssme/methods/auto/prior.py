"""What the scores say before any label is seen: agreement, standing, and how sharp the pool is.

Let d_j be the share of rows on which classifier j differs from the plurality of the *other*
classifiers. Over sets of real classifiers one errs about as often as

    e_j = sigma( logit d_j + OFFSET + OFFSET_FEW / M ),

whatever its scores claim. From this follow

- the standing s_j of a classifier, its weight without labels, proportional to
  u_j log[(1 - e_j)(K - 1) / e_j] log[(1 - e'_j)(K - 1) / e'_j], each factor at least FLOOR: the
  weight of its vote were errors independent, for its answers and for answers relative to its mean
  scores (on rare classes plain answers never differ);
- near-copies, which share a vote: u_j = 1 / sum_l kappa_jl, kappa rising from 0 to 1 with the
  correlation of log scores;
- the effective number of classifiers, 1 / sum_j (s_j^2 / u_j), in the place of M everywhere.

How sharp the pool should be has two label-free witnesses. The error c that the scores state,

    log b ~ Student-t_4( ALPHA + BETA (1 - 1/M) + GAMMA log( c / (c + KNEE) ), scale ),

a robust fit over 36 sets of real classifiers (``benchmarks/auto/priors.py``): very confident
classifiers are usually overconfident, averaging makes a pool underconfident. And agreement: the
log b at which the mean error of the classifiers under W is the one that disagreement implies, all
there is where classifiers answer 0 or 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from ssme.methods.auto.constants import AgreementConstants, PriorConstants
from ssme.methods.regression import softmax
from ssme.methods.votes import measure_disagreement
from ssme.metrics.base import FloatArray
from ssme.metrics.confusion import predicted_classes

BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class ScoreSummary:
    """What clipped scores say without labels.

    ``q`` (n, M, K) and ``present`` (n, M) are of the rows looked at. ``standing`` (M,) is s,
    ``disagreement`` (M,) is d, ``counts`` (M,) is u scaled to sum one. ``stated_error`` is one
    minus the mean top score, and ``shares`` (K,) are the mean scores.
    """

    q: FloatArray
    present: BoolArray
    standing: FloatArray
    n_effective: float
    disagreement: FloatArray
    counts: FloatArray
    stated_error: float
    shares: FloatArray

    @property
    def mean_disagreement(self) -> float:
        """The mean of d, copies counting as one; NaN where there is nobody to disagree with."""
        known = np.isfinite(self.disagreement)
        if not known.any():
            return float("nan")
        return float(np.average(self.disagreement[known], weights=self.counts[known]))

    @property
    def n_models(self) -> int:
        return int(self.q.shape[1])

    @property
    def n_classes(self) -> int:
        return int(self.q.shape[2])


def summarize_scores(
    q: FloatArray, present: BoolArray, constants: AgreementConstants
) -> ScoreSummary:
    """Summarize clipped scores ``q`` (n, M, K); of many rows, evenly spaced ones are looked at."""
    shares = q.mean(axis=(0, 1))
    top = reduce(np.maximum, (q[:, :, k] for k in range(q.shape[2])))
    stated = float(1.0 - top.mean())
    step = max(1, len(q) // constants.rows)
    q, present = q[::step], present[::step]
    _, n_models, n_classes = q.shape
    if n_models == 1 or len(q) < 2:
        equal = np.full(n_models, 1.0 / n_models)
        unknown = np.full(n_models, np.nan)
        return ScoreSummary(q, present, equal, float(n_models), unknown, equal, stated, shares)
    copies = find_copies(q, constants)
    share = 1.0 / copies.sum(axis=1)
    lift = q / np.maximum(q.mean(axis=0), np.finfo(np.float64).tiny)
    offset = constants.offset + constants.offset_few / float(share.sum())
    plain, relative = (
        measure_disagreement(
            (answers[:, :, None] == np.arange(n_classes)) & present[:, :, None],
            copies,
            constants.tie,
        )[0]
        for answers in (predicted_classes(q), lift.argmax(axis=2))
    )
    standing = share * _weigh_vote(plain, n_classes, offset, constants)
    standing *= _weigh_vote(relative, n_classes, offset, constants)
    standing /= standing.sum()
    n_effective = 1.0 / float((standing**2 / share).sum())
    share /= share.sum()
    return ScoreSummary(q, present, standing, n_effective, plain, share, stated, shares)


def find_copies(q: FloatArray, constants: AgreementConstants) -> FloatArray:
    """kappa (M, M): how far two classifiers are copies of one, from 0 to 1; 1 on the diagonal."""
    log_q = np.log(q)
    log_q -= log_q.mean(axis=2, keepdims=True)
    lines = log_q.transpose(1, 0, 2).reshape(q.shape[1], -1)
    lines = lines - lines.mean(axis=1, keepdims=True)
    norm = np.sqrt((lines**2).sum(axis=1, keepdims=True))
    lines /= np.where(norm > 0.0, norm, np.inf)
    low, high = constants.copies
    kappa: FloatArray = np.clip((lines @ lines.T - low) / (high - low), 0.0, 1.0)
    np.fill_diagonal(kappa, 1.0)
    return kappa


def _weigh_vote(
    disagreement: FloatArray, n_classes: int, offset: float, constants: AgreementConstants
) -> FloatArray:
    """log[(1 - e)(K - 1)/e] (M,), at least the floor; the mean of the others where d is NaN."""
    least = constants.least_disagreement
    error = expit(logit(np.clip(disagreement, least, 1.0 - least)) + offset)
    weight = np.maximum(np.log((1.0 - error) * (n_classes - 1) / error), constants.floor)
    known = np.isfinite(weight)
    return np.where(known, weight, weight[known].mean() if known.any() else 1.0)


@dataclass(frozen=True)
class TemperaturePrior:
    """Center and scale of log b, which has a Student t distribution before any label is seen."""

    center: float
    scale: float


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
    """log b at which the mean error under W is sigma(logit d + offset), d the mean disagreement.

    log pi (n, K) is the pool of the summary's rows. None where there is nobody to disagree with, or
    no b gives that error.
    """
    disagreement = summary.mean_disagreement
    if not np.isfinite(disagreement):
        return None
    d = float(np.clip(disagreement, 1e-3, 1.0 - 1e-3))
    implied, answers = float(expit(logit(d) + offset)), predicted_classes(summary.q)
    ratio, low, high = log_pi - log_share, -constants.furthest, constants.furthest
    for _ in range(constants.halvings):
        middle = 0.5 * (low + high)
        w = softmax(np.exp(middle) * ratio + log_share)
        errors = 1.0 - np.take_along_axis(w, answers, axis=1).mean(axis=0)
        too_large = float(errors @ summary.counts) > implied
        low, high = (middle, high) if too_large else (low, middle)
    found = 0.5 * (low + high)
    return found if abs(found) < 0.99 * constants.furthest else None
