"""A document as Markdown (GitHub's), as a block of a model card, and as plain HTML for a notebook.

Everything from the data is text in both: whatever could be read as markup is escaped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING

from ssme.results.groups import ALL
from ssme.show import document as documents
from ssme.show.sections import Section, format_span, format_value
from ssme.wording import make_printable, shorten

if TYPE_CHECKING:
    from ssme.results.evaluation import Evaluation

MARKUP = re.compile(r"([\\`*_{}\[\]<>()#+!|~$])")
NOTEBOOK_ROWS = 30
"""Rows of a table in a notebook."""


def render_markdown(document: documents.Document) -> str:
    """The document as the text of a Markdown file."""
    lines = [f"# {_escape_markdown(document.title)}"]
    for sentence in document.head:
        lines += ["", _escape_markdown(sentence)]
    lines.append("")
    for item in document.answers:
        answer, detail = _escape_markdown(item.answer), _escape_markdown(item.detail)
        lines.append(f"- **{item.question}** {answer}: {detail}")
    for section in document.sections:
        lines += _write_section(section, 2)
    for sentence in document.foot:
        lines += ["", _escape_markdown(sentence)]
    return "\n".join(lines) + "\n"


def render_card(evaluation: Evaluation, model: str) -> str:
    """What the card of a model says of its evaluation: metadata for model hubs, then Markdown.

    The metadata are YAML (``model-index``), whose texts are written as those of JSON.
    """
    evaluation.model_index(model)
    document = documents.build_document(evaluation)
    data = json.dumps(documents.name_files(evaluation.settings) or "scores")
    rows = [row for row in evaluation.rows(group=ALL) if row["model"] == model]
    lines = ["---", "model-index:", f"- name: {json.dumps(model)}", "  results:"]
    lines += ["  - task:", "      type: classification"]
    lines += ["    dataset:", f"      name: {data}", f"      type: {data}", "    metrics:"]
    for row in rows:
        if row["estimate"] == row["estimate"]:
            span = format_span(row["low"], row["high"])
            name = f"{row['metric']} ({evaluation.level * 100:g}% interval {span})"
            lines += [f"    - type: {json.dumps(row['metric'])}", f"      name: {json.dumps(name)}"]
            lines.append(f"      value: {row['estimate']:.4f}")
    columns = documents.list_estimate_columns(evaluation.level)[1:5]
    table, _ = documents.make_table(rows, (documents.Shown("metric", "metric"), *columns))
    warned = [f"{each.code} {each.title}" for each in evaluation.warnings]
    sentences = [
        f"Estimated from few labels and many unlabeled rows. {document.head[0]}",
        *_describe_worst_groups(evaluation, model),
        f"Warnings: {'; '.join(warned) or 'none'}.",
        *document.foot,
    ]
    lines += ["---", *_write_section(Section("card", "Evaluation", tuple(sentences), table), 2)]
    return "\n".join(lines) + "\n"


def _describe_worst_groups(evaluation: Evaluation, model: str) -> Iterator[str]:
    """The worst group of each grouping in the leading metric."""
    metric = evaluation.metrics[0].name
    for by in dict.fromkeys(group.by for group in evaluation.groups[1:]):
        worst = evaluation.worst_groups(metric, by=by, model=model).rows[0]
        value = format_value(worst.estimate, worst.low, worst.high)
        yield f"Worst group by {by}: {worst.group}, {metric} {value}."


def _write_section(section: Section, depth: int) -> Iterator[str]:
    yield from ("", f"{'#' * depth} {_escape_markdown(section.title)}")
    for sentence in section.sentences:
        yield from ("", _escape_markdown(sentence))
    if section.table:
        yield from ("", _write_row([_escape_markdown(column.title) for column in section.table]))
        yield f"|{'---|' * len(section.table)}"
        for row in zip(*(column.texts for column in section.table), strict=True):
            yield _write_row([_escape_markdown(shorten(cell)) for cell in row])
        yield from ("", _escape_markdown(section.more)) if section.more else ()
    if section.code:
        code = make_printable(section.code).replace("```", "` ` `")  # no line can end the block
        yield from ("", "```", *code.splitlines(), "```")
    for part in section.parts:
        yield from _write_section(part, depth + 1)


def _write_row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _escape_markdown(text: str) -> str:
    return MARKUP.sub(r"\\\1", " ".join(make_printable(text).split()))


def render_notebook(document: documents.Document) -> str:
    """The document as HTML without style or script."""
    head = "".join(map(_write_paragraph, document.head))
    answers = "".join(
        f"<li>{_escape_html(item.question)} <b>{_escape_html(shorten(item.answer))}</b>: "
        f"{_escape_html(item.detail)}</li>"
        for item in document.answers
    )
    return f"{head}<ul>{answers}</ul>{''.join(map(_render_section, document.sections))}"


def _render_section(section: Section) -> str:
    head = "".join(f"<th scope='col'>{_escape_html(column.title)}</th>" for column in section.table)
    rows = "".join(
        f"<tr>{''.join(f'<td><bdi>{_escape_html(shorten(cell))}</bdi></td>' for cell in row)}</tr>"
        for row in zip(*(column.texts for column in section.table), strict=True)
    )
    return "".join(
        [
            f"<h4>{_escape_html(section.title)}</h4>" if section.title else "",
            *map(_write_paragraph, section.sentences),
            f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>" if head else "",
            _write_paragraph(f"{section.more} in .frame()") if section.more else "",
            f"<pre>{_escape_html(section.code)}</pre>" if section.code else "",
            *map(_render_section, section.parts),
        ]
    )


def _write_paragraph(text: str) -> str:
    return f"<p>{_escape_html(text)}</p>"


def _escape_html(text: str) -> str:
    return escape(make_printable(text))
