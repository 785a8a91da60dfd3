"""Residual correction: the estimate becomes that of labels alone as labels grow.

On the n labeled rows let R_j be the metric of classifier j minus its mean over labels drawn from
the model W (with the label intercepts: labels may over-represent a class), and V_j the variance
over those labels: what R_j would be by chance. Then

    estimate = m(W, all rows) + w R,      w = r / (1 + r),      r = (n / n_0)^2 s,

is the best guess if the model's bias has the variance r V. Two things speak for bias:

- labels, (n / n_0)^2 with n_0 = 500 - 300/M: the noise that hides the bias falls with n; and few
  classifiers cannot correct each other;
- misfit, s = sum_j R_j^2 / sum_j V_j, about one where W is right: a model that the labels
  contradict more than chance allows is corrected sooner. a curve, with many values per classifier,
  takes s = 1, so that it is the same whichever classifiers are asked for.

For eight classifiers that the labels confirm w is 4 % at 100 labels, 30 % at 300, 82 % at 1,000.

Given R, the bias is still known only up to the variance w V. Draws of the world carry w^2 V of it
(the labeled rows are weighted anew in every world); `Correction.draw_leftover` is the rest,
w (1 - w) V, times 2.5, as noise that is joint over classifiers and metrics. All numbers:
`CorrectionConstants`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.random import SeedSequence

from ssme.arrays import FloatArray, IntArray
from ssme.data.design import LabelDesign
from ssme.data.scoreset import ScoreSet
from ssme.methods.auto.constants import CorrectionConstants, RecenteringConstants
from ssme.methods.base import Estimate
from ssme.methods.beliefs import compute_root
from ssme.methods.draws import log_odds
from ssme.methods.label_draws import kish
from ssme.metrics.base import Metric
from ssme.metrics.confusion import predicted_classes
from ssme.metrics.influence import measure_influence
from ssme.metrics.kinds import Decision, Ranking, Rows, is_same_metric


def weigh_labels(
    n_labeled: float, n_effective: float, constants: CorrectionConstants, misfit: float = 1.0
) -> float:
    """The weight w at a misfit s: 0 without labels, and 1 in the limit of many."""
    ratio = (n_labeled / (constants.half + constants.half_few / n_effective)) ** 2 * misfit
    return float(ratio / (1.0 + ratio))


@dataclass(frozen=True, eq=False)
class Correction:
    """What the labels of a group say about one metric beyond the model.

    ``residual`` (M,) is R, zero where undefined; ``noise`` (B, M), of variance V, is the metric on
    labels drawn from W minus its mean; ``leftover`` is the factor of the variance left over.
    """

    residual: FloatArray
    noise: FloatArray
    weight: float
    leftover: float

    @classmethod
    def estimate(
        cls,
        observed: FloatArray,
        drawn: FloatArray,
        n_labeled: float,
        n_effective: float,
        n_models: int,
        constants: CorrectionConstants,
    ) -> Correction:
        """From the metric on the labels (M,) and on labels of the same rows drawn from W (B, M).

        Only where there is one value per classifier is the misfit measured.
        """
        defined = np.isfinite(drawn)
        mean = np.where(defined, drawn, 0.0).sum(axis=0) / np.maximum(defined.sum(axis=0), 1)
        noise = np.where(defined, drawn - mean, 0.0)
        known = np.isfinite(observed) & defined.any(axis=0)
        residual = np.where(known, observed - mean, 0.0)
        chance = float((noise[:, known] ** 2).mean(axis=0).sum())
        one_each = len(observed) == n_models
        misfit = float((residual**2).sum()) / chance if one_each and chance > 0.0 else 1.0
        bounded = float(np.clip(misfit, constants.least_misfit, constants.most_misfit))
        weight = weigh_labels(n_labeled, n_effective, constants, bounded)
        return cls(residual, noise, weight, constants.leftover)

    @classmethod
    def none(cls, constants: CorrectionConstants) -> Correction:
        """The correction of a group without labels."""
        return cls(np.zeros(1), np.zeros((constants.label_draws, 1)), 0.0, constants.leftover)

    def draw_leftover(self, normal: FloatArray) -> FloatArray:
        """Noise (D, M) of variance w (1 - w) V ``leftover``, joint over the metrics that get the
        same standard ``normal`` (D, B)."""
        left = self.leftover * self.weight * (1.0 - self.weight)
        return np.sqrt(left / len(self.noise)) * (normal @ self.noise)


# -------------------------------------------------------------------------------------------------
# How often a label counts, given how rows were chosen for labeling: once if at random, otherwise
#
#     with weights    w_i n_eff / sum w,       n_eff = (sum w)^2 / sum w^2 (Kish)
#     by class        p_k / (n_k / n)          for a label of class k, p_k its share under W
#     by score        (N_h / N) / (n_h / n)    for a label in stratum h of the top probability
#
# Where weights come from probabilities that looked at scores and earlier labels alone
# (`ssme.data.design`), the choice says nothing about P(y | s): all labels count the same in the
# likelihood, and by their weight in the correction.


def count_labels(design: LabelDesign, rows: IntArray) -> FloatArray | None:
    """Weights (r,) of the labels of ``rows``, which sum to their effective number, or None."""
    if design.weights is None or rows.size == 0:
        return None
    weights = design.weights[rows]
    return weights * kish(weights) / weights.sum()


def count_by_class(shares: FloatArray, labels: IntArray) -> FloatArray:
    """How often a label of each class counts (K,), the classes having ``shares`` (K,) under W."""
    seen = np.bincount(labels, minlength=len(shares))
    return np.where(seen > 0, shares * labels.size / np.maximum(seen, 1), 1.0)


def count_by_score(
    everywhere: FloatArray, labeled: FloatArray, constants: CorrectionConstants
) -> FloatArray:
    """How often each label counts (r,), from W of rows at large (n, K) and labeled (r, K)."""
    strata = int(np.clip(len(labeled) // constants.labels_a_stratum, 1, constants.strata))
    sure, known = everywhere.max(axis=1), labeled.max(axis=1)
    cuts = np.quantile(sure, np.linspace(0.0, 1.0, strata + 1)[1:-1])
    size = np.bincount(np.searchsorted(cuts, sure), minlength=strata) / len(sure)
    place = np.searchsorted(cuts, known)
    share = np.bincount(place, minlength=strata) / len(known)
    return (size / np.maximum(share, 1.0 / len(known)))[place]


# -------------------------------------------------------------------------------------------------
# Draws moved onto the point estimate v, with a spread that is right for the kind of metric:
#
#     x_dj  <-  g^-1( g(v_j) + shared (1/M) sum_l z_dl + own [ z_dj - (1/M) sum_l z_dl ] ),
#     z_dj = g(x_dj) - median_d g(x_dj),
#
# g the logit of the metric's range where that is finite and larger is better, and the identity, cut
# off at the ends, for errors, where zero must stay within reach. The metric at the mode is the
# better point estimate, the draws know the spread.
#
# What classifiers share (how sharp the pool should be) cancels in a difference, the rest does not,
# so the two have factors by kind of metric, f = 1 - (1 - factor) (1 - w) max(0, 1 -
# 20/M^3). They are about what the
# coefficients contribute; the share s of the variance that the sampling of rows adds is kept,
# shared = sqrt( f^2 + (1 - f^2) s ), likewise own.
#
# The families know some directions in which classifiers differ much better than others, and
# overrate that: singular values of the own part are taken to the power p = 1 - (1 - e)(1 - s),
# scaled to the same sum of squares. docs/auto-derivation.md has the reasons.


@dataclass(frozen=True)
class Spread:
    """Factors of what classifiers share and of what each has beyond it, and the evenness e."""

    shared: float = 1.0
    own: float = 1.0
    evenness: float = 1.0


Recenter = Callable[[Metric, FloatArray, FloatArray, FloatArray | None, Spread, float], FloatArray]
"""A function such as `recenter`, which a study can replace."""


def recenter(
    metric: Metric,
    value: FloatArray,
    draws: FloatArray,
    resampled: FloatArray | None,
    spread: Spread,
    edge: float,
) -> FloatArray:
    """Move ``draws`` (D, C) so that their median is ``value`` (C,), on the scale g of the metric.

    ``resampled`` (B, C) are values that differ by the sampling of rows alone, from which the share
    s follows. Columns without a value become NaN.
    """
    out: FloatArray = np.full_like(draws, np.nan)
    kept = np.flatnonzero(np.isfinite(value) & np.isfinite(draws).any(axis=0))
    if kept.size == 0:
        return out
    low, high = metric.low, metric.high
    bounded = bool(metric.greater_is_better) and np.isfinite(low) and np.isfinite(high)

    def to_scale(x: FloatArray) -> FloatArray:
        return log_odds((x - low) / (high - low), edge) if bounded else x

    # undefined draws become the defined ones in turn
    columns = [np.resize(drawn[np.isfinite(drawn)], drawn.size) for drawn in draws[:, kept].T]
    z = to_scale(np.stack(columns, axis=1))
    together, own = _split(z - np.median(z, axis=0))
    share_together = share_own = 0.0
    if resampled is not None:
        by_rows = to_scale(resampled[:, kept])
        by_rows = np.where(np.isfinite(by_rows), by_rows, 0.0)
        rows_together, rows_own = _split(by_rows - by_rows.mean(axis=0))
        share_together = _compute_row_share(together, rows_together)
        share_own = _compute_row_share(own, rows_own)
    own = _equalize(own, 1.0 - (1.0 - spread.evenness) * (1.0 - share_own))
    parts = (together, spread.shared, share_together), (own, spread.own, share_own)
    z = sum(part * np.sqrt(f**2 + (1.0 - f**2) * share) for part, f, share in parts)
    z -= np.median(z, axis=0)
    target = to_scale(value[kept]) + z
    out[:, kept] = low + (high - low) / (1.0 + np.exp(-target)) if bounded else target
    return np.clip(out, low, high)


def choose_spread(
    metric: Metric,
    weight: float,
    n_effective: float,
    n_classes: int,
    constants: RecenteringConstants,
    widening: float = 1.0,
) -> Spread:
    """The spread of a metric's kind times the regime's ``widening``, both faded with few
    classifiers and where labels decide, by their weight w."""
    shared, own = constants.other_spread
    evenness = 1.0
    for kind, factors in constants.spread.items():
        if is_same_metric(kind, metric.kind, n_classes, any_threshold=True):
            (shared, own), evenness = factors, constants.evenness
            break
    shared, own, evenness, wide = (
        fade(f, weight, n_effective, constants) for f in (shared, own, evenness, widening)
    )
    return Spread(wide * shared, wide * own, evenness)


def choose_pair_factor(
    metric: Metric,
    weight: float,
    n_effective: float,
    n_classes: int,
    constants: RecenteringConstants,
) -> float:
    """The factor of pairwise differences of a metric's kind, faded; one for kinds without one."""
    for kind, factor in constants.pairs.items():
        if is_same_metric(kind, metric.kind, n_classes, any_threshold=True):
            return fade(factor, weight, n_effective, constants)
    return 1.0


def fade(
    factor: float, weight: float, n_effective: float, constants: RecenteringConstants
) -> float:
    """f: the ``factor``, nearer to one with few classifiers and where labels decide."""
    fades = (1.0 - weight) * max(0.0, 1.0 - constants.few / n_effective**3)
    return 1.0 - (1.0 - factor) * fades


def _split(z: FloatArray) -> tuple[FloatArray, FloatArray]:
    """What the columns of ``z`` (D, C) share, their mean, and what each has beyond it."""
    together = np.broadcast_to(z.mean(axis=1, keepdims=True), z.shape)
    return together, z - together


def _compute_row_share(part: FloatArray, rows: FloatArray) -> float:
    """Share s of the variance of a part that the sampling of ``rows`` contributes."""
    total = float((part**2).mean())
    return min(1.0, float((rows**2).mean()) / total) if total > 0.0 else 1.0


def _equalize(own: FloatArray, exponent: float) -> FloatArray:
    """``own`` (D, C) with its singular values to a power, the sum of their squares kept."""
    if exponent == 1.0 or own.shape[1] < 3:
        return own
    left, size, right = np.linalg.svd(own, full_matrices=False)
    known = size > np.sqrt(np.finfo(np.float64).eps) * size[0]
    if not known.any():
        return own
    even = np.where(known, size, 0.0) ** exponent
    even *= np.sqrt((size**2).sum() / (even**2).sum())
    return (left * even) @ right


# -------------------------------------------------------------------------------------------------
# What labels of rows that `ssme suggest` chose, with known probabilities, say beyond the model.
#
# With e_i the residual of row i, its label standing for w_i rows,
#
#     R = sum_i w_i e_i      the weighted residual, unbiased for the model's bias,
#     V                      its variance, from C_i = Cov e_i (half under W, half seen),
#     B = mean_i C_i / n_0   that of the bias: the noise of n_0 labels at random,
#
# the best guess of the bias is B (B + V)^-1 R (a Kalman gain), and what is left of it has the
# covariance B - B (B + V)^-1 B. Labels drawn at random have V = mean C / n, and few of them hardly
# move anything; labels of rows on which classifiers differ have a V many times smaller.
#
# For accuracy, e_ij = [j is right about row i] - W_i(its decision) less the mean over classifiers:
# what is corrected are differences. For ROC AUC, e_i = psi_i(y_i) - E_W psi_i with psi_i(k) the
# change of the metrics if row i were known to be of class k (`ssme.metrics.influence`). n_0 = 423
# and 300 were chosen on the sets of ``benchmarks.decide.suggestion``.


def correct_differences(
    decisions: IntArray,
    soft: FloatArray,
    known: IntArray,
    known_soft: FloatArray,
    labels: IntArray,
    weights: FloatArray,
    bias_labels: float,
    least_variance: float = 1e-7,
) -> FloatArray:
    """The best guess of the model's bias: what to add to the accuracies (M,). It sums to zero.

    ``decisions`` (n, M) and W ``soft`` (n, K) are of rows that represent all, ``known`` (r, M) and
    ``known_soft`` (r, K) of those with ``labels``, which represent the shares ``weights`` (r,) of
    all rows; ``bias_labels`` is n_0. ``least_variance`` keeps V invertible.
    """
    n_models = decisions.shape[1]
    mean = _compute_covariances(decisions, soft).mean(axis=0)
    each = _compute_covariances(known, known_soft)
    chosen = np.take_along_axis(known_soft, known, axis=1)
    off = (known == labels[:, None]) - chosen
    off = off - off.mean(axis=1, keepdims=True)
    residual = weights @ off
    by_model = np.einsum("r,rab->ab", weights**2, each)
    seen = (off * (weights**2)[:, None]).T @ off
    noise = 0.5 * (by_model + seen) + least_variance * np.eye(n_models)
    bias = mean / bias_labels
    return bias @ np.linalg.solve(bias + noise, residual)


def _compute_covariances(decisions: IntArray, soft: FloatArray) -> FloatArray:
    """C (n, M, M): under W, the covariance of being right less the mean over classifiers."""
    chosen = np.take_along_axis(soft, decisions, axis=1)
    same = decisions[:, :, None] == decisions[:, None, :]
    each = np.where(same, chosen[:, :, None], 0.0) - chosen[:, :, None] * chosen[:, None, :]
    each = each - each.mean(axis=1, keepdims=True)
    return each - each.mean(axis=2, keepdims=True)


def move_by_suggested(
    metric: Metric,
    estimate: Estimate,
    data: ScoreSet,
    soft: FloatArray,
    rows: IntArray,
    still: float,
    constants: CorrectionConstants,
    seed: SeedSequence,
) -> Estimate:
    """``estimate`` moved by the best guess of the bias of W ``soft`` (n, K), if the metric has one.

    ``rows`` is a part that represents all rows, ``still`` is the share of the bias that the
    residual correction has not taken out already.
    """
    labeled, weights, draws = np.flatnonzero(data.labeled), data.design.weights, estimate.draws
    assert weights is not None
    assert draws is not None
    shares = weights[labeled] / data.n_rows
    kind, noise = metric.kind, np.zeros(1)
    if isinstance(kind, Decision) and kind.share_of == Rows() and data.n_models > 1:
        step = correct_differences(
            predicted_classes(data.scores[rows], kind.threshold),
            soft[rows],
            predicted_classes(data.scores[labeled], kind.threshold),
            soft[labeled],
            data.labels[labeled],
            shares,
            constants.bias_labels,
        )
    elif isinstance(kind, Ranking) and kind.statistic == "roc_auc":
        shown = np.union1d(rows[: constants.influence_rows], labeled)
        step, left = guess_bias(
            metric,
            data.scores[shown],
            soft[shown],
            np.searchsorted(shown, labeled),
            data.labels[labeled],
            shares * shown.size,
            constants.ranking_bias_labels,
        )
        noise = np.random.default_rng(seed).standard_normal(draws.shape) @ compute_root(left)
    else:
        return estimate
    value = np.clip(estimate.value + still * step, metric.low, metric.high)
    draws = np.clip(draws + still * step + still * noise, metric.low, metric.high)
    return replace(estimate, value=value, draws=draws)


def guess_bias(
    metric: Metric,
    scores: FloatArray,
    soft: FloatArray,
    known: IntArray,
    labels: IntArray,
    weights: FloatArray,
    bias_labels: float,
    least_variance: float = 1e-8,
) -> tuple[FloatArray, FloatArray]:
    """The best guess of the bias (M,) of the metrics of W ``soft`` (n, K), on rows that represent
    all, and the covariance (M, M) of the rest.

    ``known`` (r,) are the places of the labeled ones, which represent ``weights`` (r,) rows each;
    ``bias_labels`` is n_0, and ``least_variance`` keeps V invertible.
    """
    asked = np.zeros(len(soft), dtype=bool)
    asked[known] = True
    psi = measure_influence(metric, scores, soft, None, asked, 0.0)[known]
    own = soft[known]
    mean = np.einsum("rk,rkm->rm", own, psi)
    off = psi[np.arange(known.size), labels] - mean
    each = np.einsum("rk,rkm,rkl->rml", own, psi, psi) - mean[:, :, None] * mean[:, None, :]
    spread = weights * np.maximum(weights - 1.0, 0.0)
    noise = 0.5 * (np.einsum("r,rml->ml", spread, each) + (off * spread[:, None]).T @ off)
    noise += least_variance * np.eye(len(noise))
    bias = len(soft) / bias_labels * np.einsum("r,rml->ml", weights, each)
    gain = np.linalg.solve(bias + noise, bias).T
    left = bias - gain @ bias
    return gain @ (weights @ off), 0.5 * (left + left.T)
