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

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ssme.arrays import FloatArray, IntArray
from ssme.metrics.base import Metric, MetricPlan
from ssme.metrics.confusion import compute_ratio, find_present_rows, sum_row_weights, transpose
from ssme.metrics.kinds import Ranking

Statistic = Literal["roc_auc", "average_precision"]
_ROUNDING = 1e-13
"""Share of all pairs of rows below which the pairs of two classes are rounding errors."""
_DENSE_SHARE = 0.1
"""Share of cells that hold mass above which a product with a labeling is dense."""
_CACHED_CELLS = 36_000
_LEAST_PAIRS = 4
"""Size of a batch of labelings: cells (some 300 kB), but no fewer pairs of labelings."""


class RankedRows(NamedTuple):
    """One classifier's r scored rows by descending score of each of C classes: ``order`` (r, C).

    Where scores are tied, ``first`` and ``last`` (r, C) bound the tied group of each ranked row
    (``last`` excluded); where none are, both are None.

    *Lines* are arrays (n, C, D): one line of D labelings for each row and class. Read in the order
    of the ranking they are (r, C, D).
    """

    order: IntArray
    first: IntArray | None
    last: IntArray | None

    @classmethod
    def of(cls, score: FloatArray) -> RankedRows:
        """The ranking of scores (n, C); a row without a score is left out."""
        n_scored, missing = len(score), np.isnan(score)
        if missing.any():
            unscored = missing.any(axis=1, keepdims=True)
            score, n_scored = np.where(unscored, np.nan, score), n_scored - int(unscored.sum())
        order = np.argsort(-score, axis=0)[:n_scored]  # NaN sorts last
        ranked = np.take_along_axis(score, order, axis=0)
        starts = np.ones(ranked.shape, dtype=bool)
        np.not_equal(ranked[1:], ranked[:-1], out=starts[1:])
        if starts.all():
            return cls(order, None, None)
        place = np.arange(len(order))[:, None]
        first = np.maximum.accumulate(np.where(starts, place, 0), axis=0)
        ends = np.ones_like(starts)
        ends[:-1] = starts[1:]
        until = np.where(ends, place + 1, len(order))[::-1]
        return cls(order, first, np.minimum.accumulate(until, axis=0)[::-1])

    def take(self, classes: slice) -> RankedRows:
        """The ranking by some of the classes."""
        if self.first is None or self.last is None:
            return RankedRows(self.order[:, classes], None, None)
        return RankedRows(self.order[:, classes], self.first[:, classes], self.last[:, classes])

    def anchor(self, anchors: IntArray, others: IntArray, n_rows: int) -> Anchors:
        """Places by the first class of ``others`` among groups of ``anchors``, ascending rows."""
        order = self.order[:, 0]
        is_anchor = np.zeros(n_rows, dtype=bool)
        is_anchor[anchors] = True
        in_order = is_anchor[order]
        if self.first is None or self.last is None:
            starts, with_anchor = in_order, in_order
        else:
            count = np.concatenate([[0], np.cumsum(in_order)])
            with_anchor = count[self.last[:, 0]] > count[self.first[:, 0]]
            starts = with_anchor & (self.first[:, 0] == np.arange(n_rows))
        place = np.cumsum(starts) - with_anchor
        n_anchors = int(np.count_nonzero(starts))
        lines = np.full((2, n_rows), -1, dtype=np.int32)
        lines[0, anchors] = np.arange(len(anchors))
        lines[1, others] = np.arange(len(others))
        anchor_line, other_line = lines[:, order]
        above = (other_line >= 0) & (place < n_anchors)
        tied = (other_line >= 0) & with_anchor
        return Anchors(
            _sum_lines(place[in_order], anchor_line[in_order], (n_anchors, len(anchors))),
            _sum_lines(place[above], other_line[above], (n_anchors, len(others))),
            _sum_lines(place[tied], other_line[tied], (n_anchors, len(others)))
            if tied.any()
            else None,
        )

    def rank(self, lines: FloatArray) -> FloatArray:
        """``lines`` (n, C, D) in the order of the ranking: (r, C, D)."""
        return _take_rows_of_classes(lines, self.order)

    def read_above(self, running: FloatArray) -> FloatArray:
        """Running sums (r + 1, C, D) read before the group of each ranked row: (r, C, D)."""
        return running[:-1] if self.first is None else _take_rows_of_classes(running, self.first)

    def take_at_or_above(self, running: FloatArray) -> FloatArray:
        """Running sums (r + 1, C, D) read after the group of each ranked row: (r, C, D)."""
        return running[1:] if self.last is None else _take_rows_of_classes(running, self.last)

    def sum_others_at_or_above(self, values: FloatArray) -> FloatArray:
        """Sums of ranked ``values`` over the other rows at or above each: (r, C, D)."""
        running = _sum_running(values)
        if self.last is None:
            return running[:-1]
        out = _take_rows_of_classes(running, self.last)
        out -= values
        return out

    def invert_seen(self, weights: FloatArray) -> FloatArray:
        """1 / weight of the rows at or above each ranked row (r, C, D), of lines (n, 1, D)."""
        seen = self.take_at_or_above(_sum_running(self.rank_shared(weights)))
        return np.divide(1.0, seen, out=np.zeros_like(seen), where=seen > 0)

    def rank_shared(self, weights: FloatArray) -> FloatArray:
        """Lines (n, 1, D) that all classes share, in the order of the ranking: (r, C, D)."""
        out = np.take(weights[:, 0], self.order.ravel(), axis=0)
        return out.reshape(*self.order.shape, weights.shape[2])

    def weigh_below(self, weights: FloatArray) -> FloatArray:
        """Weight (n, C) below each row, each row and its ties counting half; 0 where not scored."""
        seen = _sum_running(weights[self.order][:, :, None])
        twice_above = self.read_above(seen) + self.take_at_or_above(seen)
        out: FloatArray = np.zeros((len(weights), self.order.shape[1]))
        np.put_along_axis(out, self.order, (seen[-1:] - 0.5 * twice_above)[:, :, 0], axis=0)
        return out


def _take_rows_of_classes(lines: FloatArray, rows: IntArray) -> FloatArray:
    """The lines (r, C, D) at ``rows`` (r, C) of each class, of ``lines`` (n, C, D)."""
    n, n_classes, n_draws = lines.shape
    place = rows if n_classes == 1 else rows * n_classes + np.arange(n_classes)
    out = np.take(lines.reshape(n * n_classes, n_draws), place.ravel(), axis=0)
    return out.reshape(*rows.shape, n_draws)


def _sum_running(values: FloatArray) -> FloatArray:
    """Running sums down the rows of (r, C, D), starting from zero: (r + 1, C, D).

    Every addition waits for the one above it, so two columns are summed at a time, as the parts
    of a complex number: half the time, the same sums.
    """
    r, n_classes, n_draws = values.shape
    out: FloatArray = np.empty((r + 1, n_classes * n_draws))
    out[0] = 0.0
    pairs = np.complex128 if n_classes * n_draws % 2 == 0 else np.float64
    flat = values.reshape(r, n_classes * n_draws)
    np.cumsum(flat.view(pairs), axis=0, out=out[1:].view(pairs))
    return out.reshape(r + 1, n_classes, n_draws)


def _split_pieces(lines: FloatArray) -> Iterator[tuple[slice, slice]]:
    """Classes and labelings, pieces of lines (n, C, D) whose sums stay in the processor's cache."""
    n, n_classes, n_draws = lines.shape
    columns = 2 * max(_LEAST_PAIRS, _CACHED_CELLS // max(2 * n, 1))
    draws = min(columns, max(n_draws, 1))
    classes = max(1, columns // draws)
    for k in range(0, n_classes, classes):
        for d in range(0, n_draws, draws):
            yield slice(k, k + classes), slice(d, d + draws)


def _sum_wins(rankings: Sequence[RankedRows], p: FloatArray, q: FloatArray) -> FloatArray:
    """sum_ij p_i q_j K_ij (C, D, M) of lines (n, C, D), a pair i = j counting one half."""
    out: FloatArray = np.empty((*p.shape[1:], len(rankings)))
    for k, d in _split_pieces(p):
        some_p, some_q = np.ascontiguousarray(p[:, k, d]), np.ascontiguousarray(q[:, k, d])
        for m, ranking in enumerate(rankings):
            by_class = ranking.take(k)
            hits = _sum_running(by_class.rank(some_p))
            twice = by_class.read_above(hits) + by_class.take_at_or_above(hits)
            out[k, d, m] = 0.5 * np.einsum("rkd,rkd->kd", twice, by_class.rank(some_q))
    return out


class _OneVsRest:
    """The rows ranked by every classifier's scores of each class, of class 1 alone of two."""

    def __init__(self, scores: FloatArray) -> None:
        self.classes = [1] if scores.shape[2] == 2 else list(range(scores.shape[2]))
        self.present = find_present_rows(scores)
        self.rankings = [RankedRows.of(scores[:, m, self.classes]) for m in range(scores.shape[1])]
        self._below: tuple[FloatArray, FloatArray] | None = None

    def take_lines(self, mass: FloatArray) -> FloatArray:
        """The mass of the classes, (n, C, D)."""
        n_draws, n, n_classes = mass.shape
        if len(self.classes) < n_classes:  # the positive class of two
            return np.ascontiguousarray(mass[:, :, self.classes[0]].T)[:, None, :]
        return transpose(mass).reshape(n, n_classes, n_draws)

    def compute(self, statistic: Statistic, p: FloatArray, weights: FloatArray) -> FloatArray:
        """The statistic (C, D, M) of lines ``p`` (n, C, D) and row weights (1 or D, n)."""
        if statistic == "roc_auc":
            return self._compute_roc_auc(p, weights)
        return self._compute_average_precision(p, weights)

    def _compute_roc_auc(self, p: FloatArray, weights: FloatArray) -> FloatArray:
        in_p = _sum_scored(p, self.present)
        if len(weights) != 1:
            q = np.subtract(weights.T[:, None, :], p, out=np.empty_like(p))
            wins, in_q = _sum_wins(self.rankings, p, q), _sum_scored(q, self.present)
            return _compute_share_of_pairs(wins, in_p, in_q, _sum_scored(p, self.present, q))
        w = weights.T[:, None, :]
        if self._below is None or not np.array_equal(self._below[0], weights[0]):
            each = [ranking.weigh_below(weights[0]) for ranking in self.rankings]
            below = np.ascontiguousarray(np.stack(each, axis=2).transpose(1, 0, 2))
            self._below = weights[0].copy(), below  # (C, n, M), kept for the next labelings
        wins = p.transpose(1, 2, 0) @ self._below[1] - 0.5 * in_p**2
        self_pairs = _sum_scored(p, self.present, w) - _sum_scored(p, self.present, p)
        return _compute_share_of_pairs(wins, in_p, _sum_scored(w, self.present) - in_p, self_pairs)

    def compute_split(self, statistic: Statistic, split: SplitMass) -> FloatArray:
        """The statistic (D, M) of the positive class of two."""
        in_p, in_q, self_pairs = (
            each.sum(axis=0)[:, None] for each in (split.p, split.q, split.both)
        )
        if statistic == "roc_auc":
            return _compute_share_of_pairs(split.sum_wins(self.rankings), in_p, in_q, self_pairs)
        return np.clip(compute_ratio(split.sum_precisions(self.rankings), in_p), 0.0, 1.0)

    def _compute_average_precision(self, p: FloatArray, weights: FloatArray) -> FloatArray:
        all_w = np.ascontiguousarray(weights.T)[:, None, :]
        same = len(weights) == 1
        shares = [ranking.invert_seen(all_w) for ranking in self.rankings] if same else []
        summed: FloatArray = np.empty((*p.shape[1:], len(self.rankings)))
        for k, d in _split_pieces(p):
            some_p = np.ascontiguousarray(p[:, k, d])
            some_w = all_w if same else np.ascontiguousarray(all_w[:, :, d])
            for m, ranking in enumerate(self.rankings):
                by_class = ranking.take(k)
                ranked_p = by_class.rank(some_p)
                hits = by_class.sum_others_at_or_above(ranked_p)
                hits += by_class.rank_shared(some_w)
                hits *= ranked_p
                if same:
                    summed[k, d, m] = np.einsum("rk,rkd->kd", shares[m][:, k, 0], hits)
                else:
                    share = by_class.invert_seen(some_w)
                    summed[k, d, m] = np.einsum("rkd,rkd->kd", share, hits)
        return np.clip(compute_ratio(summed, _sum_scored(p, self.present)), 0.0, 1.0)


def _sum_scored(
    lines: FloatArray, present: FloatArray | None, factor: FloatArray | None = None
) -> FloatArray:
    """Sums (C, D, M) of ``lines`` times ``factor`` over scored rows; (C, D, 1) if all are."""
    out: FloatArray
    if present is not None:
        rows = lines if factor is None else lines * factor
        out = np.tensordot(rows, present, axes=(0, 0))
        return out
    if factor is None:
        out = lines.sum(axis=0)
    else:
        out = np.einsum("nkd,nkd->kd", lines, np.broadcast_to(factor, lines.shape))
    return out[:, :, None]


def _compute_share_of_pairs(
    wins: FloatArray, in_p: FloatArray, in_q: FloatArray, self_pairs: FloatArray
) -> FloatArray:
    """``wins`` (C, D, M) less those of rows over themselves, by the pairs of two different rows."""
    pairs = in_p * in_q - self_pairs
    rounding = _ROUNDING * (in_p + in_q) ** 2
    share = compute_ratio(wins - 0.5 * self_pairs, np.where(pairs > rounding, pairs, 0.0))
    return np.clip(share, 0.0, 1.0)


def plan_together(metrics: Sequence[Metric], scores: FloatArray) -> list[MetricPlan]:
    """The plan of each metric, as `Metric.plan` makes it; the rows are ranked once for all."""
    ranked, plans = None, []
    for metric in metrics:
        plan = metric.plan
        if isinstance(plan, partial) and plan.func is _plan_one_vs_rest:
            ranked = ranked or _OneVsRest(scores)
            plans.append(plan(scores, ranked=ranked))
        else:
            plans.append(plan(scores))
    return plans


def _plan_one_vs_rest(
    scores: FloatArray, *, kind: Ranking, ranked: _OneVsRest | None = None
) -> MetricPlan:
    """Mean over classes; for two classes the value of class 1."""
    n_classes = scores.shape[2]
    ranked = ranked or _OneVsRest(scores)

    def evaluate(mass: FloatArray) -> FloatArray:
        can_split = n_classes == 2 and ranked.present is None
        split = SplitMass.of(mass) if can_split else None
        if split is not None:
            return ranked.compute_split(kind.statistic, split)
        p = ranked.take_lines(mass)
        values = ranked.compute(kind.statistic, p, sum_row_weights(mass))
        if kind.average != "weighted" or n_classes == 2:
            return values.mean(axis=0)
        prevalence = _sum_scored(p, ranked.present)
        return compute_ratio((values * prevalence).sum(axis=0), np.sum(prevalence, axis=0))

    return evaluate


def _plan_one_vs_one(scores: FloatArray) -> MetricPlan:
    n_classes = scores.shape[2]
    if n_classes == 2:
        return _plan_one_vs_rest(scores, kind=Ranking("roc_auc"))
    present = find_present_rows(scores)
    if present is None:
        return _plan_complete_one_vs_one(scores)
    rows = [np.flatnonzero(present[:, m]) for m in range(scores.shape[1])]
    plans = [_plan_complete_one_vs_one(scores[scored, m : m + 1]) for m, scored in enumerate(rows)]

    def evaluate(mass: FloatArray) -> FloatArray:
        columns = [plan(mass[:, scored]) for plan, scored in zip(plans, rows, strict=True)]
        return np.concatenate(columns, axis=1)

    return evaluate


def _plan_complete_one_vs_one(scores: FloatArray) -> MetricPlan:
    """One-vs-one where every classifier has a score for every row.

    With p_ia the mass of row i on class a and K^a the comparison by the score of a, the mean over
    pairs needs one pass over the rows per class a, all opponents b taken together:

        sum_{b != a} AUC_ab = sum_{i != j} p_ia q_ja K^a_ij,
        q_ja = sum_{b != a} p_jb / D_ab,    D_ab = sum_{i != j} p_ia p_jb.
    """
    n_models, n_classes = scores.shape[1:]
    ranked = _OneVsRest(scores)
    n_pairs = n_classes * (n_classes - 1)

    def evaluate(mass: FloatArray) -> FloatArray:
        out: FloatArray = np.full((len(mass), n_models), np.nan)
        opponents = [_weigh_opponents(labeling) for labeling in mass]
        defined = [d for d, q in enumerate(opponents) if q is not None]
        if not defined:
            return out
        p = ranked.take_lines(mass[defined])
        q = ranked.take_lines(np.stack([q for q in opponents if q is not None]))
        wins = _sum_wins(ranked.rankings, p, q) - 0.5 * _sum_scored(p, None, q)
        out[defined] = np.clip(wins.sum(axis=0) / n_pairs, 0.0, 1.0)
        return out

    return evaluate


def _weigh_opponents(labeling: FloatArray) -> FloatArray | None:
    """q (n, K) of one labeling (n, K); None where two classes have no pair of rows."""
    occurring = labeling.sum(axis=0)
    cells: Any = labeling
    if np.count_nonzero(labeling) <= _DENSE_SHARE * labeling.size:
        from scipy.sparse import csr_array

        cells = csr_array(labeling)
    product = cells.T @ cells
    same = product if isinstance(product, np.ndarray) else product.toarray()
    pairs = np.outer(occurring, occurring) - same
    rounding = _ROUNDING * np.add.outer(occurring, occurring) ** 2
    np.fill_diagonal(pairs, np.inf)
    if not (pairs > rounding).all():
        return None
    return cells @ (1.0 / pairs)


# -------------------------------------------------------------------------------------------------
# Ranking of rows that are positive or negative, hardly any of them both: hard labels, resampled.
#
# Many labelings of the same labels (a Bayesian bootstrap) put mass p on the rows P and mass q on
# the rows Q, which hardly overlap. Then only the places of one kind among the other matter. The
# groups t = 1 ... T of rows of one kind that share a score, from the highest score down, are
# *anchors*; with a~_t the mass of an anchor's own rows, and of the mass b of the other kind
#
#     B_t = mass at or above anchor t,     E_t = mass at the score of anchor t,
#
# the pairs that are won, ties counting half, and average precision are (`ranking` has the formulas)
#
#     wins = sum_t p~_t (sum b - B_t + E_t / 2)        with the anchors in P,
#     wins = sum_t q~_t (B_t - E_t / 2)                with the anchors in Q,
#     AP   = sum_t [ p~_t H_t + sum_{i in t} p_i q_i ] / (B_t + H_t) / sum_i p_i
#
# where H_t = p~_1 + ... + p~_t.
#
# The sums of each labeling between two anchors are one sparse product, and running sums are needed
# of T numbers, not of n. The smaller kind has the anchors where either may.


_LEAST_ROWS = 1000
_LARGEST_SHARE = 1.1
"""Rows from which a split is worth its preparation, and the most rows, in either kind, for each."""
_PIECE = 32
"""Labelings summed at once, so that what is gathered stays in the processor's cache."""

_TINY = float(np.finfo(np.float64).tiny)


def _sum_lines(target: IntArray, source: NDArray[np.int32], shape: tuple[int, int]) -> Any:
    """Sparse matrix of ``shape`` that sums lines ``source`` into ascending lines ``target``."""
    from scipy.sparse import csr_array

    bounds = np.searchsorted(target, np.arange(shape[0] + 1)).astype(np.int32)
    return csr_array((np.ones(len(source)), source, bounds), shape=shape)


class Anchors(NamedTuple):
    """Matrices that sum the anchors' own rows, the others between anchors, and those tied."""

    own: Any
    between: Any
    tied: Any

    def find_groups(self, lines: IntArray) -> IntArray:
        """The anchors that some of the rows they own belong to."""
        group = np.empty(self.own.shape[1], dtype=np.int64)
        group[self.own.indices] = np.repeat(np.arange(self.own.shape[0]), np.diff(self.own.indptr))
        return group[lines]

    def take_at_or_above(self, others: FloatArray) -> FloatArray:
        """B (T, D) of the others' mass (rows, D)."""
        return _accumulate(self.between @ others)


def _accumulate(values: FloatArray) -> FloatArray:
    """Running sums down the lines of ``values`` (T, D), in its place, two columns at a time."""
    pairs = values.view(np.complex128 if values.shape[1] % 2 == 0 else np.float64)
    np.cumsum(pairs, axis=0, out=pairs)
    return values


class SplitMass(NamedTuple):
    """Labelings of two classes: the rows of the positive class, those of the other, their mass.

    ``p`` (|P|, D) and ``q`` (|Q|, D) are that mass; ``both`` (|P|, D) is p_i q_i.
    """

    n_rows: int
    positive: IntArray
    negative: IntArray
    p: FloatArray
    q: FloatArray
    both: FloatArray

    @classmethod
    def of(cls, mass: FloatArray) -> SplitMass | None:
        """Of mass (D, n, 2); None where there are few rows, or too many of both kinds."""
        n_draws, n, _ = mass.shape
        most = _LARGEST_SHARE * n
        if n < _LEAST_ROWS or n_draws < 2 or np.count_nonzero(mass[0]) > most:
            return None
        negative, positive = (np.flatnonzero((mass[:, :, k] != 0.0).any(axis=0)) for k in (0, 1))
        if len(positive) + len(negative) > most or min(len(positive), len(negative)) == 0:
            return None
        p, other, q = (
            np.ascontiguousarray(mass[:, rows, k].T)
            for rows, k in ((positive, 1), (positive, 0), (negative, 0))
        )
        return cls(n, positive, negative, p, q, p * other)

    def sum_wins(self, rankings: Sequence[RankedRows]) -> FloatArray:
        """Pairs won (D, M), a row over itself and ties counting half."""
        p_first = len(self.positive) <= len(self.negative)
        kinds = (self.positive, self.negative) if p_first else (self.negative, self.positive)
        anchor_mass, other_mass = (self.p, self.q) if p_first else (self.q, self.p)
        anchors = [ranking.anchor(*kinds, self.n_rows) for ranking in rankings]
        out: FloatArray = np.empty((anchor_mass.shape[1], len(rankings)))
        for d, some, rest in _split_labelings(anchor_mass, other_mass):
            for m, places in enumerate(anchors):
                level = places.take_at_or_above(rest)
                if places.tied is not None:
                    level -= 0.5 * (places.tied @ rest)
                out[d, m] = np.einsum("td,td->d", places.own @ some, level)
        if p_first:
            np.subtract((self.p.sum(axis=0) * self.q.sum(axis=0))[:, None], out, out=out)
        return out

    def sum_precisions(self, rankings: Sequence[RankedRows]) -> FloatArray:
        """Sum (D, M) over the positive rows of the precision at their score."""
        anchors = [each.anchor(self.positive, self.negative, self.n_rows) for each in rankings]
        out: FloatArray = np.empty((self.p.shape[1], len(rankings)))
        twice = np.flatnonzero(self.both.any(axis=1))
        groups = [places.find_groups(twice) for places in anchors]
        for d, p, q, both in _split_labelings(self.p, self.q, self.both[twice]):
            for m, places in enumerate(anchors):
                anchor_mass = places.own @ p
                hits = _accumulate(anchor_mass.copy())
                seen = places.take_at_or_above(q)
                seen += hits
                hits *= anchor_mass
                np.maximum(seen, _TINY, out=seen)
                hits /= seen
                out[d, m] = hits.sum(axis=0) + (both / seen[groups[m]]).sum(axis=0)
        return out


def _split_labelings(*lines: FloatArray) -> Iterator[tuple[Any, ...]]:
    """Some of the labelings, and each of ``lines`` (rows, D) of these."""
    for start in range(0, lines[0].shape[1], _PIECE):
        some = slice(start, start + _PIECE)
        yield some, *(np.ascontiguousarray(each[:, some]) for each in lines)


# fmt: off
_RANKINGS: tuple[tuple[str, str, Ranking, str], ...] = (
    ("roc_auc", "ROC AUC", Ranking("roc_auc"),
     "share of (positive, negative) pairs ranked rightly, ties one half; "
     "more than two classes: mean over classes, one against the rest"),
    ("roc_auc_ovr_weighted", "ROC AUC (one-vs-rest, weighted)", Ranking("roc_auc", "weighted"),
     "ROC AUC of each class against the rest, weighted by how often it occurs"),
    ("roc_auc_ovo", "ROC AUC (one-vs-one)", Ranking("roc_auc", "one_vs_one"),
     "mean over ordered pairs of classes (a, b) of the ROC AUC of the score of a on the rows of a "
     "and b"),
    ("average_precision", "Average precision", Ranking("average_precision"),
     "mean over positive rows of the precision among rows scored as high or higher; "
     "more than two classes: mean over classes, one against the rest"),
)
# fmt: on
"""Name, title, kind and definition of each metric of the ranking."""

RANKING_METRICS: tuple[Metric, ...] = tuple(
    Metric(
        name,
        title,
        _plan_one_vs_one if kind.average == "one_vs_one" else partial(_plan_one_vs_rest, kind=kind),
        kind,
        definition=definition,
        of_positive=kind.statistic == "average_precision",
    )
    for name, title, kind, definition in _RANKINGS
)
