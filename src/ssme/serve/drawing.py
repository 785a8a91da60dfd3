"""Small pictures drawn by the server itself: intervals of models, and how they tighten.

Plain SVG with classes that the style sheet colors, so that both themes fit. Names pass through
`shorten` and are escaped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup, escape

from ssme.memory import EvaluationRecord
from ssme.wording import make_distinct

__all__ = ["MODELS", "draw_intervals", "draw_tightening"]

WIDTH, ROW, MARGIN = 640, 30, 190
SMALL_WIDTH, SMALL_HEIGHT = 200, 130
TICKS, SMALL_TICKS = 7, 6
STEPS = 12
"""Evaluations that the picture of tightening shows."""
MODELS = 6
"""Models that it shows."""


def draw_intervals(rows: Sequence[Mapping[str, Any]], metric: str) -> Markup:
    """Each model's interval as a line with the estimate on it; labels alone as a thin line below.

    Parameters
    ----------
    rows : sequence of mappings
        ``model``, ``estimate``, ``low``, ``high``, ``labels_only_low``, ``labels_only_high``.
    metric : str
        Name of the metric, for the words of the picture.
    """
    shown = [row for row in rows if row["estimate"] is not None][:20]
    if not shown:
        return Markup("")
    least, most = _find_range(
        [
            row[name]
            for row in shown
            for name in ("estimate", "low", "high", "labels_only_low", "labels_only_high")
        ]
    )
    names = make_distinct([row["model"] for row in shown], 24)

    def put_x(value: float) -> str:
        return f"{MARGIN + (WIDTH - MARGIN - 20) * (value - least) / (most - least):.1f}"

    height = ROW * len(shown) + 34
    parts = [
        f'<line class="grid" x1="{put_x(tick)}" x2="{put_x(tick)}" y1="4" y2="{height - 26}"/>'
        f'<text class="tick" text-anchor="middle" x="{put_x(tick)}" y="{height - 8}">'
        f"{tick:.2f}</text>"
        for tick in _choose_ticks(least, most)
    ]
    for number, row in enumerate(shown):
        y = ROW * number + 18
        parts.append(
            f'<text class="name" text-anchor="end" x="{MARGIN - 12}" y="{y + 4}">'
            f"{escape(names[row['model']])}</text>"
        )
        if row["labels_only_low"] is not None:
            parts.append(
                f'<line class="alone" x1="{put_x(row["labels_only_low"])}"'
                f' x2="{put_x(row["labels_only_high"])}" y1="{y + 7}" y2="{y + 7}"/>'
            )
        if row["low"] is not None:
            parts.append(
                f'<line class="interval" x1="{put_x(row["low"])}" x2="{put_x(row["high"])}"'
                f' y1="{y}" y2="{y}"/>'
            )
        parts.append(f'<circle class="dot" r="4.5" cx="{put_x(row["estimate"])}" cy="{y}"/>')
    title = f"{metric} of {len(shown)} models, with intervals"
    return _wrap_svg(WIDTH, height, title, parts)


def draw_tightening(
    evaluations: Sequence[EvaluationRecord], metric: str, order: Sequence[str]
) -> list[dict[str, Any]]:
    """One small picture per model: its interval after each evaluation, from left to right.

    Parameters
    ----------
    evaluations : sequence of EvaluationRecord
        The oldest first.
    metric : str
        The metric shown.
    order : sequence of str
        Models, the best first.

    Returns
    -------
    list of dict
        ``model``, ``svg`` and ``words``.
    """
    steps = [
        (
            record.n_labeled,
            {e.model: e for e in record.estimates if (e.metric, e.group) == (metric, "all")},
        )
        for record in evaluations[-STEPS:]
    ]
    models = [model for model in dict.fromkeys(order) if any(model in of for _, of in steps)][
        :MODELS
    ]
    values = [
        value
        for _, of in steps
        for model in models
        if model in of
        for value in (of[model].low, of[model].high, of[model].estimate)
    ]
    if not models or all(value is None for value in values):
        return []
    least, most = _find_range(values)
    return [_draw_small(model, steps, least, most, metric) for model in models]


def _draw_small(
    model: str,
    steps: Sequence[tuple[int, Mapping[str, Any]]],
    least: float,
    most: float,
    metric: str,
) -> dict[str, Any]:
    left, bottom = 38, SMALL_HEIGHT - 22
    span = SMALL_WIDTH - left - 26

    def put_y(value: float) -> float:
        return bottom - (bottom - 8) * (value - least) / (most - least)

    parts = [
        f'<line class="grid" x1="{left}" x2="{SMALL_WIDTH}" '
        f'y1="{put_y(t):.1f}" y2="{put_y(t):.1f}"/>'
        f'<text class="tick" text-anchor="end" x="{left - 5}" y="{put_y(t) + 4:.1f}">{t:.2f}</text>'
        for t in _choose_ticks(least, most, SMALL_TICKS)
    ]
    widths = []
    for number, (labels, of) in enumerate(steps):
        x = left + 10 + span * (number / max(len(steps) - 1, 1))
        if number in (0, len(steps) - 1):
            anchor = "middle" if number == 0 else "end"
            parts.append(
                f'<text class="tick" text-anchor="{anchor}" x="{x + (6 if number else 0):.1f}"'
                f' y="{SMALL_HEIGHT - 5}">{labels}</text>'
            )
        found = of.get(model)
        if found is None or found.estimate is None:
            continue
        last = " last" if number == len(steps) - 1 else ""
        if found.low is not None:
            widths.append(found.high - found.low)
            parts.append(
                f'<line class="interval{last}" x1="{x:.1f}" x2="{x:.1f}"'
                f' y1="{put_y(found.low):.1f}" y2="{put_y(found.high):.1f}"/>'
            )
        parts.append(
            f'<circle class="dot{last}" r="3.5" cx="{x:.1f}" cy="{put_y(found.estimate):.1f}"/>'
        )
    words = ""
    if len(widths) > 1:
        words = f"interval {widths[0]:.3f} wide at first, {widths[-1]:.3f} now"
    elif widths:
        words = f"interval {widths[0]:.3f} wide"
    title = f"{metric} of this model after each evaluation: {words}"
    return {
        "model": model,
        "svg": _wrap_svg(SMALL_WIDTH, SMALL_HEIGHT, title, parts),
        "words": words,
    }


def _wrap_svg(width: int, height: int, title: str, parts: Sequence[str]) -> Markup:
    body = "".join(parts)
    return Markup(
        f'<svg class="drawn" role="img" aria-label="{escape(title)}" viewBox="0 0 {width} {height}"'
        f' width="{width}" height="{height}" xmlns="http://www.w3.org/2000/svg">{body}</svg>'
    )


def _find_range(values: Sequence[float | None]) -> tuple[float, float]:
    known = [value for value in values if value is not None]
    least, most = min(known), max(known)
    space = (most - least) * 0.06 or 0.05
    return least - space, most + space


def _choose_ticks(least: float, most: float, count: int = TICKS) -> list[float]:
    """Round numbers within a range, up to ``count`` and one of them."""
    steps = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
    step = next((s for s in steps if (most - least) / s <= count), 2.0)
    first = int(least / step) + (least > 0)
    found = []
    while first * step <= most:
        found.append(first * step)
        first += 1
    return [tick for tick in found if tick >= least]
