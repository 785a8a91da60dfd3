"""Curves of a project: estimates over time, and what a number of labels brings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ssme.errors import InputError
from ssme.plots.display import (
    BLUE,
    GREY,
    SAID,
    Plot,
    encode_data,
    encode_names,
    encode_number,
    facet_by_model,
)
from ssme.suggest.plan import LabelPlan

__all__ = ["draw_history", "draw_plan"]

SHOWN = 8
"""Models drawn; a picture of more can no longer be read."""


def draw_history(rows: Sequence[dict[str, Any]]) -> Plot:
    """One metric of every model over the evaluations of a memory (`trace_estimates`)."""
    if not rows:
        raise InputError("there are no evaluations to draw", fix="add one with `ssme track add`")
    metric = str(rows[0]["metric"])
    models = list(dict.fromkeys(str(row["model"]) for row in rows))[:SHOWN]
    shown = [dict(row) for row in rows if row["model"] in models]
    order = [str(n) for n in dict.fromkeys(row["evaluation"] for row in shown)]
    for row in shown:
        row["run"] = str(row["evaluation"])
    x = encode_names("run", sort=order, title="evaluation")
    spec = {
        "width": 160,
        "height": 140,
        "encoding": {"x": x, **SAID},
        "layer": [
            {
                "mark": {"type": "rule", "strokeWidth": 2, "color": BLUE},
                "encoding": {
                    "y": encode_number("low", title=metric, scale={"zero": False}),
                    "y2": {"field": "high"},
                },
            },
            {
                "mark": {"type": "point", "filled": True, "size": 60, "color": BLUE, "opacity": 1},
                "encoding": {"y": encode_number("estimate", title=metric, scale={"zero": False})},
            },
        ],
    }

    def describe_row(row: dict[str, Any]) -> str:
        return f"{row['model']}, evaluation {row['run']}: {row['estimate']:.3f}"

    first, last = rows[0], rows[-1]
    alt = (
        f"{metric} of {len(models)} models over {len(order)} evaluations, from {first['labels']} "
        f"to {last['labels']} labels."
    )
    return Plot(
        f"How {metric} tightened", facet_by_model(shown, models, spec, describe_row), shown, alt
    )


def draw_plan(plan: LabelPlan) -> Plot:
    """The share of simulations that meet the target, by the number of labels."""
    rows = [{"labels": s.labels, "value": s.value, "met": s.met} for s in plan.curve]
    if len(rows) < 2:
        raise InputError("the plan needs no labels, so that there is nothing to draw")
    x = encode_number("labels", title="labels in all", scale={"type": "log", "nice": False})
    body = {
        "data": encode_data(
            rows, lambda row: f"{row['labels']} labels: {row['met']:.0%} meet the target"
        ),
        "width": 300,
        "height": 180,
        "encoding": {"x": x, **SAID},
        "layer": [
            {
                "mark": {"type": "line", "color": GREY},
                "encoding": {"y": encode_number("met", title="share of simulations")},
            },
            {
                "mark": {"type": "point", "filled": True, "size": 50, "color": BLUE, "opacity": 1},
                "encoding": {"y": encode_number("met", title="share of simulations")},
            },
        ],
    }
    return Plot(f"Labels for {plan.target}", body, rows, plan.sentence())
