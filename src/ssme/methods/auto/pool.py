"""One score from many: the pool of the classifiers.

    log pi(k | x) = const + mean of log p(k | x) over six pools p,
                    {mean, geometric mean, median} x {standing s, weights w},

s being the classifiers' standing among themselves (below), and w favoring a classifier further
only by what n labels can show,

    w_j  proportional to  s_j exp( n^(2/3) * mean labeled log q_j(y) ).

Scores q are clipped at `PoolConstants.clip` and renormalized. No single pool wins on all data:
means are robust to a classifier that is certain and wrong, geometric means to one that is vague,
medians to one that is odd. A classifier without a score for a row weighs nothing there.

Linear and logarithmic pools: Genest and Zidek, Statistical Science 1, 1986.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from scipy.special import expit, logit, softmax

from ssme.arrays import BoolArray, FloatArray, IntArray
from ssme.methods import regression, votes
from ssme.methods.auto.constants import (
    AgreementConstants,
    PriorConstants,
)
from ssme.metrics.confusion import predicted_classes

# -------------------------------------------------------------------------------------------------
# Two classes, column by column: the same numbers as the general case below, several times faster.
#
# Every pool is one number per row, and log pi is fixed by its log-odds
#
#     lambda = 1/6 [ logit(mean) + logit(weighted mean) + logit(median) + logit(weighted median)
#                    + sum_j (s_j + w_j) logit(q_j) ],
#     logit W = o + b (lambda - o) + a_1 - a_0 + sum_j t_j (2 q_j - 1) - (2 pi - 1) sum_j t_j,
#
# q_j being clipped scores of class 1 and o the log-odds of the class shares. Classifiers are rows
# of a contiguous (M, n) array; float32 scores are worked on in float32, which leaves W good to
# 1e-6.


TIED = 1e-6
"""Scores of a row no further apart are tied: so far single precision takes equal ones."""

LARGEST = 80.0
"""Larger log-odds are as sure as these, also in float32, whose exponential ends at 88."""


def pool_binary_log_odds(q: FloatArray, standing: FloatArray, weights: FloatArray) -> FloatArray:
    """Log-odds lambda (n,) of the pool, from clipped scores ``q`` (M, n) of class 1."""
    if len(q) == 1:
        return _logit(q[0])
    both = [(each / each.sum()).astype(q.dtype) for each in (standing, weights)]
    total: FloatArray = (both[0] + both[1]) @ _logit(q)
    values, places = _sort_lines(q)
    tied = np.zeros(q.shape[1], dtype=bool)
    for low in range(len(q) - 1):
        tied |= values[low + 1] - values[low] <= TIED
    rows = np.flatnonzero(tied)
    by_row = q[:, rows].T[:, None, :]
    order = np.argsort(by_row, axis=2)
    ranked = np.take_along_axis(by_row, order, axis=2)
    for each in both:
        total += _logit(each @ q)
        sorted_weights = [np.take(each, at, mode="clip") for at in places]
        median = _compute_binary_median(values, sorted_weights)
        median[rows] = _compute_weighted_median(ranked, order, each[None])[:, 0]
        total += _logit(median)
    total /= 6.0
    return total


def compute_binary_posterior(q: FloatArray, pooling: PoolRule, mode: FloatArray) -> FloatArray:
    """W of class 1 (n,) of scores (M, n) at the ``mode``: log b, a_0, a_1 and all tilts t_j."""
    odds = pool_binary_log_odds(q, pooling.standing, pooling.weights)
    tilts = mode[3 : 3 + len(q)].astype(q.dtype)
    b, share_odds = float(np.exp(mode[0])), float(pooling.log_share[1] - pooling.log_share[0])
    z = b * odds
    z += float(mode[2] - mode[1]) + (1.0 - b) * share_odds
    z += (2.0 * tilts) @ q
    z -= float(2.0 * tilts.sum()) * _sigmoid(odds)
    return _sigmoid(z)


def _logit(p: FloatArray) -> FloatArray:
    out = np.subtract(1.0, p)
    np.divide(p, out, out=out)
    return np.log(out, out=out)


def _sigmoid(z: FloatArray) -> FloatArray:
    out = np.negative(z)
    np.minimum(out, LARGEST, out=out)
    np.exp(out, out=out)
    out += 1.0
    return np.divide(1.0, out, out=out)


def _sort_lines(q: FloatArray) -> tuple[list[FloatArray], list[Any]]:
    """Scores sorted over classifiers in each row, M lines, and whose scores they are."""
    # A classifier's number in the last bits of its scores (an error of some 1e-15, or 1e-6 in
    # float32) is sorted with them: M rounds of comparing neighboring lines.
    n_models = len(q)
    last_bits = (1 << (n_models - 1).bit_length()) - 1
    bits: Any = q.view(np.int64 if q.dtype == np.float64 else np.int32)
    keys = list((bits & ~last_bits) | np.arange(n_models, dtype=bits.dtype)[:, None])
    free = np.empty_like(keys[0])
    for turn in range(n_models):
        for low in range(turn % 2, n_models - 1, 2):
            one, other = keys[low], keys[low + 1]
            np.minimum(one, other, out=free)
            np.maximum(one, other, out=other)
            keys[low], free = free, one
    return [key.view(q.dtype) for key in keys], [key & last_bits for key in keys]


def _compute_binary_median(values: list[FloatArray], weights: list[FloatArray]) -> FloatArray:
    """Median (n,) of M sorted lines of ``values``, linear between the two middle ones."""
    halves = [0.5 * line for line in weights]
    middle = halves[0].copy()
    out: FloatArray = values[0].copy()
    for low in range(len(values) - 1):
        width = halves[low] + halves[low + 1]
        share = np.subtract(0.5, middle)
        share /= np.maximum(width, np.finfo(out.dtype).tiny)
        np.clip(share, 0.0, 1.0, out=share)
        share *= values[low + 1] - values[low]
        out += share
        middle += width
    return out


CHUNK_CELLS = 1 << 20
"""Scores pooled at once, so that a million rows need no large temporary."""

BINARY_CHUNK_CELLS = 1 << 17
"""The same where the temporaries can stay in the cache."""


def find_present(scores: FloatArray) -> BoolArray:
    """Where classifiers have a score: (n, M), of ``scores`` (n, M, K)."""
    if np.isfinite(scores).all():
        return np.ones(scores.shape[:2], dtype=np.bool_)
    return ~np.isnan(scores.sum(axis=2))


def clip_scores(scores: FloatArray, clip: float) -> FloatArray:
    """q: ``scores`` (n, M, K) at least ``clip``, renormalized; a missing one is its row's mean."""
    scores = votes.fill_missing(scores)
    out: FloatArray = np.maximum(scores, clip)
    if scores.shape[2] == 2:  # the same sum, without a loop over two numbers for each row
        out /= (out[:, :, 0] + out[:, :, 1])[:, :, None]
    else:
        out /= out.sum(axis=2, keepdims=True)
    return out


def weigh_by_labels(
    q: FloatArray,
    present: BoolArray,
    labels: IntArray,
    standing: FloatArray,
    power: float,
    row_weights: FloatArray | None = None,
) -> FloatArray:
    """Weights w (M,) of the classifiers from labeled rows; without labels, their ``standing``.

    n labels count as n to a ``power``, and each ``row_weights`` (n,) times. A classifier without a
    score on any of these rows counts as the mean of the others.
    """
    n = len(q)
    counted = present if row_weights is None else present * row_weights[:, None]
    counts = counted.sum(axis=0)
    if not counts.any():
        return standing
    fit = (counted * np.log(q[np.arange(n), :, labels])).sum(axis=0)
    mean = fit / np.where(counts > 0.0, counts, 1.0)
    mean[counts == 0] = mean[counts > 0].mean()
    weights = standing * np.exp(n**power * (mean - mean.max()))
    return weights / weights.sum()


def log_pool(
    q: FloatArray,
    present: BoolArray,
    standing: FloatArray,
    weights: FloatArray,
) -> FloatArray:
    """log pi (n, K) of clipped scores ``q`` (n, M, K): the mean of six pools."""
    n, n_models, n_classes = q.shape
    if n_models == 1:
        return np.log(q[:, 0])
    out: FloatArray = np.empty((n, n_classes))
    binary = n_classes == 2 and bool(present.all())
    step = max(1, (BINARY_CHUNK_CELLS if binary else CHUNK_CELLS) // (n_models * n_classes))
    for start in range(0, n, step):
        part = slice(start, start + step)
        if binary:
            odds = pool_binary_log_odds(np.ascontiguousarray(q[part, :, 1].T), standing, weights)
            np.negative(np.logaddexp(0.0, odds), out=out[part, 0])
            np.negative(np.logaddexp(0.0, -odds), out=out[part, 1])
        else:
            out[part] = _log_pool(q[part], present[part], standing, weights)
    return out


def _log_pool(
    q: FloatArray, present: BoolArray, standing: FloatArray, weights: FloatArray
) -> FloatArray:
    """`log_pool` of rows that are few enough to be pooled at once, any number of classes."""
    log_q = np.log(q)
    order = np.argsort(q.transpose(0, 2, 1), axis=2)
    ranked = np.take_along_axis(q.transpose(0, 2, 1), order, axis=2)
    pools: list[FloatArray] = []
    for base in (standing,) if weights is standing else (standing, weights):
        # only classifiers with a score count; a row without any score keeps them all
        by_row = base * np.where(present.any(axis=1, keepdims=True), present, True)
        by_row /= by_row.sum(axis=1, keepdims=True)
        pools += [
            regression.log_softmax(np.log(np.einsum("nmk,nm->nk", q, by_row))),
            regression.log_softmax(np.einsum("nmk,nm->nk", log_q, by_row)),
            regression.log_softmax(np.log(_compute_weighted_median(ranked, order, by_row))),
        ]
    total = np.sum(pools * (6 // len(pools)), axis=0)
    return regression.log_softmax(total / 6.0)


def _compute_weighted_median(
    ranked: FloatArray, order: IntArray, weights: FloatArray
) -> FloatArray:
    """Median (n, K) of values sorted as ``ranked`` (n, K, M), linear between two middle ones."""
    n_models = ranked.shape[2]
    sorted_weights = np.take_along_axis(
        np.broadcast_to(weights[:, None, :], ranked.shape), order, axis=2
    )
    middle = np.cumsum(sorted_weights, axis=2) - 0.5 * sorted_weights
    above = np.clip((middle < 0.5).sum(axis=2, keepdims=True), 1, n_models - 1)
    around = np.clip(above + np.arange(-2, 2), 0, n_models - 1)
    gaps = np.diff(np.take_along_axis(ranked, around, axis=2), axis=2)
    tied = ((gaps <= TIED) & (np.diff(around, axis=2) > 0)).any(axis=2)
    if tied.any():  # ties of other values move no weight past the middle
        shared = _share_weights_of_tied(ranked[tied], sorted_weights[tied])
        middle[tied] = np.cumsum(shared, axis=1) - 0.5 * shared
        above[tied] = np.clip((middle[tied] < 0.5).sum(axis=1, keepdims=True), 1, n_models - 1)
    low, high = np.take_along_axis(middle, above - 1, 2), np.take_along_axis(middle, above, 2)
    width = np.maximum(high - low, np.finfo(np.float64).tiny)
    share = np.clip((0.5 - low) / width, 0.0, 1.0)
    below = np.take_along_axis(ranked, above - 1, 2)
    out: FloatArray = below + share * (np.take_along_axis(ranked, above, 2) - below)
    return out[:, :, 0]


def _share_weights_of_tied(ranked: FloatArray, weights: FloatArray) -> FloatArray:
    """``weights`` (c, M) of sorted values, those of tied ones replaced by their mean.

    The median lies on a line through the middles of the weights: it would else depend on which of
    the tied classifiers comes first.
    """
    apart = np.diff(ranked, axis=1) > TIED
    places, edge = np.arange(ranked.shape[1]), np.ones((len(ranked), 1), dtype=bool)
    first = np.maximum.accumulate(np.where(np.concatenate([edge, apart], 1), places, 0), axis=1)
    last = np.where(np.concatenate([apart, edge], 1), places, places[-1])
    last = np.minimum.accumulate(last[:, ::-1], axis=1)[:, ::-1]
    total = np.cumsum(weights, axis=1)
    before = np.take_along_axis(total - weights, first, axis=1)
    mean = (np.take_along_axis(total, last, axis=1) - before) / (last - first + 1)
    return np.where(first < last, mean, weights)


@dataclass(frozen=True, eq=False)
class PoolRule:
    """Weights (M,) in the plain and in the weighted pools, and log p (K,)."""

    standing: FloatArray
    weights: FloatArray
    log_share: FloatArray

    def __call__(self, q: FloatArray, present: BoolArray) -> FloatArray:
        """log pi (n, K) of clipped scores ``q`` (n, M, K)."""
        return log_pool(q, present, self.standing, self.weights)


# -------------------------------------------------------------------------------------------------
# How far do classifiers err together? If they erred independently and were calibrated, their log
# scores would add up:
#
#     W_k  proportional to  p_k prod_j (q_jk / p_k),      p_k the mean score of class k,
#
# and under this W their log-odds would be uncorrelated within a class. rho is that correlation,
# averaged over classes and over pairs: 0.38 +- 0.20 over panels of real classifiers
# (``benchmarks/corpus/learn.py``).

CONSTANT = 1e-6
"""Log-odds whose standard deviation is smaller do not vary."""

LEAST_CLASS = 5.0
"""Expected rows below which a class is left out of rho."""


def add_evidence(q: FloatArray) -> FloatArray:
    """W (n, K) if the clipped scores ``q`` (n, M, K) were calibrated and erred independently."""
    log_share = np.log(q.mean(axis=(0, 1)))
    return np.exp(regression.log_softmax((np.log(q) - log_share).sum(axis=1) + log_share))


def measure_correlation(q: FloatArray, w: FloatArray, standing: FloatArray) -> float:
    """rho of scores ``q`` (n, M, K) under ``w`` (n, K); NaN where it cannot be measured."""
    log_odds = np.log(q) - np.log1p(-q)
    pairs = np.outer(standing, standing)
    np.fill_diagonal(pairs, 0.0)
    pairs /= pairs.sum()
    total = weight = 0.0
    for k in np.flatnonzero(w.sum(axis=0) > LEAST_CLASS):
        size = w[:, k].sum()
        centered = log_odds[:, :, k] - w[:, k] @ log_odds[:, :, k] / size
        covariance = (centered * w[:, k : k + 1]).T @ centered / size
        sd = np.sqrt(np.diag(covariance))
        if sd.min() < CONSTANT:
            return float("nan")
        total += size * float((pairs * covariance / np.outer(sd, sd)).sum())
        weight += size
    return total / weight if weight else float("nan")


# -------------------------------------------------------------------------------------------------
# What the scores say before any label is seen: agreement, standing, and how sharp the pool is.
#
# Let d_j be the share of rows on which classifier j differs from the plurality of the *other*
# classifiers. Over sets of real classifiers one errs about as often as
#
#     e_j = sigma( logit d_j + OFFSET + OFFSET_FEW / M ),
#
# whatever its scores claim. From this follow
#
# - the standing s_j of a classifier, its weight without labels, proportional to
#   u_j log[(1 - e_j)(K - 1) / e_j] log[(1 - e'_j)(K - 1) / e'_j], each factor at least FLOOR: the
#   weight of its vote were errors independent, for its answers and for answers relative to its mean
#   scores (on rare classes plain answers never differ);
# - near-copies, which share a vote: u_j = 1 / sum_l kappa_jl, kappa rising from 0 to 1 with the
#   correlation of log scores;
# - the effective number of classifiers, 1 / sum_j (s_j^2 / u_j), in the place of M everywhere.
#
# How sharp the pool should be has two label-free witnesses. The error c that the scores state,
#
#     log b ~ Student-t_4( ALPHA + BETA (1 - 1/M) + GAMMA log( c / (c + KNEE) ), scale ),
#     scale = exp( S_0 + S_1 / M + S_2 min(rho, 0.6) ),
#
# a fit over panels of real classifiers (``benchmarks/corpus/learn.py``): very confident classifiers
# are usually overconfident, averaging makes a pool underconfident, and few classifiers or ones that
# hardly correlate are hard to predict. Where a class is rare, c is small without any confidence: it
# counts in relation to the error of always giving the most frequent class, unless classifiers
# correlate much. And agreement: the log b at which the mean error of the classifiers under W is the
# one that disagreement implies, all there is where classifiers answer 0 or 1.


LEAST_BY_CHANCE = 0.007
"""Least error of always giving the most frequent class that scores are compared with."""


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
    def n_models(self) -> int:
        return int(self.q.shape[1])

    @property
    def n_classes(self) -> int:
        return int(self.q.shape[2])

    @property
    def mean_disagreement(self) -> float:
        """Mean of those that there are, copies counting as one, neither 0 nor 1."""
        known = np.isfinite(self.disagreement)
        mean = np.average(self.disagreement[known], weights=self.counts[known])
        return float(np.clip(mean, 1e-3, 1.0 - 1e-3))


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
        votes.measure_disagreement(
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


def predict_temperature(
    summary: ScoreSummary, rho: float, constants: PriorConstants
) -> TemperaturePrior:
    """Prior of log b from the error that the scores of all rows state, and their correlation."""
    few, c = 1.0 / summary.n_effective, find_error_for_prior(summary, rho, constants)
    alpha, beta, gamma = constants.coefficients
    center = alpha + beta * (1.0 - few) + gamma * float(np.log(c / (c + constants.knee)))
    constant, by_few, by_rho = constants.scale
    rho = min(rho, constants.correlated[1])
    scale = float(np.exp(constant + by_few * few + by_rho * rho))
    return TemperaturePrior(center, scale)


def find_error_for_prior(summary: ScoreSummary, rho: float, constants: PriorConstants) -> float:
    """The stated error that predicts log b: relative to chance, less so with the correlation."""
    low, high = constants.correlated
    power = constants.rarity * float(np.clip((high - rho) / (high - low), 0.0, 1.0))
    return max(find_relative_error(summary, power), constants.stated[0])


def find_relative_error(summary: ScoreSummary, power: float) -> float:
    """The stated error c, over that of the most frequent class times 2 to a power."""
    by_chance = max(1.0 - float(summary.shares.max()), LEAST_BY_CHANCE)
    return summary.stated_error * max(1.0, 0.5 / by_chance) ** power


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
    if not np.isfinite(summary.disagreement).any():
        return None
    answers = predicted_classes(summary.q)
    implied = float(expit(logit(summary.mean_disagreement) + offset))
    ratio, low, high = log_pi - log_share, -constants.furthest, constants.furthest
    for _ in range(constants.halvings):
        middle = 0.5 * (low + high)
        w = softmax(np.exp(middle) * ratio + log_share, axis=1)
        errors = 1.0 - np.take_along_axis(w, answers, axis=1).mean(axis=0)
        too_large = float(errors @ summary.counts) > implied
        low, high = (middle, high) if too_large else (low, middle)
    found = 0.5 * (low + high)
    return found if abs(found) < 0.99 * constants.furthest else None
