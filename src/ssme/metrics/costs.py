"""What decisions cost, or are worth: the mean of a matrix [true class, predicted class] over rows.

cost = sum_kl C[k, l] n_kl / n,    n_kl the mass of class k that is predicted as class l
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import cast

import numpy as np

from ssme.errors import InputError, UnsupportedError
from ssme.metrics.base import FloatArray, Metric, MetricPlan
from ssme.metrics.confusion import predicted_classes
from ssme.metrics.decisions import at_threshold
from ssme.metrics.kinds import DEFAULT_THRESHOLD, Decision, Tables
from ssme.metrics.mass import compute_ratio, linear_plan

__all__ = ["expected_cost", "expected_utility"]


def expected_cost(
    matrix: Sequence[Sequence[float]] | FloatArray,
    *,
    threshold: float = DEFAULT_THRESHOLD,
    name: str = "expected_cost",
) -> Metric:
    """Make the metric of the mean cost of decisions.

    Parameters
    ----------
    matrix : array (K, K)
        ``matrix[k, l]`` is the cost of predicting class l when class k is true.
    threshold : float
        P(1) from which class 1 of two classes is predicted (default 0.5).
    name : str
        Key in tables (default "expected_cost").

    Returns
    -------
    Metric
        Smaller values are better.

    Examples
    --------
    A missed positive costs ten times a false alarm:

    >>> import numpy as np
    >>> from ssme.metrics import expected_cost, one_hot_mass
    >>> scores = np.array([[[0.6, 0.4]], [[0.1, 0.9]], [[0.8, 0.2]], [[0.2, 0.8]]])
    >>> expected_cost([[0, 1], [10, 0]])(scores, one_hot_mass(np.array([0, 1, 1, 0]), 2))
    array([[2.75]])
    """
    return _make_mean_worth(matrix, threshold, name, "cost", greater_is_better=False)


def expected_utility(
    matrix: Sequence[Sequence[float]] | FloatArray,
    *,
    threshold: float = DEFAULT_THRESHOLD,
    name: str = "expected_utility",
) -> Metric:
    """Make the metric of the mean utility of decisions.

    Parameters
    ----------
    matrix : array (K, K)
        ``matrix[k, l]`` is what it is worth to predict class l when class k is true.
    threshold : float
        P(1) from which class 1 of two classes is predicted (default 0.5).
    name : str
        Key in tables (default "expected_utility").

    Returns
    -------
    Metric
        Greater values are better.

    Examples
    --------
    A positive that is found is worth 5, a false alarm costs 1:

    >>> import numpy as np
    >>> from ssme.metrics import expected_utility, one_hot_mass
    >>> scores = np.array([[[0.6, 0.4]], [[0.1, 0.9]], [[0.8, 0.2]], [[0.2, 0.8]]])
    >>> expected_utility([[0, -1], [0, 5]])(scores, one_hot_mass(np.array([0, 1, 1, 0]), 2))
    array([[1.]])
    """
    return _make_mean_worth(matrix, threshold, name, "utility", greater_is_better=True)


def _make_mean_worth(
    matrix: Sequence[Sequence[float]] | FloatArray,
    threshold: float,
    name: str,
    what: str,
    *,
    greater_is_better: bool,
) -> Metric:
    """Mean of ``matrix[true class, predicted class]`` over rows, a cost or a utility."""
    try:
        worth = np.asarray(matrix, dtype=np.float64)
    except (TypeError, ValueError):
        worth = np.full(0, np.nan)
    square = worth.ndim == 2 and worth.shape[0] == worth.shape[1] >= 2
    if not square or not np.isfinite(worth).all():
        raise InputError(
            f"the {what} matrix of metric `{name}` has the shape {worth.shape} or is not finite",
            allowed=f"a square matrix of finite {what.replace('y', 'ie')}s with one row per true "
            "class and one column per predicted class",
            fix="give K rows of K numbers in the order of the classes",
        )
    if worth.min() == worth.max():
        raise InputError(
            f"every entry of the {what} matrix of metric `{name}` is {worth.min():g}",
            allowed="entries of which at least two differ",
            fix="give wrong decisions another value than right ones",
        )
    kind = Decision(_MeanCost(tuple(map(tuple, worth.tolist()))))
    metric = Metric(
        name=name,
        title=f"Expected {what}",
        plan=partial(_plan_cost, kind=kind),
        kind=kind,
        low=float(worth.min()),
        high=float(worth.max()),
        greater_is_better=greater_is_better,
        binary=worth.shape[0] == 2,
        multiclass=worth.shape[0] > 2,
        of_positive=True,
        of_order=True,
        definition=f"mean {what} per row, {what} by true and predicted class {worth.tolist()}",
    )
    return at_threshold(metric, threshold)


@dataclass(frozen=True)
class _MeanCost:
    """Mean of ``costs[true class][predicted class]`` over rows."""

    costs: tuple[tuple[float, ...], ...]

    def __call__(self, tables: Tables) -> FloatArray:
        total = tables.occurring.sum(axis=2)
        return np.clip(
            compute_ratio(tables.total_of(self.table), total), self.table.min(), self.table.max()
        )

    @property
    def table(self) -> FloatArray:
        return np.array(self.costs)


def _plan_cost(scores: FloatArray, *, kind: Decision) -> MetricPlan:
    cost = cast(_MeanCost, kind.statistic).table
    if scores.shape[2] != cost.shape[0]:
        raise UnsupportedError(
            f"a {cost.shape[0]} x {cost.shape[0]} cost matrix with {scores.shape[2]} classes",
            allowed="one row and one column per class",
            fix=f"give a {scores.shape[2]} x {scores.shape[2]} matrix",
        )
    predicted = predicted_classes(scores, kind.threshold)
    value: FloatArray = cost.T[predicted]
    value[predicted < 0] = np.nan
    return linear_plan(value)
