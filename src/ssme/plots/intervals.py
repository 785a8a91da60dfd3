"""Dots with intervals: estimates beside labels alone, groups, ranking."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ssme.metrics.base import Metric
from ssme.plots.display import BLUE, GREEN, GREY, NAME_LIMIT, VERMILION, Plot, altair, data
from ssme.results.evaluation import ALL, Evaluation

__all__ = ["best_models", "estimates", "groups", "metric_estimates", "ranking"]

TOP = 20
"""Models drawn; beyond that a picture is no longer read."""

ESTIMATE, LABELS_ONLY, TRUTH = "estimate", "labels only", "truth"
LOOK = {
    ESTIMATE: (BLUE, "circle"),
    LABELS_ONLY: (GREY, "diamond"),
    TRUTH: (VERMILION, "cross"),
}
Truth = Mapping[str, Mapping[str, float]]
"""metric -> model -> value, for those who know it."""


def estimates(
    evaluation: Evaluation, *, group: str = ALL, limit: int = TOP, truth: Truth | None = None
) -> Plot:
    """Every metric of every model, with interval, beside what labels alone say."""
    parts = [
        metric_estimates(evaluation, metric.name, group=group, limit=limit, truth=truth)
        for metric in evaluation.metrics
    ]
    chart = altair().concat(*(part.chart.properties(title=part.title) for part in parts), columns=2)
    return Plot(
        f"Estimates with {evaluation.level * 100:g} % intervals",
        chart,
        [row for part in parts for row in part.rows],
        " ".join(part.alt for part in parts),
    )


def metric_estimates(
    evaluation: Evaluation,
    metric: str,
    *,
    group: str = ALL,
    limit: int = TOP,
    truth: Truth | None = None,
) -> Plot:
    """One metric of every model, best first, beside what labels alone say."""
    alt = altair()
    chosen = evaluation.metrics[evaluation.metric_index(metric)]
    found = [r for r in evaluation.rows() if (r["metric"], r["group"]) == (metric, group)]
    found = best_first(found, chosen)
    shown = found[:limit]
    rows = [part for row in shown for part in _parts(row, (truth or {}).get(metric, {}))]
    kinds = [kind for kind in LOOK if any(row["kind"] == kind for row in rows)]
    order = [row["model"] for row in shown]
    base = alt.Chart(data(rows)).encode(
        y=alt.Y("model:N", sort=order, title=None, axis=alt.Axis(labelLimit=NAME_LIMIT)),
        yOffset=alt.YOffset("kind:N", sort=kinds),
        color=alt.Color(
            "kind:N",
            sort=kinds,
            scale=alt.Scale(domain=kinds, range=[LOOK[k][0] for k in kinds]),
            legend=alt.Legend(title=None, orient="top"),
        ),
        tooltip=["model:N", "kind:N", *(f"{c}:Q" for c in ("value", "low", "high"))],
    )
    title, scale = f"{metric} ({_direction(chosen)})", _scale(rows)
    bars = base.mark_rule(strokeWidth=2).encode(
        x=alt.X("low:Q", title=title, scale=scale), x2="high:Q"
    )
    shapes = alt.Scale(domain=kinds, range=[LOOK[kind][1] for kind in kinds])
    dots = base.mark_point(size=70, filled=True, opacity=1).encode(
        x=alt.X("value:Q", title=title, scale=scale, axis=alt.Axis(tickCount=6)),
        shape=alt.Shape("kind:N", sort=kinds, scale=shapes),
    )
    chart = (bars + dots).properties(height=alt.Step(14), width=300)
    return Plot(metric, chart, rows, _words(metric, group, found, evaluation.level, limit))


def groups(
    evaluation: Evaluation, metric: str | None = None, *, limit: int = 8, models: Any = None
) -> Plot:
    """One metric in every group, model by model, beside all rows."""
    alt = altair()
    chosen = evaluation.metrics[evaluation.metric_index(metric or evaluation.metrics[0].name)]
    names = best_models(evaluation, chosen, limit, models)
    rows = [
        {
            **{k: row[k] for k in ("model", "group", "low", "high", "n_labeled")},
            "value": row["estimate"],
            "labels_only": row["labels_only"],
        }
        for row in evaluation.rows()
        if row["metric"] == chosen.name and row["model"] in names
    ]
    order = [group.name for group in evaluation.groups]
    base = alt.Chart(data(rows)).encode(
        y=alt.Y("group:N", sort=order, title=None, axis=alt.Axis(labelLimit=NAME_LIMIT)),
        tooltip=[
            "model:N",
            "group:N",
            "n_labeled:Q",
            *(f"{c}:Q" for c in ("value", "low", "high")),
        ],
    )
    title = f"{chosen.name} ({_direction(chosen)})"
    scale = _scale([*rows, *({**row, "value": row["labels_only"]} for row in rows)])
    bars = base.mark_rule(color=BLUE, strokeWidth=2).encode(
        x=alt.X("low:Q", title=title, scale=scale), x2="high:Q"
    )
    dots = base.mark_point(size=70, filled=True, color=BLUE, opacity=1).encode(
        x=alt.X("value:Q", title=title, scale=scale)
    )
    alone = base.mark_point(size=60, shape="diamond", color=GREY).encode(
        x=alt.X("labels_only:Q", title=title, scale=scale)
    )
    chart = (bars + alone + dots).properties(height=alt.Step(20), width=200)
    chart = chart.facet(facet=alt.Facet("model:N", sort=names, title=None), columns=3)
    worst = min(rows, key=lambda r: _goodness(r["value"], chosen), default=None)
    words = f"{chosen.name} by group for {len(names)} models; diamonds are labels alone."
    if worst is not None and worst["group"] != ALL:
        words += f" The worst is {worst['model']} on {worst['group']}: {worst['value']:.3f}."
    return Plot(f"{chosen.name} by group; diamonds are labels alone", chart, rows, words)


def ranking(evaluation: Evaluation, metric: str | None = None, *, limit: int = TOP) -> Plot:
    """P(best) of each model and where its rank lies."""
    alt = altair()
    table = evaluation.ranking(metric or evaluation.metrics[0].name)
    rows = [dict(vars(row)) for row in table.rows[:limit]]
    order = [row["model"] for row in rows]
    base = alt.Chart(data(rows)).encode(
        y=alt.Y("model:N", sort=order, title=None, axis=alt.Axis(labelLimit=NAME_LIMIT)),
    )
    best = base.mark_bar(color=GREEN, height=12).encode(
        x=alt.X("p_best:Q", title="probability of being best", scale=alt.Scale(domain=[0, 1]))
    )
    text = base.mark_text(align="left", dx=4).encode(
        x="p_best:Q", text=alt.Text("p_best:Q", format=".0%")
    )
    words = "Probability of being best: " + "; ".join(
        f"{row['model']} {row['p_best']:.0%}" for row in rows[:5]
    )
    chart = (best + text).properties(height=alt.Step(20), width=300)
    return Plot(f"Who is best in {metric or evaluation.metrics[0].name}", chart, rows, words + ".")


def best_first(rows: list[dict[str, Any]], metric: Metric) -> list[dict[str, Any]]:
    """Rows sorted by estimate, undefined ones last."""
    return sorted(rows, key=lambda row: -_goodness(row["estimate"], metric))


def _goodness(value: float, metric: Metric) -> float:
    if math.isnan(value):
        return -math.inf
    return value if metric.greater_is_better is not False else -value


def best_models(evaluation: Evaluation, metric: Metric, limit: int, models: Any) -> list[str]:
    """The models asked for, or the best ones."""
    if models is not None:
        names = [models] if isinstance(models, str) else list(models)
        for name in names:
            evaluation.model_index(name)
        return names
    found = [r for r in evaluation.rows() if (r["metric"], r["group"]) == (metric.name, ALL)]
    return [row["model"] for row in best_first(found, metric)[:limit]]


def _parts(row: dict[str, Any], truth: Mapping[str, float]) -> list[dict[str, Any]]:
    model = row["model"]
    parts = [
        {"model": model, "kind": ESTIMATE, **_triple(row, "estimate", "low", "high")},
        {
            "model": model,
            "kind": LABELS_ONLY,
            **_triple(row, "labels_only", "labels_only_low", "labels_only_high"),
        },
    ]
    if model in truth:
        value = truth[model]
        parts.append({"model": model, "kind": TRUTH, "value": value, "low": value, "high": value})
    return [{"metric": row["metric"], **part} for part in parts if not math.isnan(part["value"])]


def _triple(row: dict[str, Any], value: str, low: str, high: str) -> dict[str, float]:
    middle = row[value]
    ends = [middle if math.isnan(row[end]) else row[end] for end in (low, high)]
    return {"value": middle, "low": ends[0], "high": ends[1]}


def _scale(rows: Sequence[dict[str, Any]]) -> Any:
    """The range the numbers need, with a little room; not from zero, these are dots, not bars."""
    values = [v for row in rows for v in (row["low"], row["high"], row["value"]) if v == v]
    if not values:
        return altair().Scale(domain=[0, 1])
    low, high = min(values), max(values)
    room = 0.04 * (high - low) or 0.01
    return altair().Scale(domain=[low - room, high + room], nice=False, zero=False)


def _direction(metric: Metric) -> str:
    words = {True: "higher is better", False: "lower is better", None: "neither way is better"}
    return words[metric.greater_is_better]


def _words(metric: str, group: str, rows: list[dict[str, Any]], level: float, limit: int) -> str:
    """What the picture of one metric says, best model first."""
    where = "" if group == ALL else f" on {group}"
    said = [
        f"{row['model']} {row['estimate']:.3f}"
        + (f" ({row['low']:.3f} to {row['high']:.3f})" if row["low"] == row["low"] else "")
        + f", labels alone {row['labels_only']:.3f}"
        for row in rows[: min(limit, 5)]
    ]
    more = f"; and {len(rows) - len(said)} more models" if len(rows) > len(said) else ""
    return f"{metric}{where}, estimates with {level * 100:g} % intervals: {'; '.join(said)}{more}."
