"""The charts of the experiments: readable in print and by colour-blind readers.

Colors are Okabe and Ito's; wherever a color tells series apart, a shape tells the same.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pandas as pd

PALETTE = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999"]
TITLES = {
    "bend": "bend of the scores",
    "mae": "mean absolute error",
    "n_labeled": "number of labels",
    "ratio_to_labeled": "time relative to labeled",
    "rmae": "error relative to labels alone",
}
"""What columns of results are called on an axis; others by their own name."""


def find_title(field: str) -> str:
    """The title of an axis that shows a column, such as ``"rmae:Q"``."""
    name = field.partition(":")[0]
    return TITLES.get(name, name)


def encode_series(frame: pd.DataFrame, column: str, *, named: bool = False) -> dict[str, Any]:
    """Color and shape of each value of ``column``; no legend where an axis has them ``named``."""
    import altair as alt

    order = list(dict.fromkeys(frame[column]))
    colors = alt.Scale(domain=order, range=[PALETTE[i % len(PALETTE)] for i in range(len(order))])
    legend = None if named else alt.Legend(title=None)
    return {
        "color": alt.Color(f"{column}:N", scale=colors, legend=legend),
        "shape": alt.Shape(f"{column}:N", scale=alt.Scale(domain=order), legend=legend),
    }


def draw_lines(frame: pd.DataFrame, x: str, y: str, color: str, *, facet: str | None = None) -> Any:
    """A line chart with points whose shape and color both tell the series."""
    import altair as alt

    axes = {"x": alt.X(x, title=find_title(x)), "y": alt.Y(y, title=find_title(y))}
    base = alt.Chart(frame).encode(**axes, **encode_series(frame, color))
    chart = (base.mark_line(strokeWidth=1.5) + base.mark_point(filled=True, size=55)).properties(
        width=230, height=190
    )
    if facet is None:
        return chart
    return chart.facet(facet=alt.Facet(f"{facet}:N", title=None), columns=4).resolve_scale(
        y="independent"
    )


def draw_bars(frame: pd.DataFrame, x: str, y: str, *, row: str, color: str) -> Any:
    """Dots with error bars (columns ``mae`` and ``ci95``), one panel per value of ``row``."""
    import altair as alt

    frame = frame.assign(low=frame["mae"] - frame["ci95"], high=frame["mae"] + frame["ci95"])
    told = encode_series(frame, color, named=y.startswith(f"{color}:"))
    base = alt.Chart(frame).encode(y=alt.Y(y, title=None, sort=None), color=told["color"])
    whiskers = base.mark_rule(strokeWidth=1.5).encode(
        x=alt.X("low:Q", title="mean absolute error"), x2="high:Q"
    )
    dots = base.mark_point(filled=True, size=60, opacity=1).encode(x=alt.X(x), shape=told["shape"])
    return (
        (whiskers + dots)
        .properties(width=200, height=190)
        .facet(facet=alt.Facet(f"{row}:N", title=None), columns=4)
        .resolve_scale(x="independent")
    )


def draw_bands(frame: pd.DataFrame, x: str, low: str, high: str, color: str, facet: str) -> Any:
    """Bands between two columns over a third, widest behind, one panel per value of ``facet``."""
    import altair as alt

    order = list(dict.fromkeys(frame[color]))[::-1]
    colors = alt.Scale(domain=order, range=PALETTE[: len(order)])
    ends = (alt.Y(f"{low}:Q", title="estimate", scale=alt.Scale(zero=False)), alt.Y2(high))
    chart = (
        alt.Chart(frame)
        .mark_area(opacity=0.45)
        .encode(
            x=alt.X(f"{x}:Q", scale=alt.Scale(zero=False)),
            y=ends[0],
            y2=ends[1],
            color=alt.Color(f"{color}:N", scale=colors, legend=alt.Legend(title=None)),
        )
        .properties(width=260, height=220)
    )
    return chart.facet(facet=alt.Facet(f"{facet}:N", title=None), columns=2)


def draw_dots(frame: pd.DataFrame, x: str, y: str) -> Any:
    """Dots, one line of the chart per value of ``y``, on a logarithmic scale."""
    import altair as alt

    scale, axis = alt.Scale(type="log"), alt.Axis(labelOverlap="greedy")
    across = alt.X(f"{x}:Q", title=find_title(x), scale=scale, axis=axis)
    told = encode_series(frame, y, named=True)
    dots = alt.Chart(frame).mark_point(filled=True, size=60, opacity=1)
    return dots.encode(x=across, y=alt.Y(f"{y}:N", title=None, sort=None), **told).properties(
        width=230
    )


# -------------------------------------------------------------------------------------------------
# The figure of each result.


def name_panels(frame: pd.DataFrame) -> pd.DataFrame:
    """One panel per data set and metric."""
    return frame.assign(panel=frame["dataset"] + " " + frame["metric"])


def name_series(frame: pd.DataFrame) -> pd.DataFrame:
    """One series per method and number of labels."""
    labels = frame["n_labeled"].astype(str)
    return frame.assign(series=frame["method"] + ", " + labels + " labels")


def draw_methods(frame: pd.DataFrame) -> Any:
    """Errors of each method with 20 labels."""
    shown = name_panels(frame[frame["n_labeled"] == 20])
    return draw_bars(shown, "mae:Q", "method:N", row="panel", color="method")


def draw_bounds(frame: pd.DataFrame) -> Any:
    shown = frame.assign(series="eps " + frame["epsilon"].astype(str))
    return draw_bands(shown, "performance", "low", "high", "series", "metric")


def draw_trends(frame: pd.DataFrame) -> Any:
    import altair as alt

    rows: dict[tuple[str, str], list[Any]] = {}
    accuracy = frame[frame["metric"] == "accuracy"]
    for (reading, noise, axis), part in accuracy.groupby(["reading", "noise", "axis"], sort=False):
        chart = draw_lines(part, "value:O", "mae:Q", "method")
        title = f"{reading}, {noise}, by {axis}"
        rows.setdefault((reading, noise), []).append(chart.properties(title=title))
    return alt.vconcat(*(alt.hconcat(*charts) for charts in rows.values()))


def draw_theory(frame: pd.DataFrame) -> Any:
    import altair as alt

    panels = []
    for axis, part in frame[frame["method"] == "ul_plus"].groupby("axis", sort=False):
        measured = part.assign(series="UL+, " + part["world"], y=part["quantile"])
        bound = part[part["world"] == "as assumed"].assign(series="bound, constants 1")
        shown = pd.concat([measured, bound.assign(y=bound["bound"])])
        panels.append(draw_lines(shown, "value:O", "y:Q", "series").properties(title=f"by {axis}"))
    return alt.hconcat(*panels)


DRAWINGS: dict[str, Callable[[pd.DataFrame], Any]] = {
    "all_sets_overall": partial(draw_lines, x="n_labeled:O", y="rmae:Q", color="method"),
    "bounds": draw_bounds,
    "cost": partial(draw_dots, x="ratio_to_labeled", y="method"),
    "ensembling": partial(draw_lines, x="bend:O", y="mae:Q", color="method", facet="metric"),
    "main_tables": draw_methods,
    "quick": lambda frame: draw_bars(
        name_panels(name_series(frame)), "mae:Q", "series:N", row="panel", color="method"
    ),
    "ssme_paper": draw_methods,
    "synthetic_trends": draw_trends,
    "theory": draw_theory,
}
"""How the figure of a result is drawn, by the name of its file."""
