"""How many labels more a target takes, by simulation from the joint draws.

1. A joint draw is taken for the truth, a class is drawn for every row that agrees with it
   (`possible`), rows are labeled at random up to 2, 4, 8, ... times as many as there are, and the
   method is fitted to them: this tells how its intervals and its differences shrink, rho(n), the
   spread with n labels over the spread now.
2. A target of width is met where the simulated width crosses it.
3. For the probability of the best and the regret, every joint draw in turn is the truth theta. With
   n labels a belief with mean mu and spread Sigma now has the spread rho^2 Sigma and the mean

       rho^2 mu + (1 - rho^2) theta + sqrt(rho^2 (1 - rho^2)) e,     e ~ N(0, Sigma)

   (the normal model in which labels add information), from which the target is read.

The numbers of labels at which the target is met give the expected number and its uncertainty.

The effective number of labels says what the unlabeled rows are worth: labels alone give an interval
whose width falls with the square root of their number, so n labels with an interval of width w
beside one of width w_0 from labels alone are worth n (w_0 / w)^2 labels.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ssme.data.design import design_of_rounds, rounds_of
from ssme.data.rounds import LabelRounds
from ssme.data.scoreset import ScoreSet
from ssme.errors import InputError
from ssme.methods.base import Estimate, Method
from ssme.metrics.base import FloatArray
from ssme.options import Option, Whole, accept
from ssme.progress import track
from ssme.results.evaluation import BaseEvaluation
from ssme.results.frames import build_frame
from ssme.spec import RunSpec
from ssme.suggest.constants import PlanConstants
from ssme.suggest.influence import measure_influence
from ssme.suggest.possible import draw_truth, tilt_belief
from ssme.suggest.rows import believe
from ssme.suggest.targets import Target, read_target

__all__ = ["SIMULATIONS", "LabelPlan", "PlannedStep", "count_effective_labels", "plan_labels"]

SIMULATIONS = Option(
    "simulations", Whole(2, 1000), 4, "Number of simulated truths that the method is fitted to."
)


@dataclass(frozen=True)
class PlannedStep:
    """What was seen at one total number of labels.

    Attributes
    ----------
    labels : int
        Total number of labels.
    value : float
        Median over simulations of what the target bounds.
    met : float
        Share of the simulations that need at most this many.
    """

    labels: int
    value: float
    met: float


@dataclass(frozen=True, eq=False)
class LabelPlan:
    """How many labels a target takes.

    Attributes
    ----------
    target : str
        What is to be reached.
    now : float
        What the target bounds, as it is with the labels there are.
    n_labeled : int
        Number of labels there are.
    more, more_low, more_high : float
        Number of labels more: the median over simulations and its 10 % and 90 % quantiles;
        infinite where the target was not met with all rows labeled.
    curve : tuple of PlannedStep
        The way there.
    effective : float
        How many labels alone would do as well as the ones there are do with the unlabeled rows.
    most : int
        Largest total number of labels that was tried.
    """

    target: str
    now: float
    n_labeled: int
    more: float
    more_low: float
    more_high: float
    curve: tuple[PlannedStep, ...]
    effective: float
    most: int

    @property
    def is_met(self) -> bool:
        """Whether the target is met already."""
        return self.more == 0.0

    def sentence(self) -> str:
        """The plan in words."""
        worth = ""
        if np.isfinite(self.effective) and self.n_labeled:
            worth = f" The {self.n_labeled:,} labels are worth {self.effective:,.0f} alone."
        if self.is_met:
            return f"{self.target} is met already ({self.now:.3g}).{worth}"
        if not np.isfinite(self.more):
            return (
                f"{self.target} needs more than {self.most - self.n_labeled:,} labels more "
                f"(now {self.now:.3g}).{worth}"
            )
        high = f"{self.more_high:,.0f}" if np.isfinite(self.more_high) else f"over {self.most:,}"
        return (
            f"{self.target} needs about {self.more:,.0f} labels more ({self.more_low:,.0f} to "
            f"{high} in 80 % of the simulations; now {self.now:.3g}).{worth}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; what is infinite is None."""
        values = {
            "target": self.target,
            "now": self.now,
            "n_labeled": self.n_labeled,
            "more": self.more,
            "more_low": self.more_low,
            "more_high": self.more_high,
            "most": self.most,
            "effective_labels": self.effective,
        }
        plain = {
            key: None if isinstance(value, float) and not np.isfinite(value) else value
            for key, value in values.items()
        }
        steps = [{"labels": s.labels, "value": s.value, "met": s.met} for s in self.curve]
        return {**plain, "curve": steps}

    def frame(self, library: str = "pandas") -> Any:
        """The curve as a data frame: labels, value, met."""
        names = ("labels", "value", "met")
        return build_frame({n: [getattr(s, n) for s in self.curve] for n in names}, library)


def plan_labels(
    evaluation: BaseEvaluation,
    target: str,
    *,
    simulations: int = SIMULATIONS.default,
    random_state: int | None = 0,
    constants: PlanConstants | None = None,
) -> LabelPlan:
    """Count the labels that ``target`` takes; see `ssme.Evaluation.plan`."""
    of = constants or PlanConstants()
    simulations = accept(SIMULATIONS, simulations)
    wanted = read_target(evaluation, target)
    m = evaluation.metrics.index(wanted.metric)
    estimate = evaluation.estimates[0][m]
    now = wanted.measure(evaluation.data.models, estimate, evaluation.level)
    n_labeled = evaluation.data.n_labeled
    if np.isnan(now):
        raise InputError(
            f"{evaluation.method!r} gives no number for {wanted.what} of {wanted.metric.name}",
            allowed="methods that give intervals and joint draws",
            fix="use another method (`ssme methods`)",
        )
    most = n_labeled + min(evaluation.data.n_unlabeled, of.rows_simulated)
    met: FloatArray = np.full(simulations, float(n_labeled))
    curve: tuple[PlannedStep, ...] = (PlannedStep(n_labeled, now, 1.0),)
    if not wanted.is_met(now):
        rng = np.random.default_rng(random_state)
        paths = _simulate(evaluation, wanted, m, simulations, most, of, rng)
        if wanted.what == "width":
            met, curve = _cross_widths(paths, wanted, n_labeled, now)
        else:
            met, curve = _cross_choices(evaluation, wanted, m, paths, most, of, rng)
    low, middle, high = (
        max(_quantile(met, at) - n_labeled, 0.0) for at in (of.spread[0], 0.5, of.spread[1])
    )
    return LabelPlan(
        target=target,
        now=now,
        n_labeled=n_labeled,
        more=middle,
        more_low=low,
        more_high=high,
        curve=curve,
        effective=count_effective_labels(evaluation, wanted.metric.name),
        most=most,
    )


def count_effective_labels(evaluation: BaseEvaluation, metric: str | None = None) -> float:
    """Median over models of n (w_0 / w)^2 on all rows; NaN where an interval is missing.

    Parameters
    ----------
    evaluation : Evaluation
        What was estimated.
    metric : str, optional
        The metric (default: the first one).
    """
    name = evaluation.metrics[0].name if metric is None else metric
    ours, alone = (
        evaluation.estimate(name),
        evaluation.labels_only[0][evaluation.metric_index(name)],
    )
    (low, high), (low_0, high_0) = (e.interval(evaluation.level) for e in (ours, alone))
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = (high_0 - low_0) / (high - low)
    ratio = ratio[np.isfinite(ratio)]
    n = evaluation.groups[0].n_labeled
    return float(n * np.median(ratio) ** 2) if ratio.size and n else float("nan")


@dataclass(frozen=True)
class _Look:
    """What a fit to ``labels`` labels in all gave: the target's quantity, and the spread of the
    differences between the pick and the others over that of now."""

    labels: int
    value: float
    shrunk: float


def _simulate(
    evaluation: BaseEvaluation,
    target: Target,
    m: int,
    simulations: int,
    most: int,
    of: PlanConstants,
    rng: np.random.Generator,
) -> list[list[_Look]]:
    """One path of growing labels per simulated truth."""
    part = _take_part(evaluation, of.rows_simulated, rng)
    data, belief = evaluation.data.take(part), believe(evaluation, of.suggest.doubt)[part]
    method = _method(evaluation)
    estimate = evaluation.estimates[0][m]
    everywhere = np.ones(data.n_rows, dtype=bool)
    metric, scores, least = target.metric, data.scores, of.suggest.least_share
    psi = measure_influence(metric, scores, belief, data.weights, everywhere, least)
    paths = []
    for number in track(range(simulations), "simulations"):
        wanted = estimate.value
        if estimate.draws is not None:
            wanted = estimate.draws[rng.integers(len(estimate.draws))]
        tilted = tilt_belief(metric, scores, belief, data.weights, psi, wanted, of.tilt)
        truth = draw_truth(tilted, data.labels, rng)
        order = rng.permutation(np.flatnonzero(~data.labeled))
        path: list[_Look] = []
        for total in _totals(data.n_labeled, most, of):
            known = data.labels.copy()
            asked = order[: total - data.n_labeled]
            known[asked] = truth[asked]
            fitted = method.fit(_grow(data, known), np.random.default_rng(number))
            found = fitted.estimate([target.metric], [None])[0][0]
            value = target.measure(data.models, found, evaluation.level)
            path.append(_Look(total, value, _measure_shrinking(estimate, found, target)))
            enough = target.is_met(value) if target.what == "width" else len(path) >= of.doublings
            if enough:
                break
        paths.append(path)
    return paths


def _totals(n_labeled: int, most: int, of: PlanConstants) -> list[int]:
    """Numbers of labels that are tried, growing by a constant factor up to ``most``."""
    totals = [max(int(n_labeled * of.ratio), n_labeled + of.least_labels)]
    while totals[-1] < most:
        totals.append(int(totals[-1] * of.ratio))
    return [*totals[:-1], most]


def _measure_shrinking(before: Estimate, after: Estimate, target: Target) -> float:
    """Median over the other models of the spread of their difference to the pick, over that now."""
    if before.draws is None or after.draws is None or before.value.size < 2:
        return float("nan")
    sign = 1.0 if target.metric.greater_is_better is not False else -1.0
    pick = int(np.nanargmax(sign * before.value))
    old, new = (np.nanstd(d - d[:, [pick]], axis=0) for d in (before.draws, after.draws))
    ratio = np.delete(new, pick) / np.maximum(np.delete(old, pick), 1e-12)
    return float(np.nanmedian(ratio))


def _cross_widths(
    paths: list[list[_Look]], target: Target, n_labeled: int, now: float
) -> tuple[FloatArray, tuple[PlannedStep, ...]]:
    """Where each path crosses the target, and the curve of its median."""
    met = []
    for path in paths:
        points = [(max(n_labeled, 1), now), *((look.labels, look.value) for look in path)]
        met.append(_cross(points, target.bound))
    found = np.array(met)
    totals = sorted({look.labels for path in paths for look in path})
    steps = [PlannedStep(n_labeled, now, 0.0)]
    for total in totals:
        values = [look.value for path in paths for look in path if look.labels == total]
        value = float(np.median(values))
        steps.append(PlannedStep(total, value, float((found <= total).mean())))
    return found, tuple(steps)


def _cross(points: list[tuple[int, float]], bound: float) -> float:
    """Where the line through points in (log labels, log width) first falls to the ``bound``."""
    for (n_0, value_0), (n_1, value_1) in pairwise(points):
        if value_1 <= bound:
            share = np.log(value_0 / bound) / np.log(value_0 / max(value_1, 1e-12))
            return float(n_0 * (n_1 / n_0) ** np.clip(share, 0.0, 1.0))
    return float("inf")


def _cross_choices(
    evaluation: BaseEvaluation,
    target: Target,
    m: int,
    paths: list[list[_Look]],
    most: int,
    of: PlanConstants,
    rng: np.random.Generator,
) -> tuple[FloatArray, tuple[PlannedStep, ...]]:
    """Where each possible truth meets the target, under the normal model of the head."""
    estimate, n_labeled = evaluation.estimates[0][m], evaluation.data.n_labeled
    assert estimate.draws is not None
    known = np.isfinite(estimate.value)
    draws, center = estimate.draws[:, known], estimate.value[known]
    draws = draws[np.isfinite(draws).all(axis=1)]
    chosen = rng.integers(len(draws), size=(of.truths, 2))
    totals = np.unique(np.geomspace(max(n_labeled, 1), most, of.grid).astype(int))
    values = np.empty((totals.size, of.truths))
    for place, total in enumerate(totals):
        rho = _interpolate(paths, n_labeled, int(total))
        noise = np.sqrt(rho**2 * (1.0 - rho**2)) * (draws[chosen[:, 1]] - center)
        means = rho**2 * center + (1.0 - rho**2) * draws[chosen[:, 0]] + noise
        values[place] = [target.read_draws(mean, mean + rho * (draws - center)) for mean in means]
    reached = np.vectorize(target.is_met)(values)
    met = np.where(reached.any(axis=0), totals[reached.argmax(axis=0)], np.inf)
    steps = tuple(
        PlannedStep(int(total), float(np.median(values[place])), float((met <= total).mean()))
        for place, total in enumerate(totals)
    )
    return met, steps


def _interpolate(paths: list[list[_Look]], n_labeled: int, total: int) -> float:
    """rho at ``total`` labels: medians of the simulations, linear in the logarithms."""
    counts = sorted({look.labels for path in paths for look in path})
    shrunk = [
        float(np.median([look.shrunk for path in paths for look in path if look.labels == count]))
        for count in counts
    ]
    at = np.log([max(n_labeled, 1), *counts])
    rho = np.log(np.minimum.accumulate([1.0, *np.maximum(shrunk, 1e-3)]))
    here = np.log(max(total, 1))
    if here <= at[-1]:
        return float(np.exp(np.interp(here, at, rho)))
    slope = np.clip((rho[-1] - rho[0]) / (at[-1] - at[0]), -0.5, 0.0)
    return float(np.exp(rho[-1] + slope * (here - at[-1])))


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
    before = rounds_of(data.design, data.labels)
    new = (labels >= 0) & ~data.labeled
    number = np.where(new, before.next_number, before.number)
    chance = np.where(new, np.nan, before.probability)
    return data.replace(labels=labels, design=design_of_rounds(LabelRounds(chance, number), labels))


def _method(evaluation: BaseEvaluation) -> Method:
    config = evaluation.settings.get("config")
    if not config or evaluation.streamed is not None:
        raise InputError(
            "a plan for an evaluation that cannot be run again"
            + (f": {evaluation.settings.get('no_config')}" if not config else ", as it streamed"),
            allowed="evaluations in memory by a named method",
            fix="evaluate a part of the rows in memory",
        )
    return RunSpec.from_dict(config).make_method()


def _quantile(values: FloatArray, at: float) -> float:
    """Quantile, between values on the scale of their logarithm; it may be infinite."""
    ordered = np.sort(values)
    if ordered[0] == ordered[-1]:
        return float(ordered[0])
    place = at * (values.size - 1)
    low, high = ordered[int(np.floor(place))], ordered[int(np.ceil(place))]
    if not np.isfinite(high):
        return float(high)
    share = place - np.floor(place)
    return float(np.exp((1.0 - share) * np.log(max(low, 1.0)) + share * np.log(max(high, 1.0))))
