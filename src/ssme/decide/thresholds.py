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
made better by looking for its best place (docs/deciding.md has the measured optimism of both). With
e_d(t) = v_d(t) - mean_d v_d(t), the noise of v, the curves v + e_d and v - e_d are nearly
independent (Oliveira, Lei and Tibshirani, Unbiased risk estimation in the normal means problem via
coupled bootstrap techniques, 2021): choose t_d on the first and judge on the second,

    optimism = mean_d [ (v + e_d)(t_d) - (v - e_d)(t_d) ] / sqrt 2,    estimate = v(t*) - optimism,

divided by sqrt 2 because v + e_d is noisier than v by that factor. Draws at t* move by as much.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ssme.decide.choose import MARGIN, Choice, choose_model
from ssme.decide.threshold_curves import (
    AtPick,
    Curve,
    list_candidates,
    refine_candidates,
    trace_metric,
)
from ssme.decide.threshold_goals import read_goal
from ssme.errors import UnsupportedError, argument
from ssme.markup import format_percent
from ssme.methods.base import Estimate, GroupRows, number_rows, refuse_without_order
from ssme.methods.registry import find_method_class, get_method
from ssme.metrics import MetricSpec, at_threshold
from ssme.metrics.base import FloatArray, Metric
from ssme.options import Number, Option, accept
from ssme.results.evaluation import ALL, BaseEvaluation, to_plain_values
from ssme.results.frames import build_frame_of_rows
from ssme.results.notebook import ToldInWords
from ssme.results.reliability import Record
from ssme.results.sections import Section, format_number, format_value

__all__ = ["MetricAt", "ThresholdChoice", "ThresholdPick", "choose_thresholds"]

CELLS = 10_000
"""Thresholds of all models that are tried at a time."""

CONFIDENCE = Option(
    "confidence",
    Number(0.5, 1.0, open_most=True),
    0.5,
    "Probability with which a demand has to hold; 0.5 asks the estimate.",
)


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
    labels_only, labels_only_low, labels_only_high : float
        What the labeled rows alone say at this threshold; NaN where they do not determine it.
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
class ThresholdChoice(ToldInWords):
    """Thresholds of all models for one goal.

    Attributes
    ----------
    goal : str
        The goal.
    picks : tuple of ThresholdPick
        One per model, in the order of the data.
    choice : Choice or None
        Which model to take, each at its own threshold; None where no model meets the demand.
    metric : Metric
        The metric that is made best.
    confidence : float
        Probability with which a demand was asked to hold.
    """

    goal: str
    picks: tuple[ThresholdPick, ...]
    choice: Choice | None
    metric: Metric
    confidence: float
    library: str = "pandas"

    def sentence(self) -> str:
        """Describe the choice in words: which model to take, each at its own threshold.

        Returns
        -------
        str
            The sentences.

        Examples
        --------
        >>> import ssme
        >>> from ssme.sample import sample_path
        >>> r = ssme.evaluate(sample_path(), "label", method="labeled", metrics="accuracy")
        >>> r.choose_thresholds("f1").sentence()[:5]
        'Take '
        """
        if self.choice is None:
            return f"No model reaches {self.goal} at any threshold."
        return self.choice.sentence()

    def make_section(self) -> Section:
        """Write the section that every output shows.

        Returns
        -------
        Section
            A table, and how probably the demand is met; the choice is the evaluation's decision.
        """
        met = [f"{p.model} {format_percent(p.p_demand)}" for p in self.picks if p.p_demand >= 0.0]
        never = [pick.model for pick in self.picks if np.isnan(pick.threshold)]
        said = []
        if met:
            said.append(f"Probability that {self.goal} holds at the threshold: {_list_names(met)}.")
        if never:
            verb = "reaches" if len(never) == 1 else "reach"
            said.append(f"{_list_names(never)} {verb} {self.goal} at no threshold.")
        rows = tuple(
            (
                pick.model,
                format_value(pick.threshold, pick.low, pick.high),
                at.metric,
                format_value(at.estimate, at.low, at.high),
                format_number(at.labels_only),
            )
            for pick in self.picks
            for at in pick.metrics
        )
        head = ("model", "threshold", "metric", "estimate", "labels only")
        sure = "" if self.confidence == CONFIDENCE.default else f", probability {self.confidence:g}"
        title = f"Thresholds for {self.goal}{sure}"
        return Section("thresholds", title, tuple(said), head, rows)

    def _list_columns(self) -> dict[str, list[Any]]:
        rows = self.rows()
        return {name: [row[name] for row in rows] for name in rows[0]} if rows else {}

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per model and metric.

        Returns
        -------
        list of dict
            The rows.
        """
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
        """Return the rows as a data frame.

        Parameters
        ----------
        library : {"pandas", "polars", "pyarrow"}, optional
            Library of the frame (default: the one that the scores came in).

        Returns
        -------
        data frame
            One line per row.
        """
        return build_frame_of_rows(self.rows(), library or self.library)

    def to_dict(self) -> dict[str, Any]:
        """Return the thresholds as plain values.

        Returns
        -------
        dict
            Values that JSON can hold; NaN becomes None.
        """
        out: dict[str, Any] = to_plain_values(
            {
                "goal": self.goal,
                "confidence": self.confidence,
                "picks": [asdict(pick) for pick in self.picks],
                "sentence": self.sentence(),
            }
        )
        return out


def _list_names(names: Sequence[str], most: int = 20) -> str:
    """The first names, and how many more there are."""
    more = [f"{len(names) - most:,} more"] if len(names) > most else []
    return ", ".join([*names[:most], *more])


def choose_thresholds(
    evaluation: BaseEvaluation,
    goal: MetricSpec,
    *,
    group: str = ALL,
    confidence: float = CONFIDENCE.default,
    level: float | None = None,
    margin: float = MARGIN.default,
    n_candidates: int = 300,
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
    margin : float, default 0.01
        Differences between models, each at its threshold, that make no difference in use.
    n_candidates : int, default 300
        Distinct scores of a model up to which each is tried as its threshold. Of more, about as
        many are tried all over and then as many next to the best one.

    Returns
    -------
    ThresholdChoice

    Examples
    --------
    >>> import ssme
    >>> scores = {"a": [0.9, 0.8, 0.3, 0.2], "b": [0.4, 0.6, 0.7, 0.5]}
    >>> r = ssme.evaluate(scores, [1, None, 0, None], method="ensemble", metrics="accuracy")
    >>> [pick.model for pick in choose_thresholds(r, "f1").picks]
    ['a', 'b']
    """
    aim, confidence = read_goal(goal), accept(CONFIDENCE, confidence)
    level = evaluation.level if level is None else level
    _require_two_classes(evaluation)
    rows = evaluation.groups[evaluation.group_index(group)].rows
    scores = evaluation.data.scores[number_rows(rows, evaluation.data.n_rows)]
    asked = [aim.best] if aim.demand is None else [aim.best, aim.demand]
    most = max(min(n_candidates, CELLS // evaluation.data.n_models), 100)
    cuts = list_candidates(scores, most)
    curves = _trace(evaluation, asked, cuts, rows)
    near = [_find_best(each, aim.limit, confidence) for each in curves]
    finer = refine_candidates(cuts, scores, near, most)
    if not np.array_equal(finer, cuts):
        cuts, curves = finer, _trace(evaluation, asked, finer, rows)
    picks, values, draws = [], [], []
    for j, model in enumerate(evaluation.data.models):
        pick, at_pick = _pick(model, cuts[j], curves[j], aim.limit, confidence, level)
        picks.append(pick)
        values.append(at_pick.value)
        draws.append(at_pick.draws)
    choice, value = None, np.array(values)
    if np.isfinite(value).any():
        estimate = Estimate(value, np.column_stack(draws))
        models = evaluation.data.models
        record = Record(evaluation.method, f"{aim.best.name} at chosen thresholds")
        choice = choose_model(
            models, aim.best, estimate, where=group, margin=margin, level=level, record=record
        )
        threshold = next(pick.threshold for pick in picks if pick.model == choice.pick)
        choice = replace(choice, goal=aim.text, threshold=threshold)
    library = evaluation.data.frame_library
    alone = _find_labels_only(evaluation, picks, asked, rows, level)
    return ThresholdChoice(aim.text, tuple(alone), choice, aim.best, confidence, library)


def _trace(
    evaluation: BaseEvaluation, asked: Sequence[Metric], cuts: FloatArray, rows: GroupRows
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


def _find_labels_only(
    evaluation: BaseEvaluation,
    picks: Sequence[ThresholdPick],
    asked: Sequence[Metric],
    rows: GroupRows,
    level: float,
) -> Iterator[ThresholdPick]:
    """``picks`` with what the labeled rows alone say at each threshold."""
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
            low, high = each.interval(level)
            metrics.append(
                replace(
                    at,
                    labels_only=float(each.value[j]),
                    labels_only_low=float(low[j]),
                    labels_only_high=float(high[j]),
                )
            )
        yield replace(pick, metrics=tuple(metrics))


def _require_two_classes(evaluation: BaseEvaluation) -> None:
    if evaluation.data.n_classes != 2:
        raise UnsupportedError(
            f"a threshold was asked for among {evaluation.data.n_classes} classes",
            allowed="two classes; among more the largest score decides",
            fix="choose a model by a metric or a cost matrix instead",
        )
    if find_method_class(evaluation.method).spec.metrics is not None:
        raise UnsupportedError(
            f"method {evaluation.method!r} cannot estimate metrics at many thresholds",
            fix="use a method that estimates every metric, such as auto (`ssme methods`)",
        )
    judges = list(evaluation.data.judges)
    if judges:
        raise UnsupportedError(
            f"{judges[0]!r} gives answers or grades and no probabilities, so that it has no "
            "threshold to choose",
            allowed="thresholds of classifiers with probabilities",
            fix=f"leave the judges out; for ratings, compare several values of {argument('cut')}",
        )


def _choose(worth: FloatArray, met: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Position of the greatest ``worth`` (..., T) among those ``met``; -1 where there is none."""
    open_to = np.where(met & np.isfinite(worth), worth, -np.inf)
    at = open_to.argmax(axis=-1)
    out: NDArray[np.int64] = np.where(np.isfinite(open_to.max(axis=-1)), at, -1)
    return out


def _find_margin(demand: Curve, confidence: float) -> FloatArray:
    """How far above its limit (T,) the demand has to be, to hold with ``confidence``."""
    margin = np.zeros(demand.value.shape)
    if confidence > 0.5:
        known = np.isfinite(demand.value) & np.isfinite(demand.draws).any(axis=0)
        reached = np.nanquantile(demand.draws[:, known], 1.0 - confidence, axis=0)
        margin[known] = np.maximum(demand.value[known] - reached, 0.0)
    return margin


def _find_best(curves: Sequence[Curve], limit: float, confidence: float) -> int:
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
            MetricAt(curve.metric.name, at.value, *_find_ends(at, tails), at.optimism)
            for curve, at in zip(curves, found, strict=True)
        ),
        p_demand=_compute_share_met(found[1], limit) if demand is not None else float("nan"),
        p_reachable=float((by_draw >= 0).mean()),
    )
    return pick, found[0]


def _find_ends(at: AtPick, tails: list[float]) -> tuple[float, float]:
    known = at.draws[np.isfinite(at.draws)]
    if not known.size:
        return float("nan"), float("nan")
    low, high = np.quantile(known, tails)
    return float(min(low, at.value)), float(max(high, at.value))


def _compute_share_met(at: AtPick, limit: float) -> float:
    known = at.draws[np.isfinite(at.draws)]
    return float((known >= limit).mean()) if known.size else float("nan")
