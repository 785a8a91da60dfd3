"""The one call: scores and a few labels in, an `Evaluation` out.

scores --ScoreSet--> method.fit --> belief.estimate(metrics, groups) --> Evaluation
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from ssme.data import ScoreSet, as_score_set
from ssme.diagnostics import check_all
from ssme.errors import InputError, UndefinedMetricWarning
from ssme.methods.base import Estimate, Method, check_supported
from ssme.methods.registry import get_method
from ssme.metrics import Metric, MetricSpec, default_metrics, get_metric
from ssme.results.evaluation import ALL, Evaluation, Group

__all__ = ["evaluate"]


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
    if not 0.0 < level < 1.0:
        raise InputError(f"level is {level}", allowed="a coverage between 0 and 1, such as 0.95")
    data = _score_set(scores, y, data_options)
    chosen = _metrics(metrics, data, threshold)
    fitted = _method(method, n_draws, options)
    check_supported(fitted.spec, data, chosen)
    groups = _groups(data, by)
    if len(groups) > 1 and not fitted.spec.groups:
        raise InputError(
            f"method {fitted.spec.name!r} cannot report on groups",
            fix="pass by=[] or choose another method (`ssme methods`)",
        )
    seed = np.random.SeedSequence(random_state)
    belief = fitted.fit(data, np.random.default_rng(seed))
    rows = [group.rows for group in groups]
    estimates = belief.estimate(chosen, rows)
    labels_only = _labels_only(data, chosen, rows)
    _warn_undefined(data, chosen, groups, estimates)
    return Evaluation(
        data=data,
        method=fitted.spec.name,
        belief=belief,
        metrics=tuple(chosen),
        groups=tuple(groups),
        estimates=tuple(map(tuple, estimates)),
        labels_only=tuple(map(tuple, labels_only)),
        level=level,
        doubts=check_all(data, belief, chosen, estimates[0], labels_only[0]),
        settings=_settings(fitted, chosen, data, groups, level, threshold, seed, start),
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
        values = data.groups[column]
        for value in sorted({*values.tolist()}, key=lambda v: (str(type(v)), v)):
            rows = np.asarray(values == value, dtype=bool)
            labeled = int((rows & data.labeled).sum())
            groups.append(Group(f"{column}={value}", rows, labeled, int(rows.sum()) - labeled))
    return groups


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
    for group, row in zip(groups, estimates, strict=True):
        for metric, estimate in zip(metrics, row, strict=True):
            names = [n for n, v in zip(data.models, estimate.value, strict=True) if np.isnan(v)]
            if names:
                warnings.warn(
                    f"{metric.name} is undefined on group {group.name!r} for {', '.join(names[:5])}"
                    + (f" and {len(names) - 5} more" if len(names) > 5 else "")
                    + " and is NaN: no rows, or one class only",
                    UndefinedMetricWarning,
                    stacklevel=3,
                )


def _settings(
    method: Method,
    metrics: Sequence[Metric],
    data: ScoreSet,
    groups: Sequence[Group],
    level: float,
    threshold: float | None,
    seed: np.random.SeedSequence,
    start: float,
) -> dict[str, Any]:
    from ssme import __version__

    return {
        "method": method.spec.name,
        "options": {
            k: v for k, v in vars(method).items() if isinstance(v, (str, int, float, bool))
        },
        "metrics": [metric.name for metric in metrics],
        "definitions": {metric.name: metric.definition for metric in metrics},
        "groups": [group.name for group in groups],
        "level": level,
        "threshold": threshold,
        "random_state": int(seed.entropy) if isinstance(seed.entropy, int) else None,
        "n_rows": data.n_rows,
        "n_labeled": data.n_labeled,
        "models": list(data.models),
        "classes": [str(c) for c in data.classes],
        "versions": {"ssme": __version__, "numpy": np.__version__},
        "seconds": round(time.perf_counter() - start, 3),
    }
