"""Confusion tables drawn from a Dirichlet distribution about the counts of the labeled rows.

A cell of the table of one classifier is Gamma(count + prior), independently; metrics are ratios of
cells, so the common scale does not matter. The prior holds ``pseudo_rows`` rows: half of them
right, spread evenly over the K cells of the diagonal, and half wrong, over the K (K - 1) others.

For few classes every cell is drawn. For many classes that would be K^2 numbers per table, almost
all of them zero to double precision, and the same distribution is drawn through the cells that
hold mass. A sum of independent Gamma variables is Gamma, so that

    cell = Gamma(count) + Gamma(prior),

where the first term exists only for the cells that were observed. The wrong part of the prior is a
Gamma process of total shape A over N = K (K - 1) equal cells: a total ~ Gamma(A), times the weights
of a Dirichlet(A/N, ..., A/N) distribution. These are the weights of Sethuraman's stick-breaking
(Statistica Sinica 4, 1994) on cells drawn evenly: w_j = v_j prod_{i < j} (1 - v_i), v_j ~
Beta(1, A). With A = 1, what 64 sticks leave is e^-64 of the total on average.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ssme.metrics.base import FloatArray
from ssme.metrics.confusion import FullTables
from ssme.metrics.kinds import Tables

__all__ = ["CellTables", "break_sticks", "draw_tables"]

IntArray = NDArray[np.int64]


def draw_tables(
    counts: FloatArray,
    pseudo_rows: float,
    n_draws: int,
    rng: np.random.Generator,
    *,
    whole: bool,
) -> Tables:
    """Tables (D, one classifier) ~ Dirichlet(``counts`` (K, K) + prior), true class first.

    ``whole`` draws every cell; otherwise only those that hold mass are drawn.
    """
    n_classes = len(counts)
    if whole:
        right = np.eye(n_classes)
        prior = (right + (1.0 - right) / (n_classes - 1)) * (pseudo_rows / 2.0 / n_classes)
        shape = np.broadcast_to((counts + prior).T, (n_draws, n_classes, n_classes))
        return FullTables(rng.standard_gamma(shape).transpose(0, 2, 1)[:, None])
    return CellTables.draw(counts, pseudo_rows, n_draws, rng)


@dataclass(frozen=True, eq=False)
class CellTables:
    """Drawn tables of one classifier, as the cells that hold mass.

    ``observed`` (D, C) is the mass of the observed cells, of classes ``cell`` (true, predicted);
    ``right`` (D, K) is the prior on the diagonal; ``wrong`` (D, J) is the prior beside it, on the
    cells ``true`` and ``said`` (D, J).
    """

    n_classes: int
    cell: tuple[IntArray, IntArray]
    observed: FloatArray
    right: FloatArray
    wrong: FloatArray
    true: IntArray
    said: IntArray

    @classmethod
    def draw(
        cls,
        counts: FloatArray,
        pseudo_rows: float,
        n_draws: int,
        rng: np.random.Generator,
    ) -> CellTables:
        """``n_draws`` tables about ``counts`` (K, K)."""
        n_classes, half = len(counts), pseudo_rows / 2.0
        cell = np.nonzero(counts)
        wrong = break_sticks(half, n_draws, rng)
        true = rng.integers(0, n_classes, wrong.shape)
        other = rng.integers(1, n_classes, wrong.shape)
        return cls(
            n_classes=n_classes,
            cell=(cell[0], cell[1]),
            observed=_draw_gamma(counts[cell], n_draws, rng),
            right=_draw_gamma(np.full(n_classes, half / n_classes), n_draws, rng),
            wrong=wrong,
            true=true,
            said=(true + other) % n_classes,
        )

    @cached_property
    def hits(self) -> FloatArray:
        """Mass (D, 1, K) of the rows of each class that are predicted as that class."""
        true, said = self.cell
        hit = true == said
        return (self._sum_by_class(true[hit], self.observed[:, hit]) + self.right)[:, None]

    @cached_property
    def occurring(self) -> FloatArray:
        """Mass (D, 1, K) of the rows of each true class."""
        observed = self._sum_by_class(self.cell[0], self.observed)
        return (observed + self.right + self._sum_by_drawn_class(self.true))[:, None]

    @cached_property
    def predicted(self) -> FloatArray:
        """Mass (D, 1, K) of the rows predicted as each class."""
        observed = self._sum_by_class(self.cell[1], self.observed)
        return (observed + self.right + self._sum_by_drawn_class(self.said))[:, None]

    def total_of(self, values: FloatArray) -> FloatArray:
        """Sum (D, 1) over all rows of ``values[true class, predicted class]``."""
        summed = self.observed @ values[self.cell] + self.right @ np.diagonal(values)
        out: FloatArray = summed + (self.wrong * values[self.true, self.said]).sum(axis=1)
        return out[:, None]

    def _sum_by_class(self, classes: IntArray, mass: FloatArray) -> FloatArray:
        """Sums (D, K) of ``mass`` (D, C) over the cells of each class."""
        out: FloatArray = np.zeros((len(mass), self.n_classes))
        order = np.argsort(classes, kind="stable")
        found, starts = np.unique(classes[order], return_index=True)
        if found.size:
            out[:, found] = np.add.reduceat(mass[:, order], starts, axis=1)
        return out

    def _sum_by_drawn_class(self, classes: IntArray) -> FloatArray:
        """Sums (D, K) of the wrong prior over the drawn ``classes`` (D, J)."""
        n_draws = len(classes)
        place = np.arange(n_draws)[:, None] * self.n_classes + classes
        size = n_draws * self.n_classes
        summed = np.zeros(size)
        np.add.at(summed, place.ravel(), self.wrong.ravel())
        return summed.reshape(n_draws, self.n_classes)


def _draw_gamma(shape: FloatArray, n_draws: int, rng: np.random.Generator) -> FloatArray:
    out: FloatArray = rng.standard_gamma(np.broadcast_to(shape, (n_draws, shape.size)))
    return out


def break_sticks(
    total: float, n_draws: int, rng: np.random.Generator, n_sticks: int = 64
) -> FloatArray:
    """Masses (D, J) of a Gamma process of total shape ``total``; the last stick takes the rest."""
    broken = rng.beta(1.0, total, (n_draws, n_sticks))
    broken[:, -1] = 1.0
    left = np.cumprod(1.0 - broken[:, :-1], axis=1)
    share = broken * np.concatenate([np.ones((n_draws, 1)), left], axis=1)
    out: FloatArray = share * rng.standard_gamma(total, (n_draws, 1))
    return out
