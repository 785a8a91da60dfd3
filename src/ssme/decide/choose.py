"""Which model to take, and what the choice may cost.

The rule, the same in `Evaluation.choose`, on the command line and on the report's first card:

    pick            the model with the best estimate
    P(best)         how probable it is that a model is the best (`ssme.results.comparison`)
                    after the correction by what was measured (`ssme.results.reliability`)
    regret          max_j m_j - m_pick in each draw: what is lost if another model is the best; the
                    expected regret is its mean over draws that are drawn towards the estimates, as
                    for P(best), its interval the quantiles over the draws as they are
    95 % set        the fewest models whose P(best) add up to 0.95, taken from the highest down;
                    the pick is always shown with it, whether or not it is among them
    equal           models whose difference to the pick lies within +-margin with 95 % probability
    P(within)       share of the draws in which the regret is no more than the margin, corrected
                    likewise

Intervals and what is asked to hold with 95 % (equal, P(within)) go by the draws as they are: their
tails are wide on purpose.

The pick goes by the estimate and not by P(best), because P(best) rewards a wide interval: a model
of which little is known is often the best of a draw and often the worst.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ssme.errors import InputError, argument
from ssme.markup import format_percent
from ssme.methods.base import Estimate
from ssme.metrics.base import FloatArray, Metric
from ssme.options import Number, Option, accept
from ssme.results.comparison import compute_probability_best, draw_towards
from ssme.results.evaluation import to_plain_values
from ssme.results.notebook import ToldInWords
from ssme.results.reliability import MARGINS, UNMEASURED, Record

__all__ = ["Choice", "Contender", "choose_model", "refuse_idle_margin"]

MARGIN = Option("margin", Number(least=0.0), 0.01, "Differences that make no difference in use.")
SET_LEVEL = Option(
    "set_level",
    Number(0.0, 1.0, open_least=True, open_most=True),
    0.95,
    "Probability with which the set of possible best models holds the best one.",
)

NAMED = 3
"""Models that a sentence names as possibly the best."""


@dataclass(frozen=True)
class Contender:
    """One model beside the pick.

    Attributes
    ----------
    model : str
        Its name.
    estimate, low, high : float
        Its metric with the interval.
    p_best, p_best_raw : float
        Probability that it is the best of all, calibrated on benchmark sets where it was measured,
        and as the draws have it; NaN where the method gives no joint draws.
    behind : float
        By how much its estimate is worse than the pick's; 0 for the pick.
    in_set : bool
        Whether it belongs to the smallest set that holds the best model.
    practically_equal : bool
        Whether it differs from the pick by no more than the margin, with the set's probability.
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
class Choice(ToldInWords):
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

    def _list_columns(self) -> dict[str, list[Any]]:
        rows = [asdict(contender) for contender in self.contenders]
        return {name: [row[name] for row in rows] for name in rows[0]}

    @property
    def possible_best(self) -> tuple[str, ...]:
        """The smallest set of models that holds the best one with the set's probability."""
        chosen = sorted(
            (c for c in self.contenders if c.in_set), key=lambda c: (-c.p_best, -c.p_best_raw)
        )
        return tuple(c.model for c in chosen)

    @property
    def practically_equal(self) -> tuple[str, ...]:
        """Models that differ from the pick by no more than the margin."""
        return tuple(c.model for c in self.contenders if c.practically_equal)

    @property
    def is_clear(self) -> bool:
        """Whether the pick alone is the set, so that no other model need be considered."""
        return self.possible_best == (self.pick,)

    def to_dict(self) -> dict[str, Any]:
        """Return the choice as plain values.

        Returns
        -------
        dict
            Values that JSON can hold; NaN becomes None.
        """
        out: dict[str, Any] = to_plain_values(
            {
                **asdict(self),
                "possible_best": self.possible_best,
                "practically_equal": self.practically_equal,
                "sentence": self.sentence(),
                "sureness": self.describe_sureness(),
            }
        )
        return out

    def sentence(self) -> str:
        """Describe the choice in words: the pick, its price, and who else may be the best.

        Returns
        -------
        str
            The sentences.

        Examples
        --------
        >>> import ssme
        >>> from ssme.sample import sample_path
        >>> r = ssme.evaluate(sample_path(), "label", method="labeled", metrics="accuracy")
        >>> r.choose("accuracy").pick in r.choose("accuracy").sentence()
        True
        """
        if np.isnan(self.p_best):
            return f"{self.pick} has the best estimate of {self.metric}; the method gives no draws."
        points = f"{100 * self.regret:.2f} percentage points"
        size = points if self.in_points else f"{self.regret:.3g}"
        lost = f"the expected loss of {self.metric} from taking it is {size}"
        pick = f"Take {self.pick}{self.describe_threshold()}: it has the best estimate"
        return f"{pick}, and {lost}. {self.describe_sureness()}"

    def describe_threshold(self) -> str:
        """Name the threshold of the pick and what it is for.

        Returns
        -------
        str
            The words; empty where no threshold was chosen.
        """
        return (
            "" if self.threshold is None else f" at threshold {self.threshold:.3f} for {self.goal}"
        )

    def describe_sureness(self) -> str:
        """Describe the set of possible best models and P(best) of the pick.

        Returns
        -------
        str
            The sentences.
        """
        if np.isnan(self.p_best):
            return ""
        named = list(self.possible_best[:NAMED])
        if len(self.possible_best) > NAMED:
            named.append(f"{len(self.possible_best) - NAMED} more")
        listed = " or ".join([", ".join(named[:-1]), named[-1]] if named[1:] else named)
        raw = "" if self.calibrated else " (not calibrated)"
        return (
            f"With {100 * self.set_level:g} % probability the best one is {listed}. "
            f"{self.pick} is the best with {format_percent(self.p_best)} probability{raw}."
        )


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
    """Choose among ``models`` by the rule of this module.

    Parameters
    ----------
    models : sequence of str
        Names, in the order of the estimate's columns.
    metric : Metric
        The metric that decides; it must say whether greater is better.
    estimate : Estimate
        Values and joint draws of the metric.
    where : str, default "all"
        Name of the group of rows.
    margin : float, default 0.01
        Differences up to this size make no difference in use.
    set_level : float, default 0.95
        Probability with which the set of possible best models holds the best one.
    level : float, default 0.95
        Level of the intervals.
    record : Record
        What was measured of the method's probabilities, which corrects them (default: nothing).

    Returns
    -------
    Choice

    Examples
    --------
    >>> import ssme
    >>> from ssme.sample import sample_path
    >>> r = ssme.evaluate(sample_path(), "label", method="labeled", metrics="accuracy")
    >>> choice = choose_model(r.data.models, r.metrics[0], r.estimate("accuracy"))
    >>> choice.pick == r.ranking("accuracy").rows[0].model
    True
    """
    margin, set_level = accept(MARGIN, margin), accept(SET_LEVEL, set_level)
    if margin > MARGIN.default:
        refuse_idle_margin("margin", margin, metric)
    if metric.greater_is_better is None:
        raise InputError(
            f"metric {metric.name!r} does not say whether greater is better",
            fix=f"make it with {argument('greater_is_better', 'True')} or False",
        )
    sign = 1.0 if metric.greater_is_better else -1.0
    value = estimate.value
    if not np.isfinite(value).any():
        raise InputError(
            f"{metric.name} is undefined for every model on group {where!r}",
            fix="choose by another metric, or label rows of every class",
        )
    order = np.argsort(-sign * value, kind="stable")
    pick = int(order[0])
    raw, p_best, in_set, equal = _read_draws(estimate, sign, pick, margin, set_level, record)
    regret = _compute_regret(estimate, estimate.draws, sign, pick)
    expected = _expect_regret(estimate, sign, pick)
    tail = (1.0 - level) / 2.0
    ends = np.quantile(regret, [tail, 1.0 - tail]) if regret.size else (np.nan, np.nan)
    low, high = estimate.interval(level)
    within = float((regret <= margin + 1e-12).mean()) if regret.size else float("nan")
    measured = record.knows("within") and MARGINS[0] <= margin <= MARGINS[-1]
    contenders = tuple(
        Contender(
            model=models[j],
            estimate=float(value[j]),
            low=float(low[j]),
            high=float(high[j]),
            p_best=float(p_best[j]),
            p_best_raw=float(raw[j]),
            behind=float(sign * (value[pick] - value[j])),
            in_set=bool(in_set[j]),
            practically_equal=bool(equal[j]),
        )
        for j in order
    )
    return Choice(
        metric=metric.name,
        where=where,
        pick=models[pick],
        p_best=float(p_best[pick]),
        p_best_raw=float(raw[pick]),
        regret=expected,
        regret_low=float(np.minimum(ends[0], expected)),
        regret_high=float(np.maximum(ends[1], expected)),
        p_within=float(record.correct("within", within)) if measured else within,
        p_within_raw=within,
        contenders=contenders,
        in_points=(metric.low, metric.high) == (0.0, 1.0),
        margin=margin,
        set_level=set_level,
        level=level,
        calibrated=record.knows("best"),
        within_calibrated=measured,
    )


def refuse_idle_margin(name: str, margin: float, metric: Metric) -> None:
    """Refuse a margin that every model meets; ``name`` is the option that holds it."""
    span = metric.high - metric.low
    if margin >= span:
        raise InputError(
            f"{argument(name, f'{margin:g}')} is met by every model: {metric.name} goes from "
            f"{metric.low:g} to {metric.high:g}",
            allowed=f"a margin below {span:g}, in the units of the metric",
            fix="one percentage point is 0.01",
        )


def _complete_draws(
    estimate: Estimate, drawn: FloatArray | None
) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Draws in which every defined model has a value, and which models are defined."""
    known = np.isfinite(estimate.value)
    if drawn is None:
        return np.empty((0, int(known.sum()))), known
    draws = drawn[:, known]
    complete: FloatArray = draws[np.isfinite(draws).all(axis=1)]
    return complete, known


def _read_draws(
    estimate: Estimate, sign: float, pick: int, margin: float, set_level: float, record: Record
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """P(best) raw and corrected, membership in the set and practical equality of all models."""
    draws, known = _complete_draws(estimate, estimate.draws)
    size = estimate.value.size
    raw: FloatArray = np.full(size, np.nan)
    in_set, equal = known.astype(np.float64), np.zeros(size)
    equal[pick] = 1.0
    if not len(draws):
        return raw, raw, in_set, equal
    raw = compute_probability_best(estimate, greater_is_better=sign > 0)
    p_best = record.correct_shares("best", raw)
    order = np.argsort(-np.where(known, raw, -1.0), kind="stable")
    before = np.cumsum(p_best[order]) - p_best[order]
    in_set = np.zeros(size)
    in_set[order[before < set_level - 1e-12]] = 1.0
    in_set[~known] = 0.0
    place = np.flatnonzero(known).tolist().index(pick)
    within = np.abs(draws - draws[:, [place]]) <= margin
    equal[known] = within.mean(axis=0) >= set_level
    return raw, p_best, in_set, equal


def _compute_regret(
    estimate: Estimate, drawn: FloatArray | None, sign: float, pick: int
) -> FloatArray:
    """How far the pick is behind the best (D,), in every complete one of the draws."""
    draws, known = _complete_draws(estimate, drawn)
    if not len(draws):
        return np.empty(0)
    place = np.flatnonzero(known).tolist().index(pick)
    out: FloatArray = (sign * draws).max(axis=1) - sign * draws[:, place]
    return out


def _expect_regret(estimate: Estimate, sign: float, pick: int) -> float:
    """The expected regret; NaN without draws."""
    if estimate.draws is None:
        return float("nan")
    regret = _compute_regret(estimate, draw_towards(estimate), sign, pick)
    return float(regret.mean()) if regret.size else float("nan")
