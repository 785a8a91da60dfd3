"""Which classifier is better, by how much, how surely: read off the joint draws.

Draw d holds one state of the world for every classifier, so with draws (D, M)

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

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from html import escape
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ssme.methods.base import Estimate
from ssme.metrics.base import FloatArray
from ssme.results.frames import build_frame, render_frame_html, render_frame_text
from ssme.results.reliability import UNMEASURED, Record
from ssme.wording import make_printable

__all__ = [
    "Comparison",
    "Difference",
    "ModelRanking",
    "OneModel",
    "Rank",
    "RowTable",
    "compare_two",
    "compute_probability_best",
    "compute_probability_better",
    "compute_ranks",
    "compute_share_best",
    "draw_towards",
    "rank_models",
]


@dataclass(frozen=True, eq=False)
class OneModel:
    """One classifier's part of an `Estimate`: value and draws (D,), or without them interval.

    ``pair_factor`` is that of the estimate.
    """

    value: float
    low: float
    high: float
    draws: FloatArray | None
    pair_factor: float = 1.0

    @classmethod
    def of(cls, estimate: Estimate, j: int, level: float) -> OneModel:
        value = float(estimate.value[j])
        if estimate.draws is not None:
            nothing = float("nan")
            return cls(value, nothing, nothing, estimate.draws[:, j], estimate.pair_factor)
        low, high = estimate.interval(level)
        return cls(value, float(low[j]), float(high[j]), None)


@dataclass(frozen=True)
class Difference:
    """``a`` minus ``b``: two classifiers on one group, or one classifier on two groups.

    Attributes
    ----------
    metric, a, b : str
        What is compared. ``a`` and ``b`` are classifiers, or groups where groups are compared.
    where : str
        The group on which classifiers are compared, or the classifier that is compared on groups.
    estimate_a, estimate_b, difference : float
        The two estimates, and the first minus the second.
    low, high : float
        The interval of the difference; NaN where the method gives none.
    p_better, p_better_raw : float
        Probability that ``a`` is better, calibrated on benchmark sets where it was measured, and
        as the draws have it; NaN where the method gives no draws or the metric has no better
        direction.
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
class Rank:
    """One classifier's place among all.

    Attributes
    ----------
    model : str
        The classifier.
    estimate, low, high : float
        Its metric and the interval.
    p_best, p_best_raw : float
        Probability that it is the best of all, calibrated on benchmark sets where it was measured,
        and as the draws have it; NaN where the method gives no draws.
    expected_rank, rank_low, rank_high : float
        Its mean rank over the draws and the interval of the rank; 1 is best.
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


@dataclass(frozen=True, eq=False, repr=False)
class RowTable(ABC):
    """Rows of one dataclass, shown as a table.

    ``level`` is the coverage of the intervals, ``library`` that of the frame that `frame` gives;
    ``remarks`` are sentences below the table.
    """

    rows: tuple[Any, ...]
    level: float
    library: str
    kind: ClassVar[Any]
    remarks: tuple[str, ...] = field(default=(), kw_only=True)

    def frame(self, library: str | None = None) -> Any:
        """The rows as a frame.

        Parameters
        ----------
        library : {"pandas", "polars", "pyarrow"}, optional
            Library of the frame (default: the one that the scores came in).
        """
        return build_frame(self._make_columns(), library or self.library)

    def _make_columns(self) -> dict[str, list[Any]]:
        names = [column.name for column in fields(self.kind)]
        return {name: [getattr(row, name) for row in self.rows] for name in names}

    def _list_shown(self) -> dict[str, list[Any]]:
        """The columns that print and a notebook show: one probability for each event."""
        return {k: v for k, v in self._make_columns().items() if not k.endswith("_raw")}

    @abstractmethod
    def _write_head(self) -> str:
        """One line above the table."""

    def __repr__(self) -> str:
        parts = [make_printable(self._write_head()), render_frame_text(self._list_shown())]
        return "\n".join([*parts, *map(make_printable, self.remarks)])

    def _repr_html_(self) -> str:
        told = "".join(f"<p>{escape(make_printable(remark))}</p>" for remark in self.remarks)
        head = escape(make_printable(self._write_head()))
        return f"<p>{head}</p>{render_frame_html(self._list_shown())}{told}"

    def __len__(self) -> int:
        return len(self.rows)


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(RowTable):
    """Paired differences of classifiers, as `ssme.Evaluation.compare` gives them.

    Attributes
    ----------
    rows : tuple of Difference
        One per pair and metric.
    level : float
        Coverage of the intervals.
    library : str
        Library of the frame that ``frame()`` gives.
    remarks : tuple of str
        For which metrics ``p_better`` is not calibrated.
    """

    kind: ClassVar[Any] = Difference
    rows: tuple[Difference, ...]
    library: str = "pandas"

    def _write_head(self) -> str:
        return (
            f"a minus b with {self.level:.0%} intervals; p_better: probability that a is better "
            "than b"
        )


@dataclass(frozen=True, eq=False, repr=False)
class ModelRanking(RowTable):
    """All classifiers by one metric, as `ssme.Evaluation.ranking` gives them.

    Attributes
    ----------
    rows : tuple of Rank
        One per classifier, the best estimate first.
    level : float
        Coverage of the intervals.
    library : str
        Library of the frame that ``frame()`` gives.
    metric, where : str
        The metric, and the group it was estimated on.
    remarks : tuple of str
        That ``p_best`` is not calibrated, where nothing was measured.
    """

    kind: ClassVar[Any] = Rank
    rows: tuple[Rank, ...]
    metric: str
    where: str

    def _write_head(self) -> str:
        return (
            f"ranking by {self.metric} on {self.where!r}, {self.level:.0%} intervals; "
            "p_best: probability of being the best"
        )


def compare_two(
    names: tuple[str, str],
    one: OneModel,
    two: OneModel,
    *,
    metric: str,
    where: str,
    greater_is_better: bool | None,
    level: float,
    record: Record = UNMEASURED,
    same_rows: bool = True,
) -> Difference:
    """``one`` minus ``two``, and what their paired draws say about it.

    ``same_rows`` tells two classifiers on one group from one classifier on two groups, to which
    the factor of pairs does not apply. ``record`` corrects the probability.
    """
    gap = one.value - two.value
    low = high = better = float("nan")
    if one.draws is not None and two.draws is not None:
        paired = one.draws - two.draws
        paired = paired[np.isfinite(paired)]
        if paired.size and np.isfinite(gap):
            tail = (1.0 - level) / 2.0
            ends = np.quantile(paired, [tail, 1.0 - tail])
            low, high = min(float(ends[0]), gap), max(float(ends[1]), gap)
            factor = one.pair_factor if same_rows else 1.0
            better = _compute_share_better(paired, greater_is_better, gap, factor)
    else:
        low = gap - float(np.hypot(one.value - one.low, two.high - two.value))
        high = gap + float(np.hypot(one.high - one.value, two.value - two.low))
    corrected = float(record.correct("better", better))
    ends_and_p = (low, high, corrected, better)
    return Difference(metric, *names, where, one.value, two.value, gap, *ends_and_p)


def compute_probability_better(estimate: Estimate, greater_is_better: bool) -> FloatArray:
    """P(a better than b) (M, M) by an estimate that has draws; 1/2 on the diagonal."""
    value, draws, factor = estimate.value, estimate.draws, estimate.pair_factor
    if draws is None:
        raise ValueError("an estimate without draws has no probabilities")
    n_models = draws.shape[1]
    out: FloatArray = np.full((n_models, n_models), np.nan)
    for a in range(n_models):
        for b in range(a, n_models):
            paired = draws[:, a] - draws[:, b]
            paired = paired[np.isfinite(paired)]
            if paired.size:
                gap = float(value[a] - value[b])
                out[a, b] = _compute_share_better(paired, greater_is_better, gap, factor)
                out[b, a] = 1.0 - out[a, b]
    return out


def compute_ranks(draws: FloatArray, greater_is_better: bool) -> FloatArray:
    """Rank (D, M) of each classifier in each draw, 1 for the best, ties sharing their mean."""
    cost = -draws if greater_is_better else draws
    below = np.empty_like(cost)
    upto = np.empty_like(cost)
    for d, row in enumerate(cost):
        ordered = np.sort(row)
        below[d] = np.searchsorted(ordered, row, side="left")
        upto[d] = np.searchsorted(ordered, row, side="right")
    out: FloatArray = (below + 1.0 + upto) / 2.0
    return out


def draw_towards(estimate: Estimate) -> FloatArray:
    """The draws (D, M) of an estimate, drawn towards its values by the factor of pairs."""
    if estimate.draws is None:
        raise ValueError("an estimate without draws has no probabilities")
    if estimate.pair_factor == 1.0:
        return estimate.draws
    out: FloatArray = estimate.value + estimate.pair_factor * (estimate.draws - estimate.value)
    return out


def compute_probability_best(estimate: Estimate, greater_is_better: bool) -> FloatArray:
    """P(best) (M,) by an estimate that has draws; NaN for classifiers without a value."""
    draws = draw_towards(estimate)
    known: NDArray[np.bool_] = np.isfinite(estimate.value) & np.isfinite(draws).any(axis=0)
    draws = draws[:, known]
    draws = draws[np.isfinite(draws).all(axis=1)]
    out: FloatArray = np.full(known.size, np.nan)
    if draws.size:
        power = compute_share_best(draws, greater_is_better) ** estimate.best_exponent
        out[known] = power / power.sum()
    return out


def compute_share_best(draws: FloatArray, greater_is_better: bool) -> FloatArray:
    """Share (M,) of ``draws`` (D, M) in which each is the best, a tie being shared."""
    best = draws == (draws.max if greater_is_better else draws.min)(axis=1, keepdims=True)
    out: FloatArray = (best / best.sum(axis=1, keepdims=True)).mean(axis=0)
    return out


def rank_models(
    models: Sequence[str],
    estimate: Estimate,
    *,
    metric: str,
    where: str,
    greater_is_better: bool,
    level: float,
    record: Record = UNMEASURED,
    library: str = "pandas",
) -> ModelRanking:
    """All ``models`` by their ``estimate``, best first; undefined ones last and without a rank.

    ``record`` corrects P(best). Rank intervals are the ranks at the tails of the draws, so they are
    ranks that occurred.
    """
    value = estimate.value
    low, high = estimate.interval(level)
    best, expected, first, last = (np.full(value.size, np.nan) for _ in range(4))
    if estimate.draws is not None:
        known: NDArray[np.bool_] = np.isfinite(value) & np.isfinite(estimate.draws).any(axis=0)
        draws = estimate.draws[:, known]
        draws = draws[np.isfinite(draws).all(axis=1)]
        if draws.size:
            places = compute_ranks(draws, greater_is_better)
            tails = [(1.0 - level) / 2.0, (1.0 + level) / 2.0]
            first[known], last[known] = np.quantile(places, tails, axis=0, method="inverted_cdf")
            expected[known] = places.mean(axis=0)
        best = compute_probability_best(estimate, greater_is_better)
    order = np.argsort(-value if greater_is_better else value, kind="stable")
    columns = (value, low, high, record.correct_shares("best", best), best, expected, first, last)
    rows = tuple(Rank(models[j], *(float(column[j]) for column in columns)) for j in order)
    remark = record.describe("best") if np.isfinite(best).any() else ""
    remarks = (remark,) if remark else ()
    return ModelRanking(rows, level, library, metric, where, remarks=remarks)


def _compute_share_better(
    paired: FloatArray, greater_is_better: bool | None, gap: float, factor: float
) -> float:
    """Share of differences in a's favor, ties counted half; NaN where no direction is better.

    Differences are drawn towards ``gap`` by ``factor`` first.
    """
    if greater_is_better is None:
        return float("nan")
    if factor != 1.0:
        paired = gap + factor * (paired - gap)
    wins = (paired > 0.0).mean() + 0.5 * (paired == 0.0).mean()
    return float(wins if greater_is_better else 1.0 - wins)
