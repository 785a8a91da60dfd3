"""Ranking, differences and the decision of an evaluation as plain values, for JSON and reports.

ranking       every metric with a direction: all models, best first, with P(best) and ranks
differences   every metric: each pair of models, where there are at most `PAIRED_MODELS`; among
              more, the best estimate against each other model
decision      the one choice (`DecidingEvaluation.decision`), None where there is none
calibrated    whether P(best), P(better) and P(worst) of each metric are calibrated
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from ssme.decide.choose import Choice, choose_model
from ssme.metrics.base import Metric
from ssme.results.evaluation import BaseEvaluation, to_plain_values
from ssme.results.gaps import find_worst_record

__all__ = ["PAIRED_MODELS", "choose_by_lead", "describe_decision"]

PAIRED_MODELS = 20
"""Models up to which every pair is written down; the number of pairs grows with its square."""


def choose_by_lead(evaluation: BaseEvaluation) -> Choice | None:
    """The choice by the leading metric; None where it has no direction or no value."""
    metric, estimate = evaluation.metrics[0], evaluation.estimates[0][0]
    if metric.greater_is_better is None or not np.isfinite(estimate.value).any():
        return None
    return choose_model(
        evaluation.data.models,
        metric,
        estimate,
        level=evaluation.level,
        record=evaluation.find_record(metric),
    )


def describe_decision(evaluation: BaseEvaluation, choice: Choice | None) -> dict[str, Any]:
    """What this module's text lists, as JSON can hold it; ``choice`` is the decision."""
    directed = [metric for metric in evaluation.metrics if metric.greater_is_better is not None]
    records = [evaluation.find_record(metric) for metric in directed]
    out: dict[str, Any] = to_plain_values(
        {
            "ranking": [
                {"metric": metric.name, **asdict(rank)}
                for metric in directed
                for rank in evaluation.ranking(metric.name).rows
            ],
            "differences": [
                asdict(row)
                for metric in evaluation.metrics
                for row in _list_differences(evaluation, metric)
            ],
            "decision": None if choice is None else choice.to_dict(),
            "calibrated": {
                metric.name: {
                    "p_best": record.knows("best"),
                    "p_better": record.knows("better"),
                    "p_worst": find_worst_record(evaluation, metric).knows("worst"),
                }
                for metric, record in zip(directed, records, strict=True)
            },
        }
    )
    return out


def _list_differences(evaluation: BaseEvaluation, metric: Metric) -> tuple[Any, ...]:
    if evaluation.data.n_models <= PAIRED_MODELS:
        return evaluation.compare(metric.name).rows
    value = evaluation.estimate(metric.name).value
    if not np.isfinite(value).any():
        return ()
    best = np.nanargmin(value) if metric.greater_is_better is False else np.nanargmax(value)
    return evaluation.compare(metric.name, evaluation.data.models[int(best)]).rows
