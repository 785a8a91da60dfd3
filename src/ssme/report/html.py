"""A report as one HTML file: no outside request, nothing from the data is ever markup.

The Content-Security-Policy forbids everything but the one style sheet and the one script inside,
named by their SHA-256. Names are escaped by jinja2's autoescape and isolated with ``<bdi>``, so
right-to-left text does not turn the numbers beside it around.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from ssme.diagnostics.registry import read_explanations, read_picture
from ssme.markup import make_environment

__all__ = ["explain_doubts", "render_html"]

PRINTED_ROWS = 30
"""Rows of a table of groups that are printed; a screen shows all."""
LINK = re.compile(r'<a href="(?:[^"#]*#)?([^"]*)">(.*?)</a>')


def render_html(summary: dict[str, Any], charts: Sequence[dict[str, Any]] = ()) -> str:
    """A report as one HTML page.

    Parameters
    ----------
    summary : dict
        What `summarize` gives.
    charts : sequence of dict
        Pictures, as `ssme.report.charts.draw_charts` makes them (default: none).

    Examples
    --------
    >>> import ssme
    >>> from ssme.report import render_html, summarize
    >>> r = ssme.evaluate([[0.9], [0.8], [0.3]], [1, None, 0], method="ensemble")
    >>> render_html(summarize(r, "Three rows")).count("<h1>Three rows</h1>")
    1
    """
    from markupsafe import Markup

    style, script = _read_file("report.css"), _read_file("report.js")
    policy = (
        f"default-src 'none'; style-src '{_compute_hash(style)}'; "
        f"script-src '{_compute_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    sections: dict[str, list[dict[str, Any]]] = {}
    for chart in charts:
        entry = {**chart, "svg": Markup(chart["svg"])}
        sections.setdefault(str(chart["section"]), []).append(entry)
    page: str = _load_template().render(
        summary,
        charts=sections,
        policy=policy,
        style=Markup(style),
        script=Markup(script),
        printed_rows=PRINTED_ROWS,
        explained=explain_doubts([doubt["code"] for doubt in summary["doubts"]]),
    )
    return page


def explain_doubts(codes: Sequence[str]) -> dict[str, Any]:
    """What doubts mean, as markup by code, with a picture; links lead within the page or nowhere.

    Examples
    --------
    >>> "#explained-d104" in explain_doubts(["D104", "D201"])["D201"]
    True
    >>> "<a " in explain_doubts(["D201"])["D201"]
    False
    """
    from markdown_it import MarkdownIt
    from markupsafe import Markup

    markdown = MarkdownIt("commonmark", {"html": False})

    def make_link(found: re.Match[str]) -> str:
        inside = found[1].upper() in codes
        return f'<a href="#explained-{found[1]}">{found[2]}</a>' if inside else found[2]

    known = read_explanations()
    return {
        code: Markup(read_picture(code) + LINK.sub(make_link, markdown.render(known[code])))
        for code in dict.fromkeys(codes)
        if code in known
    }


@cache
def _load_template() -> Any:
    return make_environment().from_string(_read_file("report.html"))


@cache
def _read_file(name: str) -> str:
    return (files(__package__) / "templates" / name).read_text(encoding="utf-8")


def _compute_hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"sha256-{digest}"
