"""What a threshold is for: a metric of decisions to make best, or a demand and its counterpart.

precision>=0.9    the greatest recall          recall>=0.95         the greatest precision
                                               specificity>=0.9     the greatest recall
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ssme.errors import InputError, argument
from ssme.metrics import MetricSpec, get_metric
from ssme.metrics.base import Metric
from ssme.metrics.kinds import Decision
from ssme.options import parse_number

__all__ = ["ThresholdGoal", "read_goal"]

COUNTERPART = {"precision": "recall", "recall": "precision", "specificity": "recall"}
"""What is made best where the other is demanded."""

FORM = re.compile(r"\s*(?P<metric>\w+)\s*>=\s*(?P<limit>\S+)\s*")


@dataclass(frozen=True)
class ThresholdGoal:
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


def read_goal(goal: MetricSpec) -> ThresholdGoal:
    """Read a goal.

    Parameters
    ----------
    goal : str, mapping or Metric
        ``"precision>=0.9"``, ``"recall>=0.95"`` or ``"specificity>=0.9"``; or a metric of
        decisions to make best, such as ``"f1"`` or ``ssme.metrics.expected_cost(matrix)``.

    Examples
    --------
    >>> from ssme.decide.threshold_goals import read_goal
    >>> read_goal("recall>=0.95").best.name
    'precision'
    """
    match = FORM.fullmatch(goal) if isinstance(goal, str) else None
    if match is None:
        if isinstance(goal, str) and any(sign in goal for sign in "<>="):
            raise _tell_bad_goal(goal)
        metric = get_metric(goal)
        if not isinstance(metric.kind, Decision) or metric.greater_is_better is None:
            raise InputError(
                f"a threshold was asked for by {metric.name!r}, which is not a metric of decisions",
                allowed="a metric of decisions, such as f1, accuracy or expected_cost",
                fix="choose one of these, or a demand such as 'precision>=0.9'",
            )
        return ThresholdGoal(metric.name, metric)
    try:
        limit = parse_number(match["limit"])
    except ValueError:
        raise _tell_bad_goal(str(goal)) from None
    if match["metric"] not in COUNTERPART or not 0.0 < limit <= 1.0:
        raise _tell_bad_goal(str(goal))
    best = get_metric(COUNTERPART[match["metric"]])
    return ThresholdGoal(f"{match['metric']}>={limit:g}", best, get_metric(match["metric"]), limit)


def _tell_bad_goal(goal: str) -> InputError:
    return InputError(
        argument("goal", repr(goal)),
        allowed="precision>=X, recall>=X or specificity>=X with X above 0 and up to 1, or a metric "
        "of decisions to make best",
        fix="write for example 'recall>=0.95'",
    )
