"""Metrics by name and as data: every form in which a caller may give one.

    "accuracy"   "f1@0.3"   "recall[spam]"   "accuracy~0.03"
    {"name": "ece", "norm": "l2", "n_bins": 20}
    {"name": "expected_cost", "matrix": [[0, 1], [10, 0]], "threshold": 0.2}

In data, ``as`` and ``title`` give a metric another name in tables. Which class is shown in brackets
is known with the data, so `expand_metrics` looks it up there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ssme import options as declared
from ssme.arrays import FloatArray
from ssme.errors import InputError
from ssme.metrics.base import Metric
from ssme.metrics.calibration import CALIBRATION_METRICS, PROBABILITY_METRICS, ece
from ssme.metrics.costs import at_prevalence, expected_cost, expected_utility
from ssme.metrics.custom import from_callable
from ssme.metrics.decisions import CLASS_METRICS, DECISION_METRICS, at_threshold, make_class_metric
from ssme.metrics.kinds import DEFAULT_THRESHOLD, Decision
from ssme.metrics.ranking import RANKING_METRICS
from ssme.wording import quote, suggest_nearest

MetricSpec = str | Metric | Mapping[str, Any] | Callable[..., Any]

_REGISTRY: dict[str, Metric] = {
    metric.name: replace(metric, data={"name": metric.name})
    for metric in (*DECISION_METRICS, *PROBABILITY_METRICS, *RANKING_METRICS, *CALIBRATION_METRICS)
}
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
_OF_MATRIX = {"expected_cost": expected_cost, "expected_utility": expected_utility}

EVERY = "*"
"""In the place of a class: every class."""
ALL_THREE = "per_class"
"""Precision, recall and F1 of every class."""


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
        Whether every model gives answers or ratings, which are not probabilities.
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


def get_metric(spec: MetricSpec, *, threshold: float | None = None) -> Metric:
    """Find a metric.

    Parameters
    ----------
    spec : str, mapping, Metric or callable
        A name that `metric_names` lists; a name with options, ``{"name": "ece", "norm": "l2"}``;
        a `Metric`, which is returned as it is; or a callable, which is wrapped by `from_callable`.
        ``recall[2]``, ``precision[2]`` and ``f1[2]`` are those of the class number 2;
        ``accuracy~0.03`` is the accuracy if 3% of the rows were of class 1.
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
        return _make_from_data(spec, threshold)
    if isinstance(spec, str):
        return _make_from_text(spec, threshold)
    if callable(spec):
        return from_callable(spec)
    raise InputError(
        f"the metric {spec!r} is of type {type(spec).__name__}",
        hint="give a name, a Metric or a callable (y_true, y_score) -> float; names are "
        + ", ".join(_REGISTRY),
    )


# -------------------------------------------------------------------------------------------------
# Metrics as text: name[class]@threshold~prevalence


class MetricText(NamedTuple):
    """The parts of the text of a metric, without their signs; None where a part is missing."""

    name: str
    of_class: str | None = None
    threshold: str | None = None
    prevalence: str | None = None

    def __str__(self) -> str:
        parts = (self.name, self.of_class, self.threshold, self.prevalence)
        forms = zip(("{}", "[{}]", "@{}", "~{}"), parts, strict=True)
        return "".join(form.format(part) for form, part in forms if part is not None)


_TEXT = re.compile(r"([^\[\]@~]+)(?:\[(.*)\])?(?:@([^~]*))?(?:~(.*))?", re.DOTALL)


def split_text(text: str) -> MetricText:
    """The parts of ``text``; all of it is the name where it has not the form of a metric."""
    match = _TEXT.fullmatch(text)
    return MetricText(text) if match is None else MetricText(*match.groups())


def _make_from_text(spec: str, threshold: float | None) -> Metric:
    text = split_text(spec)
    name = _ALIASES.get(text.name, text.name)
    if text.of_class is not None:
        if not (text.of_class.isascii() and text.of_class.isdigit()):
            raise InputError(
                f"metric `{spec}`: {text.of_class!r} is not the number of a class",
                hint=f"write for example `{name}[1]`, or give the name to ssme.evaluate, where the "
                "classes of the data are known",
            )
        metric = make_class_metric(name, int(text.of_class))
    elif name in _REGISTRY:
        metric = _REGISTRY[name]
    else:
        near = suggest_nearest(name.lower(), [*_REGISTRY, *_ALIASES])
        problem = f"unknown metric {spec!r}"
        hint = f"{near}choose one of {', '.join(_REGISTRY)}, or pass a callable"
        raise InputError(problem, hint=hint)
    if text.threshold is not None:
        if not isinstance(metric.kind, Decision):
            decisions = [name for name, m in _REGISTRY.items() if isinstance(m.kind, Decision)]
            problem = f"metric `{spec}`: `{name}` takes no threshold"
            hint = f"write `{name}`; a threshold is for {', '.join(sorted(decisions))}"
            raise InputError(problem, hint=hint)
        threshold = _parse_number(spec, "threshold", text.threshold, f"{name}@0.3")
    if threshold is not None and isinstance(metric.kind, Decision):
        metric = at_threshold(metric, threshold)
    if text.prevalence is None:
        return metric
    shares = [
        _parse_number(spec, "prevalence", share, f"{name}~0.03")
        for share in text.prevalence.split("~")
    ]
    return at_prevalence(metric, shares if len(shares) > 1 else shares[0])


def _parse_number(spec: str, what: str, text: str, example: str) -> float:
    try:
        return declared.parse_number(text)
    except ValueError:
        problem = f"metric `{spec}`: the {what} `{text}` is not a number"
        hint = f"write a number from 0 to 1, for example `{example}`"
        raise InputError(problem, hint=hint) from None


def expand_metrics(
    specs: Iterable[Any], classes: Sequence[Any], threshold: float | None = None
) -> list[Any]:
    """``specs`` with their classes looked up: text that names one becomes data with its number.

    ``classes`` are in the order of the scores; ``threshold`` is that of texts without one.
    """
    names = [str(name) for name in classes]
    usual = None
    if threshold not in (None, DEFAULT_THRESHOLD):
        usual = np.format_float_positional(threshold or 0.0, trim="-")
    out: list[Any] = []
    for spec in specs:
        if spec == ALL_THREE:
            every = [MetricText(name, threshold=usual) for name in CLASS_METRICS]
            out += [_name_class(text, k, names) for k in range(len(names)) for text in every]
            continue
        text = split_text(spec) if isinstance(spec, str) else MetricText("")
        if text.of_class is None:
            out.append(spec)
            continue
        text = text._replace(
            name=_ALIASES.get(text.name, text.name), threshold=text.threshold or usual
        )
        if text.name not in CLASS_METRICS:
            raise InputError(
                f"metric `{spec}`: `{text.name}` is not a metric of one class",
                hint=f"write `{text.name}` without the brackets, or one of "
                + ", ".join(f"{each}[CLASS]" for each in CLASS_METRICS),
            )
        if text.of_class == EVERY and EVERY not in names:
            out += [_name_class(text, k, names) for k in range(len(names))]
        elif text.of_class in names:
            out.append(_name_class(text, names.index(text.of_class), names))
        else:
            raise InputError(
                f"metric `{spec}`: there is no class {text.of_class!r}",
                hint=f"{suggest_nearest(text.of_class, names)}choose among {quote(names)}, or "
                f"{EVERY} for every class",
            )
    return out


def _name_class(text: MetricText, k: int, names: Sequence[str]) -> dict[str, Any]:
    """The metric of class number ``k`` as data, which shows the name of the class."""
    title = f"{CLASS_METRICS[text.name][0]} of {names[k]}"
    title += f" at {text.threshold}" if text.threshold else ""
    title += f" at prevalence {text.prevalence}" if text.prevalence else ""
    return {
        "name": str(text._replace(of_class=str(k))),
        "as": str(text._replace(of_class=names[k])),
        "title": title,
    }


# -------------------------------------------------------------------------------------------------
# Metrics as data. These classes are declarations that are read: no object is made of them.


@dataclass(init=False, repr=False, eq=False)
class _Shown(declared.Declared):
    as_: str | None = declared.optional("Name in tables.", declared.Text(), usual="nothing")
    title: str | None = declared.optional("Title for people.", declared.Text(), usual="nothing")


@dataclass(init=False, repr=False, eq=False)
class _NoOptions(declared.Declared):
    pass


@dataclass(init=False, repr=False, eq=False)
class _DecisionOptions(declared.Declared):
    threshold: float = declared.option(
        DEFAULT_THRESHOLD,
        "P(1) from which class 1 of two classes is predicted.",
        declared.Number(0.0, 1.0),
    )


@dataclass(init=False, repr=False, eq=False)
class _MatrixOptions(_DecisionOptions):
    matrix: tuple[tuple[float, ...], ...] = declared.option(
        (),
        "Costs or utilities: one row per true class, one column per predicted class.",
        declared.Series(declared.Series(declared.Number(), least=2), least=2),
    )


def _make_from_data(data: Mapping[str, Any], threshold: float | None) -> Metric:
    """The metric that ``data`` describes; ``threshold`` is that of decision metrics without one."""
    options = {"as_" if key == "as" else key: value for key, value in data.items()}
    name = options.pop("name", None)
    if not isinstance(name, str):
        problem = f"the metric {dict(data)!r} has no name"
        raise InputError(problem, hint='write for example {name = "ece", norm = "l2"}')
    owner = f"metric {name!r}"
    labels = {key: options.pop(key) for key in list(options) if key in ("as_", "title")}
    shown = declared.accept_all(_Shown, labels, owner)
    if name in _OF_MATRIX:
        options = declared.accept_all(_MatrixOptions, options, owner)
        if "matrix" not in options:
            raise InputError(f"{owner} has no matrix", hint="give it as matrix = [[0, 1], [10, 0]]")
        if threshold is not None:
            options.setdefault("threshold", threshold)
        made = _OF_MATRIX[name](**options)
    elif name == "ece" and options:
        made = ece(**options)
    else:
        made = _make_from_text(name, None)
        decides = isinstance(made.kind, Decision) and "@" not in name
        options = declared.accept_all(_DecisionOptions if decides else _NoOptions, options, owner)
        at = options.get("threshold", threshold)
        if decides and at is not None:
            made = at_threshold(made, at)
    return replace(made, name=shown.get("as_") or made.name, title=shown.get("title") or made.title)


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
    if metric.data is None:
        return None
    data = dict(metric.data)
    if isinstance(metric.kind, Decision):
        data["threshold"] = metric.kind.threshold  # so that no other one is put in its place
    made = _make_from_data(data, None)
    facts = {each.name for each in fields(Metric)} - {"name", "title", "plan", "data"}
    same = all(getattr(made, each) == getattr(metric, each) for each in facts)
    if not same or _split_partial(made.plan) != _split_partial(metric.plan):
        return None
    if made.name != metric.name:
        data["as"] = metric.name
    if made.title != metric.title:
        data["title"] = metric.title
    return data


def _split_partial(plan: Callable[..., Any]) -> Any:
    """A partial function as its parts: two of equal parts are not equal themselves."""
    return (plan.func, plan.args, plan.keywords) if isinstance(plan, partial) else plan


# -------------------------------------------------------------------------------------------------
# Which metric leads if none was asked for: accuracy, unless a class is rare.
#
# A class is rare where its share of the rows is below 0.4 / K among K classes (20% of two, 4% of
# ten). Whoever never predicts it is right nearly always, so that accuracy hardly
# distinguishes classifiers. The leading metric is then
#
#     two classes, class 1 rare    average precision, which is about the rows of class 1
#     two classes, class 0 rare    ROC AUC, which does not depend on how frequent the classes are
#     two classes in no order      ROC AUC
#     more than two classes        balanced accuracy, in which every class counts the same


@dataclass(frozen=True)
class Lead:
    """The name of the metric that leads, and why it is not accuracy (empty where it is)."""

    metric: str
    reason: str = ""


def find_leading_metric(
    shares: FloatArray, classes: Sequence[Any], *, ordered: bool = True, rare: float = 0.4
) -> Lead:
    """The metric that leads for classes of estimated ``shares`` (K,), rare below ``rare / K``."""
    rarest = int(np.argmin(shares))
    if not np.isfinite(shares).all() or shares[rarest] * len(shares) >= rare:
        return Lead("accuracy")
    if len(shares) > 2:
        metric = "balanced_accuracy"
    else:
        metric = "average_precision" if rarest == 1 and ordered else "roc_auc"
    share = f"About {shares[rarest]:.1%} of the rows are of class {str(classes[rarest])!r}"
    if len(shares) == 2:
        other = (
            f"always predicting {str(classes[1 - rarest])!r} is right on {1 - shares[rarest]:.0%}"
        )
    else:
        other = "never predicting it costs hardly any accuracy"
    reason = (
        f"{share} and {other}, so the models are ranked by {metric} instead of accuracy, unless "
        "you name the metrics."
    )
    return Lead(metric, reason)
