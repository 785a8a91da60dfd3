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

from ssme import options, schema
from ssme.arrays import FloatArray, IntArray
from ssme.errors import InputError, UnsupportedError
from ssme.methods import base, registry
from ssme.metrics import MetricSpec, at_threshold, confusion, get_metric, kinds
from ssme.metrics.base import Metric, MetricPlan
from ssme.results import choose, groups, reliability
from ssme.results.curves import plan_all_models, sum_by_code
from ssme.results.table import Answer, Row
from ssme.show.sections import Column, Section

if TYPE_CHECKING:
    from ssme.results.evaluation import Evaluation

CONFIDENCE = schema.ASK["confidence"]
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
    choice: choose.Choice | None = field(repr=False)
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

    def list_sections(self) -> list[Section]:
        """A table with a row per model; the choice is the evaluation's decision."""
        never = [pick.model for pick in self.picks if np.isnan(pick.threshold)]
        sentences = []
        if never:
            verb = "reaches" if len(never) == 1 else "reach"
            sentences.append(f"{_list_names(never)} {verb} {self.goal} at no threshold.")
        picks = [pick for pick in self.picks if pick.model not in never]
        by_metric = list(zip(*(pick.metrics for pick in picks), strict=True))
        demanded = any(pick.p_demand >= 0.0 for pick in picks)
        met = Column("P(met)", [pick.p_demand for pick in picks], "share")
        table = (
            Column("model", [pick.model for pick in picks]),
            Column("threshold", [pick.threshold for pick in picks], "number"),
            Column("its interval", [(pick.low, pick.high) for pick in picks], "span", spare=True),
            *(
                Column(each[0].metric, [(at.estimate, at.low, at.high) for at in each], "value")
                for each in by_metric
            ),
            *([met] if demanded else []),
            *(
                Column(
                    f"{each[0].metric}, labels only",
                    [at.labels_only for at in each],
                    "number",
                    spare=True,
                )
                for each in by_metric
            ),
        )
        sure = "" if self.confidence == CONFIDENCE.default else f", probability {self.confidence:g}"
        heading = f"Thresholds for {self.goal}{sure}"
        return [Section("thresholds", heading, tuple(sentences), table if picks else ())]


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
            limit = options.parse_number(match["limit"])
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
            "metric that depends on the threshold, such as f1",
        )
    metric = get_metric(goal)
    if not isinstance(metric.kind, kinds.Decision) or metric.greater_is_better is None:
        raise InputError(
            f"a threshold was asked for by {metric.name!r}, which is not a metric of decisions",
            hint="choose one such as f1 or expected_cost, or a demand such as 'precision>=0.9'",
        )
    return ThresholdGoal(metric.name, metric)


def choose_thresholds(
    evaluation: Evaluation,
    goal: MetricSpec,
    *,
    group: str = groups.ALL,
    confidence: float = CONFIDENCE.default,
    level: float,
    margin: float = choose.MARGIN.default,
    n_candidates: int = 300,
) -> ThresholdChoice:
    """Choose a threshold for every model.

    Up to ``n_candidates`` distinct scores of a model are all tried; of more, about as many all over
    and then as many next to the best one. ``margin`` is that of the choice between the models, each
    at its threshold.
    """
    aim, confidence = read_goal(goal), options.accept(CONFIDENCE, confidence)
    _refuse_without_thresholds(evaluation)
    data = evaluation.data
    rows = evaluation.groups[evaluation.group_index(group)].rows
    scores = data.scores[base.number_rows(rows, data.n_rows)]
    metrics = [aim.best] if aim.demand is None else [aim.best, aim.demand]
    most = max(min(n_candidates, CELLS // data.n_models), 100)
    cuts = _list_candidates(scores, most)
    curves = _trace(evaluation, metrics, cuts, rows)
    near = [_find_nearest(each, aim.limit, confidence) for each in curves]
    finer = _refine_candidates(cuts, scores, near, most)
    if not np.array_equal(finer, cuts):
        cuts, curves = finer, _trace(evaluation, metrics, finer, rows)
    picks, best = [], []
    for j, model in enumerate(data.models):
        pick, estimate = _pick(model, cuts[j], curves[j], aim.limit, confidence, level)
        picks.append(pick)
        best.append(estimate)
    choice, value = None, np.concatenate([each.value for each in best])
    if np.isfinite(value).any():
        draws = np.concatenate([_require_draws(each) for each in best], axis=1)
        choice = choose.choose_model(
            data.models,
            aim.best,
            base.Estimate(value, draws),
            where=group,
            margin=margin,
            level=level,
            record=reliability.Record(evaluation.method, f"{aim.best.name} at chosen thresholds"),
        )
        threshold = picks[data.models.index(choice.pick)].threshold
        choice = replace(choice, goal=aim.text, threshold=threshold)
    with_labels = tuple(_add_labels_only(evaluation, picks, metrics, rows, level))
    return ThresholdChoice(aim.text, with_labels, choice, aim.best, confidence, evaluation.library)


def _refuse_without_thresholds(evaluation: Evaluation) -> None:
    if evaluation.data.n_classes != 2:
        problem = f"a threshold was asked for among {evaluation.data.n_classes} classes"
        raise UnsupportedError(problem, hint="choose a model by a metric or a cost matrix instead")
    if registry.find_method_class(evaluation.method).spec.metrics is not None:
        problem = f"method {evaluation.method!r} cannot estimate metrics at many thresholds"
        hint = "use a method that estimates every metric, such as auto (`ssme methods`)"
        raise UnsupportedError(problem, hint=hint)
    for judge in evaluation.data.judges:
        raise UnsupportedError(
            f"{judge!r} gives answers or grades and no probabilities, so that it has no threshold "
            "to choose",
            hint="leave the judges out; for ratings, compare several values of `cut`",
        )


def _require_draws(estimate: base.Estimate) -> FloatArray:
    if estimate.draws is None:
        problem = "the method has no draws, so that the uncertainty of thresholds is not known"
        hint = "use a method that draws, such as auto (`ssme methods`)"
        raise UnsupportedError(problem, hint=hint)
    return estimate.draws


def _add_labels_only(
    evaluation: Evaluation,
    picks: Sequence[ThresholdPick],
    metrics: Sequence[Metric],
    rows: base.GroupRows,
    level: float,
) -> Iterator[ThresholdPick]:
    """``picks`` with the metrics of the labeled rows alone at each threshold."""
    data = evaluation.data
    if data.n_labeled == 0 or data.design.kind in ("by_class", "by_score"):
        yield from picks
        return
    belief = registry.get_method("labeled", joint_draws=False).fit(data, np.random.default_rng(0))
    for j, pick in enumerate(picks):
        if np.isnan(pick.threshold):
            yield pick
            continue
        there = [at_threshold(metric, pick.threshold) for metric in metrics]
        metrics_with_labels = []
        for at, alone in zip(pick.metrics, belief.estimate(there, [rows])[0], strict=True):
            value, low, high = (float(end[j]) for end in (alone.value, *alone.interval(level)))
            metrics_with_labels.append(
                replace(at, labels_only=value, labels_only_low=low, labels_only_high=high)
            )
        yield replace(pick, metrics=tuple(metrics_with_labels))


def _measure_slack(
    curves: Sequence[Curve], limit: float, confidence: float
) -> tuple[FloatArray, FloatArray]:
    """How far above the demand each threshold is, by the estimate (T,) and in each draw (D, T).

    Zero without a demand; less what it takes to meet the demand with ``confidence``.
    """
    demand = curves[-1]
    if len(curves) == 1:
        return np.zeros(demand.value.shape), np.zeros(demand.draws.shape)
    margin = np.zeros(demand.value.shape)
    if confidence > 0.5:
        known = np.isfinite(demand.value) & np.isfinite(demand.draws).any(axis=0)
        reached = np.nanquantile(demand.draws[:, known], 1.0 - confidence, axis=0)
        margin[known] = np.maximum(demand.value[known] - reached, 0.0)
    return demand.value - margin - limit, demand.noisy - margin - limit


def _find_nearest(curves: Sequence[Curve], limit: float, confidence: float) -> int:
    """Position of the best threshold that meets the demand, or of the one that is nearest to it."""
    slack, _ = _measure_slack(curves, limit, confidence)
    chosen = int(_find_best(curves[0].sign * curves[0].value, slack))
    return chosen if chosen >= 0 else int(np.argmax(np.nan_to_num(slack, nan=-np.inf)))


def _find_best(worth: FloatArray, slack: FloatArray) -> IntArray:
    """Position of the greatest ``worth`` (..., T) where the demand is met; -1 where it is not."""
    with np.errstate(invalid="ignore"):
        allowed = np.where((slack >= 0.0) & np.isfinite(worth), worth, -np.inf)
    return np.where(np.isfinite(allowed.max(axis=-1)), allowed.argmax(axis=-1), -1)


def _pick(
    model: str,
    cuts: FloatArray,
    curves: Sequence[Curve],
    limit: float,
    confidence: float,
    level: float,
) -> tuple[ThresholdPick, base.Estimate]:
    """The threshold of one model, and the estimate of the metric that is made best at it."""
    best, (slack, slack_by_draw) = curves[0], _measure_slack(curves, limit, confidence)
    chosen = int(_find_best(best.sign * best.value, slack))
    by_draw = _find_best(best.sign * best.noisy, slack_by_draw)
    reached = by_draw[by_draw >= 0]
    threshold, low, high = (float("nan"),) * 3
    if chosen >= 0:
        threshold = low = high = float(cuts[chosen])
        if reached.size:
            ends = np.quantile(cuts[reached], [(1.0 - level) / 2.0, (1.0 + level) / 2.0])
            low, high = float(min(ends[0], threshold)), float(max(ends[1], threshold))
    estimates, metrics, p_demand = [], [], float("nan")
    for curve in curves:
        estimate, optimism = curve.estimate_at(chosen, by_draw)
        value, first, last = (float(end[0]) for end in (estimate.value, *estimate.interval(level)))
        metrics.append(MetricAt(curve.metric.name, value, first, last, optimism))
        estimates.append(estimate)
    draws = _require_draws(estimates[-1])
    draws = draws[np.isfinite(draws)]
    if len(curves) > 1 and draws.size:
        p_demand = float((draws >= limit).mean())
    share = float((by_draw >= 0).mean())
    pick = ThresholdPick(model, threshold, low, high, tuple(metrics), p_demand, share)
    return pick, estimates[0]


# -------------------------------------------------------------------------------------------------
# A metric of decisions as a curve over the thresholds of each model, with its draws. Confusion
# tables at all of them are cumulative sums of the mass of rows sorted by score, so that a curve
# costs one pass over the rows.


@dataclass(frozen=True, eq=False)
class Curve:
    """One metric of one model over T thresholds: estimate (T,) and draws (D, T).

    ``same_rows`` says that the estimate is a count over the rows it is chosen on.
    """

    metric: Metric
    value: FloatArray
    draws: FloatArray
    same_rows: bool

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

    def estimate_at(self, chosen: int, by_draw: IntArray) -> tuple[base.Estimate, float]:
        """The metric at threshold ``chosen``, less the optimism of having chosen, and that."""
        if chosen < 0:
            nothing = np.full((len(self.draws), 1), np.nan)
            return base.Estimate(nothing[0], nothing), float("nan")
        reached = np.flatnonzero(by_draw >= 0)
        noise = self.draws[reached, by_draw[reached]] - self.centers[by_draw[reached]]
        noise = noise[np.isfinite(noise)]
        optimism = 0.0
        if self.same_rows and noise.size:
            optimism = max(0.0, self.sign * float(np.sqrt(2.0) * noise.mean()))
        value, draws = (
            np.clip(each - self.sign * optimism, self.metric.low, self.metric.high)
            for each in (self.value[[chosen]], self.draws[:, [chosen]])
        )
        return base.Estimate(value, draws), optimism


def _trace(
    evaluation: Evaluation, metrics: Sequence[Metric], cuts: FloatArray, rows: base.GroupRows
) -> list[list[Curve]]:
    """The curves of each model, one per metric."""
    traced = [_trace_metric(each, cuts) for each in metrics]
    base.refuse_without_order(evaluation.data, traced)
    estimates = evaluation.belief.estimate(traced, [rows])[0]
    values = [each.value.reshape(cuts.shape) for each in estimates]
    draws = [_require_draws(each).reshape(-1, *cuts.shape) for each in estimates]
    same_rows = evaluation.posterior is None
    return [
        [
            Curve(metric, value[j], drawn[:, j], same_rows)
            for metric, value, drawn in zip(metrics, values, draws, strict=True)
        ]
        for j in range(len(cuts))
    ]


def _trace_metric(metric: Metric, cuts: FloatArray) -> Metric:
    """``metric`` at every threshold, classifiers one after the other: (D, M * T) values."""
    assert isinstance(metric.kind, kinds.Decision)
    statistic, size = metric.kind.statistic, cuts.shape[1]

    def plan(scores: FloatArray, j: int) -> MetricPlan:
        # how many of its thresholds the score of each row reaches
        reached = np.searchsorted(cuts[j], scores[:, 1], side="right")
        add_up = sum_by_code(reached, size + 1)

        def compute_values(mass: FloatArray) -> FloatArray:
            total = np.cumsum(add_up(mass), axis=1)
            below = total[:, :-1]  # rows that reach fewer than t + 1 thresholds
            above = np.maximum(total[:, -1:] - below, 0.0)
            return statistic(confusion.FullTables(np.stack([below, above], axis=3)))

        return compute_values

    return replace(
        metric,
        plan=plan_all_models(plan, range(len(cuts))),
        kind=kinds.Custom(),
        of_positive=True,
        of_model=lambda j: _trace_metric(metric, cuts[[j]]),
    )


def _list_candidates(scores: FloatArray, most: int) -> FloatArray:
    """Thresholds (M, T) among the scores (n, M, 2) of each model, and 0 and 1, ascending.

    Up to ``most`` distinct scores are all there. Of more, those at ranks that grow geometrically
    from both ends: what a metric says of a rare class depends on the share of few rows at one end.
    """
    steps = np.geomspace(1.0, max(len(scores) / 2.0, 1.0), max(most // 2, 1)).astype(np.int64)
    candidates = []
    for j in range(scores.shape[1]):
        score = _sort_scores(scores, j)
        near = steps[steps <= len(score)]
        few = len(np.unique(score)) <= most
        candidates.append(score if few else np.concatenate([score[near - 1], score[-near]]))
    return _pad(candidates)


def _refine_candidates(
    cuts: FloatArray, scores: FloatArray, chosen: Sequence[int], most: int
) -> FloatArray:
    """``cuts`` (M, T) and the scores next to the ``chosen`` one of each model, ``most`` of them."""
    finer = []
    for j, at in enumerate(chosen):
        above = cuts[j][cuts[j] > cuts[j, at]]
        score = np.unique(_sort_scores(scores, j))
        score = score[score > cuts[j, max(at - 1, 0)]]
        score = score[score < above[0]] if above.size else score
        finer.append(np.concatenate([cuts[j], score[:: max(1, len(score) // most)]]))
    return _pad(finer)


def _sort_scores(scores: FloatArray, j: int) -> FloatArray:
    score = scores[:, j, 1]
    return np.sort(score[np.isfinite(score)])


def _pad(thresholds: Sequence[FloatArray]) -> FloatArray:
    """The distinct thresholds of each model with 0 and 1, as rows (M, T) that end in ones."""
    rows = [np.unique(np.concatenate([[0.0, 1.0], each])) for each in thresholds]
    out = np.ones((len(rows), max(map(len, rows))))
    for row, values in zip(out, rows, strict=True):
        row[: len(values)] = values
    return out
