"""A document in a terminal 80 columns wide or wider; names are cut to what the numbers leave."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from rich.text import Text

from ssme.show.document import Document
from ssme.show.sections import Column, Section
from ssme.wording import make_distinct, make_printable, shorten

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

LIMIT = 20
"""Rows of a table that are shown where all were not asked for."""
NAME = 24
"""Columns that a name may take before a spare column of its table is left out."""
LEAST_NAME = 10
GAP = 2
TITLE = 100
SEVERITY_STYLE = {"serious": "bold red", "warning": "yellow", "note": "cyan"}


def print_document(console: Console, document: Document, keeps: str = "") -> None:
    """Print the document; ``keeps`` says where the rest of a long table is."""
    for item in document.answers:
        style = SEVERITY_STYLE.get(item.severity, "")
        question, answer = Text(item.question, style="bold"), shorten(item.answer, TITLE)
        text = Text(f" {answer}", style=style) + Text(f": {make_printable(item.detail)}")
        console.print(question + text)
    for section in document.sections:
        print_section(console, section, keeps)
    console.print()
    for sentence in document.head:
        console.print(Text(make_printable(sentence)))


def print_section(console: Console, section: Section, keeps: str = "") -> None:
    """Print a section and all inside it."""
    if section.sentences or section.table or section.code:
        style = SEVERITY_STYLE.get(section.severity, "bold")
        console.print()
        if section.title:
            console.print(Text(shorten(section.title, TITLE), style=style))
    for sentence in section.sentences:
        console.print(Text(make_printable(sentence)))
    if section.table:
        console.print(lay_out_table(section.table, console.width))
    if section.more:
        console.print(Text(f"{section.more}{keeps}"))
    if section.code:
        console.print(Text(make_printable(section.code)))
    for part in section.parts:
        print_section(console, part, keeps)


def lay_out_table(columns: tuple[Column, ...], width: int) -> Table:
    """The table within ``width``: spare columns are left out first, then names are cut."""
    shown = list(columns)
    while _measure(shown) > width and any(column.spare for column in shown):
        shown.remove(next(column for column in shown if column.spare))
    room = width - _measure([column for column in shown if column.kind != "text"])
    names, share = [column for column in shown if column.kind == "text"], width
    for left, column in enumerate(sorted(names, key=lambda column: _measure([column]))):
        share = room // (len(names) - left)  # what a short name does not need, longer ones get
        room -= min(share, _measure([column]))
    table = make_table(
        None,
        *(shorten(column.title, NAME) for column in shown),
        right=tuple(column.title for column in shown if column.kind != "text"),
    )
    cells = []
    for column in shown:
        texts = column.texts
        if column.kind == "text":
            cut = make_distinct(texts, max(LEAST_NAME, share - GAP))
            texts = [cut[text] for text in texts]
        cells.append(texts)
    for row in zip(*cells, strict=True):
        table.add_row(*map(Text, row))
    return table


def _measure(columns: list[Column]) -> int:
    """Characters that columns take, long names counted as if they were cut."""
    most = {"text": NAME}
    return sum(
        min(max(map(len, (column.title, *column.texts))), most.get(column.kind, TITLE)) + GAP
        for column in columns
    )


def make_table(title: str | None, *columns: str, right: tuple[str, ...] = ()) -> Table:
    """An empty table; columns named in ``right`` hold numbers."""
    from rich.table import Table

    table = Table(
        title=Text(shorten(title, TITLE)) if title else None,
        title_justify="left",
        title_style="bold",
        header_style="bold",
        show_header=any(columns),
        box=None,
        pad_edge=False,
        padding=(0, GAP, 0, 0),
    )
    for column in columns:
        number = column in right
        table.add_column(
            column, justify="right" if number else "left", no_wrap=number, overflow="fold"
        )
    return table


def render_text(document: Document) -> str:
    """The document as plain text, for ``print`` and the prompt."""
    from rich.console import Console

    text = io.StringIO()
    print_document(Console(file=text, width=100, color_system=None), document, " in .frame()")
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines())
