"""Arithmetic on mass shared by every metric.

``mass`` (D, n, K) is documented in `ssme.metrics.base`. Three facts make metrics over many
labelings cheap. A metric that is a mean over rows is linear in the mass, hence one matrix product
for all labelings and classifiers (`linear_plan`). Sums over sets of rows (bins, predicted
classes) are one sparse product (`RowSets`). And label draws share their row weights, so what
depends on weights alone is computed once for a batch, not once per draw (`sum_row_weights`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ssme.errors import UnsupportedError
from ssme.metrics.base import FloatArray, MetricPlan

__all__ = [
    "RowSets",
    "compute_ratio",
    "find_present_rows",
    "linear_plan",
    "plan_mean",
    "require_binary",
    "sum_held_lines",
    "sum_lines",
    "sum_row_weights",
    "sum_scored_rows",
    "transpose",
]

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
    out: FloatArray = np.ascontiguousarray(mass.transpose(1, 2, 0)).reshape(n * n_classes, n_draws)
    return out


def find_present_rows(scores: FloatArray) -> FloatArray | None:
    """(n, M) one where a classifier has a score; None when every classifier scores every row."""
    if np.isfinite(scores).all():
        return None
    present = ~np.isnan(scores.sum(axis=2))
    return None if present.all() else present.astype(np.float64)


def sum_scored_rows(rows: FloatArray, present: FloatArray | None) -> FloatArray:
    """Sums of ``rows`` (D, n) over the rows each classifier scored: (D, M), or (D, 1) for all."""
    out: FloatArray = rows.sum(axis=1, keepdims=True) if present is None else rows @ present
    return out


def linear_plan(value: FloatArray) -> MetricPlan:
    """Mean over rows of ``value`` (n, M, K), one for each true class; NaN rows do not count."""
    present = find_present_rows(value)
    filled = value if present is None else np.where(present[:, :, None] > 0, value, 0.0)
    return plan_mean(filled.transpose(0, 2, 1), present)


def plan_mean(value: FloatArray, present: FloatArray | None) -> MetricPlan:
    """Mean of ``value`` (n, K, M) over the rows that are ``present`` (n, M), zero elsewhere."""
    n, n_classes, n_models = value.shape
    table = np.ascontiguousarray(value).reshape(n * n_classes, n_models)
    low, high = (table.min(), table.max()) if table.size else (0.0, 0.0)

    def evaluate(mass: FloatArray) -> FloatArray:
        summed = mass.reshape(mass.shape[0], n * n_classes) @ table
        return np.clip(
            compute_ratio(summed, sum_scored_rows(sum_row_weights(mass), present)), low, high
        )

    return evaluate


class RowSets(NamedTuple):
    """Sets of rows, so many for each of C columns, over which sparse matrices sum.

    ``members`` has the rows of each column, set after set, ascending within a set; in all of them
    together, set s has those from ``bounds[s]`` to ``bounds[s + 1]``.
    """

    n_rows: int
    bounds: NDArray[np.int64]
    members: tuple[NDArray[Any], ...]

    @classmethod
    def of(cls, sets: NDArray[np.int64], n_sets: int) -> RowSets:
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

    def sum_classes(self, classes: NDArray[np.int64], n_classes: int) -> Any:
        """Matrix (sets, n * K) that sums lines of rows and classes, of ``classes`` (n, C)."""
        cells = np.concatenate(self.members, dtype=np.int64) * n_classes + self._take(classes)
        return self._sum(cells, self.n_rows * n_classes, None)

    def _take(self, values: NDArray[Any]) -> NDArray[Any]:
        """``values`` (n, C) of the members."""
        columns = zip(values.T, self.members, strict=True)
        return np.concatenate([np.ascontiguousarray(of)[rows] for of, rows in columns])

    def _sum(self, source: NDArray[Any], n_sources: int, weights: FloatArray | None) -> Any:
        from scipy.sparse import csr_array

        held = np.ones(len(source)) if weights is None else weights
        return csr_array((held, source, self.bounds), shape=(len(self.bounds) - 1, n_sources))


def sum_lines(matrix: Any, lines: FloatArray) -> FloatArray:
    """``matrix @ lines`` (sets, D), so many columns at once as stay in the processor's cache."""
    n_columns = lines.shape[1]
    if n_columns <= _PIECE:
        out: FloatArray = matrix @ lines
        return out
    out = np.empty((matrix.shape[0], n_columns))
    for start in range(0, n_columns, _PIECE):
        some = slice(start, start + _PIECE)
        out[:, some] = matrix @ np.ascontiguousarray(lines[:, some])
    return out


def sum_held_lines(matrix: Any, mass: FloatArray) -> FloatArray:
    """``matrix @ mass.T`` (sets, D) of ``mass`` (D, n); rows that never hold any are left out."""
    held = np.flatnonzero((mass != 0.0).any(axis=0))
    if len(mass) <= _PIECE or 2 * len(held) > mass.shape[1]:
        return sum_lines(matrix, mass.T)
    return sum_lines(matrix[:, held], mass[:, held].T)


def require_binary(scores: FloatArray) -> None:
    """Refuse more than two classes on behalf of a metric of the positive class."""
    if scores.shape[2] != 2:
        raise UnsupportedError(
            f"a metric of the positive class was asked for on {scores.shape[2]} classes",
            allowed="two classes",
            fix="choose a multiclass metric, for example `accuracy`, `f1_macro` or `roc_auc`",
        )
