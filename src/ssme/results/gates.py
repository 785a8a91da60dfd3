"""Gates for pipelines: what must hold before a model is shipped.

    [MODEL:]METRIC[.low|.high] (>= | > | <= | <) NUMBER
    MODEL-MODEL:METRIC[.low|.high] (>= | > | <= | <) NUMBER

Without a model a condition is asked of every model; with two it is asked of the first minus the
second, paired. ``.low`` and ``.high`` ask the ends of the interval. Conditions are asked on all
rows, and an undefined value (NaN) fails. A condition that every model meets, or that passes bad
models and fails good ones, is refused. ``within`` asks of the choice (`ssme.results.choose`) that
its pick is behind the best model by no more than so much, with the probability of the level.

A gate does not pass on a serious warning unless ``fail_on`` says so, and then names the warning.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from ssme import metrics, options, schema
from ssme.diagnostics.page import SEVERITIES
from ssme.errors import InputError, name_argument
from ssme.metrics.base import Metric
from ssme.metrics.registry import ALL_THREE, EVERY, split_text
from ssme.results import choose, groups, table
from ssme.results.thresholds import ThresholdChoice
from ssme.show.sections import Section
from ssme.wording import quote, suggest_nearest

if TYPE_CHECKING:
    from ssme.results.evaluation import Evaluation

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

    ``column`` is "estimate", "low" or "high"; ``model`` is a model, two with a hyphen between them,
    or None for every model.
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
class Verdict(table.Row):
    """What a gate says, in sentences.

    ``failures`` are the demands that are not met (none where the gate passes), ``despite`` the
    warnings that it was asked to pass on, ``remarks`` the probability of ``within`` and how a
    condition was read that can be read in two ways.
    """

    derived: ClassVar[tuple[str, ...]] = ("passed",)
    failures: tuple[str, ...]
    despite: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether every condition is met."""
        return not self.failures

    def list_sections(self) -> list[Section]:
        """Passed or failed, and why."""
        failed = [f"Failed: {sentence}" for sentence in self.failures]
        despite = [f"Passed despite a {sentence}" for sentence in self.despite if self.passed]
        first = "Failed." if self.failures else "Passed."
        return [Section("gate", "Gate", (first, *failed, *self.remarks, *despite))]


def parse_condition(text: str) -> GateCondition:
    """Read a condition such as ``"new-old:accuracy.low>=0"``.

    >>> condition = parse_condition("forest:accuracy.low >= 0.9")
    >>> condition.model, condition.metric, condition.column, condition.limit
    ('forest', 'accuracy', 'low', 0.9)
    """
    match = FORM.fullmatch(text.strip())
    try:
        if match is None:
            raise ValueError
        limit = options.parse_number(match["limit"])
    except ValueError:
        raise InputError(
            option="fail_under",
            value=text,
            must="be [MODEL:]METRIC[.low|.high] or MODEL-MODEL:METRIC[.low|.high], with >=, >, <= "
            "or < and a number",
            hint="write for example 'accuracy.low>=0.9'",
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
    asked: Sequence[metrics.MetricSpec],
    conditions: Sequence[GateCondition],
    n_classes: int | None = None,
) -> list[metrics.MetricSpec]:
    """The metrics asked for and those that conditions speak of; an unknown one is an error.

    So is a condition that is seen to be idle before there are estimates; more are where the number
    of classes is known.
    """
    known = {_find_own_name(spec): spec for spec in asked}
    for condition in conditions:
        if split_text(condition.metric).of_class is None and "-" not in (condition.model or ""):
            metric = metrics.get_metric(known.get(condition.metric, condition.metric))
            ends, better = metric.find_range(n_classes), metric.greater_is_better
            refuse_idle_condition(condition, ends, better, paired=False)
    extra = dict.fromkeys(
        condition.metric
        for condition in conditions
        if not _list_names(condition.metric) & known.keys()
    )
    return [*asked, *extra]


def _find_own_name(spec: metrics.MetricSpec) -> str:
    """The name that a metric has in the table; that of one class is known with the data only."""
    if isinstance(spec, str) and (spec == ALL_THREE or split_text(spec).of_class is not None):
        return spec
    return metrics.get_metric(spec).name


def _list_names(metric: str) -> set[str]:
    """A metric as it is written, its own name, and texts that mean it and that of other classes."""
    text, names = split_text(metric), {metric, _find_own_name(metric)}
    if text.of_class is not None:
        names |= {ALL_THREE, str(text._replace(of_class=EVERY))}
    return names


def judge(
    evaluation: Evaluation,
    conditions: Sequence[str | GateCondition],
    *,
    within: float | None,
    fail_on: str,
    thresholds: ThresholdChoice | None = None,
) -> Verdict:
    """Check the demands on an evaluation; ``thresholds`` were chosen with ``within`` as margin."""
    fail_on = options.accept(schema.ASK["fail_on"], fail_on)
    parsed = [parse_condition(each) if isinstance(each, str) else each for each in conditions]
    failures: list[str] = []
    remarks: list[str] = []
    with name_argument("fail_under"):
        for condition in parsed:
            failures += _list_failures(evaluation, condition)
            remarks += _list_readings(evaluation.data.models, condition)
    if within is not None:
        met, sentence = _check_within(
            evaluation, options.accept(schema.ASK["within"], within), thresholds
        )
        (remarks if met else failures).append(sentence)
    found = [
        (each.severity, f"warning {each.code}: {each.title}. {each.advice}")
        for each in evaluation.warnings
    ]
    return weigh_warnings(failures, remarks, found, fail_on)


def weigh_warnings(
    failures: Sequence[str],
    remarks: Sequence[str],
    warnings: Sequence[tuple[str, str]],
    fail_on: str,
) -> Verdict:
    """The verdict with ``warnings``, pairs of a severity and a sentence, from ``fail_on`` on."""
    worst = SEVERITIES[: 2 if fail_on == "warning" else 1]
    grave = tuple(
        sentence if severity == "warning" else f"{severity} {sentence}"
        for severity, sentence in warnings
        if severity in worst
    )
    if fail_on == "never":
        return Verdict(tuple(failures), grave, tuple(remarks))
    return Verdict((*failures, *grave), remarks=tuple(remarks))


def _list_failures(evaluation: Evaluation, condition: GateCondition) -> Iterator[str]:
    """A sentence for each model, or pair, that does not meet ``condition``."""
    metric = _find_metric(evaluation, condition)
    pair = find_pair(evaluation.data.models, condition)
    ends = metric.find_range(evaluation.data.n_classes)
    refuse_idle_condition(condition, ends, metric.greater_is_better, paired=pair is not None)
    if pair is None:
        values = [
            (row["model"], row[condition.column])
            for row in evaluation.rows(metric.name, groups.ALL)
            if condition.model in (None, row["model"])
        ]
    else:
        (gap,) = evaluation.compare(metric.name, *pair).rows
        column = "difference" if condition.column == "estimate" else condition.column
        values = [(f"{pair[0]} minus {pair[1]}", getattr(gap, column))]
    for name, value in values:
        if not condition.holds(value):
            yield (
                f"{name}: {condition.metric} {condition.column} is {value:.4g}, "
                f"must be {condition.sign} {condition.limit:g}"
            )


def refuse_idle_condition(
    condition: GateCondition,
    ends: tuple[float, float],
    greater_is_better: bool | None,
    *,
    paired: bool,
) -> None:
    """Refuse a condition that passes bad models, or that is true or false whatever the value.

    ``ends`` are the lowest and the highest value there can be. Of a difference either sign can be
    meant: that one model is ahead, or not too far behind.
    """
    (low, high), what = ends, condition.metric
    upwards = condition.sign[0] == ">"
    if paired:
        low, high, what = low - high, high - low, f"the difference of {what}"
    elif greater_is_better not in (None, upwards):
        better, sign = ("higher", ">=") if greater_is_better else ("lower", "<=")
        raise InputError(
            f"{condition.text!r} passes bad models and fails good ones: {better} {what} is better",
            option="fail_under",
            hint=f"write {condition.text.replace(condition.sign, sign)}",
        )
    worst, best = (low, high) if upwards else (high, low)
    for end, outcome in ((worst, True), (best, False)):
        if condition.holds(end) == outcome:
            raise InputError(
                f"{condition.text!r} is {str(outcome).lower()} for every model: {what} is between "
                f"{low:g} and {high:g}",
                option="fail_under",
                hint="write 5% as 0.05",
            )


def _find_metric(evaluation: Evaluation, condition: GateCondition) -> Metric:
    """The evaluated metric that ``condition`` speaks of, by the name it was given or its own."""
    names = [metric.name for metric in evaluation.metrics]
    if condition.metric in names or split_text(condition.metric).of_class is not None:
        return evaluation.metrics[evaluation.metric_index(condition.metric)]
    threshold = evaluation.settings.get("threshold")
    name = metrics.get_metric(condition.metric, threshold=threshold).name
    return evaluation.metrics[evaluation.metric_index(name)]


def _split_at_hyphens(models: Sequence[str], text: str) -> list[tuple[str, str]]:
    """Every reading of ``text`` as the difference of two models; hyphens in names are allowed."""
    cuts = [at for at, character in enumerate(text) if character == "-"]
    splits = [(text[:at].strip(), text[at + 1 :].strip()) for at in cuts]
    return [(a, b) for a, b in splits if a in models and b in models and a != b]


def find_pair(models: Sequence[str], condition: GateCondition) -> tuple[str, str] | None:
    """The two models of ``A-B``; None where the condition is about one model or all."""
    text = condition.model
    if text is None or text in models:
        return None
    found = _split_at_hyphens(models, text)
    if len(found) == 1:
        return found[0]
    what = "more than one pair of models" if found else "neither a model nor a pair of models"
    raise InputError(
        f"{text!r} in {condition.text!r} is {what}",
        option="fail_under",
        hint=f"{suggest_nearest(text, list(models))}name one of {quote(models)}, or two different "
        "ones with a hyphen between them",
    )


def _list_readings(models: Sequence[str], condition: GateCondition) -> Iterator[str]:
    """A remark where a condition is of a model whose name also reads as a difference."""
    if condition.model in models:
        for first, second in _split_at_hyphens(models, condition.model or ""):
            yield (
                f"{condition.text!r} is asked of the model {condition.model!r}; the difference of "
                f"{first!r} and {second!r} is written {f'{first} - {second}'!r}"
            )


def _check_within(
    evaluation: Evaluation, within: float, thresholds: ThresholdChoice | None
) -> tuple[bool, str]:
    """Whether the pick is as near the best as demanded, and with which probability."""
    metric, level = evaluation.metrics[0], evaluation.level
    if thresholds is not None:
        choice = thresholds.choice
        if choice is None:
            return False, thresholds.sentence().rstrip(".")
    else:
        choose.refuse_idle_margin("within", within, metric, evaluation.data.n_classes)
        choice = evaluation.choose(margin=within)
    if choice.p_within != choice.p_within:
        return (
            False,
            f"whether {choice.pick} is within {within:g} of the best is not known: no draws",
        )
    raw = "" if choice.within_calibrated else " (not calibrated)"
    return choice.p_within >= level, (
        f"{choice.pick} is within {within:g} of the best {choice.metric} with probability "
        f"{choice.p_within:.3g}{raw}, must be >= {level:g}"
    )
