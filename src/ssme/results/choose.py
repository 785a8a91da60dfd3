"""Which model to take, and what the choice may cost.

The rule, the same in `Evaluation.choose`, on the command line and on the report's first card:

    pick            the model with the best estimate; of equal ones the first by name
    P(best)         how probable it is that a model is the best (`ssme.results.comparison`)
                    after the correction by what was measured (`ssme.results.reliability`)
    regret          max_j m_j - m_pick in each draw: what is lost if another model is the best; the
                    expected regret is its mean over draws that are drawn towards the estimates, as
                    for P(best), its interval the quantiles over the draws as they are
    95% set         the fewest models whose P(best) add up to 0.95, taken from the highest down;
                    the pick is always shown with it, whether or not it is among them
    equal           models whose difference to the pick lies within +-margin with 95% probability
    P(within)       share of the draws in which the regret is no more than the margin, corrected
                    likewise

Intervals and what is asked to hold with 95% (equal, P(within)) go by the draws as they are: their
tails are wide on purpose.

The pick goes by the estimate and not by P(best), because P(best) rewards a wide interval: a model
of which little is known is often the best of a draw and often the worst.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ssme.arrays import BoolArray, FloatArray
from ssme.errors import InputError
from ssme.methods.base import Estimate, check_supported
from ssme.methods.registry import find_method_class
from ssme.metrics import MetricSpec, get_metric
from ssme.metrics.base import Metric
from ssme.metrics.registry import expand_metrics
from ssme.options import Number, Option, accept
from ssme.results import comparison
from ssme.results.groups import estimate_further, find_places
from ssme.results.reliability import MARGINS, UNMEASURED, Record
from ssme.results.table import Answer, Row
from ssme.show.sections import format_percent
from ssme.wording import quote

if TYPE_CHECKING:
    from ssme.results.evaluation import Evaluation

MARGIN = Option("margin", Number(least=0.0), 0.01, "Differences that make no difference in use.")
SET_LEVEL = Option(
    "set_level",
    Number(0.0, 1.0, open_least=True, open_most=True),
    0.95,
    "Probability with which the set of possible best models contains the best one.",
)

SURE = 0.9
"""P(within) from which on one may stop labeling (`ssme.results.plan`)."""
LEAST_LABELS = 20
"""Labels before which nobody should stop: P(within) was not measured with fewer."""

NAMED = 2
"""Models that a sentence names as possibly the best."""


@dataclass(frozen=True)
class Contender(Row):
    """One model next to the pick.

    ``behind`` is by how much its estimate is worse than the pick's, ``in_set`` whether it belongs
    to the smallest set that contains the best model with the set's probability, and
    ``practically_equal`` whether it differs from the pick by no more than the margin with it.
    """

    model: str
    estimate: float
    low: float
    high: float
    p_best: float
    p_best_raw: float
    behind: float
    in_set: bool
    practically_equal: bool


@dataclass(frozen=True)
class Choice(Answer):
    """The model to take by one metric, with its probability and its price.

    Attributes
    ----------
    metric, where : str
        The metric that decides and the group of rows it is computed on.
    pick : str
        The model with the best estimate.
    p_best, p_best_raw : float
        Probability that the pick is the best, calibrated on benchmark sets where it was measured,
        and as the draws have it.
    regret, regret_low, regret_high : float
        What is expected to be lost by taking the pick, in units of the metric, with its interval.
    p_within, p_within_raw : float
        Probability that the pick is behind the best by no more than the margin, likewise.
    contenders : tuple of Contender
        All models, best estimate first; models whose metric is undefined are last.
    in_points : bool
        Whether the metric goes from 0 to 1, so that a hundredth of it is a point.
    margin, set_level, level : float
        Margin of practical equality, probability of the set, and level of the intervals.
    calibrated, within_calibrated : bool
        Whether P(best), and P(within) for such margins, were measured on benchmark sets.
    goal : str
        What the thresholds of the models were chosen for; empty at the threshold of the metric.
    threshold : float or None
        That of the pick, where thresholds were chosen.
    """

    derived: ClassVar[tuple[str, ...]] = (
        "possible_best",
        "practically_equal",
        "sentence",
        "sureness",
    )
    metric: str
    where: str
    pick: str
    p_best: float
    p_best_raw: float
    regret: float
    regret_low: float
    regret_high: float
    p_within: float
    p_within_raw: float
    contenders: tuple[Contender, ...]
    in_points: bool
    margin: float
    set_level: float
    level: float
    calibrated: bool
    within_calibrated: bool
    goal: str = ""
    threshold: float | None = None

    @property
    def possible_best(self) -> tuple[str, ...]:
        """The smallest set of models that contains the best one with the set's probability."""
        chosen = [each for each in self.contenders if each.in_set]
        chosen.sort(key=lambda each: (-each.p_best, -each.p_best_raw))
        return tuple(each.model for each in chosen)

    @property
    def practically_equal(self) -> tuple[str, ...]:
        """Models that differ from the pick by no more than the margin."""
        return tuple(each.model for each in self.contenders if each.practically_equal)

    @property
    def is_clear(self) -> bool:
        """Whether the pick alone is the set, so that no other model need be considered."""
        return self.possible_best == (self.pick,)

    def sentence(self) -> str:
        """Describe the choice in words: the pick, its price, and who else may be the best."""
        if np.isnan(self.p_best):
            return f"{self.pick} has the best estimate of {self.metric}; the method gives no draws."
        points = f"{100 * self.regret:.2f} percentage points"
        size = points if self.in_points else f"{self.regret:.3g}"
        return (
            f"Take {self.pick}{self.describe_threshold()}: it has the best estimate, and the "
            f"expected loss of {self.metric} from taking it is {size}. {self.sureness()}"
        )

    @property
    def may_stop(self) -> bool:
        """Whether the pick is within the margin of the best with 90% probability.

        It goes by the draws as they are, whatever looks came before (`ssme.results.plan`).
        """
        return self.p_within_raw >= SURE

    def describe_stop(self) -> str:
        """Say that one may stop labeling, and why; empty where one may not."""
        if not self.may_stop:
            return ""
        points = f"{100 * self.margin:g} percentage point{'' if self.margin == 0.01 else 's'}"
        size = points if self.in_points else f"{self.margin:g}"
        return (
            f"You may stop: {self.pick} is at most {size} of {self.metric} behind the best with "
            f"{format_percent(self.p_within_raw)} probability."
        )

    def describe_threshold(self) -> str:
        """The threshold of the pick and what it is for; empty where none was chosen."""
        if self.threshold is None:
            return ""
        demand = "" if self.goal == self.metric else f" for {self.goal}"
        return f" at threshold {self.threshold:.3f}{demand}"

    def sureness(self) -> str:
        """Describe the set of possible best models and P(best) of the pick; empty without draws."""
        if np.isnan(self.p_best):
            return ""
        listed = list_alternatives(self.possible_best)
        raw = "" if self.calibrated else " (not calibrated)"
        return (
            f"With {100 * self.set_level:g}% probability the best one is {listed}. "
            f"{self.pick} is the best with {format_percent(self.p_best)} probability{raw}."
        )

    def _list_rows(self) -> Sequence[Mapping[str, Any]]:
        return [vars(each) for each in self.contenders]


def list_alternatives(models: Sequence[str]) -> str:
    """The first models with "or" before the last, and how many others there are."""
    names = list(models)
    if len(models) > NAMED:
        names[NAMED - 1 :] = [f"{len(models) - NAMED + 1} others"]
    return " or ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)


def find_criterion(
    evaluation: Evaluation, metric: MetricSpec | None, group: str
) -> tuple[Metric, Estimate]:
    """A metric and its estimate: one of the table (default: the first), or one estimated now."""
    names = [each.name for each in evaluation.metrics]
    metric = names[0] if metric is None else metric
    if isinstance(metric, str) and metric in names:
        return evaluation.find_metric(metric), evaluation.estimate(metric, group)
    (spec,) = expand_metrics([metric], evaluation.data.classes)
    chosen = get_metric(spec, threshold=evaluation.settings.get("threshold"))
    if chosen in evaluation.metrics:
        return chosen, evaluation.estimate(chosen.name, group)
    if evaluation.streamed is not None:
        problem = f"metric {chosen.name!r} was not counted when the rows were passed over"
        raise InputError(problem, hint=f"choose by {quote(names)}, or evaluate it with `metrics`")
    check_supported(find_method_class(evaluation.method).spec, evaluation.data, [chosen])
    place = evaluation.group_index(group)
    if place == 0:
        return chosen, evaluation.belief.estimate([chosen], [None])[0][0]
    places = find_places(evaluation, evaluation.groups[place].by, pooled=True)
    return chosen, estimate_further(evaluation, [chosen], places)[0][places.index(place)]


def find_stop(evaluation: Evaluation, metric: Metric) -> str:
    """Why one may stop labeling for the best model; empty where one may not.

    Only of methods and metrics whose P(within) was measured on benchmark sets: draws of others may
    be much too sure. The same goes for fewer than `LEAST_LABELS`.
    """
    choice = evaluation.choose(metric.name)
    measured = choice.within_calibrated and evaluation.data.n_labeled >= LEAST_LABELS
    return choice.describe_stop() if measured else ""


def choose_model(
    models: Sequence[str],
    metric: Metric,
    estimate: Estimate,
    *,
    where: str = "all",
    margin: float = MARGIN.default,
    set_level: float = SET_LEVEL.default,
    level: float = 0.95,
    record: Record = UNMEASURED,
) -> Choice:
    """Choose among ``models`` by the rule of this module; ``record`` corrects probabilities."""
    margin, set_level = accept(MARGIN, margin), accept(SET_LEVEL, set_level)
    if margin > MARGIN.default:
        refuse_idle_margin("margin", margin, metric)
    sign = 1.0 if comparison.require_direction(metric) else -1.0
    value, known = estimate.value, np.isfinite(estimate.value)
    if not known.any():
        problem = f"{metric.name} is undefined for every model on group {where!r}"
        raise InputError(problem, hint="choose by another metric, or label rows of every class")
    order = comparison.order_models(models, value, upwards=sign > 0)
    pick = int(order[0])
    raw, equal = np.full(value.size, np.nan), np.arange(value.size) == pick
    regret = low_regret = high_regret = within = float("nan")
    if estimate.draws is not None:
        complete = np.isfinite(estimate.draws[:, known]).all(axis=1)
        draws, narrow = (
            each[complete][:, known] for each in (estimate.draws, comparison.draw_towards(estimate))
        )
        place = int(known[:pick].sum())
        if len(draws):
            raw = comparison.compute_probability_best(estimate, greater_is_better=sign > 0)
            signed, narrow = sign * draws, sign * narrow
            behind = signed.max(axis=1) - signed[:, place]
            regret = float((narrow.max(axis=1) - narrow[:, place]).mean())
            ends = np.quantile(behind, [(1.0 - level) / 2.0, (1.0 + level) / 2.0])
            low_regret, high_regret = float(min(ends[0], regret)), float(max(ends[1], regret))
            within = float((behind <= margin + 1e-12).mean())
            close = np.abs(draws - draws[:, [place]]) <= margin
            equal[known] = close.mean(axis=0) >= set_level
    p_best = record.correct_shares("best", raw)
    in_set = _find_set(raw, p_best, known, set_level)
    measured = record.knows("within") and MARGINS[0] <= margin <= MARGINS[-1]
    columns = [value, *estimate.interval(level), p_best, raw, sign * (value[pick] - value)]
    numbers = np.stack(columns, axis=1).tolist()
    flags = zip(in_set.tolist(), equal.tolist(), strict=True)
    cells = [(*row, *pair) for row, pair in zip(numbers, flags, strict=True)]
    return Choice(
        metric=metric.name,
        where=where,
        pick=models[pick],
        p_best=float(p_best[pick]),
        p_best_raw=float(raw[pick]),
        regret=regret,
        regret_low=low_regret,
        regret_high=high_regret,
        p_within=float(record.correct("within", within)) if measured else within,
        p_within_raw=within,
        contenders=tuple(Contender(models[j], *cells[j]) for j in order),
        in_points=(metric.low, metric.high) == (0.0, 1.0),
        margin=margin,
        set_level=set_level,
        level=level,
        calibrated=record.knows("best"),
        within_calibrated=measured,
    )


def refuse_idle_margin(
    name: str, margin: float, metric: Metric, n_classes: int | None = None
) -> None:
    """Refuse a margin that every model meets; ``name`` is the option that has it."""
    low, high = metric.find_range(n_classes)
    span = high - low
    if margin >= span:
        must = f"be below {span:g}, the range of {metric.name}"
        hint = "every model would be that close; one percentage point is 0.01"
        raise InputError(option=name, value=margin, must=must, hint=hint)


def _find_set(raw: FloatArray, p_best: FloatArray, known: BoolArray, set_level: float) -> BoolArray:
    """Which models (M,) are in the smallest set; all ``known`` ones without draws."""
    if not np.isfinite(raw).any():
        return known
    order = np.argsort(-np.where(known, raw, -1.0), kind="stable")
    before = np.cumsum(p_best[order]) - p_best[order]
    in_set = np.zeros(known.size, dtype=bool)
    in_set[order[before < set_level - 1e-12]] = True
    in_set[~known] = False
    return in_set
