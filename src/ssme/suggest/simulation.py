"""Runs of labeling that joint draws say are possible, and where they meet a target.

In each of S possible worlds a joint draw is the truth, a class is drawn for every row that agrees
with it (`possible`), and rows are labeled at random, to 4, 16, ... times as many as there are.
The method is fitted to each: mu_w(n), the estimates, and x_w(n), the draws about them.

- The width of an interval is read off each fit.
- The probability of the best and the regret depend on where the estimates have moved from mu, where
  they are now, and on how far the draws spread about them. They are read off all pairs of worlds
  and both directions, mu + (mu_v(n) - mu) + x_w(n) and mu - (mu_v(n) - mu) + x_w(n): few fits then
  tell much. How far draws spread hardly depends on the world, and a belief that expects its
  estimates to move one way rather than the other would have moved them. Thirty worlds or more tell
  enough by themselves, and each is read off its own fit.

At each n that gives a sample of what the target bounds. A quantile of it as a function of n, made
monotone, on lines between logarithms of which the last is drawn on, crosses the bound at the number
of labels with which that share of the runs meets the target. (A model in which all differences
shrink alike, mu moving with them, told a half of the labels that regret takes: differences between
good models shrink least.)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ssme.data.design import LabelRounds, find_rounds, make_design
from ssme.data.scoreset import ScoreSet
from ssme.errors import InputError
from ssme.methods.base import Estimate, Method
from ssme.methods.beliefs import draw_labels
from ssme.metrics.base import FloatArray, Metric
from ssme.metrics.influence import measure_influence
from ssme.mixture.monotone import make_falling
from ssme.options import list_declared
from ssme.progress import track
from ssme.results.evaluation import BaseEvaluation
from ssme.spec import RunSpec
from ssme.suggest.constants import PlanConstants, TiltConstants
from ssme.suggest.rows import believe
from ssme.suggest.targets import Target

# -------------------------------------------------------------------------------------------------
# Possible truths: labels of all rows that agree with one joint draw of a metric.
#
# A draw says what the metric m of every classifier may truly be. Among all labelings that give
# these values the one nearest to the belief W tilts it along the influences psi of the labels,
#
#     W_d(k | i)  ~  W(k | i) exp( sum_j l_j psi_ij(k) ),     l such that m(W_d) = draw d
#
# (least Kullback-Leibler distance to first order). Labels drawn from W_d are a world in which the
# classifiers are as good as the draw says, and row by row as the belief thinks likely.


def tilt_belief(
    metric: Metric,
    scores: FloatArray,
    belief: FloatArray,
    weights: FloatArray | None,
    influence: FloatArray,
    wanted: FloatArray,
    constants: TiltConstants | None = None,
) -> FloatArray:
    """W_d (n, K): ``belief`` (n, K) tilted until the metric is as ``wanted`` (M,).

    ``influence`` (n, K, M) is psi at ``belief``; a NaN in ``wanted`` asks for nothing.
    """
    of = constants or TiltConstants()
    plan = metric.plan(scores)
    known = np.isfinite(wanted)
    psi = influence[:, :, known]
    steps = np.zeros(int(known.sum()))
    tilted = belief
    for _ in range(of.steps):
        mass = tilted if weights is None else tilted * weights[:, None]
        missing = wanted[known] - plan(mass[None])[0][known]
        if not np.isfinite(missing).all() or np.abs(missing).max(initial=0.0) < of.near:
            break
        mean = np.einsum("nk,nkm->nm", tilted, psi)
        flat = psi.reshape(-1, psi.shape[2])
        covariance = (flat * tilted.reshape(-1, 1)).T @ flat - mean.T @ mean
        covariance += np.eye(len(covariance)) * of.ridge * max(np.trace(covariance), 1e-12)
        steps = steps + np.linalg.solve(covariance, missing)
        push = np.clip(psi @ steps, -of.strongest, of.strongest)
        tilted = belief * np.exp(push - push.max(axis=1, keepdims=True))
        tilted = tilted / tilted.sum(axis=1, keepdims=True)
    return tilted


def draw_truth(
    tilted: FloatArray, labels: NDArray[np.int64], rng: np.random.Generator
) -> NDArray[np.int64]:
    """A class (n,) for every row: its label where it has one, else drawn from ``tilted``."""
    drawn = draw_labels(tilted, 1, rng)[0]
    out: NDArray[np.int64] = np.where(labels >= 0, labels, drawn)
    return out


@dataclass(frozen=True, eq=False)
class Sight:
    """What a target bounds, with ``labels`` labels in all: ``values``, one per run."""

    labels: int
    values: FloatArray

    @property
    def median(self) -> float:
        """The median over runs."""
        return float(np.median(self.values))

    def compute_share_met(self, target: Target) -> float:
        """Share of the runs that meet ``target``."""
        return float(np.mean([target.is_met(value) for value in self.values]))


def simulate_labeling(
    evaluation: BaseEvaluation,
    targets: Sequence[Target],
    simulations: int,
    of: PlanConstants,
    rng: np.random.Generator,
) -> tuple[tuple[Sight, ...], ...]:
    """What each of ``targets``, all about one metric, bounds at growing numbers of labels.

    Labels grow until nine runs of ten meet every target or they are as many as are fitted. Then the
    number in the middle of the step in which half of the runs came to meet a target is looked at.
    """
    worlds = imagine_worlds(evaluation, targets[0], simulations, of, rng)
    method, metric = _make_method(evaluation, of), targets[0].metric
    now = evaluation.estimates[0][evaluation.metrics.index(metric)]
    n_labeled = evaluation.data.n_labeled
    most = n_labeled + min(evaluation.data.n_unlabeled, of.rows_simulated)
    sights: list[list[Sight]] = [[] for _ in targets]
    pairs = list(zip(targets, sights, strict=True))

    def look(total: int) -> None:
        fits: list[Estimate] = []
        for number, world in enumerate(track(worlds, f"fits to {total} labels")):
            fitted = method.fit(world.give_labels(total), np.random.default_rng(number))
            fits.append(fitted.estimate([metric], [None])[0][0])
        for target, seen in pairs:
            seen.append(Sight(total, _read(target, evaluation, now, fits, of)))

    for total in count_totals(n_labeled, most, of):
        look(total)
        if all(seen[-1].compute_share_met(target) >= of.spread[1] for target, seen in pairs):
            break
    for total in sorted({_find_middle(t, seen, n_labeled, of) for t, seen in pairs} - {0}):
        look(total)
    return tuple(tuple(sorted(seen, key=lambda sight: sight.labels)) for seen in sights)


def _find_middle(target: Target, sights: Sequence[Sight], n_labeled: int, of: PlanConstants) -> int:
    """The middle of the step in which half of the runs came to meet the target; 0: none."""
    before = max(n_labeled, 1)
    for sight in sights:
        if sight.compute_share_met(target) >= 0.5:
            wide = sight.labels > before * of.widest_step
            return round(float(np.sqrt(before * sight.labels))) if wide else 0
        before = sight.labels
    return 0


@dataclass(frozen=True, eq=False)
class World:
    """A possible world: the class of every row, and the order in which rows get their labels."""

    data: ScoreSet
    classes: NDArray[np.int64]
    order: NDArray[np.int64]

    def give_labels(self, total: int) -> ScoreSet:
        """The data with ``total`` labels."""
        known = self.data.labels.copy()
        asked = self.order[: total - self.data.n_labeled]
        known[asked] = self.classes[asked]
        return _grow(self.data, known)


def imagine_worlds(
    evaluation: BaseEvaluation,
    target: Target,
    number: int,
    of: PlanConstants,
    rng: np.random.Generator,
) -> list[World]:
    """Worlds in which the metric of the target is as joint draws of it say."""
    part = _take_part(evaluation, of.rows_simulated, rng)
    data, belief = evaluation.data.take(part), believe(evaluation, of.suggest.doubt)[part]
    metric, scores, least = target.metric, data.scores, of.suggest.least_share
    estimate = evaluation.estimates[0][evaluation.metrics.index(metric)]
    everywhere = np.ones(data.n_rows, dtype=bool)
    psi = measure_influence(metric, scores, belief, data.weights, everywhere, least)
    worlds = []
    for wanted in _spread_draws(estimate, number, rng):
        tilted = tilt_belief(metric, scores, belief, data.weights, psi, wanted, of.tilt)
        truth = draw_truth(tilted, data.labels, rng)
        worlds.append(World(data, truth, rng.permutation(np.flatnonzero(~data.labeled))))
    return worlds


def _spread_draws(
    estimate: Estimate, number: int, rng: np.random.Generator
) -> Iterator[FloatArray]:
    """Joint draws (M,) that stand for all: spread over the mean of the models.

    Where there are no draws, the estimate itself.
    """
    if estimate.draws is None:
        for _ in range(number):
            yield estimate.value
        return
    order = np.argsort(np.nanmean(estimate.draws, axis=1), kind="stable")
    parts = np.array_split(order, number) if order.size >= number else [order] * number
    for part in parts:
        yield estimate.draws[rng.choice(part)]


def _read(
    target: Target,
    evaluation: BaseEvaluation,
    now: Estimate,
    fits: list[Estimate],
    of: PlanConstants,
) -> FloatArray:
    """What the target bounds in every run that the fits tell of; ``now`` is before them."""
    models, level = evaluation.data.models, evaluation.level
    many = len(fits) >= of.each_by_itself
    if many or target.what == "width" or any(fit.draws is None for fit in fits):
        return np.array([target.measure(models, fit, level) for fit in fits])
    values = []
    known = np.isfinite([now.value, *(fit.value for fit in fits)]).all(axis=0)
    moves = [sign * (fit.value - now.value)[known] for fit in fits for sign in (1.0, -1.0)]
    for fit in fits:
        assert fit.draws is not None
        about = fit.draws[:, known] - fit.value[known]
        centers = [now.value[known] + move for move in moves]
        values += [target.read_draws(center, center + about) for center in centers]
    return np.array(values)


def find_crossing(
    target: Target,
    now: float,
    n_labeled: int,
    sights: Sequence[Sight],
    share: float,
    beyond: float = 1.0,
) -> float:
    """Labels in all with which ``share`` of the runs meet the target.

    The last line is drawn further, up to ``beyond`` times the labels that were looked at; infinite
    where the target is not met there.
    """
    rises = target.what == "P(best)"
    shown = [np.quantile(sight.values, 1.0 - share if rises else share) for sight in sights]
    values, bound = np.array([now, *shown]), target.bound
    if rises:
        values, bound = 1.0 - values, 1.0 - bound
    logs = make_falling(np.log(np.maximum(values, 1e-3 * bound)))
    labels = np.log([max(n_labeled, 1), *(sight.labels for sight in sights)])
    wanted, last = float(np.log(bound)), len(sights)
    for place, ((n_0, value_0), (n_1, value_1)) in enumerate(
        pairwise(zip(labels, logs, strict=True)), start=1
    ):
        if value_1 <= wanted or place == last:
            drop = value_0 - value_1
            part = max((value_0 - wanted) / drop, 0.0) if drop > 0.0 else np.inf
            if value_1 <= wanted:
                part = min(part, 1.0)
            crossed = n_0 + part * (n_1 - n_0)
            farthest = labels[-1] + np.log(beyond)
            return float(np.exp(crossed)) if crossed <= farthest + 1e-9 else float("inf")
    return float("inf")


def count_totals(n_labeled: int, most: int, of: PlanConstants) -> list[int]:
    """Numbers of labels that are tried: 4, 16, ... times as many, while fits are quick."""
    total = max(int(n_labeled * of.ratio), n_labeled + of.least_labels)
    totals = []
    while total <= max(of.labels_fitted, 2 * n_labeled):
        totals.append(min(total, most))
        if total >= most:
            break
        total = int(total * of.ratio)
    return totals or [min(2 * n_labeled, most)]


def _take_part(
    evaluation: BaseEvaluation, most: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """All labeled rows and at most ``most`` of the others."""
    labeled = evaluation.data.labeled
    free = np.flatnonzero(~labeled)
    if free.size > most:
        free = rng.choice(free, most, replace=False)
    return np.sort(np.concatenate([np.flatnonzero(labeled), free]))


def _grow(data: ScoreSet, labels: NDArray[np.int64]) -> ScoreSet:
    """The data with more labels, drawn at random; weights of the labels follow."""
    if data.design.weights is None:
        return data.replace(labels=labels)
    before = find_rounds(data.design, data.labels)
    new = (labels >= 0) & ~data.labeled
    number = np.where(new, before.next_number, before.number)
    chance = np.where(new, np.nan, before.probability)
    return data.replace(labels=labels, design=make_design(LabelRounds(chance, number), labels))


def _make_method(evaluation: BaseEvaluation, of: PlanConstants) -> Method:
    config = evaluation.settings.get("config")
    if not config or evaluation.streamed is not None:
        raise InputError(
            "labels cannot be planned for an evaluation that cannot be run again"
            + (f": {evaluation.settings.get('no_config')}" if not config else ", as it streamed"),
            allowed="evaluations in memory by a named method",
            fix="evaluate a part of the rows in memory",
        )
    method: Any = RunSpec.from_dict(config).make_method()
    declared = {option.name for option in list_declared(method)}
    if evaluation.posterior is None and "n_draws" in declared:
        method = replace(method, n_draws=min(method.n_draws, of.draws_quick))
    made: Method = method
    return made
