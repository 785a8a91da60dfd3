"""What fitted methods believe: P(y | s) per row, a metric's value, or the labels alone.

Step 2 of the SSME paper: draw S label vectors from P(y | s) for the unlabeled rows, keep the true
labels of the labeled ones, compute the metric for each draw, average. Intervals, differences and
ranks come from a second set of draws in which the rows are resampled too (`row_weights`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import ClassVar

import numpy as np
from scipy.special import ndtri

from ssme.arrays import BoolArray, FloatArray, IntArray
from ssme.data.scoreset import ScoreSet
from ssme.data.values import find_weight_unit
from ssme.methods import base, label_draws
from ssme.methods import clusters as clustering
from ssme.methods import draws as drawing
from ssme.metrics import kinds
from ssme.metrics.base import Metric, MetricPlan, one_hot_mass
from ssme.metrics.confusion import confusion_matrices, predicted_classes
from ssme.metrics.ranking import plan_together
from ssme.progress import track

BATCH_CELLS = 1 << 21
"""Cells (draws x rows x classes) of mass in memory at once by default: 16 MB of float64. Each batch
takes its random numbers in turn, so that their number decides which world gets which."""


def clamp(posterior: FloatArray, labels: IntArray) -> FloatArray:
    """``posterior`` (n, K) with labeled rows set to their label, one-hot."""
    out = np.array(posterior, dtype=np.float64)
    labeled = labels >= 0
    out[labeled] = 0.0
    out[np.flatnonzero(labeled), labels[labeled]] = 1.0
    return out


def draw_labels(posterior: FloatArray, n_draws: int, rng: np.random.Generator) -> IntArray:
    """``n_draws`` label vectors (D, n) from independent rows of ``posterior`` (n, K)."""
    uniform = rng.random((n_draws, posterior.shape[0]))
    if posterior.shape[1] == 2:
        return (uniform < posterior[:, 1]).astype(np.int64)
    return find_labels_at(uniform, posterior)


def find_labels_at(uniform: FloatArray, posterior: FloatArray) -> IntArray:
    """Labels (D, n) at quantiles ``uniform`` (D, n) of ``posterior`` (n, K) or (D, n, K)."""
    below = np.cumsum(posterior, axis=-1)
    labels = np.zeros(uniform.shape, dtype=np.int64)
    for k in range(below.shape[-1] - 1):
        labels += uniform >= below[..., k]
    return labels


Labelings = Iterator[tuple[IntArray, drawing.RowWeights | None]]
"""Labels (G, d, n) for all classifiers (G = 1) or one for each, in batches of bounded memory: draws
for the estimate, or worlds where they come with weights of the rows."""


def split_draws(n_draws: int, batch_cells: int, cells_of_one: int) -> Iterator[int]:
    """Sizes of batches of ``n_draws`` in all, one draw at the least in each."""
    batch = max(1, batch_cells // max(1, cells_of_one))
    for start in range(0, n_draws, batch):
        yield min(batch, n_draws - start)


class DrawnLabels(ABC):
    """A belief whose estimates are means over label draws, kept with draws of worlds."""

    data: ScoreSet

    @abstractmethod
    def draw_batches(self, metrics: Sequence[Metric]) -> Labelings:
        """All draws, then or between them all worlds; every call the same."""

    @abstractmethod
    def plan(self, metrics: Sequence[Metric], scores: FloatArray) -> list[list[MetricPlan]]:
        """The plans of every metric, one for each of the G labelings."""

    def estimate(self, metrics: Sequence[Metric], rows: Sequence[base.GroupRows]) -> base.Estimates:
        """Means over the label draws; the draws kept are worlds (`ssme.methods.draws`)."""
        data = self.data
        parts = [slice(None) if p is None else base.number_rows(p, data.n_rows) for p in rows]
        plans = [self.plan(metrics, data.scores[part]) for part in parts]
        points: list[list[list[FloatArray]]] = [[[] for _ in metrics] for _ in parts]
        worlds: list[list[list[FloatArray]]] = [[[] for _ in metrics] for _ in parts]
        everything: drawing.RowWeights = [(None, range(len(metrics)))]
        for labels, weights in self.draw_batches(metrics):
            values = points if weights is None else worlds
            for g, part in enumerate(parts):
                own = None if data.weights is None else data.weights[part]
                for factor, numbers in weights or everything:
                    masses = [one_hot_mass(each[:, part], data.n_classes, own) for each in labels]
                    if factor is not None:
                        for mass in masses:
                            mass *= factor[:, part, None]
                    for m in numbers:
                        pairs = zip(plans[g][m], masses, strict=True)
                        values[g][m].append(np.hstack([plan(mass) for plan, mass in pairs]))
        return [
            [_center(*values) for values in zip(points[g], worlds[g], metrics, strict=True)]
            for g in range(len(parts))
        ]


def _center(points: list[FloatArray], worlds: list[FloatArray], metric: Metric) -> base.Estimate:
    """The mean of ``points`` (D, M) with the ``worlds`` moved onto it."""
    value, draws = drawing.average_defined(np.concatenate(points)), np.concatenate(worlds)
    shift = value - drawing.average_defined(draws)
    return base.Estimate(value, np.clip(draws + shift, metric.low, metric.high))


@dataclass(frozen=True, eq=False)
class LabelPosterior(DrawnLabels):
    """P(y | s) with labeled rows clamped; a metric's estimate is its mean over label draws.

    ``refits`` are posteriors of the same rows from refits to reweighted rows; where a method gives
    them, the draws vary by fitted parameters, unknown labels and the sampling of rows.
    ``predictor`` gives P(y | s) of other rows, where the method has one. ``clamps_labels`` is
    false for a method that treats labeled rows as all others.
    """

    data: ScoreSet
    posterior: FloatArray
    n_draws: int
    n_worlds: int
    seed: np.random.SeedSequence
    facts: base.Facts = field(default_factory=base.Facts)
    refits: tuple[FloatArray, ...] = ()
    predictor: base.Predictor | None = None
    clamps_labels: bool = True
    batch_cells: int = BATCH_CELLS

    @property
    def narrows_with_rows(self) -> bool:
        """Refits carry the uncertainty of the fit, which more rows to apply it to do not lessen."""
        return not self.refits

    def plan(self, metrics: Sequence[Metric], scores: FloatArray) -> list[list[MetricPlan]]:
        return [[plan] for plan in plan_together(metrics, scores)]

    def draw_batches(self, metrics: Sequence[Metric]) -> Labelings:
        """Refits take turns, so that each lends its posterior to equally many worlds."""
        for labels in self.draw_label_batches():
            yield labels[None], None
        rng = np.random.default_rng(drawing.make_child_seed(self.seed, 0))
        sources = self.refits or (self.posterior,)
        share = -(-self.n_worlds // len(sources))
        for posterior in track(sources, "worlds"):
            for size in self._split_sizes(share):
                clusters = self.data.clusters
                weights = drawing.draw_row_weights(metrics, size, len(posterior), rng, clusters)
                yield draw_labels(posterior, size, rng)[None], weights

    def draw_label_batches(self) -> Iterator[IntArray]:
        """All draws (d, n) in batches of bounded memory; the same draws on every call."""
        rng = np.random.default_rng(self.seed)
        for size in track(list(self._split_sizes(self.n_draws)), "label draws"):
            yield draw_labels(self.posterior, size, rng)

    def _split_sizes(self, n_draws: int) -> Iterator[int]:
        return split_draws(n_draws, self.batch_cells, self.posterior.size)


# -------------------------------------------------------------------------------------------------
# What beliefs share that estimate from a soft labeling W of all rows and correct it by the labels.
#
# W is P(y | s) of every row, labeled ones too. `SoftBelief` says what follows from that about
# single rows; `draw_masses` draws labels from W in batches of bounded memory, and `take_part`
# says which rows stand for all where they are very many.


class SoftBelief(ABC):
    """A belief with W of its rows as ``soft`` (n, K), and ``seed`` for its draws.

    An estimate is that of the soft labeling of all rows, corrected by the labels, so that these are
    not clamped. Most of the spread is that of the coefficients and does not narrow with rows.
    """

    data: ScoreSet
    soft: FloatArray
    seed: np.random.SeedSequence
    clamps_labels: ClassVar[bool] = False
    narrows_with_rows: ClassVar[bool] = False

    @property
    def posterior(self) -> FloatArray:
        """W with labeled rows one-hot."""
        return clamp(self.soft, self.data.labels)

    @property
    @abstractmethod
    def n_draws(self) -> int:
        """Number of joint draws."""

    @abstractmethod
    def estimate_soft(
        self, metrics: Sequence[Metric], rows: Sequence[base.GroupRows]
    ) -> base.Estimates:
        """Estimates [group][metric] from W, where some rows have no label."""

    def estimate(self, metrics: Sequence[Metric], rows: Sequence[base.GroupRows]) -> base.Estimates:
        """Point estimates [group][metric] on all rows of each group, with joint draws.

        Where every row has a label nothing is left to W: they are the estimates of labels alone,
        however rows were chosen.
        """
        if self.data.n_unlabeled:
            return self.estimate_soft(metrics, rows)
        data = self.data.with_design("random")
        return LabeledBelief(data, self.n_draws, True, self.seed).estimate(metrics, rows)


def draw_masses(
    soft: FloatArray, n_draws: int, batch_cells: int, seed: np.random.SeedSequence
) -> Iterator[FloatArray]:
    """One-hot mass (d, ..., K) of ``n_draws`` labels from ``soft`` (..., K), in bounded batches."""
    rng, flat = np.random.default_rng(seed), soft.reshape(-1, soft.shape[-1])
    for size in split_draws(n_draws, batch_cells, soft.size):
        labels = draw_labels(flat, size, rng)
        yield one_hot_mass(labels, soft.shape[-1]).reshape(size, *soft.shape)


def take_part(rows: IntArray, most: int, n_rows: int, seed: np.random.SeedSequence) -> IntArray:
    """At most ``most`` of ``rows`` (numbers among ``n_rows``), the same ones for the same seed."""
    if rows.size <= most:
        return rows
    order = np.random.default_rng(seed).random(n_rows)
    return np.sort(rows[np.argpartition(order[rows], most)[:most]])


# -------------------------------------------------------------------------------------------------
# Belief of a method that has one posterior per classifier.
#
# Each classifier is evaluated against labels drawn from its own P(y | s_j). One uniform number per
# row and draw is shared by all classifiers, so the draws stay as joint as the posteriors allow.


@dataclass(frozen=True, eq=False)
class PerModelPosterior(DrawnLabels):
    """P(y | s_j) per classifier, ``posteriors`` (M, n, K), labeled rows clamped in each.

    A row without a score from classifier j is NaN in ``posteriors[j]`` and does not count for it.
    """

    predictor: ClassVar[None] = None
    clamps_labels: ClassVar[bool] = True
    narrows_with_rows: ClassVar[bool] = True

    data: ScoreSet
    posteriors: FloatArray
    n_draws: int
    n_worlds: int
    seed: np.random.SeedSequence
    facts: base.Facts = field(default_factory=base.Facts)
    batch_cells: int = BATCH_CELLS

    @property
    def posterior(self) -> FloatArray:
        """Mean of the classifiers' posteriors (n, K)."""
        present = np.isfinite(self.posteriors)
        total = np.where(present, self.posteriors, 0.0).sum(axis=0)
        return total / present.sum(axis=0)

    def plan(self, metrics: Sequence[Metric], scores: FloatArray) -> list[list[MetricPlan]]:
        models = range(self.data.n_models)
        return [[metric.alone(j).plan(scores[:, [j]]) for j in models] for metric in metrics]

    def draw_batches(self, metrics: Sequence[Metric]) -> Labelings:
        """The draws of each classifier's own labels; worlds reuse the first of them."""
        rng, n_worlds = np.random.default_rng(drawing.make_child_seed(self.seed, 0)), 0
        for labels in self.draw_label_batches():
            yield labels, None
            again = labels[:, : max(0, self.n_worlds - n_worlds)]
            n_worlds += again.shape[1]
            if again.size:
                size, clusters = again.shape[1], self.data.clusters
                yield again, drawing.draw_row_weights(metrics, size, labels.shape[2], rng, clusters)

    def draw_label_batches(self) -> Iterator[IntArray]:
        """All draws (M, d, n) in batches of bounded memory; the same draws on every call."""
        rng = np.random.default_rng(self.seed)
        _, n, k = self.posteriors.shape
        batch = max(1, self.batch_cells // max(1, n * k * self.data.n_models))
        for start in track(range(0, self.n_draws, batch), "label draws"):
            stop = min(start + batch, self.n_draws)
            uniform = rng.random((stop - start, n))
            yield np.stack(
                [
                    find_labels_at(uniform, self.draw_posterior(j, start, stop))
                    for j in range(self.data.n_models)
                ]
            )

    def draw_posterior(self, model: int, start: int, stop: int) -> FloatArray:
        """P(y | s_j) behind draws start..stop: (n, K), or (stop - start, n, K) if it varies."""
        return self.posteriors[model]


# -------------------------------------------------------------------------------------------------
# Belief of a method that estimates a metric directly, without a posterior over labels.


@dataclass(frozen=True, eq=False)
class DirectBelief(base.SilentOnRows):
    """Answers through ``answer(metric, rows)``; ``rows`` are the row numbers of one group."""

    n_rows: int
    answer: Callable[[Metric, IntArray], base.Estimate]
    facts: base.Facts = field(default_factory=base.Facts)

    def estimate(self, metrics: Sequence[Metric], rows: Sequence[base.GroupRows]) -> base.Estimates:
        parts = [base.number_rows(part, self.n_rows) for part in rows]
        asked = [(part, metric) for part in parts for metric in metrics]
        answers = iter([self.answer(metric, part) for part, metric in track(asked, "metrics")])
        return [[next(answers) for _ in metrics] for _ in parts]


def make_normal_estimate(
    value: FloatArray,
    influence: FloatArray,
    metric: Metric,
    n_draws: int,
    seed: np.random.SeedSequence,
    data: ScoreSet | None = None,
) -> base.Estimate:
    """``value`` (M,) with normal intervals and joint normal draws, kept in the metric's range.

    ``influence`` (M, n) is what each row adds to the error of each value, so that its products are
    their covariance: classifiers judged on the same rows err together. So do the rows of a cluster
    of ``data``, of which as many count for degrees of freedom as have a label.
    """
    stretch: Callable[[float], FloatArray] = lambda level: np.ones(())  # noqa: E731
    if data is not None and data.clusters is not None:
        n_clusters = np.unique(data.clusters[data.labeled]).size
        influence = clustering.sum_by_cluster(influence.T, data.clusters).T
        influence = influence * np.sqrt(clustering.correct_few(n_clusters))
        stretch = partial(clustering.find_t_factor, n_clusters=n_clusters)
    covariance = influence @ influence.T
    error = np.sqrt(np.diag(covariance))

    def clip(values: FloatArray) -> FloatArray:
        return np.clip(values, metric.low, metric.high)

    def find_bounds(level: float) -> tuple[FloatArray, FloatArray]:
        reach = ndtri(0.5 + level / 2.0) * error * stretch(level)
        return clip(value - reach), clip(value + reach)

    draws = None
    if np.isfinite(covariance).all():
        normal = np.random.default_rng(seed).standard_normal((n_draws, value.size))
        draws = clip(value + normal @ compute_root(covariance))
    return base.Estimate(value=clip(value), draws=draws, bounds=find_bounds)


def compute_root(covariance: FloatArray) -> FloatArray:
    """The symmetric square root (M, M) of a covariance.

    It is unique: signs of eigenvectors, and axes of equal or zero variance, depend on the
    processor, and so would draws.
    """
    size, axes = np.linalg.eigh(covariance)
    known = np.where(size > 1e-13 * size[-1], size, 0.0)
    return (axes * np.sqrt(known)) @ axes.T


def average_columns(values: FloatArray, rows: IntArray, weights: FloatArray | None) -> FloatArray:
    """Weighted mean (M,) of ``values`` (n, M) over ``rows``; NaN entries do not count."""
    part = values[rows]
    present = np.isfinite(part)
    mass = present if weights is None else present * weights[rows, None]
    total = mass.sum(axis=0)
    return np.where(
        total > 0,
        np.where(present, part * mass, 0.0).sum(axis=0) / np.where(total > 0, total, 1.0),
        np.nan,
    )


# -------------------------------------------------------------------------------------------------
# Belief of a method that knows the labels there are and nothing else.
#
# The interval of a metric is the one that its kind declares (`Kind.choose_labels_interval`):
#
# - a closed form where one is known to hold (`label_intervals`): shares of rows (accuracy, recall,
#   specificity, precision), ROC AUC and average precision of two classes, calibration error;
# - for any other metric of decisions (F1, Matthews, balanced accuracy, costs): quantiles under
#   ``confusion table ~ Dirichlet(counts + prior)``;
# - for the rest (log loss, Brier score, callables, ranking of more than two classes): quantiles
#   of a Bayesian bootstrap, stretched as Student's t is (`label_resampling`);
# - none (NaN) for calibration errors whose value at few labels is mostly chance.
#
# The joint draws, for differences and ranks, come from the Bayesian bootstrap, the same rows for
# every classifier, metric and group, with pseudo-rows on which classifiers are right and wrong by
# themselves (`contrary_rows`): few labels cannot show that one of two is better in every draw.
# Single intervals do without these rows. Coverage: benchmarks/evidence/intervals.md.


Bounds = Callable[[float], label_draws.Interval]
"""Level -> lower and upper ends (M,)."""


@dataclass(frozen=True, eq=False)
class LabeledRows:
    """The labeled rows of one group, seen by every interval."""

    scores: FloatArray
    labels: IntArray
    weights: FloatArray
    settings: label_draws.ResamplingSettings
    clusters: IntArray | None = None

    @property
    def n_classes(self) -> int:
        return int(self.scores.shape[2])

    @cached_property
    def scored(self) -> BoolArray:
        """Which rows (n, M) each classifier scored."""
        return np.asarray(np.isfinite(self.scores).all(axis=2))

    @cached_property
    def mass(self) -> FloatArray:
        """The one labeling there is (1, n, K)."""
        return one_hot_mass(self.labels, self.n_classes, self.weights)

    def count_effective(self, rows: BoolArray | bool = True) -> FloatArray:
        """Kish's number (M,) of the rows each classifier scored, or of those in ``rows`` (n, M)."""
        return label_draws.kish((self.scored & rows) * self.weights[:, None])

    def find_bounds(
        self, metric: Metric, value: FloatArray, seed: np.random.SeedSequence
    ) -> Bounds | None:
        """The interval that the kind of ``metric`` declares; None where it needs draws."""
        positive, negative = (self.labels[:, None] == k for k in (1, 0))
        match metric.kind.choose_labels_interval(self.n_classes):
            case kinds.ProportionInterval(rows, threshold):
                held = self._hold(rows, threshold)
                count = self.count_effective(held)
                if self.clusters is not None:
                    right = predicted_classes(self.scores, threshold) == self.labels[:, None]
                    weights = held * self.weights[:, None]
                    effect = clustering.find_design_effect(
                        right.astype(np.float64), weights, self.clusters
                    )
                    count = count / effect
                return self._allow_for_clusters(partial(label_draws.wilson, value), count)
            case kinds.PlainInterval.ROW_SHARES:
                complete = (self.scored.all(axis=1) * self.weights)[:, None]
                count = label_draws.kish(complete)
                if self.clusters is not None:
                    count = clustering.count_clusters(complete, self.clusters)
                count = np.repeat(count, value.size)
                return self._allow_for_clusters(partial(label_draws.wilson, value), count)
            case kinds.PlainInterval.ROC_AUC:
                by_class = self.count_effective(positive), self.count_effective(negative)
                effect = self._draw_effect(metric, seed)
                counts = [count / effect for count in by_class]
                return self._allow_for_clusters(partial(label_draws.newcombe_auc, value), *counts)
            case kinds.PlainInterval.AVERAGE_PRECISION:
                count = self.count_effective(positive) / self._draw_effect(metric, seed)
                return self._allow_for_clusters(partial(label_draws.find_ap_interval, value), count)
            case kinds.CalibrationInterval(target):
                gap, variance, ratio = self._measure_gap(target)
                noise = self._measure_noise(metric, np.random.default_rng(seed))
                with np.errstate(invalid="ignore"):
                    small, large = noise * np.minimum(ratio, 1.0), noise * np.maximum(ratio, 1.0)
                large = np.where(np.isfinite(ratio), large, np.inf)
                return partial(label_draws.find_ece_interval, value, gap, variance, (small, large))
            case kinds.ConfusionInterval(statistic, threshold):
                # tables (M, K, K) whose cells add up to the effective number of rows
                tables = confusion_matrices(self.scores, self.mass, threshold=threshold)[0]
                total = tables.sum(axis=(1, 2))
                scale = self.count_effective() / np.where(total > 0.0, total, 1.0)
                tables *= scale[:, None, None]
                if self.clusters is not None:
                    n_clusters = np.unique(self.clusters).size
                    effect = (
                        self._draw_effect(metric, seed)
                        * clustering.find_t_factor(0.95, n_clusters) ** 2
                    )
                    tables = tables / effect[:, None, None]
                return label_draws.TableDraws(statistic, tables, value, seed, self.settings)
            case kinds.PlainInterval.NONE:
                return base.Estimate(value).interval
            case kinds.PlainInterval.BOOTSTRAP:
                return None

    def _hold(self, rows: kinds.Rows, threshold: float) -> BoolArray:
        """Which scored rows (n, M) are among ``rows``."""
        held = self.scored.copy()
        if rows.true is not None:
            held &= (self.labels == rows.true)[:, None]
        if rows.predicted is not None:
            held &= predicted_classes(self.scores, threshold) == rows.predicted
        return held

    def _draw_effect(self, metric: Metric, seed: np.random.SeedSequence) -> FloatArray:
        """The design effect (V,) of a metric without a formula for it, at least one.

        The variance of the metric over bootstrap weights of clusters, over that with weights of
        rows; where neither varies, the rows of a cluster count as one.
        """
        if self.clusters is None:
            return np.ones(())
        rng, plan, n = np.random.default_rng(seed), metric.plan(self.scores), len(self.labels)
        spread = []
        for clusters in (clustering.number_clusters(self.clusters), None):
            weights = clustering.draw_row_exponentials(rng, self.settings.effect_draws, n, clusters)
            values = plan(self.mass * weights[:, :, None])
            known = np.isfinite(values)
            mean = np.where(known, values, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
            off = np.where(known, values - mean, 0.0)
            spread.append((off**2).sum(axis=0) / np.maximum(known.sum(axis=0), 1))
        held = self.weights[:, None]
        most = float((label_draws.kish(held) / clustering.count_clusters(held, self.clusters))[0])
        ratio = np.full(spread[0].shape, most)
        np.divide(spread[0], spread[1], out=ratio, where=spread[1] > 1e-12)
        return np.maximum(ratio, 1.0)

    def _allow_for_clusters(
        self, find: Callable[..., label_draws.Interval], *counts: FloatArray
    ) -> Bounds:
        """The interval from ``counts``, wider where their design effect is estimated."""
        if self.clusters is None:
            return partial(find, *counts)
        n_clusters = np.unique(self.clusters).size

        def find_bounds(level: float) -> label_draws.Interval:
            factor = clustering.find_t_factor(level, n_clusters) ** 2
            return find(*(count / factor for count in counts), level)

        return find_bounds

    def _measure_gap(self, target: kinds.Target) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Mean (M,) of outcome minus score, the variance of that mean, and the spread of the gaps
        over the one that the scores announce (inf where they announce none)."""
        if target == "positive":
            score = self.scores[:, :, 1]
            outcome = (self.labels == 1)[:, None]
        else:
            score = self.scores.max(axis=2)
            outcome = predicted_classes(self.scores) == self.labels[:, None]
        held = np.isfinite(score) * self.weights[:, None]
        score = np.where(held > 0.0, score, 0.0)
        gaps = outcome - score
        total = np.where(held.sum(axis=0) > 0.0, held.sum(axis=0), np.nan)
        mean = (held * gaps).sum(axis=0) / total
        n = label_draws.kish(held)
        effect = np.ones(mean.shape)
        if self.clusters is not None:
            effect = clustering.find_design_effect(gaps, held, self.clusters)
            n = n / effect
        squares = n * (held * (gaps - mean) ** 2).sum(axis=0) / total
        announced = n * (held * score * (1.0 - score)).sum(axis=0) / total
        ratio = np.full(mean.shape, np.inf)
        with np.errstate(over="ignore"):  # next to nothing announced is nothing announced
            np.divide(squares, announced, out=ratio, where=announced > 0.0)
        variance = np.full(mean.shape, np.nan)
        pseudo = self.settings.gap_pseudo_squares
        np.divide(squares + pseudo, n * (n + 1.0), out=variance, where=n > 0.0)
        return mean, variance, np.sqrt(ratio * effect)  # chance errors of alike rows add up

    def _measure_noise(self, metric: Metric, rng: np.random.Generator) -> FloatArray:
        """Mean error (M,) of labels drawn from each classifier's own scores."""
        noise = np.full(self.scores.shape[1], np.nan)
        for m in range(noise.size):
            held = self.scored[:, m]
            if held.any():
                own = self.scores[held, m]
                labels = draw_labels(own, self.settings.noise_draws, rng)
                mass = one_hot_mass(labels, self.n_classes, self.weights[held])
                noise[m] = metric(own[:, None, :], mass).mean()
        return noise


@dataclass(frozen=True, eq=False)
class LabeledBelief(base.SilentOnRows):
    """Estimates from the labeled rows alone; see `ssme.methods.labeled`."""

    data: ScoreSet
    n_draws: int
    joint_draws: bool
    seed: np.random.SeedSequence
    facts: base.Facts = field(default_factory=base.Facts)
    settings: label_draws.ResamplingSettings = field(default_factory=label_draws.ResamplingSettings)
    batch_cells: int = BATCH_CELLS

    def repeats(self, other: object) -> bool:
        """Whether estimates of ``other`` are those of this belief, by the same random numbers."""
        if not isinstance(other, LabeledBelief):
            return False
        seeds = [(of.seed.entropy, of.seed.spawn_key) for of in (self, other)]
        same = (self.n_draws, self.settings) == (other.n_draws, other.settings)
        return self.data is other.data and same and seeds[0] == seeds[1]

    def estimate(self, metrics: Sequence[Metric], rows: Sequence[base.GroupRows]) -> base.Estimates:
        """The metric on the labeled rows of each group."""
        labeled = self.data.labeled
        place = np.cumsum(labeled) - 1
        out = []
        for g, part in enumerate(rows):
            numbers = base.number_rows(part, self.data.n_rows)
            taken = numbers[labeled[numbers]]
            out.append(self._estimate_group(metrics, taken, place[taken], g))
        return out

    def _estimate_group(
        self, metrics: Sequence[Metric], taken: IntArray, keep: IntArray, group: int
    ) -> list[base.Estimate]:
        """``taken`` are the labeled rows of the group, ``keep`` their places among all labeled."""
        if keep.size == 0:
            return [base.Estimate(value=np.full(self.data.n_models, np.nan)) for _ in metrics]
        weights = self.data.label_weights
        own = np.ones(taken.size) if weights is None else weights[taken]
        clusters = None if self.data.clusters is None else self.data.clusters[taken]
        if clusters is not None and not clustering.has_repeats(clusters):
            clusters = None  # every cluster is a row
        part = LabeledRows(
            scores=self.data.scores[taken],
            labels=self.data.labels[taken],
            weights=own * find_weight_unit(own),  # other rows may have far larger weights
            settings=self.settings,
            clusters=clusters,
        )
        seed = drawing.make_child_seed(self.seed, group + 1)
        plans = plan_together(metrics, part.scores)
        values = [plan(part.mass)[0] for plan in plans]
        bounds = [
            part.find_bounds(m, value, seed) for m, value in zip(metrics, values, strict=True)
        ]
        drawn = [m for m, known in enumerate(bounds) if known is None]
        own_draws = self._draw([(metrics[m], plans[m]) for m in drawn], part, keep, seed)
        draws_of = dict(zip(drawn, own_draws, strict=True))
        for m, draws in draws_of.items():
            count = part.count_effective()
            if part.clusters is not None:
                count = np.minimum(count, np.unique(part.clusters).size)
            rest = (values[m], count, metrics[m], self.settings)
            bounds[m] = partial(label_draws.find_bootstrap_interval, draws, *rest)
        if self.joint_draws:
            rng, rows = np.random.default_rng(drawing.make_child_seed(seed, 0)), part.weights
            contrary = label_draws.make_contrary_rows(
                part.scores, part.labels, rows, self._originals, rng
            )
            joint = plan_together(metrics, np.concatenate([part.scores, contrary.scores]))
            planned = list(zip(metrics, joint, strict=True))
            draws_of = dict(enumerate(self._draw(planned, part, keep, seed, contrary)))
        fades = max(0.0, 1.0 - self.settings.few / self.data.n_models**2)
        exponent = 1.0 - (1.0 - self.settings.best) * fades
        return [
            base.Estimate(value, draws_of.get(m), known, best_exponent=exponent)
            for m, (value, known) in enumerate(zip(values, bounds, strict=True))
        ]

    @cached_property
    def _originals(self) -> IntArray:
        return drawing.find_originals(self.data.scores)

    def _draw(
        self,
        planned: Sequence[tuple[Metric, MetricPlan]],
        part: LabeledRows,
        keep: np.typing.NDArray[np.intp],
        seed: np.random.SeedSequence,
        contrary: label_draws.ContraryRows | None = None,
    ) -> list[FloatArray]:
        """Draws (D, M) per metric; a row weighs the same in every group that contains it."""
        rows, prior = (
            np.random.default_rng(drawing.make_child_seed(self.seed, 0)),
            np.random.default_rng(seed),
        )
        more = np.random.default_rng(drawing.make_child_seed(seed, 1))
        soft = [m for m, (metric, _) in enumerate(planned) if not metric.hard_only]
        values: list[list[FloatArray]] = [[] for _ in planned]
        n_labeled, clusters = self.data.n_labeled, None
        if self.data.clusters is not None and part.clusters is not None:
            clusters = clustering.number_clusters(self.data.clusters[self.data.labeled])
        n_draws, cells = self.n_draws if soft else 0, n_labeled * part.n_classes
        for size in split_draws(n_draws, self.batch_cells, cells):
            exponential = clustering.draw_row_exponentials(rows, size, n_labeled, clusters)
            if keep.size < n_labeled:
                exponential = exponential[:, keep]
            mass = label_draws.make_bootstrap_mass(
                exponential, part.labels, part.n_classes, part.weights, prior, self.settings
            )
            if contrary is not None:
                added = contrary.draw_mass(len(mass), self.settings.contrary_rows, more)
                mass = np.concatenate([mass, added], axis=1)
            for m in soft:
                values[m].append(planned[m][1](mass))
        for m, (metric, _) in enumerate(planned):
            if metric.hard_only:
                n_draws = min(self.n_draws, self.settings.callable_draws)
                again = (part.scores, part.labels, part.weights, n_draws)
                rng = np.random.default_rng(seed)
                more_rows = (contrary, part.clusters)
                values[m].append(
                    label_draws.resample_values(metric, *again, rng, self.settings, *more_rows)
                )
        return [np.concatenate(v) for v in values]
