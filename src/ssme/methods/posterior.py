"""Belief of a method that knows P(y | s) per row: metrics over S label draws, averaged.

Step 2 of the SSME paper: draw S label vectors from P(y | s) for the unlabeled rows, keep the true
labels of the labeled ones, compute the metric for each draw, average.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ssme.data.scoreset import ScoreSet
from ssme.methods.base import BoolArray, Estimate
from ssme.metrics.base import FloatArray, Metric, one_hot_mass

__all__ = ["LabelPosterior", "average_draws", "clamp", "draw_labels", "spawn_seed"]

BATCH_CELLS = 1 << 22
"""Cells (draws x rows x classes) of mass held at once: 32 MB of float64."""


def spawn_seed(rng: np.random.Generator) -> np.random.SeedSequence:
    """A fresh seed from ``rng``, so that a belief can repeat its draws on every call."""
    seed: np.random.SeedSequence = rng.bit_generator.seed_seq.spawn(1)[0]  # type: ignore[attr-defined]
    return seed


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
    """P(y | s) with labeled rows clamped; a metric's estimate is its mean over label draws."""

    data: ScoreSet
    posterior: FloatArray
    n_draws: int
    seed: np.random.SeedSequence
    notes: Mapping[str, Any] = field(default_factory=dict)

    def estimate(
        self, metrics: Sequence[Metric], rows: Sequence[BoolArray | None]
    ) -> list[list[Estimate]]:
        """Mean over the draws; the draws themselves carry the unknown labels' uncertainty."""
        scores, weights = self.data.scores, self.data.weights
        parts = [slice(None) if mask is None else np.flatnonzero(mask) for mask in rows]
        plans = [[metric.plan(scores[part]) for metric in metrics] for part in parts]
        values: list[list[list[FloatArray]]] = [[[] for _ in metrics] for _ in parts]
        for labels in self.label_batches():
            for g, part in enumerate(parts):
                part_weights = None if weights is None else weights[part]
                mass = one_hot_mass(labels[:, part], self.posterior.shape[1], part_weights)
                for m, plan in enumerate(plans[g]):
                    values[g][m].append(plan(mass))
        return [[average_draws(np.concatenate(v)) for v in group] for group in values]

    def label_batches(self) -> Iterator[NDArray[np.int64]]:
        """All draws (d, n) in batches of bounded memory; the same draws on every call."""
        rng = np.random.default_rng(self.seed)
        n, k = self.posterior.shape
        batch = max(1, BATCH_CELLS // max(1, n * k))
        for start in range(0, self.n_draws, batch):
            yield draw_labels(self.posterior, min(batch, self.n_draws - start), rng)


def average_draws(draws: FloatArray) -> Estimate:
    """Mean over the draws (D, M) that are defined; NaN where none is."""
    defined = np.isfinite(draws)
    count = defined.sum(axis=0)
    total = np.where(defined, draws, 0.0).sum(axis=0)
    value = np.where(count > 0, total / np.maximum(count, 1), np.nan)
    return Estimate(value=value, draws=draws)
