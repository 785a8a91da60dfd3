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
from functools import reduce

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from ssme.methods.auto.constants import AgreementConstants, PriorConstants
from ssme.methods.auto.pool import log_softmax
from ssme.metrics.base import FloatArray
from ssme.metrics.confusion import predicted_classes

# -------------------------------------------------------------------------------------------------
# What the scores tell before any label is seen: who agrees with whom, and how much that is worth.
#
# Let d_j be the share of rows on which the answer of classifier j, its predicted class, differs
# from the plurality of the *other* classifiers (ties are shared out). Over sets of real
# classifiers a classifier errs about as often as
#
#     e_j = sigma( logit d_j + OFFSET + OFFSET_FEW / M )
#
# (the plurality of few others is itself often wrong), whatever its scores claim: flattening or
# sharpening all scores changes what they state, and not one d_j. Three things follow.
#
# - **Standing** of a classifier, its weight where labels have no say,
#
#       s_j  proportional to  u_j  log[ (1 - e_j)(K - 1) / e_j ]  log[ (1 - e'_j)(K - 1) / e'_j ],
#
#   each factor at least FLOOR: the weight of its vote were errors independent, once for answers and
#   once for answers relative to its own mean scores (the class whose score exceeds its mean by the
#   largest factor; on rare classes plain answers never differ). Noise and inverted scores get next
#   to nothing.
# - **Near-copies** share a vote: u_j = 1 / sum_l kappa_jl, kappa rising from 0 to 1 with the
#   correlation of log scores, between two ends that no two separately trained classifiers have
#   reached. Among the others of j, classifier l counts u_l (1 - kappa_jl): copies cannot vouch for
#   each other.
# - **Effective number of classifiers**, in the place of M wherever "how many check each other"
#   matters: 1 / sum_j (s_j^2 / u_j). Equal classifiers count M, copies of one classifier count one,
#   and noise counts nothing.
#
# `summarize_scores` puts all of this into a `ScoreSummary`; `measure_disagreement` gives d and
# `find_copies` kappa. The numbers in capitals are fields of `AgreementConstants`.


BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class ScoreSummary:
    """What clipped scores tell without labels.

    ``q`` (n, M, K) and ``present`` (n, M) are of the rows that were looked at. ``standing`` (M,) is
    s, ``disagreement`` (M,) is d, and ``counts`` (M,) is u, scaled to sum one. ``stated_error`` is
    one minus the mean top score, and ``shares`` (K,) are the mean scores; for both, all classifiers
    count the same.
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
        """The mean of d, where copies count as one; NaN where there is nobody to disagree with."""
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
    """Summarize the clipped scores ``q`` (n, M, K) of all rows.

    Of many rows, about as many as ``AgreementConstants.rows`` are looked at, evenly spaced. A
    single classifier has nobody to agree with, and its disagreement is NaN.
    """
    shares = q.mean(axis=(0, 1))
    top = reduce(np.maximum, (q[:, :, k] for k in range(q.shape[2])))
    stated = float(1.0 - top.mean())
    step = max(1, len(q) // constants.rows)
    q, present = q[::step], present[::step]
    n_models = q.shape[1]
    if n_models == 1 or len(q) < 2:
        equal = np.full(n_models, 1.0 / n_models)
        unknown = np.full(n_models, np.nan)
        return ScoreSummary(q, present, equal, float(n_models), unknown, equal, stated, shares)
    alike = find_copies(q, constants)
    share = 1.0 / alike.sum(axis=1)
    apart = measure_disagreement(predicted_classes(q), present, alike, constants.tie)
    lift = q / np.maximum(q.mean(axis=0), np.finfo(np.float64).tiny)
    offset = constants.offset + constants.offset_few / float(share.sum())
    standing = share * _weigh_vote(apart, q.shape[2], offset, constants)
    relative = measure_disagreement(lift.argmax(axis=2), present, alike, constants.tie)
    standing *= _weigh_vote(relative, q.shape[2], offset, constants)
    standing /= standing.sum()
    n_effective = 1.0 / float((standing**2 / share).sum())
    share /= share.sum()
    return ScoreSummary(q, present, standing, n_effective, apart, share, stated, shares)


def measure_disagreement(
    answers: NDArray[np.int64], present: BoolArray, alike: FloatArray, tie: float
) -> FloatArray:
    """d (M,): how often each classifier's answer is not that of the plurality of the others.

    ``answers`` (n, M) are class numbers. ``alike`` (M, M) is kappa, one on its diagonal; votes
    closer than ``tie`` are tied. Rows without a score of the classifier, or of any other, do not
    count; NaN where none counts.
    """
    n, n_models = answers.shape
    votes = (answers[:, :, None] == np.arange(answers.max() + 1)) & present[:, :, None]
    copied = bool((alike.sum(axis=1) > 1.0).any())
    counts = (1.0 - alike) / alike.sum(axis=1) if copied else None
    total = votes.sum(axis=1, dtype=np.float64)
    out = np.full(n_models, np.nan)
    for j in range(n_models):
        others = total - votes[:, j] if counts is None else np.einsum("nmk,m->nk", votes, counts[j])
        most = others.max(axis=1)
        known = present[:, j] & (most > 0.0)
        if known.any():
            leading = others >= most[:, None] - tie
            own = leading[np.arange(n), answers[:, j]]
            agreed = own / leading.sum(axis=1)
            out[j] = 1.0 - agreed[known].mean()
    return out


def find_copies(q: FloatArray, constants: AgreementConstants) -> FloatArray:
    """kappa (M, M): how far two classifiers are copies of one, from 0 to 1; 1 on the diagonal."""
    log_q = np.log(q)
    log_q -= log_q.mean(axis=2, keepdims=True)
    lines = log_q.transpose(1, 0, 2).reshape(q.shape[1], -1)
    lines = lines - lines.mean(axis=1, keepdims=True)
    norm = np.sqrt((lines**2).sum(axis=1, keepdims=True))
    lines /= np.where(norm > 0.0, norm, np.inf)
    low, high = constants.copies
    alike: FloatArray = np.clip((lines @ lines.T - low) / (high - low), 0.0, 1.0)
    np.fill_diagonal(alike, 1.0)
    return alike


def _weigh_vote(
    apart: FloatArray, n_classes: int, offset: float, constants: AgreementConstants
) -> FloatArray:
    """log[(1 - e)(K - 1)/e] (M,) of the disagreements ``apart`` (M,), and at least the floor.

    A classifier whose disagreement is not known has the mean of the others.
    """
    least = constants.least_disagreement
    error = expit(logit(np.clip(apart, least, 1.0 - least)) + offset)
    weight = np.maximum(np.log((1.0 - error) * (n_classes - 1) / error), constants.floor)
    known = np.isfinite(weight)
    out: FloatArray = np.where(known, weight, weight[known].mean() if known.any() else 1.0)
    return out


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
