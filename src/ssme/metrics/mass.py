"""Arithmetic on mass shared by every metric.

``mass`` (D, n, K) is documented in `ssme.metrics.base`. Three facts make metrics over many
labelings cheap. A metric that is a mean over rows is linear in the mass, hence one matrix product
for all labelings and classifiers (`linear_plan`). Sums over sets of rows (bins, predicted
classes) are one sparse product (`selection`). And label draws share their row weights, so what
depends on weights alone is computed once for a batch, not once per draw (`row_weights`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ssme.errors import UnsupportedError
from ssme.metrics.base import FloatArray, MetricPlan

__all__ = [
    "linear_plan",
    "present_rows",
    "ratio",
    "require_binary",
    "row_weights",
    "selection",
    "total",
    "transpose",
]

_SAME_WEIGHT = 1e-12


def ratio(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    """``numerator / denominator``, NaN where the denominator is not positive."""
    numerator, denominator = np.broadcast_arrays(numerator, denominator)
    out: FloatArray = np.full(numerator.shape, np.nan)
    np.divide(numerator, denominator, out=out, where=denominator > 0)
    return out


def row_weights(mass: FloatArray) -> FloatArray:
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


def present_rows(scores: FloatArray) -> FloatArray | None:
    """(n, M) one where a classifier has a score; None when every classifier scores every row."""
    present = ~np.isnan(scores.sum(axis=2))
    return None if present.all() else present.astype(np.float64)


def total(rows: FloatArray, present: FloatArray | None) -> FloatArray:
    """Sums of ``rows`` (D, n) over the rows each classifier scored: (D, M), or (D, 1) for all."""
    out: FloatArray = rows.sum(axis=1, keepdims=True) if present is None else rows @ present
    return out


def linear_plan(value: FloatArray) -> MetricPlan:
    """Mean over rows of ``value`` (n, M, K), one for each true class; NaN rows do not count."""
    n, n_models, n_classes = value.shape
    present = present_rows(value)
    filled = value if present is None else np.where(present[:, :, None] > 0, value, 0.0)
    table = np.ascontiguousarray(filled.transpose(0, 2, 1)).reshape(n * n_classes, n_models)
    low, high = (table.min(), table.max()) if table.size else (0.0, 0.0)

    def evaluate(mass: FloatArray) -> FloatArray:
        summed = mass.reshape(mass.shape[0], n * n_classes) @ table
        return np.clip(ratio(summed, total(row_weights(mass), present)), low, high)

    return evaluate


def selection(
    target: NDArray[np.int64],
    source: NDArray[np.int64],
    shape: tuple[int, int],
    values: FloatArray | None = None,
) -> Any:
    """Sparse matrix of ``shape`` whose line ``target`` sums ``values`` times lines ``source``.

    Values are one unless given; entries with a negative target belong to no set.
    """
    from scipy.sparse import csr_array

    kept = target >= 0
    target, source = target[kept], source[kept]
    data = np.ones(target.size) if values is None else values[kept]
    return csr_array((data, (target, source)), shape=shape)


def require_binary(scores: FloatArray) -> None:
    """Refuse more than two classes on behalf of a metric of the positive class."""
    if scores.shape[2] != 2:
        raise UnsupportedError(
            f"a metric of the positive class was asked for on {scores.shape[2]} classes",
            allowed="two classes",
            fix="choose a multiclass metric, for example `accuracy`, `f1_macro` or `roc_auc`",
        )
