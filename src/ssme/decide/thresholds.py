"""The threshold from which each model should say "positive", and what it is worth there.

A goal is a metric of decisions to make best (a cost, F1, accuracy), or a demand with a metric to
make best among the thresholds that meet it:

    precision>=0.9    the greatest recall          recall>=0.95         the greatest precision
                                                   specificity>=0.9     the greatest recall

Let v(t) be the estimate at threshold t and v_d(t) its value in draw d, over thresholds at the
quantiles of the model's scores. The threshold t* is chosen by v, and t_d by the same rule in every
draw; the spread of the t_d is the uncertainty of the threshold.

A threshold that was chosen because v(t*) looks good on some rows looks better than it is on these
rows. This concerns methods that judge by labels alone; an expectation under a posterior is not
made better by looking for its best place (docs/deciding.md has the measured optimism of both). With
e_d(t) = v_d(t) - mean_d v_d(t), the noise of v, the curves v + e_d and v - e_d are nearly
independent (Oliveira, Lei and Tibshirani, Unbiased risk estimation in the normal means problem via
coupled bootstrap techniques, 2021): choose t_d on the first and judge on the second,

    optimism = mean_d [ (v + e_d)(t_d) - (v - e_d)(t_d) ] / sqrt 2,    estimate = v(t*) - optimism,

divided by sqrt 2 because v + e_d is noisier than v by that factor. Draws at t* move by as much.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ssme.decide.choose import Choice, choose_model
from ssme.errors import InputError, UnsupportedError, argument
from ssme.methods.base import Estimate, row_numbers
from ssme.methods.registry import method_class
from ssme.metrics import MetricSpec, get_metric
from ssme.metrics.base import FloatArray, Metric, MetricPlan
from ssme.metrics.confusion import FullTables
from ssme.metrics.kinds import Custom, Decision
from ssme.options import Number, Option, accept
from ssme.results.evaluation import ALL, BaseEvaluation, plain_values
from ssme.results.frames import build_frame

__all__ = ["Goal", "MetricAt", "ThresholdChoice", "ThresholdPick", "choose_thresholds", "read_goal"]

COUNTERPART = {"precision": "recall", "recall": "precision", "specificity": "recall"}
"""What is made best where the other is demanded."""
FORM = re.compile(r"\s*(?P<metric>\w+)\s*>=\s*(?P<limit>\S+)\s*")
CONFIDENCE = Option(
    "confidence",
    Number(0.5, 1.0, open_most=True),
    0.5,
    "Probability with which a demand has to hold; 0.5 asks the estimate.",
)


@dataclass(frozen=True)
class Goal:
    """What a threshold is for: make ``best`` best, among thresholds with ``demand`` >= ``limit``.

    Attributes
    ----------
    text : str
        The goal in words.
    best : Metric
        The metric that is made best.
    demand : Metric or None
        The metric of which at least ``limit`` is demanded.
    limit : float
        The demand; NaN where there is none.
    """

    text: str
    best: Metric
    demand: Metric | None = None
    limit: float = float("nan")


@dataclass(frozen=True)
class MetricAt:
    """A metric at the chosen threshold.

    Attributes
    ----------
    metric : str
        Its name.
    estimate, low, high : float
        Its value with the interval; the optimism of choosing is taken off.
    optimism : float
        By how much the plain estimate at the chosen threshold looks better than it is; 0 for
        methods with a posterior.
    """

    metric: str
    estimate: float
    low: float
    high: float
    optimism: float


@dataclass(frozen=True)
class ThresholdPick:
    """The threshold of one model.

    Attributes
    ----------
    model : str
        The model.
    threshold, low, high : float
        P(1) from which it should predict class 1, with the interval over the draws; NaN where no
        threshold meets the demand.
    metrics : tuple of MetricAt
        The metric that was made best and, where there is one, the metric of the demand.
    p_demand : float
        Probability that the demand holds at the threshold; NaN without one.
    p_reachable : float
        Share of draws in which some threshold meets the demand; 1 without one.
    """

    model: str
    threshold: float
    low: float
    high: float
    metrics: tuple[MetricAt, ...]
    p_demand: float
    p_reachable: float


@dataclass(frozen=True)
class ThresholdChoice:
    """Thresholds of all models for one goal.

    Attributes
    ----------
    goal : str
        The goal.
    picks : tuple of ThresholdPick
        One per model, in the order of the data.
    choice : Choice or None
        Which model to take, each at its own threshold; None where no model meets the demand.
    """

    goal: str
    picks: tuple[ThresholdPick, ...]
    choice: Choice | None
    library: str = "pandas"

    def rows(self) -> list[dict[str, Any]]:
        """One row per model and metric, as plain values."""
        return [
            {
                "model": pick.model,
                "threshold": pick.threshold,
                "threshold_low": pick.low,
                "threshold_high": pick.high,
                **asdict(at),
                "p_demand": pick.p_demand,
            }
            for pick in self.picks
            for at in pick.metrics
        ]

    def frame(self, library: str | None = None) -> Any:
        """`rows` as a frame of ``library`` (default: the one that the scores came in)."""
        rows = self.rows()
        return build_frame(
            {key: [r[key] for r in rows] for key in rows[0]}, library or self.library
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values that JSON can hold."""
        out: dict[str, Any] = plain_values(
            {
                "goal": self.goal,
                "picks": [asdict(pick) for pick in self.picks],
                "decision": None if self.choice is None else self.choice.to_dict(),
            }
        )
        return out


def read_goal(goal: MetricSpec) -> Goal:
    """Read a goal.

    Parameters
    ----------
    goal : str, mapping or Metric
        ``"precision>=0.9"``, ``"recall>=0.95"`` or ``"specificity>=0.9"``; or a metric of
        decisions to make best, such as ``"f1"`` or ``ssme.metrics.expected_cost(matrix)``.

    Examples
    --------
    >>> from ssme.decide.thresholds import read_goal
    >>> read_goal("recall>=0.95").best.name
    'precision'
    """
    match = FORM.fullmatch(goal) if isinstance(goal, str) else None
    if match is None:
        if isinstance(goal, str) and any(sign in goal for sign in "<>="):
            raise _bad_goal(goal)
        metric = get_metric(goal)
        if not isinstance(metric.kind, Decision) or metric.greater_is_better is None:
            raise InputError(
                f"a threshold for the metric {metric.name!r}, which judges no decisions",
                allowed="a metric of decisions, such as f1, accuracy or expected_cost",
                fix="choose one of these, or a demand such as 'precision>=0.9'",
            )
        return Goal(metric.name, metric)
    try:
        limit = float(match["limit"])
    except ValueError:
        raise _bad_goal(str(goal)) from None
    if match["metric"] not in COUNTERPART or not 0.0 < limit <= 1.0:
        raise _bad_goal(str(goal))
    best = get_metric(COUNTERPART[match["metric"]])
    return Goal(f"{match['metric']}>={limit:g}", best, get_metric(match["metric"]), limit)


def _bad_goal(goal: str) -> InputError:
    return InputError(
        argument("goal", repr(goal)),
        allowed="precision>=X, recall>=X or specificity>=X with X above 0 and up to 1, or a metric "
        "of decisions to make best",
        fix="write for example 'recall>=0.95'",
    )


def choose_thresholds(
    evaluation: BaseEvaluation,
    goal: MetricSpec,
    *,
    group: str = ALL,
    confidence: float = CONFIDENCE.default,
    level: float | None = None,
    n_quantiles: int = 101,
) -> ThresholdChoice:
    """Choose a threshold for every model.

    Parameters
    ----------
    evaluation : Evaluation
        Scores of two classes and a belief about their labels.
    goal : str, mapping or Metric
        What the threshold is for; see `read_goal`.
    group : str, default "all"
        The rows to choose for.
    confidence : float, default 0.5
        Probability with which a demand has to hold at the threshold; 0.5 asks the estimate.
    level : float, optional
        Coverage of the intervals (default: that of the evaluation).
    n_quantiles : int, default 101
        Number of quantiles of a model's scores that are tried as its threshold.

    Returns
    -------
    ThresholdChoice
    """
    aim, confidence = read_goal(goal), accept(CONFIDENCE, confidence)
    level = evaluation.level if level is None else level
    _require_two_classes(evaluation)
    rows = evaluation.groups[evaluation.group_index(group)].rows
    scores = evaluation.data.scores[row_numbers(rows, evaluation.data.n_rows)]
    cuts = _candidates(scores, n_quantiles)
    asked = [aim.best] if aim.demand is None else [aim.best, aim.demand]
    found = evaluation.belief.estimate([_curve_metric(each, cuts) for each in asked], [rows])[0]
    same_rows = evaluation.posterior is None
    picks, values, draws = [], [], []
    for j, model in enumerate(evaluation.data.models):
        curves = [
            _Curve.of(metric, each, cuts.shape, j, same_rows)
            for metric, each in zip(asked, found, strict=True)
        ]
        pick, at_pick = _pick(model, cuts[j], curves, aim.limit, confidence, level)
        picks.append(pick)
        values.append(at_pick.value)
        draws.append(at_pick.draws)
    choice, value = None, np.array(values)
    if np.isfinite(value).any():
        estimate = Estimate(value, np.column_stack(draws))
        models = evaluation.data.models
        choice = choose_model(models, aim.best, estimate, where=group, level=level)
    library = evaluation.data.frame_library
    return ThresholdChoice(aim.text, tuple(picks), choice, library)


def _require_two_classes(evaluation: BaseEvaluation) -> None:
    if evaluation.data.n_classes != 2:
        raise UnsupportedError(
            f"a threshold among {evaluation.data.n_classes} classes",
            allowed="two classes; among more the largest score decides",
            fix="choose a model by a metric or a cost matrix instead",
        )
    if method_class(evaluation.method).spec.metrics is not None:
        raise UnsupportedError(
            f"method {evaluation.method!r} cannot estimate metrics at many thresholds",
            fix="use a method that estimates every metric, such as auto (`ssme methods`)",
        )


def _candidates(scores: FloatArray, n_quantiles: int) -> FloatArray:
    """Thresholds (M, T) at quantiles of each model's scores (n, M, 2), and 0 and 1."""
    at = np.linspace(0.0, 1.0, n_quantiles)
    out = np.full((scores.shape[1], n_quantiles + 2), 1.0)
    for j in range(scores.shape[1]):
        score = scores[:, j, 1]
        score = score[np.isfinite(score)]
        out[j, 0] = 0.0
        if score.size:
            out[j, 1:-1] = np.quantile(score, at, method="inverted_cdf")
    return out


def _curve_metric(metric: Metric, cuts: FloatArray) -> Metric:
    """``metric`` at every threshold, classifiers one after the other: (D, M * T) values."""
    assert isinstance(metric.kind, Decision)
    statistic = metric.kind.statistic

    def plan(scores: FloatArray) -> MetricPlan:
        n, n_models = scores.shape[:2]
        own = cuts if n_models == len(cuts) else _candidates(scores, cuts.shape[1] - 2)
        places = np.full((n, n_models), -1, dtype=np.int64)
        for j in range(n_models):
            score = scores[:, j, 1]
            held = np.isfinite(score)
            places[held, j] = np.searchsorted(own[j], score[held], side="right")

        def values(mass: FloatArray) -> FloatArray:
            tables = [_tables(mass, places[:, j], own.shape[1]) for j in range(n_models)]
            out: FloatArray = statistic(FullTables(np.concatenate(tables, axis=1)))
            return out

        return values

    return Metric(
        metric.name,
        metric.title,
        plan,
        Custom(),
        low=metric.low,
        high=metric.high,
        greater_is_better=metric.greater_is_better,
    )


def _tables(mass: FloatArray, places: NDArray[np.int64], size: int) -> FloatArray:
    """Confusion tables (D, T, 2, 2) of one classifier at each of ``size`` thresholds.

    ``places`` (n,) counts the thresholds that a row's score reaches; -1 where it has none.
    """
    held = places >= 0
    order = np.argsort(places[held], kind="stable")
    sums = np.zeros((len(mass), size + 1, 2))
    if held.any():
        sorted_mass = mass[:, held][:, order]
        filled, starts = np.unique(places[held][order], return_index=True)
        sums[:, filled] = np.add.reduceat(sorted_mass, starts, axis=1)
    below = np.cumsum(sums, axis=1)[:, :-1]  # rows that reach fewer than t + 1 thresholds
    above = np.maximum(sums.sum(axis=1, keepdims=True) - below, 0.0)
    out: FloatArray = np.stack([below, above], axis=3)
    return out


@dataclass(frozen=True, eq=False)
class _Curve:
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
        out: FloatArray = total / np.maximum(known.sum(axis=0), 1)
        return out

    @cached_property
    def noisy(self) -> FloatArray:
        """The estimate with the noise of each draw (D, T)."""
        out: FloatArray = self.value + (self.draws - self.centers)
        return out

    @classmethod
    def of(
        cls, metric: Metric, estimate: Estimate, shape: tuple[int, int], j: int, same_rows: bool
    ) -> _Curve:
        if estimate.draws is None:
            raise UnsupportedError(
                "thresholds without draws: their uncertainty cannot be told",
                fix="use a method that draws, such as auto (`ssme methods`)",
            )
        value = estimate.value.reshape(shape)[j]
        return cls(metric, value, estimate.draws.reshape(-1, *shape)[:, j], same_rows)

    @property
    def sign(self) -> float:
        return 1.0 if self.metric.greater_is_better else -1.0

    def at(self, chosen: int, by_draw: NDArray[np.int64]) -> _AtPick:
        """The metric at threshold ``chosen``, less the optimism of having chosen."""
        if chosen < 0:
            nothing = np.full(len(self.draws), np.nan)
            return _AtPick(float("nan"), nothing, float("nan"))
        reached = np.flatnonzero(by_draw >= 0)
        noise = self.draws[reached, by_draw[reached]] - self.centers[by_draw[reached]]
        noise = noise[np.isfinite(noise)]
        better = 0.0
        if self.same_rows and noise.size:
            better = max(0.0, self.sign * float(np.sqrt(2.0) * noise.mean()))
        span = (self.metric.low, self.metric.high)
        value = float(np.clip(self.value[chosen] - self.sign * better, *span))
        return _AtPick(value, np.clip(self.draws[:, chosen] - self.sign * better, *span), better)


@dataclass(frozen=True, eq=False)
class _AtPick:
    value: float
    draws: FloatArray
    optimism: float


def _choose(worth: FloatArray, met: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Position of the greatest ``worth`` (..., T) among those ``met``; -1 where there is none."""
    open_to = np.where(met & np.isfinite(worth), worth, -np.inf)
    at = open_to.argmax(axis=-1)
    out: NDArray[np.int64] = np.where(np.isfinite(open_to.max(axis=-1)), at, -1)
    return out


def _pick(
    model: str,
    cuts: FloatArray,
    curves: Sequence[_Curve],
    limit: float,
    confidence: float,
    level: float,
) -> tuple[ThresholdPick, _AtPick]:
    """The threshold of one model, and the metric that is made best at it."""
    best, demand = curves[0], curves[1] if len(curves) > 1 else None
    met = np.ones(best.value.shape, dtype=bool)
    met_by_draw = np.ones(best.draws.shape, dtype=bool)
    if demand is not None:
        margin = np.zeros(cuts.shape)
        if confidence > 0.5:
            known = np.isfinite(demand.value) & np.isfinite(demand.draws).any(axis=0)
            reached = np.nanquantile(demand.draws[:, known], 1.0 - confidence, axis=0)
            margin[known] = np.maximum(demand.value[known] - reached, 0.0)
        with np.errstate(invalid="ignore"):
            met = demand.value - margin >= limit
            met_by_draw = demand.noisy - margin >= limit
    chosen = int(_choose(best.sign * best.value, met))
    by_draw = _choose(best.sign * best.noisy, met_by_draw)
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
            MetricAt(curve.metric.name, at.value, *_ends(at, tails), at.optimism)
            for curve, at in zip(curves, found, strict=True)
        ),
        p_demand=_share_met(found[1], limit) if demand is not None else float("nan"),
        p_reachable=float((by_draw >= 0).mean()),
    )
    return pick, found[0]


def _ends(at: _AtPick, tails: list[float]) -> tuple[float, float]:
    known = at.draws[np.isfinite(at.draws)]
    if not known.size:
        return float("nan"), float("nan")
    low, high = np.quantile(known, tails)
    return float(min(low, at.value)), float(max(high, at.value))


def _share_met(at: _AtPick, limit: float) -> float:
    known = at.draws[np.isfinite(at.draws)]
    return float((known >= limit).mean()) if known.size else float("nan")
