"""Gates for pipelines: what must hold before a model is shipped.

    [MODEL:]METRIC[.low|.high] (>= | > | <= | <) NUMBER
    MODEL-MODEL:METRIC[.low|.high] (>= | > | <= | <) NUMBER

Without a model a condition is asked of every model; with two it is asked of the first minus the
second, paired. ``.low`` and ``.high`` ask the ends of the interval. Conditions are asked on all
rows, and an undefined value (NaN) fails. A condition that every model meets, or that passes bad
models and fails good ones, is refused. ``within`` asks of the choice (`ssme.results.choose`) that
its pick is behind the best model by no more than so much, with the probability of the level.

A gate does not pass on a serious doubt unless it is told to, and then it says so.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from ssme.diagnostics.doubt import SEVERITIES
from ssme.errors import InputError, argument, name_argument
from ssme.metrics import MetricSpec, get_metric
from ssme.metrics.base import Metric
from ssme.metrics.per_class import ALL_THREE, EVERY, split_class
from ssme.options import Enumeration, Number, Option, accept, parse_number
from ssme.results.choose import choose_model, refuse_idle_margin
from ssme.results.groups import ALL
from ssme.results.rows import Row
from ssme.results.sections import Section
from ssme.results.thresholds import ThresholdChoice
from ssme.wording import quote, suggest_nearest

if TYPE_CHECKING:
    from ssme.results.evaluation import Evaluation

__all__ = [
    "FAIL_ON",
    "WITHIN",
    "GateCondition",
    "Verdict",
    "add_metrics",
    "judge",
    "parse_condition",
]

FAIL_ON = Option(
    "fail_on",
    Enumeration("serious", "warning", "never"),
    "serious",
    "Doubts from which a gate fails whatever the numbers say.",
)
WITHIN = Option("within", Number(least=0.0), 0.01, "How far the pick may be behind the best model.")

OPERATORS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}
FORM = re.compile(
    r"(?:(?P<model>.+):)?(?P<metric>[^:<>=]+?)(?:\.(?P<end>low|high))?\s*"
    r"(?P<sign>>=|<=|>|<)\s*(?P<limit>\S+)\s*"
)


@dataclass(frozen=True)
class GateCondition:
    """One demand on the estimates, or on the difference of two of them.

    Attributes
    ----------
    text : str
        The condition as it was written.
    metric : str
        The metric it speaks of.
    column : {"estimate", "low", "high"}
        Whether it asks the estimate or an end of its interval.
    sign, limit : str, float
        The comparison and its right side.
    model : str or None
        A model, or two with a hyphen between them; None for every model.
    """

    text: str
    metric: str
    column: str
    sign: str
    limit: float
    model: str | None

    def holds(self, value: float) -> bool:
        """Whether ``value`` meets the demand; NaN never does."""
        return OPERATORS[self.sign](value, self.limit)


@dataclass(frozen=True)
class Verdict(Row):
    """What a gate says.

    Attributes
    ----------
    failures : tuple of str
        A sentence for each demand that does not hold; empty where the gate passes.
    despite : tuple of str
        A sentence for each serious doubt that the gate was told to pass on.
    remarks : tuple of str
        The probability of ``within`` where it is as large as demanded, and how far to trust it; how
        a condition was read that can be read in two ways.
    """

    derived: ClassVar[tuple[str, ...]] = ("passed",)
    failures: tuple[str, ...]
    despite: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether everything that was demanded holds."""
        return not self.failures

    def make_section(self) -> Section:
        """Write the section that every output shows.

        Returns
        -------
        Section
            Passed or failed, and why.
        """
        failed = [f"Failed: {sentence}" for sentence in self.failures]
        despite = [f"Passed despite a {sentence}" for sentence in self.despite if self.passed]
        first = "Failed." if self.failures else "Passed."
        return Section("gate", "Gate", (first, *failed, *self.remarks, *despite))


def parse_condition(text: str) -> GateCondition:
    """Read a condition such as ``"new-old:accuracy.low>=0"``.

    Parameters
    ----------
    text : str
        The condition, as the head of this module describes it.

    Examples
    --------
    >>> from ssme.results.gates import parse_condition
    >>> condition = parse_condition("forest:accuracy.low >= 0.9")
    >>> condition.model, condition.metric, condition.column, condition.limit
    ('forest', 'accuracy', 'low', 0.9)
    """
    match = FORM.fullmatch(text.strip())
    try:
        if match is None:
            raise ValueError
        limit = parse_number(match["limit"])
    except ValueError:
        raise InputError(
            f"{argument('fail_under', repr(text))} is not a condition",
            allowed="[MODEL:]METRIC[.low|.high] or MODEL-MODEL:METRIC[.low|.high], with >=, >, <= "
            "or < and a number",
            fix=f"write for example {argument('fail_under', repr('accuracy.low>=0.9'))}",
        ) from None
    return GateCondition(
        text.strip(),
        match["metric"].strip(),
        match["end"] or "estimate",
        match["sign"],
        limit,
        None if match["model"] is None else match["model"].strip(),
    )


def add_metrics(
    asked: Sequence[MetricSpec], conditions: Sequence[GateCondition]
) -> list[MetricSpec]:
    """The metrics asked for and those that conditions speak of; an unknown one is an error.

    So is a condition that is seen to be idle before there are estimates.
    """
    known = {_find_own_name(spec): spec for spec in asked}
    for condition in conditions:
        if split_class(condition.metric) is None and "-" not in (condition.model or ""):
            metric = get_metric(known.get(condition.metric, condition.metric))
            _refuse_idle_condition(metric, condition, paired=False)
    extra = dict.fromkeys(
        condition.metric
        for condition in conditions
        if not {condition.metric, _find_own_name(condition.metric), *_find_families(condition)}
        & known.keys()
    )
    return [*asked, *extra]


def _find_own_name(spec: MetricSpec) -> str:
    """The name that a metric has in the table; that of one class is known with the data only."""
    if isinstance(spec, str) and (spec == ALL_THREE or split_class(spec) is not None):
        return spec
    return get_metric(spec).name


def _find_families(condition: GateCondition) -> set[str]:
    """What stands for a metric of one class and all others."""
    parts = split_class(condition.metric)
    return set() if parts is None else {ALL_THREE, f"{parts[0]}[{EVERY}]{parts[2]}"}


def judge(
    evaluation: Evaluation,
    conditions: Sequence[str | GateCondition] = (),
    *,
    within: float | None = None,
    fail_on: str = "serious",
    thresholds: ThresholdChoice | None = None,
) -> Verdict:
    """Ask of an evaluation what must hold.

    Parameters
    ----------
    evaluation : Evaluation
        The estimates.
    conditions : sequence of str or GateCondition
        Demands on estimates and differences.
    within : float, optional
        Demand that the pick by the first metric is behind the best model by no more than this,
        with the probability of the evaluation's level.
    fail_on : {"serious", "warning", "never"}
        Doubts from which the gate fails whatever the numbers say (default "serious").
    thresholds : ThresholdChoice, optional
        The pick is the one at these thresholds, chosen with ``within`` for a margin.

    Returns
    -------
    Verdict

    Examples
    --------
    >>> import ssme
    >>> scores = {"a": [0.9, 0.8, 0.3, 0.2], "b": [0.4, 0.6, 0.7, 0.5]}
    >>> r = ssme.evaluate(scores, [1, None, 0, None], method="ensemble", metrics="accuracy")
    >>> judge(r, ["a:accuracy>=0.99"], fail_on="never").passed
    False
    """
    fail_on = accept(FAIL_ON, fail_on)
    asked = [parse_condition(each) if isinstance(each, str) else each for each in conditions]
    with name_argument("fail_under"):
        failures = [sentence for each in asked for sentence in _ask(evaluation, each)]
    remarks = [told for each in asked for told in _tell_reading(evaluation.data.models, each)]
    if within is not None:
        holds, sentence = _ask_within(evaluation, accept(WITHIN, within), thresholds)
        (remarks if holds else failures).append(sentence)
    worst = SEVERITIES[: 2 if fail_on == "warning" else 1]
    grave = [doubt for doubt in evaluation.doubts if doubt.severity in worst]
    told = [f"{each.severity} doubt {each.code}: {each.title}. {each.advice}" for each in grave]
    if fail_on == "never":
        return Verdict(tuple(failures), tuple(told), tuple(remarks))
    return Verdict((*failures, *told), remarks=tuple(remarks))


def _ask(evaluation: Evaluation, condition: GateCondition) -> Iterator[str]:
    """A sentence for each model, or pair, of which ``condition`` does not hold."""
    metric, models = _find_metric(evaluation, condition), evaluation.data.models
    paired = condition.model is not None and _split_pair(models, condition) is not None
    _refuse_idle_condition(metric, condition, paired)
    for name, found in _list_values(evaluation, metric, condition):
        if not condition.holds(found):
            yield (
                f"{name}: {condition.metric} {condition.column} is {found:.4g}, "
                f"asked for {condition.sign} {condition.limit:g}"
            )


def _refuse_idle_condition(metric: Metric, condition: GateCondition, paired: bool) -> None:
    """Refuse a condition that passes bad models, or that holds or fails whatever the value is.

    Of a difference either sign can be meant: that one model is ahead, or not too far behind.
    """
    low, high, what = metric.low, metric.high, condition.metric
    asked, upwards = argument("fail_under", repr(condition.text)), condition.sign[0] == ">"
    if paired:
        low, high, what = low - high, high - low, f"the difference of {what}"
    elif metric.greater_is_better not in (None, upwards):
        better, sign = ("higher", ">=") if metric.greater_is_better else ("lower", "<=")
        raise InputError(
            f"{asked} passes bad models and fails good ones: {better} {what} is better",
            fix=f"write {condition.text.replace(condition.sign, sign)}",
        )
    worst, best = (low, high) if upwards else (high, low)
    for end, holds, fate in ((worst, True, "holds"), (best, False, "fails")):
        if condition.holds(end) == holds:
            raise InputError(
                f"{asked} {fate} for every model: {what} goes from {low:g} to {high:g}",
                allowed="a limit within this range",
                fix="write 5 % as 0.05",
            )


def _find_metric(evaluation: Evaluation, condition: GateCondition) -> Metric:
    """The evaluated metric that ``condition`` speaks of, by the name it was given or its own."""
    names = [metric.name for metric in evaluation.metrics]
    if condition.metric in names or split_class(condition.metric) is not None:
        return evaluation.metrics[evaluation.metric_index(condition.metric)]
    threshold = evaluation.settings.get("threshold")
    name = get_metric(condition.metric, threshold=threshold).name
    return evaluation.metrics[evaluation.metric_index(name)]


def _list_values(
    evaluation: Evaluation, metric: Metric, condition: GateCondition
) -> Iterator[tuple[str, float]]:
    pair = None if condition.model is None else _split_pair(evaluation.data.models, condition)
    if pair is None:
        for row in evaluation.rows(metric.name, ALL):
            if condition.model in (None, row["model"]):
                yield row["model"], row[condition.column]
        return
    (gap,) = evaluation.compare(metric.name, *pair).rows
    column = "difference" if condition.column == "estimate" else condition.column
    yield f"{pair[0]} minus {pair[1]}", getattr(gap, column)


def _split_pair(models: Sequence[str], condition: GateCondition) -> tuple[str, str] | None:
    """The two models of ``A-B``; None where it names one model. Hyphens in names are allowed."""
    text = condition.model or ""
    if text in models:
        return None
    cuts = [at for at, character in enumerate(text) if character == "-"]
    splits = [(text[:at].strip(), text[at + 1 :].strip()) for at in cuts]
    found = [(a, b) for a, b in splits if a in models and b in models and a != b]
    if len(found) == 1:
        return found[0]
    raise InputError(
        f"{argument('fail_under', repr(condition.text))}: {text!r} is "
        + ("more than one pair of models" if found else "no model and no pair of models"),
        allowed=f"one of {quote(models)}, or two different ones with a hyphen between them",
        fix=suggest_nearest(text, list(models)) or None,
    )


def _tell_reading(models: Sequence[str], condition: GateCondition) -> Iterator[str]:
    """A remark where a condition is of a model whose name also reads as a difference."""
    one = condition.model or ""
    if one in models:
        for at in (at for at, character in enumerate(one) if character == "-"):
            first, second = one[:at], one[at + 1 :]
            if first in models and second in models:
                yield (
                    f"{condition.text!r} is asked of the model {one!r}; the difference of "
                    f"{first!r} and {second!r} is written {f'{first} - {second}'!r}"
                )


def _ask_within(
    evaluation: Evaluation, within: float, thresholds: ThresholdChoice | None
) -> tuple[bool, str]:
    """Whether the pick is as near the best as demanded, and with which probability."""
    metric, level = evaluation.metrics[0], evaluation.level
    if thresholds is not None:
        choice = thresholds.choice
        if choice is None:
            return False, thresholds.sentence().rstrip(".")
    else:
        refuse_idle_margin("within", within, metric)
        choice = choose_model(
            evaluation.data.models,
            metric,
            evaluation.estimates[0][0],
            margin=within,
            level=level,
            record=evaluation.find_record(metric),
        )
    if choice.p_within != choice.p_within:
        unknown = f"whether {choice.pick} is within {within:g} of the best is not known: no draws"
        return False, unknown
    raw = "" if choice.within_calibrated else " (not calibrated)"
    said = (
        f"{choice.pick} is within {within:g} of the best {choice.metric} with probability "
        f"{choice.p_within:.3g}{raw}, asked for {level:g}"
    )
    return choice.p_within >= level, said
