"""Prediction-powered inference: labels correct what predictions say about the unlabeled rows.

A mean, such as accuracy, has a closed form (PPI++),

    theta = lambda * mean_unlabeled f + mean_labeled (t - lambda * f),

for a truth t known on n labeled rows and its prediction f known on all rows. The power-tuned
lambda = Cov(t, f) / ((1 + n/N) Var f) minimizes the variance; its ridge form divides by
Var f + alpha instead, alpha being chosen by leave-one-out error among multiples of Var f.

Any other metric g is bootstrapped, f being the mean score of the classifiers as fractional labels,

    theta = g(labeled, y) + lambda * (g(unlabeled, f) - g(labeled, f)),
    lambda = Cov(g(L, y), g(L, f)) / (Var g(L, f) + Var g(U, f)), kept in [0, 1].

With few labels the quantiles of these draws are too narrow, so the interval is that [l, h] of
labels alone about g(labeled, y) (`ssme.methods.beliefs`), moved to theta and shrunk as the spread
is, [theta - r (g - l), theta + r (h - g)], r = sd(resampled theta) / sd(resampled g) <= 1, and
r = 1 for calibration errors, of whose spread resampling knows little.

Sources: Angelopoulos, Duchi and Zrnic, "PPI++: Efficient prediction-powered inference", 2023;
Zrnic, "A note on the prediction-powered bootstrap", 2024; Eyre and Madras, "Regression for the
mean: auto-evaluation and inference with few labels through post-hoc regression", ICML 2025 (ridge).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, ClassVar, Literal

import numpy as np

from ssme.arrays import BoolArray, FloatArray, IntArray
from ssme.data.scoreset import ScoreSet
from ssme.methods import base, beliefs
from ssme.methods.clusters import draw_row_counts
from ssme.methods.draws import MOST_DRAWS, declare_joint_draws, spawn_seed
from ssme.methods.votes import average_scores, cast_votes, compute_share_correct
from ssme.metrics import decisions, kinds
from ssme.metrics.base import Metric
from ssme.options import Enumeration, Flag, Number, Series, Whole, option, optional
from ssme.progress import track

Annotator = Literal["confidence", "pool"]
MeanEstimator = Callable[..., tuple[float, FloatArray]]
"""Classifier, its labeled and its other rows -> a mean, and what each row adds to its error."""


def declare_annotator(default: Annotator) -> Any:
    """The option ``annotator`` of the prediction-powered methods."""
    return option(
        default,
        "Who predicts whether a classifier is right: its own top probability, or the mean score "
        "of all classifiers at its predicted class.",
        Enumeration("confidence", "pool"),
    )


def declare_ridge_grid() -> Any:
    """The option ``ridge_grid`` of the prediction-powered methods."""
    return option(
        (0.0, *(10.0 ** (quarter / 4) for quarter in range(-8, 9))),
        "Penalties that ridge regression chooses from, as multiples of the predictions' variance.",
        Series(Number(least=0.0, most=1e9), least=1),
    )


@dataclass(frozen=True, eq=False)
class PredictedAccuracy:
    """Whether each classifier is right, and the prediction of that, (n, M) both.

    ``truth`` counts on labeled rows only, ``predicted`` is NaN without a score. ``label_weights``
    (n,) say how much each label counts where rows were chosen for labeling. ``ridge_grid`` are the
    penalties of the tuned lambda, None for none.
    """

    truth: FloatArray
    predicted: FloatArray
    labeled: BoolArray
    weights: FloatArray
    label_weights: FloatArray | None
    ridge_grid: tuple[float, ...] | None

    @classmethod
    def of(
        cls,
        data: ScoreSet,
        annotator: Annotator,
        kind: kinds.Kind = decisions.ACCURACY,
        ridge_grid: tuple[float, ...] | None = None,
    ) -> PredictedAccuracy:
        """That of decisions at the threshold of the metric's ``kind``."""
        votes = cast_votes(data.scores, kinds.find_threshold(kind))
        truth = compute_share_correct(
            votes, beliefs.clamp(np.zeros((data.n_rows, data.n_classes)), data.labels)
        )
        if annotator == "confidence":
            stated = np.where(votes > 0.0, data.scores, 0.0).sum(axis=2)
            predicted = np.where(np.isfinite(truth), stated, np.nan)
        else:
            predicted = compute_share_correct(votes, average_scores(data.scores))
        weights = np.ones(data.n_rows) if data.weights is None else data.weights
        label_weights = data.label_weights if data.design.weights is not None else None
        return cls(truth, predicted, data.labeled, weights, label_weights, ridge_grid)

    def split_rows(self, model: int, rows: IntArray) -> tuple[IntArray, IntArray]:
        """Labeled and unlabeled row numbers among ``rows`` that ``model`` has scored.

        Where rows were chosen for labeling, the others are unlike them, and all rows are taken.
        """
        rows = rows[np.isfinite(self.predicted[rows, model])]
        others = rows[~self.labeled[rows]] if self.label_weights is None else rows
        return rows[self.labeled[rows]], others

    def estimate_mean(
        self, model: int, labeled: IntArray, unlabeled: IntArray, lam: float | None = None
    ) -> tuple[float, FloatArray]:
        """PPI++ accuracy of ``model`` from the given rows, and what each row (n,) adds to its
        error: the variance is their sum of squares."""
        influence = np.zeros(len(self.truth))
        if labeled.size == 0:
            influence[unlabeled] = np.nan
            return np.nan, influence
        truth, predicted = self.truth[labeled, model], self.predicted[labeled, model]
        elsewhere = self.predicted[unlabeled, model]
        if unlabeled.size == 0:
            lam = 0.0
        elif lam is None:
            lam = tune_power(truth, predicted, elsewhere, self.ridge_grid)
        counts = self.weights if self.label_weights is None else self.label_weights
        value, influence[labeled] = _average(truth - lam * predicted, counts[labeled])
        if unlabeled.size:
            imputed, shares = _average(lam * elsewhere, self.weights[unlabeled])
            value += imputed
            influence[unlabeled] += shares
        return value, influence

    def estimate_means(
        self, rows: IntArray, estimate: MeanEstimator | None = None, **options: Any
    ) -> tuple[FloatArray, FloatArray]:
        """PPI++ accuracy (M,) of every classifier on ``rows``, and influences (M, n)."""
        models, estimate = range(self.truth.shape[1]), estimate or self.estimate_mean
        pairs = [estimate(j, *self.split_rows(j, rows), **options) for j in models]
        return np.array([value for value, _ in pairs]), np.stack([shares for _, shares in pairs])


def tune_power(
    truth: FloatArray,
    predicted: FloatArray,
    predicted_unlabeled: FloatArray,
    ridge_grid: Sequence[float] | None,
) -> float:
    """The variance-minimizing lambda in [0, 1]; 0 where the data cannot say."""
    n, n_unlabeled = truth.size, predicted_unlabeled.size
    if n < 2:
        return 0.0
    covariance = float(np.cov(truth, predicted)[0, 1])
    variance = float(np.var(np.concatenate([predicted, predicted_unlabeled]), ddof=1))
    if variance <= 0.0 or covariance <= 0.0:
        return 0.0
    factor = 0.0 if ridge_grid is None else choose_ridge_factor(truth, predicted, ridge_grid)
    return float(np.clip(covariance / ((1 + n / n_unlabeled) * variance * (1 + factor)), 0.0, 1.0))


def choose_ridge_factor(truth: FloatArray, predicted: FloatArray, grid: Sequence[float]) -> float:
    """The penalty of ``grid`` with the least leave-one-out error of t regressed on f."""
    penalties = np.asarray(grid)
    t, f = truth - truth.mean(), predicted - predicted.mean()
    spread = float(f @ f)
    if truth.size < 3 or spread <= 0.0:
        return float(penalties[-1])
    shrunk = spread * (1 + penalties)
    residual = t[:, None] - f[:, None] * ((f @ t) / shrunk)
    leverage = 1 / truth.size + f[:, None] ** 2 / shrunk
    loss = ((residual / np.maximum(1 - leverage, 1e-9)) ** 2).sum(axis=0)
    return float(penalties[np.argmin(loss)])


def _average(values: FloatArray, weights: FloatArray) -> tuple[float, FloatArray]:
    """Weighted mean, and each row's share of its deviation; NaN where no row has weight."""
    if weights.sum() == 0.0:
        return np.nan, np.full(values.size, np.nan)
    share = weights / weights.sum()
    mean = float(share @ values)
    return mean, share * (values - mean)


@dataclass(frozen=True)
class Ppi(base.DeclaredMethod, example="power=1.0"):
    """Prediction-powered estimates with the mean score as annotator."""

    power: float | None = optional(
        "The parameter lambda, the weight of the predictions: 1 is plain prediction-powered "
        "inference, 0 uses labeled rows only.",
        Number(least=0.0, most=1.0),
        usual="it is tuned",
    )
    ridge: bool = option(
        True, "Whether ridge regression stabilizes the tuned lambda of accuracy.", Flag()
    )
    ridge_grid: tuple[float, ...] = declare_ridge_grid()
    n_boot: int = option(
        500, "Number of resamples of the prediction-powered bootstrap.", Whole(2, MOST_DRAWS)
    )

    spec: ClassVar[base.MethodSpec] = base.MethodSpec(
        name="ppi",
        title="Prediction-powered inference, power-tuned",
        source="Angelopoulos et al. 2023; Zrnic 2024; Eyre and Madras 2025",
        does="It computes an estimate under the mean score of the classifiers and corrects it by "
        "how wrong the mean score is on the labeled rows.",
        assumes="It assumes that the labeled rows were chosen at random and that there are many of "
        "them: its intervals hold for large samples.",
        fails="It is unreliable with few labels, and for metrics that are biased in small samples.",
        gives_posterior=False,
        designs=("random", "weights"),
    )

    def fit(self, data: ScoreSet, rng: np.random.Generator) -> beliefs.DirectBelief:
        grid = self.ridge_grid if self.ridge else None
        known = cache(lambda kind: PredictedAccuracy.of(data, "pool", kind, grid))
        pool = average_scores(data.scores)
        seeds = spawn_seed(rng), spawn_seed(rng)

        def answer(metric: Metric, rows: IntArray) -> base.Estimate:
            if kinds.is_same_metric(
                decisions.ACCURACY, metric.kind, data.n_classes, any_threshold=True
            ):
                value, influence = known(metric.kind).estimate_means(rows, lam=self.power)
                return beliefs.make_normal_estimate(
                    value, influence, metric, self.n_boot, seeds[0], data
                )
            return self._bootstrap(metric, data, pool, rows, seeds)

        return beliefs.DirectBelief(data.n_rows, answer)

    def _bootstrap(
        self,
        metric: Metric,
        data: ScoreSet,
        pool: FloatArray,
        rows: IntArray,
        seeds: tuple[np.random.SeedSequence, np.random.SeedSequence],
    ) -> base.Estimate:
        chosen = data.design.weights is not None
        labeled, unlabeled = rows[data.labeled[rows]], rows if chosen else rows[~data.labeled[rows]]
        true = beliefs.clamp(np.zeros_like(pool), data.labels)
        predicted = cast_votes(pool[:, None])[:, 0] if metric.hard_only else pool
        at_labels = predicted
        if data.weights is not None:
            predicted = predicted * data.weights[:, None]
        if data.label_weights is not None:
            true, at_labels = (mass * data.label_weights[:, None] for mass in (true, at_labels))
        on_labeled, on_unlabeled = seeds
        scores, n_boot = data.scores, self.n_boot
        times, times_elsewhere = _ResampledRows(labeled, n_boot, on_labeled), None
        if data.clusters is not None:
            # the same clusters are drawn among labeled and unlabeled rows
            times = _ResampledRows(labeled, n_boot, on_labeled, data.clusters)
            times_elsewhere = _ResampledRows(unlabeled, n_boot, on_labeled, data.clusters)
        times_elsewhere = times_elsewhere or _ResampledRows(unlabeled, n_boot, on_unlabeled)
        t, ts = times.evaluate(metric, scores[labeled], true[labeled])
        f, fs = times.evaluate(metric, scores[labeled], at_labels[labeled])
        u, us = times_elsewhere.evaluate(metric, scores[unlabeled], predicted[unlabeled])
        lam = _tune(ts, fs, us) if self.power is None else np.full(t.shape, self.power)
        lam = np.where(np.isfinite(u - f), lam, 0.0)
        value = t + np.where(lam > 0, lam * (u - f), 0.0)
        draws = ts + np.where(lam > 0, lam * (us - fs), 0.0)
        draws = draws[np.isfinite(draws).all(axis=1)]
        clip = partial(np.clip, a_min=metric.low, a_max=metric.high)
        value, draws = clip(value), clip(draws)
        ((alone,),) = beliefs.LabeledBelief(data, n_boot, False, on_labeled).estimate(
            [metric], [rows]
        )
        spread = isinstance(metric.kind, kinds.Calibration)
        ratio = np.ones(t.shape) if spread else _measure_shrinkage(ts, draws)

        def move_bounds(level: float) -> tuple[FloatArray, FloatArray]:
            """The interval of labels alone, moved to ``value`` and shrunk by ``ratio``."""
            low, high = alone.interval(level)
            ends = value - ratio * (alone.value - low), value + ratio * (high - alone.value)
            return clip(ends[0]), clip(ends[1])

        bounds = move_bounds if labeled.size else None
        return base.Estimate(value, draws if len(draws) else None, bounds)


@dataclass(frozen=True, eq=False)
class _ResampledRows:
    """How often each of ``rows`` is drawn, with replacement; by ``clusters`` (all rows), if any."""

    rows: IntArray
    n_boot: int
    seed: np.random.SeedSequence
    clusters: IntArray | None = None

    def evaluate(
        self, metric: Metric, scores: FloatArray, mass: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """The metric (M,) on the labeling ``mass`` (r, K), and (n_boot, M) on resamples of it."""
        n, k = mass.shape
        if n == 0:
            nothing = np.full((self.n_boot, scores.shape[1]), np.nan)
            return nothing[0], nothing
        plan, rng = metric.plan(scores), np.random.default_rng(self.seed)
        batch = max(1, beliefs.BATCH_CELLS // (n * k))
        values = []
        for start in track(range(0, self.n_boot, batch), "resamples"):
            times = self._draw(rng, min(batch, self.n_boot - start))
            values.append(plan(times[:, :, None] * mass))
        return plan(mass[None])[0], np.concatenate(values)

    def _draw(self, rng: np.random.Generator, size: int) -> FloatArray:
        n = self.rows.size
        if self.clusters is None:
            return draw_row_counts(rng, size, n, None)
        # one number a cluster and resample, whichever rows are asked for
        whole = int(self.clusters.max()) + 1
        counts = rng.multinomial(whole, np.full(whole, 1.0 / whole), size=size)
        return counts[:, self.clusters[self.rows]].astype(np.float64)


def _measure_shrinkage(alone: FloatArray, powered: FloatArray) -> FloatArray:
    """Ratio (M,) of the spread of resampled estimates to that of labels alone, at most one."""
    ratio = np.ones(alone.shape[1])
    for j, (t, theta) in enumerate(zip(alone.T, powered.T, strict=True)):
        t = t[np.isfinite(t)]
        if t.size > 1 and theta.size > 1 and t.std() > 0.0:
            ratio[j] = min(1.0, theta.std() / t.std())
    return ratio


def _tune(true: FloatArray, predicted: FloatArray, unlabeled: FloatArray) -> FloatArray:
    """Power-tuned lambda (M,) from resampled metrics (B, M), undefined resamples left out."""
    lam = np.zeros(true.shape[1])
    for j, (t, f, u) in enumerate(zip(true.T, predicted.T, unlabeled.T, strict=True)):
        both, u = np.isfinite(t) & np.isfinite(f), u[np.isfinite(u)]
        if both.sum() < 2 or u.size < 2:
            continue
        covariance = np.cov(t[both], f[both])
        spread = covariance[1, 1] + u.var(ddof=1)
        lam[j] = np.clip(covariance[0, 1] / spread, 0.0, 1.0) if spread > 0 else 0.0
    return lam


# -------------------------------------------------------------------------------------------------
# AutoEval: PPI++ on accuracy, one classifier at a time.
#
# The truth is whether classifier j is right on a labeled row; its prediction on every row is what
# an annotator thinks of that: the classifier's own top probability (``annotator="confidence"``,
# what the source does for image classifiers), or the mean score of all classifiers at j's
# predicted class (``"pool"``).
#
# Source: Boyeau et al., "AutoEval done right: using synthetic data for model evaluation", ICML
# 2025.


@dataclass(frozen=True)
class AutoEval(base.DeclaredMethod, example="n_draws=100"):
    """Accuracy of each classifier by power-tuned prediction-powered inference."""

    annotator: Annotator = declare_annotator("confidence")
    n_draws: int = declare_joint_draws(1000)

    spec: ClassVar[base.MethodSpec] = base.MethodSpec(
        name="autoeval",
        title="AutoEval: PPI++ on accuracy",
        source="Boyeau et al. 2025",
        does="It estimates accuracy from each classifier's own confidence and corrects this "
        "estimate with the labeled rows (PPI++).",
        assumes="It assumes that the labeled rows were chosen at random and that there are many of "
        "them: its intervals hold for large samples.",
        fails="With few labels, its estimates vary much.",
        metrics=("accuracy",),
        any_threshold=True,
        gives_posterior=False,
        designs=("random", "weights"),
    )

    def fit(self, data: ScoreSet, rng: np.random.Generator) -> beliefs.DirectBelief:
        seed = spawn_seed(rng)
        known = cache(lambda kind: PredictedAccuracy.of(data, self.annotator, kind))

        def answer(metric: Metric, rows: IntArray) -> base.Estimate:
            value, influence = known(metric.kind).estimate_means(rows)
            return beliefs.make_normal_estimate(value, influence, metric, self.n_draws, seed, data)

        return beliefs.DirectBelief(data.n_rows, answer)


# -------------------------------------------------------------------------------------------------
# Stratified PPI: prediction-powered accuracy within strata of the prediction, then averaged.
#
#     theta = sum_h W_h theta_h,   W_h the share of rows in stratum h, theta_h its PPI++ estimate
#
# Strata are quantile bins of the predicted correctness of each classifier, so each gets its own
# power-tuning parameter: where the annotator is useless it is ignored, where it is good it is used.
# Neighbors are merged until every stratum holds ``min_labels`` labeled rows. The interval is that
# of a design with fixed shares W_h.
#
# Source: Fisch et al., "Stratified prediction-powered inference for hybrid language model
# evaluation", NeurIPS 2024.


@dataclass(frozen=True)
class StratifiedPpi(base.DeclaredMethod, example="n_strata=2"):
    """PPI++ on accuracy with strata of equal size in the annotator's prediction."""

    n_strata: int = option(
        5, "Number of strata, of equally many rows each, before merging.", Whole(1, 10_000)
    )
    min_labels: int = option(
        5, "Labeled rows below which a stratum is merged with its neighbor.", Whole(1, 10**9)
    )
    annotator: Annotator = declare_annotator("pool")
    ridge: bool = option(
        True, "Whether ridge regression stabilizes the tuned parameter lambda.", Flag()
    )
    ridge_grid: tuple[float, ...] = declare_ridge_grid()
    n_draws: int = declare_joint_draws(1000)

    spec: ClassVar[base.MethodSpec] = base.MethodSpec(
        name="stratified_ppi",
        title="Stratified PPI++ on accuracy",
        source="Fisch et al. 2024",
        does="It applies prediction-powered inference within strata of the classifier's "
        "confidence.",
        assumes="It assumes that the labeled rows were chosen at random and that every stratum has "
        "some.",
        fails="It is unreliable with few labels per stratum.",
        metrics=("accuracy",),
        any_threshold=True,
        gives_posterior=False,
    )

    def fit(self, data: ScoreSet, rng: np.random.Generator) -> beliefs.DirectBelief:
        grid, seed = self.ridge_grid if self.ridge else None, spawn_seed(rng)
        known = cache(lambda kind: PredictedAccuracy.of(data, self.annotator, kind, grid))

        def answer(metric: Metric, rows: IntArray) -> base.Estimate:
            given = known(metric.kind)
            stratify = partial(self._estimate_model, given)
            value, influence = given.estimate_means(rows, stratify)
            return beliefs.make_normal_estimate(value, influence, metric, self.n_draws, seed, data)

        return beliefs.DirectBelief(data.n_rows, answer)

    def _estimate_model(
        self, known: PredictedAccuracy, model: int, labeled: IntArray, unlabeled: IntArray
    ) -> tuple[float, FloatArray]:
        """Accuracy of one classifier, and what each row adds to its error."""
        both = np.concatenate([labeled, unlabeled])
        value, influence = 0.0, np.zeros(len(known.truth))
        if labeled.size == 0:
            return np.nan, influence + np.nan
        predicted, weights = known.predicted[both, model], known.weights[both]
        has_label = np.arange(both.size) < labeled.size
        stratum = assign_strata(predicted, has_label, self.n_strata, self.min_labels)
        for h in range(int(stratum.max()) + 1):
            inside = stratum == h
            rows = both[inside & has_label], both[inside & ~has_label]
            mean, shares = known.estimate_mean(model, *rows)
            share = float(weights[inside].sum() / weights.sum())
            value += share * mean
            influence += share * shares
        return value, influence


def assign_strata(
    predicted: FloatArray, labeled: BoolArray, n_strata: int, min_labels: int
) -> IntArray:
    """Stratum 0..H-1 of every row: quantile bins of ``predicted``, merged upward until each
    contains at least ``min_labels`` labeled rows (all rows in one stratum if there are fewer)."""
    # edges are predictions of rows, whose last digit depends on the order of the classifiers
    predicted = predicted.round(9)
    edges = np.unique(np.quantile(predicted, np.arange(1, n_strata) / n_strata))
    bins = np.searchsorted(edges, predicted, side="left")
    counts = np.bincount(bins[labeled], minlength=edges.size + 1)
    merged = np.zeros(counts.size, dtype=np.int64)
    stratum = held = 0
    for b, count in enumerate(counts):
        merged[b] = stratum
        held += count
        if held >= min_labels and counts[b + 1 :].sum() >= min_labels:
            stratum, held = stratum + 1, 0
    return merged[bins]
