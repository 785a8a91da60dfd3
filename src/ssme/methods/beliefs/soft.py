"""What beliefs share that estimate from a soft labeling W of all rows and correct it by the labels.

W is P(y | s) of every row, labeled ones too. `SoftBelief` says what follows from that about single
rows; `draw_masses` draws labels from W in batches of bounded memory, and `take_part` says which
rows stand for all where they are very many.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ssme.data.scoreset import ScoreSet
from ssme.methods.base import Estimate, GroupRows
from ssme.methods.beliefs.labels import LabeledBelief
from ssme.methods.beliefs.posterior import clamp, draw_labels
from ssme.metrics.base import FloatArray, Metric, one_hot_mass

__all__ = ["SoftBelief", "draw_masses", "take_part"]

IntArray = NDArray[np.int64]


class SoftBelief(ABC):
    """A belief with W of its rows as ``soft`` (n, K), and ``seed`` for its draws.

    An estimate is that of the soft labeling of all rows, corrected by the labels, so that these are
    not clamped. Most of the spread is that of the coefficients and does not narrow with rows.
    """

    data: ScoreSet
    soft: FloatArray
    seed: np.random.SeedSequence
    clamps_labels: ClassVar[bool] = False
    narrows_with_rows: ClassVar[bool] = False

    @property
    def posterior(self) -> FloatArray:
        """W with labeled rows one-hot."""
        return clamp(self.soft, self.data.labels)

    @property
    @abstractmethod
    def n_draws(self) -> int:
        """Number of joint draws."""

    @abstractmethod
    def estimate_soft(
        self, metrics: Sequence[Metric], rows: Sequence[GroupRows]
    ) -> list[list[Estimate]]:
        """Estimates [group][metric] from W, where some rows have no label."""

    def estimate(
        self, metrics: Sequence[Metric], rows: Sequence[GroupRows]
    ) -> list[list[Estimate]]:
        """Point estimates [group][metric] on all rows of each group, with joint draws.

        Where every row has a label nothing is left to W: they are the estimates of labels alone,
        however rows were chosen.
        """
        if self.data.n_unlabeled:
            return self.estimate_soft(metrics, rows)
        data = self.data.with_design("random")
        return LabeledBelief(data, self.n_draws, True, self.seed).estimate(metrics, rows)


def draw_masses(
    soft: FloatArray, n_draws: int, batch_cells: int, seed: np.random.SeedSequence
) -> Iterator[FloatArray]:
    """One-hot mass (d, ..., K) of labels drawn from ``soft`` (..., K), ``n_draws`` of them in all.

    A batch has at most ``batch_cells`` cells, one draw at the least.
    """
    rng = np.random.default_rng(seed)
    batch = max(1, batch_cells // max(1, soft.size))
    flat = soft.reshape(-1, soft.shape[-1])
    for start in range(0, n_draws, batch):
        labels = draw_labels(flat, min(batch, n_draws - start), rng)
        yield one_hot_mass(labels, soft.shape[-1]).reshape(len(labels), *soft.shape)


def take_part(rows: IntArray, most: int, n_rows: int, seed: np.random.SeedSequence) -> IntArray:
    """At most ``most`` of ``rows`` (numbers among ``n_rows``), the same ones for the same seed."""
    if rows.size <= most:
        return rows
    order = np.random.default_rng(seed).random(n_rows)
    return np.sort(rows[np.argpartition(order[rows], most)[:most]])
