"""A document as one HTML file: no outside request, nothing from the data is ever markup.

The Content-Security-Policy forbids everything but the one style sheet and the one script inside,
named by their SHA-256. Names are escaped by jinja2's autoescape, their control characters made
visible, and isolated with ``<bdi>``, so right-to-left text does not turn numbers around. The pages
of `ssme serve` are drawn with the same macros (``templates/document.html``).
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

from ssme.show.sections import Column, format_number, format_percent
from ssme.wording import make_printable, shorten

if TYPE_CHECKING:
    from ssme.show.document import Document

FIRST_ROWS = 10
"""Rows of a table that are printed, and on a screen all that is shown until it is unfolded."""
SCREEN_ONLY = ("ranking", "differences", "together", "pairs", "behavior", "method", "data", "again")
"""Sections that are not printed: a print is for those who decide, two pages of a small report."""
SEPARATORS = re.compile(r"(?<=[_\-./=:,;|+@&])(?=\w)")
LINK = re.compile(r'<a href="(?:[^"#]*#)?([^"]*)">(.*?)</a>')


def render_html(document: Document, charts: Sequence[Mapping[str, Any]] = ()) -> str:
    """The document as one page; ``charts`` are those that `draw_charts` gives."""
    style, script = _read_file("report.css"), _read_file("report.js")
    policy = (
        f"default-src 'none'; style-src '{_compute_hash(style)}'; "
        f"script-src '{_compute_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    keys = [section.key for section in document.walk() if section.key.startswith("explained-")]
    return (
        make_environment()
        .get_template("report.html")
        .render(
            document=document,
            charts=sort_charts(charts),
            policy=policy,
            style=Markup(style),
            script=Markup(script),
            explained=_explain_warnings(keys),
        )
    )


def sort_charts(charts: Iterable[Mapping[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """The pictures that our own code drew, by section; names in them were escaped there."""
    found: dict[str, list[dict[str, Any]]] = {}
    for chart in charts:
        entry = {**chart, "svg": Markup(chart["svg"])}
        found.setdefault(str(chart["section"]), []).append(entry)
    return found


@cache
def make_environment(package: str = "") -> Any:
    """A jinja2 environment with our templates and ``package``'s: nothing from data is markup."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=ChoiceLoader([PackageLoader(name) for name in (__package__, package) if name]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_show,
    )
    environment.filters |= {
        "number": format_number,
        "percent": lambda value: format_percent(value).replace(" ", "\N{NO-BREAK SPACE}"),
        "breakable": _make_breakable,
        "short": shorten,
        "columns": lambda table: list(_list_columns(table)),
    }
    environment.globals |= {"first_rows": FIRST_ROWS, "screen_only": SCREEN_ONLY}
    return environment


def _list_columns(table: Sequence[Column | Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Columns with their texts and the numbers to sort by; the ends of a span are two columns."""
    for item in table:
        column = item if isinstance(item, Column) else Column(**item)
        if column.kind == "span":
            for place, title in enumerate(column.ends):
                yield _describe_column(Column(title, [c[place] for c in column.cells], "number"))
        else:
            yield _describe_column(column)


def _describe_column(column: Column) -> dict[str, Any]:
    is_text = column.kind == "text"
    values = [cell[0] if column.kind == "value" else cell for cell in column.cells]
    numbers = [_format_key(value) for value in values if not is_text]
    return {
        "title": column.title,
        "is_text": is_text,
        "is_pair": column.kind == "value",
        "texts": column.texts,
        "numbers": numbers,
    }


def _format_key(value: Any) -> str:
    """What a cell is sorted by and copied as: more digits than are shown, not all of them."""
    if value is None or value != value:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _explain_warnings(keys: Sequence[str]) -> dict[str, Any]:
    """What warnings mean, as markup with a picture; links lead within the page or nowhere."""
    from markdown_it import MarkdownIt

    from ssme.diagnostics.page import read_picture, read_sections

    markdown = MarkdownIt("commonmark", {"html": False})

    def make_link(found: re.Match[str]) -> str:
        target = f"explained-{found[1].lower()}"
        return f'<a href="#{target}">{found[2]}</a>' if target in keys else found[2]

    known = {f"explained-{code.lower()}": code for code in read_sections()}
    return {
        key: Markup(
            read_picture(known[key])
            + LINK.sub(make_link, markdown.render(read_sections()[known[key]].text))
        )
        for key in keys
        if key in known
    }


@cache
def _read_file(name: str) -> str:
    return (files(__package__) / "templates" / name).read_text(encoding="utf-8")


def _compute_hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _make_breakable(name: str) -> Any:
    """A name that may be broken after ``_``, ``-`` and the like, not in the middle of a word."""
    pieces = SEPARATORS.split(make_printable(name))
    return Markup("<wbr>").join(escape(piece) for piece in pieces if piece)


def _show(value: Any) -> Any:
    """Text with its control characters escaped, so that a reader sees that they are there."""
    if isinstance(value, str) and not hasattr(value, "__html__"):
        return make_printable(value)
    return value
