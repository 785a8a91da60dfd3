"""Residual correction: what labels say beyond the model, the more of it the more labels there are.

On the n labeled rows let R_j be the metric of classifier j minus its mean over labels drawn from
the model W (with the label intercepts: labels may over-represent a class). The bias of the model
has a part that all classifiers share and a part of each one's own,

    bias_j = shared + own_j,      R_j ~ bias_j + noise_j,
    shared ~ sigma sqrt(n V_s) t_2,      own_j ~ sigma sqrt(n V_oj) t_2,

V_s being the variance of the mean of the noise over classifiers, V_oj that of what noise_j has
beyond it, both over the drawn labels. sqrt(n V) is the noise of one label, so that one sigma fits
every metric; and the Student t has heavy tails: a residual of three standard errors is believed,
one of one standard error hardly. The estimate is moved by the posterior mean of the bias, and its
posterior variance is in the draws. sigma is predicted: where the sharpness of the pool is hard to
predict (tau, the scale of its prior, is large), the model is further off,

    sigma = 0.075 tau (n / 50)^0.33.

With many labels the estimate is that of labels alone. A curve, with many values per classifier, has
no shared part and takes each residual as if it were one standard error, so that it is the same
whichever classifiers are asked for. All numbers: `CorrectionConstants`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ssme.arrays import FloatArray, IntArray
from ssme.data.design import LabelDesign
from ssme.data.scoreset import ScoreSet
from ssme.methods import base, beliefs, label_draws, suggested
from ssme.methods.auto.constants import CorrectionConstants, RecenteringConstants
from ssme.methods.draws import log_odds
from ssme.metrics import kinds
from ssme.metrics.base import Metric

SCALES = np.exp(np.linspace(-2.0, 14.0, 33))
"""Variances of the normals that a Student t of 2 degrees mixes, from small to large: 2 / chi^2_2
has the density exp(-1/x) / x of its logarithm."""

LEAST_VARIANCE = 1e-12
"""Smaller variances of the noise count as zero."""


def compute_gain(z2: FloatArray, ratio: float) -> tuple[FloatArray, FloatArray]:
    """Posterior mean of a bias over its residual R, and posterior variance over V.

    ``z2`` is R^2 / V and ``ratio`` is sigma^2 n: the normals that the Student t mixes have the
    variances `SCALES` sigma^2 n V.
    """
    variance = SCALES * ratio
    log_weight = -1.0 / SCALES - np.log(SCALES)
    log_weight = log_weight - 0.5 * (np.log1p(variance) + z2[..., None] / (1.0 + variance))
    weight = np.exp(log_weight - log_weight.max(axis=-1, keepdims=True))
    weight /= weight.sum(axis=-1, keepdims=True)
    gain = variance / (1.0 + variance)
    mean = weight @ gain
    return mean, mean + z2 * (weight @ gain**2 - mean**2)


def predict_bias(n_labeled: float, tau: float, constants: CorrectionConstants) -> float:
    """sigma^2 n of the bias."""
    sigma = constants.bias * tau * (n_labeled / 50.0) ** constants.bias_growth
    return float(n_labeled * sigma**2)


@dataclass(frozen=True, eq=False)
class Correction:
    """What the labels of a group say about one metric beyond the model.

    ``step`` (C,) is the posterior mean of the bias, ``noise`` (B, C) has its posterior variance,
    ``gains`` are the shares of the residual that are believed, of what classifiers share and,
    their mean, of what is each one's own.
    """

    step: FloatArray
    noise: FloatArray
    gains: tuple[float, float]

    @classmethod
    def estimate(
        cls,
        observed: FloatArray,
        drawn: FloatArray,
        n_labeled: float,
        tau: float,
        n_models: int,
        constants: CorrectionConstants,
    ) -> Correction:
        """From the metric on the labels (C,) and on labels of the same rows drawn from W (B, C)."""
        defined = np.isfinite(drawn)
        mean = np.where(defined, drawn, 0.0).sum(axis=0) / np.maximum(defined.sum(axis=0), 1)
        noise = np.where(defined, drawn - mean, 0.0)
        known = np.isfinite(observed) & (noise != 0.0).any(axis=0)
        residual = np.where(known, observed - mean, 0.0)
        noise[:, ~known] = 0.0
        ratio = predict_bias(n_labeled, tau, constants)
        if len(observed) > n_models:
            gain, left = compute_gain(np.ones(1), ratio)
            spread = constants.noise * np.sqrt(left)
            return cls(gain * residual, spread * noise, (float(gain[0]), float(gain[0])))
        share = known / max(1, known.sum())
        together = (residual @ share * known, (noise @ share)[:, None] * known)
        own = (residual - together[0], noise - together[1])
        step, width, gains = np.zeros_like(residual), np.zeros_like(noise), list[float]()
        for r, e in (together, own):
            variance = (e**2).mean(axis=0)
            varies = variance > LEAST_VARIANCE
            gain, left = compute_gain(r**2 / np.where(varies, variance, 1.0), ratio)
            step = step + np.where(varies, gain * r, 0.0)
            width = width + constants.noise * e * np.sqrt(left * varies)
            gains.append(float(gain[varies].mean()) if varies.any() else 0.0)
        return cls(step, width, (gains[0], gains[1]))

    @classmethod
    def none(cls, constants: CorrectionConstants) -> Correction:
        """The correction of a group without labels."""
        return cls(np.zeros(1), np.zeros((constants.label_draws, 1)), (0.0, 0.0))

    def draw(self, normal: FloatArray) -> FloatArray:
        """What is unknown of the bias (D, C), joint over the metrics that get the same standard
        ``normal`` (D, B)."""
        return normal @ self.noise / np.sqrt(len(self.noise))


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
    return weights * label_draws.kish(weights) / weights.sum()


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
# so the two have factors, larger with few classifiers, which check each other less; the share of
# the bias that the labels tell is in the draws no more, f = factor exp(1/M) sqrt(1 - gain). They
# are about what the coefficients contribute; the share s of the variance that the sampling of rows
# adds is kept, shared = sqrt( f^2 + (1 - f^2) s ), likewise own.
#
# The families know some directions in which classifiers differ much better than others, and
# overrate that: singular values of the own part are taken to the power p = 1 - (1 - e)(1 - s),
# scaled to the same sum of squares. docs/auto-estimates.md has the reasons.


@dataclass(frozen=True)
class Spread:
    """Factors of what classifiers share and of what each has beyond it, and the evenness e."""

    shared: float = 1.0
    own: float = 1.0
    evenness: float = 1.0


LEAST_SHARE = 1e-3
"""Rarer classes count as so frequent."""

EDGE = 1e-9
"""Least distance from the ends of the range on the logit scale."""

Recenter = Callable[[Metric, FloatArray, FloatArray, FloatArray | None, Spread], FloatArray]
"""A function such as `recenter`, which a study can replace."""


def recenter(
    metric: Metric,
    value: FloatArray,
    draws: FloatArray,
    resampled: FloatArray | None,
    spread: Spread,
    edge: float = EDGE,
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
    gains: tuple[float, float],
    n_effective: float,
    shares: FloatArray,
    constants: RecenteringConstants,
    widening: float = 1.0,
) -> Spread:
    """The spread of a metric times the regime's ``widening``, less where labels decide; classes
    have ``shares`` (K,)."""
    factors, evenness = (1.0, 1.0), 1.0
    if _is_calibrated(metric, len(shares), constants):
        factors, evenness = constants.spread, constants.evenness
        widening *= float(np.exp(constants.few / n_effective))
        if isinstance(metric.kind, kinds.Ranking):
            rarest = max(float(shares.min()), LEAST_SHARE)
            widening *= (0.5 / rarest) ** constants.rarity
    shared, own = (
        widening * factor * float(np.sqrt(1.0 - gain))
        for factor, gain in zip(factors, gains, strict=True)
    )
    return Spread(shared, own, evenness)


def choose_pair_factor(
    metric: Metric, gain: float, n_classes: int, constants: RecenteringConstants
) -> float:
    """The factor of pairwise differences, nearer to one where labels decide."""
    known = _is_calibrated(metric, n_classes, constants) and metric.greater_is_better
    return 1.0 - (1.0 - constants.pairs) * (1.0 - gain) if known else 1.0


def _is_calibrated(metric: Metric, n_classes: int, constants: RecenteringConstants) -> bool:
    """Whether the metric is of a kind whose spread was calibrated, at whatever threshold."""
    return any(
        kinds.is_same_metric(kind, metric.kind, n_classes, any_threshold=True)
        for kind in constants.kinds
    )


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


def move_by_suggested(
    metric: Metric,
    estimate: base.Estimate,
    data: ScoreSet,
    soft: FloatArray,
    rows: IntArray,
    still: float,
    constants: CorrectionConstants,
    seed: np.random.SeedSequence,
) -> base.Estimate:
    """``estimate`` moved by the best guess of the bias of W ``soft`` (n, K), if the metric has one.

    ``rows`` is a part that represents all rows, ``still`` is the share of the bias that the
    residual correction has not taken out already.
    """
    labeled, weights, draws = np.flatnonzero(data.labeled), data.design.weights, estimate.draws
    assert weights is not None
    assert draws is not None
    noise = np.zeros(1)
    step = suggested.guess_decision_bias(metric, data, soft, rows, constants.bias_labels)
    if step is None:
        kind = metric.kind
        if not isinstance(kind, kinds.Ranking) or kind.statistic != "roc_auc":
            return estimate
        shown = np.union1d(rows[: constants.influence_rows], labeled)
        step, left = suggested.guess_bias(
            metric,
            data.scores[shown],
            soft[shown],
            np.searchsorted(shown, labeled),
            data.labels[labeled],
            weights[labeled] / data.n_rows * shown.size,
            constants.ranking_bias_labels,
        )
        noise = np.random.default_rng(seed).standard_normal(draws.shape) @ beliefs.compute_root(
            left
        )
    value = np.clip(estimate.value + still * step, metric.low, metric.high)
    draws = np.clip(draws + still * step + still * noise, metric.low, metric.high)
    return replace(estimate, value=value, draws=draws)
