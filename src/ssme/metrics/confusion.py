"""Decisions, and the (soft) confusion tables of decisions and true classes.

A decision depends on the scores alone. Two classes: class 1 is predicted when ``P(1) >= threshold``
(0.5 by default; so a tie at 0.5 is predicted 1, as scikit-learn's ``FixedThresholdClassifier``
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

from ssme.arrays import FloatArray, IntArray
from ssme.errors import UnsupportedError
from ssme.metrics import base, kinds

# -------------------------------------------------------------------------------------------------
# Arithmetic on mass shared by every metric.
#
# ``mass`` (D, n, K) is documented in `ssme.metrics.base`. Three facts make metrics over many
# labelings cheap. A metric that is a mean over rows is linear in the mass, hence one matrix product
# for all labelings and classifiers (`linear_plan`). Sums over sets of rows (bins, predicted
# classes) are one sparse product (`RowSets`). And label draws share their row weights, so what
# depends on weights alone is computed once for a batch, not once per draw (`sum_row_weights`).


_SAME_WEIGHT = 1e-12
_PIECE = 32


def compute_ratio(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    """``numerator / denominator``, NaN where the denominator is not positive."""
    numerator, denominator = np.broadcast_arrays(numerator, denominator)
    out: FloatArray = np.full(numerator.shape, np.nan)
    np.divide(numerator, denominator, out=out, where=denominator > 0)
    return out


def sum_row_weights(mass: FloatArray) -> FloatArray:
    """Weights of the rows, (1, n) when all labelings share them, otherwise (D, n)."""
    n_draws, n, n_classes = mass.shape
    weights: FloatArray
    if n_classes == 2:
        weights = mass[:, :, 0] + mass[:, :, 1]
    else:
        weights = (mass.reshape(-1, n_classes) @ np.ones(n_classes)).reshape(n_draws, n)
    shared = n_draws > 1 and _are_equal(weights[:2]) and _are_equal(weights)
    return weights[:1] if shared else weights


def _are_equal(weights: FloatArray) -> bool:
    """Whether the labelings (D, n) share the weights of their rows."""
    low, high = weights.min(axis=0), weights.max(axis=0)
    return bool((high - low <= _SAME_WEIGHT * low).all())


def transpose(mass: FloatArray) -> FloatArray:
    """Mass as (n * K, D): one line per row and class, as sparse products want it."""
    n_draws, n, n_classes = mass.shape
    return np.ascontiguousarray(mass.transpose(1, 2, 0)).reshape(n * n_classes, n_draws)


def find_present_rows(scores: FloatArray) -> FloatArray | None:
    """(n, M) one where a classifier has a score; None when every classifier scores every row."""
    if np.isfinite(scores).all():
        return None
    present = ~np.isnan(scores.sum(axis=2))
    return None if present.all() else present.astype(np.float64)


def linear_plan(value: FloatArray) -> base.MetricPlan:
    """Mean over rows of ``value`` (n, M, K), one for each true class; NaN rows do not count."""
    present = find_present_rows(value)
    filled = value if present is None else np.where(present[:, :, None] > 0, value, 0.0)
    return plan_mean(filled.transpose(0, 2, 1), present)


def plan_mean(value: FloatArray, present: FloatArray | None) -> base.MetricPlan:
    """Mean of ``value`` (n, K, M) over the rows that are ``present`` (n, M), zero elsewhere."""
    n, n_classes, n_models = value.shape
    table = np.ascontiguousarray(value).reshape(n * n_classes, n_models)
    low, high = (table.min(), table.max()) if table.size else (0.0, 0.0)

    def evaluate(mass: FloatArray) -> FloatArray:
        summed = mass.reshape(mass.shape[0], n * n_classes) @ table
        rows = sum_row_weights(mass)
        scored = rows.sum(axis=1, keepdims=True) if present is None else rows @ present
        return np.clip(compute_ratio(summed, scored), low, high)

    return evaluate


class RowSets(NamedTuple):
    """Sets of rows, so many for each of C columns, over which sparse matrices sum.

    ``members`` has the rows of each column, set after set, ascending within a set; in all of them
    together, set s has those from ``bounds[s]`` to ``bounds[s + 1]``.
    """

    n_rows: int
    bounds: IntArray
    members: tuple[NDArray[Any], ...]

    @classmethod
    def of(cls, sets: IntArray, n_sets: int) -> RowSets:
        """The ``n_sets`` sets of each column: ``sets`` (n, C), -1 where a row is in none."""
        kept = np.int32 if len(sets) <= np.iinfo(np.int32).max else np.int64
        sizes, members = [np.zeros(1, dtype=np.int64)], []
        for column in sets.T:
            short = n_sets <= np.iinfo(np.int16).max  # short numbers are sorted by their digits
            order = np.argsort(column.astype(np.int16) if short else column, kind="stable")
            size = np.bincount(column + 1, minlength=n_sets + 1)
            members.append(order[size[0] :].astype(kept, copy=False))
            sizes.append(size[1:])
        return cls(len(sets), np.cumsum(np.concatenate(sizes)), tuple(members))

    def sum_rows(self, values: FloatArray | None = None) -> Any:
        """Matrix (sets, n) that sums lines of rows, times ``values`` (n, C) where given."""
        weights = None if values is None else self._take(values)
        return self._sum(np.concatenate(self.members), self.n_rows, weights)

    def sum_classes(self, classes: IntArray, n_classes: int) -> Any:
        """Matrix (sets, n * K) that sums lines of rows and classes, of ``classes`` (n, C)."""
        cells = np.concatenate(self.members, dtype=np.int64) * n_classes + self._take(classes)
        return self._sum(cells, self.n_rows * n_classes, None)

    def _take(self, values: NDArray[Any]) -> NDArray[Any]:
        """``values`` (n, C) of the members."""
        columns = zip(values.T, self.members, strict=True)
        return np.concatenate([np.ascontiguousarray(of)[rows] for of, rows in columns])

    def _sum(self, source: NDArray[Any], n_sources: int, weights: FloatArray | None) -> Any:
        from scipy.sparse import csr_array

        values = np.ones(len(source)) if weights is None else weights
        return csr_array((values, source, self.bounds), shape=(len(self.bounds) - 1, n_sources))


def sum_lines(matrix: Any, lines: FloatArray) -> FloatArray:
    """``matrix @ lines`` (sets, D), so many columns at once as stay in the processor's cache."""
    n_columns = lines.shape[1]
    if n_columns <= _PIECE:
        return matrix @ lines
    out = np.empty((matrix.shape[0], n_columns))
    for start in range(0, n_columns, _PIECE):
        some = slice(start, start + _PIECE)
        out[:, some] = matrix @ np.ascontiguousarray(lines[:, some])
    return out


def sum_held_lines(matrix: Any, mass: FloatArray) -> FloatArray:
    """``matrix @ mass.T`` (sets, D) of ``mass`` (D, n); rows that never hold any are left out."""
    occupied = np.flatnonzero((mass != 0.0).any(axis=0))
    if len(mass) <= _PIECE or 2 * len(occupied) > mass.shape[1]:
        return sum_lines(matrix, mass.T)
    return sum_lines(matrix[:, occupied], mass[:, occupied].T)


def require_binary(scores: FloatArray) -> None:
    """Refuse more than two classes on behalf of a metric of the positive class."""
    if scores.shape[2] != 2:
        problem = f"a metric of the positive class was asked for on {scores.shape[2]} classes"
        hint = "choose a multiclass metric, for example `accuracy`, `f1_macro` or `roc_auc`"
        raise UnsupportedError(problem, hint=hint)


def predicted_classes(scores: FloatArray, threshold: float = kinds.DEFAULT_THRESHOLD) -> IntArray:
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
        if threshold != kinds.DEFAULT_THRESHOLD:
            problem = f"threshold {threshold:g} with {scores.shape[2]} classes"
            hint = "leave the threshold out: the largest score decides among more than two"
            raise UnsupportedError(problem, hint=hint)
        predicted = np.argmax(scores, axis=2)
    if missing.any():
        predicted[missing.any(axis=2)] = -1
    return predicted


def confusion_matrices(
    scores: FloatArray, mass: FloatArray, *, threshold: float = kinds.DEFAULT_THRESHOLD
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
    return np.ascontiguousarray(counts.transpose(3, 0, 2, 1))


class FullTables(NamedTuple):
    """`Tables` that are given whole, ``counts`` (D, M, true class, predicted class)."""

    counts: FloatArray

    @property
    def hits(self) -> FloatArray:
        return np.diagonal(self.counts, axis1=2, axis2=3)

    @property
    def occurring(self) -> FloatArray:
        return self.counts.sum(axis=3)

    @property
    def predicted(self) -> FloatArray:
        return self.counts.sum(axis=2)

    def total_of(self, values: FloatArray) -> FloatArray:
        return np.einsum("dmkl,kl->dm", self.counts, values)


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
    """`Tables` of ``mass`` (D, n, K), of which only the sums that are asked for are made.

    ``predicted_class`` (n, M) are the decisions; ``hit`` sums mass on the predicted class, and
    ``flagged`` row weights, over the rows of each classifier and predicted class; ``present``
    (n, M) is one where a classifier has a score, None where it always has.
    """

    mass: FloatArray
    predicted_class: IntArray
    hit: Any
    flagged: Any
    present: FloatArray | None

    @cached_property
    def hits(self) -> FloatArray:
        return self._split_by_model(sum_lines(self.hit, self._lines), self.mass.shape[0])

    @cached_property
    def occurring(self) -> FloatArray:
        n_draws, n, n_classes = self.mass.shape
        lines = self._lines.reshape(n, n_classes * n_draws)
        if self.present is not None:
            return self._split_by_model(self.present.T @ lines, n_draws)
        of_one = lines.sum(axis=0).reshape(n_classes, n_draws).T[:, None, :]
        return np.repeat(of_one, self._n_models, axis=1)

    @cached_property
    def predicted(self) -> FloatArray:
        weights = sum_row_weights(self.mass)
        out = self._split_by_model(sum_lines(self.flagged, weights.T), len(weights))
        return np.broadcast_to(out, (self.mass.shape[0], *out.shape[1:]))

    def total_of(self, values: FloatArray) -> FloatArray:
        worth = values.T[self.predicted_class]  # (n, M, K); a row without a decision is worth 0
        worth[self.predicted_class < 0] = 0.0
        table = worth.transpose(0, 2, 1).reshape(-1, worth.shape[1])
        return self.mass.reshape(self.mass.shape[0], -1) @ table

    @cached_property
    def _lines(self) -> FloatArray:
        return transpose(self.mass)

    @property
    def _n_models(self) -> int:
        return int(self.predicted_class.shape[1])

    def _split_by_model(self, sums: FloatArray, n_draws: int) -> FloatArray:
        """Sums by classifier, class and labeling, however shaped, as (D, M, K)."""
        by_class = sums.reshape(self._n_models, self.mass.shape[2], n_draws)
        return np.ascontiguousarray(by_class.transpose(2, 0, 1))
