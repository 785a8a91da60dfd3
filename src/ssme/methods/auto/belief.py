"""What ``auto`` believes after its fit: W of every row, draws of the coefficients, estimates.

The estimate of a metric is its value on the soft labeling W of all rows plus the residual
`correction`; the same is computed in every world (`worlds`), and `recenter` moves those draws onto
the estimate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ssme.data.scoreset import ScoreSet
from ssme.methods.auto.binary import binary_posterior
from ssme.methods.auto.constants import ALL_POOLS, Constants
from ssme.methods.auto.correction import Correction
from ssme.methods.auto.independence import Pooling
from ssme.methods.auto.model import Design, as_labeled, posterior_draws
from ssme.methods.auto.pool import clip_scores, present_scores
from ssme.methods.auto.recentering import Recenter, recenter
from ssme.methods.auto.worlds import draw_worlds
from ssme.methods.base import Estimate, GroupRows, row_numbers
from ssme.methods.beliefs.posterior import child_seed, clamp, draw_labels
from ssme.methods.facts import Facts
from ssme.methods.parts.row_weights import mean_defined
from ssme.metrics.base import FloatArray, Metric, one_hot_mass

__all__ = ["AutoBelief", "AutoFacts", "AutoPredictor", "posterior_in_chunks"]

IntArray = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class AutoFacts(Facts):
    """What `Auto` tells about its fit.

    Attributes
    ----------
    label_free : bool
        Whether there was no label to learn from.
    temperature, prior_temperature : float
        How much the pool is sharpened, after and before the labels.
    prior_scale : float
        Scale of the logarithm of the temperature before the labels.
    pool_weights : dict
        Weight of each classifier in the pool.
    independence : float
        Probability that the classifiers err independently.
    correction_weight : float
        Weight of the residual correction where the labels confirm the model.
    rows_behind_draws : int
        Number of rows on which draws are computed.
    """

    label_free: bool
    temperature: float
    prior_temperature: float
    prior_scale: float
    pool_weights: Mapping[str, float]
    independence: float
    correction_weight: float
    rows_behind_draws: int

    def describe(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, eq=False)
class AutoPredictor:
    """W as a function of scores, at the coefficients ``mode``."""

    pooling: Pooling
    mode: FloatArray
    constants: Constants

    def __call__(self, scores: FloatArray) -> FloatArray:
        """W (n, K) of ``scores`` (n, M, K)."""
        if self._is_usual and scores.shape[2] == 2 and not np.isnan(scores[:, :, 1].T).any():
            clip = np.float32(self.constants.pool.clip)
            lines = (np.ascontiguousarray(scores[:, :, k].T, dtype=np.float32) for k in range(2))
            zero, one = (np.maximum(of, clip, out=of) for of in lines)
            w = np.empty((2, len(scores)))
            q = one / (one + zero)
            w[1] = binary_posterior(q, self.pooling.weights, self.mode, self.pooling.log_share)
            np.subtract(1.0, w[1], out=w[0])
            return w.T
        q = clip_scores(scores, self.constants.pool.clip)
        log_pi = self.pooling(q, present_scores(scores))
        design = Design(log_pi, q, self.pooling.log_share, self.constants.model)
        return design.posterior(self.mode, slice(None))

    @property
    def _is_usual(self) -> bool:
        """Whether the fast way for two classes computes this very model."""
        return (
            self.pooling.independent == 0.0
            and self.pooling.members == ALL_POOLS
            and set(self.constants.model.mode_families) <= {"a", "t"}
        )


@dataclass(frozen=True, eq=False)
class AutoBelief:
    """W at the mode for every row, and draws of the coefficients.

    ``soft`` (n, K) is W, labeled rows too; ``draws`` (D, 1 + P) are the joint draws of the
    coefficients; ``label_shift`` (K,) and ``label_shift_draws`` (D, K) are the label intercepts of
    the mode and of the draws; ``predictor`` gives W of rows that were not there; ``recenter`` moves
    the draws of a metric onto its estimate.
    """

    data: ScoreSet
    design: Design
    predictor: AutoPredictor
    soft: FloatArray
    draws: FloatArray
    label_shift: FloatArray
    label_shift_draws: FloatArray
    seed: np.random.SeedSequence
    facts: AutoFacts
    constants: Constants
    recenter: Recenter = recenter

    @property
    def posterior(self) -> FloatArray:
        """W with labeled rows one-hot."""
        return clamp(self.soft, self.data.labels)

    @property
    def clamps_labels(self) -> bool:
        """False: an estimate is the soft labeling of all rows, labeled ones too."""
        return False

    @property
    def narrows_with_rows(self) -> bool:
        """False: most of the spread is that of the coefficients."""
        return False

    def estimate(
        self, metrics: Sequence[Metric], rows: Sequence[GroupRows]
    ) -> list[list[Estimate]]:
        """Point estimates on all rows of each group, draws with them as median."""
        out = []
        for g, part in enumerate(rows):
            group = row_numbers(part, self.data.n_rows)
            corrections = self._corrections(metrics, group[self.data.labeled[group]])
            values = self._values(metrics, group, corrections)
            draws = self._draws(metrics, group, corrections, g)
            each = zip(metrics, values, draws, corrections, strict=True)
            out.append([self._estimate(*of) for of in each])
        return out

    def posterior_draws(self, rows: IntArray) -> FloatArray:
        """W_d (D, r, K) of ``rows``, labeled ones as all others."""
        return posterior_draws(self.design.features(rows), self.design.log_share, self.draws)

    def _estimate(
        self, metric: Metric, value: FloatArray, draws: FloatArray, correction: Correction
    ) -> Estimate:
        n_classes, constants = self.data.n_classes, self.constants.recentering
        moved = self.recenter(metric, value, draws, correction.weight, n_classes, constants)
        return Estimate(value, moved)

    def _corrections(self, metrics: Sequence[Metric], labeled: IntArray) -> list[Correction]:
        """The residual correction of each metric; all see the same label draws."""
        of, n_models = self.constants.correction, self.data.n_models
        if labeled.size == 0:
            return [Correction.none(of) for _ in metrics]
        observed, corrections = self._observed(labeled), []
        for metric in metrics:
            soft = as_labeled(self.soft[labeled], self.label_shift)
            drawn = self._over_labels(metric, labeled, soft)
            known = metric.plan(self.data.scores[labeled])(observed)[0]
            corrections.append(Correction.of(known, drawn, labeled.size, n_models, of))
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
            return mean_defined(self._over_labels(metric, rows, self.soft[rows]))
        plan = metric.plan(self.data.scores[rows])
        value: FloatArray = plan(self._weighted(self.soft[rows][None], rows))[0]
        return value

    def _over_labels(self, metric: Metric, rows: IntArray, soft: FloatArray) -> FloatArray:
        """The metric (B, M) of labels drawn from ``soft`` (r, K), the same ones at every call."""
        rng = np.random.default_rng(child_seed(self.seed, 0))
        plan = metric.plan(self.data.scores[rows])
        batch = max(1, self.constants.batch_cells // max(1, soft.size))
        drawn, n_draws = [], self.constants.correction.label_draws
        for start in range(0, n_draws, batch):
            labels = draw_labels(soft, min(batch, n_draws - start), rng)
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
        few_rows = self.data.n_rows <= self.constants.world_rows
        seed = child_seed(self.seed, 1 if few_rows else 2 + g)
        coefficients = (self.draws, self.label_shift_draws)
        for worlds in draw_worlds(self.design, *coefficients, shown, seed, self.constants):
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
        rng = np.random.default_rng(child_seed(child_seed(self.seed, 0), 0))
        normal = rng.standard_normal((len(self.draws), self.constants.correction.label_draws))
        return [
            np.concatenate(batches) + correction.draw_leftover(normal)
            for batches, correction in zip(values, corrections, strict=True)
        ]

    def _part(self, rows: IntArray) -> IntArray:
        """At most ``world_rows`` of ``rows``, the same ones whenever they are asked for."""
        most = self.constants.world_rows
        if rows.size <= most:
            return rows
        order = np.random.default_rng(child_seed(self.seed, 0)).random(self.data.n_rows)
        return np.sort(rows[np.argpartition(order[rows], most)[:most]])

    def _observed(self, rows: IntArray) -> FloatArray:
        """Mass (1, r, K) of the labels of ``rows``."""
        return self._weighted(one_hot_mass(self.data.labels[rows], self.data.n_classes), rows)

    def _weighted(self, labelings: FloatArray, rows: IntArray) -> FloatArray:
        """Mass (D, r, K) of labelings, rows counting by their weight."""
        if self.data.weights is None:
            return labelings
        out: FloatArray = labelings * self.data.weights[rows][:, None]
        return out


def posterior_in_chunks(design: Design, mode: FloatArray, cells: int) -> FloatArray:
    """W (n, K) at the ``mode``, so many cells of the scores at a time."""
    n, n_models, n_classes = design.q.shape
    out: FloatArray = np.empty((n, n_classes))
    step = max(1, cells // (n_models * n_classes))
    for start in range(0, n, step):
        out[start : start + step] = design.posterior(mode, slice(start, start + step))
    return out


def _shrink(part: IntArray, whole: IntArray, hard: bool) -> float:
    """Factor of the rows' noise with which ``part`` stands for ``whole``; counts stay whole."""
    return 1.0 if hard or whole.size == 0 else float(np.sqrt(part.size / whole.size))


def _or_zero(residual: FloatArray) -> FloatArray:
    """A correction that is undefined corrects nothing."""
    return np.where(np.isfinite(residual), residual, 0.0)
