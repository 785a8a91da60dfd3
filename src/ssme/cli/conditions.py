"""Conditions for CI pipelines: ``--fail-under "accuracy>=0.9"``.

    [MODEL:]METRIC[.low|.high] (>= | > | <= | <) NUMBER

Without a model it is asked of every model; ``.low`` and ``.high`` ask the ends of the interval.
It is asked on all rows. An undefined value (NaN) fails.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ssme.errors import InputError

if TYPE_CHECKING:
    from ssme.evaluation import Evaluation

__all__ = ["Condition", "failures", "parse", "with_metrics"]

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
class Condition:
    """One demand on the estimates."""

    text: str
    metric: str
    column: str
    sign: str
    limit: float
    model: str | None

    def holds(self, value: float) -> bool:
        return OPERATORS[self.sign](value, self.limit)


def parse(text: str) -> Condition:
    """``text`` as a `Condition`."""
    match = FORM.fullmatch(text.strip())
    try:
        if match is None:
            raise ValueError
        limit = float(match["limit"])
    except ValueError:
        raise InputError(
            f"--fail-under {text!r}",
            allowed="[MODEL:]METRIC[.low|.high] with >=, >, <= or < and a number",
            fix='write for example --fail-under "accuracy.low>=0.9"',
        ) from None
    return Condition(
        text.strip(),
        match["metric"].strip(),
        match["end"] or "estimate",
        match["sign"],
        limit,
        match["model"],
    )


def with_metrics(asked: Sequence[str], conditions: list[Condition]) -> list[str]:
    """The metrics asked for and those that conditions speak of; an unknown one is an error."""
    from ssme.metrics import get_metric

    names = [get_metric(name).name for name in asked]
    extra = [get_metric(condition.metric).name for condition in conditions]
    return [*names, *(name for name in dict.fromkeys(extra) if name not in names)]


def failures(evaluation: Evaluation, conditions: list[Condition]) -> list[str]:
    """A sentence for each model and condition that does not hold."""
    from ssme.metrics import get_metric
    from ssme.results.groups import ALL

    threshold = evaluation.settings.get("threshold")
    names = {c.metric: get_metric(c.metric, threshold=threshold).name for c in conditions}
    for condition in conditions:
        evaluation.metric_index(names[condition.metric])
        if condition.model is not None:
            evaluation.model_index(condition.model)
    rows = [row for row in evaluation.rows() if row["group"] == ALL]
    return [
        f"{row['model']}: {condition.metric} {condition.column} is {row[condition.column]:.4g}, "
        f"asked for {condition.sign} {condition.limit:g}"
        for condition in conditions
        for row in rows
        if row["metric"] == names[condition.metric]
        and condition.model in (None, row["model"])
        and not condition.holds(row[condition.column])
    ]
