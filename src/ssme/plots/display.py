"""A picture with its data and its words: chart, frame, alternative text, files.

Colors are Okabe and Ito's (2008), which color-blind readers tell apart; shape and position always
say the same as color, so that every picture also reads in grey.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from ssme.errors import InputError, MissingExtraError

__all__ = ["BLUE", "GREEN", "GREY", "NAME_LIMIT", "PURPLE", "VERMILION", "Plot", "altair", "data"]

BLUE = "#0072B2"
VERMILION = "#D55E00"
GREEN = "#009E73"
PURPLE = "#CC79A7"
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


@cache
def altair() -> Any:
    """The module altair, or an error that names the extra."""
    try:
        import altair
        import vl_convert  # noqa: F401
    except ImportError:
        raise MissingExtraError("drawing", "report") from None
    return altair


def data(rows: Sequence[dict[str, Any]]) -> Any:
    """Rows as a chart's data, NaN as null."""
    clean = [{k: None if v != v else v for k, v in row.items()} for row in rows]
    return altair().Data(values=clean)


@dataclass(frozen=True, eq=False)
class Plot:
    """One picture.

    Attributes
    ----------
    title : what it shows.
    chart : the altair chart, to change or combine as you like.
    rows : the numbers drawn.
    alt : the same in words, for those who cannot see it.
    """

    title: str
    chart: Any
    rows: Sequence[dict[str, Any]] = field(repr=False)
    alt: str

    def frame(self) -> Any:
        """The numbers drawn, as a pandas frame."""
        import pandas as pd

        return pd.DataFrame(list(self.rows))

    def spec(self, *, standalone: bool = True) -> dict[str, Any]:
        """The Vega-Lite specification; ``standalone`` adds title, words and house style."""
        spec: dict[str, Any] = self.chart.to_dict(validate=False)
        spec["description"] = self.alt
        if standalone:
            spec["config"] = CONFIG
            spec.setdefault("title", {"text": self.title})
        else:
            spec.pop("config", None)
        return spec

    def save(self, path: str | Path, *, scale: float = 2.0) -> Path:
        """Write PNG, SVG, PDF, HTML (one file, no outside requests) or the JSON specification."""
        import vl_convert as vlc

        target = Path(path)
        spec = self.spec()
        match target.suffix.lower():
            case ".png":
                target.write_bytes(vlc.vegalite_to_png(spec, scale=scale))
            case ".svg":
                target.write_text(_described(vlc.vegalite_to_svg(spec), self.alt), encoding="utf-8")
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
        import vl_convert as vlc

        svg = _described(vlc.vegalite_to_svg(self.spec()), self.alt)
        return {"image/svg+xml": svg, "text/plain": repr(self)}


def _described(svg: str, alt: str) -> str:
    """``svg`` with its words, for screen readers."""
    from html import escape

    return svg.replace("<svg ", f'<svg role="img" aria-label="{escape(alt, quote=True)}" ', 1)
