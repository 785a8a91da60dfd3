"""A section of what people read: title, sentences, a table and a picture, the same in all outputs.

The terminal, reports in HTML and Markdown and notebooks render sections; what makes one, such as
chosen thresholds, a gate or a plan of labels, knows none of them. Cells are text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape
from typing import Any

from ssme.results.frames import render_frame_html, render_frame_text
from ssme.wording import make_printable

__all__ = ["Section", "format_number", "format_span", "format_value"]

NUMBER = re.compile(r"[-+<>±]?\s?\d.*|-|")


@dataclass(frozen=True, eq=False)
class Section:
    """One section.

    Attributes
    ----------
    key : str
        Its anchor in a page.
    title : str
        Its heading.
    sentences : tuple of str
        Paragraphs.
    head : tuple of str
        Headings of the table's columns; none where it has no table.
    rows : tuple of tuple of str
        The table's cells.
    plot : Plot or None
        The picture.
    """

    key: str
    title: str
    sentences: tuple[str, ...] = ()
    head: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    plot: Any = None

    @property
    def numbers(self) -> tuple[str, ...]:
        """Headings of the columns whose cells are numbers, or intervals."""
        columns = zip(self.head, zip(*self.rows, strict=True), strict=True) if self.rows else ()
        return tuple(name for name, cells in columns if all(map(NUMBER.fullmatch, cells)))

    def to_dict(self) -> dict[str, Any]:
        """Plain values for every renderer."""
        return {
            "key": self.key,
            "title": self.title,
            "sentences": list(self.sentences),
            "head": list(self.head),
            "numbers": list(self.numbers),
            "rows": [list(row) for row in self.rows],
        }

    def __str__(self) -> str:
        table = [render_frame_text(self._make_columns())] if self.rows else []
        return "\n".join([make_printable(self.title), *table, *map(make_printable, self.sentences)])

    def _repr_html_(self) -> str:
        table = render_frame_html(self._make_columns()) if self.rows else ""
        said = "".join(f"<p>{escape(make_printable(each))}</p>" for each in self.sentences)
        return f"<h4>{escape(make_printable(self.title))}</h4>{table}{said}"

    def _make_columns(self) -> dict[str, list[str]]:
        return {name: [row[i] for row in self.rows] for i, name in enumerate(self.head)}


def format_number(value: float | None) -> str:
    """Three decimals, or a dash where undefined."""
    return "-" if value is None or value != value else f"{value:.3f}"


def format_span(low: float | None, high: float | None) -> str:
    """``low to high``, or a dash where there is no interval."""
    if low is None or high is None or low != low or high != high:
        return "-"
    return f"{low:.3f} to {high:.3f}"


def format_value(value: float | None, low: float | None, high: float | None) -> str:
    """A value with its interval in brackets."""
    span = format_span(low, high)
    return format_number(value) + ("" if span == "-" else f" ({span})")
