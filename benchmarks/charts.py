"""The charts of the experiments: readable in print and by colour-blind readers.

Colors are Okabe and Ito's; wherever a color tells series apart, a shape tells the same.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

PALETTE = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999"]
TITLES = {
    "bend": "bend of the scores",
    "classifiers": "number of classifiers",
    "ess": "effective sample size",
    "mae": "mean absolute error",
    "n_labeled": "number of labels",
    "ratio_to_labeled": "time relative to labeled",
    "rmae": "error relative to labels alone",
    "where": "data set and category",
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


def draw_bars_by_labels(frame: pd.DataFrame) -> Any:
    """Errors of each method and number of labels, one panel per data set and metric."""
    frame = frame.assign(
        panel=frame["dataset"] + " " + frame["metric"],
        series=frame["method"] + ", " + frame["n_labeled"].astype(str) + " labels",
    )
    return draw_bars(frame, "mae:Q", "series:N", row="panel", color="method")


def draw_bars_by_method(frame: pd.DataFrame, n_labeled: int = 20) -> Any:
    """Errors of each method with so many labels, one panel per data set and metric."""
    shown = frame[frame["n_labeled"] == n_labeled]
    panel = shown["dataset"] + " " + shown["metric"]
    return draw_bars(shown.assign(panel=panel), "mae:Q", "method:N", row="panel", color="method")


def draw_dots(
    frame: pd.DataFrame, x: str, y: str, color: str, *, facet: str | None = None, log: bool = False
) -> Any:
    """Dots, one line of the chart per value of ``y``; ``log`` for ratios and counts."""
    import altair as alt

    scale = alt.Scale(type="log") if log else alt.Undefined
    chart = (
        alt.Chart(frame)
        .mark_point(filled=True, size=60, opacity=1)
        .encode(
            x=alt.X(
                f"{x}:Q",
                title=find_title(x),
                scale=scale,
                axis=alt.Axis(labelOverlap="greedy"),
            ),
            y=alt.Y(f"{y}:N", title=None, sort=None),
            **encode_series(frame, color, named=color == y),
        )
        .properties(width=230)
    )
    if facet is None:
        return chart
    return chart.facet(facet=alt.Facet(f"{facet}:N", title=None), columns=3).resolve_scale(
        x="shared" if log else "independent", y="independent"
    )
