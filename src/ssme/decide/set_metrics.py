"""What can be counted of a set of classifiers: metrics of the whole set, not of each of them.

Let row i be wrong for classifier j where its predicted class is not the true one, and W_i the
number of classifiers that are wrong on it. Each of these is a function of the rows' mass, so each
is estimated by the method itself, with its draws, as any metric is:

    error of j, joint error of j and l         shares of rows on which j is, j and l both are wrong
    error correlation of j and l               correlation of the two indicators of being wrong
    all wrong, all right, P(W = w)             shares of rows
    vote                                       share of rows whose most frequent prediction is right
    if independent                             prod_j (error of j): all wrong, if errors had nothing
                                               to do with each other
    effective number                           M / (1 + (M - 1) mean correlation): so many
                                               independent classifiers have a mean error that varies
                                               as much (Kish's design effect)

Adding classifiers. Over all subsets of m of the M classifiers, the mean share of rows on which all
m are wrong is a_m = sum_w P(W = w) C(w, m) / C(M, m). With r_m = a_m / a_(m-1), the chance that one
more is wrong where m - 1 all are, 1 / (1 - r_m) grows linearly in m if chances of being wrong are
Beta distributed over rows. The last two values are extended by one step to r_(M+1):

    all wrong with one more = a_M r_(M+1).

It is what another classifier *like these* would give, trained as they were; not one that is made to
differ. Only rows that every classifier scored count.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.typing import NDArray

from ssme.metrics.base import FloatArray, Metric, MetricPlan
from ssme.metrics.confusion import predicted_classes
from ssme.metrics.kinds import Custom, Kind, LabelsInterval, RowSharesInterval

__all__ = ["OneByOneError", "RowShares", "SetSums", "list_pairs", "make_set_metrics"]

NEARLY_ONE = 1.0 - 1e-9


def list_pairs(n_models: int) -> list[tuple[int, int]]:
    """All pairs of different classifiers, by their numbers."""
    return [(a, b) for a in range(n_models) for b in range(a + 1, n_models)]


class RowShares(Custom):
    """Metrics of a set whose values are shares of rows."""

    def choose_labels_interval(self, n_classes: int) -> LabelsInterval:
        return RowSharesInterval()


class OneByOneError(Exception):
    """A method asked for the set with one classifier at a time."""


@dataclass(frozen=True, eq=False)
class SetSums:
    """Linear sums over the complete rows: P(W = w), errors, joint errors, and right votes."""

    n_models: int
    counts: FloatArray
    errors: FloatArray
    both: FloatArray
    vote: FloatArray


Reading = Callable[[SetSums], FloatArray]
"""Sums of D labelings -> values (D, V)."""


def make_set_metrics(n_models: int, threshold: float) -> dict[str, Metric]:
    """The metrics of a set of ``n_models``, by what they read."""
    shares, other = RowShares(), Custom()
    readings: dict[str, tuple[Reading, Kind, float, float, bool | None]] = {
        "shares": (lambda sums: sums.counts, shares, 0.0, 1.0, None),
        "both": (lambda sums: sums.both, shares, 0.0, 1.0, None),
        "vote": (lambda sums: sums.vote, shares, 0.0, 1.0, True),
        "apart": (lambda sums: sums.errors.prod(axis=1, keepdims=True), other, 0.0, 1.0, None),
        "correlations": (_compute_correlations, other, -1.0, 1.0, None),
        "number": (_compute_effective_number, other, 1.0, float(n_models), None),
        "more": (_extrapolate_one_more, other, 0.0, 1.0, None),
    }

    def make(
        name: str, reading: Reading, kind: Kind, low: float, high: float, better: bool | None
    ) -> Metric:
        def plan(scores: FloatArray) -> MetricPlan:
            if scores.shape[1] != n_models:
                raise OneByOneError
            sums = _plan_sums(scores, threshold)
            return lambda mass: reading(sums(mass))

        return Metric(name, name, plan, kind, low, high, greater_is_better=better, of_set=True)

    return {name: make(name, *of) for name, of in readings.items()}


def _plan_sums(scores: FloatArray, threshold: float) -> Callable[[FloatArray], SetSums]:
    """Prepare the sums over rows of ``scores`` (n, M, K) for any mass (D, n, K)."""
    n_models, n_classes = scores.shape[1:]
    complete = np.isfinite(scores).all(axis=(1, 2))
    predicted = predicted_classes(scores[complete], threshold)
    wrong = predicted[:, :, None] != np.arange(n_classes)  # (r, M, K)
    number = wrong.sum(axis=1)  # (r, K)
    first, second = (np.array(side) for side in zip(*list_pairs(n_models), strict=True))
    columns = [
        (number[:, None, :] == np.arange(n_models + 1)[:, None]),
        wrong,
        wrong[:, first] & wrong[:, second],
        _count_votes(predicted, n_classes)[:, None, :],
    ]
    ends = np.cumsum([each.shape[1] for each in columns])
    table = np.concatenate(columns, axis=1).transpose(0, 2, 1).astype(np.float64)
    table = np.ascontiguousarray(table).reshape(-1, ends[-1])

    def add_up(mass: FloatArray) -> SetSums:
        kept = mass if complete.all() else mass[:, complete]
        total = kept.sum(axis=(1, 2))[:, None]
        found = kept.reshape(len(kept), -1) @ table
        shares = np.divide(found, total, out=np.full_like(found, np.nan), where=total > 0.0)
        shares = np.clip(shares, 0.0, 1.0)
        return SetSums(n_models, *np.split(shares, ends[:-1], axis=1))

    return add_up


def _count_votes(predicted: NDArray[np.int64], n_classes: int) -> FloatArray:
    """Share (r, K) with which each class wins the vote of a row; ties are shared."""
    votes = (predicted[:, :, None] == np.arange(n_classes)).sum(axis=1)
    winners = votes == votes.max(axis=1, keepdims=True)
    out: FloatArray = winners / winners.sum(axis=1, keepdims=True)
    return out


def _compute_correlations(sums: SetSums) -> FloatArray:
    """Correlation of errors (D, pairs + 1): every pair, and the mean over the defined ones."""
    first, second = (np.array(side) for side in zip(*list_pairs(sums.n_models), strict=True))
    a, b = sums.errors[:, first], sums.errors[:, second]
    scale = np.sqrt(a * (1.0 - a) * b * (1.0 - b))
    related = np.full_like(scale, np.nan)
    np.divide(sums.both - a * b, scale, out=related, where=scale > 1e-12)
    related = np.clip(related, -1.0, 1.0)
    known = np.isfinite(related)
    mean = np.where(known, related, 0.0).sum(axis=1) / np.maximum(known.sum(axis=1), 1)
    mean = np.where(known.any(axis=1), mean, np.nan)
    return np.column_stack([related, mean])


def _compute_effective_number(sums: SetSums) -> FloatArray:
    mean = np.maximum(_compute_correlations(sums)[:, -1:], 0.0)
    out: FloatArray = sums.n_models / (1.0 + (sums.n_models - 1.0) * mean)
    return out


def _extrapolate_one_more(sums: SetSums) -> FloatArray:
    """All wrong with one more classifier (D, 1), from the curve over subsets."""
    m = sums.n_models
    sizes, number = (m - 2, m - 1, m), range(m + 1)
    ways = np.array([[comb(w, size) / comb(m, size) for w in number] for size in sizes])
    a = ways @ sums.counts.T
    before, last = (np.minimum(_divide(a[i + 1], a[i]), NEARLY_ONE) for i in range(2))
    step = np.maximum(1.0 / (1.0 - last) - 1.0 / (1.0 - before), 0.0)
    ratio = 1.0 - 1.0 / (1.0 / (1.0 - last) + step)
    out: FloatArray = (a[2] * ratio)[:, None]
    return out


def _divide(top: FloatArray, bottom: FloatArray) -> FloatArray:
    """``top / bottom``, 0 where there is nothing."""
    out: FloatArray = np.divide(top, bottom, out=np.zeros_like(top), where=bottom > 0.0)
    return out
