"""A metric of decisions as a curve over the thresholds of each model, with its draws.

Thresholds are scores of the model. Confusion tables at all of them are cumulative sums of the mass
of rows sorted by score, so that a curve costs one pass over the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ssme.errors import UnsupportedError
from ssme.methods.base import Estimate
from ssme.metrics.base import FloatArray, Metric, MetricPlan
from ssme.metrics.confusion import FullTables
from ssme.metrics.kinds import Custom, Decision

__all__ = ["AtPick", "Curve", "list_candidates", "refine_candidates", "trace_metric"]


def list_candidates(scores: FloatArray, most: int) -> FloatArray:
    """Thresholds (M, T) among the scores (n, M, 2) of each model, and 0 and 1, ascending.

    Up to ``most`` distinct scores are all there. Of more, those at ranks that grow geometrically
    from both ends: what a metric says of a rare class depends on the share of few rows at one end.
    """
    steps = np.geomspace(1.0, max(len(scores) / 2.0, 1.0), max(most // 2, 1)).astype(np.int64)
    return _pad([_thin(_sort_scores(scores, j), steps, most) for j in range(scores.shape[1])])


def refine_candidates(
    cuts: FloatArray, scores: FloatArray, chosen: Sequence[int], most: int
) -> FloatArray:
    """``cuts`` (M, T) and the scores next to the ``chosen`` one of each model, ``most`` of them."""
    out = []
    for j, at in enumerate(chosen):
        above = cuts[j][cuts[j] > cuts[j, at]]
        score = np.unique(_sort_scores(scores, j))
        score = score[score > cuts[j, max(at - 1, 0)]]
        score = score[score < above[0]] if above.size else score
        out.append(np.concatenate([cuts[j], score[:: max(1, len(score) // most)]]))
    return _pad(out)


def _sort_scores(scores: FloatArray, j: int) -> FloatArray:
    score = scores[:, j, 1]
    out: FloatArray = np.sort(score[np.isfinite(score)])
    return out


def _thin(score: FloatArray, steps: NDArray[np.int64], most: int) -> FloatArray:
    """Distinct values of the ascending ``score``: all, or those ``steps`` from either end."""
    distinct = np.unique(score)
    if len(distinct) <= most:
        return distinct
    steps = steps[steps <= len(score)]
    return np.concatenate([score[steps - 1], score[-steps]])


def _pad(thresholds: Sequence[FloatArray]) -> FloatArray:
    """The distinct thresholds of each model with 0 and 1, as rows (M, T) that end in ones."""
    rows = [np.unique(np.concatenate([[0.0, 1.0], each])) for each in thresholds]
    out = np.ones((len(rows), max(map(len, rows))))
    for row, values in zip(out, rows, strict=True):
        row[: len(values)] = values
    return out


def trace_metric(metric: Metric, cuts: FloatArray) -> Metric:
    """``metric`` at every threshold, classifiers one after the other: (D, M * T) values."""
    assert isinstance(metric.kind, Decision)
    statistic = metric.kind.statistic

    def plan(scores: FloatArray) -> MetricPlan:
        n, n_models = scores.shape[:2]
        places = np.full((n, n_models), -1, dtype=np.int64)
        for j in range(n_models):
            score = scores[:, j, 1]
            held = np.isfinite(score)
            places[held, j] = np.searchsorted(cuts[j], score[held], side="right")

        def compute_values(mass: FloatArray) -> FloatArray:
            tables = [count_tables(mass, places[:, j], cuts.shape[1]) for j in range(n_models)]
            out: FloatArray = statistic(FullTables(np.concatenate(tables, axis=1)))
            return out

        return compute_values

    return Metric(
        metric.name,
        metric.title,
        plan,
        Custom(),
        low=metric.low,
        high=metric.high,
        greater_is_better=metric.greater_is_better,
        of_positive=True,
        of_model=lambda j: trace_metric(metric, cuts[[j]]),
    )


def count_tables(mass: FloatArray, places: NDArray[np.int64], size: int) -> FloatArray:
    """Confusion tables (D, T, 2, 2) of one classifier at each of ``size`` thresholds.

    ``places`` (n,) counts the thresholds that a row's score reaches; -1 where it has none.
    """
    held = places >= 0
    order = np.argsort(places[held], kind="stable")
    sums = np.zeros((len(mass), size + 1, 2))
    if held.any():
        sorted_mass = mass[:, held][:, order]
        filled, starts = np.unique(places[held][order], return_index=True)
        sums[:, filled] = np.add.reduceat(sorted_mass, starts, axis=1)
    below = np.cumsum(sums, axis=1)[:, :-1]  # rows that reach fewer than t + 1 thresholds
    above = np.maximum(sums.sum(axis=1, keepdims=True) - below, 0.0)
    out: FloatArray = np.stack([below, above], axis=3)
    return out


@dataclass(frozen=True, eq=False)
class Curve:
    """One metric of one model over T thresholds: estimate (T,) and draws (D, T).

    ``same_rows`` says that the estimate is a count over the rows it is chosen on.
    """

    metric: Metric
    value: FloatArray
    draws: FloatArray
    same_rows: bool

    @cached_property
    def centers(self) -> FloatArray:
        """Mean (T,) of the draws."""
        known = np.isfinite(self.draws)
        total = np.where(known, self.draws, 0.0).sum(axis=0)
        out: FloatArray = total / np.maximum(known.sum(axis=0), 1)
        return out

    @cached_property
    def noisy(self) -> FloatArray:
        """The estimate with the noise of each draw (D, T)."""
        out: FloatArray = self.value + (self.draws - self.centers)
        return out

    @classmethod
    def of(
        cls, metric: Metric, estimate: Estimate, shape: tuple[int, int], j: int, same_rows: bool
    ) -> Curve:
        if estimate.draws is None:
            raise UnsupportedError(
                "the method has no draws, so that the uncertainty of thresholds is not known",
                fix="use a method that draws, such as auto (`ssme methods`)",
            )
        value = estimate.value.reshape(shape)[j]
        return cls(metric, value, estimate.draws.reshape(-1, *shape)[:, j], same_rows)

    @property
    def sign(self) -> float:
        return 1.0 if self.metric.greater_is_better else -1.0

    def at(self, chosen: int, by_draw: NDArray[np.int64]) -> AtPick:
        """The metric at threshold ``chosen``, less the optimism of having chosen."""
        if chosen < 0:
            nothing = np.full(len(self.draws), np.nan)
            return AtPick(float("nan"), nothing, float("nan"))
        reached = np.flatnonzero(by_draw >= 0)
        noise = self.draws[reached, by_draw[reached]] - self.centers[by_draw[reached]]
        noise = noise[np.isfinite(noise)]
        better = 0.0
        if self.same_rows and noise.size:
            better = max(0.0, self.sign * float(np.sqrt(2.0) * noise.mean()))
        span = (self.metric.low, self.metric.high)
        value = float(np.clip(self.value[chosen] - self.sign * better, *span))
        return AtPick(value, np.clip(self.draws[:, chosen] - self.sign * better, *span), better)


@dataclass(frozen=True, eq=False)
class AtPick:
    value: float
    draws: FloatArray
    optimism: float
