"""Any callable ``(y_true, y_score) -> float`` as a metric.

The callable sees one classifier and one labeling at a time: ``y_true`` (r,) class codes 0..K-1
and ``y_score``, (r,) P(1) for two classes and (r, K) for more, over the rows the classifier scored.
It needs hard labels, so a posterior reaches it as draws. Row weights go to its ``sample_weight``
when it has one; without it, whole-number weights (a bootstrap) repeat rows and others are refused.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ssme.arrays import FloatArray, IntArray
from ssme.errors import InputError, UnsupportedError
from ssme.metrics.base import Metric, MetricPlan
from ssme.metrics.kinds import Custom


def from_callable(
    function: Callable[..., Any],
    *,
    name: str | None = None,
    greater_is_better: bool | None = None,
    low: float = -math.inf,
    high: float = math.inf,
) -> Metric:
    """Make a metric of a callable.

    Parameters
    ----------
    function : callable
        ``function(y_true, y_score)`` returns one number. ``y_true`` (r,) are class codes from 0;
        ``y_score`` is P(1) (r,) for two classes and all scores (r, K) for more. It may take
        ``sample_weight`` (r,) as well.
    name : str, optional
        Key in tables (default: the name of the callable).
    greater_is_better : bool, optional
        Direction of the metric (default None: unknown).
    low, high : float
        Range of the metric (default: without limits).

    Returns
    -------
    Metric
        Its kind is `Custom`. Class codes are what the callable sees, so it needs classes whose
        order is known.

    Examples
    --------
    >>> import numpy as np
    >>> from ssme.metrics import from_callable, one_hot_mass
    >>> def mean_error(y_true, y_score):
    ...     return abs(y_true - y_score).mean()
    >>> metric = from_callable(mean_error, greater_is_better=False, low=0, high=1)
    >>> scores = np.array([[[0.75, 0.25]], [[0.25, 0.75]]])
    >>> metric(scores, one_hot_mass(np.array([0, 0]), 2))
    array([[0.5]])
    """
    inner = function.func if isinstance(function, partial) else function
    name = name or str(getattr(inner, "__name__", type(inner).__name__))
    takes_weight = _takes_weight(function)
    return Metric(
        name=name,
        title=name,
        plan=partial(_plan, function=function, name=name, takes_weight=takes_weight),
        low=low,
        high=high,
        greater_is_better=greater_is_better,
        kind=Custom(),
        hard_only=True,
        of_positive=True,
        of_order=True,
        definition=f"the callable `{name}` of (y_true, y_score), one labeling at a time",
    )


def _plan(
    scores: FloatArray, *, function: Callable[..., Any], name: str, takes_weight: bool
) -> MetricPlan:
    n_models = scores.shape[1]
    present = ~np.isnan(scores.sum(axis=2))
    shown = scores[:, :, 1] if scores.shape[2] == 2 else scores

    def evaluate(mass: FloatArray) -> FloatArray:
        out: FloatArray = np.full((mass.shape[0], n_models), np.nan)
        for d, labeling in enumerate(mass):
            labels, weights = _harden(labeling, name, d)
            for m in range(n_models):
                rows = np.flatnonzero(present[:, m] & (weights > 0))
                if rows.size == 0:
                    continue
                keywords = {}
                if takes_weight:
                    keywords["sample_weight"] = weights[rows]
                else:
                    rows = _repeat_rows(rows, weights[rows], name)
                where = f"metric `{name}` on model {m} of {n_models}, labeling {d} of {len(mass)}"
                try:
                    value = function(labels[rows], shown[rows, m], **keywords)
                except Exception as error:
                    raise InputError(
                        f"{where} raised {type(error).__name__}: {error}",
                        hint="make it return NaN where it is undefined, as with one class only; "
                        "y_score contains probabilities, so a metric of predicted classes needs "
                        "y_score >= 0.5, or the argmax over several classes",
                    ) from error
                out[d, m] = _read_number(value, where)
        return out

    return evaluate


def _harden(labeling: FloatArray, name: str, d: int) -> tuple[IntArray, FloatArray]:
    """Class codes and weights (n,) of one hard labeling (n, K)."""
    soft = (labeling > 0).sum(axis=1) > 1
    if soft.any():
        row = int(np.flatnonzero(soft)[0])
        raise UnsupportedError(
            f"metric `{name}` got soft labels: labeling {d}, row {row}, {labeling[row].tolist()}",
            hint="draw hard labels from the posterior and average the metric over the draws",
        )
    weights: FloatArray = labeling.sum(axis=1)
    return labeling.argmax(axis=1), weights


def _repeat_rows(rows: IntArray, weights: FloatArray, name: str) -> IntArray:
    if (weights == 1.0).all():
        return rows
    times = weights.astype(np.int64)
    fractional = np.flatnonzero(times != weights)
    if fractional.size:
        row = int(fractional[0])
        raise UnsupportedError(
            f"metric `{name}` has no argument sample_weight, so weights must be whole numbers, "
            f"got {weights[row]:g} at row {rows[row]}",
            hint="give the callable a `sample_weight` argument",
        )
    return np.repeat(rows, times)


def _read_number(value: Any, where: str) -> float:
    try:
        if isinstance(value, str | bytes) or np.ndim(value) != 0:
            raise TypeError
        return float(value)
    except TypeError:
        problem = f"{where} returned {value!r} of type {type(value).__name__}"
        raise InputError(problem, hint="return one number") from None


def _takes_weight(function: Callable[..., Any]) -> bool:
    try:
        return "sample_weight" in inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False
