"""Labels alone: each metric on the labeled rows, with intervals that hold at 20 labels.

The point estimate ignores the unlabeled rows. Its interval is, by metric,

- a closed form where one is known to hold (`labeled_intervals`): accuracy, recall, specificity,
  precision, ROC AUC and average precision of two classes, calibration error;
- for any other metric that sees predicted classes only (F1, Matthews, balanced accuracy, costs):
  quantiles under ``confusion matrix ~ Dirichlet(counts + prior)``;
- for the rest (log loss, Brier score, callables, ranking of more than two classes): quantiles of a
  Bayesian bootstrap, stretched as Student's t is (`labeled_resampling`).

Not every calibration error has a sound interval: root mean square, largest gap and class-wise
error give NaN. The joint draws, for differences and ranks, come from the Bayesian bootstrap, the
same rows for every classifier, metric and group. Measured coverage of each: docs/intervals.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ssme.data.scoreset import ScoreSet
from ssme.methods.base import BoolArray, Estimate, MethodSpec
from ssme.methods.beliefs.posterior import BATCH_CELLS, child_seed, draw_labels, spawn_seed
from ssme.methods.parts.label_intervals import (
    Interval,
    ap_interval,
    ece_interval,
    kish,
    newcombe_auc,
    wilson,
)
from ssme.methods.parts.label_resampling import (
    bootstrap_interval,
    bootstrap_mass,
    confusion_interval,
    resampled_values,
    sees_decisions_only,
)
from ssme.metrics.base import FloatArray, Metric, one_hot_mass
from ssme.metrics.confusion import DEFAULT_THRESHOLD, confusion_matrices, predicted_classes

__all__ = ["Labeled", "LabeledBelief", "LabeledRows"]

NOISE_DRAWS = 200
"""Labelings drawn from a classifier's own scores; their mean error is the noise in ECE."""

CONFUSION_DRAWS = 1000
"""Confusion matrices drawn for an interval; they are small."""

CALLABLE_DRAWS = 200
"""Resamples of a metric that is a Python callable: one call each per classifier."""

GAP_PSEUDO_SQUARES = 0.5
"""Added to the sum of squared deviations of gaps, so that equal gaps do not look certain."""

CALIBRATION = ("ece", "mce", "classwise_ece")
"""How names of calibration errors begin."""

NO_INTERVAL = ("mce", "classwise", "l2", "norm=max")
"""Parts of the names of those whose value at few labels is all noise: they get no interval."""


@dataclass(frozen=True, eq=False)
class LabeledRows:
    """The labeled rows of one group, seen by every interval rule."""

    scores: FloatArray
    labels: NDArray[np.int64]
    weights: FloatArray

    @property
    def n_classes(self) -> int:
        return int(self.scores.shape[2])

    @property
    def mass(self) -> FloatArray:
        """The one labeling there is (1, n, K)."""
        return one_hot_mass(self.labels, self.n_classes, self.weights)

    def effective(self, rows: BoolArray | None = None) -> FloatArray:
        """Kish's number (M,) of the rows each classifier scored, or of those in ``rows`` (n, M)."""
        held = np.isfinite(self.scores).all(axis=2)
        if rows is not None:
            held = held & rows
        return kish(held * self.weights[:, None])

    def with_label(self, k: int) -> FloatArray:
        """Effective number (M,) of rows labeled ``k``."""
        return self.effective((self.labels == k)[:, None])

    def rule(
        self, metric: Metric, value: FloatArray, seed: np.random.SeedSequence
    ) -> Callable[[float], Interval] | None:
        """``bounds(level)`` by the first rule that fits ``metric``; None: it has to be drawn."""
        name, _, at = metric.name.partition("@")
        threshold = float(at) if at else DEFAULT_THRESHOLD
        binary = self.n_classes == 2
        if metric.hard_only:
            return None
        if name.startswith(CALIBRATION):
            if any(part in name for part in NO_INTERVAL):
                return partial(_no_interval, value)
            return self._ece(metric, value, np.random.default_rng(seed))
        if name in {"accuracy", "f1_micro"}:
            return partial(wilson, value, self.effective())
        if binary and name == "recall":
            return partial(wilson, value, self.with_label(1))
        if binary and name == "specificity":
            return partial(wilson, value, self.with_label(0))
        if binary and name == "precision":
            flagged = predicted_classes(self.scores, threshold) == 1
            return partial(wilson, value, self.effective(flagged))
        if binary and name.startswith("roc_auc"):
            return partial(newcombe_auc, value, self.with_label(1), self.with_label(0))
        if binary and name == "average_precision":
            return partial(ap_interval, value, self.with_label(1))
        rng = np.random.default_rng(seed)
        if sees_decisions_only(metric, self.scores, predicted_classes(self.scores, threshold), rng):
            return partial(self._confusion, metric, value, threshold, seed)
        return None

    def _confusion(
        self,
        metric: Metric,
        value: FloatArray,
        threshold: float,
        seed: np.random.SeedSequence,
        level: float,
    ) -> Interval:
        tables = confusion_matrices(self.scores, self.mass, threshold=threshold)[0]
        total = tables.sum(axis=(1, 2))
        tables *= (self.effective() / np.where(total > 0.0, total, 1.0))[:, None, None]
        rng = np.random.default_rng(seed)
        return confusion_interval(metric, tables, value, CONFUSION_DRAWS, level, rng)

    def _ece(
        self, metric: Metric, value: FloatArray, rng: np.random.Generator
    ) -> partial[Interval]:
        top = self.n_classes > 2 or "top_label" in metric.name
        gap, variance, ratio = self._gap(top)
        noise = self._ece_noise(metric, rng)
        with np.errstate(invalid="ignore"):
            small, large = noise * np.minimum(ratio, 1.0), noise * np.maximum(ratio, 1.0)
        large = np.where(np.isfinite(ratio), large, np.inf)
        return partial(ece_interval, value, gap, variance, (small, large))

    def _gap(self, top: bool) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Mean (M,) of outcome minus score, the variance of that mean, and the spread of the gaps
        over the one that the scores announce (inf where they announce none)."""
        if top:
            score = self.scores.max(axis=2)
            outcome = predicted_classes(self.scores) == self.labels[:, None]
        else:
            score = self.scores[:, :, 1]
            outcome = (self.labels == 1)[:, None]
        held = np.isfinite(score) * self.weights[:, None]
        score = np.where(held > 0.0, score, 0.0)
        gaps = outcome - score
        total = np.where(held.sum(axis=0) > 0.0, held.sum(axis=0), np.nan)
        mean = (held * gaps).sum(axis=0) / total
        n = kish(held)
        squares = n * (held * (gaps - mean) ** 2).sum(axis=0) / total
        announced = n * (held * score * (1.0 - score)).sum(axis=0) / total
        ratio = np.full(mean.shape, np.inf)
        np.divide(squares, announced, out=ratio, where=announced > 0.0)
        return mean, (squares + GAP_PSEUDO_SQUARES) / (n * (n + 1.0)), np.sqrt(ratio)

    def _ece_noise(self, metric: Metric, rng: np.random.Generator) -> FloatArray:
        """Mean error (M,) of labels drawn from each classifier's own scores."""
        noise = np.full(self.scores.shape[1], np.nan)
        for m in range(noise.size):
            held = np.isfinite(self.scores[:, m]).all(axis=1)
            if held.any():
                own = self.scores[held, m]
                labels = draw_labels(own, NOISE_DRAWS, rng)
                mass = one_hot_mass(labels, self.n_classes, self.weights[held])
                noise[m] = metric(own[:, None, :], mass).mean()
        return noise


@dataclass(frozen=True)
class Labeled:
    """Each metric on the labeled rows alone.

    ``joint_draws=False`` leaves out the draws that only differences and ranks need.
    """

    n_draws: int = 1000
    joint_draws: bool = True

    spec: ClassVar[MethodSpec] = MethodSpec(
        name="labeled",
        title="Labeled rows alone",
        source="the metric itself; intervals: Wilson 1927, Newcombe 2006, Boyd et al. 2013",
        gives_posterior=False,
    )

    def fit(self, data: ScoreSet, rng: np.random.Generator) -> LabeledBelief:
        return LabeledBelief(data, self.n_draws, self.joint_draws, spawn_seed(rng))


@dataclass(frozen=True, eq=False)
class LabeledBelief:
    """Knows the labels there are and nothing else."""

    data: ScoreSet
    n_draws: int
    joint_draws: bool
    seed: np.random.SeedSequence
    notes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def posterior(self) -> None:
        """None: the method says nothing about single rows."""
        return None

    def estimate(
        self, metrics: Sequence[Metric], rows: Sequence[BoolArray | None]
    ) -> list[list[Estimate]]:
        """The metric on the labeled rows of each group."""
        return [self._group(metrics, mask, g) for g, mask in enumerate(rows)]

    def _group(
        self, metrics: Sequence[Metric], mask: BoolArray | None, group: int
    ) -> list[Estimate]:
        labeled = np.flatnonzero(self.data.labeled)
        keep = np.arange(labeled.size) if mask is None else np.flatnonzero(mask[labeled])
        if keep.size == 0:
            return [Estimate(value=np.full(self.data.n_models, np.nan)) for _ in metrics]
        taken, weights = labeled[keep], self.data.weights
        part = LabeledRows(
            scores=self.data.scores[taken],
            labels=self.data.labels[taken],
            weights=np.ones(taken.size) if weights is None else weights[taken],
        )
        seed = child_seed(self.seed, group + 1)
        values = [metric(part.scores, part.mass)[0] for metric in metrics]
        rules = [part.rule(m, value, seed) for m, value in zip(metrics, values, strict=True)]
        drawn = [m for m, rule in enumerate(rules) if self.joint_draws or rule is None]
        all_draws = self._draws([metrics[m] for m in drawn], part, keep, seed)
        draws_of = dict(zip(drawn, all_draws, strict=True))
        estimates = []
        for m, (metric, value, rule) in enumerate(zip(metrics, values, rules, strict=True)):
            draws = draws_of.get(m)
            if rule is None:
                effective = part.effective()
                rule = partial(bootstrap_interval, draws_of[m], value, effective, metric)
            estimates.append(Estimate(value, draws, rule))
        return estimates

    def _draws(
        self,
        metrics: Sequence[Metric],
        part: LabeledRows,
        keep: NDArray[np.intp],
        seed: np.random.SeedSequence,
    ) -> list[FloatArray]:
        """Joint draws (D, M) per metric; a row weighs the same in every group that holds it."""
        rows, prior = np.random.default_rng(child_seed(self.seed, 0)), np.random.default_rng(seed)
        soft = [m for m, metric in enumerate(metrics) if not metric.hard_only]
        plans = {m: metrics[m].plan(part.scores) for m in soft}
        values: list[list[FloatArray]] = [[] for _ in metrics]
        batch = max(1, BATCH_CELLS // (self.data.n_labeled * part.n_classes))
        for start in range(0, self.n_draws if soft else 0, batch):
            size = (min(batch, self.n_draws - start), self.data.n_labeled)
            exponential = rows.standard_exponential(size)[:, keep]
            mass = bootstrap_mass(exponential, part.labels, part.n_classes, part.weights, prior)
            for m in soft:
                values[m].append(plans[m](mass))
        for m, metric in enumerate(metrics):
            if metric.hard_only:
                n_draws, rng = min(self.n_draws, CALLABLE_DRAWS), np.random.default_rng(seed)
                again = (part.scores, part.labels, part.weights, n_draws, rng)
                values[m].append(resampled_values(metric, *again))
        return [np.concatenate(v) for v in values]


def _no_interval(value: FloatArray, level: float) -> Interval:
    nothing = np.full_like(value, np.nan)
    return nothing, nothing.copy()
