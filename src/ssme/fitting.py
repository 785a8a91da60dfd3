"""A method fitted to data as a spec says, and the evaluation that follows from it.

ScoreSet --method.fit--> belief --estimate(metrics, groups)--> Evaluation

`ssme.run` and `ssme.stream` share it.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

import numpy as np

from ssme.data import ScoreSet
from ssme.data.grouping import divide, parse_group_by
from ssme.diagnostics import Case, check_all
from ssme.errors import InputError, UndefinedMetricWarning, name_argument, warn
from ssme.methods.base import Belief, Estimate, Method, check_supported
from ssme.methods.beliefs import LabeledBelief
from ssme.methods.registry import get_method
from ssme.metrics import Metric, default_metrics, get_metric
from ssme.metrics.base import one_hot_mass
from ssme.metrics.kinds import DEFAULT_THRESHOLD, Decision
from ssme.metrics.registry import Lead, expand_metrics, find_leading_metric
from ssme.results.evaluation import Evaluation
from ssme.results.group_estimates import estimate_groups
from ssme.results.groups import ALL, Group
from ssme.spec import RunSpec
from ssme.wording import quote

LABELS_ONLY_SEED = 0
"""What labels alone say does not depend on the seed of an evaluation."""
UNDEFINED_SHOWN = 20
"""Undefined values that are warned of one by one."""


@dataclass(frozen=True, eq=False)
class Fit:
    """A method fitted to data, not yet asked for estimates.

    ``spec`` is the run that it is part of, with the seed that was used.
    """

    data: ScoreSet
    spec: RunSpec
    method: Method
    belief: Belief
    metrics: tuple[Metric, ...]
    groups: tuple[Group, ...]
    lead: Lead

    def make_evaluation(self, start: float) -> Evaluation:
        """Estimates and warnings; ``start`` is when the clock was started."""
        data, metrics, belief = self.data, self.metrics, self.belief
        rows = [group.rows for group in self.groups]
        estimates, groups = self._estimate()
        labels_only = _estimate_labels_only(data, metrics, rows, belief, estimates)
        estimates = _hide_judges(data, metrics, estimates)
        labels_only = _hide_judges(data, metrics, labels_only)
        if self.method.spec.widens_to_labels:
            for m, (estimate, alone) in enumerate(zip(estimates[0], labels_only[0], strict=True)):
                if (contradicted := estimate.find_contradictions(alone)).any():
                    contains = np.where(contradicted, alone.value, np.nan)
                    estimates[0][m] = replace(estimate, contains=contains)
        _warn_undefined(data, metrics, groups, estimates)
        return Evaluation(
            data=data,
            method=self.method.spec.name,
            belief=belief,
            metrics=metrics,
            groups=groups,
            estimates=tuple(map(tuple, estimates)),
            labels_only=tuple(map(tuple, labels_only)),
            level=self.spec.level,
            warnings=check_all(
                Case(
                    data,
                    belief,
                    metrics,
                    estimates[0],
                    labels_only[0],
                    groups={group.name: group.n_labeled for group in groups[1:]},
                )
            ),
            settings=self._describe_settings(start),
        )

    def _estimate(self) -> tuple[list[list[Estimate]], tuple[Group, ...]]:
        """Estimates [group][metric], and the groups with the shrinkage of each."""
        estimates, shrinkage = estimate_groups(
            self.belief,
            self.data,
            self.metrics,
            [(group.by, group.rows) for group in self.groups],
            target=self.spec.group_target,
            seed=self.spec.seed,
        )
        each = zip(self.groups, shrinkage, strict=True)
        return estimates, tuple(replace(group, shrinkage=share) for group, share in each)

    def _describe_settings(self, start: float) -> dict[str, Any]:
        from ssme import __version__

        try:
            config: dict[str, Any] = {"config": self.spec.to_dict()}
        except InputError as error:
            config = {"config": None, "no_config": str(error)}
        declared: Sequence[Any] = fields(self.method) if is_dataclass(self.method) else ()
        options = [each.name for each in declared if each.init]
        return {
            "method": self.method.spec.name,
            "options": {name: _make_plain(getattr(self.method, name)) for name in options},
            "metrics": [metric.name for metric in self.metrics],
            "lead": {"metric": self.lead.metric, "reason": self.lead.reason},
            "definitions": {metric.name: metric.definition for metric in self.metrics},
            "groups": [group.name for group in self.groups],
            "group_target": self.spec.group_target,
            "level": self.spec.level,
            "threshold": self.spec.threshold,
            "random_state": self.spec.random_state,
            "n_rows": self.data.n_rows,
            "n_labeled": self.data.n_labeled,
            "models": list(self.data.models),
            "classes": [str(c) for c in self.data.classes],
            "positive": None if self.data.positive is None else str(self.data.positive),
            "versions": {"ssme": __version__, "numpy": np.__version__},
            "seconds": round(time.perf_counter() - start, 3),
            **config,
        }


def fit_method(data: ScoreSet, spec: RunSpec, groups: Sequence[Group] | None = None) -> Fit:
    """Fit the method of ``spec``, whose seed is settled; of ``groups`` the first has all rows."""
    chosen = choose_metrics(spec, data)
    groups = make_groups(data, spec) if groups is None else groups
    method = spec.made_method
    check_run(data, method, chosen, n_groups=len(groups))
    _warn_of_ties(data, chosen)
    seed = np.random.SeedSequence(spec.seed)
    belief = method.fit(data, np.random.default_rng(seed))
    lead = Lead(chosen[0].name)
    if spec.metrics is None:
        lead, chosen = _follow_data(data, method, belief, chosen, spec.threshold)
    return Fit(data, spec, method, belief, tuple(chosen), tuple(groups), lead)


def check_run(
    data: ScoreSet, method: Method, metrics: Sequence[Metric], *, n_groups: int = 1
) -> None:
    """Refuse what the method cannot do with ``data``."""
    check_supported(method.spec, data, metrics)
    if n_groups > 1 and not method.spec.groups:
        problem = f"method {method.spec.name!r} cannot report on groups"
        raise InputError(problem, hint="pass `by=[]` or choose another method")


def _follow_data(
    data: ScoreSet, method: Method, belief: Belief, metrics: list[Metric], threshold: float | None
) -> tuple[Lead, list[Metric]]:
    """Which metric leads where none was asked for, and the metrics with it at the head."""
    weights = np.ones(data.n_rows) if data.weights is None else data.weights
    if belief.posterior is not None:
        mass = np.nan_to_num(belief.posterior) * weights[:, None]
    else:
        mass = one_hot_mass(data.labels[data.labeled], data.n_classes, weights[data.labeled])[0]
    total = mass.sum()
    if total <= 0.0:
        return Lead(metrics[0].name), metrics
    lead = find_leading_metric(mass.sum(axis=0) / total, data.classes, ordered=data.ordered)
    metric = get_metric(lead.metric, threshold=threshold)
    if not lead.reason or not method.spec.can_estimate(metric, data.n_classes):
        return Lead(metrics[0].name), metrics
    ordered = {each.name: each for each in (metric, *metrics)}
    return Lead(metric.name, lead.reason), list(ordered.values())


def choose_usual_metrics(data: ScoreSet) -> tuple[str, ...]:
    """The metrics that are estimated where none are asked for; those left out are warned of."""
    answers = len(data.judges) == data.n_models
    ratings = any(judge.kind == "ratings" for judge in data.judges.values())
    names = default_metrics(data.n_classes, answers=answers, ratings=ratings)
    kept = default_metrics(data.n_classes, answers=answers, ratings=ratings, ordered=data.ordered)
    if kept != names:
        left_out = " and ".join(name for name in names if name not in kept)
        warn(
            f"Nothing says which of the classes {quote(data.classes)} is positive, so {left_out} "
            f"are left out. Name it, such as `positive={data.classes[1]!r}`."
        )
    return kept


def choose_metrics(spec: RunSpec, data: ScoreSet) -> list[Metric]:
    """The metrics that ``spec`` asks for, of each class where it says so."""
    asked = choose_usual_metrics(data) if spec.metrics is None else spec.metrics
    with name_argument("metrics"):
        each_class = expand_metrics(asked, data.classes, spec.threshold)
        chosen = [get_metric(each, threshold=spec.threshold) for each in each_class]
    names = [metric.name for metric in chosen]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if not names or repeated:
        found = f"repeats {', '.join(repeated)}" if repeated else "names no metric"
        raise InputError(f"`metrics` {found}")
    return chosen


def _warn_of_ties(data: ScoreSet, metrics: Sequence[Metric]) -> None:
    """Say which class scores of 1/2 count as, where neither of two is known to be positive."""
    if data.n_classes != 2 or data.ordered:
        return
    tied = int(np.count_nonzero(data.scores[:, :, 1] == DEFAULT_THRESHOLD))
    names = [metric.name for metric in metrics if isinstance(metric.kind, Decision)]
    if tied and names:
        warn(
            f"{tied:,} score{'s are' if tied > 1 else ' is'} exactly 0.5 and, for "
            f"{', '.join(names)}, count as {data.classes[1]!r}: nothing says which of the classes "
            f"{quote(data.classes)} is positive. Name it, such as "
            f"`positive={data.classes[1]!r}`."
        )


def _make_plain(value: Any) -> Any:
    """An option of a method as a plain value; objects of Python are named by their class."""
    if isinstance(value, (list, tuple)):
        return [_make_plain(item) for item in value]
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    return type(value).__name__


def make_groups(data: ScoreSet, spec: RunSpec) -> list[Group]:
    """All rows, and the groups of every grouping that ``spec`` asks for."""
    groups = [Group(ALL, None, data.n_labeled, data.n_unlabeled)]
    for text in spec.choose_groupings(data.groups):
        option = "groups" if spec.by is None else "by"
        group_by = parse_group_by(text, data.groups, option).settle(data.groups)
        for name, rows, pooled in divide(group_by, data.groups, spec.pooling):
            labeled = int(data.labeled[rows].sum())
            groups.append(Group(name, rows, labeled, rows.size - labeled, text, pooled))
    return groups


def _estimate_labels_only(
    data: ScoreSet,
    metrics: Sequence[Metric],
    rows: Sequence[Any],
    belief: Belief,
    estimates: list[list[Estimate]],
) -> list[list[Estimate]]:
    """What labels alone say, which may be what the method's ``belief`` has said already."""
    if data.n_labeled == 0 or data.design.kind in ("by_class", "by_score"):
        nothing = np.full(data.n_models, np.nan)
        return [[Estimate(nothing) for _ in metrics] for _ in rows]
    rng = np.random.default_rng(LABELS_ONLY_SEED)
    alone = get_method("labeled", joint_draws=False).fit(data, rng)
    if isinstance(belief, LabeledBelief) and belief.repeats(alone):
        return estimates
    return alone.estimate(metrics, rows)


def _hide_judges(
    data: ScoreSet, metrics: Sequence[Metric], estimates: list[list[Estimate]]
) -> list[list[Estimate]]:
    """Metrics of probabilities are NaN for models that give answers or ratings."""
    judges = np.array([name in data.judges for name in data.models])
    if not judges.any() or not any(metric.of_probabilities for metric in metrics):
        return estimates
    return [
        [
            _hide(estimate, judges) if metric.of_probabilities else estimate
            for metric, estimate in zip(metrics, row, strict=True)
        ]
        for row in estimates
    ]


def _hide(estimate: Estimate, models: np.typing.NDArray[np.bool_]) -> Estimate:
    """``estimate`` with nothing known of some ``models`` (M,)."""
    value = np.where(models, np.nan, estimate.value)
    draws = None if estimate.draws is None else np.where(models, np.nan, estimate.draws)
    if estimate.bounds is None:
        return replace(estimate, value=value, draws=draws)
    low_and_high = estimate.bounds

    def hide_bounds(level: float) -> tuple[Any, Any]:
        low, high = low_and_high(level)
        return np.where(models, np.nan, low), np.where(models, np.nan, high)

    return replace(estimate, value=value, draws=draws, bounds=hide_bounds)


def _warn_undefined(
    data: ScoreSet,
    metrics: Sequence[Metric],
    groups: Sequence[Group],
    estimates: Sequence[Sequence[Estimate]],
) -> None:
    undefined = []
    for group, row in zip(groups, estimates, strict=True):
        if group.rows is not None and group.rows.size == 0:
            continue
        for metric, estimate in zip(metrics, row, strict=True):
            names = [
                name
                for name, value in zip(data.models, estimate.value, strict=True)
                if np.isnan(value) and not (metric.of_probabilities and name in data.judges)
            ]
            if names:
                undefined.append(
                    f"{metric.name} is undefined on group {group.name!r} for {', '.join(names[:5])}"
                    + (f" and {len(names) - 5} more" if len(names) > 5 else "")
                )
    for number, what in enumerate(undefined[:UNDEFINED_SHOWN]):
        left = len(undefined) - UNDEFINED_SHOWN
        more = number == UNDEFINED_SHOWN - 1 and left > 0
        warn(
            f"{what} and is NaN: no rows, or one class only"
            + (f" ({left:,} more such values are not listed)" if more else ""),
            UndefinedMetricWarning,
        )
