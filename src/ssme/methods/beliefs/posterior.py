"""Belief of a method that knows P(y | s) per row: metrics over S label draws, averaged.

Step 2 of the SSME paper: draw S label vectors from P(y | s) for the unlabeled rows, keep the true
labels of the labeled ones, compute the metric for each draw, average. Intervals, differences and
ranks come from a second set of draws in which the rows are resampled too (`row_weights`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ssme.data.scoreset import ScoreSet
from ssme.methods.base import Estimate, GroupRows, Predictor, number_rows
from ssme.methods.facts import Facts
from ssme.methods.parts.row_weights import RowWeights, center_all
from ssme.methods.parts.seeds import make_child_seed
from ssme.metrics.base import FloatArray, Metric, MetricPlan, one_hot_mass
from ssme.metrics.ranking import plan_together
from ssme.progress import track

__all__ = ["LabelPosterior", "clamp", "draw_labels"]

BATCH_CELLS = 1 << 22
"""Cells (draws x rows x classes) of mass held at once by default: 32 MB of float64. Each batch
takes its random numbers in turn, so that their number decides which world gets which."""


def clamp(posterior: FloatArray, labels: NDArray[np.int64]) -> FloatArray:
    """``posterior`` (n, K) with labeled rows set to their label, one-hot."""
    out = np.array(posterior, dtype=np.float64)
    labeled = labels >= 0
    out[labeled] = 0.0
    out[np.flatnonzero(labeled), labels[labeled]] = 1.0
    return out


def draw_labels(posterior: FloatArray, n_draws: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """``n_draws`` label vectors (D, n) from independent rows of ``posterior`` (n, K)."""
    uniform = rng.random((n_draws, posterior.shape[0]))
    if posterior.shape[1] == 2:
        return (uniform < posterior[:, 1]).astype(np.int64)
    below = np.cumsum(posterior, axis=1)[:, :-1]
    labels = np.zeros(uniform.shape, dtype=np.int64)
    for k in range(below.shape[1]):
        labels += uniform >= below[:, k]
    return labels


@dataclass(frozen=True, eq=False)
class LabelPosterior:
    """P(y | s) with labeled rows clamped; a metric's estimate is its mean over label draws.

    ``refits`` are posteriors of the same rows from refits to reweighted rows; where a method gives
    them, the draws carry the fitted parameters beside unknown labels and the sampling of rows.
    ``predictor`` gives P(y | s) of other rows, where the method can tell. ``clamps_labels`` is
    false for a method that treats labeled rows as all others.
    """

    data: ScoreSet
    posterior: FloatArray
    n_draws: int
    n_worlds: int
    seed: np.random.SeedSequence
    facts: Facts = field(default_factory=Facts)
    refits: tuple[FloatArray, ...] = ()
    predictor: Predictor | None = None
    clamps_labels: bool = True
    batch_cells: int = BATCH_CELLS

    @property
    def narrows_with_rows(self) -> bool:
        """Refits carry the uncertainty of the fit, which more rows to apply it to do not lessen."""
        return not self.refits

    def estimate(
        self, metrics: Sequence[Metric], rows: Sequence[GroupRows]
    ) -> list[list[Estimate]]:
        """Mean over the label draws; the draws kept are worlds (`row_weights`)."""
        n = self.data.n_rows
        parts = [slice(None) if part is None else number_rows(part, n) for part in rows]
        scores = self.data.scores
        plans = [plan_together(metrics, scores[part]) for part in parts]
        points: list[list[list[FloatArray]]] = [[[] for _ in metrics] for _ in parts]
        worlds: list[list[list[FloatArray]]] = [[[] for _ in metrics] for _ in parts]
        every = range(len(metrics))
        for labels in self.draw_label_batches():
            for g, part in enumerate(parts):
                _add_values(points[g], plans[g], every, self._make_mass(labels, part))
        for labels, weights in self.draw_world_batches(metrics):
            for g, part in enumerate(parts):
                for kind, numbers in weights.split_metrics(metrics):
                    factor = kind[:, part, None]
                    _add_values(worlds[g], plans[g], numbers, self._make_mass(labels, part, factor))
        return center_all(points, worlds, metrics)

    def draw_label_batches(self) -> Iterator[NDArray[np.int64]]:
        """All draws (d, n) in batches of bounded memory; the same draws on every call."""
        rng = np.random.default_rng(self.seed)
        for size in track(list(self._split_sizes(self.n_draws)), "label draws"):
            yield draw_labels(self.posterior, size, rng)

    def draw_world_batches(
        self, metrics: Sequence[Metric]
    ) -> Iterator[tuple[NDArray[np.int64], RowWeights]]:
        """Labels (d, n) of ``n_worlds`` worlds in all, and their row weights; every call the same.

        Refits take turns, so that each lends its posterior to equally many worlds.
        """
        rng = np.random.default_rng(make_child_seed(self.seed, 0))
        sources = self.refits or (self.posterior,)
        share = -(-self.n_worlds // len(sources))
        for posterior in track(sources, "worlds"):
            for size in self._split_sizes(share):
                weights = RowWeights.draw(metrics, size, len(posterior), rng)
                yield draw_labels(posterior, size, rng), weights

    def _make_mass(
        self, labels: NDArray[np.int64], part: Any, factor: FloatArray | None = None
    ) -> FloatArray:
        weights = self.data.weights
        kept = None if weights is None else weights[part]
        mass = one_hot_mass(labels[:, part], self.posterior.shape[1], kept)
        if factor is not None:
            mass *= factor
        return mass

    def _split_sizes(self, n_draws: int) -> Iterator[int]:
        n, k = self.posterior.shape
        batch = max(1, self.batch_cells // max(1, n * k))
        for start in range(0, n_draws, batch):
            yield min(batch, n_draws - start)


def _add_values(
    values: list[list[FloatArray]],
    plans: Sequence[MetricPlan],
    numbers: Iterable[int],
    mass: FloatArray,
) -> None:
    """Append the values (D, M) of ``mass`` to those of the metrics of these ``numbers``."""
    for m in numbers:
        values[m].append(plans[m](mass))
