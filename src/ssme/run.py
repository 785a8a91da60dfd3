"""The one call: scores and a few labels in, an `Evaluation` out.

scores --ScoreSet--> method.fit --> belief.estimate(metrics, groups) --> Evaluation
"""

from __future__ import annotations

import inspect
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ssme.data import ScoreSet, as_score_set, reading_options
from ssme.diagnostics import check_all
from ssme.errors import InputError, UndefinedMetricWarning
from ssme.evaluation import Evaluation
from ssme.methods.base import Belief, Estimate, Method, check_supported
from ssme.methods.registry import get_method, method_class
from ssme.metrics import Metric, MetricSpec, default_metrics, get_metric
from ssme.results.groups import ALL, Group
from ssme.wording import did_you_mean

__all__ = ["Fit", "evaluate", "fit_method", "seed_sequence"]

UNDEFINED_SHOWN = 20
"""Undefined values that are warned of one by one."""

ALSO_CALLED = {
    "seed": "random_state",
    "draws": "n_draws",
    "group": "by",
    "label": "y",
    "labels": "y",
    "y_true": "y",
}
"""Options by the names that other tools, and our command line, give them."""


def evaluate(
    scores: Any,
    y: Any = None,
    *,
    method: str | Method = "auto",
    metrics: MetricSpec | Sequence[MetricSpec] | None = None,
    by: str | Sequence[str] | None = None,
    threshold: float | None = None,
    level: float = 0.95,
    n_draws: int | None = None,
    random_state: int | None = 0,
    options: dict[str, Any] | None = None,
    **data_options: Any,
) -> Evaluation:
    """Estimate every classifier's metrics from few labels and many unlabeled rows.

    Parameters
    ----------
    scores : a `ScoreSet`; an array (n, M) of P(positive) or (n, M, K); a dict model -> array; a
        pandas, polars or pyarrow frame; or the path of a CSV, Parquet, npy or npz file.
    y : labels (n,), NaN or None where unknown; for frames and files, the label column's name.
    method : a name that ``ssme methods`` lists, or a method object.
    metrics : names that ``ssme metrics`` lists, `Metric` objects or callables
        ``(y_true, y_score) -> float``; by default those of the SSME paper.
    by : group columns to report on beside all rows; by default all the data declares.
    threshold : P(positive) from which a binary classifier says "positive"; 0.5 by default.
    level : coverage of the intervals.
    n_draws : label or parameter draws, for methods that draw.
    random_state : seed; the same seed gives the same result to the bit. None: a fresh one.
    options : further options of the method.
    **data_options : passed on to `ScoreSet`'s constructors (``models``, ``classes``, ``weights``,
        ``groups``, ``unlabeled``, ``logits``, ...).
    """
    start = time.perf_counter()
    _refuse_unknown(data_options, scores, method)
    data = _score_set(scores, y, data_options)
    fit = fit_method(
        data,
        method=method,
        metrics=metrics,
        by=by,
        threshold=threshold,
        level=level,
        n_draws=n_draws,
        random_state=random_state,
        options=options,
    )
    return fit.evaluation(start)


@dataclass(frozen=True, eq=False)
class Fit:
    """A method fitted to data, not yet asked for estimates."""

    data: ScoreSet
    method: Method
    belief: Belief
    metrics: tuple[Metric, ...]
    groups: tuple[Group, ...]
    level: float
    threshold: float | None
    seed: np.random.SeedSequence

    def evaluation(self, start: float) -> Evaluation:
        """Estimates and doubts; ``start`` is when the clock was started."""
        data, metrics, belief = self.data, self.metrics, self.belief
        rows = [group.rows for group in self.groups]
        estimates = belief.estimate(metrics, rows)
        labels_only = _labels_only(data, metrics, rows)
        _warn_undefined(data, metrics, self.groups, estimates)
        return Evaluation(
            data=data,
            method=self.method.spec.name,
            belief=belief,
            metrics=metrics,
            groups=self.groups,
            estimates=tuple(map(tuple, estimates)),
            labels_only=tuple(map(tuple, labels_only)),
            level=self.level,
            doubts=check_all(data, belief, metrics, estimates[0], labels_only[0]),
            settings=self._settings(start),
        )

    def _settings(self, start: float) -> dict[str, Any]:
        from ssme import __version__

        entropy = self.seed.entropy
        options = {
            k: v for k, v in vars(self.method).items() if isinstance(v, (str, int, float, bool))
        }
        return {
            "method": self.method.spec.name,
            "options": options,
            "metrics": [metric.name for metric in self.metrics],
            "definitions": {metric.name: metric.definition for metric in self.metrics},
            "groups": [group.name for group in self.groups],
            "level": self.level,
            "threshold": self.threshold,
            "random_state": int(entropy) if isinstance(entropy, int) else None,
            "n_rows": self.data.n_rows,
            "n_labeled": self.data.n_labeled,
            "models": list(self.data.models),
            "classes": [str(c) for c in self.data.classes],
            "versions": {"ssme": __version__, "numpy": np.__version__},
            "seconds": round(time.perf_counter() - start, 3),
        }


def fit_method(
    data: ScoreSet,
    *,
    method: str | Method,
    metrics: MetricSpec | Sequence[MetricSpec] | None,
    by: str | Sequence[str] | None,
    threshold: float | None,
    level: float,
    n_draws: int | None,
    random_state: int | None,
    options: dict[str, Any] | None,
) -> Fit:
    """The first half of `evaluate`, whose options these are."""
    if not 0.0 < level < 1.0:
        raise InputError(f"level is {level}", allowed="a coverage between 0 and 1, such as 0.95")
    seed = seed_sequence(random_state)
    chosen = _metrics(metrics, data, threshold)
    fitted = _method(method, n_draws, options)
    check_supported(fitted.spec, data, chosen)
    groups = _groups(data, by)
    if len(groups) > 1 and not fitted.spec.groups:
        raise InputError(
            f"method {fitted.spec.name!r} cannot report on groups",
            fix="pass by=[] or choose another method (`ssme methods`)",
        )
    belief = fitted.fit(data, np.random.default_rng(seed))
    return Fit(data, fitted, belief, tuple(chosen), tuple(groups), level, threshold, seed)


def seed_sequence(random_state: int | None) -> np.random.SeedSequence:
    """The random numbers' seed; `InputError` where numpy cannot take it for one."""
    try:
        return np.random.SeedSequence(random_state)
    except (TypeError, ValueError):
        raise InputError(
            f"random_state={random_state!r}",
            allowed="a whole number of at least 0",
            fix="pick any such number; the same one gives the same result",
        ) from None


def _refuse_unknown(options: dict[str, Any], scores: Any, method: str | Method) -> None:
    """Refuse what neither `evaluate` nor the reader of ``scores`` knows."""
    reading = reading_options(scores)
    unknown = [name for name in options if name not in reading]
    if not unknown:
        return
    name, parameters = unknown[0], inspect.signature(evaluate).parameters.values()
    own = ["y", *(each.name for each in parameters if each.kind == each.KEYWORD_ONLY)]
    kind: Any = method_class(method) if isinstance(method, str) else type(method)
    if name in ALSO_CALLED:
        cure = f"did you mean {ALSO_CALLED[name]!r}?"
    elif is_dataclass(kind) and name in {each.name for each in fields(kind)}:
        cure = f"it is an option of the method: options={{{name!r}: ...}}"
    else:
        cure = did_you_mean(name, [*own, *reading]) or "leave it out"
    raise InputError(
        f"evaluate has no option {name!r} for these scores",
        allowed=f"{', '.join(own)}; for reading the scores {', '.join(reading)}",
        fix=cure,
    )


def _score_set(scores: Any, y: Any, options: dict[str, Any]) -> ScoreSet:
    if isinstance(scores, ScoreSet):
        if y is not None or options:
            given = ["y"] * (y is not None) + sorted(options)
            raise InputError(
                f"a ScoreSet was given together with {', '.join(given)}",
                allowed="a ScoreSet alone: it holds its own labels and options",
                fix="pass these to ScoreSet.from_arrays, from_frame or read instead",
            )
        return scores
    return as_score_set(scores, y, **options)


def _metrics(
    metrics: MetricSpec | Sequence[MetricSpec] | None, data: ScoreSet, threshold: float | None
) -> list[Metric]:
    if metrics is None:
        metrics = default_metrics(data.n_classes)
    specs = (
        list(metrics)
        if isinstance(metrics, Sequence) and not isinstance(metrics, str)
        else [metrics]
    )
    chosen = [get_metric(spec, threshold=threshold) for spec in specs]
    names = [metric.name for metric in chosen]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if not names or repeated:
        raise InputError(
            f"metrics are repeated: {', '.join(repeated)}" if repeated else "no metric was named",
            allowed="one or more different metrics",
        )
    return chosen


def _method(method: str | Method, n_draws: int | None, options: dict[str, Any] | None) -> Method:
    given = dict(options or {})
    if n_draws is not None:
        if n_draws < 1:
            raise InputError(f"n_draws is {n_draws}", allowed="a whole number of at least 1")
        given["n_draws"] = int(n_draws)
    if isinstance(method, str):
        return get_method(method, **given)
    if given:
        raise InputError(
            f"a method object was given together with {', '.join(given)}",
            fix="set its options when you make it",
        )
    return method


def _groups(data: ScoreSet, by: str | Sequence[str] | None) -> list[Group]:
    columns = list(data.groups) if by is None else [by] if isinstance(by, str) else list(by)
    groups = [Group(ALL, None, data.n_labeled, data.n_unlabeled)]
    for column in columns:
        if column not in data.groups:
            raise InputError(
                f"there is no group column {column!r}",
                allowed=", ".join(data.groups) or "none: the data has no group columns",
            )
        for value, rows in _rows_by_value(data.groups[column]):
            labeled = int(data.labeled[rows].sum())
            groups.append(Group(f"{column}={value}", rows, labeled, rows.size - labeled))
    return groups


def _rows_by_value(values: NDArray[np.object_]) -> list[tuple[Any, NDArray[np.int64]]]:
    """The values of a group column in order, with the numbers of the rows that have each."""
    listed = values.tolist()
    distinct = sorted({*listed}, key=lambda v: (str(type(v)), v))
    place = {value: number for number, value in enumerate(distinct)}
    codes = np.array([place[value] for value in listed], dtype=np.int64)
    order = np.argsort(codes, kind="stable")
    ends = np.cumsum(np.bincount(codes, minlength=len(distinct)))
    return list(zip(distinct, np.split(order, ends[:-1]), strict=True))


def _labels_only(
    data: ScoreSet, metrics: Sequence[Metric], rows: Sequence[Any]
) -> list[list[Estimate]]:
    if data.n_labeled == 0:
        nothing = np.full(data.n_models, np.nan)
        return [[Estimate(nothing) for _ in metrics] for _ in rows]
    belief = get_method("labeled", joint_draws=False).fit(data, np.random.default_rng(0))
    return belief.estimate(metrics, rows)


def _warn_undefined(
    data: ScoreSet,
    metrics: Sequence[Metric],
    groups: Sequence[Group],
    estimates: Sequence[Sequence[Estimate]],
) -> None:
    undefined = []
    for group, row in zip(groups, estimates, strict=True):
        for metric, estimate in zip(metrics, row, strict=True):
            names = [n for n, v in zip(data.models, estimate.value, strict=True) if np.isnan(v)]
            if names:
                undefined.append(
                    f"{metric.name} is undefined on group {group.name!r} for {', '.join(names[:5])}"
                    + (f" and {len(names) - 5} more" if len(names) > 5 else "")
                )
    for number, what in enumerate(undefined[:UNDEFINED_SHOWN]):
        left = len(undefined) - UNDEFINED_SHOWN
        more = number == UNDEFINED_SHOWN - 1 and left > 0
        warnings.warn(
            f"{what} and is NaN: no rows, or one class only"
            + (f" ({left:,} more such values are not listed)" if more else ""),
            UndefinedMetricWarning,
            stacklevel=4,
        )
