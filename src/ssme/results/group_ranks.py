"""The groups of a grouping, worst first, each beside all rows.

    difference = metric of the group - metric of all rows,

with an interval that holds for all groups at once (`ssme.results.simultaneous`), so that the worst
one may be picked out after looking.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ssme.errors import InputError, argument
from ssme.methods.base import Estimate
from ssme.metrics.base import Metric
from ssme.results.comparison import RowTable
from ssme.results.evaluation import BaseEvaluation
from ssme.results.gaps import find_groupings, find_places, find_worst_record
from ssme.results.simultaneous import (
    compute_badness,
    compute_joint_reach,
    compute_p_worst,
    gather_group_draws,
)
from ssme.results.table import compute_effective_labels

__all__ = ["GroupRank", "GroupRanking", "order_groups", "rank_groups"]


@dataclass(frozen=True)
class GroupRank:
    """One group among those of its grouping, for one classifier.

    Attributes
    ----------
    group, model : str
        The group and the classifier.
    estimate, low, high : float
        The metric and its interval, for this group by itself.
    difference, difference_low, difference_high : float
        The group minus all rows, with an interval that holds for all groups at once.
    p_worst, p_worst_raw : float
        Probability of being the worst group, calibrated on benchmark sets where it was measured,
        and as the draws have it; NaN where the method gives no draws.
    n_labeled, n_unlabeled : int
        Rows of the group with and without a label.
    borrowed : float
        Share of the estimate that comes from all rows.
    effective_labels : float
        The evidence: as many labels as labels alone would need for an interval as narrow.
    """

    group: str
    model: str
    estimate: float
    low: float
    high: float
    difference: float
    difference_low: float
    difference_high: float
    p_worst: float
    p_worst_raw: float
    n_labeled: int
    n_unlabeled: int
    borrowed: float
    effective_labels: float


@dataclass(frozen=True, eq=False, repr=False)
class GroupRanking(RowTable):
    """Groups of one grouping, worst first, as `ssme.Evaluation.worst_groups` gives them.

    Attributes
    ----------
    rows : tuple of GroupRank
        One per group, the worst estimate first.
    level : float
        Coverage of the intervals.
    library : str
        Library of the frame that ``frame()`` gives.
    by, metric : str
        The grouping and the metric.
    remarks : tuple of str
        That ``p_worst`` is not calibrated, where nothing was measured.
    """

    kind: ClassVar[Any] = GroupRank
    rows: tuple[GroupRank, ...]
    by: str
    metric: str

    def _write_head(self) -> str:
        return (
            f"{self.metric} by {self.by}, worst group first, {self.level:.0%} intervals; those of "
            "the difference from all rows hold for all groups at once"
        )


def rank_groups(
    evaluation: BaseEvaluation,
    metric: str | None = None,
    *,
    by: str | None = None,
    model: str | None = None,
    level: float | None = None,
) -> GroupRanking:
    """The groups of one grouping; `ssme.Evaluation.worst_groups` says what is told of each."""
    level = evaluation.level if level is None else level
    m = evaluation.metric_index(metric)
    chosen, texts = evaluation.metrics[m], find_groupings(evaluation, by)
    if len(texts) > 1:
        raise InputError(
            f"{len(texts)} groupings were evaluated and none was named",
            allowed=", ".join(map(repr, texts)),
            fix=f"name one with {argument('by')}",
        )
    whole = evaluation.estimates[0][m]
    j = _find_best(whole, chosen) if model is None else evaluation.model_index(model)
    places = find_places(evaluation, texts[0], pooled=True)
    groups = [evaluation.groups[g] for g in places]
    estimates = [evaluation.estimates[g][m] for g in places]
    values = np.array([estimate.value[j] for estimate in estimates])
    ends = np.array([_find_interval(estimate, j, level) for estimate in estimates])
    difference = values - whole.value[j]
    draws = gather_group_draws(estimates, j)
    reach = np.full(values.size, np.nan)
    worst = np.full(values.size, np.nan)
    known = np.isfinite(values)
    if draws is not None and known.any():
        kept = [estimate for estimate, defined in zip(estimates, known, strict=True) if defined]
        worst[known] = compute_p_worst(draws[:, known], chosen, kept)
        off = draws[:, known] - values[known]
        if whole.draws is not None:
            off = off - (whole.draws[:, j] - whole.value[j])[:, None]
        reach[known] = compute_joint_reach(off, level)
    low, high = ends[:, 0], ends[:, 1]
    ends_alone = _find_interval(evaluation.labels_only[0][m], j, level)
    n_labels, alone = evaluation.n_random_labels, ends_alone[1] - ends_alone[0]
    record = find_worst_record(evaluation, chosen)
    columns = np.stack(
        [
            *(values, low, high, difference, difference - reach, difference + reach),
            *(record.correct_shares("worst", worst), worst),
        ]
    )
    ranks = [
        GroupRank(
            group.name,
            evaluation.data.models[j],
            *numbers,  # type: ignore[call-arg]
            group.n_labeled,
            group.n_unlabeled,
            group.borrowed,
            compute_effective_labels(n_labels, alone, numbers[2] - numbers[1]),
        )
        for group, numbers in zip(groups, columns.T.tolist(), strict=True)
    ]
    ranks.sort(key=lambda rank: compute_badness(rank.estimate, chosen))
    library = evaluation.data.frame_library or "pandas"
    remark = record.describe("worst") if np.isfinite(worst).any() else ""
    remarks = (remark,) if remark else ()
    return GroupRanking(tuple(ranks), level, library, texts[0], chosen.name, remarks=remarks)


def order_groups(evaluation: BaseEvaluation, metric: str) -> list[str]:
    """Names of all groups, worst first by the model with the best estimate on all rows."""
    m = evaluation.metric_index(metric)
    chosen = evaluation.metrics[m]
    j = _find_best(evaluation.estimates[0][m], chosen)
    values = {
        group.name: compute_badness(float(of[m].value[j]), chosen)
        for group, of in zip(evaluation.groups[1:], evaluation.estimates[1:], strict=True)
    }
    return sorted(values, key=lambda name: values[name])


def _find_best(estimate: Estimate, metric: Metric) -> int:
    value = estimate.value if metric.greater_is_better is not False else -estimate.value
    return int(np.nanargmax(value)) if np.isfinite(value).any() else 0


def _find_interval(estimate: Estimate, j: int, level: float) -> tuple[float, float]:
    low, high = estimate.interval(level)
    return float(low[j]), float(high[j])
