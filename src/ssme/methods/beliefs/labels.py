"""Belief of a method that knows the labels there are and nothing else.

The interval of a metric is the one that its kind declares (`Kind.choose_labels_interval`):

- a closed form where one is known to hold (`label_intervals`): shares of rows (accuracy, recall,
  specificity, precision), ROC AUC and average precision of two classes, calibration error;
- for any other metric of decisions (F1, Matthews, balanced accuracy, costs): quantiles under
  ``confusion table ~ Dirichlet(counts + prior)``;
- for the rest (log loss, Brier score, callables, ranking of more than two classes): quantiles of a
  Bayesian bootstrap, stretched as Student's t is (`label_resampling`);
- none (NaN) for calibration errors whose value at few labels is mostly chance.

The joint draws, for differences and ranks, come from the Bayesian bootstrap, the same rows for
every classifier, metric and group, with pseudo-rows on which classifiers are right and wrong by
themselves (`contrary_rows`): few labels cannot tell that one of two is better in every draw.
Single intervals do without these rows. Measured coverage of each interval: docs/intervals.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from ssme.data.scoreset import ScoreSet
from ssme.methods.base import Estimate, GroupRows, SilentOnRows, number_rows
from ssme.methods.beliefs.posterior import BATCH_CELLS, draw_labels
from ssme.methods.facts import Facts
from ssme.methods.parts.contrary_rows import ContraryRows, make_contrary_rows
from ssme.methods.parts.copies import find_originals
from ssme.methods.parts.label_intervals import (
    Interval,
    find_ap_interval,
    find_ece_interval,
    kish,
    newcombe_auc,
    wilson,
)
from ssme.methods.parts.label_resampling import (
    ResamplingSettings,
    TableDraws,
    find_bootstrap_interval,
    make_bootstrap_mass,
    resample_values,
)
from ssme.methods.parts.seeds import make_child_seed
from ssme.metrics.base import FloatArray, Metric, MetricPlan, one_hot_mass
from ssme.metrics.confusion import confusion_matrices, predicted_classes
from ssme.metrics.kinds import (
    AveragePrecisionInterval,
    BootstrapInterval,
    CalibrationInterval,
    ConfusionInterval,
    NoInterval,
    ProportionInterval,
    RocAucInterval,
    Rows,
    RowSharesInterval,
    Target,
)
from ssme.metrics.ranking import plan_together

__all__ = ["LabeledBelief", "LabeledRows"]

Bounds = Callable[[float], Interval]
"""Level -> lower and upper ends (M,)."""


@dataclass(frozen=True, eq=False)
class LabeledRows:
    """The labeled rows of one group, seen by every interval."""

    scores: FloatArray
    labels: NDArray[np.int64]
    weights: FloatArray
    settings: ResamplingSettings

    @property
    def n_classes(self) -> int:
        return int(self.scores.shape[2])

    @cached_property
    def mass(self) -> FloatArray:
        """The one labeling there is (1, n, K)."""
        return one_hot_mass(self.labels, self.n_classes, self.weights)

    def count_effective(self, rows: NDArray[np.bool_] | None = None) -> FloatArray:
        """Kish's number (M,) of the rows each classifier scored, or of those in ``rows`` (n, M)."""
        held = np.isfinite(self.scores).all(axis=2)
        if rows is not None:
            held = held & rows
        return kish(held * self.weights[:, None])

    def count_with_label(self, k: int) -> FloatArray:
        """Effective number (M,) of rows labeled ``k``."""
        return self.count_effective((self.labels == k)[:, None])

    def find_bounds(
        self, metric: Metric, value: FloatArray, seed: np.random.SeedSequence
    ) -> Bounds | None:
        """The interval that the kind of ``metric`` declares; None where it needs draws."""
        match metric.kind.choose_labels_interval(self.n_classes):
            case ProportionInterval(rows, threshold):
                return partial(wilson, value, self._count(rows, threshold))
            case RowSharesInterval():
                return partial(wilson, value, self._count_complete(value.size))
            case RocAucInterval():
                return partial(
                    newcombe_auc, value, self.count_with_label(1), self.count_with_label(0)
                )
            case AveragePrecisionInterval():
                return partial(find_ap_interval, value, self.count_with_label(1))
            case CalibrationInterval(target):
                return self._bound_calibration(metric, value, target, seed)
            case ConfusionInterval(statistic, threshold):
                tables = self._make_tables(threshold)
                return TableDraws(statistic, tables, value, seed, self.settings)
            case NoInterval():
                return partial(_give_no_interval, value)
            case BootstrapInterval():
                return None

    def _count(self, rows: Rows, threshold: float) -> FloatArray:
        """Effective number (M,) of ``rows``."""
        if rows == Rows():
            return self.count_effective()
        held = np.ones(self.scores.shape[:2], dtype=bool)
        if rows.true is not None:
            held &= (self.labels == rows.true)[:, None]
        if rows.predicted is not None:
            held &= predicted_classes(self.scores, threshold) == rows.predicted
        return self.count_effective(held)

    def _count_complete(self, n_values: int) -> FloatArray:
        """Effective number (V,) of the rows that every classifier scored, for each value."""
        complete = np.isfinite(self.scores).all(axis=(1, 2))
        return np.repeat(kish((complete * self.weights)[:, None]), n_values)

    def _make_tables(self, threshold: float) -> FloatArray:
        """Confusion tables (M, K, K) whose cells add up to the effective number of rows."""
        tables: FloatArray = confusion_matrices(self.scores, self.mass, threshold=threshold)[0]
        total = tables.sum(axis=(1, 2))
        tables *= (self.count_effective() / np.where(total > 0.0, total, 1.0))[:, None, None]
        return tables

    def _bound_calibration(
        self, metric: Metric, value: FloatArray, target: Target, seed: np.random.SeedSequence
    ) -> Bounds:
        gap, variance, ratio = self._measure_gap(target)
        noise = self._measure_noise(metric, np.random.default_rng(seed))
        with np.errstate(invalid="ignore"):
            small, large = noise * np.minimum(ratio, 1.0), noise * np.maximum(ratio, 1.0)
        large = np.where(np.isfinite(ratio), large, np.inf)
        return partial(find_ece_interval, value, gap, variance, (small, large))

    def _measure_gap(self, target: Target) -> tuple[FloatArray, FloatArray, FloatArray]:
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
        n = kish(held)
        squares = n * (held * (gaps - mean) ** 2).sum(axis=0) / total
        announced = n * (held * score * (1.0 - score)).sum(axis=0) / total
        ratio = np.full(mean.shape, np.inf)
        with np.errstate(over="ignore"):  # next to nothing announced is nothing announced
            np.divide(squares, announced, out=ratio, where=announced > 0.0)
        variance = np.full(mean.shape, np.nan)
        pseudo = self.settings.gap_pseudo_squares
        np.divide(squares + pseudo, n * (n + 1.0), out=variance, where=n > 0.0)
        return mean, variance, np.sqrt(ratio)

    def _measure_noise(self, metric: Metric, rng: np.random.Generator) -> FloatArray:
        """Mean error (M,) of labels drawn from each classifier's own scores."""
        noise = np.full(self.scores.shape[1], np.nan)
        for m in range(noise.size):
            held = np.isfinite(self.scores[:, m]).all(axis=1)
            if held.any():
                own = self.scores[held, m]
                labels = draw_labels(own, self.settings.noise_draws, rng)
                mass = one_hot_mass(labels, self.n_classes, self.weights[held])
                noise[m] = metric(own[:, None, :], mass).mean()
        return noise


@dataclass(frozen=True, eq=False)
class LabeledBelief(SilentOnRows):
    """Estimates from the labeled rows alone; see `ssme.methods.estimators.labeled`."""

    data: ScoreSet
    n_draws: int
    joint_draws: bool
    seed: np.random.SeedSequence
    facts: Facts = field(default_factory=Facts)
    settings: ResamplingSettings = field(default_factory=ResamplingSettings)
    batch_cells: int = BATCH_CELLS

    def repeats(self, other: object) -> bool:
        """Whether estimates of ``other`` are those of this belief, by the same random numbers."""
        if not isinstance(other, LabeledBelief):
            return False
        seeds = [(of.seed.entropy, of.seed.spawn_key) for of in (self, other)]
        same = (self.n_draws, self.settings) == (other.n_draws, other.settings)
        return self.data is other.data and same and seeds[0] == seeds[1]

    def estimate(
        self, metrics: Sequence[Metric], rows: Sequence[GroupRows]
    ) -> list[list[Estimate]]:
        """The metric on the labeled rows of each group."""
        labeled = self.data.labeled
        place = np.cumsum(labeled) - 1
        out = []
        for g, part in enumerate(rows):
            numbers = number_rows(part, self.data.n_rows)
            taken = numbers[labeled[numbers]]
            out.append(self._estimate_group(metrics, taken, place[taken], g))
        return out

    def _estimate_group(
        self,
        metrics: Sequence[Metric],
        taken: NDArray[np.int64],
        keep: NDArray[np.int64],
        group: int,
    ) -> list[Estimate]:
        """``taken`` are the labeled rows of the group, ``keep`` their places among all labeled."""
        if keep.size == 0:
            return [Estimate(value=np.full(self.data.n_models, np.nan)) for _ in metrics]
        weights = self.data.label_weights
        part = LabeledRows(
            scores=self.data.scores[taken],
            labels=self.data.labels[taken],
            weights=np.ones(taken.size) if weights is None else weights[taken],
            settings=self.settings,
        )
        seed = make_child_seed(self.seed, group + 1)
        plans = plan_together(metrics, part.scores)
        values = [plan(part.mass)[0] for plan in plans]
        bounds = [
            part.find_bounds(m, value, seed) for m, value in zip(metrics, values, strict=True)
        ]
        drawn = [m for m, known in enumerate(bounds) if known is None]
        own_draws = self._draw([(metrics[m], plans[m]) for m in drawn], part, keep, seed)
        draws_of = dict(zip(drawn, own_draws, strict=True))
        for m, draws in draws_of.items():
            rest = (values[m], part.count_effective(), metrics[m], self.settings)
            bounds[m] = partial(find_bootstrap_interval, draws, *rest)
        if self.joint_draws:
            contrary = self._oppose(part, seed)
            joint = plan_together(metrics, np.concatenate([part.scores, contrary.scores]))
            planned = list(zip(metrics, joint, strict=True))
            draws_of = dict(enumerate(self._draw(planned, part, keep, seed, contrary)))
        fades = max(0.0, 1.0 - self.settings.few / self.data.n_models**2)
        exponent = 1.0 - (1.0 - self.settings.best) * fades
        return [
            Estimate(value, draws_of.get(m), known, best_exponent=exponent)
            for m, (value, known) in enumerate(zip(values, bounds, strict=True))
        ]

    def _oppose(self, part: LabeledRows, seed: np.random.SeedSequence) -> ContraryRows:
        """The pseudo-rows of joint draws."""
        rng = np.random.default_rng(make_child_seed(seed, 0))
        return make_contrary_rows(part.scores, part.labels, part.weights, self._originals, rng)

    @cached_property
    def _originals(self) -> NDArray[np.int64]:
        return find_originals(self.data.scores)

    def _draw(
        self,
        planned: Sequence[tuple[Metric, MetricPlan]],
        part: LabeledRows,
        keep: NDArray[np.intp],
        seed: np.random.SeedSequence,
        contrary: ContraryRows | None = None,
    ) -> list[FloatArray]:
        """Draws (D, M) per metric; a row weighs the same in every group that holds it."""
        rows, prior = (
            np.random.default_rng(make_child_seed(self.seed, 0)),
            np.random.default_rng(seed),
        )
        more = np.random.default_rng(make_child_seed(seed, 1))
        soft = [m for m, (metric, _) in enumerate(planned) if not metric.hard_only]
        values: list[list[FloatArray]] = [[] for _ in planned]
        n_labeled = self.data.n_labeled
        batch = max(1, self.batch_cells // (n_labeled * part.n_classes))
        for start in range(0, self.n_draws if soft else 0, batch):
            exponential = rows.standard_exponential((min(batch, self.n_draws - start), n_labeled))
            if keep.size < n_labeled:
                exponential = exponential[:, keep]
            mass = make_bootstrap_mass(
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
                values[m].append(resample_values(metric, *again, rng, self.settings, contrary))
        return [np.concatenate(v) for v in values]


def _give_no_interval(value: FloatArray, level: float) -> Interval:
    nothing = np.full_like(value, np.nan)
    return nothing, nothing.copy()
