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

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ssme.metrics.base import FloatArray, Metric, MetricPlan
from ssme.metrics.kinds import Ranking
from ssme.metrics.mass import class_mass, present_rows, ratio, row_weights, total, total_product

__all__ = ["RANKING_METRICS"]

_ROUNDING = 1e-13
"""Share of all pairs of rows below which the pairs of two classes are rounding errors."""
_DENSE_SHARE = 0.1
"""Share of cells that hold mass above which a product with a labeling is dense."""
_CACHED_CELLS = 36_000
_LEAST_PAIRS = 4
"""Size of a batch of labelings: cells (some 300 kB), but no fewer pairs of labelings."""


@dataclass(frozen=True)
class _Ranking:
    """One classifier's scored rows by descending score, ``order`` (r,).

    Where scores are tied, ``first`` and ``last`` (r,) bound the tied group of each ranked row
    (``last`` excluded); where none are, both are None.
    """

    order: NDArray[np.int64]
    first: NDArray[np.int64] | None
    last: NDArray[np.int64] | None

    @classmethod
    def of(cls, score: FloatArray) -> _Ranking:
        order = np.argsort(-score)
        order = order[: score.size - int(np.isnan(score).sum())]  # NaN sorts last
        ranked = score[order]
        starts = np.flatnonzero(np.append(True, ranked[1:] != ranked[:-1])[: order.size])
        if starts.size == order.size:
            return cls(order, None, None)
        ends = np.append(starts[1:], order.size)
        return cls(order, np.repeat(starts, ends - starts), np.repeat(ends, ends - starts))

    def above(self, running: FloatArray) -> FloatArray:
        """Running sums (r + 1, D) read before the group of each ranked row: (r, D)."""
        out: FloatArray = running[:-1] if self.first is None else running[self.first]
        return out

    def at_or_above(self, running: FloatArray) -> FloatArray:
        """Running sums (r + 1, D) read after the group of each ranked row: (r, D)."""
        out: FloatArray = running[1:] if self.last is None else running[self.last]
        return out

    def others_at_or_above(self, values: FloatArray) -> FloatArray:
        """Sums of ranked ``values`` (r, D) over the other rows at or above each: (r, D)."""
        running = _running(values)
        if self.last is None:
            return running[:-1]
        out: FloatArray = running[self.last]
        out -= values
        return out

    def one_over_seen(self, weights: FloatArray) -> FloatArray:
        """1 / weight of the rows at or above each ranked row (r, D), of lines (n, D)."""
        seen = self.at_or_above(_running(weights[self.order]))
        return np.divide(1.0, seen, out=np.zeros_like(seen), where=seen > 0)


def _running(values: FloatArray) -> FloatArray:
    """Running sums down the rows of (r, D), starting from zero: (r + 1, D).

    Every addition waits for the one above it, so two labelings are summed at a time, as the parts
    of a complex number: half the time, the same sums.
    """
    r, n_draws = values.shape
    out: FloatArray = np.empty((r + 1, n_draws))
    out[0] = 0.0
    pairs = np.complex128 if n_draws % 2 == 0 else np.float64
    np.cumsum(values.view(pairs), axis=0, out=out[1:].view(pairs))
    return out


def _lines(rows: FloatArray) -> FloatArray:
    """(D, n) as contiguous (n, D)."""
    return np.ascontiguousarray(rows.T)


def _batches(n_draws: int, n: int) -> Iterator[slice]:
    """Runs of labelings, even in number, whose sums stay in the processor's cache."""
    size = 2 * max(_LEAST_PAIRS, _CACHED_CELLS // max(2 * n, 1))
    return (slice(start, start + size) for start in range(0, n_draws, size))


def _wins(rankings: Sequence[_Ranking], p: FloatArray, q: FloatArray) -> FloatArray:
    """sum_ij p_i q_j K_ij (D, M) of rows (D, n), a pair i = j counting one half."""
    out: FloatArray = np.empty((p.shape[0], len(rankings)))
    for batch in _batches(*p.shape):
        lines_p, lines_q = _lines(p[batch]), _lines(q[batch])
        for m, ranking in enumerate(rankings):
            hits = _running(lines_p[ranking.order])
            twice = ranking.above(hits) + ranking.at_or_above(hits)
            out[batch, m] = 0.5 * np.einsum("rd,rd->d", twice, lines_q[ranking.order])
    return out


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
        if len(weights) == 1:
            wins = p @ self._rank_sums(weights) - 0.5 * total(p, self.present) ** 2
        else:
            wins = _wins(self.rankings, p, q)
        return _share_of_pairs(wins, p, q, self.present)

    def _rank_sums(self, weights: FloatArray) -> FloatArray:
        """R (n, M) of weights (1, n), each row counting half of itself; zero where not scored."""
        lines = _lines(weights)
        out: FloatArray = np.zeros(self.shape)
        for m, ranking in enumerate(self.rankings):
            seen = _running(lines[ranking.order])
            twice_above = ranking.above(seen) + ranking.at_or_above(seen)
            out[ranking.order, m] = (seen[-1] - 0.5 * twice_above)[:, 0]
        return out

    def average_precision(self, mass: FloatArray, weights: FloatArray) -> FloatArray:
        p = class_mass(mass, self.k)
        shared = len(weights) == 1
        shares = [r.one_over_seen(weights.T)[:, 0] for r in self.rankings] if shared else []
        summed: FloatArray = np.empty((p.shape[0], len(self.rankings)))
        for batch in _batches(*p.shape):
            lines_p = _lines(p[batch])
            lines_w = _lines(weights if shared else weights[batch])
            for m, ranking in enumerate(self.rankings):
                own = lines_p[ranking.order]
                hits = ranking.others_at_or_above(own)
                hits += lines_w[ranking.order]
                hits *= own
                if shared:
                    summed[batch, m] = shares[m] @ hits
                else:
                    share = ranking.one_over_seen(lines_w)
                    summed[batch, m] = np.einsum("rd,rd->d", share, hits)
        return np.clip(ratio(summed, total(p, self.present)), 0.0, 1.0)


def _share_of_pairs(
    wins: FloatArray, p: FloatArray, q: FloatArray, present: FloatArray | None
) -> FloatArray:
    """``wins`` (D, M) less those of rows over themselves, by the pairs of two different rows."""
    in_p, in_q = total(p, present), total(q, present)
    self_pairs = total_product(p, q, present)
    pairs = in_p * in_q - self_pairs
    rounding = _ROUNDING * (in_p + in_q) ** 2
    share = ratio(wins - 0.5 * self_pairs, np.where(pairs > rounding, pairs, 0.0))
    return np.clip(share, 0.0, 1.0)


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
    present = present_rows(scores)
    if present is None:
        return _everyone_one_vs_one(scores)
    rows = [np.flatnonzero(present[:, m]) for m in range(scores.shape[1])]
    plans = [_everyone_one_vs_one(scores[held, m : m + 1]) for m, held in enumerate(rows)]

    def evaluate(mass: FloatArray) -> FloatArray:
        columns = [plan(mass[:, held]) for plan, held in zip(plans, rows, strict=True)]
        return np.concatenate(columns, axis=1)

    return evaluate


def _everyone_one_vs_one(scores: FloatArray) -> MetricPlan:
    """One-vs-one where every classifier has a score for every row.

    With p_ia the mass of row i on class a and K^a the comparison by the score of a, the mean over
    pairs needs one pass over the rows per class a, all opponents b taken together:

        sum_{b != a} AUC_ab = sum_{i != j} p_ia q_ja K^a_ij,
        q_ja = sum_{b != a} p_jb / D_ab,    D_ab = sum_{i != j} p_ia p_jb.
    """
    n_models, n_classes = scores.shape[1:]
    rankings = [_OneVsRest(scores, k).rankings for k in range(n_classes)]
    n_pairs = n_classes * (n_classes - 1)

    def evaluate(mass: FloatArray) -> FloatArray:
        out: FloatArray = np.full((len(mass), n_models), np.nan)
        opponents = [_opponents(labeling) for labeling in mass]
        defined = np.array([each is not None for each in opponents], dtype=bool)
        if not defined.any():
            return out
        own = np.ascontiguousarray(mass[defined].transpose(2, 0, 1))
        other = np.stack([q for q in opponents if q is not None], axis=1)
        summed = np.zeros((own.shape[1], n_models))
        for k in range(n_classes):
            itself = 0.5 * np.einsum("dn,dn->d", own[k], other[k])
            summed += _wins(rankings[k], own[k], other[k]) - itself[:, None]
        out[defined] = np.clip(summed / n_pairs, 0.0, 1.0)
        return out

    return evaluate


def _opponents(labeling: FloatArray) -> FloatArray | None:
    """q (K, n) of one labeling (n, K); None where two classes have no pair of rows."""
    occurring = labeling.sum(axis=0)
    held = _sparse_where_hard(labeling)
    product = held.T @ held
    same = product if isinstance(product, np.ndarray) else product.toarray()
    pairs = np.outer(occurring, occurring) - same
    rounding = _ROUNDING * np.add.outer(occurring, occurring) ** 2
    np.fill_diagonal(pairs, np.inf)
    if not (pairs > rounding).all():
        return None
    out: FloatArray = (held @ (1.0 / pairs)).T
    return np.ascontiguousarray(out)


def _sparse_where_hard(labeling: FloatArray) -> Any:
    """``labeling`` (n, K) as it is, or as a sparse matrix where few of its cells hold mass."""
    from scipy.sparse import csr_array

    if np.count_nonzero(labeling) > _DENSE_SHARE * labeling.size:
        return labeling
    return csr_array(labeling)


RANKING_METRICS: tuple[Metric, ...] = (
    Metric(
        name="roc_auc",
        title="ROC AUC",
        plan=partial(_one_vs_rest_plan, value=_OneVsRest.roc_auc, weighted=False),
        kind=Ranking("roc_auc"),
        definition="share of (positive, negative) pairs ranked rightly, ties one half; "
        "more than two classes: mean over classes, one against the rest",
    ),
    Metric(
        name="roc_auc_ovr_weighted",
        title="ROC AUC (one-vs-rest, weighted)",
        plan=partial(_one_vs_rest_plan, value=_OneVsRest.roc_auc, weighted=True),
        kind=Ranking("roc_auc", "weighted"),
        definition="ROC AUC of each class against the rest, weighted by how often it occurs",
    ),
    Metric(
        name="roc_auc_ovo",
        title="ROC AUC (one-vs-one)",
        plan=_one_vs_one_plan,
        kind=Ranking("roc_auc", "one_vs_one"),
        definition="mean over ordered pairs of classes (a, b) of the ROC AUC of the score of a "
        "on the rows of a and b",
    ),
    Metric(
        name="average_precision",
        title="Average precision",
        plan=partial(_one_vs_rest_plan, value=_OneVsRest.average_precision, weighted=False),
        kind=Ranking("average_precision"),
        definition="mean over positive rows of the precision among rows scored as high or higher; "
        "more than two classes: mean over classes, one against the rest",
    ),
)
