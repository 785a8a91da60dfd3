"""A picture with its data and its words: chart, frame, alternative text, files.

Colors are Okabe and Ito's (2008), which color-blind readers tell apart; shape and position always
say the same as color, so that every picture also reads in grey.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ssme.errors import InputError, MissingExtraError

__all__ = [
    "BLUE",
    "GREEN",
    "GREY",
    "NAME_LIMIT",
    "SAID",
    "VERMILION",
    "Plot",
    "Spec",
    "data",
    "facet",
    "named",
    "number",
    "svg_of",
]

Spec = dict[str, Any]
"""A Vega-Lite specification or a part of one."""
Words = Callable[[dict[str, Any]], str]
"""What one mark shows, in words."""

BLUE = "#0072B2"
VERMILION = "#D55E00"
GREEN = "#009E73"
GREY = "#767676"
NAME_LIMIT = 150
"""Pixels of a model's name on an axis; the rest is cut with an ellipsis."""

FORMATS = (".png", ".svg", ".pdf", ".html", ".json")
CONFIG = {
    "background": "#ffffff",
    "font": "system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif",
    "axis": {"labelFontSize": 12, "titleFontSize": 12, "gridColor": "#00000018"},
    "header": {"labelFontSize": 12, "titleFontSize": 12, "labelLimit": 220},
    "legend": {"labelFontSize": 12, "titleFontSize": 12, "symbolSize": 90},
    "title": {
        "fontSize": 14,
        "anchor": "start",
        "subtitleFontSize": 12,
        "subtitleColor": "#555555",
    },
    "view": {"stroke": None},
}


def data(rows: Sequence[dict[str, Any]], words: Words | None = None) -> Spec:
    """Rows as a chart's data, NaN as null; ``words`` say what a mark shows (see `SAID`)."""
    clean = [{k: None if v != v else v for k, v in row.items()} for row in rows]
    if words is not None:
        clean = [{**kept, "words": words(row)} for kept, row in zip(clean, rows, strict=True)]
    return {"values": clean}


def named(field: str, **more: Any) -> Spec:
    """A channel that shows names."""
    return {"field": field, "type": "nominal", **more}


def number(field: str, **more: Any) -> Spec:
    """A channel that shows numbers."""
    return {"field": field, "type": "quantitative", **more}


def facet(
    rows: Sequence[dict[str, Any]],
    models: Sequence[str],
    spec: Spec,
    words: Words | None = None,
    **more: Any,
) -> Spec:
    """``spec`` once for each model, up to four abreast with as few gaps as can be."""
    by_model = named("model", sort=list(models), title=None)
    columns = min((4, 3, 2), key=lambda count: -len(models) % count)
    return {"data": data(rows, words), "facet": by_model, "columns": columns, "spec": spec, **more}


SAID: Spec = {"description": named("words"), "tooltip": named("words")}
"""Channels that give each mark its words, for pointers and screen readers."""


@dataclass(frozen=True, eq=False)
class Plot:
    """One picture.

    Attributes
    ----------
    title : what it shows.
    body : the Vega-Lite specification, without title and style.
    rows : the numbers drawn.
    alt : the same in words, for those who cannot see it.
    """

    title: str
    body: Spec = field(repr=False)
    rows: Sequence[dict[str, Any]] = field(repr=False)
    alt: str

    @property
    def chart(self) -> Any:
        """An altair chart, to change or combine as you like."""
        try:
            import altair
        except ImportError:
            raise MissingExtraError("a chart", "report") from None
        return altair.Chart.from_dict(self.spec())

    def frame(self) -> Any:
        """The numbers drawn, as a pandas frame."""
        import pandas as pd

        return pd.DataFrame(list(self.rows))

    def spec(self) -> Spec:
        """The whole Vega-Lite specification: title, words and house style included."""
        return {
            "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
            "title": {"text": self.title},
            "description": self.alt,
            "config": CONFIG,
            **self.body,
        }

    def save(self, path: str | Path, *, scale: float = 2.0) -> Path:
        """Write PNG, SVG, PDF, HTML (one file, no outside requests) or the JSON specification."""
        target = Path(path)
        spec, vlc = self.spec(), _vl_convert()
        match target.suffix.lower():
            case ".png":
                target.write_bytes(vlc.vegalite_to_png(spec, scale=scale))
            case ".svg":
                target.write_text(svg_of(spec), encoding="utf-8")
            case ".pdf":
                target.write_bytes(vlc.vegalite_to_pdf(spec))
            case ".html":
                target.write_text(vlc.vegalite_to_html(spec, bundle=True), encoding="utf-8")
            case ".json":
                import json

                target.write_text(json.dumps(spec, ensure_ascii=False), encoding="utf-8")
            case other:
                raise InputError(f"cannot save to {other!r}", allowed=", ".join(FORMATS))
        return target

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return {"image/svg+xml": svg_of(self.spec()), "text/plain": repr(self)}


def svg_of(spec: Spec) -> str:
    """A specification as SVG with its words, for screen readers."""
    from html import escape

    svg: str = _vl_convert().vegalite_to_svg(spec)
    label = escape(str(spec["description"]), quote=True)
    return svg.replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1)


def _vl_convert() -> Any:
    try:
        import vl_convert
    except ImportError:
        raise MissingExtraError("drawing", "report") from None
    return vl_convert
