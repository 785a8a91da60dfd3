"""Belief of a method that estimates a metric directly, without a posterior over labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from ssme.methods.base import Estimate, GroupRows, SilentOnRows, number_rows
from ssme.methods.facts import Facts
from ssme.metrics.base import FloatArray, Metric
from ssme.progress import track

__all__ = ["DirectBelief", "average_columns", "compute_root", "make_normal_estimate"]


@dataclass(frozen=True, eq=False)
class DirectBelief(SilentOnRows):
    """Answers through ``answer(metric, rows)``; ``rows`` are the row numbers of one group."""

    n_rows: int
    answer: Callable[[Metric, NDArray[np.int64]], Estimate]
    facts: Facts = field(default_factory=Facts)

    def estimate(
        self, metrics: Sequence[Metric], rows: Sequence[GroupRows]
    ) -> list[list[Estimate]]:
        parts = [number_rows(part, self.n_rows) for part in rows]
        asked = [(part, metric) for part in parts for metric in metrics]
        answers = iter([self.answer(metric, part) for part, metric in track(asked, "metrics")])
        return [[next(answers) for _ in metrics] for _ in parts]


def make_normal_estimate(
    value: FloatArray,
    influence: FloatArray,
    metric: Metric,
    n_draws: int,
    seed: np.random.SeedSequence,
) -> Estimate:
    """``value`` (M,) with normal intervals and joint normal draws, kept in the metric's range.

    ``influence`` (M, n) is what each row adds to the error of each value, so that its products are
    their covariance: classifiers judged on the same rows err together.
    """
    covariance = influence @ influence.T
    error = np.sqrt(np.diag(covariance))

    def clip(values: FloatArray) -> FloatArray:
        return np.clip(values, metric.low, metric.high)

    def find_bounds(level: float) -> tuple[FloatArray, FloatArray]:
        reach = ndtri(0.5 + level / 2.0) * error
        return clip(value - reach), clip(value + reach)

    draws = None
    if np.isfinite(covariance).all():
        normal = np.random.default_rng(seed).standard_normal((n_draws, value.size))
        draws = clip(value + normal @ compute_root(covariance))
    return Estimate(value=clip(value), draws=draws, bounds=find_bounds)


def compute_root(covariance: FloatArray) -> FloatArray:
    """The symmetric square root (M, M) of a covariance.

    It is unique: signs of eigenvectors, and axes of equal or zero variance, depend on the
    processor, and so would draws.
    """
    size, axes = np.linalg.eigh(covariance)
    known = np.where(size > 1e-13 * size[-1], size, 0.0)
    root: FloatArray = (axes * np.sqrt(known)) @ axes.T
    return root


def average_columns(
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
