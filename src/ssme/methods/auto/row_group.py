"""One group of rows as a belief works on it: its labeled rows, its part, its plans made once.

What a metric needs of the scores alone (sort orders, bins) is the same in every regime and world,
so that a `RowGroup` keeps the plans of its metrics for as long as it is worked on. Of very many
rows, worlds are computed on a part.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ssme.data.scoreset import ScoreSet
from ssme.metrics.base import FloatArray, Metric, MetricPlan
from ssme.metrics.ranking import plan_together

__all__ = ["RowGroup", "plan_metrics", "take_rows"]

IntArray = NDArray[np.int64]


def plan_metrics(metrics: Sequence[Metric], scores: FloatArray, own: bool) -> list[MetricPlan]:
    """One plan per metric for ``scores`` (n, M, K): a function from mass to values (D, C).

    The mass is (D, n, K), the same for all classifiers, or with ``own`` it is (D, n, M, K), and
    each classifier is judged by its own. A metric of the whole set of classifiers is then judged by
    the mean of these.
    """
    if not own:
        return plan_together(metrics, scores)
    each = [metric for metric in metrics if not metric.of_set]
    by_model = [plan_together(each, scores[:, [j]]) for j in range(scores.shape[1])]
    columns = iter(zip(*by_model, strict=True))
    return [
        _plan_of_mean(metric.plan(scores)) if metric.of_set else _plan_by_model(next(columns))
        for metric in metrics
    ]


def _plan_of_mean(plan: MetricPlan) -> MetricPlan:
    return lambda mass: plan(np.nan_to_num(mass).mean(axis=2))


def _plan_by_model(plans: Sequence[MetricPlan]) -> MetricPlan:
    def evaluate(mass: FloatArray) -> FloatArray:
        each = [plan(mass[:, :, j]) for j, plan in enumerate(plans)]
        return np.concatenate(each, axis=1)

    return evaluate


@dataclass(frozen=True, eq=False)
class RowGroup:
    """The rows of one group: all ``rows``, and those of them that are ``labeled``.

    ``part`` and ``labeled_part`` are as many of either as worlds are computed on. ``number`` is the
    place of the group among the groups that are asked for.
    """

    data: ScoreSet
    metrics: Sequence[Metric]
    number: int
    rows: IntArray
    labeled: IntArray
    part: IntArray
    labeled_part: IntArray
    _plans: dict[tuple[str, bool], list[MetricPlan]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        data: ScoreSet,
        metrics: Sequence[Metric],
        number: int,
        rows: IntArray,
        choose: Callable[[IntArray], IntArray],
    ) -> RowGroup:
        """The group of ``rows``; ``choose`` takes the part of some rows that worlds are of."""
        labeled = rows[data.labeled[rows]]
        return cls(data, metrics, number, rows, labeled, choose(rows), choose(labeled))

    def plan(self, which: str, m: int, own: bool) -> MetricPlan:
        """The plan of the ``m``-th metric on the rows ``which``.

        ``which`` names an attribute of this group: "rows", "part", "labeled" or "labeled_part".
        """
        key = (which, own)
        if key not in self._plans:
            scores = take_rows(self.data.scores, getattr(self, which))
            self._plans[key] = plan_metrics(self.metrics, scores, own)
        return self._plans[key][m]


def take_rows(values: FloatArray, rows: IntArray) -> FloatArray:
    """``values`` of ascending ``rows``; where these are all rows, nothing is copied."""
    return values if len(rows) == len(values) else values[rows]
