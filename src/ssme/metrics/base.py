"""A metric is data plus one function over many labelings at once.

A *labeling* of n rows over K classes is its mass, an array (n, K): row i puts mass
``w_i * P(y_i = k)`` on class k. One-hot rows are hard labels, fractional rows are a posterior,
and the row sum is the row's sample (or bootstrap) weight. A metric sees D labelings stacked,
``mass`` of shape (D, n, K), and returns (D, M): one value per labeling and classifier. Hard
labels are the special case of one labeling, and there every metric equals scikit-learn's.

What depends on the scores alone (sort orders, bins, predicted classes) is computed once, by
``plan(scores)``; the plan is then called on as many batches of labelings as there are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["FloatArray", "Metric", "MetricPlan", "one_hot_mass"]

FloatArray = NDArray[np.float64]
MetricPlan = Callable[[FloatArray], FloatArray]
"""(D, n, K) mass -> (D, M) values; NaN where undefined."""


@dataclass(frozen=True)
class Metric:
    """One way to score a classifier against labels.

    Parameters
    ----------
    name : key used in tables, scikit-learn's where it has one.
    title : for people.
    plan : ``plan(scores)`` with scores (n, M, K), NaN where a classifier has no score for a row
        (such rows do not count for that classifier), returns a `MetricPlan`.
    low, high : the metric's range.
    greater_is_better : None where neither direction is better.
    binary, multiclass : which numbers of classes it is defined for.
    hard_only : True where the function needs hard labels (custom callables); the mass it is
        given is then one-hot times a row weight.
    definition : one line that says exactly what is computed; printed in reports.
    """

    name: str
    title: str
    plan: Callable[[FloatArray], MetricPlan]
    low: float = 0.0
    high: float = 1.0
    greater_is_better: bool | None = True
    binary: bool = True
    multiclass: bool = True
    hard_only: bool = False
    definition: str = ""

    def __call__(self, scores: FloatArray, mass: FloatArray) -> FloatArray:
        """Values (D, M) of labelings ``mass`` (D, n, K) for ``scores`` (n, M, K)."""
        return self.plan(scores)(mass)


def one_hot_mass(
    labels: NDArray[np.int64], n_classes: int, weights: FloatArray | None = None
) -> FloatArray:
    """Mass (D, n, K) of hard ``labels`` (D, n) or (n,), each row weighing ``weights`` (n,)."""
    labels = np.atleast_2d(labels)
    mass: FloatArray = (labels[:, :, None] == np.arange(n_classes)).astype(np.float64)
    if weights is not None:
        mass *= weights[None, :, None]
    return mass
