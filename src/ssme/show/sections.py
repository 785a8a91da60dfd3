"""What people read, as a tree: a section has a title, a table, sentences, pictures and parts.

`ssme.show.document` makes the tree of an evaluation once. The terminal, HTML, Markdown, notebooks
and the page of `ssme serve` only draw it, so that a column or a section is added in one place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any


@dataclass(frozen=True)
class Column:
    """One column of a table.

    The ``kind`` of its cells says how they are written: "text", "right" (texts of numbers),
    "number", "share", "count", "span" (low, high) or "value" (estimate, low, high). A terminal
    without room for all columns leaves ``spare`` ones out. ``ends`` are the headings of a span
    where its ends are two columns.
    """

    title: str
    cells: Sequence[Any]
    kind: str = "text"
    spare: bool = False
    ends: tuple[str, str] = ("low", "high")

    @cached_property
    def texts(self) -> list[str]:
        """The cells as people read them."""
        return [format_cell(self.kind, cell) for cell in self.cells]


@dataclass(frozen=True, eq=False)
class Section:
    """One section: sentences, then a table, preformatted text, pictures and the sections inside.

    ``key`` is its anchor in a page, ``more`` says what of the table was left out ("3 more models"),
    ``severity`` how serious it is where it warns ("note", "warning", "serious"). A ``folded`` one
    shows only its title in a page until it is opened. ``charts`` draw
    the pictures, called by an output that shows some; an `InputError` of one says that the method
    has no numbers for it.
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
    folded: bool = False

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
    """A value and its interval, ``0.941 [0.886, 0.971]``."""
    if low is None or high is None or low != low or high != high:
        return format_number(value)
    return f"{format_number(value)} [{low:.3f}, {high:.3f}]"


def format_percent(value: float | None) -> str:
    """A probability from a few hundred draws: never quite 0 or 1."""
    if value is None or value != value:
        return "-"
    return "> 99%" if value > 0.99 else "< 1%" if value < 0.01 else f"{value * 100:.0f}%"
