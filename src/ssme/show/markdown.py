"""A document as GitHub-flavored Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ssme.show.document import Document
from ssme.show.sections import Section
from ssme.wording import make_printable, shorten

MARKUP = re.compile(r"([\\`*_{}\[\]<>()#+!|~$])")
NAME = 60
"""Characters of a name in a table."""


def render_markdown(document: Document) -> str:
    """The document as the text of a Markdown file."""
    lines = [f"# {_escape(document.title)}"]
    for sentence in document.head:
        lines += ["", _escape(sentence)]
    lines.append("")
    for item in document.answers:
        answer, detail = _escape(item.answer), _escape(item.detail)
        lines.append(f"- **{item.question}** {answer}. {detail}")
    for section in document.sections:
        lines += _write_section(section, 2)
    for sentence in document.foot:
        lines += ["", _escape(sentence)]
    return "\n".join(lines) + "\n"


def _write_section(section: Section, depth: int) -> Iterator[str]:
    yield from ("", f"{'#' * depth} {_escape(section.title)}")
    for sentence in section.sentences:
        yield from ("", _escape(sentence))
    if section.table:
        yield from ("", _write_row([_escape(column.title) for column in section.table]))
        yield f"|{'---|' * len(section.table)}"
        for row in zip(*(column.texts for column in section.table), strict=True):
            yield _write_row([_escape(shorten(cell, NAME)) for cell in row])
        yield from ("", _escape(section.more)) if section.more else ()
    if section.code:
        code = make_printable(section.code).replace("```", "` ` `")  # no line can end the block
        yield from ("", "```", *code.splitlines(), "```")
    for part in section.parts:
        yield from _write_section(part, depth + 1)


def _write_row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _escape(text: str) -> str:
    """``text`` with everything that Markdown or HTML could read as markup made plain."""
    return MARKUP.sub(r"\\\1", " ".join(make_printable(text).split()))
