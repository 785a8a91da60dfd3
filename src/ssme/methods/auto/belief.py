"""What ``auto`` believes after its fit: regimes and their probabilities, W of rows, estimates.

    v_r      = m(W_r, all rows) + E[bias | R_r]                 the metric in regime r
    estimate = sum_r omega_r v_r,    omega_r proportional to P(r)^6

Within a regime the estimate of a metric is its value on the soft labeling W of all rows, plus what
the labels say of its bias (`correction`). The metric is computed in every world, `recenter` moves
those draws onto the regime's estimate, and what is unknown of the bias is added. A regime has as
many of the draws as its probability says.

    world d  =  ( W_d,  e_1 .. e_n ),   e_i ~ Exp(1),   metric in world d  =  m(W_d, weights e)

World d is W of one draw of the coefficients and weights of the rows as if they were sampled anew,
the Bayesian bootstrap (Rubin, Annals of Statistics 9, 1981). Metrics, classifiers and groups all
see the same worlds. Of many rows, m represent all n if they weigh 1 + (e_i - 1) sqrt(m / n). A
metric that needs hard labels (a callable) sees one labeling drawn from W_d and rows counted
Poisson(1) times.

The power 6 is a compromise between the mean over regimes, which costs error wherever an odd regime
is merely possible, and the most probable regime, which jumps. So the estimate is near the center of
the most probable regime, the draws show how it could be otherwise, and their quantiles, widened to
contain the estimate, are the interval.

"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ssme.arrays import FloatArray, IntArray
from ssme.data.scoreset import ScoreSet
from ssme.methods import base, beliefs, label_draws
from ssme.methods.auto.constants import Constants
from ssme.methods.auto.correction import (
    Correction,
    Recenter,
    choose_pair_factor,
    choose_spread,
    count_by_class,
    count_by_score,
    count_labels,
    move_by_suggested,
    recenter,
)
from ssme.methods.auto.model import AutoPredictor, PooledRegime, add_label_shift
from ssme.methods.auto.regimes import MEANINGS, USUAL
from ssme.methods.clusters import draw_row_exponentials, find_part_spread, weigh_rows
from ssme.methods.draws import average_defined, make_child_seed
from ssme.metrics.base import Metric, MetricPlan, one_hot_mass
from ssme.metrics.calibration import remove_chance
from ssme.metrics.ranking import plan_together
from ssme.progress import track


@dataclass(frozen=True, eq=False)
class AutoFacts(base.Facts):
    """Facts of a fit of `Auto`.

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
        Share of a residual of one standard error that all classifiers share that is believed.
    rows_behind_draws : int
        Number of rows on which draws are computed.
    correlation : float or None
        Correlation of the classifiers' scores within a class; None where it is unknown.
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
    correlation: float | None

    @property
    def other_worlds(self) -> Mapping[str, tuple[float, str]]:
        """Regimes other than the usual one: name -> probability, and what is so in it."""
        return {
            name: (chance, MEANINGS[name]) for name, chance in self.regimes.items() if name != USUAL
        }

    @property
    def recalibrates(self) -> bool:
        return True

    @property
    def agreement_conflict(self) -> float | None:
        return self.conflict

    @property
    def conflict_scale(self) -> float:
        return self.prior_scale

    @property
    def error_correlation(self) -> float | None:
        return self.correlation

    @property
    def independent_views(self) -> float | None:
        return self.effective_classifiers


@dataclass(frozen=True, eq=False)
class RowGroup:
    """The rows of the ``number``-th group asked for, with its labeled rows and metrics' plans.

    ``part`` are as many of the rows as worlds are computed on.
    """

    data: ScoreSet
    metrics: Sequence[Metric]
    number: int
    rows: IntArray
    labeled: IntArray
    part: IntArray
    _plans: dict[str, list[MetricPlan]] = field(default_factory=dict)

    def plan(self, which: str, m: int) -> MetricPlan:
        """The plan of the ``m``-th metric on "rows", "part" or "labeled"."""
        if which not in self._plans:
            scores = take_rows(self.data.scores, getattr(self, which))
            self._plans[which] = plan_together(self.metrics, scores)
        return self._plans[which][m]


def take_rows(values: FloatArray, rows: IntArray) -> FloatArray:
    """``values`` of ascending ``rows``; where these are all rows, nothing is copied."""
    return values if len(rows) == len(values) else values[rows]


@dataclass(frozen=True, eq=False)
class Worlds:
    """A batch of d worlds on r rows: W (d, r, K), and weights e (d, r) of rows.

    ``rng`` draws hard labels; ``clusters`` (r,) are those of the rows, if there are any.
    """

    soft: FloatArray
    exponential: FloatArray
    rng: np.random.Generator
    clusters: IntArray | None = None

    def see(self, hard: bool) -> tuple[FloatArray, FloatArray]:
        """Labelings shaped as ``soft``, and how far the count of each row is from one (d, r)."""
        if not hard:
            return self.soft, self.exponential - 1.0
        below = np.cumsum(self.soft, axis=-1)[..., :-1]
        uniform = self.rng.random(self.soft.shape[:-1])
        labels = (uniform[..., None] >= below).sum(axis=-1)
        if self.clusters is None:
            counts = self.rng.poisson(1.0, self.exponential.shape).astype(np.float64)
        else:
            size = (len(self.exponential), int(self.clusters.max(initial=-1)) + 1)
            counts = self.rng.poisson(1.0, size).astype(np.float64)[:, self.clusters]
        one_hot = labels[..., None] == np.arange(self.soft.shape[-1])
        return one_hot.astype(np.float64), counts - 1.0


def compute_in_worlds(
    worlds: Iterable[Worlds],
    metrics: Sequence[Metric],
    plans: Sequence[MetricPlan],
    shrink: float,
    weights: FloatArray | None,
) -> list[FloatArray]:
    """Each metric (D, C) in all worlds; rows have ``weights`` (r,).

    How far counts of rows are from one is multiplied by ``shrink``, so that the rows of the worlds
    represent those that are asked for; the counts of hard labels stay whole.
    """
    values = [list[FloatArray]() for _ in metrics]
    for each in worlds:
        for hard in {metric.hard_only for metric in metrics}:
            labelings, noise = each.see(hard)
            counts = 1.0 + (noise if hard else shrink * noise)
            mass = labelings * (counts if weights is None else counts * weights)[:, :, None]
            for metric, plan, found in zip(metrics, plans, values, strict=True):
                if metric.hard_only == hard:
                    found.append(plan(mass))
    return [np.concatenate(batches) for batches in values]


def draw_worlds(
    regime: PooledRegime,
    scores: FloatArray,
    rows: IntArray,
    seed: np.random.SeedSequence,
    constants: Constants,
    clusters: IntArray | None = None,
) -> Iterator[Worlds]:
    """Worlds of a regime's draws on the ``rows`` of ``scores``, in batches of bounded size.

    While all n rows are few enough for worlds, a row has the same weight e whichever other rows are
    asked for, so that groups are joint too.
    """
    rng, hard_rng = (np.random.default_rng(make_child_seed(seed, key)) for key in (0, 1))
    n, _, n_classes = scores.shape
    draw = regime.prepare_draws(scores, rows)
    batch = max(1, constants.batch_cells // max(1, rows.size * n_classes))
    for start in track(range(0, regime.n_draws, batch), "worlds"):
        part = slice(start, start + batch)
        soft = draw(part)
        if n <= constants.world_rows or clusters is not None:
            exponential = draw_row_exponentials(rng, len(soft), n, clusters)[:, rows]
        else:
            exponential = rng.standard_exponential((len(soft), rows.size))
        own = None if clusters is None else clusters[rows]
        yield Worlds(soft, exponential, hard_rng, own)


@dataclass(frozen=True, eq=False)
class RegimeEstimate:
    """A metric in one regime: value (C,), draws (D, C) about it, and its correction.

    C is the number of classifiers, or a multiple of it for a curve.
    """

    value: FloatArray
    draws: FloatArray
    correction: Correction


@dataclass(frozen=True, eq=False)
class AutoBelief(beliefs.SoftBelief):
    """The regimes that labels and scores leave possible.

    ``weights`` (R,) are omega. ``softs`` are W of each regime on all rows, None where rows are very
    many and the regime hardly matters; ``soft`` (n, K) is their weighted mean, which ``predictor``
    gives for other rows. ``correlation`` is that of labels of one cluster, given W.
    """

    data: ScoreSet
    regimes: tuple[PooledRegime, ...]
    weights: FloatArray
    predictor: AutoPredictor
    softs: tuple[FloatArray | None, ...]
    soft: FloatArray
    seed: np.random.SeedSequence
    facts: AutoFacts
    constants: Constants
    recenter: Recenter = recenter
    correlation: float = 0.0

    @property
    def n_draws(self) -> int:
        return sum(regime.n_draws for regime in self.regimes)

    @cached_property
    def shares(self) -> FloatArray:
        """Shares (K,) of the classes under W."""
        return self.soft.mean(axis=0)

    def estimate_soft(
        self, metrics: Sequence[Metric], rows: Sequence[base.GroupRows]
    ) -> list[list[base.Estimate]]:
        """Estimates [group][metric] on all rows of each group, with joint draws."""
        out = []
        for g, part in enumerate(rows):
            numbers = base.number_rows(part, self.data.n_rows)
            by_metric = zip(*self.estimate_by_regime(metrics, numbers, g), strict=True)
            whole = numbers.size == self.data.n_rows
            out.append(
                [
                    self._combine(metric, parts, whole)
                    for metric, parts in zip(metrics, by_metric, strict=True)
                ]
            )
        return out

    def draw_posteriors(self, rows: IntArray) -> FloatArray:
        """W (D, r, K) of ``rows`` in every draw."""
        scores = self.data.scores
        return np.concatenate(
            [regime.prepare_draws(scores, rows)(slice(None)) for regime in self.regimes]
        )

    @property
    def label_shift(self) -> FloatArray:
        """Label intercepts (K,) of the modes, weighed as ``soft`` is."""
        shifts = np.array([regime.label_shift for regime in self.predictor.regimes])
        return self.predictor.weights @ shifts

    def _combine(
        self, metric: Metric, parts: Sequence[RegimeEstimate], whole: bool
    ) -> base.Estimate:
        """The estimate of a metric from those of all regimes, on the ``whole`` set of rows moved by
        what labels of suggested rows say beyond the model."""
        weighed = list(zip(self.weights, parts, strict=True))
        value = np.sum([weight * part.value for weight, part in weighed], axis=0)
        corrected = float(sum(weight * part.correction.gains[1] for weight, part in weighed))
        constants = self.constants.recentering
        estimate = base.Estimate(
            value,
            np.concatenate([part.draws for part in parts]),
            pair_factor=choose_pair_factor(metric, corrected, self.data.n_classes, constants),
            best_exponent=1.0 - (1.0 - constants.best) * (1.0 - corrected),
        )
        data, design = self.data, self.data.design
        if not whole or design.rounds is None or design.weights is None or data.weights is not None:
            return estimate
        rows = self._take_part(np.arange(data.n_rows))
        if not np.isfinite(data.scores[np.union1d(rows, np.flatnonzero(data.labeled))]).all():
            return estimate
        seed = make_child_seed(make_child_seed(self.seed, 0), len(self.regimes) + 1)
        about = (data, self.soft, rows, 1.0 - corrected, self.constants.correction)
        return move_by_suggested(metric, estimate, *about, seed)

    def estimate_by_regime(
        self, metrics: Sequence[Metric], rows: IntArray, g: int = 0
    ) -> list[list[RegimeEstimate]]:
        """Values and draws [regime][metric] on ``rows``, which are the ``g``-th group asked for."""
        labeled = rows[self.data.labeled[rows]]
        group = RowGroup(self.data, metrics, g, rows, labeled, self._take_part(rows))
        expected, resampled = self._expect_everywhere(group), self.resample(group)
        return [
            self._estimate_in_regime(r, regime, group, expected[r], resampled)
            for r, regime in enumerate(self.regimes)
        ]

    def resample(self, group: RowGroup) -> list[FloatArray | None]:
        """Values (B, C) of each metric that differ by the sampling of rows alone, in the most
        probable regime; None for metrics that need hard labels."""
        r, rows = int(np.argmax(self.weights)), group.part
        soft = self._take_soft(r, rows)
        rng = np.random.default_rng(
            make_child_seed(make_child_seed(self.seed, 0), len(self.regimes))
        )
        size = (self.constants.correction.label_draws, rows.size)
        clusters = None if self.data.clusters is None else self.data.clusters[rows]
        noise = draw_row_exponentials(rng, *size, clusters) - 1.0
        noise *= find_part_spread(rows, group.rows, self.data.clusters)
        mass = self._weigh(soft[None], rows) * (1.0 + noise[:, :, None])
        return [
            None if metric.hard_only else group.plan("part", m)(mass)
            for m, metric in enumerate(group.metrics)
        ]

    def _expect_everywhere(self, group: RowGroup) -> list[list[FloatArray]]:
        """The metrics [regime][metric] of W on all rows of the group.

        Of very many rows, a regime that hardly matters is approximated by the most probable one on
        all rows, plus the difference of the two on the part.
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
        """Each metric of W on the rows ``which``: plugged in, a calibration error without what
        chance adds to it, or the mean over labels drawn."""
        rows, soft = getattr(group, which), self._take_soft(r, getattr(group, which))
        values = []
        for m, metric in enumerate(group.metrics):
            plan = group.plan(which, m)
            if metric.hard_only:
                values.append(average_defined(self._draw_over_labels(plan, rows, soft)))
            else:
                values.append(remove_chance(plan, self._weigh(soft[None], rows))[0])
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
        regime: PooledRegime,
        group: RowGroup,
        expected: list[FloatArray],
        resampled: list[FloatArray | None],
    ) -> list[RegimeEstimate]:
        """Each metric in one regime: ``expected`` corrected, with draws moved onto it."""
        corrections, out = self._find_corrections(r, group), []
        draws = self._draw_values(r, regime, group)
        rng = np.random.default_rng(make_child_seed(make_child_seed(self.seed, 0), r))
        normal = rng.standard_normal((regime.n_draws, self.constants.correction.label_draws))
        for m, metric in enumerate(group.metrics):
            correction = corrections[m]
            value = np.clip(expected[m] + correction.step, metric.low, metric.high)
            spread = choose_spread(
                metric,
                correction.gains,
                self.facts.effective_classifiers,
                self.shares,
                self.constants.recentering,
                regime.widening,
            )
            moved = self.recenter(metric, value, draws[m], resampled[m], spread)
            moved = moved + correction.draw(normal)
            moved = np.clip(moved + value - np.median(moved, axis=0), metric.low, metric.high)
            out.append(RegimeEstimate(value, moved, correction))
        return out

    def _find_corrections(self, r: int, group: RowGroup) -> list[Correction]:
        """The residual correction of each metric, all from the same draws of the labels."""
        constants, regime, labeled = self.constants.correction, self.regimes[r], group.labeled
        if labeled.size == 0:
            return [Correction.none(constants) for _ in group.metrics]
        worth, one = self._count_labels(r, group), np.ones(1)
        observed = self._observe(labeled)
        soft = add_label_shift(self._take_soft(r, labeled), regime.label_shift)
        size, effect, tau = float(labeled.size), 1.0, self.facts.prior_scale
        if self.data.clusters is not None:
            worth_of_rows = weigh_rows(self.correlation, self.data.clusters[labeled])
            effect = labeled.size / float(worth_of_rows.sum())
        if worth.size > 1:
            one_hot = one_hot_mass(self.data.labels[labeled], self.data.n_classes)
            size = float(label_draws.kish((one_hot * worth).sum(axis=-1)[0]))
        corrections = []
        for m, metric in enumerate(group.metrics):
            plan, counts = group.plan("labeled", m), one if metric.hard_only else worth
            drawn = self._draw_over_labels(plan, labeled, soft, counts)
            if effect > 1.0:
                mean = average_defined(drawn)
                drawn = mean + (drawn - mean) * np.sqrt(effect)
            about = (size / effect, tau, self.data.n_models, constants)
            corrections.append(Correction.estimate(plan(observed * counts)[0], drawn, *about))
        return corrections

    def _count_labels(self, r: int, group: RowGroup) -> FloatArray:
        """How often each label counts in the correction, by how rows were chosen: factors of the
        mass (D, r, K). Metrics that need hard labels count every row once instead."""
        regime, design, labeled = self.regimes[r], self.data.design, group.labeled
        if labeled.size == 0:
            return np.ones(1)
        if regime.name == "selected" or design.kind == "by_class":
            shares = self._take_soft(r, group.part).mean(axis=0)
            return count_by_class(shares, self.data.labels[labeled])
        if design.kind == "by_score":
            everywhere, known = self._take_soft(r, group.part), self._take_soft(r, labeled)
            return count_by_score(everywhere, known, self.constants.correction)[:, None]
        counts = count_labels(design, labeled)
        return np.ones(1) if counts is None else counts[:, None]

    def _draw_over_labels(
        self, plan: MetricPlan, rows: IntArray, soft: FloatArray, counts: FloatArray | float = 1.0
    ) -> FloatArray:
        """The metric (B, C) of labels drawn from ``soft`` (r, K), the same seed every time."""
        n_draws, cells = self.constants.correction.label_draws, self.constants.batch_cells
        masses = beliefs.draw_masses(soft, n_draws, cells, make_child_seed(self.seed, 0))
        return np.concatenate([plan(self._weigh(mass, rows) * counts) for mass in masses])

    def _draw_values(self, r: int, regime: PooledRegime, group: RowGroup) -> list[FloatArray]:
        """Draws (D, C) of each metric on the group, not recentered yet."""
        rows, clusters = group.part, self.data.clusters
        few_rows = self.data.n_rows <= self.constants.world_rows
        seed = make_child_seed(make_child_seed(self.seed, 1 if few_rows else 2 + group.number), r)
        worlds = draw_worlds(regime, self.data.scores, rows, seed, self.constants, clusters)
        plans = [group.plan("part", m) for m in range(len(group.metrics))]
        shrink = find_part_spread(rows, group.rows, clusters)
        return compute_in_worlds(worlds, group.metrics, plans, shrink, self._find_weights(rows))

    def _take_part(self, rows: IntArray) -> IntArray:
        """At most ``world_rows`` of ``rows``, the same ones whenever they are asked for."""
        most = self.constants.world_rows
        return beliefs.take_part(rows, most, self.data.n_rows, make_child_seed(self.seed, 0))

    def _observe(self, rows: IntArray) -> FloatArray:
        """Mass (1, r, K) of the labels of ``rows``."""
        return self._weigh(one_hot_mass(self.data.labels[rows], self.data.n_classes), rows)

    def _weigh(self, labelings: FloatArray, rows: IntArray) -> FloatArray:
        """Mass of labelings (D, r, K), rows counting by their weight."""
        weights = self._find_weights(rows)
        return labelings if weights is None else labelings * weights[:, None]

    def _find_weights(self, rows: IntArray) -> FloatArray | None:
        return None if self.data.weights is None else self.data.weights[rows]
