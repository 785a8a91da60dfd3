"""Ranking of rows that are positive or negative, hardly any of them both: hard labels, resampled.

Many labelings of the same labels (a Bayesian bootstrap) put mass p on the rows P and mass q on the
rows Q, which are nearly apart. Then only the places of one kind among the other matter. The groups
t = 1 ... T of rows of one kind that share a score, from the highest score down, are *anchors*; with
a~_t the mass of an anchor's own rows, and of the mass b of the other kind

    B_t = mass at or above anchor t,     E_t = mass at the score of anchor t,

the pairs that are won, ties counting half, and average precision are (`ranking` has the formulas)

    wins = sum_t p~_t (sum b - B_t + E_t / 2)        with the anchors in P,
    wins = sum_t q~_t (B_t - E_t / 2)                with the anchors in Q,
    AP   = sum_t [ p~_t H_t + sum_{i in t} p_i q_i ] / (B_t + H_t) / sum_i p_i

where H_t = p~_1 + ... + p~_t.

The sums of each labeling between two anchors are one sparse product, and running sums are needed
of T numbers, not of n. The smaller kind has the anchors where either may.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ssme.metrics.base import FloatArray

__all__ = ["RankedPlaces", "SplitMass"]

_LEAST_ROWS = 1000
_LARGEST_SHARE = 1.1
"""Rows from which a split is worth its preparation, and the most rows, in either kind, for each."""
_PIECE = 32
"""Labelings summed at once, so that what is gathered stays in the processor's cache."""

_TINY = float(np.finfo(np.float64).tiny)

IntArray = NDArray[np.int64]


class RankedPlaces(NamedTuple):
    """One classifier's rows by descending score.

    ``order`` (n,) has the rows; ``first`` and ``last`` (n,) bound the tied group of each ranked
    row (``last`` excluded), both None where no scores are tied.
    """

    order: IntArray
    first: IntArray | None
    last: IntArray | None

    def anchor(self, anchors: IntArray, others: IntArray, n_rows: int) -> Anchors:
        """The places of ``others`` among the groups of ``anchors``, both rows, ascending."""
        is_anchor = np.zeros(n_rows, dtype=bool)
        is_anchor[anchors] = True
        held = is_anchor[self.order]
        if self.first is None or self.last is None:
            starts, with_anchor = held, held
        else:
            count = np.concatenate([[0], np.cumsum(held)])
            with_anchor = count[self.last] > count[self.first]
            starts = with_anchor & (self.first == np.arange(n_rows))
        place = np.cumsum(starts) - with_anchor
        n_anchors = int(np.count_nonzero(starts))
        lines = np.full((2, n_rows), -1, dtype=np.int32)
        lines[0, anchors] = np.arange(len(anchors))
        lines[1, others] = np.arange(len(others))
        own, other = lines[:, self.order]
        above = (other >= 0) & (place < n_anchors)
        tied = (other >= 0) & with_anchor
        return Anchors(
            _sum_lines(place[held], own[held], (n_anchors, len(anchors))),
            _sum_lines(place[above], other[above], (n_anchors, len(others))),
            _sum_lines(place[tied], other[tied], (n_anchors, len(others))) if tied.any() else None,
        )


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
        """The anchors that some of their own rows belong to."""
        group = np.empty(self.own.shape[1], dtype=np.int64)
        group[self.own.indices] = np.repeat(np.arange(self.own.shape[0]), np.diff(self.own.indptr))
        return group[lines]

    def take_at_or_above(self, others: FloatArray) -> FloatArray:
        """B (T, D) of the others' mass (rows, D)."""
        return _accumulate(self.between @ others)

    def take_level(self, others: FloatArray) -> FloatArray:
        """B - E / 2 (T, D)."""
        out = self.take_at_or_above(others)
        if self.tied is not None:
            out -= 0.5 * (self.tied @ others)
        return out


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

    @property
    def totals(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Sums (D,) of p, of q and of p_i q_i."""
        return self.p.sum(axis=0), self.q.sum(axis=0), self.both.sum(axis=0)

    def sum_wins(self, rankings: Sequence[RankedPlaces]) -> FloatArray:
        """Pairs won (D, M), a row over itself and ties counting half."""
        p_first = len(self.positive) <= len(self.negative)
        kinds = (self.positive, self.negative) if p_first else (self.negative, self.positive)
        own, others = (self.p, self.q) if p_first else (self.q, self.p)
        anchors = [ranking.anchor(*kinds, self.n_rows) for ranking in rankings]
        out: FloatArray = np.empty((own.shape[1], len(rankings)))
        for d, some, rest in _split_pieces(own, others):
            for m, places in enumerate(anchors):
                out[d, m] = np.einsum("td,td->d", places.own @ some, places.take_level(rest))
        if p_first:
            np.subtract((self.p.sum(axis=0) * self.q.sum(axis=0))[:, None], out, out=out)
        return out

    def sum_precisions(self, rankings: Sequence[RankedPlaces]) -> FloatArray:
        """Sum (D, M) over the positive rows of the precision at their score."""
        anchors = [of.anchor(self.positive, self.negative, self.n_rows) for of in rankings]
        out: FloatArray = np.empty((self.p.shape[1], len(rankings)))
        twice = np.flatnonzero(self.both.any(axis=1))
        groups = [places.find_groups(twice) for places in anchors]
        for d, p, q, both in _split_pieces(self.p, self.q, self.both[twice]):
            for m, places in enumerate(anchors):
                own = places.own @ p
                hits = _accumulate(own.copy())
                seen = places.take_at_or_above(q)
                seen += hits
                hits *= own
                np.maximum(seen, _TINY, out=seen)
                hits /= seen
                out[d, m] = hits.sum(axis=0) + (both / seen[groups[m]]).sum(axis=0)
        return out


def _split_pieces(*lines: FloatArray) -> Iterator[tuple[Any, ...]]:
    """Some of the labelings, and each of ``lines`` (rows, D) of these."""
    for start in range(0, lines[0].shape[1], _PIECE):
        some = slice(start, start + _PIECE)
        yield some, *(np.ascontiguousarray(of[:, some]) for of in lines)
