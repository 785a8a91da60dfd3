"""auto: the classifiers' pooled score, recalibrated on few labels, with draws that cover.

The default of `evaluate`. There is no density model: all it learns is a few dozen coefficients.

1. `pool`: one score pi(k | x) from many, the weights of the classifiers from the labels. Where
   classifiers are independent given the class, their evidence is added instead (`independence`).
2. `temperature`: how sharp the pool should be, predicted without labels.
3. `recalibration`: W(k | x) = softmax(log p + b log(pi / p) + shifts + tilts), the mode on the
   labeled rows; p are the class shares that the scores state.
4. Point estimate, a plug-in without label draws: the metric of the soft labeling W on *all* rows
   (W fitted to labels has less noise than the labels), plus a residual correction that makes it
   consistent, with n labeled rows in the group,

       m(W, all) + w [ m(y, labeled) - E_(y ~ W) m(y, labeled) ]

   with a weight w that grows to one with n, sooner where the labels contradict W (`correction`).
5. `sampler` draws the coefficients, the families the center leaves out included; `worlds` makes
   each draw a state of the world, W_d with rows weighted as if sampled anew, and the estimate of
   step 4 is computed in every world.
6. `recentering`: draws moved to have the point estimate as their median. Their quantiles are the
   interval; differences, ranks and P(better) are read off them.

No label: steps 3 and 5 are the prior, the method is label-free and its notes say so. A metric that
needs hard labels (a callable) is averaged over labels drawn from W. Worlds are computed on a part
of the rows where there are very many; the point estimate always uses all.

Origin of every constant, what was tried and did not help: docs/auto.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ssme.data.scoreset import ScoreSet
from ssme.methods.auto.binary import binary_center
from ssme.methods.auto.correction import LABEL_DRAWS, Correction, label_share
from ssme.methods.auto.independence import Pooling
from ssme.methods.auto.model import Design, Evidence, as_labeled, center
from ssme.methods.auto.pool import (
    CLIP,
    clipped,
    label_weights,
    present_scores,
)
from ssme.methods.auto.prior import COEFFICIENTS, temperature_prior
from ssme.methods.auto.recentering import recentered
from ssme.methods.auto.sampler import draw_coefficients
from ssme.methods.auto.worlds import WORLD_ROWS, child, draw_worlds
from ssme.methods.base import BoolArray, Estimate, MethodSpec
from ssme.methods.beliefs.posterior import BATCH_CELLS, clamp, draw_labels
from ssme.metrics.base import FloatArray, Metric, one_hot_mass

__all__ = ["Auto", "AutoBelief"]

FIT_ROWS = 20_000
"""Most labeled rows in the fit; with more the residual correction decides anyway."""

IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class Auto:
    """Recalibrated pool of the classifiers: the default method.

    Parameters
    ----------
    n_draws : joint draws kept for intervals, differences and ranks.
    temperature : (alpha, beta, gamma) of the label-free prior of the temperature; who has many
        labeled sets of a kind can fit their own (``benchmarks/auto/priors.py``).
    """

    n_draws: int = 200
    temperature: tuple[float, float, float] = COEFFICIENTS

    spec: ClassVar[MethodSpec] = MethodSpec(
        name="auto",
        title="Recalibrated pool of the classifiers",
        source="this project: docs/auto.md",
        needs_labels=False,
    )

    def fit(self, data: ScoreSet, rng: np.random.Generator) -> AutoBelief:
        labeled = np.flatnonzero(data.labeled)
        if labeled.size > FIT_ROWS:
            labeled = np.sort(rng.choice(labeled, FIT_ROWS, replace=False))
        q, present = clipped(data.scores), present_scores(data.scores)
        labels = data.labels[labeled]
        weights = label_weights(q[labeled], present[labeled], labels)
        pooling = Pooling.of(q, present, weights)
        design = Design(pooling(q, present), q, pooling.log_share)
        prior = temperature_prior(q, self.temperature)
        prior = prior.independent(pooling.independent, data.n_models)
        evidence = Evidence.of(design, labeled, labels, prior)
        theta = center(evidence)
        doubted = replace(evidence, prior=prior.doubted)
        draws = draw_coefficients(doubted, theta, self.n_draws, rng)
        n_design = 1 + design.families[-1].columns.stop
        notes = {
            "label_free": labeled.size == 0,
            "temperature": float(np.exp(theta[0])),
            "prior_temperature": float(np.exp(prior.center)),
            "prior_scale": prior.scale,
            "pool_weights": dict(zip(data.models, weights.round(4).tolist(), strict=True)),
            "independence": pooling.independent,
            "correction_weight": label_share(data.n_labeled, data.n_models),
            "rows_behind_draws": min(data.n_rows, WORLD_ROWS),
        }
        return AutoBelief(
            data=data,
            design=design,
            predictor=AutoPredictor(pooling, theta),
            soft=_center_posterior(design, theta),
            theta=draws[:, :n_design],
            shift=evidence.label_shift(theta),
            shifts=evidence.label_shift(draws),
            seed=rng.bit_generator.seed_seq.spawn(1)[0],  # type: ignore[attr-defined]
            notes=notes,
        )


@dataclass(frozen=True, eq=False)
class AutoPredictor:
    """W at the mode as a function of scores, with coefficients ``theta``."""

    pooling: Pooling
    theta: FloatArray

    def __call__(self, scores: FloatArray) -> FloatArray:
        """W (n, K) of ``scores`` (n, M, K)."""
        averaged = self.pooling.independent == 0.0
        if averaged and scores.shape[2] == 2 and not np.isnan(scores[:, :, 1].T).any():
            lines = (np.ascontiguousarray(scores[:, :, k].T, dtype=np.float32) for k in range(2))
            zero, one = (np.maximum(of, np.float32(CLIP), out=of) for of in lines)
            w = np.empty((2, len(scores)))
            q = one / (one + zero)
            w[1] = binary_center(q, self.pooling.weights, self.theta, self.pooling.log_share)
            np.subtract(1.0, w[1], out=w[0])
            return w.T
        q = clipped(scores)
        design = Design(self.pooling(q, present_scores(scores)), q, self.pooling.log_share)
        return design.center(self.theta, slice(None))


@dataclass(frozen=True, eq=False)
class AutoBelief:
    """W at the mode for every row, and draws of the coefficients.

    ``soft`` (n, K) is W, labeled rows too; ``theta`` (D, 1 + P) the joint draws; ``shift`` (K,) and
    ``shifts`` (D, K) the label intercepts of the mode and the draws; ``predictor`` gives W of rows
    that were not there.
    """

    data: ScoreSet
    design: Design
    predictor: AutoPredictor
    soft: FloatArray
    theta: FloatArray
    shift: FloatArray
    shifts: FloatArray
    seed: np.random.SeedSequence
    notes: Mapping[str, Any]

    @property
    def posterior(self) -> FloatArray:
        """W with labeled rows one-hot."""
        return clamp(self.soft, self.data.labels)

    def estimate(
        self, metrics: Sequence[Metric], rows: Sequence[BoolArray | None]
    ) -> list[list[Estimate]]:
        """Point estimates on all rows of each group, draws with them as median."""
        out = []
        for g, mask in enumerate(rows):
            group = np.arange(self.data.n_rows) if mask is None else np.flatnonzero(mask)
            corrections = self._corrections(metrics, group[self.data.labeled[group]])
            values = self._values(metrics, group, corrections)
            draws = self._draws(metrics, group, corrections, g)
            parts = zip(metrics, values, draws, corrections, strict=True)
            out.append(
                [
                    Estimate(value, recentered(metric, value, draw, correction.weight))
                    for metric, value, draw, correction in parts
                ]
            )
        return out

    def _corrections(self, metrics: Sequence[Metric], labeled: IntArray) -> list[Correction]:
        """The residual correction of each metric; all see the same label draws."""
        if labeled.size == 0:
            return [Correction.none() for _ in metrics]
        observed, corrections = self._observed(labeled), []
        for metric in metrics:
            drawn = self._over_labels(metric, labeled, as_labeled(self.soft[labeled], self.shift))
            known = metric.plan(self.data.scores[labeled])(observed)[0]
            corrections.append(Correction.of(known, drawn, labeled.size, self.data.n_models))
        return corrections

    def _values(
        self, metrics: Sequence[Metric], group: IntArray, corrections: Sequence[Correction]
    ) -> list[FloatArray]:
        """Point estimates (M,) on the rows ``group``."""
        values = []
        for metric, correction in zip(metrics, corrections, strict=True):
            value = self._expected(metric, group) + correction.weight * correction.residual
            values.append(np.clip(value, metric.low, metric.high))
        return values

    def _expected(self, metric: Metric, rows: IntArray) -> FloatArray:
        """The metric (M,) of W on ``rows``: plugged in, or the mean over labels drawn from it."""
        if metric.hard_only:
            return _defined_mean(self._over_labels(metric, rows, self.soft[rows]))
        plan = metric.plan(self.data.scores[rows])
        value: FloatArray = plan(self._weighted(self.soft[rows][None], rows))[0]
        return value

    def _over_labels(self, metric: Metric, rows: IntArray, soft: FloatArray) -> FloatArray:
        """The metric (B, M) of labels drawn from ``soft`` (r, K), the same ones at every call."""
        rng = np.random.default_rng(child(self.seed, 0))
        plan = metric.plan(self.data.scores[rows])
        batch = max(1, BATCH_CELLS // max(1, soft.size))
        drawn = []
        for start in range(0, LABEL_DRAWS, batch):
            labels = draw_labels(soft, min(batch, LABEL_DRAWS - start), rng)
            drawn.append(plan(self._weighted(one_hot_mass(labels, soft.shape[1]), rows)))
        return np.concatenate(drawn)

    def _draws(
        self,
        metrics: Sequence[Metric],
        group: IntArray,
        corrections: Sequence[Correction],
        g: int,
    ) -> list[FloatArray]:
        """Draws (D, M) of each metric on the rows ``group``, not yet recentered."""
        labeled = group[self.data.labeled[group]]
        rows, known = self._part(group), self._part(labeled)
        shown = np.union1d(rows, known)
        at, at_known = np.searchsorted(shown, rows), np.searchsorted(shown, known)
        plans = [metric.plan(self.data.scores[rows]) for metric in metrics]
        known_plans = [metric.plan(self.data.scores[known]) for metric in metrics]
        observed = self._observed(known)
        values: list[list[FloatArray]] = [[] for _ in metrics]
        seed = child(self.seed, 1 if self.data.n_rows <= WORLD_ROWS else 2 + g)
        for worlds in draw_worlds(self.design, self.theta, self.shifts, shown, seed):
            known_worlds = worlds.labeled(at_known)
            for hard in {metric.hard_only for metric in metrics}:
                labelings, noise = worlds.seen(hard)
                counts = 1.0 + noise[:, at] * _shrink(rows, group, hard)
                mass = self._weighted(labelings[:, at], rows) * counts
                labelings, noise = known_worlds.seen(hard)
                counts = 1.0 + noise * _shrink(known, labeled, hard)
                known_mass, truth = self._weighted(labelings, known) * counts, observed * counts
                for m in [m for m, metric in enumerate(metrics) if metric.hard_only == hard]:
                    value = plans[m](mass)
                    if known.size:
                        residual = known_plans[m](truth) - known_plans[m](known_mass)
                        value = value + corrections[m].weight * _or_zero(residual)
                    values[m].append(value)
        rng = np.random.default_rng(child(child(self.seed, 0), 0))
        normal = rng.standard_normal((len(self.theta), LABEL_DRAWS))
        return [
            np.concatenate(batches) + correction.doubt(normal)
            for batches, correction in zip(values, corrections, strict=True)
        ]

    def _part(self, rows: IntArray) -> IntArray:
        """At most `WORLD_ROWS` of ``rows``, the same ones whenever they are asked for."""
        if rows.size <= WORLD_ROWS:
            return rows
        order = np.random.default_rng(child(self.seed, 0)).random(self.data.n_rows)
        return np.sort(rows[np.argpartition(order[rows], WORLD_ROWS)[:WORLD_ROWS]])

    def _observed(self, rows: IntArray) -> FloatArray:
        """Mass (1, r, K) of the labels of ``rows``."""
        return self._weighted(one_hot_mass(self.data.labels[rows], self.data.n_classes), rows)

    def _weighted(self, labelings: FloatArray, rows: IntArray) -> FloatArray:
        """Mass (D, r, K) of labelings, rows counting by their weight."""
        if self.data.weights is None:
            return labelings
        out: FloatArray = labelings * self.data.weights[rows][:, None]
        return out


def _center_posterior(design: Design, theta: FloatArray) -> FloatArray:
    """W (n, K) at the mode, in chunks of bounded memory."""
    n, n_models, n_classes = design.q.shape
    out: FloatArray = np.empty((n, n_classes))
    step = max(1, BATCH_CELLS // (n_models * n_classes))
    for start in range(0, n, step):
        out[start : start + step] = design.center(theta, slice(start, start + step))
    return out


def _shrink(part: IntArray, whole: IntArray, hard: bool) -> float:
    """Factor of the rows' noise with which ``part`` stands for ``whole``; counts stay whole."""
    return 1.0 if hard or whole.size == 0 else float(np.sqrt(part.size / whole.size))


def _defined_mean(values: FloatArray) -> FloatArray:
    """Mean over draws (D, M) where defined, NaN where none is."""
    defined = np.isfinite(values)
    count = defined.sum(axis=0)
    total = np.where(defined, values, 0.0).sum(axis=0)
    out: FloatArray = np.where(count > 0, total / np.maximum(count, 1), np.nan)
    return out


def _or_zero(residual: FloatArray) -> FloatArray:
    """A correction that is undefined corrects nothing."""
    return np.where(np.isfinite(residual), residual, 0.0)
