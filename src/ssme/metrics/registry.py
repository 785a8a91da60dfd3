"""Every metric by name, and what a caller may give in place of a name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ssme.errors import InputError
from ssme.metrics.base import Metric
from ssme.metrics.calibration import CALIBRATION_METRICS, PROBABILITY_METRICS
from ssme.metrics.costs import at_prevalence
from ssme.metrics.custom import from_callable
from ssme.metrics.decisions import AGREEMENT_METRICS, DECISION_METRICS, at_threshold, class_metric
from ssme.metrics.kinds import Decision
from ssme.metrics.per_class import split_class
from ssme.metrics.ranking import RANKING_METRICS
from ssme.metrics.written import describe_metric, make_metric
from ssme.options import parse_number
from ssme.wording import suggest_nearest

MetricSpec = str | Metric | Mapping[str, Any] | Callable[..., Any]

_REGISTRY: dict[str, Metric] = {
    metric.name: metric
    for family in (
        DECISION_METRICS,
        AGREEMENT_METRICS,
        PROBABILITY_METRICS,
        RANKING_METRICS,
        CALIBRATION_METRICS,
    )
    for metric in family
}
_DECISIONS = frozenset(
    metric.name
    for metric in (*DECISION_METRICS, *AGREEMENT_METRICS)
    if isinstance(metric.kind, Decision)
)
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
    "kappa": "cohen_kappa",
}


def metric_names(n_classes: int | None = None) -> tuple[str, ...]:
    """List the names of the metrics.

    Parameters
    ----------
    n_classes : int, optional
        Number of classes; only metrics that are defined for so many are listed (default: all).

    Examples
    --------
    >>> from ssme.metrics import metric_names
    >>> "f1" in metric_names(2), "f1" in metric_names(3)
    (True, False)
    """
    return tuple(
        name
        for name, metric in _REGISTRY.items()
        if n_classes is None or (metric.binary if n_classes == 2 else metric.multiclass)
    )


def default_metrics(
    n_classes: int, *, answers: bool = False, ratings: bool = False, ordered: bool = True
) -> tuple[str, ...]:
    """List the metrics that are estimated when none are asked for: those of the SSME paper.

    Parameters
    ----------
    n_classes : int
        Number of classes.
    answers : bool
        Whether every model gives answers or ratings, which are no probabilities.
    ratings : bool
        Whether some of them give ratings.
    ordered : bool
        Whether the order of the classes is known; metrics that need it are left out where it is
        not.

    Examples
    --------
    >>> from ssme.metrics import default_metrics
    >>> default_metrics(2)
    ('accuracy', 'ece', 'roc_auc', 'average_precision')
    >>> default_metrics(10)
    ('accuracy', 'ece')
    >>> default_metrics(10, answers=True)
    ('accuracy', 'cohen_kappa')
    >>> default_metrics(2, ordered=False)
    ('accuracy', 'roc_auc')
    """
    names: tuple[str, ...] = ("accuracy", "ece")
    if answers and ratings:
        graded = ("roc_auc", "average_precision") if n_classes == 2 else ("quadratic_kappa",)
        names = ("accuracy", *graded)
    elif answers:
        names = ("accuracy", "cohen_kappa")
    elif n_classes == 2:
        names = ("accuracy", "ece", "roc_auc", "average_precision")
    return tuple(name for name in names if ordered or not _REGISTRY[name].needs_order(n_classes))


def put_first(metric: Metric, metrics: Sequence[Metric]) -> list[Metric]:
    """``metrics`` with ``metric`` first, once."""
    return [metric, *(each for each in metrics if each.name != metric.name)]


def get_metric(spec: MetricSpec, *, threshold: float | None = None) -> Metric:
    """Find a metric.

    Parameters
    ----------
    spec : str, mapping, Metric or callable
        A name that `metric_names` lists; a name with options, ``{"name": "ece", "norm": "l2"}``
        (`ssme.metrics.written`); a `Metric`, which is returned as it is; or a callable, which is
        wrapped by `from_callable`. ``recall[2]``, ``precision[2]`` and ``f1[2]`` are those of the
        class number 2; ``accuracy~0.03`` is the accuracy if 3 % of the rows were of class 1.
    threshold : float, optional
        P(1) from which class 1 is predicted (default 0.5). It concerns metrics of decisions only
        and shows in their name: ``accuracy@0.3``, which is itself a valid ``spec``.

    Examples
    --------
    >>> from ssme.metrics import get_metric
    >>> get_metric("accuracy").definition
    'share of rows whose predicted class is the true class'
    >>> get_metric("accuracy", threshold=0.3).name
    'accuracy@0.3'
    >>> get_metric("accuracy@0.3").kind.threshold
    0.3
    """
    if isinstance(spec, Metric):
        return spec
    if isinstance(spec, Mapping):
        return make_metric(spec, get_metric, threshold)
    if not isinstance(spec, str):
        if callable(spec):
            return from_callable(spec)
        raise InputError(
            f"the metric {spec!r} is of type {type(spec).__name__}",
            hint="give a name, a Metric or a callable (y_true, y_score) -> float; names are "
            + ", ".join(metric_names()),
        )
    before, stated, share = spec.rpartition("~")
    if stated:
        return at_prevalence(get_metric(before, threshold=threshold), _parse_share(spec, share))
    if split_class(spec) is not None:
        return _find_class_metric(spec, threshold)
    name, at, asked = spec.partition("@")
    name = _ALIASES.get(name, name)
    if name not in _REGISTRY:
        near = suggest_nearest(name.lower(), [*_REGISTRY, *_ALIASES])
        raise InputError(
            f"unknown metric {spec!r}",
            hint=f"{near}choose one of {', '.join(_REGISTRY)}, or pass a callable",
        )
    if at:
        threshold = _parse_threshold(spec, name, asked)
    if threshold is None or name not in _DECISIONS:
        return _REGISTRY[name]
    return at_threshold(_REGISTRY[name], threshold)


def _find_class_metric(spec: str, threshold: float | None) -> Metric:
    """The metric of one class by its number, ``recall[2]`` or ``recall[1]@0.3``."""
    name, inner, rest = split_class(spec) or ("", "", "")
    name = _ALIASES.get(name, name)
    if not inner.isascii() or not inner.isdigit():
        raise InputError(
            f"metric `{spec}`: {inner!r} is not the number of a class",
            hint=f"write for example `{name}[1]`, or give the name to ssme.evaluate, where the "
            "classes of the data are known",
        )
    metric = class_metric(name, int(inner))
    if rest:
        threshold = _parse_threshold(spec, name, rest[1:])
    return metric if threshold is None else at_threshold(metric, threshold)


def write_metric(metric: Metric) -> dict[str, Any] | None:
    """Write a metric down as data from which `get_metric` makes it again.

    Parameters
    ----------
    metric : Metric
        The metric to write down.

    Returns
    -------
    dict or None
        None where no data can say what the metric is, as for a callable.

    Examples
    --------
    >>> from ssme.metrics import ece, get_metric, write_metric
    >>> write_metric(ece(norm="l2"))
    {'name': 'ece', 'norm': 'l2'}
    >>> write_metric(get_metric("f1@0.3"))
    {'name': 'f1', 'threshold': 0.3}
    """
    return describe_metric(metric, metric_names(), get_metric)


def _parse_share(spec: str, asked: str) -> float:
    try:
        return parse_number(asked)
    except ValueError:
        raise InputError(
            f"metric `{spec}`: the prevalence `{asked}` is not a number",
            hint="write a number between 0 and 1, for example `accuracy~0.03`",
        ) from None


def _parse_threshold(spec: str, name: str, asked: str) -> float:
    if name not in _DECISIONS:
        raise InputError(
            f"metric `{spec}`: `{name}` takes no threshold",
            hint=f"write `{name}`; a threshold is for {', '.join(sorted(_DECISIONS))}",
        )
    try:
        return parse_number(asked)
    except ValueError:
        raise InputError(
            f"metric `{spec}`: the threshold `{asked}` is not a number",
            hint=f"write a number from 0 to 1, for example `{name}@0.3`",
        ) from None
