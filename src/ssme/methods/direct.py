"""Belief of a method that estimates a metric directly, without a posterior over labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ssme.methods.base import BoolArray, Estimate
from ssme.metrics.base import FloatArray, Metric

__all__ = ["DirectBelief", "column_means", "normal_estimate"]


@dataclass(frozen=True, eq=False)
class DirectBelief:
    """Answers through ``answer(metric, rows)``; ``rows`` are the row numbers of one group."""

    n_rows: int
    answer: Callable[[Metric, NDArray[np.int64]], Estimate]
    notes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def posterior(self) -> None:
        return None

    def estimate(
        self, metrics: Sequence[Metric], rows: Sequence[BoolArray | None]
    ) -> list[list[Estimate]]:
        everything = np.arange(self.n_rows)
        parts = [everything if mask is None else np.flatnonzero(mask) for mask in rows]
        return [[self.answer(metric, part) for metric in metrics] for part in parts]


def normal_estimate(value: FloatArray, error: FloatArray, low: float, high: float) -> Estimate:
    """``value`` (M,) with normal intervals of standard ``error`` (M,), kept inside [low, high]."""

    def bounds(level: float) -> tuple[FloatArray, FloatArray]:
        from scipy.special import ndtri

        reach = ndtri(0.5 + level / 2.0) * error
        return np.clip(value - reach, low, high), np.clip(value + reach, low, high)

    return Estimate(value=np.clip(value, low, high), bounds=bounds)


def column_means(
    values: FloatArray, rows: NDArray[np.int64], weights: FloatArray | None
) -> FloatArray:
    """Weighted mean (M,) of ``values`` (n, M) over ``rows``; NaN entries do not count."""
    part = values[rows]
    present = np.isfinite(part)
    mass = present if weights is None else present * weights[rows, None]
    total = mass.sum(axis=0)
    mean: FloatArray = np.where(
        total > 0,
        np.where(present, part * mass, 0.0).sum(axis=0) / np.where(total > 0, total, 1.0),
        np.nan,
    )
    return mean
