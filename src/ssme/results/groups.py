"""Groups of rows: how far they are apart, and which is the worst.

For groups g with estimates t_g and joint draws x_dg, let s_gh be the standard deviation of the
draws of a difference and c the quantile, over the draws, of the largest

    |(x_dg - x_dh) - (t_g - t_h)| / s_gh     over all pairs (g, h).

Then t_g - t_h +- c s_gh is true for all pairs at once with the wanted probability (Westfall and
Young, 1993), whichever pair is looked at for whatever reason, and so

    max - min      lies between  max (t_g - t_h - c s_gh)  and  max (t_g - t_h + c s_gh).

The largest of noisy differences is larger than the largest difference; this interval knows that,
quantiles of the draws of "max - min" would not. A ratio is the same on the scale of logarithms.
Pooled groups are left out. Differences between each group and all rows have intervals of the same
kind, so that the worst group may be picked out after looking.

Where a classifier never errs, or always, on the n cases of a group (its positives, say, none of
which it finds), all draws are the same number. That proves nothing about the people the rows
represent: a rate that was not seen in n cases may be as large as 1 - (1 - level)^(1/n), "three in
n" at 95%, and the interval of the gap reaches as far.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ssme.arrays import FloatArray
from ssme.errors import InputError, UnsupportedError
from ssme.methods.base import Estimate, GroupRows, number_rows, refuse_without_order
from ssme.metrics import get_metric
from ssme.metrics.base import Metric, MetricPlan
from ssme.metrics.confusion import linear_plan, predicted_classes
from ssme.metrics.kinds import Loss, is_same_metric
from ssme.results.comparison import compute_share_best, order_models
from ssme.results.group_estimates import estimate_groups
from ssme.results.reliability import Record
from ssme.results.table import Row, RowTable, compute_effective_labels
from ssme.schema import GAPS
from ssme.wording import quote

if TYPE_CHECKING:
    from ssme.results.evaluation import Evaluation

ALL = "all"
"""Name of the group that has every row."""
LEAST_LOG = 1e-6
"""Least value whose logarithm is taken."""
LEAST_SPREAD = 1e-9
"""Spread of draws below which they are taken to be the same number."""


@dataclass(frozen=True, eq=False)
class Group:
    """Rows evaluated together: all of them, or those with one value in a group column.

    Attributes
    ----------
    name : str
        ``"all"``, or what its rows have in common: ``sex=f``, ``30<=age<50``, ``sex=f & site=b``.
    rows : array of int, or None
        The numbers of the rows that belong to the group; None means all of them.
    n_labeled, n_unlabeled : int
        How many rows with and without a label the group has.
    by : str
        The grouping that it belongs to, such as ``age:quantiles=4``; empty for all rows.
    pooled : int
        How many groups, too small or too many to be reported on, are together in it.
    shrinkage : float
        Share of its estimates that comes from all rows rather than from its own labels: 1 for a
        group without labels; NaN where the method does not say.
    """

    name: str
    rows: GroupRows
    n_labeled: int
    n_unlabeled: int
    by: str = ""
    pooled: int = 0
    shrinkage: float = float("nan")


@dataclass(frozen=True, eq=False)
class StreamPass:
    """What a pass over files larger than memory counted.

    Attributes
    ----------
    n_rows, n_parts : int
        Rows counted, and parts of files they were read in.
    sample_rows : int
        Rows of the sample that the method was fitted to.
    error_bounds : mapping of group -> metric -> float
        The largest error that counting in bins can have caused.
    groups_without_sample : tuple of str
        Groups of which no row is in the sample; they have estimates and no intervals.
    """

    n_rows: int
    n_parts: int
    sample_rows: int
    error_bounds: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    groups_without_sample: tuple[str, ...] = ()


@dataclass(frozen=True)
class Gap(Row):
    """How far the groups of a grouping are apart for one classifier.

    ``gap`` is the kind, as `ssme.Evaluation.gaps` lists them. The interval is valid for all pairs
    of groups at once. ``worst`` and ``best`` are the groups with the worst and the best estimate
    (the lowest and the highest where neither way is better); ``p_worst``, the probability that
    ``worst`` is the worst group, is calibrated on benchmark sets where it was measured,
    ``p_worst_raw`` is from the draws alone.
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


class GapTable(
    RowTable,
    of=Gap,
    heading="gaps between groups with {0.level:.0%} intervals for all pairs of groups at once",
):
    """Gaps between groups: `Gap` in ``rows``, uncalibrated metrics in ``remarks``."""


@dataclass(frozen=True)
class GroupRank(Row):
    """One group among those of its grouping, for one classifier.

    The interval of the estimate is for this group alone, that of the difference from all rows is
    valid for all groups at once. ``p_worst`` is calibrated on benchmark sets where it was measured,
    ``p_worst_raw`` is from the draws alone. ``shrinkage`` and ``effective_labels`` are as in the
    table of the evaluation.
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
    shrinkage: float
    effective_labels: float


@dataclass(frozen=True, eq=False, repr=False)
class GroupRanking(
    RowTable,
    of=GroupRank,
    heading="{0.metric} by {0.by}, worst group first, {0.level:.0%} intervals; those of the "
    "difference from all rows hold for all groups at once",
):
    """Groups of one grouping: `GroupRank` in ``rows``, the worst estimate first."""

    by: str = ""
    metric: str = ""


def compute_gaps(
    evaluation: Evaluation, metric: str | None, by: str | None, kinds: Sequence[str], level: float
) -> GapTable:
    """The gaps of an evaluation; `ssme.Evaluation.gaps` says what they are."""
    kinds = list(dict.fromkeys(kinds))
    unknown = [kind for kind in kinds if kind not in GAPS]
    if unknown:
        must = f"be some of {', '.join(GAPS)}"
        raise InputError(option="kinds", value=unknown[0], must=must)
    rows = [
        gap
        for text in find_groupings(evaluation, by)
        for kind in kinds
        for gap in _find_gaps_of_kind(evaluation, text, kind, metric, level)
    ]
    known = {each.name: each for each in evaluation.metrics}
    p_worst = {row.metric: row.p_worst for row in rows if row.p_worst == row.p_worst}
    remarks = [
        remark
        for name, shown in p_worst.items()
        for remark in find_worst_record(evaluation, known.get(name, name)).list_remarks(
            "worst", shown
        )
    ]
    return GapTable(tuple(rows), level, evaluation.library, remarks=tuple(remarks))


def find_worst_record(evaluation: Evaluation, metric: Metric | str) -> Record:
    """What was measured of P(worst) of groups: for the population that their rows represent."""
    if isinstance(metric, str):
        return Record(evaluation.method, metric)
    if evaluation.settings.get("group_target", "population") != "population":
        return Record(evaluation.method, f"{metric.name} of the rows at hand")
    return evaluation.find_record(metric)


def _find_gaps_of_kind(
    evaluation: Evaluation, text: str, kind: str, metric: str | None, level: float
) -> Iterator[Gap]:
    places = find_places(evaluation, text)
    if kind not in ("difference", "ratio"):
        metrics = _list_metrics_behind(evaluation, kind)
        found = estimate_further(evaluation, metrics, places)
        yield from _find_gaps(evaluation, places, kind, metrics, found, level)
        return
    for m, chosen in enumerate(evaluation.metrics):
        wanted = metric is None or evaluation.metric_index(metric) == m
        if wanted and (kind == "difference" or chosen.low >= 0.0):
            estimates = [[evaluation.estimates[g][m] for g in places]]
            yield from _find_gaps(evaluation, places, kind, [chosen], estimates, level)


def _find_gaps(
    evaluation: Evaluation,
    places: Sequence[int],
    kind: str,
    metrics: Sequence[Metric],
    estimates: Sequence[Sequence[Estimate]],
    level: float,
) -> Iterator[Gap]:
    """One row per classifier; ``estimates`` [metric][group] are looked at together."""
    groups = [evaluation.groups[g] for g in places]
    for j, model in enumerate(evaluation.data.models):
        spans = [_measure_span(each, j, kind == "ratio") for each in estimates]
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
        corrected, raw = _measure_p_worst(evaluation, chosen, estimates[widest], j)
        yield Gap(
            by=groups[0].by,
            model=model,
            gap=kind,
            metric=chosen.name,
            estimate=float(value),
            low=float(low),
            high=float(high),
            worst=groups[order[0]].name,
            best=groups[order[-1]].name,
            p_worst=float(corrected[order[0]]),
            p_worst_raw=float(raw[order[0]]),
            n_groups=len(span.known),
        )


def _measure_p_worst(
    evaluation: Evaluation, metric: Metric, estimates: Sequence[Estimate], j: int
) -> tuple[FloatArray, FloatArray]:
    """P(worst) (G,) of each group, corrected and of the draws; NaN without a value or draws."""
    raw = np.full(len(estimates), np.nan)
    known = [g for g, estimate in enumerate(estimates) if np.isfinite(estimate.value[j])]
    draws = gather_group_draws(estimates, j)
    if draws is not None and known:
        raw[known] = compute_p_worst(draws[:, known], metric, [estimates[g] for g in known])
    return find_worst_record(evaluation, metric).correct_shares("worst", raw), raw


def _bound_unseen_rate(
    evaluation: Evaluation,
    groups: Sequence[Group],
    kind: str,
    estimates: Sequence[Sequence[Estimate]],
    j: int,
    level: float,
) -> float:
    """How large a rate may be of which no case was seen, in the group with the fewest cases."""
    posterior = evaluation.posterior
    target = evaluation.settings.get("group_target", "population")
    fairness = kind in ("equal_opportunity", "equalized_odds")
    if posterior is None or target != "population" or not fairness:
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
        difference = self.scale[:, None] - self.scale[None, :]
        low = float(np.maximum((difference - reach).max(), 0.0))
        return float(difference.max()), low, float((difference + reach).max())


def _measure_span(estimates: Sequence[Estimate], j: int, logs: bool) -> _Span | None:
    values = np.array([estimate.value[j] for estimate in estimates])
    known = np.flatnonzero(np.isfinite(values)).tolist()
    if len(known) < 2:
        return None
    draws = gather_group_draws(estimates, j)
    scale = _log(values[known]) if logs else values[known]
    off: FloatArray = np.full((1, len(known)), np.nan)
    if draws is not None:
        off = (_log(draws[:, known]) if logs else draws[:, known]) - scale
    return _Span(values, known, scale, off)


def _log(values: FloatArray) -> FloatArray:
    return np.log(np.maximum(values, LEAST_LOG))


def find_groupings(evaluation: Evaluation, by: str | None) -> list[str]:
    found = list(dict.fromkeys(group.by for group in evaluation.groups[1:]))
    if not found:
        hint = "name some with `by` or `groups`"
        raise InputError("no groups were evaluated", hint=hint)
    if by is None:
        return found
    if by not in found:
        raise InputError(option="by", value=by, must=f"be one of {quote(found)}")
    return [by]


def find_places(evaluation: Evaluation, text: str, pooled: bool = False) -> list[int]:
    """The positions of the groups of a grouping, pooled ones only where asked for."""
    return [
        g
        for g, group in enumerate(evaluation.groups)
        if g and group.by == text and (pooled or not group.pooled)
    ]


def _list_metrics_behind(evaluation: Evaluation, kind: str) -> list[Metric]:
    """The metrics that a gap looks at."""
    if kind == "calibration":
        return [make_mean_bias(evaluation.data.n_classes)]
    if evaluation.data.n_classes != 2:
        problem = f"the gap {kind!r} is not defined for {evaluation.data.n_classes} classes"
        hint = "look at the difference in a metric of one class, such as its recall"
        raise UnsupportedError(problem, hint=hint)
    threshold = evaluation.settings.get("threshold")
    names = ["recall"] if kind == "equal_opportunity" else ["recall", "specificity"]
    return [get_metric(each, threshold=threshold) for each in names]


def estimate_further(
    evaluation: Evaluation, metrics: Sequence[Metric], places: Sequence[int]
) -> list[list[Estimate]]:
    """Estimates [metric][group] of further metrics; ``places`` are all groups of a grouping."""
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
        problem = f"{', '.join(missing)} was not counted in this stream"
        raise UnsupportedError(problem, hint="name it in `metrics`, or evaluate in memory")
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
    """Mean of outcome minus score, of the positive one of two classes or the predicted one."""

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


def rank_groups(
    evaluation: Evaluation, metric: str | None, by: str | None, model: str | None, level: float
) -> GroupRanking:
    """The groups of one grouping, as `ssme.Evaluation.worst_groups` describes them."""
    m, texts = evaluation.metric_index(metric), find_groupings(evaluation, by)
    if len(texts) > 1:
        hint = f"name one of {quote(texts)} with `by`"
        raise InputError(f"{len(texts)} groupings were evaluated", hint=hint)
    chosen, whole = evaluation.metrics[m], evaluation.estimates[0][m]
    j = (
        int(order_by_estimate(evaluation, evaluation.metrics[m].name)[0])
        if model is None
        else evaluation.model_index(model)
    )
    places = find_places(evaluation, texts[0], pooled=True)
    estimates = [evaluation.estimates[g][m] for g in places]
    values = np.array([estimate.value[j] for estimate in estimates])
    low, high = np.array([each.interval(level) for each in estimates])[:, :, j].T
    difference = values - whole.value[j]
    draws = gather_group_draws(estimates, j)
    reach, known = np.full(values.size, np.nan), np.isfinite(values)
    if draws is not None and known.any():
        off = draws[:, known] - values[known]
        if whole.draws is not None:
            off = off - (whole.draws[:, j] - whole.value[j])[:, None]
        reach[known] = compute_joint_reach(off, level)
    p_worst = _measure_p_worst(evaluation, chosen, estimates, j)
    columns = [values, low, high, difference, difference - reach, difference + reach, *p_worst]
    alone_low, alone_high = (end[j] for end in evaluation.labels_only[0][m].interval(level))
    ranks = []
    for g, numbers in zip(places, np.stack(columns, axis=1).tolist(), strict=True):
        group, width = evaluation.groups[g], numbers[2] - numbers[1]
        evidence = compute_effective_labels(
            evaluation.n_random_labels, alone_high - alone_low, width
        )
        counts = group.n_labeled, group.n_unlabeled, group.shrinkage, evidence
        row = (group.name, evaluation.data.models[j], *numbers, *counts)
        ranks.append(GroupRank(*row))
    ranks.sort(key=lambda rank: compute_badness(rank.estimate, chosen))
    return GroupRanking(
        tuple(ranks),
        level,
        evaluation.library,
        texts[0],
        chosen.name,
        remarks=tuple(find_worst_record(evaluation, chosen).list_remarks("worst", p_worst[1])),
    )


def order_groups(evaluation: Evaluation, metric: str) -> list[str]:
    """Names of all groups, worst first by the model with the best estimate on all rows."""
    m = evaluation.metric_index(metric)
    chosen = evaluation.metrics[m]
    j = int(order_by_estimate(evaluation, evaluation.metrics[m].name)[0])
    values = {
        group.name: compute_badness(float(estimates[m].value[j]), chosen)
        for group, estimates in zip(evaluation.groups[1:], evaluation.estimates[1:], strict=True)
    }
    return sorted(values, key=lambda name: values[name])


def order_by_estimate(evaluation: Evaluation, metric: str, group: str = ALL) -> NDArray[np.intp]:
    """Places (M,) of the models by their estimates, best first, undefined ones last."""
    upwards = evaluation.find_metric(metric).greater_is_better is not False
    return order_models(evaluation.data.models, evaluation.estimate(metric, group).value, upwards)


# -------------------------------------------------------------------------------------------------
# Intervals for several groups at once, from their joint draws.


def compute_pair_reach(
    offs: Sequence[FloatArray], level: float, most_paired: int = 100
) -> list[FloatArray]:
    """c s (G, G) of every pair of groups, c being the same for all ``offs`` (D, G).

    Of more than ``most_paired`` groups not every pair is looked at: the spreads of both are added.
    """
    spreads, largest = [], []
    for off in offs:
        if np.isnan(off).any():
            return [np.full((each.shape[1], each.shape[1]), np.nan) for each in offs]
        n_groups = off.shape[1]
        if n_groups > most_paired:
            alone = off.std(axis=0)
            spreads.append(alone[:, None] + alone[None, :])
            largest.append((np.abs(off) / np.where(alone > 0.0, alone, np.inf)).max(axis=1))
            continue
        center = off - off.mean(axis=0)
        covariance = center.T @ center / len(off)
        variance = np.diag(covariance)
        spread = np.sqrt(np.maximum(variance[:, None] + variance[None, :] - 2.0 * covariance, 0.0))
        spread = np.where(spread > LEAST_SPREAD, spread, 0.0)
        inverse = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0.0)
        top = [(np.abs(row[:, None] - row[None, :]) * inverse).max() for row in off]
        spreads.append(spread)
        largest.append(np.array(top))
    c = float(np.quantile(np.max(largest, axis=0), level))
    return [c * spread for spread in spreads]


def compute_joint_reach(off: FloatArray, level: float) -> FloatArray:
    """c s (G,) of groups whose draws are ``off`` (D, G) from their values, all at once."""
    spread = off.std(axis=0)
    ratio = np.abs(off) * np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0.0)
    return float(np.quantile(ratio.max(axis=1), level)) * spread


def gather_group_draws(estimates: Sequence[Estimate], j: int) -> FloatArray | None:
    """Draws (D, G) of classifier ``j``, undefined ones at the value; None where one has none."""
    sizes = {len(each.draws) for each in estimates if each.draws is not None}
    if len(sizes) != 1 or any(e.draws is None and np.isfinite(e.value[j]) for e in estimates):
        return None
    out: FloatArray = np.full((sizes.pop(), len(estimates)), np.nan)
    for g, estimate in enumerate(estimates):
        if estimate.draws is not None:
            column = estimate.draws[:, j]
            out[:, g] = np.where(np.isfinite(column), column, estimate.value[j])
    return out


def compute_p_worst(draws: FloatArray, metric: Metric, estimates: Sequence[Estimate]) -> FloatArray:
    """P(worst) (G,) from ``draws`` (D, G) of groups with ``estimates``, ties shared.

    Among three groups or more, shares of draws are taken to the mean of the exponents of the
    estimates (`Estimate.worst_exponent`): the group that looks worst does so by luck, or by what
    all draws have in common, more often than they can tell.
    """
    share = compute_share_best(draws, greater_is_better=metric.greater_is_better is False)
    if len(estimates) > 2:
        share = share ** np.mean([estimate.worst_exponent for estimate in estimates])
    return share / share.sum()


def compute_badness(value: float, metric: Metric) -> float:
    """A number that is smallest for the worst group; undefined values come last."""
    if value != value:
        return float("inf")
    return -value if metric.greater_is_better is False else value
