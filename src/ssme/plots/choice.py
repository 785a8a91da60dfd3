"""Which models a picture shows, and in which order."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from ssme.metrics.base import Metric
from ssme.results.evaluation import BaseEvaluation
from ssme.results.groups import ALL
from ssme.results.table import Row

__all__ = ["choose_models", "measure_goodness", "sort_best_first"]


def choose_models(
    evaluation: BaseEvaluation, limit: int, models: str | Sequence[str] | None, metric: str
) -> list[str]:
    """The models asked for, or the ``limit`` best ones by ``metric``."""
    if models is not None:
        names = [models] if isinstance(models, str) else list(models)
        for name in names:
            evaluation.model_index(name)
        return names
    chosen = evaluation.metrics[evaluation.metric_index(metric)]
    found = sort_best_first(evaluation.rows(metric, ALL), chosen)
    return [row["model"] for row in found[:limit]]


def sort_best_first(rows: Iterable[Row], metric: Metric) -> list[dict[str, Any]]:
    """Rows sorted by estimate, the best first and undefined ones last."""
    return sorted(rows, key=lambda row: -measure_goodness(row["estimate"], metric))


def measure_goodness(value: float, metric: Metric) -> float:
    """A number that is greater the better ``value`` is."""
    if math.isnan(value):
        return -math.inf
    return value if metric.greater_is_better is not False else -value
