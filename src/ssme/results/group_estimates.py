"""Estimates of the groups of a grouping from a posterior that is drawn (`DrawsPosterior`).

With W_d a draw of the whole's posterior, shifted by a draw of the group's calibration (below), and
the group's rows reweighted, e_i ~ Exp(1),

    draws_d   = m(W_d of the group, rows weighted by e) + (1 - w) [E_d - m(W_d, all rows)]
    estimate  = m(W of the group, its rows) + w R      + (1 - w) [E - m(W, all rows)]

(on a scale that suits the metric, below), where

- E and E_d are the method's estimate and draws on all rows: what it does beyond its posterior
  applies to groups too. The draws are moved so that their median is as far from the estimate as on
  all rows.
- R is the metric on the group's labels minus what its posterior expects there, w = r / (1 + r) with
  r = (labels / 500)^2: with many labels a group needs the whole no more.
- The scores of all rows count as one row more of every group, since few rows of a group do
  not show all scores that it has (a Dirichlet process around the whole; Ferguson, Annals of
  Statistics 1, 1973). Not so for calibration errors, whose bins they would blur.

That is the target ``"population"``, all rows that those of the group represent. For the target
``"rows"``, the rows at hand, labels are drawn from W_d instead, known ones kept, and no row is
weighed anew: with every row labeled nothing is uncertain any more. Where all rows of the data are
labeled, the estimates of both targets are the metrics on the labels of the group.

How far the calibration of a group is off is a shift and a slope of its log-odds, shrunk to zero.
For a row of group g with the posterior W of the whole,

    log W_g(k) = log W(k) + delta_gk + kappa_g h(k) + constant,     h(k) = log W(k) - mean of it,
    delta_gk ~ N(0, tau^2),     kappa_g ~ N(0, (c tau)^2),     log tau ~ N(log tau_0, s^2).

With u the score and j the information of a coefficient on the labeled rows of the group, its
posterior is, at the variance t = tau^2 (or c^2 tau^2),

    N( t u / (1 + t j),  t / (1 + t j) ),      evidence for t:  u^2 t / (1 + t j) - log(1 + t j),

so that t j / (1 + t j) is the share that the group's own labels have in it and the rest comes
from the whole: 1 without a label. tau is weighed on a grid by the evidence of all groups together
(empirical Bayes with a prior; Efron and Morris, JASA 70, 1975).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby

import numpy as np

from ssme.arrays import FloatArray, IntArray
from ssme.data.scoreset import ScoreSet
from ssme.methods import clusters as clustering
from ssme.methods.base import Belief, DrawsPosterior, Estimate, GroupRows, number_rows
from ssme.methods.beliefs import draw_labels, find_labels_at
from ssme.methods.draws import average_defined, log_odds, make_child_seed
from ssme.metrics.base import Metric, one_hot_mass
from ssme.metrics.confusion import predicted_classes
from ssme.metrics.kinds import Calibration, Decision
from ssme.progress import tell

GROUP_DRAWS = 0x6709
"""Branch of the seed that the draws of groups come from."""
LEAST = 1e-12
"""Least probability whose logarithm is taken."""
EDGE = 1e-6
"""Share of a metric's range at its ends that counts as the end itself."""


@dataclass(frozen=True)
class GroupConstants:
    """Constants of the estimates of groups; chosen on adult (sex, race, decades of age).

    ``benchmarks/decide/groups.py`` measures them on sets that had no part in the choice.
    """

    # median, before the labels, of the standard deviation tau of a group's shift in log-odds
    scale: float = 0.15
    scale_spread: float = 0.7  # standard deviation of log tau before the labels
    slope: float = 0.7  # standard deviation of a group's change of slope, as a multiple of tau
    # least and largest tau that are weighed, and how many in between
    scale_grid: tuple[float, float, int] = (0.02, 1.5, 15)
    newton_steps: int = 5  # steps to the coefficients of the groups
    farthest: float = 5.0  # largest coefficient that a step may reach
    # rows that the whole adds to a group: prior weight of the scores of all rows
    whole_rows: float = 1.0
    whole_sample: int = 20  # rows of the whole that stand for all of them in this
    whole_sets: int = 16  # sets of their weights; groups take one of them each
    # labels of a group at which half of what they say beyond the posterior is believed
    half: float = 500.0
    least_labels: int = 20  # labels of a group from which this is computed
    leftover: float = 2.5  # how often the variance that the correction leaves counts
    # label draws behind the correction of a group, and behind estimates for the rows at hand
    label_draws: int = 50
    # rows of a group from which a metric of the rows at hand has no visible steps
    smooth_rows: int = 100
    most_rows: int = 2000  # rows of a group on which draws are computed
    batch_cells: int = 1 << 22  # cells (draws x rows x classes) held at once
    # draws x rows up to which a row has the same weight in every grouping
    joint_cells: int = 1 << 23
    # power to which shares of draws are taken for P(worst) among three groups or more, faded to
    # one as the labels of groups take over; chosen on runs 5 to 7 of adult, diabetes_readmit and
    # mmlupro_llm_logit with 50 labels, where 0.4 to 1 were tried
    worst: float = 0.5


def estimate_groups(
    belief: Belief,
    data: ScoreSet,
    metrics: Sequence[Metric],
    groups: Sequence[tuple[str, GroupRows]],
    *,
    target: str = "population",
    seed: int = 0,
) -> tuple[list[list[Estimate]], list[float]]:
    """Estimates [group][metric] and the shrinkage of each group (NaN: not known).

    ``groups`` are (grouping, rows), all rows first. A belief that does not draw its posterior
    (`DrawsPosterior`) estimates groups itself, and so does every one where a metric needs hard
    labels. ``target`` is "population" or "rows".
    """
    rows = [part for _, part in groups]
    if (
        len(groups) == 1
        or not isinstance(belief, DrawsPosterior)
        or any(metric.hard_only for metric in metrics)
    ):
        return belief.estimate(metrics, rows), [float("nan")] * len(groups)
    if data.n_unlabeled == 0:
        known = belief.estimate(metrics, rows)
        if target == "rows":
            # nothing is uncertain: the labels of all rows at hand are known
            for group in known[1:]:
                for m, each in enumerate(group):
                    if each.draws is not None:
                        group[m] = Estimate(each.value, np.ones_like(each.draws) * each.value)
        return known, [float("nan"), *[0.0] * (len(groups) - 1)]
    whole = belief.estimate(metrics, rows[:1])
    sequence = np.random.SeedSequence(seed, spawn_key=(GROUP_DRAWS,))
    estimator = GroupEstimator(belief, data, tuple(metrics), tuple(whole[0]), target, sequence)
    estimates, shrinkage = list(whole), [float("nan")]
    for number, (_, members) in enumerate(groupby(groups[1:], key=lambda each: each[0])):
        inside = [number_rows(part, data.n_rows) for _, part in members]
        found, own = estimator.estimate(inside, number)
        estimates += found
        shrinkage += [1.0 - share for share in own]
    return estimates, shrinkage


@dataclass(frozen=True, eq=False)
class GroupEstimator:
    """Estimates groups of ``data``; ``whole`` are the estimates of ``metrics`` on all rows."""

    belief: DrawsPosterior
    data: ScoreSet
    metrics: tuple[Metric, ...]
    whole: tuple[Estimate, ...]
    target: str = "population"
    seed: np.random.SeedSequence = field(default_factory=lambda: np.random.SeedSequence(0))
    constants: GroupConstants = field(default_factory=GroupConstants)

    def estimate(
        self, groups: Sequence[IntArray], number: int
    ) -> tuple[list[list[Estimate]], list[float]]:
        """Estimates [group][metric] of grouping ``number``, and the share of own labels in each."""
        shifts, labeled = self._fit_shifts(groups)
        rng = np.random.default_rng(make_child_seed(make_child_seed(self.seed, number), 0))
        drawn = shifts.draw(self.n_draws, rng)
        made = self._estimate_population if self.target == "population" else self._estimate_rows
        estimates: list[list[Estimate]] = []
        own = []
        fading = 1.0 - self.constants.worst
        for g, soft in self._shift_posteriors(groups, drawn):
            tell("groups", g + 1, len(groups))
            n_labeled, least = labeled[g].size, self.constants.least_labels
            ratio = (n_labeled / self.constants.half) ** 2 if n_labeled >= least else 0.0
            weight = ratio / (1.0 + ratio)
            group = _GroupCase(groups[g], labeled[g], *soft, shifts.point[g], drawn[:, g], weight)
            exponent = 1.0 - fading * (1.0 - weight)
            estimates.append([replace(e, worst_exponent=exponent) for e in made(group, rng)])
            own.append(float(1.0 - (1.0 - shifts.own[g]) * (1.0 - weight)))
        return estimates, own

    @cached_property
    def n_draws(self) -> int:
        """Number of draws of the posterior."""
        return len(self.belief.draw_posteriors(np.zeros(1, dtype=np.int64)))

    @cached_property
    def directions(self) -> ShiftDirections:
        """What the coefficients of groups multiply."""
        return ShiftDirections.of(self.belief.soft)

    @cached_property
    def _whole_part(self) -> IntArray:
        """Rows that represent all rows."""
        rng = np.random.default_rng(make_child_seed(self.seed, 1 << 20))
        most = min(self.constants.whole_sample, self.data.n_rows)
        return np.sort(rng.choice(self.data.n_rows, most, replace=False))

    @cached_property
    def _whole_logs(self) -> FloatArray:
        return np.log(np.maximum(self.belief.draw_posteriors(self._whole_part), LEAST))

    @cached_property
    def _whole_weights(self) -> FloatArray:
        """A few sets of weights (S, D, b) of these rows, of which each group takes one."""
        rng = np.random.default_rng(make_child_seed(self.seed, (1 << 20) + 1))
        each, most = self.constants.whole_rows / self._whole_part.size, self._whole_part.size
        return rng.standard_gamma(each, (self.constants.whole_sets, self.n_draws, most))

    @cached_property
    def _row_weights(self) -> FloatArray | None:
        """Weights e (D, n), the same in every grouping; None where there are too many."""
        shape = (self.n_draws, self.data.n_rows)
        if shape[0] * shape[1] > self.constants.joint_cells:
            return None
        rng = np.random.default_rng(make_child_seed(self.seed, 1 << 21))
        return clustering.draw_row_exponentials(rng, *shape, self.data.clusters)

    @cached_property
    def _corrections(self) -> list[Correction]:
        """What the method says beyond its posterior, per metric."""
        part = self._take_part(np.arange(self.data.n_rows))
        everywhere = self._weigh(self.belief.soft[None], np.arange(self.data.n_rows))
        drawn = self._weigh(self.belief.draw_posteriors(part), part)
        found = []
        for metric, estimate in zip(self.metrics, self.whole, strict=True):
            plugged = metric.plan(self.data.scores)(everywhere)[0]
            raw = metric.plan(self.data.scores[part])(drawn)
            found.append(Correction.of(metric, estimate, plugged, raw))
        return found

    def _fit_shifts(self, groups: Sequence[IntArray]) -> tuple[GroupShifts, list[IntArray]]:
        """The posterior of the groups' calibration, and the labeled rows of each."""
        labeled = [rows[self.data.labeled[rows]] for rows in groups]
        known = np.concatenate([np.zeros(0, dtype=np.int64), *labeled])
        codes = np.repeat(np.arange(len(groups)), [rows.size for rows in labeled])
        soft = self._as_labeled(self.belief.soft[known])
        point = np.zeros((len(groups), self.directions.size))
        labels, farthest = self.data.labels[known], self.constants.farthest
        worth = np.ones(known.size)
        if self.data.clusters is not None and clustering.has_repeats(self.data.clusters[known]):
            # a label counts less where several of its cluster and group do
            clusters, seen = self.data.clusters[known], labels[:, None] == np.arange(soft.shape[1])
            worth = clustering.weigh_rows(
                clustering.find_correlation(seen - soft, clusters), clusters
            )
        for _ in range(self.constants.newton_steps):
            evidence = self.directions.sum_evidence(soft, labels, codes, point, worth)
            found = fit_group_shifts(*evidence, self.constants)
            point = np.clip(found.point, -farthest, farthest)
        return found, labeled

    def _shift_posteriors(
        self, groups: Sequence[IntArray], drawn: FloatArray
    ) -> Iterator[tuple[int, tuple[IntArray, FloatArray]]]:
        """Each group's rows behind the draws and their posteriors (D, r, K), shifted."""
        parts = [self._take_part(rows) for rows in groups]
        most = max(1, self.constants.batch_cells // (self.n_draws * self.data.n_classes))
        first = 0
        while first < len(parts):
            last, total = first + 1, parts[first].size
            while last < len(parts) and total + parts[last].size <= most:
                total += parts[last].size
                last += 1
            rows = np.concatenate(parts[first:last])
            sizes = [part.size for part in parts[first:last]]
            coefficients = np.repeat(drawn[:, first:last], sizes, axis=1)
            soft = self.directions.shift(self.belief.draw_posteriors(rows), coefficients)
            start = 0
            for g, size in enumerate(sizes, start=first):
                yield g, (parts[g], soft[:, start : start + size])
                start += size
            first = last

    def _estimate_population(self, group: _GroupCase, rng: np.random.Generator) -> list[Estimate]:
        """Estimates for all rows that those of the group represent."""
        rows, part, point, weight = group.rows, group.part, group.point, group.weight
        n_rows, n_part = rows.size, part.size
        noise = self._draw_noise(part, rng)
        if n_part < n_rows:
            noise *= clustering.find_part_spread(part, rows, self.data.clusters)
        shifted = self.directions.shift(self.belief.soft[rows], point)
        weights = self.data.weights
        mean = float(weights[rows].mean()) if weights is not None and n_rows else 1.0
        more, more_center = self._make_whole_mass(group.drawn, point, mean, rng)
        draws_mass = self._weigh(group.soft * (1.0 + noise)[:, :, None], part)
        draws_mass = np.concatenate([draws_mass, more], axis=1)
        center_mass = np.concatenate([self._weigh(shifted, rows), more_center], axis=0)
        whole = self.data.scores[self._whole_part]
        scores, center_scores = (
            np.concatenate([self.data.scores[each], whole]) for each in (part, rows)
        )
        if weight > 0.0:
            normal = rng.standard_normal((self.n_draws, self.constants.label_draws))
        out = []
        for metric, correction in zip(self.metrics, self._corrections, strict=True):
            alone = isinstance(metric.kind, Calibration) and n_rows > 0
            upto, upto_part = (n_rows, n_part) if alone else (None, None)
            plan = metric.plan(center_scores[:upto])
            draws_plan = plan if n_part == n_rows else metric.plan(scores[:upto_part])
            value = plan(center_mass[None, :upto])[0]
            draws = draws_plan(draws_mass[:, :upto_part])
            if weight > 0.0:
                residual, chance = self._measure_residual(metric, group.known, point)
                value = value + weight * residual
                share = weight**2 + self.constants.leftover * weight * (1.0 - weight)
                draws = draws + np.sqrt(share / len(chance)) * (normal @ chance)
            left, low, high = 1.0 - weight, metric.low, metric.high
            value = move_by(metric, np.clip(value, low, high), left * correction.value)
            value = np.clip(value, low, high)
            draws = move_by(metric, np.clip(draws, low, high), left * correction.draws)
            center = move_by(metric, value, left * correction.off_center)
            draws = move_median(metric, draws, center)
            if n_rows:
                seed = make_child_seed(self.seed, (1 << 24) + int(rows[0]))
                draws = leave_end(metric, self.data.scores[rows], shifted, draws, seed)
            out.append(Estimate(value, draws))
        return out

    def _estimate_rows(self, group: _GroupCase, rng: np.random.Generator) -> list[Estimate]:
        """Estimates for the group's rows themselves: labels drawn, known ones kept."""
        rows, part = group.rows, group.part
        labels = find_labels_at(rng.random(group.soft.shape[:2]), group.soft)
        labels = self._clamp(labels, part)
        center = self.directions.shift(self.belief.soft[part], group.point)
        center_labels = self._clamp(draw_labels(center, self.constants.label_draws, rng), part)
        open_share = 1.0 - group.known.size / max(1, rows.size)
        spread = float(np.sqrt(part.size / max(1, rows.size)))
        out = []
        for metric, correction in zip(self.metrics, self._corrections, strict=True):
            plan = metric.plan(self.data.scores[part])
            value = average_defined(plan(self._make_hard_mass(center_labels, part)))
            value = move_by(metric, value, open_share * correction.value)
            value = np.clip(value, metric.low, metric.high)
            draws = move_by(
                metric, plan(self._make_hard_mass(labels, part)), open_share * correction.draws
            )
            if rows.size >= self.constants.smooth_rows:
                center = move_by(metric, value, open_share * correction.off_center)
                draws = move_median(metric, center + spread * (draws - center), center)
            draws = np.clip(draws, metric.low, metric.high)
            out.append(Estimate(value, draws))
        return out

    def _draw_noise(self, part: IntArray, rng: np.random.Generator) -> FloatArray:
        """e - 1 (D, r) of the rows ``part``."""
        if self._row_weights is not None:
            return self._row_weights[:, part] - 1.0
        if self.data.clusters is not None:
            rng = np.random.default_rng(make_child_seed(self.seed, 1 << 21))
            everywhere = (self.n_draws, self.data.n_rows, self.data.clusters)
            return clustering.draw_row_exponentials(rng, *everywhere)[:, part] - 1.0
        return rng.standard_exponential((self.n_draws, part.size)) - 1.0

    def _make_whole_mass(
        self, drawn: FloatArray, point: FloatArray, mean: float, rng: np.random.Generator
    ) -> tuple[FloatArray, FloatArray]:
        """Mass (D, b, K) and (b, K) of the rows of the whole that count for a group."""
        part = self._whole_part
        each = mean * self.constants.whole_rows / part.size
        soft = self.directions.shift_logs(self._whole_logs, drawn[:, None, :])
        gamma = self._whole_weights[rng.integers(len(self._whole_weights))]
        center = self.directions.shift(self.belief.soft[part], point)
        return soft * (mean * gamma)[:, :, None], center * each

    def _measure_residual(
        self, metric: Metric, known: IntArray, point: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """R (M,) of the labels ``known``, and what it would be by chance (B, M)."""
        soft = self._as_labeled(self.directions.shift(self.belief.soft[known], point))
        rng = np.random.default_rng(make_child_seed(self.seed, 1 << 22))
        plan = metric.plan(self.data.scores[known])
        labels = draw_labels(soft, self.constants.label_draws, rng)
        drawn = plan(self._make_hard_mass(labels, known))
        mean = average_defined(drawn)
        observed = plan(self._make_hard_mass(self.data.labels[known][None], known))[0]
        off, chance = observed - mean, drawn - mean
        return np.where(np.isfinite(off), off, 0.0), np.where(np.isfinite(chance), chance, 0.0)

    def _as_labeled(self, soft: FloatArray) -> FloatArray:
        """``soft`` (l, K) of rows that were chosen for a label."""
        out: FloatArray = soft * np.exp(self.belief.label_shift - self.belief.label_shift.max())
        out /= out.sum(axis=1, keepdims=True)
        return out

    def _take_part(self, rows: IntArray) -> IntArray:
        """At most ``most_rows`` of ``rows``, labeled ones among them as they come."""
        most = self.constants.most_rows
        if rows.size <= most:
            return rows
        rng = np.random.default_rng(make_child_seed(self.seed, 1 << 23))
        return np.sort(rng.choice(rows, most, replace=False))

    def _clamp(self, labels: IntArray, rows: IntArray) -> IntArray:
        """``labels`` (D, r) with the labels of ``rows`` that are known."""
        known = self.data.labels[rows]
        return np.where(known >= 0, known, labels)

    def _make_hard_mass(self, labels: IntArray, rows: IntArray) -> FloatArray:
        return self._weigh(one_hot_mass(labels, self.data.n_classes), rows)

    def _weigh(self, labelings: FloatArray, rows: IntArray) -> FloatArray:
        """Mass (..., r, K) of labelings, rows counting by their weight."""
        if self.data.weights is None:
            return labelings
        return labelings * self.data.weights[rows][:, None]


@dataclass(frozen=True, eq=False)
class _GroupCase:
    """One group as its estimates see it.

    ``rows`` are all of its rows, ``known`` those with a label, ``part`` those behind the draws and
    ``soft`` (D, r, K) their drawn posteriors; ``point`` and ``drawn`` (D, ...) are the coefficients
    of its shift, ``weight`` that of the correction by its labels.
    """

    rows: IntArray
    known: IntArray
    part: IntArray
    soft: FloatArray
    point: FloatArray
    drawn: FloatArray
    weight: float


@dataclass(frozen=True, eq=False)
class Correction:
    """What a method says of a metric on all rows beyond its posterior.

    ``value`` (M,) leads from m(W, all rows) to E on the metric's scale (`measure_step`),
    ``draws`` (D, M) from m(W_d, all rows) to E_d, ``off_center`` (M,) from E to the median of E_d.
    """

    value: FloatArray
    draws: FloatArray
    off_center: FloatArray

    @classmethod
    def of(
        cls, metric: Metric, estimate: Estimate, plugged: FloatArray, raw: FloatArray
    ) -> Correction:
        """From the estimate, m(W, all rows) (M,) and m(W_d, all rows) (D, M)."""
        value = measure_step(metric, plugged, estimate.value)
        if estimate.draws is None or estimate.draws.shape != raw.shape:
            return cls(value, np.broadcast_to(value, raw.shape), np.zeros_like(value))
        known = np.isfinite(estimate.draws).any(axis=0)
        median = np.full_like(value, np.nan)
        median[known] = np.nanmedian(estimate.draws[:, known], axis=0)
        draws = measure_step(metric, raw, estimate.draws)
        return cls(value, draws, measure_step(metric, estimate.value, median))


# -------------------------------------------------------------------------------------------------
# How far the calibration of a group is off: a shift and a slope of its log-odds


@dataclass(frozen=True, eq=False)
class ShiftDirections:
    """What the coefficients of a group multiply: classes ``shifted``, and h with means ``center``.

    With two classes one shift says all; with more each class has its own.
    """

    shifted: tuple[int, ...]
    center: FloatArray

    @classmethod
    def of(cls, soft: FloatArray) -> ShiftDirections:
        """For the posterior ``soft`` (n, K) of all rows."""
        n_classes = soft.shape[1]
        information = soft * (1.0 - soft) + LEAST
        logs = np.log(np.maximum(soft, LEAST))
        center = (information * logs).sum(axis=0) / information.sum(axis=0)
        return cls((1,) if n_classes == 2 else tuple(range(n_classes)), center)

    @property
    def size(self) -> int:
        """Number of coefficients: the shifts, then the slope."""
        return len(self.shifted) + 1

    def shift(self, soft: FloatArray, coefficients: FloatArray) -> FloatArray:
        """``soft`` (..., r, K) with ``coefficients`` (..., r, P) or (..., 1, P) added."""
        return self.shift_logs(np.log(np.maximum(soft, LEAST)), coefficients)

    def shift_logs(self, logs: FloatArray, coefficients: FloatArray) -> FloatArray:
        """The same from the logarithms of ``soft``."""
        if len(self.shifted) == 1:
            step = (logs[..., 1] - logs[..., 0]) * (1.0 + coefficients[..., -1])
            step -= coefficients[..., -1] * (self.center[1] - self.center[0])
            step += coefficients[..., 0]
            np.negative(step, out=step)
            with np.errstate(over="ignore"):
                np.exp(step, out=step)
            out = np.empty(np.broadcast_shapes(logs.shape, (*step.shape, 2)))
            np.divide(1.0, 1.0 + step, out=out[..., 1])
            np.subtract(1.0, out[..., 1], out=out[..., 0])
            return out
        z = logs + coefficients[..., -1:] * (logs - self.center)
        z[..., list(self.shifted)] += coefficients[..., :-1]
        z -= z.max(axis=-1, keepdims=True)
        np.exp(z, out=z)
        z /= z.sum(axis=-1, keepdims=True)
        return z

    def sum_evidence(
        self,
        soft: FloatArray,
        labels: IntArray,
        groups: IntArray,
        point: FloatArray,
        worth: FloatArray,
    ) -> tuple[FloatArray, FloatArray]:
        """Score and information (G, P) of labeled rows with posterior ``soft`` (l, K).

        Each row counts ``worth`` (l,) times.
        Both are taken at the coefficients ``point`` (G, P) and the score is carried to zero with
        the information, as in iterated weighted least squares.
        """
        observed = (labels[:, None] == np.arange(soft.shape[1])).astype(np.float64)
        h = np.log(np.maximum(soft, LEAST)) - self.center
        there = self.shift(soft, point[groups])
        off = observed - there
        mean = (there * h).sum(axis=1)
        score = [off[:, k] for k in self.shifted] + [(off * h).sum(axis=1)]
        information = [there[:, k] * (1.0 - there[:, k]) for k in self.shifted]
        information.append((there * h**2).sum(axis=1) - mean**2)
        score, information = ([worth * each for each in part] for part in (score, information))
        bend = _sum_by_group(information, groups, len(point))
        return _sum_by_group(score, groups, len(point)) + bend * point, bend


@dataclass(frozen=True, eq=False)
class GroupShifts:
    """Posterior of the coefficients of each group, a mixture over tau.

    ``weights`` (T,) are those of the grid; ``mean`` and ``variance`` (T, G, P) the normal
    posterior at each tau; ``own`` (G,) the share of the group's own labels.
    """

    weights: FloatArray
    mean: FloatArray
    variance: FloatArray
    own: FloatArray

    @property
    def point(self) -> FloatArray:
        """Mean (G, P) of the coefficients."""
        return np.einsum("t,tgp->gp", self.weights, self.mean)

    def draw(self, n_draws: int, rng: np.random.Generator) -> FloatArray:
        """Draws (D, G, P); tau is the same for all groups of a draw."""
        at = rng.choice(self.weights.size, n_draws, p=self.weights)
        normal = rng.standard_normal((n_draws, *self.mean.shape[1:]))
        return self.mean[at] + np.sqrt(self.variance[at]) * normal


def fit_group_shifts(
    score: FloatArray, information: FloatArray, constants: GroupConstants
) -> GroupShifts:
    """The posterior of the coefficients of all groups, from `sum_evidence` (G, P)."""
    least, most, count = constants.scale_grid
    tau = np.geomspace(least, most, count)
    factor = np.ones(score.shape[1])
    factor[-1] = constants.slope
    t = (tau[:, None] * factor) ** 2
    scaled = 1.0 + t[:, None, :] * information
    fit = t[:, None, :] * score**2 / scaled - np.log(scaled)
    prior = -0.5 * (np.log(tau / constants.scale) / constants.scale_spread) ** 2
    log_weight = prior + 0.5 * fit.sum(axis=(1, 2))
    weights = np.exp(log_weight - log_weight.max())
    weights /= weights.sum()
    share = (t[:, None, :] * information / scaled)[:, :, :-1].mean(axis=2)
    return GroupShifts(
        weights=weights,
        mean=t[:, None, :] * score / scaled,
        variance=t[:, None, :] / scaled,
        own=weights @ share,
    )


def _sum_by_group(values: Sequence[FloatArray], groups: IntArray, n_groups: int) -> FloatArray:
    return np.stack([np.bincount(groups, v, n_groups) for v in values], axis=1)


# -------------------------------------------------------------------------------------------------
# The scale on which what is known of all rows is carried to a group.
#
# A metric whose range is finite and of which more is better (accuracy, AUC, F1) moves on the
# logit of its range, so that a group that is right 99 times in 100 is moved less than one that is
# right 80 times; an error, of which zero must stay within reach, moves by adding. Values at the
# very ends of the range stay there.


def measure_step(metric: Metric, start: FloatArray, end: FloatArray) -> FloatArray:
    """What leads from ``start`` to ``end`` on the scale of ``metric``; zero where undefined."""
    step = _to_scale(metric, end) - _to_scale(metric, start)
    return np.where(np.isfinite(step), step, 0.0)


def move_by(metric: Metric, values: FloatArray, step: FloatArray) -> FloatArray:
    """``values`` moved by ``step`` on the scale of ``metric``; by adding also out of its range.

    What is moved in several steps is cut to the range once, at the end: cut earlier, draws that met
    at zero would stay together.
    """
    if not _is_bounded(metric):
        return values + step
    span = metric.high - metric.low
    share = (values - metric.low) / span
    inside = metric.low + span / (1.0 + np.exp(-(_to_scale(metric, values) + step)))
    at_end = (share <= EDGE) | (share >= 1.0 - EDGE)
    return np.where(at_end, values, inside)


def move_median(metric: Metric, draws: FloatArray, center: FloatArray) -> FloatArray:
    """``draws`` (D, M) with ``center`` (M,) as median; defined draws replace undefined ones."""
    known = np.isfinite(center) & np.isfinite(draws).any(axis=0)
    shown = draws[:, known]
    for m in np.flatnonzero(~np.isfinite(shown).all(axis=0)):
        defined = shown[np.isfinite(shown[:, m]), m]
        shown[:, m] = np.resize(defined, len(shown))
    target = center[known]
    moved = move_by(metric, shown, measure_step(metric, np.median(shown, axis=0), target))
    moved += target - np.median(moved, axis=0)
    out: FloatArray = np.full_like(draws, np.nan)
    out[:, known] = np.clip(moved, metric.low, metric.high)
    return out


def _is_bounded(metric: Metric) -> bool:
    return bool(metric.greater_is_better) and bool(np.isfinite(metric.high - metric.low))


def _to_scale(metric: Metric, values: FloatArray) -> FloatArray:
    if not _is_bounded(metric):
        return values
    return log_odds((values - metric.low) / (metric.high - metric.low), EDGE)


# -------------------------------------------------------------------------------------------------
# Rates of which a group shows no case: how large may they be among others like its rows?
#
# A classifier that predicts class k for no row of a group finds none of its n cases of k there: its
# recall is 0 in every draw. That is no proof for the people whom the rows stand for. With no case
# among n seen, and all rates alike probable before, a rate has the distribution Beta(1, n): at most
# "three in n" with 95% probability. Likewise where it predicts k for every row, whose recall is 1.


def leave_end(
    metric: Metric,
    scores: FloatArray,
    soft: FloatArray,
    draws: FloatArray,
    seed: np.random.SeedSequence,
) -> FloatArray:
    """``draws`` (D, M) that are as far from 0 or 1 as a rate without a case seen may be.

    ``scores`` (r, M, K) and ``soft`` (r, K) are those of the group's rows. Draws of metrics that
    are not a share of the rows of a true class stay as they are, and so do those of classifiers
    that predict that class for some of the rows and for others not.
    """
    kind = metric.kind
    if not isinstance(kind, Decision) or kind.share_of is None or kind.share_of.true is None:
        return draws
    k, present = kind.share_of.true, np.isfinite(scores).all(axis=2)
    predicted = (predicted_classes(scores, kind.threshold) == k) & present
    always = (predicted == present).all(axis=0) & present.any(axis=0)
    either = (always | ~predicted.any(axis=0)) & present.any(axis=0)
    if not either.any():
        return draws
    cases = (soft[:, k, None] * present).sum(axis=0)
    unseen = np.random.default_rng(seed).beta(1.0, np.maximum(cases, 1.0), draws.shape)
    far = np.where(always, np.minimum(draws, 1.0 - unseen), np.maximum(draws, unseen))
    return np.where(either, far, draws)
