"""What was observed: scores of M classifiers on n rows over K classes, labels with holes."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

__all__ = ["UNLABELED", "ScoreSet"]

UNLABELED = -1
"""Code of a missing label inside ``ScoreSet.labels``; users never see it."""


@dataclass(frozen=True, eq=False)
class ScoreSet:
    """Validated once, at the door; frozen from then on.

    Attributes
    ----------
    scores : (n, M, K) probabilities; each (row, model) sums to 1, or is all NaN where the model
        has no score for that row.
    labels : (n,) class index, `UNLABELED` where unknown.
    models, classes : names in the order of the axes.
    weights : (n,) or None.
    groups : column name -> (n,) values.
    ids : (n,) or None.
    """

    scores: NDArray[np.float64]
    labels: NDArray[np.int64]
    models: tuple[str, ...]
    classes: tuple[Hashable, ...]
    weights: NDArray[np.float64] | None = None
    groups: Mapping[str, NDArray[np.object_]] = field(default_factory=dict)
    ids: NDArray[np.object_] | None = None

    @property
    def n_rows(self) -> int:
        return int(self.scores.shape[0])

    @property
    def n_models(self) -> int:
        return int(self.scores.shape[1])

    @property
    def n_classes(self) -> int:
        return int(self.scores.shape[2])

    @property
    def labeled(self) -> NDArray[np.bool_]:
        """Mask (n,) of rows with a label."""
        mask: NDArray[np.bool_] = self.labels != UNLABELED
        return mask

    @property
    def n_labeled(self) -> int:
        return int(self.labeled.sum())

    @property
    def n_unlabeled(self) -> int:
        return self.n_rows - self.n_labeled
