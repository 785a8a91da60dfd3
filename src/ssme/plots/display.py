"""A picture with its data and its words: chart, frame, alternative text, files.

Colors are Okabe and Ito's (2008), which color-blind readers tell apart; shape and position always
say the same as color, so that every picture also reads in grey.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ssme.errors import InputError, MissingExtraError
from ssme.metrics.base import Metric
from ssme.results.frames import build_frame
from ssme.results.groups import ALL
from ssme.wording import make_distinct, make_printable, shorten
from ssme.writing import write_bytes, write_text

if TYPE_CHECKING:
    from ssme.results.evaluation import Evaluation

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
NAME_WIDTH = 60
WORDS = "words"
"""Key of a data row under which the description of its mark is kept."""
LONGEST = 2_000
"""Characters of a description."""


def cut_name(name: object) -> str:
    """A name inside a sentence about a chart."""
    return shorten(str(name), NAME_WIDTH)


def make_names_safe(spec: dict[str, Any]) -> dict[str, Any]:
    """``spec`` with every name printable, of bounded length and different from all others."""
    labels = make_distinct(_list_labels(spec), LABEL_WIDTH)
    safe: dict[str, Any] = _rewrite(spec, "", labels.__getitem__)
    return safe


def _list_labels(part: Any, key: str = "") -> Iterator[str]:
    """The texts of ``part`` that the chart uses as names: cells of data, sort orders, domains."""
    if isinstance(part, dict):
        for name, value in part.items():
            yield from _list_labels(value, name)
    elif isinstance(part, list):
        if key in ("sort", "domain"):
            yield from (item for item in part if isinstance(item, str))
        elif key == "values":
            for row in part:
                yield from (v for k, v in row.items() if isinstance(v, str) and k != WORDS)
        else:
            for item in part:
                yield from _list_labels(item)


def _rewrite(part: Any, key: str, label: Callable[[str], str]) -> Any:
    if isinstance(part, dict):
        return {name: _rewrite(value, name, label) for name, value in part.items()}
    if isinstance(part, list):
        if key in ("sort", "domain"):
            return [label(item) if isinstance(item, str) else item for item in part]
        if key == "values":
            return [_rewrite_row(row, label) for row in part]
        return [_rewrite(item, "", label) for item in part]
    if isinstance(part, str):
        if key in ("title", "text"):
            return shorten(part, TITLE_WIDTH)
        if key == "description":
            return make_printable(part)[:LONGEST]
    return part


def _rewrite_row(row: dict[str, Any], label: Callable[[str], str]) -> dict[str, Any]:
    return {
        key: value
        if not isinstance(value, str)
        else make_printable(value)[:LONGEST]
        if key == WORDS
        else label(value)
        for key, value in row.items()
    }


# -------------------------------------------------------------------------------------------------
# Which models a picture shows, and in which order.


def choose_models(
    evaluation: Evaluation, limit: int, models: str | Sequence[str] | None, metric: str
) -> list[str]:
    """The models asked for, or the ``limit`` best ones by ``metric``."""
    if models is not None:
        names = [models] if isinstance(models, str) else list(models)
        for name in names:
            evaluation.model_index(name)
        return names
    chosen = evaluation.metrics[evaluation.metric_index(metric)]
    found = sort_best_first(evaluation.rows(metric, ALL), chosen)
    return [row["model"] for row in found[:limit]]


def sort_best_first(rows: Iterable[dict[str, Any]], metric: Metric) -> list[dict[str, Any]]:
    """Rows sorted by estimate, the best first and undefined ones last."""
    return sorted(rows, key=lambda row: -measure_goodness(row["estimate"], metric))


def measure_goodness(value: float, metric: Metric) -> float:
    """A number that is greater the better ``value`` is."""
    if math.isnan(value):
        return -math.inf
    return value if metric.greater_is_better is not False else -value


Spec = dict[str, Any]
"""A Vega-Lite specification or a part of one."""
Words = Callable[[dict[str, Any]], str]
"""What one mark shows, in words."""

BLUE = "#0072B2"
VERMILION = "#D55E00"
GREEN = "#009E73"
GREY = "#767676"
UNCUT = {"labelLimit": 0, "titleLimit": 0}
"""Names are cut by `ssme.plots.display`, not by the drawing library."""

LESS_THAN = "\ufdd3"
"""Stands for ``<`` until a page is written: a noncharacter, which no printable text holds."""

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


def encode_data(rows: Sequence[dict[str, Any]], words: Words | None = None) -> Spec:
    """Rows as a chart's data, NaN as null; ``words`` say what a mark shows (see `SAID`)."""
    clean = [{k: None if v != v else v for k, v in row.items()} for row in rows]
    if words is not None:
        for kept, row in zip(clean, rows, strict=True):
            short = {k: cut_name(v) if isinstance(v, str) else v for k, v in row.items()}
            kept[WORDS] = words(short)
    return {"values": clean}


def encode_names(field: str, **more: Any) -> Spec:
    """A channel that shows names."""
    return {"field": field, "type": "nominal", **more}


def encode_number(field: str, **more: Any) -> Spec:
    """A channel that shows numbers."""
    return {"field": field, "type": "quantitative", **more}


def facet_by_model(
    rows: Sequence[dict[str, Any]],
    models: Sequence[str],
    spec: Spec,
    words: Words | None = None,
    **more: Any,
) -> Spec:
    """``spec`` once for each model, up to four abreast with as few gaps as can be."""
    by_model = encode_names("model", sort=list(models), title=None)
    columns = min((4, 3, 2), key=lambda count: -len(models) % count)
    return {
        "data": encode_data(rows, words),
        "facet": by_model,
        "columns": columns,
        "spec": spec,
        **more,
    }


SAID: Spec = {"description": encode_names(WORDS), "tooltip": encode_names(WORDS)}
"""Channels that give each mark its words, for pointers and screen readers."""


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
        """Return the numbers drawn.

        Returns
        -------
        pandas.DataFrame
            One line per mark.
        """
        names = dict.fromkeys(name for row in self.rows for name in row)
        return build_frame({name: [row.get(name) for row in self.rows] for name in names})

    def spec(self) -> Spec:
        """Return the complete Vega-Lite specification, with title, description and style.

        Names in it are made safe to draw (see `ssme.plots.display`); `frame` has them as they are.

        Returns
        -------
        dict
            The specification.
        """
        return {
            "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
            "config": CONFIG,
            **make_names_safe(
                {"title": {"text": self.title}, "description": self.alt, **self.body}
            ),
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

        Returns
        -------
        pathlib.Path
            The file.
        """
        target = Path(path)
        spec, vlc = self.spec(), _import_vl_convert()
        match target.suffix.lower():
            case ".png":
                write_bytes(target, vlc.vegalite_to_png(spec, scale=scale))
            case ".svg":
                write_text(target, render_svg(spec))
            case ".pdf":
                write_bytes(target, vlc.vegalite_to_pdf(spec))
            case ".html":
                write_text(target, _render_html(spec))
            case ".json":
                write_text(target, json.dumps(spec, ensure_ascii=False))
            case other:
                raise InputError(
                    f"cannot save to {other!r}", hint=f"choose one of {', '.join(FORMATS)}"
                )
        return target

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return {"image/svg+xml": render_svg(self.spec()), "text/plain": repr(self)}


def render_svg(spec: Spec) -> str:
    """A specification as SVG with its words, for screen readers.

    The library reads some labels as code, in which an escape such as ``\\x15`` is the character.
    """
    from html import escape

    svg = make_printable(_import_vl_convert().vegalite_to_svg(spec))
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
