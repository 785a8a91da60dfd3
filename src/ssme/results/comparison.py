"""Which classifier is better, by how much, how surely: read off the joint draws.

Draw d is one state of the world for every classifier, so with draws (D, M)

    difference of a and b      quantiles of draws[:, a] - draws[:, b]
    rank of a                  quantiles of its rank in the draws
    P(a better than b)         share of the draws v + f (draw - v) in which a is better, ties
                               counted half; v are the estimates
    P(a best)                  share of the same draws in which a is the best of all, ties shared,
                               to a power e, scaled to the sum one

Both are then corrected by how often such probabilities were true (`ssme.results.reliability`);
``p_better_raw`` and ``p_best_raw`` are without that correction.

The factor f and the exponent e belong to the estimate (`Estimate.pair_factor`, `best_exponent`);
both are one unless the method says otherwise, and for one classifier on two groups. Then P(best) is
never larger than P(better) against any other one; with an exponent below one it may be by a little.

The reported difference is that of the two estimates in the table, always inside its interval.
Paired differences are much narrower than two intervals side by side suggest, because all
classifiers meet the same rows and labels. A method that gives intervals and no draws gets the two
intervals combined as if independent (Newcombe, Statistics in Medicine 17, 1998), which is wider
than need be where classifiers agree, and no probabilities.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ssme.arrays import BoolArray, FloatArray, IntArray
from ssme.errors import InputError
from ssme.methods.base import Estimate
from ssme.metrics.base import Metric
from ssme.results import reliability, table
from ssme.wording import quote

if TYPE_CHECKING:
    from ssme.results.evaluation import Evaluation

PAIRS_AT_ONCE = 1024
"""Pairs whose draws are held in memory together."""


@dataclass(frozen=True)
class Difference(table.Row):
    """``a`` minus ``b``: two classifiers on one group, or one classifier on two groups.

    ``where`` is the group on which classifiers are compared, or the classifier that is compared on
    groups. The interval of the difference is NaN where the method gives none. ``p_better`` is
    calibrated on benchmark sets where it was measured, ``p_better_raw`` is from the draws alone;
    both are NaN without draws or where the metric has no better direction.
    """

    metric: str
    a: str
    b: str
    where: str
    estimate_a: float
    estimate_b: float
    difference: float
    low: float
    high: float
    p_better: float
    p_better_raw: float


@dataclass(frozen=True)
class Rank(table.Row):
    """One classifier among all, with intervals of its estimate and of its rank; 1 is best.

    ``p_best``, the probability of being the best of all, is calibrated on benchmark sets where it
    was measured, ``p_best_raw`` is from the draws alone; both are NaN without draws.
    """

    model: str
    estimate: float
    low: float
    high: float
    p_best: float
    p_best_raw: float
    expected_rank: float
    rank_low: float
    rank_high: float


class Comparison(
    table.RowTable,
    of=Difference,
    heading="a minus b with {0.level:.0%} intervals; p_better: probability that a is better than b",
):
    """Differences of pairs: `Difference` in ``rows``, uncalibrated metrics in ``remarks``."""


@dataclass(frozen=True, eq=False, repr=False)
class ModelRanking(
    table.RowTable,
    of=Rank,
    heading="ranking by {0.metric} on {0.where!r}, {0.level:.0%} intervals; "
    "p_best: probability of being the best",
):
    """All classifiers by one metric on the group ``where``: `Rank` in ``rows``, best first."""

    metric: str = ""
    where: str = ""


def compare_models(
    evaluation: Evaluation,
    metric: str | None,
    a: str | None,
    b: str | None,
    *,
    group: str,
    groups: tuple[str, str] | None,
    level: float,
) -> Comparison:
    """The differences that `ssme.Evaluation.compare` describes."""
    rows: list[Difference] = []
    remarks: list[str] = []
    wanted = evaluation.metrics if metric is None else [evaluation.find_metric(metric)]
    models = evaluation.data.models
    if groups is None:
        ends = (group, group)
        pairs = _list_pairs(models, a, b)
        names = [(one, two, group) for one, two in pairs]
    else:
        ends = groups
        pairs = [(model, model) for model in ([a] if a is not None else models)]
        names = [(*groups, model) for model, _ in pairs]
    first, second = (
        np.array([evaluation.model_index(m) for m in side], dtype=int)
        for side in (zip(*pairs, strict=True) if pairs else ((), ()))
    )
    for each in wanted:
        record = evaluation.find_record(each, " and ".join(dict.fromkeys(ends)))
        one, two = (evaluation.estimate(each.name, name) for name in ends)
        before = len(rows)
        for start in range(0, len(pairs), PAIRS_AT_ONCE):
            part = slice(start, start + PAIRS_AT_ONCE)
            numbers = compare_estimates(
                one, two, first[part], second[part], each, level, record, groups is None
            )
            rows += [
                Difference(each.name, *name, *column)
                for name, column in zip(names[part], numbers.T.tolist(), strict=True)
            ]
        remarks += record.list_remarks("better", [row.p_better for row in rows[before:]])
    return Comparison(tuple(rows), level, evaluation.library, remarks=tuple(remarks))


def _list_pairs(models: Sequence[str], a: str | None, b: str | None) -> list[tuple[str, str]]:
    if a is None and b is not None:
        raise InputError("a was not given", option="b", hint="name both, a alone, or neither")
    if a is None:
        return list(combinations(models, 2))
    if a == b:
        raise InputError(f"a and b are both {a!r}", hint=f"name two of {quote(models)}")
    return [(a, two) for two in ((b,) if b is not None else models) if two != a]


def compare_estimates(
    one: Estimate,
    two: Estimate,
    first: IntArray,
    second: IntArray,
    metric: Metric,
    level: float,
    record: reliability.Record = reliability.UNMEASURED,
    same_rows: bool = True,
) -> FloatArray:
    """Numbers (7, P) of `Difference` for classifiers ``first`` of one and ``second`` of two (P,).

    ``same_rows`` distinguishes two classifiers on one group from one classifier on two groups, to
    which the factor of pairs does not apply.
    """
    a, b = one.value[first], two.value[second]
    gap = a - b
    better = np.full(gap.shape, np.nan)
    if one.draws is not None and two.draws is not None:
        paired = one.draws[:, first] - two.draws[:, second]
        low, high = Estimate(gap, paired).interval(level)
        if metric.greater_is_better is not None:
            factor = one.pair_factor if same_rows else 1.0
            better = _compute_share_better(paired, gap, factor, metric.greater_is_better)
    else:
        (low_a, high_a), (low_b, high_b) = (each.interval(level) for each in (one, two))
        low = gap - np.hypot(a - low_a[first], high_b[second] - b)
        high = gap + np.hypot(high_a[first] - a, b - low_b[second])
    return np.stack([a, b, gap, low, high, record.correct("better", better), better])


def _compute_share_better(
    paired: FloatArray, gap: FloatArray, factor: float, greater_is_better: bool
) -> FloatArray:
    """Share (P,) of the differences ``paired`` (D, P) in a's favor, ties counted half.

    Differences are drawn towards ``gap`` (P,) by ``factor`` first; undefined ones do not count.
    """
    if factor != 1.0:
        paired = gap + factor * (paired - gap)
    count = np.isfinite(paired).sum(axis=0)
    size = np.where((count > 0) & np.isfinite(gap), count, np.nan)
    wins = (paired > 0.0).sum(axis=0) / size + 0.5 * ((paired == 0.0).sum(axis=0) / size)
    return wins if greater_is_better else 1.0 - wins


def compute_probability_better(estimate: Estimate, greater_is_better: bool) -> FloatArray:
    """P(a better than b) (M, M) by an estimate that has draws; 1/2 on the diagonal."""
    assert estimate.draws is not None
    draws = estimate.draws
    first, second = np.triu_indices(draws.shape[1])
    out: FloatArray = np.full((draws.shape[1],) * 2, np.nan)
    gap = estimate.value[first] - estimate.value[second]
    paired = draws[:, first] - draws[:, second]
    better = _compute_share_better(paired, gap, estimate.pair_factor, greater_is_better)
    out[second, first] = 1.0 - better
    out[first, second] = better
    return out


def compute_ranks(draws: FloatArray, greater_is_better: bool) -> FloatArray:
    """Rank (D, M) of each classifier in each draw, 1 for the best, ties sharing their mean.

    `scipy.stats.rankdata` would import all of scipy.stats.
    """
    order = np.argsort(-draws if greater_is_better else draws, axis=1)
    ordered = np.take_along_axis(draws, order, axis=1)
    place = np.arange(draws.shape[1])
    starts = np.ones(draws.shape, dtype=bool)
    starts[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    ends = np.roll(starts, -1, axis=1)
    first = np.maximum.accumulate(np.where(starts, place, 0), axis=1)
    last = np.minimum.accumulate(np.where(ends, place, len(place))[:, ::-1], axis=1)[:, ::-1]
    out = np.empty_like(draws)
    np.put_along_axis(out, order, (first + last) / 2.0 + 1.0, axis=1)
    return out


def draw_towards(estimate: Estimate) -> FloatArray:
    """The draws (D, M) of an estimate, drawn towards its values by the factor of pairs."""
    assert estimate.draws is not None
    if estimate.pair_factor == 1.0:
        return estimate.draws
    return estimate.value + estimate.pair_factor * (estimate.draws - estimate.value)


def complete_draws(value: FloatArray, draws: FloatArray) -> tuple[FloatArray, BoolArray]:
    """Draws in which every defined classifier has a value, and which (M,) are defined."""
    known = np.isfinite(value) & np.isfinite(draws).any(axis=0)
    shown = draws[:, known]
    return shown[np.isfinite(shown).all(axis=1)], known


def compute_probability_best(estimate: Estimate, greater_is_better: bool) -> FloatArray:
    """P(best) (M,) by an estimate that has draws; NaN for classifiers without a value."""
    draws, known = complete_draws(estimate.value, draw_towards(estimate))
    out: FloatArray = np.full(known.size, np.nan)
    if draws.size:
        power = compute_share_best(draws, greater_is_better) ** estimate.best_exponent
        out[known] = power / power.sum()
    return out


def compute_share_best(draws: FloatArray, greater_is_better: bool) -> FloatArray:
    """Share (M,) of ``draws`` (D, M) in which each is the best, a tie being shared."""
    best = draws == (draws.max if greater_is_better else draws.min)(axis=1, keepdims=True)
    return (best / best.sum(axis=1, keepdims=True)).mean(axis=0)


def require_direction(metric: Metric) -> bool:
    """Whether greater is better; an error where the metric has no better direction."""
    if metric.greater_is_better is None:
        problem = f"metric {metric.name!r} does not say whether greater is better"
        raise InputError(problem, hint="make it with `greater_is_better=True` or False")
    return metric.greater_is_better


def order_models(models: Sequence[str], value: FloatArray, upwards: bool) -> NDArray[np.intp]:
    """Places (M,) of the models, best first and undefined ones last; equal ones by their names.

    Values that differ by rounding are equal: the order of rows and models must not decide.
    """
    names = np.argsort(np.argsort(np.array(models, dtype=str)))
    return np.lexsort((names, np.round(-value if upwards else value, 12)))


def rank_models(
    models: Sequence[str],
    metric: Metric,
    estimate: Estimate,
    *,
    where: str,
    level: float,
    record: reliability.Record = reliability.UNMEASURED,
    library: str = "pandas",
) -> ModelRanking:
    """All ``models`` by their ``estimate``, best first; undefined ones last and without a rank.

    Rank intervals are the ranks at the tails of the draws, so they are ranks that occurred.
    """
    upwards = require_direction(metric)
    value = estimate.value
    best, expected, first, last = (np.full(value.size, np.nan) for _ in range(4))
    if estimate.draws is not None:
        draws, known = complete_draws(value, estimate.draws)
        if draws.size:
            places = compute_ranks(draws, upwards)
            tails = [(1.0 - level) / 2.0, (1.0 + level) / 2.0]
            first[known], last[known] = np.quantile(places, tails, axis=0, method="inverted_cdf")
            expected[known] = places.mean(axis=0)
        best = compute_probability_best(estimate, upwards)
    order = order_models(models, value, upwards)
    corrected = record.correct_shares("best", best)
    columns: list[Any] = [value, *estimate.interval(level), corrected, best, expected, first, last]
    numbers = np.stack(columns, axis=1).tolist()
    rows = tuple(Rank(models[j], *numbers[j]) for j in order)
    remarks = tuple(record.list_remarks("best", best))
    return ModelRanking(rows, level, library, metric.name, where, remarks=remarks)
