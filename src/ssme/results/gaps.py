"""How far groups are apart: gaps of a grouping with intervals that hold for all its pairs at once.

For groups g with estimates t_g and joint draws x_dg, let s_gh be the standard deviation of the
draws of a difference and c the quantile, over the draws, of the largest

    |(x_dg - x_dh) - (t_g - t_h)| / s_gh     over all pairs (g, h).

Then t_g - t_h +- c s_gh holds for all pairs together with the wanted probability (Westfall and
Young, 1993), whichever pair is looked at for whatever reason, and so

    max - min      lies between  max (t_g - t_h - c s_gh)  and  max (t_g - t_h + c s_gh).

The largest of noisy differences is larger than the largest difference; this interval knows that,
quantiles of the draws of "max - min" would not. A ratio is the same on the scale of logarithms.
Groups that were put together stand for no group and are left out.

Where a classifier never errs, or always, on the n cases of a group (its positives, say, none of
which it finds), all draws are the same number. That is no proof for the people whom the rows stand
for: a rate that was not seen in n cases may be as large as 1 - (1 - level)^(1/n), "three in n" at
95 %, and the interval of the gap reaches as far.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ssme.errors import InputError, UnsupportedError, argument
from ssme.groups.estimates import estimate_groups
from ssme.methods.base import Estimate, number_rows, refuse_without_order
from ssme.metrics import get_metric
from ssme.metrics.base import FloatArray, Metric, MetricPlan
from ssme.metrics.confusion import linear_plan, predicted_classes
from ssme.metrics.kinds import Loss, is_same_metric
from ssme.results.comparison import RowTable
from ssme.results.evaluation import BaseEvaluation
from ssme.results.groups import Group
from ssme.results.reliability import Record
from ssme.results.simultaneous import (
    compute_badness,
    compute_p_worst,
    compute_pair_reach,
    gather_group_draws,
)

__all__ = [
    "GAPS",
    "Gap",
    "GapTable",
    "compute_gaps",
    "describe_gaps",
    "estimate_further",
    "find_groupings",
    "find_places",
    "find_worst_record",
    "make_mean_bias",
]

GAPS = ("difference", "ratio", "equal_opportunity", "equalized_odds", "calibration")
"""Kinds of gaps; the last three look at recall, recall and specificity, and mean bias."""
LEAST = 1e-6
"""Least value whose logarithm is taken."""


@dataclass(frozen=True)
class Gap:
    """How far the groups of a grouping are apart for one classifier.

    Attributes
    ----------
    by, model : str
        The grouping and the classifier.
    gap : str
        ``"difference"`` (largest minus smallest), ``"ratio"`` (smallest over largest),
        ``"equal_opportunity"`` (difference in recall), ``"equalized_odds"`` (the larger of the
        differences in recall and in specificity), ``"calibration"`` (difference in the mean of
        outcome minus score).
    metric : str
        The metric whose gap it is.
    estimate, low, high : float
        The gap, and an interval that holds for all pairs of groups at once.
    worst, best : str
        The groups with the worst and the best estimate; where neither way is better, those with
        the lowest and the highest.
    p_worst, p_worst_raw : float
        Probability that ``worst`` is the worst group, calibrated on benchmark sets where it was
        measured, and as the draws have it; NaN where the method gives no draws.
    n_groups : int
        Number of groups that were compared.
    """

    by: str
    model: str
    gap: str
    metric: str
    estimate: float
    low: float
    high: float
    worst: str
    best: str
    p_worst: float
    p_worst_raw: float
    n_groups: int

    @property
    def name(self) -> str:
        """The metric, with the kind of gap where it is not a difference."""
        kind = "" if self.gap == "difference" else f", {self.gap.replace('_', ' ')}"
        return f"{self.metric}{kind}"


@dataclass(frozen=True, eq=False, repr=False)
class GapTable(RowTable):
    """Gaps between groups, as `ssme.Evaluation.gaps` gives them.

    Attributes
    ----------
    rows : tuple of Gap
        One per grouping, kind, metric and classifier.
    level : float
        Coverage of the intervals.
    library : str
        Library of the frame that ``frame()`` gives.
    remarks : tuple of str
        For which metrics ``p_worst`` is not calibrated.
    """

    kind: ClassVar[Any] = Gap
    rows: tuple[Gap, ...]

    def _write_head(self) -> str:
        return (
            f"gaps between groups with {self.level:.0%} intervals for all pairs of groups at once"
        )


def compute_gaps(
    evaluation: BaseEvaluation,
    metric: str | None = None,
    *,
    by: str | None = None,
    kinds: Sequence[str] = ("difference", "ratio"),
    level: float | None = None,
) -> GapTable:
    """The gaps of an evaluation; `ssme.Evaluation.gaps` says what they are."""
    level = evaluation.level if level is None else level
    kinds = list(dict.fromkeys([kinds] if isinstance(kinds, str) else kinds))
    unknown = [kind for kind in kinds if kind not in GAPS]
    if unknown:
        raise InputError(f"{argument('kinds', unknown[0])} is unknown", allowed=", ".join(GAPS))
    rows: list[Gap] = []
    for text in find_groupings(evaluation, by):
        for kind in kinds:
            rows += _find_gaps_of_kind(evaluation, text, kind, metric, level)
    library = evaluation.data.frame_library or "pandas"
    known = {each.name: each for each in evaluation.metrics}
    names = dict.fromkeys(row.metric for row in rows if row.p_worst == row.p_worst)
    records = [find_worst_record(evaluation, known.get(name, name)) for name in names]
    remarks = tuple(filter(None, (record.describe("worst") for record in records)))
    return GapTable(tuple(rows), level, library, remarks=remarks)


def find_worst_record(evaluation: BaseEvaluation, metric: Metric | str) -> Record:
    """What was measured of P(worst) of groups: for the population that their rows stand for."""
    if isinstance(metric, str):
        return Record(evaluation.method, metric)
    if evaluation.settings.get("group_target", "population") != "population":
        return Record(evaluation.method, f"{metric.name} of the rows at hand")
    return evaluation.find_record(metric)


def describe_gaps(
    evaluation: BaseEvaluation, gaps: GapTable | None = None
) -> dict[str, list[dict[str, Any]]]:
    """Gaps (default: the differences) as plain values, where groups were evaluated."""
    if len(evaluation.groups) < 2:
        return {}
    found = compute_gaps(evaluation, kinds=["difference"]) if gaps is None else gaps
    return {
        "gaps": [
            {key: None if value != value else value for key, value in vars(row).items()}
            for row in found.rows
        ]
    }


def _find_gaps_of_kind(
    evaluation: BaseEvaluation, text: str, kind: str, metric: str | None, level: float
) -> Iterator[Gap]:
    places = find_places(evaluation, text)
    groups = [evaluation.groups[g] for g in places]
    if kind in ("difference", "ratio"):
        wanted = (
            range(len(evaluation.metrics)) if metric is None else [evaluation.metric_index(metric)]
        )
        for m in wanted:
            chosen = evaluation.metrics[m]
            if kind == "ratio" and not chosen.low >= 0.0:
                continue
            estimates = [[evaluation.estimates[g][m] for g in places]]
            yield from _find_gaps(evaluation, groups, text, kind, [chosen], estimates, level)
        return
    metrics = _list_metrics_behind(evaluation, kind)
    found = estimate_further(evaluation, metrics, places)
    yield from _find_gaps(evaluation, groups, text, kind, metrics, found, level)


def _find_gaps(
    evaluation: BaseEvaluation,
    groups: Sequence[Group],
    text: str,
    kind: str,
    metrics: Sequence[Metric],
    estimates: Sequence[Sequence[Estimate]],
    level: float,
) -> Iterator[Gap]:
    """One row per classifier; ``estimates`` [metric][group] are looked at together."""
    for j, model in enumerate(evaluation.data.models):
        spans = [_measure_span(of, j, kind == "ratio") for of in estimates]
        usable = [span for span in spans if span is not None]
        if len(usable) < len(spans):
            continue
        reach = compute_pair_reach([span.off for span in usable], level)
        gaps = [span.find_gap(each) for span, each in zip(usable, reach, strict=True)]
        widest = max(range(len(gaps)), key=lambda number: gaps[number][0])
        value, low, high = (max(gap[part] for gap in gaps) for part in range(3))
        if kind != "ratio":
            high = max(high, _bound_unseen_rate(evaluation, groups, kind, estimates, j, level))
            high = min(high, max(each.high - each.low for each in metrics))
        else:
            value, low, high = np.exp(-value), np.exp(-high), np.exp(-low)
        chosen, span = metrics[widest], usable[widest]
        order = sorted(span.known, key=lambda g: compute_badness(float(span.values[g]), chosen))
        p_worst = p_raw = float("nan")
        draws = gather_group_draws(estimates[widest], j)
        if draws is not None:
            kept = [estimates[widest][g] for g in span.known]
            shares = compute_p_worst(draws[:, span.known], chosen, kept)
            record = find_worst_record(evaluation, chosen)
            place = span.known.index(order[0])
            p_raw = float(shares[place])
            p_worst = float(record.correct_shares("worst", shares)[place])
        yield Gap(
            text,
            model,
            kind,
            chosen.name,
            float(value),
            float(low),
            float(high),
            groups[order[0]].name,
            groups[order[-1]].name,
            p_worst,
            p_raw,
            len(span.known),
        )


def _bound_unseen_rate(
    evaluation: BaseEvaluation,
    groups: Sequence[Group],
    kind: str,
    estimates: Sequence[Sequence[Estimate]],
    j: int,
    level: float,
) -> float:
    """How large a rate may be of which no case was seen, in the group with the fewest cases."""
    posterior = evaluation.posterior
    target = evaluation.settings.get("group_target", "population")
    if posterior is None or target != "population":
        return 0.0
    if kind not in ("equal_opportunity", "equalized_odds"):
        return 0.0
    rates = [0.0]
    for of_metric, k in zip(estimates, (1, 0), strict=False):  # recall looks at class 1
        for group, estimate in zip(groups, of_metric, strict=True):
            draws = None if estimate.draws is None else estimate.draws[:, j]
            if draws is None or not np.isin(draws, (0.0, 1.0)).all() or np.ptp(draws) > 0.0:
                continue
            rows = number_rows(group.rows, evaluation.data.n_rows)
            cases = max(float(np.nansum(posterior[rows, k])), 1.0)
            rates.append(1.0 - (1.0 - level) ** (1.0 / cases))
    return max(rates)


@dataclass(frozen=True, eq=False)
class _Span:
    """Values (G,) of groups for one classifier; ``off`` (D, known) is how far draws are from them.

    ``scale`` are the values of the known groups on the scale on which differences are taken.
    """

    values: FloatArray
    known: list[int]
    scale: FloatArray
    off: FloatArray

    def find_gap(self, reach: FloatArray) -> tuple[float, float, float]:
        """Largest difference and its interval; ``reach`` (known, known) is c s of each pair."""
        apart = self.scale[:, None] - self.scale[None, :]
        low = float(np.maximum((apart - reach).max(), 0.0))
        return float(apart.max()), low, float((apart + reach).max())


def _measure_span(estimates: Sequence[Estimate], j: int, logs: bool) -> _Span | None:
    values = np.array([estimate.value[j] for estimate in estimates])
    known = np.flatnonzero(np.isfinite(values)).tolist()
    if len(known) < 2:
        return None
    draws = gather_group_draws(estimates, j)
    scale = values[known]
    off: FloatArray = np.full((1, len(known)), np.nan)
    if draws is not None:
        inside = draws[:, known]
        off = (_log(inside) - _log(scale)) if logs else inside - scale
    return _Span(values, known, _log(scale) if logs else scale, off)


def find_groupings(evaluation: BaseEvaluation, by: str | None) -> list[str]:
    found = list(dict.fromkeys(group.by for group in evaluation.groups[1:]))
    if not found:
        raise InputError(
            "no groups were evaluated",
            fix=f"name some with {argument('by')} or {argument('groups')}",
        )
    if by is None:
        return found
    if by not in found:
        raise InputError(f"{argument('by', by)} was not evaluated", allowed=", ".join(found))
    return [by]


def find_places(evaluation: BaseEvaluation, text: str, pooled: bool = False) -> list[int]:
    """Which groups belong to a grouping, those that were put together only where asked for."""
    return [
        g
        for g, group in enumerate(evaluation.groups)
        if g and group.by == text and (pooled or not group.pooled)
    ]


def _list_metrics_behind(evaluation: BaseEvaluation, kind: str) -> list[Metric]:
    """The metrics that a gap looks at."""
    if kind == "calibration":
        return [make_mean_bias(evaluation.data.n_classes)]
    if evaluation.data.n_classes != 2:
        raise UnsupportedError(
            f"the gap {kind!r} is not defined for {evaluation.data.n_classes} classes",
            allowed="two classes",
            fix="look at the difference in a metric of one class, such as its recall",
        )
    threshold = evaluation.settings.get("threshold")
    names = ["recall"] if kind == "equal_opportunity" else ["recall", "specificity"]
    return [get_metric(each, threshold=threshold) for each in names]


def estimate_further(
    evaluation: BaseEvaluation, metrics: Sequence[Metric], places: Sequence[int]
) -> list[list[Estimate]]:
    """Estimates [metric][group] of further metrics, from the belief that there is.

    They are what the table would have if the metrics had been asked for.

    Parameters
    ----------
    evaluation : Evaluation
        What was estimated so far.
    metrics : sequence of Metric
        Further metrics; those of the table are taken from it.
    places : sequence of int
        Numbers of the groups in ``evaluation.groups``: all of those of a grouping, which are
        estimated together.
    """
    n_classes = evaluation.data.n_classes
    refuse_without_order(evaluation.data, metrics)
    known = [
        [
            m
            for m, have in enumerate(evaluation.metrics)
            if is_same_metric(metric.kind, have.kind, n_classes)
        ]
        for metric in metrics
    ]
    if all(known):
        return [[evaluation.estimates[g][at[0]] for g in places] for at in known]
    if evaluation.streamed is not None:
        missing = [metric.name for metric, at in zip(metrics, known, strict=True) if not at]
        raise UnsupportedError(
            f"{', '.join(missing)} was not counted in this stream",
            allowed="gaps in metrics that were counted",
            fix=f"name it in {argument('metrics')}, or evaluate in memory",
        )
    groups = [("", None)] + [(evaluation.groups[g].by, evaluation.groups[g].rows) for g in places]
    estimates, _ = estimate_groups(
        evaluation.belief,
        evaluation.data,
        metrics,
        groups,
        target=evaluation.settings.get("group_target", "population"),
        seed=int(evaluation.settings.get("random_state") or 0),
    )
    return [[of_group[m] for of_group in estimates[1:]] for m in range(len(metrics))]


def make_mean_bias(n_classes: int) -> Metric:
    """Mean of outcome minus score: positive where a classifier says too little.

    With two classes of the positive one, with more of the predicted class.
    """

    def plan(scores: FloatArray) -> MetricPlan:
        if n_classes == 2:
            value = np.stack([-scores[:, :, 1], 1.0 - scores[:, :, 1]], axis=2)
        else:
            hit = predicted_classes(scores)[:, :, None] == np.arange(n_classes)
            value = hit - scores.max(axis=2)[:, :, None]
        return linear_plan(value)

    return Metric(
        "mean_bias",
        "Mean bias",
        plan,
        Loss(),
        low=-1.0,
        high=1.0,
        greater_is_better=None,
        definition="mean of outcome minus score",
        of_positive=True,
    )


def _log(values: FloatArray) -> FloatArray:
    out: FloatArray = np.log(np.maximum(values, LEAST))
    return out
