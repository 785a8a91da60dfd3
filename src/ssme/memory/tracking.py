"""Evaluations as a memory keeps them: how they tightened, what changed, whether scores drifted."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import chdtrc

from ssme.data import design, scoreset
from ssme.errors import InputError
from ssme.memory.database import DecisionRecord, EstimateRecord, EvaluationRecord, LabelEvent
from ssme.wording import quote

if TYPE_CHECKING:
    from ssme.results.evaluation import Evaluation

__all__ = [
    "Change",
    "Drift",
    "compare_records",
    "find_drift",
    "read_events",
    "record_evaluation",
    "tell_differences",
    "trace_estimates",
]

UNREPORTED = {"method", "level", "random_state", "by", "labels_file"}
"""Options that are reported in another way, or whose changes are expected."""
SCORE_BINS = 20
"""Parts of [0, 1] in which scores are counted; memories of any age are compared in these."""


def record_evaluation(evaluation: Evaluation) -> EvaluationRecord:
    """Turn an evaluation into the record that a memory keeps.

    Its key is made of what was asked and what came out, so that the same evaluation is kept once.

    Parameters
    ----------
    evaluation : Evaluation
        The evaluation.

    Examples
    --------
    >>> import ssme
    >>> scores = {"a": [0.9, 0.8, 0.3, 0.2], "b": [0.4, 0.6, 0.7, 0.5]}
    >>> r = ssme.evaluate(scores, [1, None, 0, None], method="ensemble", metrics="accuracy")
    >>> record_evaluation(r).method
    'ensemble'
    """
    settings = evaluation.settings
    names = [each.name for each in fields(EstimateRecord)]
    estimates = tuple(
        EstimateRecord(*(_replace_nan(row[name]) for name in names)) for row in evaluation.rows()
    )
    spec = settings.get("config") or {"method": evaluation.method}
    n_scored = np.isfinite(evaluation.data.scores[:, :, 0]).sum(axis=0)
    content = json.dumps(
        [spec, [vars(each) for each in estimates], settings.get("file_sha256")],
        sort_keys=True,
        default=str,
    )
    return EvaluationRecord(
        spec=spec,
        method=evaluation.method,
        n_rows=evaluation.n_rows,
        n_labeled=evaluation.groups[0].n_labeled,
        version=str(settings.get("versions", {}).get("ssme", "")),
        estimates=estimates,
        decisions=_make_decisions(evaluation),
        scores=count_score_shares(evaluation.data),
        scored=dict(zip(evaluation.data.models, n_scored.tolist(), strict=True)),
        key=hashlib.sha256(content.encode()).hexdigest(),
    )


def read_events(
    data: scoreset.ScoreSet, name: str, annotator: str = "", earlier: Iterable[LabelEvent] = ()
) -> list[LabelEvent]:
    """A label event for every labeled row of ``data``.

    Parameters
    ----------
    data : ScoreSet
        Data whose rows have ids.
    name : str
        Name of the data in the memory. It is part of each event's key, with the row, its label and
        who gave it: an event that is added again is kept once.
    annotator : str
        Who gave the labels.
    earlier : iterable of LabelEvent
        Events in the memory, the oldest first. A label that differs from the newest one
        which the same annotator gave to the row is a new event, also where an older one was the
        same: somebody who corrects a correction is heard.
    """
    if data.n_labeled and data.ids is None:
        problem = "the rows have no names, so that their labels cannot be stored"
        raise InputError(problem, hint="name a column of unique ids, as in `id='id'`")
    if data.ids is None:
        return []
    told: dict[Hashable, list[LabelEvent]] = {}
    for event in earlier:
        if event.annotator == annotator:
            told.setdefault(event.row, []).append(event)
    rounds = design.find_rounds(data.design, data.labels)
    values = data.label_values
    events = []
    for row in np.flatnonzero(data.labeled):
        chance = float(rounds.probability[row])
        named, label = _make_plain(data.ids[row]), _make_plain(values[row])
        number = int(rounds.number[row])
        reason = f"round {number}" if number else ""
        before = told.get(named, [])
        if before and (before[-1].label, before[-1].reason) == (label, reason):
            key = before[-1].key
        else:
            what = [name, data.ids[row], values[row], annotator, number]
            what += [len(before)] if before else []
            key = hashlib.sha256(json.dumps(what, default=str).encode()).hexdigest()
        probability = None if math.isnan(chance) else chance
        events.append(LabelEvent(named, label, annotator, probability, reason, key))
    return events


def count_score_shares(data: scoreset.ScoreSet) -> dict[str, tuple[float, ...]]:
    """Shares of each model's scores in fixed bins: P(positive) of two classes, else the largest."""
    score = data.scores[:, :, 1] if data.n_classes == 2 else data.scores.max(axis=2)
    found = {}
    for j, model in enumerate(data.models):
        own = score[np.isfinite(score[:, j]), j]
        counts = np.histogram(own, bins=SCORE_BINS, range=(0.0, 1.0))[0]
        found[model] = tuple((counts / max(own.size, 1)).tolist())
    return found


def _make_decisions(evaluation: Evaluation) -> tuple[DecisionRecord, ...]:
    """The decision at chosen thresholds, where there is one, then those by every metric."""
    thresholds = evaluation.asked.thresholds
    decided = [] if thresholds is None or thresholds.choice is None else [thresholds.choice]
    for metric, estimate in zip(evaluation.metrics, evaluation.estimates[0], strict=True):
        if metric.greater_is_better is not None and np.isfinite(estimate.value).any():
            decided.append(evaluation.choose(metric.name))
    return tuple(
        DecisionRecord(
            f"{choice.metric}{choice.describe_threshold()}",
            choice.pick,
            _replace_nan(choice.p_best),
            _replace_nan(choice.regret),
            choice.possible_best,
            choice.sureness(),
        )
        for choice in decided
    )


def _replace_nan(value: Any) -> Any:
    return None if isinstance(value, float) and math.isnan(value) else _make_plain(value)


def _make_plain(value: Any) -> Hashable:
    plain: Hashable = value.item() if isinstance(value, np.generic) else value
    return plain


# -------------------------------------------------------------------------------------------------
# What changed between two evaluations that a memory keeps.
#
# - The change of an estimate, d = e_1 - e_0, has the interval
#
#       d - sqrt((e_1 - l_1)^2 + (h_0 - e_0)^2)   to   d + sqrt((h_1 - e_1)^2 + (e_0 - l_0)^2)
#
#   (Zou and Donner, Statistics in Medicine 27, 2008), that of two independent estimates. Two
#   evaluations mostly share labels, so that their errors go the same way and the interval is wider
#   than it need be.
# - Drift of a model's scores: the distance of total variation between their shares in fixed bins,
#   and the p value of a chi-square test that both come from one distribution, times the number of
#   models (Bonferroni). Rows that both evaluations saw count in both, so the test is cautious.


ALL = "all"


@dataclass(frozen=True)
class Change:
    """One estimate in two evaluations.

    Attributes
    ----------
    model, metric, group : str
        What was estimated.
    before, after : float
        The two estimates.
    change, low, high : float
        Their difference with its interval.
    width_before, width_after : float
        Widths of the two intervals.
    one_level : bool
        Whether the intervals before and after have the same level; otherwise that of the change has
        none.
    """

    model: str
    metric: str
    group: str
    before: float
    after: float
    change: float
    low: float
    high: float
    width_before: float
    width_after: float
    one_level: bool = True

    @property
    def is_clear(self) -> bool:
        """Whether the interval of the change leaves out zero, where it has a level."""
        return self.one_level and (self.low > 0.0 or self.high < 0.0)


@dataclass(frozen=True)
class Drift:
    """How a model's scores moved between two evaluations.

    Attributes
    ----------
    model : str
        The model.
    distance : float
        Total variation between the two distributions, 0 to 1.
    p : float
        p value that there is no drift, corrected for the number of models.
    level : float
        p value below which the scores are said to have drifted (default 0.01).
    """

    model: str
    distance: float
    p: float
    level: float = 0.01

    @property
    def is_clear(self) -> bool:
        """Whether chance hardly explains it."""
        return self.p < self.level


def compare_records(
    before: EvaluationRecord,
    after: EvaluationRecord,
    metric: str | None = None,
    group: str | None = None,
) -> tuple[Change, ...]:
    """The change of every estimate that two evaluations have in common.

    Parameters
    ----------
    before, after : EvaluationRecord
        The earlier and the later evaluation.
    metric, group : str, optional
        Compare only the estimates of this metric, and of this group.
    """
    old = {(each.model, each.metric, each.group): each for each in before.estimates}
    one_level = _find_settings(before).get("level") == _find_settings(after).get("level")
    found = []
    for new in after.estimates:
        one = old.get((new.model, new.metric, new.group))
        if one is None or one.estimate is None or new.estimate is None:
            continue
        if metric not in (None, new.metric) or group not in (None, new.group):
            continue
        (e_0, l_0, h_0), (e_1, l_1, h_1) = (
            tuple(np.nan if value is None else value for value in (r.estimate, r.low, r.high))
            for r in (one, new)
        )
        change = Change(
            new.model,
            new.metric,
            new.group,
            before=e_0,
            after=e_1,
            change=e_1 - e_0,
            low=e_1 - e_0 - float(np.hypot(e_1 - l_1, h_0 - e_0)),
            high=e_1 - e_0 + float(np.hypot(h_1 - e_1, e_0 - l_0)),
            width_before=h_0 - l_0,
            width_after=h_1 - l_1,
            one_level=one_level,
        )
        found.append(change)
    if not found:
        models = quote(sorted({each.model for each in after.estimates}))
        problem = "the two evaluations have no model, metric and group in common"
        raise InputError(problem, hint=f"name two that share models; the second one has {models}")
    return tuple(found)


def tell_differences(before: EvaluationRecord, after: EvaluationRecord) -> tuple[str, ...]:
    """Sentences on what differs besides labels between two evaluations, if anything does.

    Parameters
    ----------
    before, after : EvaluationRecord
        The earlier and the later evaluation.

    Examples
    --------
    >>> from ssme.memory import EvaluationRecord
    >>> one = EvaluationRecord({"run": {"level": 0.95}}, "auto", 100, 20, "1")
    >>> two = EvaluationRecord({"run": {"level": 0.95}}, "labeled", 100, 40, "1")
    >>> tell_differences(one, two)
    ('The method was auto and is labeled: it may be what changed the estimates.',)
    """
    said = []
    if before.method != after.method:
        said.append(
            f"The method was {before.method} and is {after.method}: it may be what changed the "
            "estimates."
        )
    old, new = _find_settings(before), _find_settings(after)
    levels = [old.get("level"), new.get("level")]
    if levels[0] != levels[1]:
        one, two = (f"{level:.0%}" if isinstance(level, float) else "unknown" for level in levels)
        said.append(
            f"The level of the intervals was {one} and is {two}: the interval of a change has "
            "neither, and no change is called clear."
        )
    for name in sorted({*old, *new} - UNREPORTED):
        if old.get(name) != new.get(name):
            one, two = (each.get(name, "not given") for each in (old, new))
            said.append(f"The option {name} was {one} and is {two}.")
    return tuple(said)


def _find_settings(record: EvaluationRecord) -> Mapping[str, Any]:
    """How data were read and the run was asked for; empty where the record does not say."""
    sections = (record.spec.get(name) for name in ("read", "run"))
    return {name: of[name] for of in sections if isinstance(of, Mapping) for name in of}


def find_drift(before: EvaluationRecord, after: EvaluationRecord) -> tuple[Drift, ...]:
    """The drift of every model that two evaluations have in common, the largest first.

    Parameters
    ----------
    before, after : EvaluationRecord
        The earlier and the later evaluation.
    """
    shared = [model for model in after.scores if model in before.scores]
    found = []
    for model in shared:
        p, q = np.array(before.scores[model]), np.array(after.scores[model])
        if p.size != q.size:
            continue
        sizes = [each.scored.get(model, each.n_rows) for each in (before, after)]
        counts = np.array([p, q]) * np.array(sizes)[:, None]
        counts = counts[:, counts.sum(axis=0) > 0.0]
        expected = counts.sum(axis=1, keepdims=True) * counts.sum(axis=0) / counts.sum()
        statistic = float(((counts - expected) ** 2 / expected).sum())
        chance = float(chdtrc(max(counts.shape[1] - 1, 1), statistic))
        distance = float(0.5 * np.abs(p - q).sum())
        found.append(Drift(model, distance, min(1.0, chance * len(shared))))
    return tuple(sorted(found, key=lambda each: -each.distance))


def trace_estimates(
    evaluations: Mapping[int, EvaluationRecord], metric: str | None = None, group: str = ALL
) -> list[dict[str, Any]]:
    """The estimates of one metric over several evaluations: a row for each and each model.

    Parameters
    ----------
    evaluations : mapping of number -> EvaluationRecord
        As `Memory.evaluations` gives them.
    metric : str, optional
        The metric (default: the first one of the newest evaluation).
    group : str
        The group (default "all").
    """
    if not evaluations:
        return []
    if metric is None:
        newest = list(evaluations.values())[-1]
        metric = next((each.metric for each in newest.estimates), "")
    rows = [
        {"evaluation": number, "made_at": record.made_at, "labels": record.n_labeled}
        | {name: getattr(each, name) for name in ("model", "metric", "estimate", "low", "high")}
        for number, record in evaluations.items()
        for each in record.estimates
        if (each.metric, each.group) == (metric, group) and each.estimate is not None
    ]
    if not rows:
        known = {each.metric for record in evaluations.values() for each in record.estimates}
        problem = f"no evaluation has {metric!r} on group {group!r}"
        raise InputError(problem, hint=f"the metrics are {quote(sorted(known))}")
    return rows
