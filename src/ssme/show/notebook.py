"""A document as a notebook shows it: plain tables that take the notebook's own style."""

from __future__ import annotations

from html import escape

from ssme.show.document import Document
from ssme.show.sections import Section
from ssme.wording import make_printable, shorten

LIMIT = 30
"""Rows of a table."""
NAME = 60


def render_notebook(document: Document) -> str:
    """The document as HTML without style or script."""
    head = "".join(f"<p>{_write(sentence)}</p>" for sentence in document.head)
    answers = "".join(
        f"<li>{_write(item.question)} <b>{_write(shorten(item.answer, NAME))}</b>. "
        f"{_write(item.detail)}</li>"
        for item in document.answers
    )
    sections = "".join(render_section(section) for section in document.sections)
    return f"{head}<ul>{answers}</ul>{sections}"


def render_section(section: Section) -> str:
    """A section and all inside it."""
    said = "".join(f"<p>{_write(sentence)}</p>" for sentence in section.sentences)
    more = f"<p>{_write(section.more)} in .frame()</p>" if section.more else ""
    code = f"<pre>{_write(section.code)}</pre>" if section.code else ""
    parts = "".join(map(render_section, section.parts))
    return f"<h4>{_write(section.title)}</h4>{said}{_write_table(section)}{more}{code}{parts}"


def _write_table(section: Section) -> str:
    if not section.table:
        return ""
    head = "".join(f"<th scope='col'>{_write(column.title)}</th>" for column in section.table)
    rows = "".join(
        f"<tr>{''.join(f'<td><bdi>{_write(shorten(cell, NAME))}</bdi></td>' for cell in row)}</tr>"
        for row in zip(*(column.texts for column in section.table), strict=True)
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _write(text: str) -> str:
    return escape(make_printable(text))
