"""From an evaluation and its data to the records that a memory keeps."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from ssme.data.design import find_rounds
from ssme.data.scoreset import ScoreSet
from ssme.decide.choose import choose_model
from ssme.errors import InputError, argument
from ssme.memory.records import DecisionRecord, EstimateRecord, EvaluationRecord, LabelEvent
from ssme.results.evaluation import BaseEvaluation

__all__ = ["SCORE_BINS", "count_score_shares", "read_events", "record_evaluation"]

SCORE_BINS = 20
"""Parts of [0, 1] in which scores are counted; memories of any age are compared in these."""


def record_evaluation(evaluation: BaseEvaluation) -> EvaluationRecord:
    """Turn an evaluation into the record that a memory keeps.

    Its key is made of what was asked and what came out, so that the same evaluation is kept once.

    Parameters
    ----------
    evaluation : Evaluation
        The evaluation.

    Returns
    -------
    EvaluationRecord

    Examples
    --------
    >>> import ssme
    >>> scores = {"a": [0.9, 0.8, 0.3, 0.2], "b": [0.4, 0.6, 0.7, 0.5]}
    >>> r = ssme.evaluate(scores, [1, None, 0, None], method="ensemble", metrics="accuracy")
    >>> record_evaluation(r).method
    'ensemble'
    """
    settings = evaluation.settings
    estimates = tuple(
        EstimateRecord(
            row["model"],
            row["metric"],
            row["group"],
            *(_replace_nan(row[name]) for name in ("estimate", "low", "high", "labels_only")),
        )
        for row in evaluation.rows()
    )
    spec = settings.get("config") or {"method": evaluation.method}
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
        scored=_count_scored(evaluation.data),
        key=hashlib.sha256(content.encode()).hexdigest(),
    )


def read_events(
    data: ScoreSet, name: str, annotator: str = "", earlier: Iterable[LabelEvent] = ()
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
        Events that the memory holds, the oldest first. A label that differs from the newest one
        which the same annotator gave to the row is a new event, also where an older one was the
        same: somebody who corrects a correction is heard.

    Returns
    -------
    list of LabelEvent
    """
    if data.n_labeled and data.ids is None:
        raise InputError(
            "the rows have no names, so that their labels cannot be stored",
            allowed="data with a column of unique ids",
            fix=f"name the column, as in {argument('id', 'id')}",
        )
    if data.ids is None:
        return []
    told: dict[Hashable, list[LabelEvent]] = {}
    for event in earlier:
        if event.annotator == annotator:
            told.setdefault(event.row, []).append(event)
    rounds = find_rounds(data.design, data.labels)
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


def count_score_shares(data: ScoreSet) -> dict[str, tuple[float, ...]]:
    """Shares of each model's scores in fixed bins: P(positive) of two classes, else the largest."""
    score = data.scores[:, :, 1] if data.n_classes == 2 else data.scores.max(axis=2)
    found = {}
    for j, model in enumerate(data.models):
        own = score[np.isfinite(score[:, j]), j]
        counts = np.histogram(own, bins=SCORE_BINS, range=(0.0, 1.0))[0]
        found[model] = tuple((counts / max(own.size, 1)).tolist())
    return found


def _count_scored(data: ScoreSet) -> dict[str, int]:
    """How many rows each model has scored."""
    counts = np.isfinite(data.scores[:, :, 0]).sum(axis=0)
    return dict(zip(data.models, counts.tolist(), strict=True))


def _make_decisions(evaluation: BaseEvaluation) -> tuple[DecisionRecord, ...]:
    found = []
    for metric, estimate in zip(evaluation.metrics, evaluation.estimates[0], strict=True):
        if metric.greater_is_better is None or not np.isfinite(estimate.value).any():
            continue
        choice = choose_model(
            evaluation.data.models,
            metric,
            estimate,
            level=evaluation.level,
            record=evaluation.find_record(metric),
        )
        found.append(
            DecisionRecord(
                metric.name,
                choice.pick,
                _replace_nan(choice.p_best),
                _replace_nan(choice.regret),
                choice.possible_best,
                choice.describe_sureness(),
            )
        )
    return tuple(found)


def _replace_nan(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


def _make_plain(value: Any) -> Hashable:
    """A value of numpy as one of Python."""
    plain: Hashable = value.item() if isinstance(value, np.generic) else value
    return plain
