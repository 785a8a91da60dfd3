"""Belief of a method that has one posterior per classifier.

Each classifier is evaluated against labels drawn from its own P(y | s_j). One uniform number per
row and draw is shared by all classifiers, so the draws stay as joint as the posteriors allow.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ssme.data.scoreset import ScoreSet
from ssme.methods.base import Estimate, GroupRows, number_rows
from ssme.methods.beliefs.posterior import BATCH_CELLS
from ssme.methods.facts import Facts
from ssme.methods.parts.row_weights import RowWeights, center_all
from ssme.methods.parts.seeds import make_child_seed
from ssme.metrics.base import FloatArray, Metric, MetricPlan, one_hot_mass
from ssme.progress import track

__all__ = ["PerModelPosterior", "find_labels_at"]


def find_labels_at(uniform: FloatArray, posterior: FloatArray) -> NDArray[np.int64]:
    """Labels (D, n) at quantiles ``uniform`` (D, n) of ``posterior`` (n, K) or (D, n, K)."""
    below = np.cumsum(posterior, axis=-1)[..., :-1]
    labels: NDArray[np.int64] = (uniform[..., None] >= below).sum(axis=-1)
    return labels


@dataclass(frozen=True, eq=False)
class PerModelPosterior:
    """P(y | s_j) per classifier, ``posteriors`` (M, n, K), labeled rows clamped in each.

    A row without a score from classifier j is NaN in ``posteriors[j]`` and does not count for it.
    """

    predictor: ClassVar[None] = None
    clamps_labels: ClassVar[bool] = True
    narrows_with_rows: ClassVar[bool] = True

    data: ScoreSet
    posteriors: FloatArray
    n_draws: int
    n_worlds: int
    seed: np.random.SeedSequence
    facts: Facts = field(default_factory=Facts)
    batch_cells: int = BATCH_CELLS

    @property
    def posterior(self) -> FloatArray:
        """Mean of the classifiers' posteriors (n, K)."""
        present = np.isfinite(self.posteriors)
        total = np.where(present, self.posteriors, 0.0).sum(axis=0)
        mean: FloatArray = total / present.sum(axis=0)
        return mean

    def estimate(
        self, metrics: Sequence[Metric], rows: Sequence[GroupRows]
    ) -> list[list[Estimate]]:
        """Mean over the draws of each classifier's own labels; worlds reuse the first of them."""
        scores, weights = self.data.scores, self.data.weights
        n = self.data.n_rows
        parts = [slice(None) if part is None else number_rows(part, n) for part in rows]
        models, k = range(self.data.n_models), self.data.n_classes
        plans = [
            [[metric.plan(scores[part][:, [j]]) for j in models] for metric in metrics]
            for part in parts
        ]
        points: list[list[list[FloatArray]]] = [[[] for _ in metrics] for _ in parts]
        worlds: list[list[list[FloatArray]]] = [[[] for _ in metrics] for _ in parts]
        rng, n_worlds = np.random.default_rng(make_child_seed(self.seed, 0)), 0
        for labels in self.draw_label_batches():
            again = labels[:, : max(0, self.n_worlds - n_worlds)]
            n_worlds += again.shape[1]
            resampled = RowWeights.draw(metrics, again.shape[1], labels.shape[2], rng)
            for g, part in enumerate(parts):
                part_weights = None if weights is None else weights[part]
                masses = [one_hot_mass(own[:, part], k, part_weights) for own in labels]
                for m, metric in enumerate(metrics):
                    points[g][m].append(_put_side_by_side(plans[g][m], masses))
                    if again.size:
                        rows_again = resampled.take_for(metric)[:, part, None]
                        reweighted = [mass[: len(rows_again)] * rows_again for mass in masses]
                        worlds[g][m].append(_put_side_by_side(plans[g][m], reweighted))
        return center_all(points, worlds, metrics)

    def draw_label_batches(self) -> Iterator[NDArray[np.int64]]:
        """All draws (M, d, n) in batches of bounded memory; the same draws on every call."""
        rng = np.random.default_rng(self.seed)
        _, n, k = self.posteriors.shape
        batch = max(1, self.batch_cells // max(1, n * k * self.data.n_models))
        for start in track(range(0, self.n_draws, batch), "label draws"):
            stop = min(start + batch, self.n_draws)
            uniform = rng.random((stop - start, n))
            yield np.stack(
                [
                    find_labels_at(uniform, self.draw_posterior(j, start, stop))
                    for j in range(self.data.n_models)
                ]
            )

    def draw_posterior(self, model: int, start: int, stop: int) -> FloatArray:
        """P(y | s_j) behind draws start..stop: (n, K), or (stop - start, n, K) if it varies."""
        posterior: FloatArray = self.posteriors[model]
        return posterior


def _put_side_by_side(plans: Sequence[MetricPlan], masses: Sequence[FloatArray]) -> FloatArray:
    """Values (D, M), classifier j from its own mass."""
    columns = [plan(mass) for plan, mass in zip(plans, masses, strict=True)]
    out: FloatArray = np.concatenate(columns, axis=1)
    return out
