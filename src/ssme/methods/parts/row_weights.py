"""Draws that carry the sampling of the rows: another sample could have been drawn.

Label draws alone know how uncertain the labels of *these* rows are, and are far too narrow as
intervals. A *world* is a label draw on rows reweighted by the Bayesian bootstrap, weights
Dirichlet(1, ..., 1) (Rubin, Annals of Statistics 9, 1981), its labels drawn from a posterior that
was itself refitted where the method does so (Newton and Raftery, JRSS B 56, 1994).

The point estimate stays what the method says it is. The worlds are moved onto it, since a
bootstrap knows about spread and not about bias:

    draws = worlds - mean(worlds) + estimate, cut to the metric's range
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ssme.methods.base import Estimate
from ssme.metrics.base import FloatArray, Metric

__all__ = ["RowWeights", "average_defined", "center_all", "center_worlds"]

Batches = Sequence[Sequence[Sequence[FloatArray]]]
"""Values (D, M) in batches, by group and metric."""


@dataclass(frozen=True, eq=False)
class RowWeights:
    """Bootstrap weights (D, n) of mean 1: smooth ones, and whole ones where callables need them."""

    smooth: FloatArray
    whole: FloatArray | None

    @classmethod
    def draw(
        cls, metrics: Sequence[Metric], n_draws: int, n_rows: int, rng: np.random.Generator
    ) -> RowWeights:
        """Dirichlet weights times n; for callables the counts of n rows drawn with replacement."""
        smooth = rng.standard_exponential((n_draws, n_rows))
        smooth *= n_rows / smooth.sum(axis=1, keepdims=True)
        if not any(metric.hard_only for metric in metrics):
            return cls(smooth, None)
        whole = rng.multinomial(n_rows, np.full(n_rows, 1.0 / n_rows), size=n_draws)
        return cls(smooth, whole.astype(np.float64))

    def take_for(self, metric: Metric) -> FloatArray:
        """The weights that ``metric`` can take."""
        return self.whole if metric.hard_only and self.whole is not None else self.smooth

    def split_metrics(self, metrics: Sequence[Metric]) -> Iterator[tuple[FloatArray, list[int]]]:
        """Each kind of weights, with the numbers of the ``metrics`` that take it."""
        for weights in (self.smooth, self.whole):
            numbers = [m for m, metric in enumerate(metrics) if self.take_for(metric) is weights]
            if weights is not None and numbers:
                yield weights, numbers


def center_worlds(value: FloatArray, worlds: FloatArray, metric: Metric) -> Estimate:
    """``value`` (M,) with the ``worlds`` (D, M) moved onto it."""
    shift = value - average_defined(worlds)
    return Estimate(value, np.clip(worlds + shift, metric.low, metric.high))


def center_all(points: Batches, worlds: Batches, metrics: Sequence[Metric]) -> list[list[Estimate]]:
    """Estimates [group][metric]: means of ``points``, with the ``worlds`` moved onto them."""
    return [
        [
            center_worlds(average_defined(np.concatenate(p)), np.concatenate(w), metric)
            for p, w, metric in zip(own_points, own_worlds, metrics, strict=True)
        ]
        for own_points, own_worlds in zip(points, worlds, strict=True)
    ]


def average_defined(draws: FloatArray) -> FloatArray:
    """Mean (M,) over the draws (D, M) that are defined; NaN where none is."""
    defined = np.isfinite(draws)
    count = defined.sum(axis=0)
    total = np.where(defined, draws, 0.0).sum(axis=0)
    mean: FloatArray = np.where(count > 0, total / np.maximum(count, 1), np.nan)
    return mean
