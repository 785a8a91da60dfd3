"""The table of an evaluation: one row per model, group and metric.

A group may have no labeled row, or none of a class that a metric needs. Labels alone then say
nothing about it, and whoever works with labels alone would fall back on their overall value. The
table does so too and says so: ``labels_only_from`` is

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

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ssme.methods.base import Estimate
from ssme.metrics.base import FloatArray, Metric
from ssme.results.groups import ALL, Group

__all__ = ["COLUMNS", "SHOWN_COLUMNS", "Row", "compute_effective_labels", "tabulate"]

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
"""Columns of the table, in a frame, in CSV and in JSON alike."""

SHOWN_COLUMNS = (*COLUMNS[:7], "labels_only_from", "n_labeled")
"""Columns that fit into a terminal."""

Row = dict[str, Any]


def tabulate(
    models: Sequence[str],
    groups: Sequence[Group],
    metrics: Sequence[Metric],
    estimates: Sequence[Sequence[Estimate]],
    labels_only: Sequence[Sequence[Estimate]],
    *,
    level: float,
    n_labels: float,
    method: str,
    positive: str | None = None,
) -> Iterator[Row]:
    """The rows of the table: groups, in each of them metrics, in each of them models.

    Parameters
    ----------
    models : sequence of str
        Names of the classifiers.
    groups, metrics : sequences
        The axes of ``estimates`` and ``labels_only``.
    estimates, labels_only : nested sequences of Estimate
        One `Estimate` per group and metric, by the method and from labels alone.
    level : float
        Coverage of the intervals.
    n_labels : float
        Number of labels, as many as if their rows had been drawn at random.
    method : str
        Name of the method.
    positive : str or None
        The positive one of two classes, if it is known.
    """
    overall = [_find_ends(estimate, level) for estimate in labels_only[0]]
    for g, group in enumerate(groups):
        for m, metric in enumerate(metrics):
            value, low, high = _find_ends(estimates[g][m], level)
            alone = _find_ends(labels_only[g][m], level)
            for j, model in enumerate(models):
                own = bool(np.isfinite(alone[0][j]))
                known = own or bool(np.isfinite(overall[m][0][j]))
                shown = alone if own else overall[m]
                yield {
                    "model": model,
                    "group": group.name,
                    "metric": metric.name,
                    "estimate": float(value[j]),
                    "low": float(low[j]),
                    "high": float(high[j]),
                    "labels_only": float(shown[0][j]),
                    "labels_only_low": float(shown[1][j]),
                    "labels_only_high": float(shown[2][j]),
                    "labels_only_from": _name_source(group, own, known),
                    "n_labeled": group.n_labeled,
                    "n_unlabeled": group.n_unlabeled,
                    "borrowed": group.borrowed,
                    "effective_labels": compute_effective_labels(
                        n_labels, overall[m][2][j] - overall[m][1][j], high[j] - low[j]
                    ),
                    "method": method,
                    "positive_class": positive,
                }


def _find_ends(estimate: Estimate, level: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    return estimate.value, *estimate.interval(level)


def compute_effective_labels(n_labels: float, alone: float, width: float) -> float:
    """Labels that would make an interval of labels alone as narrow as ``width``.

    NaN where the width is a matter of rounding.
    """
    rounding = 1e-9 * alone
    return float(n_labels * (alone / width) ** 2) if width > rounding else float("nan")


def _name_source(group: Group, own: bool, known: bool) -> str:
    if not known:
        return "none"
    return "group" if own and group.name != ALL else "all"
