"""What labels are wanted for, as a weighted list of questions about the classifiers.

A question is a contrast a of the classifiers' metrics on one group of rows, theta = sum_j a_j m_j:

- ``best``: the pick against each other model, a = e_pick - e_j. A difference with mean mu and
  standard deviation sigma under the joint draws costs an expected regret of E max(0, -theta); that
  falls by phi(mu / sigma) / (2 sigma) per unit of variance taken away: the weight of the question.
- ``metric:NAME``: the metric of every model, all alike.
- ``group:COLUMN``: the metric of every model in every group of that column, all alike; a label
  moves the metric of a small group more, so small groups get more labels. Any grouping may stand
  for the column: ``group:age:quantiles=4``, ``group:sex+race``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ssme.errors import InputError, argument
from ssme.methods.base import number_rows
from ssme.metrics.base import FloatArray, Metric
from ssme.metrics.kinds import Ranking
from ssme.results.evaluation import BaseEvaluation
from ssme.suggest.constants import SuggestConstants
from ssme.wording import quote, suggest_nearest

__all__ = ["GOALS", "Goal", "Questions", "find_goal", "parse_goal"]

GOALS = ("best", "metric", "group")


@dataclass(frozen=True, eq=False)
class Questions:
    """Contrasts of the classifiers' metrics on the same rows.

    Attributes
    ----------
    rows : array of int
        Numbers of the rows that the metric is computed on.
    contrasts : array (C, M)
        Weights of the classifiers' metrics, one line per question.
    weights : array (C,)
        How much the variance of each counts.
    texts : tuple of str
        The questions in words, the reasons to label rows that answer them.
    """

    rows: NDArray[np.int64]
    contrasts: FloatArray
    weights: FloatArray
    texts: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Goal:
    """What labels are wanted for: a metric and questions about it.

    ``alike`` says that a method which draws its belief is served best by rows drawn alike.
    """

    text: str
    metric: Metric
    questions: tuple[Questions, ...]
    alike: bool = False


def find_goal(
    evaluation: BaseEvaluation, text: str, constants: SuggestConstants | None = None
) -> Goal:
    """The goal that ``text`` names.

    Parameters
    ----------
    evaluation : Evaluation
        Whose models, metrics and groups are asked about.
    text : str
        ``"best"`` or ``"best:METRIC"``, ``"metric:METRIC"``, ``"group:COLUMN"``.
    constants : SuggestConstants, optional
        Numbers that weigh the questions of ``"best"``.
    """
    kind, name = parse_goal(text)
    if kind == "group":
        return Goal(text, evaluation.metrics[0], _ask_of_groups(evaluation, name))
    m = _find_metric(evaluation, text, name) if name else 0
    metric = evaluation.metrics[m]
    if kind == "metric":
        whole = number_rows(None, evaluation.data.n_rows)
        asked = _ask_of_models(evaluation, metric, whole, "")
        return Goal(text, metric, (asked,), alike=not _is_corrected(metric))
    asked = _ask_of_pick(evaluation, m, constants or SuggestConstants())
    return Goal(f"best:{metric.name}", metric, (asked,))


def parse_goal(text: str) -> tuple[str, str]:
    """Read the kind of a goal and what it is about.

    Parameters
    ----------
    text : str
        ``"best"`` or ``"best:METRIC"``, ``"metric:METRIC"``, ``"group:COLUMN"``.

    Returns
    -------
    kind, name : str
        ``"best"``, ``"metric"`` or ``"group"``, and the metric or the grouping; empty for
        ``"best"`` alone.

    Examples
    --------
    >>> parse_goal("group:age:quantiles=4")
    ('group', 'age:quantiles=4')
    """
    kind, colon, name = (part.strip() for part in str(text).partition(":"))
    if kind in GOALS and (name or (kind == "best" and not colon)):
        return kind, name
    what = "is unknown" if kind not in GOALS else "does not say which"
    nearest = suggest_nearest(kind, GOALS) if kind not in GOALS else ""
    raise InputError(
        f"{argument('goal', text)} {what}",
        allowed="best, best:METRIC, metric:METRIC or group:COLUMN",
        fix=f"{nearest}write for example best, metric:accuracy or group:sex",
    )


def _is_corrected(metric: Metric) -> bool:
    """Whether `auto` corrects the metric by what labels of chosen rows say of it."""
    return isinstance(metric.kind, Ranking) and metric.kind.statistic == "roc_auc"


def _find_metric(evaluation: BaseEvaluation, text: str, name: str) -> int:
    names = [metric.name for metric in evaluation.metrics]
    if name not in names:
        raise InputError(
            f"{argument('goal', text)} names a metric that was not evaluated",
            allowed=quote(names),
            fix=f"{suggest_nearest(name, names)}name one of these, or evaluate the other one too "
            f"with {argument('metrics')}",
        )
    return names.index(name)


def _ask_of_models(
    evaluation: BaseEvaluation, metric: Metric, rows: NDArray[np.int64], where: str
) -> Questions:
    models = evaluation.data.models
    texts = tuple(f"{metric.name} of {model}{where}" for model in models)
    return Questions(rows, np.eye(len(models)), np.ones(len(models)), texts)


def _ask_of_groups(evaluation: BaseEvaluation, grouping: str) -> tuple[Questions, ...]:
    own = [group for group in evaluation.groups if group.by and not group.pooled]
    groups = [group for group in own if group.by == grouping]
    groups = groups or [group for group in own if group.by.startswith(f"{grouping}:")]
    if not groups:
        known = list(dict.fromkeys(group.by for group in own))
        raise InputError(
            f"{argument('goal', f'group:{grouping}')} names no groups of the evaluation",
            allowed=f"one of the groupings {quote(known)}"
            if known
            else "a grouping: the evaluation has none",
            fix=f"{suggest_nearest(grouping, known)}name a column, or evaluate by it",
        )
    return tuple(
        _ask_of_models(
            evaluation,
            evaluation.metrics[0],
            number_rows(group.rows, evaluation.data.n_rows),
            f" in {group.name}",
        )
        for group in groups
    )


def _ask_of_pick(evaluation: BaseEvaluation, m: int, constants: SuggestConstants) -> Questions:
    """The pick against every other model, by what knowing more would save."""
    metric, estimate, data = evaluation.metrics[m], evaluation.estimates[0][m], evaluation.data
    if metric.greater_is_better is None:
        raise InputError(
            f"{argument('goal', f'best:{metric.name}')} was asked for, and {metric.name} does not "
            "say whether greater is better",
            fix="name a metric that does, or use the goal metric:NAME",
        )
    names, known = data.models, np.isfinite(estimate.value)
    if known.sum() < 2:
        raise InputError(
            f"{argument('goal', 'best')} was asked for, and {int(known.sum())} of {known.size} "
            f"models have a value of {metric.name}",
            allowed="two or more models to choose among",
            fix=f"use the goal metric:{metric.name}",
        )
    sign = 1.0 if metric.greater_is_better else -1.0
    pick = int(np.nanargmax(sign * estimate.value))
    rows = number_rows(None, data.n_rows)
    others = [j for j in np.flatnonzero(known) if j != pick]
    gap = sign * (estimate.value[pick] - estimate.value[others])
    if estimate.draws is None:
        sure = np.ones(len(others))
    else:
        spread = np.nanstd(estimate.draws[:, [pick]] - estimate.draws[:, others], axis=0)
        spread = np.maximum(spread, 1e-6)
        sure = np.exp(-0.5 * (gap / spread) ** 2) / spread
    least = constants.least_weight
    weight = np.maximum(sure / sure.max(), least) if sure.max() > 0.0 else np.ones(len(gap))
    each = np.eye(known.size)
    texts = tuple(f"{names[pick]} or {names[j]}" for j in others)
    return Questions(rows, each[pick] - each[others], weight, texts)
