"""Metrics of decisions, read off the (soft) confusion matrix.

A decision depends on the scores alone. Two classes: class 1 is predicted when ``P(1) >= threshold``
(0.5 unless told; so a tie at 0.5 is predicted 1, as scikit-learn's ``FixedThresholdClassifier``
does). More classes: the largest score, the first on ties. The confusion matrix

    C[k, l] = sum_i mass[i, k] * [row i is predicted l]

is linear in the mass. Hard labels give scikit-learn's matrix; a posterior gives its expectation,
and a metric that is a ratio of its cells is then the ratio of expectations (plug-in).

Undefined cells follow scikit-learn's ``zero_division=np.nan``: precision of a class never
predicted, recall of a class that never occurs and F1 of a class that does neither are NaN; a
macro or weighted mean is over the classes where the term is defined. Matthews' coefficient is NaN
when either margin has one class only (scikit-learn returns 0 there).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ssme.errors import InputError, UnsupportedError
from ssme.metrics.base import FloatArray, Metric, MetricPlan
from ssme.metrics.mass import linear_plan, ratio, require_binary, selection, transposed

__all__ = [
    "DECISION_METRICS",
    "at_threshold",
    "confusion_matrices",
    "expected_cost",
    "predicted_classes",
]

Summary = Callable[[FloatArray], FloatArray]
"""(D, M, K, K) confusion matrices, true class first -> (D, M) values."""

DEFAULT_THRESHOLD = 0.5


def predicted_classes(
    scores: FloatArray, threshold: float = DEFAULT_THRESHOLD
) -> NDArray[np.int64]:
    """Predicted class (n, M) of each row by each classifier; -1 where it has no score."""
    missing = np.isnan(scores).any(axis=2)
    if scores.shape[2] == 2:
        predicted = (scores[:, :, 1] >= threshold).astype(np.int64)
    else:
        if threshold != DEFAULT_THRESHOLD:
            raise UnsupportedError(
                f"threshold {threshold:g} with {scores.shape[2]} classes",
                allowed="a threshold for two classes; the largest score decides among more",
                fix="leave the threshold out",
            )
        predicted = np.argmax(scores, axis=2)
    predicted[missing] = -1
    return predicted


def confusion_matrices(
    scores: FloatArray, mass: FloatArray, *, threshold: float = DEFAULT_THRESHOLD
) -> FloatArray:
    """Confusion matrices (D, M, K, K), true class by predicted class, in units of mass."""
    return _confusion_plan(scores, threshold)(mass)


def _confusion_plan(scores: FloatArray, threshold: float) -> MetricPlan:
    n, n_models, n_classes = scores.shape
    predicted = predicted_classes(scores, threshold)
    cell = np.where(predicted >= 0, np.arange(n_models) * n_classes + predicted, -1)
    row = np.broadcast_to(np.arange(n)[:, None], cell.shape)
    by_prediction = selection(cell.ravel(), row.ravel(), (n_models * n_classes, n))

    def count(mass: FloatArray) -> FloatArray:
        n_draws = mass.shape[0]
        lines = transposed(mass).reshape(n, n_classes * n_draws)
        counts = (by_prediction @ lines).reshape(n_models, n_classes, n_classes, n_draws)
        out: FloatArray = np.ascontiguousarray(counts.transpose(3, 0, 2, 1))
        return out

    return count


def _plan(
    scores: FloatArray, *, summary: Summary, threshold: float, positive_of: str | None
) -> MetricPlan:
    if positive_of is not None:
        require_binary(scores, positive_of)
    confusion = _confusion_plan(scores, threshold)
    return lambda mass: summary(confusion(mass))


def _accuracy_plan(scores: FloatArray, *, threshold: float) -> MetricPlan:
    predicted = predicted_classes(scores, threshold)
    hit = (predicted[:, :, None] == np.arange(scores.shape[2])).astype(np.float64)
    hit[predicted < 0] = np.nan
    return linear_plan(hit)


# Per-class terms (D, M, K); NaN where the class gives none.


def _occurring(c: FloatArray) -> FloatArray:
    out: FloatArray = c.sum(axis=3)
    return out


def _predicted(c: FloatArray) -> FloatArray:
    out: FloatArray = c.sum(axis=2)
    return out


def _hits(c: FloatArray) -> FloatArray:
    out: FloatArray = np.diagonal(c, axis1=2, axis2=3)
    return out


def _recalls(c: FloatArray) -> FloatArray:
    return ratio(_hits(c), _occurring(c))


def _precisions(c: FloatArray) -> FloatArray:
    return ratio(_hits(c), _predicted(c))


def _f1s(c: FloatArray) -> FloatArray:
    return ratio(2.0 * _hits(c), _occurring(c) + _predicted(c))


def _mean_defined(terms: FloatArray, weights: FloatArray | None = None) -> FloatArray:
    """Mean over classes of the terms that are not NaN; NaN when there is none."""
    defined = ~np.isnan(terms)
    share = defined.astype(np.float64) if weights is None else np.where(defined, weights, 0.0)
    return ratio((np.where(defined, terms, 0.0) * share).sum(axis=2), share.sum(axis=2))


# Summaries.


def _precision(c: FloatArray) -> FloatArray:
    return _precisions(c)[:, :, 1]


def _recall(c: FloatArray) -> FloatArray:
    return _recalls(c)[:, :, 1]


def _specificity(c: FloatArray) -> FloatArray:
    return _recalls(c)[:, :, 0]


def _f1(c: FloatArray) -> FloatArray:
    return _f1s(c)[:, :, 1]


def _micro(c: FloatArray) -> FloatArray:
    return ratio(_hits(c).sum(axis=2), _occurring(c).sum(axis=2))


def _recall_macro(c: FloatArray) -> FloatArray:
    return _mean_defined(_recalls(c))


def _precision_macro(c: FloatArray) -> FloatArray:
    return _mean_defined(_precisions(c))


def _f1_macro(c: FloatArray) -> FloatArray:
    return _mean_defined(_f1s(c))


def _f1_weighted(c: FloatArray) -> FloatArray:
    return _mean_defined(_f1s(c), _occurring(c))


def _matthews(c: FloatArray) -> FloatArray:
    occurring, predicted = _occurring(c), _predicted(c)
    covariance = _hits(c).sum(axis=2) * occurring.sum(axis=2) - (occurring * predicted).sum(axis=2)
    return np.clip(ratio(covariance, np.sqrt(_spread(occurring) * _spread(predicted))), -1.0, 1.0)


def _spread(margin: FloatArray) -> FloatArray:
    """n^2 - sum_k n_k^2, as a sum of products, so that it is exactly zero for one class."""
    out: FloatArray = (margin * (margin.sum(axis=2, keepdims=True) - margin)).sum(axis=2)
    return np.maximum(out, 0.0)


def _metric(
    name: str,
    title: str,
    summary: Summary,
    definition: str,
    *,
    multiclass: bool = True,
    low: float = 0.0,
) -> Metric:
    plan = partial(
        _plan,
        summary=summary,
        threshold=DEFAULT_THRESHOLD,
        positive_of=None if multiclass else name,
    )
    return Metric(
        name=name, title=title, plan=plan, low=low, multiclass=multiclass, definition=definition
    )


DECISION_METRICS: tuple[Metric, ...] = (
    Metric(
        name="accuracy",
        title="Accuracy",
        plan=partial(_accuracy_plan, threshold=DEFAULT_THRESHOLD),
        definition="share of rows whose predicted class is the true class",
    ),
    _metric(
        "balanced_accuracy",
        "Balanced accuracy",
        _recall_macro,
        "mean over the classes that occur of their recall",
    ),
    _metric(
        "precision",
        "Precision",
        _precision,
        "share of the rows predicted positive that are positive",
        multiclass=False,
    ),
    _metric(
        "recall",
        "Recall",
        _recall,
        "share of the positive rows that are predicted positive",
        multiclass=False,
    ),
    _metric(
        "specificity",
        "Specificity",
        _specificity,
        "share of the negative rows that are predicted negative",
        multiclass=False,
    ),
    _metric(
        "f1",
        "F1",
        _f1,
        "2 TP / (2 TP + FP + FN) of the positive class",
        multiclass=False,
    ),
    _metric(
        "f1_macro",
        "F1 (macro)",
        _f1_macro,
        "mean over classes of F1; a class that neither occurs nor is predicted is left out",
    ),
    _metric(
        "f1_micro",
        "F1 (micro)",
        _micro,
        "F1 of the counts pooled over classes, which is the accuracy",
    ),
    _metric(
        "f1_weighted",
        "F1 (weighted)",
        _f1_weighted,
        "mean over classes of F1, weighted by how often each class occurs",
    ),
    _metric(
        "precision_macro",
        "Precision (macro)",
        _precision_macro,
        "mean of precision over the classes that are predicted at least once",
    ),
    _metric(
        "recall_macro",
        "Recall (macro)",
        _recall_macro,
        "mean of recall over the classes that occur; equals balanced accuracy",
    ),
    _metric(
        "matthews_corrcoef",
        "Matthews correlation",
        _matthews,
        "correlation of the true and the predicted class (Gorodkin's R_K for more than two)",
        low=-1.0,
    ),
)


def at_threshold(metric: Metric, threshold: float) -> Metric:
    """The decision metric ``metric`` with class 1 predicted when ``P(1) >= threshold``."""
    if not 0.0 <= threshold <= 1.0:
        raise InputError(
            f"threshold {threshold!r} for metric `{metric.name}`",
            allowed="a number from 0 to 1",
            fix="pass the probability of class 1 from which it is predicted",
        )
    if threshold == DEFAULT_THRESHOLD:
        return metric
    assert isinstance(metric.plan, partial)
    return replace(
        metric,
        name=f"{metric.name}@{threshold:g}",
        title=f"{metric.title} at {threshold:g}",
        plan=partial(metric.plan, threshold=threshold),
        multiclass=False,
        definition=f"{metric.definition}; class 1 is predicted when P(1) >= {threshold:g}",
    )


def expected_cost(
    matrix: Sequence[Sequence[float]] | FloatArray,
    *,
    threshold: float = DEFAULT_THRESHOLD,
    name: str = "expected_cost",
) -> Metric:
    """Mean cost of decisions, ``matrix[k, l]`` being the cost of predicting l when k is true."""
    cost = np.asarray(matrix, dtype=np.float64)
    if cost.ndim != 2 or cost.shape[0] != cost.shape[1] or not np.isfinite(cost).all():
        raise InputError(
            f"a cost matrix of shape {cost.shape} for metric `{name}`",
            allowed="a square matrix of finite costs, one row a true class, one column a predicted",
            fix="give K rows of K numbers in the order of the classes",
        )
    metric = Metric(
        name=name,
        title="Expected cost",
        plan=partial(_cost_plan, cost=cost, threshold=DEFAULT_THRESHOLD),
        low=float(cost.min()),
        high=float(cost.max()),
        greater_is_better=False,
        binary=cost.shape[0] == 2,
        multiclass=cost.shape[0] > 2,
        definition=f"mean cost per row, costs (true by predicted) {cost.tolist()}",
    )
    return at_threshold(metric, threshold)


def _cost_plan(scores: FloatArray, *, cost: FloatArray, threshold: float) -> MetricPlan:
    if scores.shape[2] != cost.shape[0]:
        raise UnsupportedError(
            f"a {cost.shape[0]} x {cost.shape[0]} cost matrix with {scores.shape[2]} classes",
            allowed="one row and one column per class",
            fix=f"give a {scores.shape[2]} x {scores.shape[2]} matrix",
        )
    predicted = predicted_classes(scores, threshold)
    value: FloatArray = cost.T[predicted]
    value[predicted < 0] = np.nan
    return linear_plan(value)
