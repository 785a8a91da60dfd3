"""A picture with its data and its words: chart, frame, alternative text, files.

Colors are Okabe and Ito's (2008), which color-blind readers tell apart; shape and position always
say the same as color, so that every picture also reads in grey.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ssme import wording, writing
from ssme.errors import InputError, MissingExtraError
from ssme.results.table import build_frame

Spec = dict[str, Any]
"""A Vega-Lite specification or a part of one."""

BLUE = "#0072B2"
VERMILION = "#D55E00"
GREEN = "#009E73"
GREY = "#767676"
UNCUT = {"labelLimit": 0, "titleLimit": 0}
"""Names are cut by `make_names_safe`, not by the drawing library."""

LESS_THAN = "\ufdd3"
"""Replaces ``<`` until a page is written: a noncharacter, which no printable text has."""

FORMATS = (".png", ".svg", ".pdf", ".html", ".json")
CONFIG = {
    "background": "#ffffff",
    "font": "system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif",
    "axis": {"labelFontSize": 12, "titleFontSize": 12, "gridColor": "#00000018", **UNCUT},
    "header": {"labelFontSize": 12, "titleFontSize": 12, **UNCUT},
    "legend": {"labelFontSize": 12, "titleFontSize": 12, "symbolSize": 90, **UNCUT},
    "title": {
        "fontSize": 14,
        "limit": 0,
        "anchor": "start",
        "subtitleFontSize": 12,
        "subtitleColor": "#555555",
    },
    "view": {"stroke": None},
}


@dataclass(frozen=True, eq=False)
class Plot:
    """One picture.

    Attributes
    ----------
    title : str
        What the picture shows.
    body : dict
        The Vega-Lite specification, without title and style.
    rows : sequence of dict
        The numbers drawn.
    alt : str
        The picture in words, for readers who cannot see it.
    note : str
        What a report says below it.
    """

    title: str
    body: Spec = field(repr=False)
    rows: Sequence[dict[str, Any]] = field(repr=False)
    alt: str
    note: str = ""

    @property
    def chart(self) -> Any:
        """An altair chart, to change or combine as you like."""
        try:
            import altair
        except ImportError:
            raise MissingExtraError("a chart", "report") from None
        return altair.Chart.from_dict(self.spec())

    def frame(self) -> Any:
        """The numbers drawn as a pandas data frame, one line per mark."""
        names = dict.fromkeys(name for row in self.rows for name in row)
        return build_frame({name: [row.get(name) for row in self.rows] for name in names})

    def spec(self) -> Spec:
        """The complete Vega-Lite specification, with title, description and style.

        Names in it are made safe to draw; `frame` has them as they are.
        """
        named = {"title": {"text": self.title}, "description": self.alt, **self.body}
        return {
            "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
            "config": CONFIG,
            **make_names_safe(named),
        }

    def save(self, path: str | Path, *, scale: float = 2.0) -> Path:
        """Write the picture to a file.

        Parameters
        ----------
        path : str or pathlib.Path
            A name that ends in .png, .svg, .pdf, .html (one file without outside requests) or .json
            (the specification).
        scale : float
            Pixels per point of a PNG.
        """
        target = Path(path)
        spec, vlc = self.spec(), _import_vl_convert()
        match target.suffix.lower():
            case ".png":
                writing.write_bytes(target, vlc.vegalite_to_png(spec, scale=scale))
            case ".svg":
                writing.write_text(target, render_svg(spec))
            case ".pdf":
                writing.write_bytes(target, vlc.vegalite_to_pdf(spec))
            case ".html":
                writing.write_text(target, _render_html(spec))
            case ".json":
                writing.write_text(target, json.dumps(spec, ensure_ascii=False))
            case other:
                problem = f"cannot save to {other!r}"
                raise InputError(problem, hint=f"choose one of {', '.join(FORMATS)}")
        return target

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return {"image/svg+xml": render_svg(self.spec()), "text/plain": repr(self)}


def render_svg(spec: Spec) -> str:
    """A specification as SVG with its words, for screen readers.

    The library reads some labels as code, in which an escape such as ``\\x15`` is the character.
    """
    from html import escape

    svg = wording.make_printable(_import_vl_convert().vegalite_to_svg(spec))
    label = escape(str(spec["description"]), quote=True)
    return svg.replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1)


def _render_html(spec: Spec) -> str:
    """A page with the chart; no name can end its script element.

    The library puts the specification into a script as it is. There every ``<`` is written as the
    escape that JavaScript reads as the same character.
    """
    marked = json.loads(json.dumps(spec).replace("<", json.dumps(LESS_THAN)[1:-1]))
    page: str = _import_vl_convert().vegalite_to_html(marked, bundle=True)
    return page.replace(LESS_THAN, "\\u003c")


def _import_vl_convert() -> Any:
    try:
        import vl_convert
    except ImportError:
        raise MissingExtraError("drawing", "report") from None
    return vl_convert


# -------------------------------------------------------------------------------------------------
# Parts of specifications


WORDS = "words"
"""Key of a data row under which the description of its mark is kept."""


def encode_data(
    rows: Sequence[dict[str, Any]], words: Callable[[dict[str, Any]], str] | None = None
) -> Spec:
    """Rows as a chart's data, NaN as null; ``words`` say what a mark shows (see `MARK_WORDS`)."""
    clean = [{k: None if v != v else v for k, v in row.items()} for row in rows]
    if words is not None:
        for kept, row in zip(clean, rows, strict=True):
            kept[WORDS] = words(
                {k: cut_name(v) if isinstance(v, str) else v for k, v in row.items()}
            )
    return {"values": clean}


def encode_names(field: str, **more: Any) -> Spec:
    """A channel that shows names."""
    return {"field": field, "type": "nominal", **more}


def encode_number(field: str, **more: Any) -> Spec:
    """A channel that shows numbers."""
    return {"field": field, "type": "quantitative", **more}


MARK_WORDS: Spec = {"description": encode_names(WORDS), "tooltip": encode_names(WORDS)}
"""Channels that give each mark its words, for pointers and screen readers."""


def draw_intervals(
    axis: str, value: str, channel: Spec, *, color: str | None = BLUE, **point: Any
) -> list[Spec]:
    """Lines from ``low`` to ``high`` along ``axis`` and points at ``value``.

    ``point`` are further channels of the points; without a ``color`` the chart's own is taken.
    """
    look = {} if color is None else {"color": color}
    line = {axis: encode_number("low", **channel), f"{axis}2": {"field": "high"}}
    return [
        {"mark": {"type": "rule", "strokeWidth": 2, **look}, "encoding": line},
        {
            "mark": {"type": "point", "filled": True, "size": 70, "opacity": 1, **look},
            "encoding": {axis: encode_number(value, **channel), **point},
        },
    ]


def facet_by_model(data: Spec, models: Sequence[str], spec: Spec, **more: Any) -> Spec:
    """``spec`` once for each model, up to four abreast with as few gaps as can be."""
    by_model = encode_names("model", sort=list(models), title=None)
    columns = min((4, 3, 2), key=lambda count: -len(models) % count)
    return {"data": data, "facet": by_model, "columns": columns, "spec": spec, **more}


# -------------------------------------------------------------------------------------------------
# The one place where names become safe for a chart.
#
# The drawing library aborts the whole process on a control character and fails on half an emoji,
# which its own shortening of labels produces. So every text of a specification is made printable
# here, labels are cut here (and the library's own cutting is switched off), and labels that would
# read the same are numbered, so that two models never share a place on an axis.


LABEL_WIDTH = 26
"""Columns of a name on an axis or above a panel."""
TITLE_WIDTH = 90
LONGEST = 2_000
"""Characters of a description."""


def cut_name(name: object) -> str:
    """A name inside a sentence about a chart."""
    return wording.shorten(str(name))


def make_names_safe(spec: Spec) -> Spec:
    """``spec`` with all names (rows, sort orders, domains) printable, bounded and different."""
    names: dict[str, str] = {}
    _rewrite(spec, "", lambda name: names.setdefault(name, name))
    labels = wording.make_distinct(names, LABEL_WIDTH)
    return _rewrite(spec, "", labels.__getitem__)


def _rewrite(part: Any, key: str, label: Callable[[str], str]) -> Any:
    """``part``, which has the ``key`` in what it is part of, with its names as ``label`` has them.

    The texts in lists under "sort", "domain" and "values" are names; texts elsewhere are not.
    """
    match part:
        case dict():
            return {name: _rewrite(value, name, label) for name, value in part.items()}
        case list() if key == "values":
            return [{k: _rewrite_cell(k, cell, label) for k, cell in row.items()} for row in part]
        case list() if key in ("sort", "domain"):
            return [_rewrite_cell(key, item, label) for item in part]
        case list():
            return [_rewrite(item, "", label) for item in part]
        case str() if key in ("title", "text"):
            return wording.shorten(part, TITLE_WIDTH)
        case str() if key == "description":
            return wording.make_printable(part)[:LONGEST]
    return part


def _rewrite_cell(key: str, cell: Any, label: Callable[[str], str]) -> Any:
    if not isinstance(cell, str):
        return cell
    return wording.make_printable(cell)[:LONGEST] if key == WORDS else label(cell)
