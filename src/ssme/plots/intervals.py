"""Dots with intervals: estimates beside labels alone, groups, ranking."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ssme.plots.display import (
    BLUE,
    GREEN,
    GREY,
    SAID,
    VERMILION,
    Plot,
    Spec,
    cut_name,
    encode_data,
    encode_names,
    encode_number,
    facet_by_model,
    measure_goodness,
    sort_best_first,
)
from ssme.results.groups import ALL, order_groups
from ssme.show.sections import format_percent

if TYPE_CHECKING:
    from ssme.results.evaluation import Evaluation

SHOWN_MODELS = 20
"""Models drawn where none are named; a picture of more can no longer be read."""

SHOWN_GROUPS = 20
"""Groups drawn where there are more; the table has all."""

ESTIMATE, LABELS_ONLY, TRUTH = "estimate", "labels only", "truth"
LOOK = {
    ESTIMATE: (BLUE, "circle"),
    LABELS_ONLY: (GREY, "diamond"),
    TRUTH: (VERMILION, "cross"),
}
Truth = Mapping[str, Mapping[str, float]]
"""metric -> model -> value, for those who know it."""


def draw_estimates(evaluation: Evaluation, *, group: str, limit: int, truth: Truth | None) -> Plot:
    """Every metric of every model, with interval, beside what labels alone say."""
    parts = [
        draw_metric(evaluation, metric.name, group=group, limit=limit, truth=truth)
        for metric in evaluation.metrics
    ]
    panels = [{"title": part.title, **part.body} for part in parts]
    return Plot(
        f"Estimates with {evaluation.level * 100:g} % intervals",
        {"concat": panels, "columns": 2},
        [row for part in parts for row in part.rows],
        " ".join(part.alt for part in parts),
    )


def draw_metric(
    evaluation: Evaluation,
    metric: str,
    *,
    group: str = ALL,
    limit: int = SHOWN_MODELS,
    truth: Truth | None = None,
) -> Plot:
    """One metric of every model, best first, beside what labels alone say."""
    chosen = evaluation.metrics[evaluation.metric_index(metric)]
    found = sort_best_first(evaluation.rows(metric, group), chosen)
    shown = found[:limit]
    rows = [part for row in shown for part in _split_parts(row, (truth or {}).get(metric, {}))]
    kinds = [kind for kind in LOOK if any(row["kind"] == kind for row in rows)]
    colors = {"domain": kinds, "range": [LOOK[kind][0] for kind in kinds]}
    shapes = {"domain": kinds, "range": [LOOK[kind][1] for kind in kinds]}
    x = {
        "title": f"{metric} ({chosen.direction})",
        "scale": _choose_scale(rows),
        "axis": {"tickCount": 6},
    }
    body = {
        "data": encode_data(
            rows, lambda row: f"{row['model']}, {row['kind']}: {_describe_triple(row)}"
        ),
        "width": 300,
        "height": {"step": 14},
        "encoding": {
            "y": _encode_model_axis([row["model"] for row in shown]),
            "yOffset": encode_names("kind", sort=kinds),
            "color": encode_names(
                "kind", sort=kinds, scale=colors, legend={"title": None, "orient": "top"}
            ),
            **SAID,
        },
        "layer": [
            {
                "mark": {"type": "rule", "strokeWidth": 2},
                "encoding": {"x": encode_number("low", **x), "x2": {"field": "high"}},
            },
            {
                "mark": {"type": "point", "size": 70, "filled": True, "opacity": 1},
                "encoding": {
                    "x": encode_number("value", **x),
                    "shape": encode_names("kind", sort=kinds, scale=shapes),
                },
            },
        ],
    }
    return Plot(metric, body, rows, _describe_models(metric, group, found, evaluation.level, limit))


def draw_groups(
    evaluation: Evaluation, names: list[str], metric: str, most: int = SHOWN_GROUPS
) -> Plot:
    """One metric in every group, model by model, below all rows: the worst group first."""
    chosen = evaluation.metrics[evaluation.metric_index(metric)]
    order = order_groups(evaluation, metric)
    shown = [ALL, *order[:most]]
    rows = [
        {
            **{k: row[k] for k in ("model", "group", "low", "high", "n_labeled")},
            "value": row["estimate"],
            "labels_only": _take_own_labels_only(row),
        }
        for row in evaluation.rows(chosen.name)
        if row["model"] in names and row["group"] in shown
    ]
    both = [*rows, *({**row, "value": row["labels_only"]} for row in rows)]
    x = {"title": chosen.name, "scale": _choose_scale(both)}  # a longer one does not fit the panels
    panel = {
        "width": 200,
        "height": {"step": 20},
        "encoding": {
            "y": {**_encode_model_axis(shown), "field": "group"},
            **SAID,
        },
        "layer": [
            {
                "mark": {"type": "rule", "strokeWidth": 2, "color": BLUE},
                "encoding": {"x": encode_number("low", **x), "x2": {"field": "high"}},
            },
            {
                "mark": {"type": "point", "size": 60, "shape": "diamond", "color": GREY},
                "encoding": {"x": encode_number("labels_only", **x)},
            },
            {
                "mark": {"type": "point", "size": 70, "filled": True, "color": BLUE, "opacity": 1},
                "encoding": {"x": encode_number("value", **x)},
            },
        ],
    }
    words = f"{chosen.name} by group for {len(names)} models; diamonds are labels alone."
    defined = [row for row in rows if not math.isnan(row["value"])]
    worst = min(defined, key=lambda row: measure_goodness(row["value"], chosen), default=None)
    if worst is not None and worst["group"] != ALL:
        words += f" The worst is {cut_name(worst['model'])} on {cut_name(worst['group'])}: "
        words += f"{worst['value']:.3f}."
    title = f"{chosen.name} ({chosen.direction}) by group, the worst first; "
    title += "diamonds are labels alone"
    if len(order) > most:
        title += f"; the worst {most} of {len(order)} groups"
        words += f" The worst {most} of {len(order)} groups are shown."
    return Plot(title, facet_by_model(rows, names, panel, _describe_group), rows, words)


def draw_ranking(evaluation: Evaluation, metric: str, *, group: str, limit: int) -> Plot:
    """Probability of being the best, model by model."""
    ranking = evaluation.ranking(metric, group)
    rows = [dict(vars(row)) for row in ranking.rows[:limit]]
    shown = [
        {**r, "said": "" if math.isnan(r["p_best"]) else format_percent(r["p_best"])} for r in rows
    ]
    axis = {"tickCount": 5, "format": ".0%"}
    x = encode_number(
        "p_best", title="probability of being best", scale={"domain": [0, 1]}, axis=axis
    )
    body = {
        "data": encode_data(shown),
        "width": 300,
        "height": {"step": 20},
        "encoding": {"y": _encode_model_axis([row["model"] for row in rows]), "x": x},
        "layer": [
            {"mark": {"type": "bar", "color": GREEN, "height": 12}},
            {
                "mark": {"type": "text", "align": "left", "dx": 4, "color": GREY},
                "encoding": {"text": encode_names("said")},
            },
        ],
    }
    said = "; ".join(
        f"{cut_name(row['model'])} {row['p_best']:.0%}" for row in rows[:5] if row["p_best"] >= 0.0
    )
    words = f"Probability of being best: {said}." if said else "The method gives no probabilities."
    words = " ".join([words, *ranking.remarks])
    return Plot(f"Who is best in {metric}", body, rows, words)


def _split_parts(row: dict[str, Any], truth: Mapping[str, float]) -> list[dict[str, Any]]:
    model = row["model"]
    parts = [
        {"model": model, "kind": ESTIMATE, **_take_triple(row, "estimate", "low", "high")},
        {
            "model": model,
            "kind": LABELS_ONLY,
            **_take_triple(row, "labels_only", "labels_only_low", "labels_only_high"),
        },
    ]
    if model in truth:
        value = truth[model]
        parts.append({"model": model, "kind": TRUTH, "value": value, "low": value, "high": value})
    return [{"metric": row["metric"], **part} for part in parts if not math.isnan(part["value"])]


def _take_triple(row: dict[str, Any], value: str, low: str, high: str) -> dict[str, float]:
    middle = row[value]
    ends = [middle if math.isnan(row[end]) else row[end] for end in (low, high)]
    return {"value": middle, "low": ends[0], "high": ends[1]}


def _describe_triple(row: dict[str, Any]) -> str:
    if math.isnan(row["value"]):
        return "undefined"
    interval = "" if math.isnan(row["low"]) else f" ({row['low']:.3f} to {row['high']:.3f})"
    return f"{row['value']:.3f}{interval}"


def _take_own_labels_only(row: dict[str, Any]) -> float:
    """What the group's own labels say; a value borrowed from all rows is not drawn."""
    own = row["group"] == ALL or row["labels_only_from"] == "group"
    return float(row["labels_only"]) if own else math.nan


def _describe_group(row: dict[str, Any]) -> str:
    alone = row["labels_only"]
    said = "do not determine it" if math.isnan(alone) else f"alone say {alone:.3f}"
    return (
        f"{row['model']} on {row['group']}: {_describe_triple(row)}; its {row['n_labeled']} labels "
        f"{said}"
    )


def _encode_model_axis(order: Sequence[str]) -> Spec:
    return encode_names("model", sort=list(order), title=None)


def _choose_scale(rows: Sequence[dict[str, Any]]) -> Spec:
    """The range the numbers need, with a little room; not from zero, these are dots, not bars."""
    values = [v for row in rows for v in (row["low"], row["high"], row["value"]) if v == v]
    if not values:
        return {"domain": [0, 1]}
    low, high = min(values), max(values)
    room = 0.04 * (high - low) or 0.01
    return {"domain": [low - room, high + room], "nice": False, "zero": False}


def _describe_models(
    metric: str, group: str, rows: list[dict[str, Any]], level: float, limit: int
) -> str:
    """What the picture of one metric says, best model first."""
    where = "" if group == ALL else f" on {group}"
    said = [
        f"{cut_name(row['model'])} {_describe_triple({**row, 'value': row['estimate']})}, labels "
        "alone " + ("undefined" if math.isnan(row["labels_only"]) else f"{row['labels_only']:.3f}")
        for row in rows[: min(limit, 5)]
    ]
    more = f"; and {len(rows) - len(said)} more models" if len(rows) > len(said) else ""
    return f"{metric}{where}, estimates with {level * 100:g} % intervals: {'; '.join(said)}{more}."
