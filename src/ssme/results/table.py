"""The table of an evaluation: one row per model, group and metric.

A group may have no labeled row, or none of a class that a metric needs. Labels alone then say
nothing about it, and whoever works with labels alone would fall back on their overall value. The
table does so too: ``labels_only_from`` is

    "group"   the value is that of the group's own labeled rows
    "all"     the value is that of all labeled rows
    "none"    neither determines it, and the value is NaN

How much there is behind an estimate: ``borrowed`` is the share of a group's estimates that comes
from all rows rather than from its own labels, and ``effective_labels`` the evidence as a number of
labels. With n labels in all (Kish's effective number of those with weights) and w the width of an
interval,

    effective_labels = n (w of labels alone on all rows / w of the estimate)^2,

as many labels as labels alone would need for an interval as narrow as the estimate's.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ssme.methods.base import Estimate
from ssme.metrics.base import FloatArray

if TYPE_CHECKING:
    from ssme.results.evaluation import Evaluation

COLUMNS = (
    "model",
    "group",
    "metric",
    "estimate",
    "low",
    "high",
    "labels_only",
    "labels_only_low",
    "labels_only_high",
    "labels_only_from",
    "n_labeled",
    "n_unlabeled",
    "borrowed",
    "effective_labels",
    "method",
    "positive_class",
)
"""Columns of the table, in a frame, in CSV and in JSON."""


def tabulate(evaluation: Evaluation, level: float) -> Iterator[dict[str, Any]]:
    """The rows of the table: groups, in each of them metrics, in each of them models."""
    data, n_labels = evaluation.data, evaluation.n_random_labels
    positive = None if data.positive is None else str(data.positive)
    overall = [_stack_ends(estimate, level) for estimate in evaluation.labels_only[0]]
    for g, group in enumerate(evaluation.groups):
        for m, metric in enumerate(evaluation.metrics):
            ours = _stack_ends(evaluation.estimates[g][m], level)
            alone = _stack_ends(evaluation.labels_only[g][m], level)
            determined = np.isfinite(alone[0])
            shown = np.where(determined, alone, overall[m])
            widths = overall[m][2] - overall[m][1]
            source = "group" if g else "all"
            for j, model in enumerate(data.models):
                value, low, high = ours[:, j].tolist()
                found = source if determined[j] else "all"
                numbers = (
                    *(value, low, high),
                    *shown[:, j].tolist(),
                    found if np.isfinite(shown[0, j]) else "none",
                    group.n_labeled,
                    group.n_unlabeled,
                    group.borrowed,
                    compute_effective_labels(n_labels, widths[j], high - low),
                )
                row = (model, group.name, metric.name, *numbers, evaluation.method, positive)
                yield dict(zip(COLUMNS, row, strict=True))


def _stack_ends(estimate: Estimate, level: float) -> FloatArray:
    """Value and both ends of the interval (3, M)."""
    return np.stack([estimate.value, *estimate.interval(level)])


def compute_effective_labels(n_labels: float, alone: float, width: float) -> float:
    """Labels that would make an interval of labels alone as narrow as ``width``.

    NaN where the width is a matter of rounding.
    """
    rounding = 1e-9 * alone
    return float(n_labels * (alone / width) ** 2) if width > rounding else float("nan")
