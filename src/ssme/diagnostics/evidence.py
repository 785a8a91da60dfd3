"""What checks look at: a bounded sample of the rows, prepared once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ssme.data.scoreset import ScoreSet
from ssme.methods.base import Estimate
from ssme.methods.estimators.ensemble import mean_score
from ssme.methods.parts.missing import fill_missing
from ssme.metrics.base import FloatArray, Metric

__all__ = ["MOST_ROWS", "Evidence"]

MOST_ROWS = 2_000
"""Labeled rows looked at, and as many unlabeled ones: checks then cost the same at any size."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """The data, the belief and the estimates, and what several checks need of them.

    ``estimates`` and ``labels_only`` are those of all rows, one per metric; empty where unknown.
    """

    data: ScoreSet
    posterior: FloatArray | None = None
    notes: Mapping[str, Any] = field(default_factory=dict)
    metrics: Sequence[Metric] = ()
    estimates: Sequence[Estimate] = ()
    labels_only: Sequence[Estimate] = ()

    @cached_property
    def labeled_rows(self) -> NDArray[np.intp]:
        return self._some(np.flatnonzero(self.data.labeled))

    @cached_property
    def unlabeled_rows(self) -> NDArray[np.intp]:
        return self._some(np.flatnonzero(~self.data.labeled))

    @cached_property
    def labels(self) -> NDArray[np.int64]:
        """Labels of `labeled_rows`."""
        return self.data.labels[self.labeled_rows]

    @cached_property
    def labeled_scores(self) -> FloatArray:
        """Scores (n_l, M, K) of `labeled_rows`, NaN where missing."""
        return self.data.scores[self.labeled_rows]

    @cached_property
    def rows(self) -> NDArray[np.intp]:
        """The labeled and unlabeled rows looked at, less those without any score."""
        rows = np.concatenate([self.labeled_rows, self.unlabeled_rows])
        scored = np.isfinite(self.data.scores[rows, :, 0]).any(axis=1)
        kept: NDArray[np.intp] = rows[scored]
        return kept

    @cached_property
    def scores(self) -> FloatArray:
        """Scores (n, M, K) of `rows`, missing ones filled by the row's other classifiers."""
        return fill_missing(self.data.scores[self.rows])

    @cached_property
    def pool(self) -> FloatArray:
        """Mean score (n, K) of `rows`."""
        return mean_score(self.data.scores[self.rows])

    @cached_property
    def pooled_labels(self) -> tuple[FloatArray, FloatArray, NDArray[np.int64]]:
        """Pool (n, K), scores (n, M, K) and labels (n,) of the labeled rows among `rows`."""
        labeled = self.data.labeled[self.rows]
        return self.pool[labeled], self.scores[labeled], self.data.labels[self.rows[labeled]]

    def _some(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        if rows.size <= MOST_ROWS:
            return rows
        return np.sort(np.random.default_rng(0).choice(rows, MOST_ROWS, replace=False))
