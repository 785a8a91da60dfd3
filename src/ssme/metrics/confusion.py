"""Decisions, and the (soft) confusion tables of decisions and true classes.

A decision depends on the scores alone. Two classes: class 1 is predicted when ``P(1) >= threshold``
(0.5 unless told; so a tie at 0.5 is predicted 1, as scikit-learn's ``FixedThresholdClassifier``
does). More classes: the largest score, the first on ties. The confusion table

    C[k, l] = sum_i mass[i, k] * [row i is predicted l]

is linear in the mass. Hard labels give scikit-learn's matrix; a posterior gives its expectation.

`RowTables` and `FullTables` are the same tables, read off rows or given whole. From rows, the
diagonal and the margins are computed without the K * K cells, so that their cost grows with the
number of classes and not with its square.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ssme.errors import UnsupportedError
from ssme.metrics.base import FloatArray
from ssme.metrics.kinds import DEFAULT_THRESHOLD
from ssme.metrics.mass import RowSets, find_present_rows, sum_lines, sum_row_weights, transpose

__all__ = ["FullTables", "RowTables", "confusion_matrices", "plan_tables", "predicted_classes"]


def predicted_classes(
    scores: FloatArray, threshold: float = DEFAULT_THRESHOLD
) -> NDArray[np.int64]:
    """Decide a class for each row and classifier.

    Parameters
    ----------
    scores : array (n, M, K)
        Scores of M classifiers for n rows and K classes.
    threshold : float
        P(1) from which class 1 of two classes is predicted (default 0.5). Among more than two
        classes the largest score decides, and the first of them if there is a tie.

    Returns
    -------
    array (n, M)
        Class numbers; -1 where the classifier has no score for the row.

    Examples
    --------
    >>> import numpy as np
    >>> from ssme.metrics import predicted_classes
    >>> scores = np.array([[[0.6, 0.4]], [[0.1, 0.9]]])
    >>> predicted_classes(scores).ravel().tolist()
    [0, 1]
    >>> predicted_classes(scores, threshold=0.3).ravel().tolist()
    [1, 1]
    """
    missing = np.isnan(scores)
    if scores.shape[2] == 2:
        predicted = (scores[:, :, 1] >= threshold).astype(np.int64)
    else:
        if threshold != DEFAULT_THRESHOLD:
            raise UnsupportedError(
                f"threshold {threshold:g} with {scores.shape[2]} classes",
                allowed="a threshold for two classes; the largest score decides among more",
                fix="leave the threshold out",
            )
        predicted = np.argmax(scores, axis=2)
    if missing.any():
        predicted[missing.any(axis=2)] = -1
    return predicted


def confusion_matrices(
    scores: FloatArray, mass: FloatArray, *, threshold: float = DEFAULT_THRESHOLD
) -> FloatArray:
    """Count true classes by predicted classes.

    Parameters
    ----------
    scores : array (n, M, K)
        Scores of M classifiers for n rows and K classes.
    mass : array (D, n, K)
        D labelings of the rows.
    threshold : float
        P(1) from which class 1 of two classes is predicted (default 0.5).

    Returns
    -------
    array (D, M, K, K)
        Mass of each true class (third axis) by predicted class (fourth axis). Rows without a score
        of a classifier do not count for it.

    Examples
    --------
    >>> import numpy as np
    >>> from ssme.metrics import confusion_matrices, one_hot_mass
    >>> scores = np.array([[[0.6, 0.4]], [[0.1, 0.9]], [[0.8, 0.2]]])
    >>> confusion_matrices(scores, one_hot_mass(np.array([0, 1, 1]), 2))[0, 0]
    array([[1., 0.],
           [1., 1.]])
    """
    n, n_models, n_classes = scores.shape
    predicted = predicted_classes(scores, threshold)
    by_prediction = RowSets.of(predicted, n_classes).sum_rows()
    n_draws = mass.shape[0]
    lines = transpose(mass).reshape(n, n_classes * n_draws)
    counts = (by_prediction @ lines).reshape(n_models, n_classes, n_classes, n_draws)
    out: FloatArray = np.ascontiguousarray(counts.transpose(3, 0, 2, 1))
    return out


class FullTables(NamedTuple):
    """Confusion tables that are given whole, ``counts`` (D, M, true class, predicted class)."""

    counts: FloatArray

    @property
    def hits(self) -> FloatArray:
        """Mass (D, M, K) of the rows of each class that are predicted as that class."""
        out: FloatArray = np.diagonal(self.counts, axis1=2, axis2=3)
        return out

    @property
    def occurring(self) -> FloatArray:
        """Mass (D, M, K) of the rows of each true class."""
        out: FloatArray = self.counts.sum(axis=3)
        return out

    @property
    def predicted(self) -> FloatArray:
        """Mass (D, M, K) of the rows predicted as each class."""
        out: FloatArray = self.counts.sum(axis=2)
        return out

    def total_of(self, values: FloatArray) -> FloatArray:
        """Sum (D, M) over all rows of ``values[true class, predicted class]``."""
        out: FloatArray = np.einsum("dmkl,kl->dm", self.counts, values)
        return out


def plan_tables(scores: FloatArray, threshold: float) -> Callable[[FloatArray], RowTables]:
    """Prepare the confusion tables of ``scores`` (n, M, K), to be read for any mass (D, n, K)."""
    n_classes = scores.shape[2]
    predicted = predicted_classes(scores, threshold)
    sets = RowSets.of(predicted, n_classes)
    hit, flagged = sets.sum_classes(predicted, n_classes), sets.sum_rows()
    present = find_present_rows(scores)
    return lambda mass: RowTables(mass, predicted, hit, flagged, present)


@dataclass(frozen=True, eq=False)
class RowTables:
    """Confusion tables of ``mass`` (D, n, K), of which only the sums that are asked for are made.

    ``predicted_class`` (n, M) are the decisions; ``hit`` sums mass on the predicted class, and
    ``flagged`` row weights, over the rows of each classifier and predicted class; ``present``
    (n, M) is one where a classifier has a score, None where it always has.
    """

    mass: FloatArray
    predicted_class: NDArray[np.int64]
    hit: Any
    flagged: Any
    present: FloatArray | None

    @cached_property
    def hits(self) -> FloatArray:
        """Mass (D, M, K) of the rows of each class that are predicted as that class."""
        return self._split_by_model(sum_lines(self.hit, self._lines), self.mass.shape[0])

    @cached_property
    def occurring(self) -> FloatArray:
        """Mass (D, M, K) of the rows of each true class."""
        n_draws, n, n_classes = self.mass.shape
        lines = self._lines.reshape(n, n_classes * n_draws)
        if self.present is not None:
            return self._split_by_model(self.present.T @ lines, n_draws)
        of_one = lines.sum(axis=0).reshape(n_classes, n_draws).T[:, None, :]
        return np.repeat(of_one, self._n_models, axis=1)

    @cached_property
    def predicted(self) -> FloatArray:
        """Mass (D, M, K) of the rows predicted as each class."""
        weights = sum_row_weights(self.mass)
        out = self._split_by_model(sum_lines(self.flagged, weights.T), len(weights))
        return np.broadcast_to(out, (self.mass.shape[0], *out.shape[1:]))

    def total_of(self, values: FloatArray) -> FloatArray:
        """Sum (D, M) over all rows of ``values[true class, predicted class]``."""
        worth = values.T[self.predicted_class]  # (n, M, K); a row without a decision is worth 0
        worth[self.predicted_class < 0] = 0.0
        table = worth.transpose(0, 2, 1).reshape(-1, worth.shape[1])
        out: FloatArray = self.mass.reshape(self.mass.shape[0], -1) @ table
        return out

    @cached_property
    def _lines(self) -> FloatArray:
        return transpose(self.mass)

    @property
    def _n_models(self) -> int:
        return int(self.predicted_class.shape[1])

    def _split_by_model(self, sums: FloatArray, n_draws: int) -> FloatArray:
        """Sums by classifier, class and labeling, however shaped, as (D, M, K)."""
        by_class = sums.reshape(self._n_models, self.mass.shape[2], n_draws)
        out: FloatArray = np.ascontiguousarray(by_class.transpose(2, 0, 1))
        return out
