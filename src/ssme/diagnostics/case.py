"""What checks look at: the data, the belief, the estimates, and a bounded sample of the rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ssme.data.scoreset import ScoreSet
from ssme.diagnostics.limits import Limits
from ssme.methods.base import Estimate, Facts
from ssme.methods.estimators.ensemble import average_scores
from ssme.methods.parts.missing import fill_missing
from ssme.metrics.base import FloatArray, Metric

__all__ = ["Case"]


@dataclass(frozen=True, eq=False)
class Case:
    """The data, the belief and the estimates, and what several checks need of them.

    ``estimates`` and ``labels_only`` are those of all rows, one per metric; empty where unknown.
    ``groups`` has the number of labels of every group that is estimated; None where that is not
    known, and the values of the group columns stand for it.
    """

    data: ScoreSet
    posterior: FloatArray | None = None
    facts: Facts = field(default_factory=Facts)
    metrics: Sequence[Metric] = ()
    estimates: Sequence[Estimate] = ()
    labels_only: Sequence[Estimate] = ()
    limits: Limits = field(default_factory=Limits)
    groups: Mapping[str, int] | None = None

    @cached_property
    def labeled_rows(self) -> NDArray[np.intp]:
        return self._take_some(np.flatnonzero(self.data.labeled))

    @cached_property
    def unlabeled_rows(self) -> NDArray[np.intp]:
        return self._take_some(np.flatnonzero(~self.data.labeled))

    @cached_property
    def labels(self) -> NDArray[np.int64]:
        """Labels of `labeled_rows`."""
        return self.data.labels[self.labeled_rows]

    @cached_property
    def labeled_scores(self) -> FloatArray:
        """Scores (n_l, M, K) of `labeled_rows`, NaN where missing."""
        return self.data.scores[self.labeled_rows]

    @cached_property
    def presumed_random(self) -> NDArray[np.bool_]:
        """Rows (n,) with a label of which nobody says how it was chosen: not those of rounds."""
        labeled, rounds = self.data.labeled, self.data.design.rounds
        return labeled if rounds is None else labeled & np.isnan(rounds.probability)

    @cached_property
    def judging_rows(self) -> NDArray[np.intp]:
        """Those of `labeled_rows` that are `presumed_random`."""
        rows: NDArray[np.intp] = self.labeled_rows[self.presumed_random[self.labeled_rows]]
        return rows

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
        return average_scores(self.data.scores[self.rows])

    @cached_property
    def pooled_labels(self) -> tuple[FloatArray, FloatArray, NDArray[np.int64]]:
        """Pool (n, K), scores (n, M, K) and labels (n,) of the `presumed_random` of `rows`."""
        labeled = self.presumed_random[self.rows]
        return self.pool[labeled], self.scores[labeled], self.data.labels[self.rows[labeled]]

    def _take_some(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        most = self.limits.most_rows
        if rows.size <= most:
            return rows
        return np.sort(np.random.default_rng(0).choice(rows, most, replace=False))
