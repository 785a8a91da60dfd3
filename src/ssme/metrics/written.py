"""Metrics as data: a name, or a name with options, as a config file can hold it.

    "accuracy"   "f1@0.3"   {"name": "ece", "norm": "l2", "n_bins": 20}
    {"name": "expected_cost", "matrix": [[0, 1], [10, 0]], "threshold": 0.2}

``as`` and ``title`` give a metric another name in tables. `make_metric` makes the metric that data
describes, and `describe_metric` finds the data of a metric, if it has any: a metric of a function
has none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any, cast

from ssme.errors import InputError
from ssme.metrics.base import Metric
from ssme.metrics.calibration import ece
from ssme.metrics.costs import expected_cost, expected_utility
from ssme.metrics.decisions import at_threshold
from ssme.metrics.kinds import DEFAULT_THRESHOLD, Calibration, Decision
from ssme.metrics.per_class import ClassTerm
from ssme.options import (
    Declared,
    Enumeration,
    Flag,
    Nothing,
    Number,
    OneOf,
    Series,
    Text,
    Whole,
    accept_all,
    option,
)

_WORTH = {"expected_cost": expected_cost, "expected_utility": expected_utility}
"""Metrics that are made from a matrix."""
_ROW = Series(Number(), least=2)
_THRESHOLD = Number(0.0, 1.0)


@dataclass(init=False, repr=False, eq=False)
class _CommonOptions(Declared):
    """What every metric takes. Such a class is a declaration that is read: no object is made."""

    name: str = option("", "Name of the metric.", Text())
    as_: str | None = option(None, "Name in tables.", OneOf(Nothing(), Text()))
    title: str | None = option(None, "Title for people.", OneOf(Nothing(), Text()))


@dataclass(init=False, repr=False, eq=False)
class _DecisionOptions(_CommonOptions):
    """Those of metrics of decisions."""

    threshold: float = option(
        DEFAULT_THRESHOLD, "P(1) from which class 1 of two classes is predicted.", _THRESHOLD
    )


@dataclass(init=False, repr=False, eq=False)
class _CostOptions(_DecisionOptions):
    """Those of metrics that are made from a matrix."""

    matrix: tuple[tuple[float, ...], ...] = option(
        (),
        "Costs or utilities: one row per true class, one column per predicted class.",
        Series(_ROW, least=2),
    )


@dataclass(init=False, repr=False, eq=False)
class _CalibrationOptions(_CommonOptions):
    """Those of calibration errors."""

    n_bins: int | None = option(
        None, "Number of bins.", OneOf(Nothing("10 for two classes, 15 for more"), Whole(least=1))
    )
    binning: str | None = option(
        None,
        "Bins of equal mass or of equal width.",
        OneOf(Nothing("quantile for two classes"), Enumeration("quantile", "uniform")),
    )
    weighted: bool | None = option(
        None,
        "Whether bins count by the weight of their rows.",
        OneOf(Nothing("for more than two classes"), Flag()),
    )
    norm: str = option(
        "l1", "Mean, root mean square or maximum of the gaps.", Enumeration("l1", "l2", "max")
    )
    target: str | None = option(
        None,
        "The score that is checked.",
        OneOf(
            Nothing("positive for two classes, top_label for more"),
            Enumeration("positive", "top_label", "top_label_by_class", "classwise"),
        ),
    )


def make_metric(
    data: Mapping[str, Any], find: Callable[[str], Metric], threshold: float | None = None
) -> Metric:
    """The metric that ``data`` describes; ``threshold`` is that of decision metrics without one."""
    given = {"as_" if key == "as" else key: value for key, value in data.items()}
    if not isinstance(given.get("name"), str):
        raise InputError(
            f"the metric {dict(data)!r} has no name",
            hint='write for example {name = "ece", norm = "l2"}',
        )
    name = given["name"]
    owner = f"metric {name!r}"
    names = {key: given.pop(key) for key in list(given) if key in ("as_", "title")}
    called = accept_all(_CommonOptions, names, owner)
    if name in _WORTH:
        options = accept_all(_CostOptions, given, owner)
        options.pop("name")
        if "matrix" not in options:
            raise InputError(f"{owner} has no matrix", hint="give it as matrix = [[0, 1], [10, 0]]")
        if threshold is not None:
            options.setdefault("threshold", threshold)
        made = _WORTH[name](options.pop("matrix"), **options)
    elif name == "ece" and len(given) > 1:
        options = accept_all(_CalibrationOptions, given, owner)
        options.pop("name")
        made = ece(**options)
    else:
        made = find(name)
        decides = isinstance(made.kind, Decision) and "@" not in name
        options = accept_all(_DecisionOptions if decides else _CommonOptions, given, owner)
        at = options.get("threshold", threshold)
        if decides and at is not None:
            made = at_threshold(made, at)
    return replace(
        made, name=called.get("as_") or made.name, title=called.get("title") or made.title
    )


def describe_metric(
    metric: Metric, names: tuple[str, ...], find: Callable[[str], Metric]
) -> dict[str, Any] | None:
    """The data of ``metric``, or None where it cannot be written.

    A decision metric is written with its threshold, so that no other one is put in its place.
    """
    for data in _list_candidates(metric, names, find):
        made = make_metric(data, find)
        if not _is_same(made, metric):
            continue
        if made.name != metric.name:
            data["as"] = metric.name
        if made.title != metric.title:
            data["title"] = metric.title
        return data
    return None


def _list_candidates(
    metric: Metric, names: tuple[str, ...], find: Callable[[str], Metric]
) -> list[dict[str, Any]]:
    kind = metric.kind
    found: list[dict[str, Any]] = []
    for name in names:
        known = find(name)
        data: dict[str, Any] = {"name": name}
        other = known.kind
        if isinstance(kind, Decision) and isinstance(other, Decision):
            if other.at(kind.threshold) != kind:
                continue
            data["threshold"] = kind.threshold
        elif known.kind != kind:
            continue
        found.insert(0 if known.name == metric.name else len(found), data)
    if isinstance(kind, Calibration):
        plain = Calibration()
        chosen = {
            each.name: getattr(kind, each.name)
            for each in fields(kind)
            if getattr(kind, each.name) != getattr(plain, each.name)
        }
        found.append({"name": "ece", **chosen})
    if isinstance(kind, Decision) and isinstance(kind.statistic, ClassTerm):
        term = kind.statistic
        found.append({"name": f"{term.of}[{term.k}]", "threshold": kind.threshold})
    costs = getattr(kind.statistic, "costs", None) if isinstance(kind, Decision) else None
    if costs is not None:
        threshold = cast(Decision, kind).threshold
        matrix = [list(row) for row in costs]
        options = {"matrix": matrix, "threshold": threshold}
        found += [{"name": name, **options} for name in _WORTH]
    return found


def _is_same(one: Metric, two: Metric) -> bool:
    """Whether two metrics differ in name and title at most."""
    facts = [each.name for each in fields(Metric) if each.name not in ("name", "title", "plan")]
    return all(getattr(one, each) == getattr(two, each) for each in facts) and (
        _plan_of(one) == _plan_of(two)
    )


def _plan_of(metric: Metric) -> Any:
    plan = metric.plan
    return (plan.func, plan.args, plan.keywords) if isinstance(plan, partial) else plan
