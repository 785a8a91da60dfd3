"""Metrics of the ranking of the rows: ROC AUC and average precision.

ROC AUC is the share of (positive, negative) pairs ranked rightly, ties counting one half. For
mass p on the positive class and q on the others it is

    AUC = sum_{i != j} p_i q_j K_ij / sum_{i != j} p_i q_j,   K_ij = [s_i > s_j] + [s_i = s_j] / 2.

A row is never a pair with itself: for hard labels p_i q_i = 0 and nothing changes, for a posterior
the terms i = j would pull the plug-in value towards 1/2. When all labelings share the row weights
w = p + q, the double sum needs no pass over pairs per labeling: K_ij + K_ji = 1 gives

    sum_{i != j} p_i q_j K_ij = sum_i p_i R_i - (P^2 - sum_i p_i^2) / 2,

where P = sum_i p_i and the rank sums R_i = sum_{j != i} w_j K_ij depend on scores and weights
alone (Mann and Whitney, Annals of Mathematical Statistics 18, 1947).

Average precision is scikit-learn's, tied scores entering together. In the plug-in, the precision
met by row i *given that it is positive* counts row i itself as a full hit:

    AP = sum_i p_i (w_i + sum_{j != i, s_j >= s_i} p_j) / (sum_{s_j >= s_i} w_j) / P.

More than two classes: one-vs-rest means over all classes, plain (macro) or weighted by how often
each occurs; one-vs-one is the mean over pairs of classes of Hand and Till (Machine Learning 45,
2001). A class that does not occur makes them undefined (NaN). One class only: NaN.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ssme.metrics.base import FloatArray, Metric, MetricPlan
from ssme.metrics.mass import class_mass, present_rows, ratio, row_weights, total

__all__ = ["RANKING_METRICS"]

_RELATIVE_ZERO = 1e-12


@dataclass(frozen=True)
class _Ranking:
    """One classifier's rows by ascending score.

    ``order`` (r,) lists the scored rows; ``start`` and ``stop`` (r,) bound the tied group of each;
    ``distinct`` says that there are no ties.
    """

    order: NDArray[np.int64]
    start: NDArray[np.int64]
    stop: NDArray[np.int64]
    distinct: bool

    @classmethod
    def of(cls, score: FloatArray) -> _Ranking:
        order = np.argsort(score, kind="stable")
        order = order[: score.size - int(np.isnan(score).sum())]  # NaN sorts last
        ranked = score[order]
        is_first = np.ones(order.size, dtype=bool)
        is_first[1:] = ranked[1:] != ranked[:-1]
        first = np.flatnonzero(is_first)
        sizes = np.diff(first, append=order.size)
        return cls(
            order=order,
            start=np.repeat(first, sizes),
            stop=np.repeat(first + sizes, sizes),
            distinct=first.size == order.size,
        )

    def below(self, values: FloatArray) -> FloatArray:
        """sum_j values_j K_ij for each ranked row i, the row itself counting one half: (r, D)."""
        running = _running(values[self.order])
        if self.distinct:
            middle: FloatArray = running[:-1] + running[1:]
        else:
            middle = running[self.start] + running[self.stop]
        middle *= 0.5
        return middle

    def at_or_above(self, values: FloatArray) -> FloatArray:
        """sum of ``values`` over the rows ranked as high as each ranked row or higher: (r, D)."""
        running = _running(values[self.order[::-1]])
        if self.distinct:
            return running[:0:-1]
        out: FloatArray = running[self.order.size - self.start]
        return out


def _running(values: FloatArray) -> FloatArray:
    """Running sums down the rows of (r, D), starting from zero: (r + 1, D)."""
    out: FloatArray = np.zeros((values.shape[0] + 1, values.shape[1]))
    np.cumsum(values, axis=0, out=out[1:])
    return out


def _lines(rows: FloatArray) -> FloatArray:
    """(D, n) as contiguous (n, D)."""
    return np.ascontiguousarray(rows.T)


class _OneVsRest:
    """The rows ranked by every classifier's score of one class."""

    def __init__(self, scores: FloatArray, k: int) -> None:
        self.k = k
        self.shape = scores.shape[:2]
        self.present = present_rows(scores)
        self.rankings = [_Ranking.of(scores[:, m, k]) for m in range(scores.shape[1])]

    def roc_auc(self, mass: FloatArray, weights: FloatArray) -> FloatArray:
        p = class_mass(mass, self.k)
        q = weights - p
        wins = self._wins_shared(p, weights) if len(weights) == 1 else self._wins(p, q)
        self_pairs = total(p * q, self.present)
        pairs = total(p, self.present) * total(q, self.present)
        return _share_of_pairs(wins - 0.5 * self_pairs, pairs, self_pairs)

    def _wins_shared(self, p: FloatArray, weights: FloatArray) -> FloatArray:
        """As `_wins`, by rank sums computed once."""
        rank_sums: FloatArray = np.zeros(self.shape)
        for m, ranking in enumerate(self.rankings):
            rank_sums[ranking.order, m] = ranking.below(weights.T)[:, 0]
        out: FloatArray = p @ rank_sums - 0.5 * total(p, self.present) ** 2
        return out

    def _wins(self, p: FloatArray, q: FloatArray) -> FloatArray:
        """sum_ij p_i q_j K_ij, a pair i = j counting one half."""
        lines_p, lines_q = _lines(p), _lines(q)
        columns = [
            np.einsum("rd,rd->d", lines_p[ranking.order], ranking.below(lines_q))
            for ranking in self.rankings
        ]
        out: FloatArray = np.stack(columns, axis=1)
        return out

    def average_precision(self, mass: FloatArray, weights: FloatArray) -> FloatArray:
        p = _lines(class_mass(mass, self.k))
        w = _lines(weights)
        doubt = p * (w - p)
        columns = []
        for ranking in self.rankings:
            seen = ranking.at_or_above(w)
            per_row = np.divide(1.0, seen, out=np.zeros_like(seen), where=seen > 0)
            hits = ranking.at_or_above(p)
            hits *= p[ranking.order]
            hits += doubt[ranking.order]
            if per_row.shape[1] == 1:
                columns.append(per_row[:, 0] @ hits)
            else:
                columns.append(np.einsum("rd,rd->d", per_row, hits))
        return ratio(np.stack(columns, axis=1), total(p.T, self.present))


def _share_of_pairs(wins: FloatArray, pairs: FloatArray, self_pairs: FloatArray) -> FloatArray:
    """``wins / (pairs - self_pairs)``, NaN where no pair of two different rows is left."""
    left = pairs - self_pairs
    return ratio(wins, np.where(left > _RELATIVE_ZERO * pairs, left, 0.0))


OneVsRestValue = Callable[[_OneVsRest, FloatArray, FloatArray], FloatArray]


def _one_vs_rest_plan(scores: FloatArray, *, value: OneVsRestValue, weighted: bool) -> MetricPlan:
    """Mean over classes; for two classes the value of class 1."""
    n_classes = scores.shape[2]
    classes = [1] if n_classes == 2 else list(range(n_classes))
    rankings = [_OneVsRest(scores, k) for k in classes]
    present = present_rows(scores)

    def evaluate(mass: FloatArray) -> FloatArray:
        weights = row_weights(mass)
        values = np.stack([value(ranking, mass, weights) for ranking in rankings])
        if not weighted or n_classes == 2:
            out: FloatArray = values.mean(axis=0)
            return out
        prevalence = np.stack([total(class_mass(mass, k), present) for k in classes])
        return ratio((values * prevalence).sum(axis=0), np.sum(prevalence, axis=0))

    return evaluate


def _one_vs_one_plan(scores: FloatArray) -> MetricPlan:
    n_classes = scores.shape[2]
    if n_classes == 2:
        return _one_vs_rest_plan(scores, value=_OneVsRest.roc_auc, weighted=False)
    rankings = [_OneVsRest(scores, k).rankings for k in range(n_classes)]
    present = present_rows(scores)

    def evaluate(mass: FloatArray) -> FloatArray:
        by_class = [class_mass(mass, k) for k in range(n_classes)]
        lines = [_lines(rows) for rows in by_class]
        totals = [total(rows, present) for rows in by_class]
        values = []
        for a in range(n_classes):
            for b in range(n_classes):
                if a == b:
                    continue
                wins = np.stack(
                    [
                        np.einsum("rd,rd->d", lines[a][ranking.order], ranking.below(lines[b]))
                        for ranking in rankings[a]
                    ],
                    axis=1,
                )
                self_pairs = total(by_class[a] * by_class[b], present)
                values.append(
                    _share_of_pairs(wins - 0.5 * self_pairs, totals[a] * totals[b], self_pairs)
                )
        out: FloatArray = np.mean(values, axis=0)
        return out

    return evaluate


RANKING_METRICS: tuple[Metric, ...] = (
    Metric(
        name="roc_auc",
        title="ROC AUC",
        plan=partial(_one_vs_rest_plan, value=_OneVsRest.roc_auc, weighted=False),
        definition="share of (positive, negative) pairs ranked rightly, ties one half; "
        "more than two classes: mean over classes, one against the rest",
    ),
    Metric(
        name="roc_auc_ovr_weighted",
        title="ROC AUC (one-vs-rest, weighted)",
        plan=partial(_one_vs_rest_plan, value=_OneVsRest.roc_auc, weighted=True),
        definition="ROC AUC of each class against the rest, weighted by how often it occurs",
    ),
    Metric(
        name="roc_auc_ovo",
        title="ROC AUC (one-vs-one)",
        plan=_one_vs_one_plan,
        definition="mean over ordered pairs of classes (a, b) of the ROC AUC of the score of a "
        "on the rows of a and b",
    ),
    Metric(
        name="average_precision",
        title="Average precision",
        plan=partial(_one_vs_rest_plan, value=_OneVsRest.average_precision, weighted=False),
        definition="mean over positive rows of the precision among rows scored as high or higher; "
        "more than two classes: mean over classes, one against the rest",
    ),
)
