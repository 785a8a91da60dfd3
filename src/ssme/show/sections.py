"""What people read, as a tree: a section has a title, a table, sentences, pictures and parts.

`ssme.show.document` makes the tree of an evaluation once. The terminal, HTML, Markdown, notebooks
and the page of `ssme serve` only draw it, so that a column or a section is added in one place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = [
    "Column",
    "Section",
    "format_cell",
    "format_number",
    "format_percent",
    "format_span",
    "format_value",
]


@dataclass(frozen=True)
class Column:
    """One column of a table.

    Attributes
    ----------
    title : str
        Its heading.
    cells : sequence
        Texts or numbers; (low, high) or (estimate, low, high) for the last two kinds.
    kind : {"text", "number", "share", "count", "span", "value"}
        What the cells are, which says how they are written.
    spare : bool
        Whether a terminal without room for all columns leaves this one out.
    ends : tuple of two str
        Headings of the two ends of a span where these are columns by themselves.
    """

    title: str
    cells: Sequence[Any]
    kind: str = "text"
    spare: bool = False
    ends: tuple[str, str] = ("low", "high")

    @property
    def texts(self) -> list[str]:
        """The cells as people read them."""
        return [format_cell(self.kind, cell) for cell in self.cells]


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
        Paragraphs above the table.
    table : tuple of Column
        The table; empty where there is none.
    more : str
        What of the table was left out, such as "3 more models".
    charts : tuple of callables
        What draws the pictures, called by an output that shows some. An `InputError` of one says
        that the method has no numbers for it.
    parts : tuple of Section
        Sections inside.
    code : str
        Preformatted text.
    severity : {"", "info", "warning", "serious"}
        How serious it is, where it warns.
    """

    key: str
    title: str
    sentences: tuple[str, ...] = ()
    table: tuple[Column, ...] = ()
    more: str = ""
    charts: tuple[Callable[[], Any], ...] = ()
    parts: tuple[Section, ...] = ()
    code: str = ""
    severity: str = ""

    @property
    def n_rows(self) -> int:
        """Rows of the table."""
        return len(self.table[0].cells) if self.table else 0

    def walk(self) -> Iterable[Section]:
        """The section and all inside it."""
        yield self
        for part in self.parts:
            yield from part.walk()


def format_cell(kind: str, cell: Any) -> str:
    """A cell of a `Column` of this kind as people read it."""
    match kind:
        case "number":
            return format_number(cell)
        case "share":
            return format_percent(cell)
        case "count":
            return "-" if cell is None or cell != cell else f"{cell:,.0f}"
        case "span":
            return format_span(*cell)
        case "value":
            return format_value(*cell)
    return str(cell)


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


def format_percent(value: float | None) -> str:
    """A probability from a few hundred draws: never quite 0 or 1."""
    if value is None or value != value:
        return "-"
    return "> 99 %" if value > 0.99 else "< 1 %" if value < 0.01 else f"{value * 100:.0f} %"
