"""What ``auto`` believes after its fit: regimes and their probabilities, W of rows, estimates.

    v_r      = m(W_r, all rows) + w R_r                          the metric in regime r
    estimate = sum_r omega_r v_r,    omega_r proportional to P(r)^6

Within a regime the estimate of a metric is its value on the soft labeling W of all rows, plus the
residual R of the labels with the weight w (`correction`). The same sum is computed in every world
(`worlds`), and `recenter` moves those draws onto the regime's estimate. A regime has as many of the
draws as its probability says.

The power 6 is a compromise between the mean over regimes, which costs error wherever an odd regime
is merely possible, and the likeliest regime, which jumps. So the estimate is near the center of the
likeliest regime, the draws tell how it could be otherwise, and their quantiles, widened to hold the
estimate, are the interval.

The rest of the library calls `estimate`, which asks `AutoBelief.estimate_soft` unless every row is
labeled. For each group of rows it asks
`AutoBelief.estimate_by_regime` for values and draws in every regime, which come from

- ``_expect_everywhere``, m(W_r, all rows);
- ``_find_corrections``, R_r and w;
- ``_draw_values``, the draws, computed world by world;
- ``resample``, how much of their spread is due to the sampling of rows;

and ``_combine`` makes one `Estimate` of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ssme.data.scoreset import ScoreSet
from ssme.methods.auto.constants import Constants
from ssme.methods.auto.correction import (
    Correction,
    Recenter,
    SuggestedLabels,
    choose_best_exponent,
    choose_pair_factor,
    choose_spread,
    count_by_class,
    count_by_score,
    count_labels,
    find_effective_number,
    recenter,
)
from ssme.methods.auto.model import as_labeled
from ssme.methods.auto.regimes import MEANINGS, USUAL
from ssme.methods.auto.sampler import AutoPredictor, Component, draw_worlds
from ssme.methods.base import Estimate, Facts, GroupRows, number_rows
from ssme.methods.beliefs import SoftBelief, draw_masses, take_part
from ssme.methods.parts.draws import average_defined, find_originals, make_child_seed
from ssme.metrics.base import FloatArray, Metric, MetricPlan, one_hot_mass
from ssme.metrics.ranking import plan_together

# -------------------------------------------------------------------------------------------------
# What ``auto`` tells about its fit, as typed facts that diagnostics and reports read.


@dataclass(frozen=True, eq=False)
class AutoFacts(Facts):
    """What `Auto` tells about its fit.

    Attributes
    ----------
    label_free : bool
        Whether there was no label to learn from.
    regimes : dict
        Probability of each regime that labels and scores leave possible.
    conflict : float or None
        Logarithm of the sharpness that agreement between the classifiers implies, minus the one
        that their stated error implies; None where one of them says nothing.
    temperature, prior_temperature : float
        How much the pool is sharpened in the usual regime, after and before the labels.
    prior_scale : float
        Scale of the logarithm of the temperature before the labels.
    standing : dict
        Weight of each classifier by agreement with the others, before the labels.
    pool_weights : dict
        Weight of each classifier in the pool of the usual regime.
    effective_classifiers : float
        Number of classifiers that check each other: copies count as one, noise as none.
    correction_weight : float
        Weight of the residual correction where the labels confirm the model.
    rows_behind_draws : int
        Number of rows on which draws are computed.
    """

    label_free: bool
    regimes: Mapping[str, float]
    conflict: float | None
    temperature: float
    prior_temperature: float
    prior_scale: float
    standing: Mapping[str, float]
    pool_weights: Mapping[str, float]
    effective_classifiers: float
    correction_weight: float
    rows_behind_draws: int

    @property
    def other_worlds(self) -> Mapping[str, tuple[float, str]]:
        """Regimes beside the usual one: name -> probability, and what is so in it."""
        return {
            name: (chance, MEANINGS[name])
            for name, chance in self.regimes.items()
            if name != USUAL.name
        }

    @property
    def agreement_conflict(self) -> float | None:
        return self.conflict

    def describe(self) -> dict[str, Any]:
        return asdict(self)


# -------------------------------------------------------------------------------------------------
# One group of rows as a belief works on it: its labeled rows, its part, its plans made once.
#
# What a metric needs of the scores alone (sort orders, bins) is the same in every regime and world,
# so that a `RowGroup` keeps the plans of its metrics for as long as it is worked on. Of very many
# rows, worlds are computed on a part.


IntArray = NDArray[np.int64]


def plan_metrics(metrics: Sequence[Metric], scores: FloatArray, own: bool) -> list[MetricPlan]:
    """One plan per metric for ``scores`` (n, M, K): a function from mass to values (D, C).

    The mass is (D, n, K), the same for all classifiers, or with ``own`` it is (D, n, M, K), and
    each classifier is judged by its own. A metric of the whole set of classifiers is then judged by
    the mean of these.
    """
    if not own:
        return plan_together(metrics, scores)
    each = [metric for metric in metrics if not metric.of_set]
    by_model = [
        plan_together([metric.alone(j) for metric in each], scores[:, [j]])
        for j in range(scores.shape[1])
    ]
    columns = iter(zip(*by_model, strict=True))
    return [
        _plan_of_mean(metric.plan(scores)) if metric.of_set else _plan_by_model(next(columns))
        for metric in metrics
    ]


def _plan_of_mean(plan: MetricPlan) -> MetricPlan:
    return lambda mass: plan(np.nan_to_num(mass).mean(axis=2))


def _plan_by_model(plans: Sequence[MetricPlan]) -> MetricPlan:
    def evaluate(mass: FloatArray) -> FloatArray:
        each = [plan(mass[:, :, j]) for j, plan in enumerate(plans)]
        return np.concatenate(each, axis=1)

    return evaluate


@dataclass(frozen=True, eq=False)
class RowGroup:
    """The rows of one group: all ``rows``, and those of them that are ``labeled``.

    ``part`` and ``labeled_part`` are as many of either as worlds are computed on. ``number`` is the
    place of the group among the groups that are asked for.
    """

    data: ScoreSet
    metrics: Sequence[Metric]
    number: int
    rows: IntArray
    labeled: IntArray
    part: IntArray
    labeled_part: IntArray
    _plans: dict[tuple[str, bool], list[MetricPlan]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        data: ScoreSet,
        metrics: Sequence[Metric],
        number: int,
        rows: IntArray,
        choose: Callable[[IntArray], IntArray],
    ) -> RowGroup:
        """The group of ``rows``; ``choose`` takes the part of some rows that worlds are of."""
        labeled = rows[data.labeled[rows]]
        return cls(data, metrics, number, rows, labeled, choose(rows), choose(labeled))

    def plan(self, which: str, m: int, own: bool) -> MetricPlan:
        """The plan of the ``m``-th metric on the rows ``which``.

        ``which`` names an attribute of this group: "rows", "part", "labeled" or "labeled_part".
        """
        key = (which, own)
        if key not in self._plans:
            scores = take_rows(self.data.scores, getattr(self, which))
            self._plans[key] = plan_metrics(self.metrics, scores, own)
        return self._plans[key][m]


def take_rows(values: FloatArray, rows: IntArray) -> FloatArray:
    """``values`` of ascending ``rows``; where these are all rows, nothing is copied."""
    return values if len(rows) == len(values) else values[rows]


@dataclass(frozen=True, eq=False)
class RegimeEstimate:
    """A metric in one regime: its value (C,), draws (D, C) about it, and its correction.

    C is the number of values that the metric has: one per classifier, or several for a curve.
    """

    value: FloatArray
    draws: FloatArray
    correction: Correction


@dataclass(frozen=True, eq=False)
class AutoBelief(SoftBelief):
    """The regimes that labels and scores leave possible.

    ``weights`` (R,) are omega. ``softs`` are W of each regime on all rows, labeled rows too; None
    where rows are very many and the regime hardly matters. ``soft`` (n, K) is their weighted mean
    over the regimes that have one W for all classifiers, and ``predictor`` gives that mean for rows
    that were not there. ``recenter`` moves the draws of a metric onto its estimate.
    """

    data: ScoreSet
    regimes: tuple[Component, ...]
    weights: FloatArray
    predictor: AutoPredictor
    softs: tuple[FloatArray | None, ...]
    soft: FloatArray
    n_effective: float
    seed: np.random.SeedSequence
    facts: AutoFacts
    constants: Constants
    recenter: Recenter = recenter

    @property
    def n_draws(self) -> int:
        """Number of draws of all regimes together."""
        return sum(regime.n_draws for regime in self.regimes)

    def estimate_soft(
        self, metrics: Sequence[Metric], rows: Sequence[GroupRows]
    ) -> list[list[Estimate]]:
        """Point estimates [group][metric] on all rows of each group, with joint draws."""
        out = []
        for g, part in enumerate(rows):
            numbers = number_rows(part, self.data.n_rows)
            by_regime = self.estimate_by_regime(metrics, numbers, g)
            found = []
            for metric, each in zip(metrics, zip(*by_regime, strict=True), strict=True):
                estimate = self._combine(metric, list(each))
                if numbers.size == self.data.n_rows:
                    estimate = self._hear_suggested(metric, estimate, list(each))
                found.append(estimate)
            out.append(found)
        return out

    def draw_posteriors(self, rows: IntArray) -> FloatArray:
        """W (D, r, K) of ``rows`` in every draw; labels of these rows are not looked at.

        Where classifiers have a W of their own, it is the mean of theirs.
        """
        scores, drawn = self.data.scores[rows], []
        for regime in self.regimes:
            soft = regime.prepare_draws(scores)(slice(None))
            drawn.append(soft.mean(axis=2) if regime.own else soft)
        return np.concatenate(drawn)

    @property
    def label_shift(self) -> FloatArray:
        """Label intercepts (K,) of the modes, weighed as ``soft`` is."""
        shifts = np.array([regime.label_shift for regime in self.predictor.regimes])
        out: FloatArray = self.predictor.weights @ shifts
        return out

    def _combine(self, metric: Metric, parts: list[RegimeEstimate]) -> Estimate:
        """The estimate of one metric from its values and draws in all regimes."""
        weighed = list(zip(self.weights, parts, strict=True))
        value = np.sum([weight * part.value for weight, part in weighed], axis=0)
        corrected = float(sum(weight * part.correction.weight for weight, part in weighed))
        sizes = (corrected, self.n_effective, self.data.n_classes)
        factor = choose_pair_factor(metric, *sizes, self.constants.recentering)
        drawn = np.concatenate([part.draws for part in parts])
        exponent = choose_best_exponent(corrected, self.n_effective, self.constants.recentering)
        return Estimate(value, drawn, pair_factor=factor, best_exponent=exponent)

    def _hear_suggested(
        self, metric: Metric, estimate: Estimate, parts: list[RegimeEstimate]
    ) -> Estimate:
        """The estimate moved by what labels of suggested rows say beyond the model."""
        if self.data.design.rounds is None:
            return estimate
        rows = self._take_part(np.arange(self.data.n_rows))
        heard = SuggestedLabels.of(self.data, self.soft, rows, self.constants.correction)
        if heard is None:
            return estimate
        done = sum(w * part.correction.weight for w, part in zip(self.weights, parts, strict=True))
        seed = make_child_seed(make_child_seed(self.seed, 0), len(self.regimes) + 1)
        return heard.move(metric, estimate, 1.0 - float(done), seed)

    def estimate_by_regime(
        self, metrics: Sequence[Metric], rows: IntArray, g: int = 0
    ) -> list[list[RegimeEstimate]]:
        """Values and draws [regime][metric] on ``rows``, which are the ``g``-th group asked for."""
        group = RowGroup.of(self.data, metrics, g, rows, self._take_part)
        expected, resampled = self._expect_everywhere(group), self.resample(group)
        return [
            self._estimate_in_regime(r, regime, group, expected[r], resampled)
            for r, regime in enumerate(self.regimes)
        ]

    def resample(self, group: RowGroup) -> list[FloatArray | None]:
        """Values (B, C) of each metric that differ by the sampling of rows alone.

        W is that of the likeliest regime, and its rows are weighted anew B times. None stands for
        metrics that need hard labels.
        """
        r, rows = int(np.argmax(self.weights)), group.part
        soft, own = self._take_soft(r, rows), self.regimes[r].own
        rng = np.random.default_rng(
            make_child_seed(make_child_seed(self.seed, 0), len(self.regimes))
        )
        size = (self.constants.correction.label_draws, rows.size)
        noise = (rng.standard_exponential(size) - 1.0) * _shrink(rows, group.rows, False)
        mass = self._weigh(soft[None], rows) * _align_counts(1.0 + noise, own)
        return [
            None if metric.hard_only else group.plan("part", m, own)(mass)
            for m, metric in enumerate(group.metrics)
        ]

    def _expect_everywhere(self, group: RowGroup) -> list[list[FloatArray]]:
        """The metrics [regime][metric] of W on all rows of the group.

        Of very many rows, a regime that hardly matters is computed on the part alone: the
        likeliest regime on all rows, plus the difference of the two on the part.
        """
        everyone = range(len(self.regimes))
        exact = {r: self._expect(r, group, "rows") for r in everyone if self.softs[r] is not None}
        if len(exact) == len(self.regimes):
            return [exact[r] for r in everyone]
        likeliest = int(np.argmax(self.weights))
        near = {r: self._expect(r, group, "part") for r in (*everyone,) if r not in exact}
        here = self._expect(likeliest, group, "part")
        for r, there in near.items():
            triples = zip(exact[likeliest], there, here, strict=True)
            exact[r] = [whole + a - b for whole, a, b in triples]
        return [exact[r] for r in everyone]

    def _expect(self, r: int, group: RowGroup, which: str) -> list[FloatArray]:
        """Each metric of W on the rows ``which`` of the group.

        W is plugged into the metric as it is. A metric that needs hard labels is averaged over
        labels drawn from W.
        """
        rows, soft = getattr(group, which), self._take_soft(r, getattr(group, which))
        values = []
        for m, metric in enumerate(group.metrics):
            plan = group.plan(which, m, self.regimes[r].own)
            if metric.hard_only:
                values.append(average_defined(self._draw_over_labels(plan, rows, soft)))
            else:
                values.append(plan(self._weigh(soft[None], rows))[0])
        return values

    def _take_soft(self, r: int, rows: IntArray) -> FloatArray:
        """W of the ``r``-th regime on ``rows``, at its mode."""
        known = self.softs[r]
        if known is None:
            return self.regimes[r].compute_posterior(take_rows(self.data.scores, rows))
        return take_rows(known, rows)

    def _estimate_in_regime(
        self,
        r: int,
        regime: Component,
        group: RowGroup,
        expected: list[FloatArray],
        resampled: list[FloatArray | None],
    ) -> list[RegimeEstimate]:
        """Each metric in one regime: corrected, with draws that are moved onto its value.

        ``expected`` is what `_expect_everywhere` gives for the regime, ``resampled`` what
        `resample` gives.
        """
        corrections = self._find_corrections(r, group)
        draws = self._draw_values(r, regime, group, corrections)
        out = []
        for m, metric in enumerate(group.metrics):
            correction = corrections[m]
            value = expected[m] + correction.weight * correction.residual
            value = np.clip(value, metric.low, metric.high)
            of = self.constants.recentering
            sizes = (correction.weight, self.n_effective, self.data.n_classes)
            spread = choose_spread(metric, self.data.n_labeled, *sizes, of, regime.widening)
            moved = self.recenter(metric, value, draws[m], resampled[m], spread, of.edge)
            out.append(RegimeEstimate(value, moved, correction))
        return out

    def _find_corrections(self, r: int, group: RowGroup) -> list[Correction]:
        """The residual correction of each metric, all from the same draws of the labels."""
        of, regime, labeled = self.constants.correction, self.regimes[r], group.labeled
        if labeled.size == 0:
            return [Correction.none(of) for _ in group.metrics]
        worth, one = self._count_labels(r, group), np.ones(1)
        observed = self._observe(labeled, regime.own)
        soft = as_labeled(self._take_soft(r, labeled), regime.label_shift)
        size: float = labeled.size
        if worth.size > 1:
            alike = one_hot_mass(self.data.labels[labeled], self.data.n_classes)
            size = find_effective_number((alike * worth).sum(axis=-1))
        corrections = []
        for m, metric in enumerate(group.metrics):
            plan, counts = group.plan("labeled", m, regime.own), one if metric.hard_only else worth
            drawn = self._draw_over_labels(plan, labeled, soft, counts)
            sizes = (size, self.n_effective, self.data.n_models)
            corrections.append(Correction.of(plan(observed * counts)[0], drawn, *sizes, of))
        return corrections

    def _count_labels(self, r: int, group: RowGroup) -> FloatArray:
        """How often each label counts in the correction: factors of the mass (D, r, [M,] K).

        They depend on how rows were chosen for labeling (`label_counts`). They are not used for
        metrics that need hard labels, which count every row once.
        """
        regime, design, labeled = self.regimes[r], self.data.design, group.labeled
        if regime.own or labeled.size == 0:
            return np.ones(1)
        if regime.name == "selected" or design.kind == "by_class":
            shares = self._take_soft(r, group.part).mean(axis=0)
            return count_by_class(shares, self.data.labels[labeled])
        if design.kind == "by_score":
            everywhere = self._take_soft(r, group.part)
            of = self.constants.correction
            return count_by_score(everywhere, self._take_soft(r, labeled), of)[:, None]
        counts = count_labels(design, labeled)
        return np.ones(1) if counts is None else counts[:, None]

    def _draw_over_labels(
        self, plan: MetricPlan, rows: IntArray, soft: FloatArray, counts: FloatArray | float = 1.0
    ) -> FloatArray:
        """The metric (B, C) of B sets of labels of ``rows``, drawn from ``soft``.

        ``soft`` is W (r, K), or (r, M, K) where classifiers have their own. The seed is always the
        same, so that metrics and regimes can be compared.
        """
        n_draws, cells = self.constants.correction.label_draws, self.constants.batch_cells
        masses = draw_masses(soft, n_draws, cells, make_child_seed(self.seed, 0))
        if soft.ndim == 3:
            same = find_originals(soft)
            masses = (mass[:, :, same] for mass in masses)
        return np.concatenate([plan(self._weigh(mass, rows) * counts) for mass in masses])

    def _draw_values(
        self, r: int, regime: Component, group: RowGroup, corrections: Sequence[Correction]
    ) -> list[FloatArray]:
        """Draws (D, C) of each metric on the group, which are not recentered yet.

        In every world the metric of W on the group is corrected by the labels as the estimate is,
        with the same weight w. The noise of what the labels leave open is added at the end.
        """
        rows, known, own = group.part, group.labeled_part, regime.own
        shown = np.union1d(rows, known)
        at, at_known = np.searchsorted(shown, rows), np.searchsorted(shown, known)
        worth = self._count_labels(r, group)
        worth = worth[np.searchsorted(group.labeled, known)] if worth.ndim == 2 else worth
        observed = self._observe(known, own)
        values: list[list[FloatArray]] = [[] for _ in group.metrics]
        few_rows = self.data.n_rows <= self.constants.world_rows
        seed = make_child_seed(make_child_seed(self.seed, 1 if few_rows else 2 + group.number), r)
        for worlds in draw_worlds(regime, self.data.scores, shown, seed, self.constants):
            known_worlds = worlds.take_labeled(at_known)
            for hard in {metric.hard_only for metric in group.metrics}:
                labelings, noise = worlds.see(hard)
                counts = _align_counts(1.0 + noise[:, at] * _shrink(rows, group.rows, hard), own)
                mass = self._weigh(labelings[:, at], rows) * counts
                labelings, noise = known_worlds.see(hard)
                counts = _align_counts(1.0 + noise * _shrink(known, group.labeled, hard), own)
                counts = counts if hard else counts * worth
                known_mass = self._weigh(labelings, known) * counts
                truth = observed * counts
                for m in [m for m, of in enumerate(group.metrics) if of.hard_only == hard]:
                    value = group.plan("part", m, own)(mass)
                    if known.size:
                        plan = group.plan("labeled_part", m, own)
                        residual = plan(truth) - plan(known_mass)
                        value = value + corrections[m].weight * _zero_undefined(residual)
                    values[m].append(value)
        rng = np.random.default_rng(make_child_seed(make_child_seed(self.seed, 0), r))
        normal = rng.standard_normal((regime.n_draws, self.constants.correction.label_draws))
        return [
            np.concatenate(batches) + correction.draw_leftover(normal)
            for batches, correction in zip(values, corrections, strict=True)
        ]

    def _take_part(self, rows: IntArray) -> IntArray:
        """At most ``world_rows`` of ``rows``, the same ones whenever they are asked for."""
        most = self.constants.world_rows
        return take_part(rows, most, self.data.n_rows, make_child_seed(self.seed, 0))

    def _observe(self, rows: IntArray, own: bool) -> FloatArray:
        """Mass (1, r, K) of the labels of ``rows``; (1, r, M, K) for each classifier by itself."""
        mass = one_hot_mass(self.data.labels[rows], self.data.n_classes)
        if own:
            mass = np.repeat(mass[:, :, None], self.data.n_models, axis=2)
        return self._weigh(mass, rows)

    def _weigh(self, labelings: FloatArray, rows: IntArray) -> FloatArray:
        """Mass of labelings (D, r, ..., K), rows counting by their weight."""
        if self.data.weights is None:
            return labelings
        weights = self.data.weights[rows]
        out: FloatArray = labelings * weights.reshape(-1, *([1] * (labelings.ndim - 2)))
        return out


def _align_counts(counts: FloatArray, own: bool) -> FloatArray:
    """Counts of rows (D, r) with the axes of labelings added, so that they can multiply them."""
    return counts[:, :, None, None] if own else counts[:, :, None]


def _shrink(part: IntArray, whole: IntArray, hard: bool) -> float:
    """Factor of the rows' noise with which ``part`` stands for ``whole``; counts stay whole."""
    return 1.0 if hard or whole.size == 0 else float(np.sqrt(part.size / whole.size))


def _zero_undefined(residual: FloatArray) -> FloatArray:
    """A correction that is undefined corrects nothing."""
    return np.where(np.isfinite(residual), residual, 0.0)
