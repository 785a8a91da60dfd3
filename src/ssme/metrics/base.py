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

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ssme.arrays import FloatArray, IntArray
from ssme.metrics.kinds import Custom, Kind

MetricPlan = Callable[[FloatArray], FloatArray]
"""(D, n, K) mass -> (D, M) values; NaN where undefined."""


@dataclass(frozen=True)
class Metric:
    """One way to score a classifier against labels.

    Parameters
    ----------
    name : str
        Key in tables. It decides nothing: a metric that is renamed gives the same numbers.
    title : str
        Name for people.
    plan : callable
        ``plan(scores)`` with scores (n, M, K) returns a function from mass (D, n, K) to values
        (D, M). Scores are NaN where a classifier has none for a row; such rows must not count for
        that classifier. Values are NaN where the metric is undefined.
    kind : Kind
        What the metric is: `Decision`, `Ranking`, `Calibration`, `Loss` or `Custom`. The kind
        decides which interval the metric has with labels alone, how a stream adds it up and which
        methods can estimate it. `Custom`, the default, is right for every metric.
    low, high : float
        Range of the values.
    highest : tuple of two floats, optional
        Highest values of two classes and of more than two, where these are lower than ``high``.
    greater_is_better : bool or None
        None where neither direction is better.
    binary, multiclass : bool
        Whether the metric is defined for two classes, and for more than two.
    hard_only : bool
        True where ``plan`` needs hard labels; the mass it is given is then one-hot times a row
        weight. Wrapped callables do.
    of_set : bool
        True where the values are those of the classifiers as one set, which needs one labeling for
        all of them (`ssme.results.together`).
    definition : str
        One line that says exactly what is computed. Reports print it.
    of_probabilities : bool
        True where the metric means something for probabilities only, not for answers and ratings.
    of_positive : bool
        True where the value for two classes depends on which of them is the positive one.
    of_order : bool
        True where the value for more than two classes depends on their order, from the lowest to
        the highest.
    of_model : callable, optional
        ``of_model(j)`` is the metric of the j-th classifier alone, where it is not the same one for
        all classifiers, such as that at each classifier's own threshold.

    data : mapping, optional
        The metric in a config file, as `get_metric` takes it, apart from the threshold.

    Examples
    --------
    The share of rows whose true class is among the two largest scores, as a mean over rows:

    >>> import numpy as np
    >>> from ssme.metrics import Metric, one_hot_mass
    >>> from ssme.metrics.kinds import Loss
    >>> from ssme.metrics.confusion import linear_plan
    >>> def plan(scores):
    ...     second = np.sort(scores, axis=2)[:, :, -2, None]
    ...     return linear_plan(np.where(np.isnan(scores), np.nan, scores >= second))
    >>> top_two = Metric("top_2_accuracy", "Top-2 accuracy", plan, Loss())
    >>> scores = np.array([[[0.5, 0.3, 0.2]], [[0.1, 0.2, 0.7]]])
    >>> top_two(scores, one_hot_mass(np.array([1, 0]), 3))
    array([[0.5]])
    """

    name: str
    title: str
    plan: Callable[[FloatArray], MetricPlan]
    kind: Kind = field(default_factory=Custom)
    low: float = 0.0
    high: float = 1.0
    greater_is_better: bool | None = True
    binary: bool = True
    multiclass: bool = True
    hard_only: bool = False
    of_set: bool = False
    definition: str = ""
    of_probabilities: bool = False
    of_positive: bool = False
    of_order: bool = False
    of_model: Callable[[int], Metric] | None = None
    highest: tuple[float, float] | None = None
    data: Mapping[str, Any] | None = field(default=None, compare=False, repr=False)

    def find_range(self, n_classes: int | None = None) -> tuple[float, float]:
        """Find the lowest and the highest value that can occur.

        Parameters
        ----------
        n_classes : int, optional
            Number of classes of the data (default: any).

        Examples
        --------
        >>> from ssme.metrics import get_metric
        >>> get_metric("brier_score").find_range(2), get_metric("brier_score").find_range(3)
        ((0.0, 1.0), (0.0, 2.0))
        """
        if self.highest is None:
            return self.low, self.high
        return self.low, max(self.highest) if n_classes is None else self.highest[n_classes > 2]

    def alone(self, j: int) -> Metric:
        """Return the metric for the scores (n, 1, K) of one classifier (see ``of_model``).

        Parameters
        ----------
        j : int
            Place of the classifier among all.
        """
        return self if self.of_model is None else self.of_model(j)

    @property
    def direction(self) -> str:
        """Which way is better, in words."""
        if self.greater_is_better is None:
            return "neither direction is better"
        return "higher is better" if self.greater_is_better else "lower is better"

    def needs_order(self, n_classes: int) -> bool:
        """Say whether the value changes with the order of the classes.

        Parameters
        ----------
        n_classes : int
            Number of classes of the data.

        Examples
        --------
        >>> from ssme.metrics import get_metric
        >>> get_metric("recall").needs_order(2), get_metric("roc_auc").needs_order(2)
        (True, False)
        """
        return self.of_positive if n_classes == 2 else self.of_order

    def __call__(self, scores: FloatArray, mass: FloatArray) -> FloatArray:
        """Compute the metric.

        Parameters
        ----------
        scores : array (n, M, K)
            Scores of M classifiers for n rows and K classes.
        mass : array (D, n, K)
            D labelings of the rows.

        Returns
        -------
        array (D, M)
            One value per labeling and classifier.
        """
        return self.plan(scores)(mass)


def one_hot_mass(labels: IntArray, n_classes: int, weights: FloatArray | None = None) -> FloatArray:
    """Turn hard labels into mass.

    Parameters
    ----------
    labels : array (D, n) or (n,)
        Class numbers from 0 to ``n_classes - 1``; one labeling per line.
    n_classes : int
        Number of classes, K.
    weights : array (n,), optional
        Weight of each row (default 1).

    Returns
    -------
    array (D, n, K)
        Mass of each labeling: the row's weight at its class, 0 elsewhere.

    Examples
    --------
    >>> import numpy as np
    >>> from ssme.metrics import one_hot_mass
    >>> one_hot_mass(np.array([0, 1]), 2, weights=np.array([1.0, 2.0]))
    array([[[1., 0.],
            [0., 2.]]])
    """
    labels = np.atleast_2d(labels)
    one_hot = np.eye(n_classes + 1, n_classes)  # the last line is that of a row without a label
    mass: FloatArray = np.take(one_hot, labels, axis=0)
    if weights is not None:
        mass *= weights[None, :, None]
    return mass
