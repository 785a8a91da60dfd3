"""The threshold from which each model should say "positive", and what it is worth there.

A goal is a metric of decisions to make best (a cost, F1, accuracy), or a demand with a metric to
make best among the thresholds that meet it:

    precision>=0.9    the greatest recall          recall>=0.95         the greatest precision
                                                   specificity>=0.9     the greatest recall

Let v(t) be the estimate at threshold t and v_d(t) its value in draw d. Thresholds are the model's
distinct scores; of very many, those at geometric ranks from both ends are tried first, and then all
next to the best one. The threshold t* is chosen by v, and t_d by the same rule in every draw; the
spread of the t_d is the uncertainty of the threshold.

A threshold that was chosen because v(t*) looks good on some rows looks better than it is on these
rows. This concerns methods that judge by labels alone; an expectation under a posterior is not
made better by looking for its best place (benchmarks/evidence/deciding.md measures both). With
e_d(t) = v_d(t) - mean_d v_d(t), the noise of v, the curves v + e_d and v - e_d are nearly
independent (Oliveira, Lei and Tibshirani, Unbiased risk estimation in the normal means problem via
coupled bootstrap techniques, 2021): choose t_d on the first and judge on the second,

    optimism = mean_d [ (v + e_d)(t_d) - (v - e_d)(t_d) ] / sqrt 2,    estimate = v(t*) - optimism,

divided by sqrt 2 because v + e_d is noisier than v by that factor. Draws at t* move by as much.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ssme.errors import InputError, UnsupportedError
from ssme.methods.base import Estimate, GroupRows, number_rows, refuse_without_order
from ssme.methods.registry import find_method_class, get_method
from ssme.metrics import MetricSpec, at_threshold, get_metric
from ssme.metrics.base import FloatArray, Metric, MetricPlan
from ssme.metrics.confusion import FullTables
from ssme.metrics.kinds import Custom, Decision
from ssme.options import Number, Option, accept, parse_number
from ssme.results.choose import MARGIN, Choice, choose_model
from ssme.results.groups import ALL
from ssme.results.reliability import Record
from ssme.results.table import Answer, Row
from ssme.show.sections import Column, Section, format_percent

if TYPE_CHECKING:
    from ssme.results.evaluation import Evaluation

CONFIDENCE = Option(
    "confidence",
    Number(0.5, 1.0, open_most=True),
    0.5,
    "Probability with which a demand has to be met; 0.5 looks at the estimate.",
)
CELLS = 10_000
"""Thresholds of all models that are tried at a time."""
COUNTERPART = {"precision": "recall", "recall": "precision", "specificity": "recall"}
"""What is made best where the other is demanded."""
DEMAND = re.compile(r"\s*(?P<metric>\w+)\s*>=\s*(?P<limit>\S+)\s*")


@dataclass(frozen=True)
class MetricAt(Row):
    """A metric at the chosen threshold, and the same from the labeled rows alone.

    ``optimism``, by how much the plain estimate at the chosen threshold looks better than it is, is
    taken off; it is 0 for methods with a posterior.
    """

    metric: str
    estimate: float
    low: float
    high: float
    optimism: float
    labels_only: float = float("nan")
    labels_only_low: float = float("nan")
    labels_only_high: float = float("nan")


@dataclass(frozen=True)
class ThresholdPick(Row):
    """The threshold of one model, with its interval; NaN where no threshold meets the demand.

    ``metrics`` are the metric that was made best and, where there is one, that of the demand;
    ``p_demand`` is the probability that the demand is met at the threshold, ``p_reachable`` the
    share of draws in which some threshold meets it.
    """

    model: str
    threshold: float
    low: float
    high: float
    metrics: tuple[MetricAt, ...]
    p_demand: float
    p_reachable: float


@dataclass(frozen=True)
class ThresholdChoice(Answer):
    """Thresholds of all models for one goal, as `ssme.Evaluation.choose_thresholds` gives them.

    Attributes
    ----------
    goal : str
        The goal.
    picks : tuple of ThresholdPick
        One per model, in the order of the data.
    choice : Choice or None
        Which model to take, each at its threshold; None where no model meets the demand.
    metric : Metric
        The metric that is made best.
    confidence : float
        Probability with which a demand was asked to be met.
    """

    derived: ClassVar[tuple[str, ...]] = ("sentence",)
    goal: str
    picks: tuple[ThresholdPick, ...]
    choice: Choice | None = field(repr=False)
    metric: Metric = field(repr=False)
    confidence: float
    library: str = field(default="pandas", repr=False)

    def sentence(self) -> str:
        """Which model to take, each at its threshold, in words."""
        if self.choice is None:
            return f"No model reaches {self.goal} at any threshold."
        return self.choice.sentence()

    def rows(self) -> list[dict[str, Any]]:
        """One row per model and metric."""
        return [
            {
                "model": pick.model,
                "threshold": pick.threshold,
                "threshold_low": pick.low,
                "threshold_high": pick.high,
                **vars(at),
                "p_demand": pick.p_demand,
            }
            for pick in self.picks
            for at in pick.metrics
        ]

    def _list_rows(self) -> Sequence[Mapping[str, Any]]:
        return self.rows()

    def make_section(self) -> Section:
        """A table, and how probably the demand is met; the choice is the evaluation's decision."""
        met = [f"{p.model} {format_percent(p.p_demand)}" for p in self.picks if p.p_demand >= 0.0]
        never = [pick.model for pick in self.picks if np.isnan(pick.threshold)]
        said = []
        if met:
            said.append(f"Probability that {self.goal} holds at the threshold: {_list_names(met)}.")
        if never:
            verb = "reaches" if len(never) == 1 else "reach"
            said.append(f"{_list_names(never)} {verb} {self.goal} at no threshold.")
        rows = [(pick, at) for pick in self.picks for at in pick.metrics]
        table = (
            Column("model", [pick.model for pick, _ in rows]),
            Column("threshold", [(p.threshold, p.low, p.high) for p, _ in rows], "value"),
            Column("metric", [at.metric for _, at in rows]),
            Column("estimate", [(at.estimate, at.low, at.high) for _, at in rows], "value"),
            Column("labels only", [at.labels_only for _, at in rows], "number"),
        )
        sure = "" if self.confidence == CONFIDENCE.default else f", probability {self.confidence:g}"
        title = f"Thresholds for {self.goal}{sure}"
        return Section("thresholds", title, tuple(said), table)


def _list_names(names: Sequence[str], most: int = 20) -> str:
    """The first names, and how many more there are."""
    more = [f"{len(names) - most:,} more"] if len(names) > most else []
    return ", ".join([*names[:most], *more])


@dataclass(frozen=True)
class ThresholdGoal:
    """Make ``best`` best, among the thresholds with ``demand`` >= ``limit`` where there is one."""

    text: str
    best: Metric
    demand: Metric | None = None
    limit: float = float("nan")


def read_goal(goal: MetricSpec, option: str = "goal") -> ThresholdGoal:
    """Read ``"recall>=0.95"``, or a metric of decisions such as ``"f1"`` or one with costs."""
    match = DEMAND.fullmatch(goal) if isinstance(goal, str) else None
    if match is not None:
        name = match["metric"]
        try:
            limit = parse_number(match["limit"])
        except ValueError:
            limit = np.nan
        if name in COUNTERPART and 0.0 < limit <= 1.0:
            best, demand = get_metric(COUNTERPART[name]), get_metric(name)
            return ThresholdGoal(f"{name}>={limit:g}", best, demand, limit)
    if isinstance(goal, str) and any(sign in goal for sign in "<>="):
        raise InputError(
            option=option,
            value=goal,
            must="be precision>=X, recall>=X or specificity>=X with X above 0 and up to 1, or a "
            "metric of decisions",
        )
    metric = get_metric(goal)
    if not isinstance(metric.kind, Decision) or metric.greater_is_better is None:
        raise InputError(
            f"a threshold was asked for by {metric.name!r}, which is not a metric of decisions",
            hint="choose one such as f1 or expected_cost, or a demand such as 'precision>=0.9'",
        )
    return ThresholdGoal(metric.name, metric)


def choose_thresholds(
    evaluation: Evaluation,
    goal: MetricSpec,
    *,
    group: str = ALL,
    confidence: float = CONFIDENCE.default,
    level: float | None = None,
    margin: float = MARGIN.default,
    n_candidates: int = 300,
) -> ThresholdChoice:
    """Choose a threshold for every model.

    Up to ``n_candidates`` distinct scores of a model are all tried; of more, about as many all over
    and then as many next to the best one. ``margin`` is that of the choice between the models, each
    at its threshold.
    """
    aim, confidence = read_goal(goal), accept(CONFIDENCE, confidence)
    level = evaluation.level if level is None else level
    _refuse_without_thresholds(evaluation)
    data = evaluation.data
    rows = evaluation.groups[evaluation.group_index(group)].rows
    scores = data.scores[number_rows(rows, data.n_rows)]
    asked = [aim.best] if aim.demand is None else [aim.best, aim.demand]
    most = max(min(n_candidates, CELLS // data.n_models), 100)
    cuts = list_candidates(scores, most)
    curves = _trace(evaluation, asked, cuts, rows)
    near = [_find_nearest(each, aim.limit, confidence) for each in curves]
    finer = refine_candidates(cuts, scores, near, most)
    if not np.array_equal(finer, cuts):
        cuts, curves = finer, _trace(evaluation, asked, finer, rows)
    picks, values, draws = [], [], []
    for j, model in enumerate(data.models):
        pick, best = _pick(model, cuts[j], curves[j], aim.limit, confidence, level)
        picks.append(pick)
        values.append(best.value)
        draws.append(best.draws)
    choice, value = None, np.array(values)
    if np.isfinite(value).any():
        choice = choose_model(
            data.models,
            aim.best,
            Estimate(value, np.column_stack(draws)),
            where=group,
            margin=margin,
            level=level,
            record=Record(evaluation.method, f"{aim.best.name} at chosen thresholds"),
        )
        threshold = picks[data.models.index(choice.pick)].threshold
        choice = replace(choice, goal=aim.text, threshold=threshold)
    with_labels = tuple(_add_labels_only(evaluation, picks, asked, rows, level))
    return ThresholdChoice(aim.text, with_labels, choice, aim.best, confidence, evaluation.library)


def _refuse_without_thresholds(evaluation: Evaluation) -> None:
    if evaluation.data.n_classes != 2:
        raise UnsupportedError(
            f"a threshold was asked for among {evaluation.data.n_classes} classes",
            hint="choose a model by a metric or a cost matrix instead",
        )
    if find_method_class(evaluation.method).spec.metrics is not None:
        raise UnsupportedError(
            f"method {evaluation.method!r} cannot estimate metrics at many thresholds",
            hint="use a method that estimates every metric, such as auto (`ssme methods`)",
        )
    for judge in evaluation.data.judges:
        raise UnsupportedError(
            f"{judge!r} gives answers or grades and no probabilities, so that it has no threshold "
            "to choose",
            hint="leave the judges out; for ratings, compare several values of `cut`",
        )


def _trace(
    evaluation: Evaluation, asked: Sequence[Metric], cuts: FloatArray, rows: GroupRows
) -> list[list[Curve]]:
    """The curves of each model, one per metric."""
    traced = [trace_metric(each, cuts) for each in asked]
    refuse_without_order(evaluation.data, traced)
    found = evaluation.belief.estimate(traced, [rows])[0]
    same_rows = evaluation.posterior is None
    return [
        [
            Curve.of(metric, each, cuts.shape, j, same_rows)
            for metric, each in zip(asked, found, strict=True)
        ]
        for j in range(len(cuts))
    ]


def _add_labels_only(
    evaluation: Evaluation,
    picks: Sequence[ThresholdPick],
    asked: Sequence[Metric],
    rows: GroupRows,
    level: float,
) -> Iterator[ThresholdPick]:
    """``picks`` with the metrics of the labeled rows alone at each threshold."""
    data = evaluation.data
    if data.n_labeled == 0 or data.design.kind in ("by_class", "by_score"):
        yield from picks
        return
    belief = get_method("labeled", joint_draws=False).fit(data, np.random.default_rng(0))
    for j, pick in enumerate(picks):
        if np.isnan(pick.threshold):
            yield pick
            continue
        there = [at_threshold(metric, pick.threshold) for metric in asked]
        metrics = []
        for at, each in zip(pick.metrics, belief.estimate(there, [rows])[0], strict=True):
            value, low, high = (float(x[j]) for x in (each.value, *each.interval(level)))
            metrics.append(
                replace(at, labels_only=value, labels_only_low=low, labels_only_high=high)
            )
        yield replace(pick, metrics=tuple(metrics))


def _find_margin(demand: Curve, confidence: float) -> FloatArray:
    """How far above its limit (T,) the demand has to be, to be met with ``confidence``."""
    margin = np.zeros(demand.value.shape)
    if confidence > 0.5:
        known = np.isfinite(demand.value) & np.isfinite(demand.draws).any(axis=0)
        reached = np.nanquantile(demand.draws[:, known], 1.0 - confidence, axis=0)
        margin[known] = np.maximum(demand.value[known] - reached, 0.0)
    return margin


def _find_nearest(curves: Sequence[Curve], limit: float, confidence: float) -> int:
    """Position of the best threshold that meets the demand, or of the one that is nearest to it."""
    worth = curves[0].sign * curves[0].value
    if len(curves) > 1:
        demand = curves[1].value - _find_margin(curves[1], confidence)
        with np.errstate(invalid="ignore"):
            met = demand >= limit
        worth = np.where(met, worth, -np.inf) if met.any() else demand
    return int(np.argmax(np.where(np.isfinite(worth), worth, -np.inf)))


def _pick(
    model: str,
    cuts: FloatArray,
    curves: Sequence[Curve],
    limit: float,
    confidence: float,
    level: float,
) -> tuple[ThresholdPick, AtPick]:
    """The threshold of one model, and the metric that is made best at it."""
    best, demand = curves[0], curves[1] if len(curves) > 1 else None
    met = np.ones(best.value.shape, dtype=bool)
    met_by_draw = np.ones(best.draws.shape, dtype=bool)
    if demand is not None:
        margin = _find_margin(demand, confidence)
        with np.errstate(invalid="ignore"):
            met = demand.value - margin >= limit
            met_by_draw = demand.noisy - margin >= limit
    chosen = int(_find_best(best.sign * best.value, met))
    by_draw = _find_best(best.sign * best.noisy, met_by_draw)
    found = [curve.at(chosen, by_draw) for curve in curves]
    drawn = cuts[by_draw[by_draw >= 0]]
    tails = [(1.0 - level) / 2.0, (1.0 + level) / 2.0]
    ends = np.quantile(drawn, tails) if drawn.size and chosen >= 0 else (np.nan, np.nan)
    threshold = float(cuts[chosen]) if chosen >= 0 else float("nan")
    pick = ThresholdPick(
        model=model,
        threshold=threshold,
        low=float(np.fmin(ends[0], threshold)),
        high=float(np.fmax(ends[1], threshold)),
        metrics=tuple(
            MetricAt(curve.metric.name, at.value, *at.find_ends(tails), at.optimism)
            for curve, at in zip(curves, found, strict=True)
        ),
        p_demand=found[1].compute_share_met(limit) if demand is not None else float("nan"),
        p_reachable=float((by_draw >= 0).mean()),
    )
    return pick, found[0]


def _find_best(worth: FloatArray, met: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Position of the greatest ``worth`` (..., T) among those ``met``; -1 where there is none."""
    open_to = np.where(met & np.isfinite(worth), worth, -np.inf)
    return np.where(np.isfinite(open_to.max(axis=-1)), open_to.argmax(axis=-1), -1)


# -------------------------------------------------------------------------------------------------
# A metric of decisions as a curve over the thresholds of each model, with its draws. Confusion
# tables at all of them are cumulative sums of the mass of rows sorted by score, so that a curve
# costs one pass over the rows.


def list_candidates(scores: FloatArray, most: int) -> FloatArray:
    """Thresholds (M, T) among the scores (n, M, 2) of each model, and 0 and 1, ascending.

    Up to ``most`` distinct scores are all there. Of more, those at ranks that grow geometrically
    from both ends: what a metric says of a rare class depends on the share of few rows at one end.
    """
    steps = np.geomspace(1.0, max(len(scores) / 2.0, 1.0), max(most // 2, 1)).astype(np.int64)
    return _pad([_thin(_sort_scores(scores, j), steps, most) for j in range(scores.shape[1])])


def refine_candidates(
    cuts: FloatArray, scores: FloatArray, chosen: Sequence[int], most: int
) -> FloatArray:
    """``cuts`` (M, T) and the scores next to the ``chosen`` one of each model, ``most`` of them."""
    out = []
    for j, at in enumerate(chosen):
        above = cuts[j][cuts[j] > cuts[j, at]]
        score = np.unique(_sort_scores(scores, j))
        score = score[score > cuts[j, max(at - 1, 0)]]
        score = score[score < above[0]] if above.size else score
        out.append(np.concatenate([cuts[j], score[:: max(1, len(score) // most)]]))
    return _pad(out)


def _sort_scores(scores: FloatArray, j: int) -> FloatArray:
    score = scores[:, j, 1]
    return np.sort(score[np.isfinite(score)])


def _thin(score: FloatArray, steps: NDArray[np.int64], most: int) -> FloatArray:
    """Distinct values of the ascending ``score``: all, or those ``steps`` from either end."""
    distinct = np.unique(score)
    if len(distinct) <= most:
        return distinct
    steps = steps[steps <= len(score)]
    return np.concatenate([score[steps - 1], score[-steps]])


def _pad(thresholds: Sequence[FloatArray]) -> FloatArray:
    """The distinct thresholds of each model with 0 and 1, as rows (M, T) that end in ones."""
    rows = [np.unique(np.concatenate([[0.0, 1.0], each])) for each in thresholds]
    out = np.ones((len(rows), max(map(len, rows))))
    for row, values in zip(out, rows, strict=True):
        row[: len(values)] = values
    return out


def trace_metric(metric: Metric, cuts: FloatArray) -> Metric:
    """``metric`` at every threshold, classifiers one after the other: (D, M * T) values."""
    assert isinstance(metric.kind, Decision)
    statistic = metric.kind.statistic

    def plan(scores: FloatArray) -> MetricPlan:
        n, n_models = scores.shape[:2]
        places = np.full((n, n_models), -1, dtype=np.int64)
        for j in range(n_models):
            score = scores[:, j, 1]
            scored = np.isfinite(score)
            places[scored, j] = np.searchsorted(cuts[j], score[scored], side="right")

        def compute_values(mass: FloatArray) -> FloatArray:
            size = cuts.shape[1]
            tables = [count_tables(mass, places[:, j], size) for j in range(n_models)]
            return statistic(FullTables(np.concatenate(tables, axis=1)))

        return compute_values

    return Metric(
        metric.name,
        metric.title,
        plan,
        Custom(),
        low=metric.low,
        high=metric.high,
        greater_is_better=metric.greater_is_better,
        of_positive=True,
        of_model=lambda j: trace_metric(metric, cuts[[j]]),
    )


def count_tables(mass: FloatArray, places: NDArray[np.int64], size: int) -> FloatArray:
    """Confusion tables (D, T, 2, 2) of one classifier at each of ``size`` thresholds.

    ``places`` (n,) counts the thresholds that a row's score reaches; -1 where it has none.
    """
    scored = places >= 0
    order = np.argsort(places[scored], kind="stable")
    sums = np.zeros((len(mass), size + 1, 2))
    if scored.any():
        sorted_mass = mass[:, scored][:, order]
        filled, starts = np.unique(places[scored][order], return_index=True)
        sums[:, filled] = np.add.reduceat(sorted_mass, starts, axis=1)
    below = np.cumsum(sums, axis=1)[:, :-1]  # rows that reach fewer than t + 1 thresholds
    above = np.maximum(sums.sum(axis=1, keepdims=True) - below, 0.0)
    return np.stack([below, above], axis=3)


@dataclass(frozen=True, eq=False)
class Curve:
    """One metric of one model over T thresholds: estimate (T,) and draws (D, T).

    ``same_rows`` says that the estimate is a count over the rows it is chosen on.
    """

    metric: Metric
    value: FloatArray
    draws: FloatArray
    same_rows: bool

    @classmethod
    def of(
        cls, metric: Metric, estimate: Estimate, shape: tuple[int, int], j: int, same_rows: bool
    ) -> Curve:
        """The curve of model ``j`` from values at (M, T) = ``shape`` thresholds."""
        if estimate.draws is None:
            raise UnsupportedError(
                "the method has no draws, so that the uncertainty of thresholds is not known",
                hint="use a method that draws, such as auto (`ssme methods`)",
            )
        value = estimate.value.reshape(shape)[j]
        return cls(metric, value, estimate.draws.reshape(-1, *shape)[:, j], same_rows)

    @cached_property
    def centers(self) -> FloatArray:
        """Mean (T,) of the draws."""
        known = np.isfinite(self.draws)
        total = np.where(known, self.draws, 0.0).sum(axis=0)
        return total / np.maximum(known.sum(axis=0), 1)

    @cached_property
    def noisy(self) -> FloatArray:
        """The estimate with the noise of each draw (D, T)."""
        return self.value + (self.draws - self.centers)

    @property
    def sign(self) -> float:
        return 1.0 if self.metric.greater_is_better else -1.0

    def at(self, chosen: int, by_draw: NDArray[np.int64]) -> AtPick:
        """The metric at threshold ``chosen``, less the optimism of having chosen."""
        if chosen < 0:
            return AtPick(float("nan"), np.full(len(self.draws), np.nan), float("nan"))
        reached = np.flatnonzero(by_draw >= 0)
        noise = self.draws[reached, by_draw[reached]] - self.centers[by_draw[reached]]
        noise = noise[np.isfinite(noise)]
        better = 0.0
        if self.same_rows and noise.size:
            better = max(0.0, self.sign * float(np.sqrt(2.0) * noise.mean()))
        span = (self.metric.low, self.metric.high)
        value = float(np.clip(self.value[chosen] - self.sign * better, *span))
        return AtPick(value, np.clip(self.draws[:, chosen] - self.sign * better, *span), better)


@dataclass(frozen=True, eq=False)
class AtPick:
    """A metric at the chosen threshold: value, draws (D,) and the optimism that was taken off."""

    value: float
    draws: FloatArray
    optimism: float

    def find_ends(self, tails: list[float]) -> tuple[float, float]:
        known = self.draws[np.isfinite(self.draws)]
        if not known.size:
            return float("nan"), float("nan")
        low, high = np.quantile(known, tails)
        return float(min(low, self.value)), float(max(high, self.value))

    def compute_share_met(self, limit: float) -> float:
        known = self.draws[np.isfinite(self.draws)]
        return float((known >= limit).mean()) if known.size else float("nan")
