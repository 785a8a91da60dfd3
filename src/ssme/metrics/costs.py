"""What decisions cost, or are worth: the mean of a matrix [true class, predicted class] over rows.

cost = sum_kl C[k, l] n_kl / n,    n_kl the mass of class k that is predicted as class l
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ssme.arrays import FloatArray
from ssme.errors import InputError, UnsupportedError
from ssme.metrics import confusion, decisions, kinds
from ssme.metrics.base import Metric, MetricPlan


def expected_cost(
    matrix: Sequence[Sequence[float]] | FloatArray,
    *,
    threshold: float = kinds.DEFAULT_THRESHOLD,
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
    threshold: float = kinds.DEFAULT_THRESHOLD,
    name: str = "expected_utility",
) -> Metric:
    """Make the metric of the mean utility of decisions, of which greater values are better.

    Parameters
    ----------
    matrix : array (K, K)
        ``matrix[k, l]`` is what it is worth to predict class l when class k is true.
    threshold, name
        As in `expected_cost`.

    Examples
    --------
    A positive that is found is worth 5, a false alarm costs 1:

    >>> from ssme.metrics import expected_utility
    >>> expected_utility([[0, -1], [0, 5]]).high
    5.0
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
            hint="give a square matrix of finite numbers in the order of the classes, one row per "
            "true class and one column per predicted class",
        )
    if worth.min() == worth.max():
        problem = f"every entry of the {what} matrix of metric `{name}` is {worth.min():g}"
        raise InputError(problem, hint="give wrong decisions another value than right ones")
    metric = decisions.decision_metric(
        decisions.MeanWorth(tuple(map(tuple, worth.tolist()))),
        name=name,
        title=f"Expected {what}",
        low=float(worth.min()),
        high=float(worth.max()),
        greater_is_better=greater_is_better,
        binary=worth.shape[0] == 2,
        multiclass=worth.shape[0] > 2,
        of_positive=True,
        of_order=True,
        definition=f"mean {what} per row, {what} by true and predicted class {worth.tolist()}",
        data={"name": f"expected_{what}", "matrix": worth.tolist()},
    )
    return decisions.at_threshold(metric, threshold)


# -------------------------------------------------------------------------------------------------
# A metric as it would be if the classes were as frequent as somebody says.
#
# With the classes' shares rho stated, the mass of class k is scaled to rho_k:
#
#     m_rho(mass) = m( mass_ik rho_k / sum_i mass_ik ),
#
# so that rows of a class count as before among themselves, and classes as stated. It is the metric
# under label shift. Written ``accuracy~0.03``: two classes, 3% of class 1.
#
# From labels alone, a metric of decisions among two classes has the interval of confusion tables
# that are drawn and then scaled to the stated shares. Rows that are weighted anew would not do:
# where all labeled rows of a class are decided alike, every such draw gives the same value.


@dataclass(frozen=True)
class DecisionAtPrevalence(kinds.Custom):
    """`Decision` among two classes that occur with the stated ``shares``."""

    statistic: kinds.Statistic
    threshold: float
    shares: tuple[float, ...]

    def choose_labels_interval(self, n_classes: int) -> kinds.LabelsInterval:
        return kinds.ConfusionInterval(self.compute_restated, self.threshold)

    def compute_restated(self, tables: kinds.Tables) -> FloatArray:
        """The statistic of ``tables`` with each true class scaled to its stated share."""
        occurring = tables.occurring
        known = (occurring > 0.0).all(axis=2)
        totals = np.where(occurring > 0.0, occurring, 1.0)
        right = np.asarray(self.shares) * tables.hits / totals
        wrong = np.asarray(self.shares) - right
        counts = np.stack(
            [
                np.stack([right[..., 0], wrong[..., 0]], axis=-1),
                np.stack([wrong[..., 1], right[..., 1]], axis=-1),
            ],
            axis=-2,
        )
        return np.where(known, self.statistic(confusion.FullTables(counts)), np.nan)


def at_prevalence(metric: Metric, shares: float | Sequence[float]) -> Metric:
    """Make ``metric`` what it would be at stated frequencies of the classes.

    Parameters
    ----------
    metric : Metric
        Any metric.
    shares : float or sequence of float
        The share of class 1 of two classes, or the share of every class.

    Returns
    -------
    Metric
        Named ``accuracy~0.03``, for example. Where a class does not occur it is NaN.

    Examples
    --------
    Half of the positives are found, and all of the negatives are right:

    >>> import numpy as np
    >>> from ssme.metrics import at_prevalence, get_metric, one_hot_mass
    >>> scores = np.array([[[0.1, 0.9]], [[0.8, 0.2]], [[0.7, 0.3]], [[0.9, 0.1]]])
    >>> mass = one_hot_mass(np.array([1, 1, 0, 0]), 2)
    >>> get_metric("accuracy")(scores, mass).item()
    0.75
    >>> round(at_prevalence(get_metric("accuracy"), 0.1)(scores, mass).item(), 12)
    0.95
    """
    two = isinstance(shares, (int, float))
    stated = np.array([1.0 - shares, shares] if two else shares, dtype=np.float64)  # type: ignore[operator]
    if stated.ndim != 1 or not ((stated > 0.0) & (stated < 1.0)).all() or stated.size < 2:
        raise InputError(
            f"the prevalence of {metric.name} is {shares!r}",
            hint="give the share of rows that are of class 1, such as 0.03, or one for each class, "
            "each between 0 and 1",
        )
    if abs(stated.sum() - 1.0) > 1e-6:
        raise InputError(
            f"the shares of classes of {metric.name} add up to {stated.sum():g}, not to 1"
        )
    shown = [np.format_float_positional(x, trim="-") for x in (stated[1:] if two else stated)]
    data = metric.data if metric.data is not None and len(metric.data) == 1 else None
    threshold = kinds.find_threshold(metric.kind)
    at = "" if threshold == kinds.DEFAULT_THRESHOLD else f"@{threshold}"
    each, kind = tuple(stated.tolist()), metric.kind
    if isinstance(kind, kinds.Decision) and len(each) == 2:
        kind = DecisionAtPrevalence(kind.statistic, kind.threshold, each)
    else:
        kind = kinds.Custom()
    return replace(
        metric,
        name="~".join([metric.name, *shown]),
        title=f"{metric.title} at prevalence {', '.join(shown)}",
        plan=partial(_plan, metric=metric, shares=each),
        kind=kind,
        binary=metric.binary and stated.size == 2,
        multiclass=metric.multiclass and stated.size > 2,
        of_positive=True,
        of_order=True,
        definition=f"{metric.definition}; classes counted with the shares {stated.tolist()}",
        data=data and {"name": "~".join([f"{data['name']}{at}", *shown])},
    )


def _plan(scores: FloatArray, *, metric: Metric, shares: tuple[float, ...]) -> MetricPlan:
    if scores.shape[2] != len(shares):
        problem = f"shares of {len(shares)} classes with {scores.shape[2]} classes"
        raise UnsupportedError(problem, hint="give a share to every class")
    plan, stated = metric.plan(scores), np.array(shares)

    def compute_values(mass: FloatArray) -> FloatArray:
        total = mass.sum(axis=1, keepdims=True)
        known = (total > 0.0).all(axis=2)[:, 0]
        scaled = mass * (stated / np.where(total > 0.0, total, 1.0))
        values = plan(scaled)
        return np.where(known[:, None], values, np.nan)

    return compute_values
