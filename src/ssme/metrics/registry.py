"""Every metric by name, and what a caller may give in place of a name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any

from ssme.errors import InputError
from ssme.metrics.base import Metric
from ssme.metrics.calibration import CALIBRATION_METRICS
from ssme.metrics.custom import from_callable
from ssme.metrics.decisions import DECISION_METRICS, at_threshold
from ssme.metrics.probability import PROBABILITY_METRICS
from ssme.metrics.ranking import RANKING_METRICS
from ssme.metrics.written import describe_metric, make_metric

__all__ = ["MetricSpec", "default_metrics", "get_metric", "metric_names", "write_metric"]

MetricSpec = str | Metric | Mapping[str, Any] | Callable[..., Any]

_REGISTRY: dict[str, Metric] = {
    metric.name: metric
    for family in (DECISION_METRICS, PROBABILITY_METRICS, RANKING_METRICS, CALIBRATION_METRICS)
    for metric in family
}
_DECISIONS = frozenset(metric.name for metric in DECISION_METRICS)
_ALIASES = {
    "acc": "accuracy",
    "auc": "roc_auc",
    "auroc": "roc_auc",
    "roc_auc_ovr": "roc_auc",
    "auprc": "average_precision",
    "ap": "average_precision",
    "brier": "brier_score",
    "brier_score_loss": "brier_score",
    "mcc": "matthews_corrcoef",
    "sensitivity": "recall",
}


def metric_names(n_classes: int | None = None) -> tuple[str, ...]:
    """Names of all metrics, or of those defined for ``n_classes``."""
    return tuple(
        name
        for name, metric in _REGISTRY.items()
        if n_classes is None or (metric.binary if n_classes == 2 else metric.multiclass)
    )


def default_metrics(n_classes: int) -> tuple[str, ...]:
    """The metrics of the SSME paper: four for two classes, accuracy and ECE for more."""
    if n_classes == 2:
        return ("accuracy", "ece", "roc_auc", "average_precision")
    return ("accuracy", "ece")


def get_metric(spec: MetricSpec, *, threshold: float | None = None) -> Metric:
    """The metric named ``spec``; a `Metric` is returned as it is, a callable is wrapped.

    A name may come with options: ``{"name": "ece", "norm": "l2"}`` (`ssme.metrics.written`).

    ``threshold`` is the P(1) from which class 1 is predicted. It concerns metrics of decisions
    (accuracy, F1, ...) and shows in their name, ``accuracy@0.3``, which is itself a valid ``spec``;
    metrics of the scores themselves do not depend on it.
    """
    if isinstance(spec, Metric):
        return spec
    if isinstance(spec, Mapping):
        return make_metric(spec, get_metric, threshold)
    if not isinstance(spec, str):
        if callable(spec):
            return from_callable(spec)
        raise InputError(
            f"metric {spec!r} of type {type(spec).__name__}",
            allowed="a name, a Metric or a callable (y_true, y_score) -> float",
            fix=f"choose among {', '.join(metric_names())}",
        )
    name, at, asked = spec.partition("@")
    name = _ALIASES.get(name, name)
    if name not in _REGISTRY:
        known = [*_REGISTRY, *_ALIASES]
        close = get_close_matches(name.lower(), known, n=3)
        raise InputError(
            f"unknown metric `{spec}`",
            allowed=", ".join(_REGISTRY),
            fix=f"did you mean {' or '.join(close)}?" if close else "pick one, or pass a callable",
        )
    metric = _REGISTRY[name]
    if at:
        threshold = _parsed_threshold(spec, name, asked)
    if threshold is None or name not in _DECISIONS:
        return metric
    return at_threshold(metric, threshold)


def write_metric(metric: Metric) -> dict[str, Any] | None:
    """The data from which `get_metric` makes ``metric`` again; None where there is none.

    Examples
    --------
    >>> from ssme.metrics import ece, get_metric, write_metric
    >>> write_metric(ece(norm="l2"))
    {'name': 'ece', 'norm': 'l2'}
    >>> write_metric(get_metric("f1@0.3"))
    {'name': 'f1', 'threshold': 0.3}
    """
    return describe_metric(metric, metric_names(), get_metric)


def _parsed_threshold(spec: str, name: str, asked: str) -> float:
    if name not in _DECISIONS:
        raise InputError(
            f"metric `{spec}`: `{name}` takes no threshold",
            allowed=f"a threshold on {', '.join(sorted(_DECISIONS))}",
            fix=f"write `{name}`",
        )
    try:
        return float(asked)
    except ValueError:
        raise InputError(
            f"metric `{spec}`: the threshold `{asked}` is no number",
            allowed="a number from 0 to 1 after the @",
            fix=f"write for example `{name}@0.3`",
        ) from None
