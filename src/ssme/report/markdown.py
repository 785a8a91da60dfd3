"""A report as Markdown, from the same facts as the HTML one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from ssme.markup import format_percent
from ssme.report.summary import DOUBT_NAMES
from ssme.wording import make_printable, shorten

__all__ = ["render_markdown"]

MARKUP = re.compile(r"([\\`*_{}\[\]<>()#+!|~$])")


def render_markdown(summary: dict[str, Any]) -> str:
    """A report as GitHub-flavored Markdown.

    Parameters
    ----------
    summary : dict
        What `summarize` gives.

    Examples
    --------
    >>> import ssme
    >>> from ssme.report import render_markdown, summarize
    >>> r = ssme.evaluate([[0.9], [0.8], [0.3]], [1, None, 0], method="ensemble")
    >>> render_markdown(summarize(r, "Three rows")).splitlines()[0]
    '# Three rows'
    """
    return "\n".join(_lines(summary)) + "\n"


def _lines(summary: dict[str, Any]) -> Iterator[str]:
    data, method = summary["data"], summary["method"]
    yield f"# {_text(summary['title'])}"
    yield ""
    yield (
        f"{len(data['models'])} classifiers, {len(data['classes'])} classes, {data['labeled']:,} "
        f"labeled and {data['unlabeled']:,} unlabeled rows, method `{method['name']}`."
    )
    yield ""
    for item in summary["headline"]["answers"]:
        answer = item["name"] if "name" in item else item["answer"]
        yield f"- **{item['question']}** {_text(answer)}. {_text(item['detail'])}"
    for metric in summary["metrics"]:
        yield from ("", f"## {_text(metric['name'])}", "", f"{_text(metric['definition'])}.", "")
        yield from _table(
            ("model", "estimate", "interval", "labels only", "interval of labels only", "P(best)"),
            [
                (
                    _name(row["model"]),
                    _number(row["estimate"]),
                    _span(row["low"], row["high"]),
                    _number(row["labels_only"]),
                    _span(row["labels_only_low"], row["labels_only_high"]),
                    format_percent(row["p_best"]),
                )
                for row in metric["rows"]
            ],
        )
        if metric["reliability"]:
            yield from ("", f"P(best): {_text(metric['reliability'])}")
    yield from _group_lines(summary)
    if summary["together"] is not None:
        yield from ("", "## All models together", "", _text(summary["together"]["sentence"]), "")
        yield from _table(
            ("figure", "estimate", "interval", "labels only", "interval of labels only"),
            [
                (
                    row["figure"],
                    _number(row["estimate"]),
                    _span(row["low"], row["high"]),
                    _number(row["labels_only"]),
                    _span(row["labels_only_low"], row["labels_only_high"]),
                )
                for row in summary["together"]["rows"]
            ],
        )
    for metric in summary["by_group"]:
        yield from ("", f"## {_text(metric['name'])} by group", "")
        yield from _table(
            ("group", "model", "estimate", "interval", "labels only", "labels"),
            [
                (
                    _name(row["group"]),
                    _name(row["model"]),
                    _number(row["estimate"]),
                    _span(row["low"], row["high"]),
                    _number(row["labels_only"])
                    + (" (of all rows)" if row["labels_only_from"] == "all" else ""),
                    str(row["n_labeled"]),
                )
                for row in metric["rows"]
            ],
        )
    for section in summary["further"]:
        yield from ("", f"## {_text(section['title'])}", "")
        yield from (_text(sentence) for sentence in section["sentences"])
        if section["head"]:
            yield ""
            cells = [tuple(_text(cell) for cell in row) for row in section["rows"]]
            yield from _table([_text(each) for each in section["head"]], cells)
    yield from ("", "## Doubts", "")
    for doubt in summary["doubts"]:
        words = _text(f"{doubt['reason']} {doubt['advice']}")
        kind = DOUBT_NAMES[doubt["severity"]]
        yield f"- **{_text(doubt['title'])}** ({doubt['code']}, {kind}). {words}"
    if not summary["doubts"]:
        yield "None of the checks found a reason for doubt."
    yield from ("", "## Method", "", f"{_text(method['title'])}. {_text(method['source'])}")
    yield from ("", _text(method["does"]), "", f"It assumes: {_text(method['assumes'])}")
    again = summary["rerun"]
    yield from ("", "## Run it again", "")
    if again["cannot"]:
        yield f"No config file can hold this run. {_text(again['cannot'])}"
    else:
        yield from ("```toml", *_code(again["toml"]), "```")
    made = summary["made"]
    yield from ("", f"Written on {made['date']} with ssme {made['version']}, seed {made['seed']}.")
    if made["input_sha256"]:
        yield f"SHA-256 of the input: `{made['input_sha256']}`."


def _group_lines(summary: dict[str, Any]) -> Iterator[str]:
    """The groups of every grouping, worst first, and the gaps between them."""
    for part in summary["group_ranks"]:
        what = f"{part['metric']} of {part['model']} by {part['by']}, worst group first"
        yield from ("", f"## {_text(what)}", "")
        yield from _table(
            ("group", "rows", "labels", "estimate", "interval", "minus all rows", "borrowed"),
            [
                (
                    _name(row["group"]),
                    f"{row['n_labeled'] + row['n_unlabeled']:,}",
                    f"{row['n_labeled']:,}",
                    _number(row["estimate"]),
                    _span(row["low"], row["high"]),
                    _span(row["difference_low"], row["difference_high"]),
                    format_percent(row["borrowed"]),
                )
                for row in part["rows"]
            ],
        )
    if summary["gaps"]:
        yield from ("", "## Gaps between groups", "")
        yield from _table(
            ("grouping", "metric", "gap", "interval", "worst", "best"),
            [
                (
                    _name(row["by"]),
                    _name(row["metric"]),
                    _number(row["estimate"]),
                    _span(row["low"], row["high"]),
                    _name(row["worst"]),
                    _name(row["best"]),
                )
                for row in summary["gaps"]
            ],
        )


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{'|'.join('---' for _ in head)}|"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def _code(code: str) -> list[str]:
    """Lines of a code block; none of them can end it."""
    return [line.replace("```", "` ` `") for line in make_printable(code).rstrip().splitlines()]


def _text(text: str) -> str:
    """``text`` with everything that Markdown or HTML could read as markup made plain."""
    return MARKUP.sub(r"\\\1", " ".join(make_printable(text).split()))


def _name(name: str) -> str:
    return _text(shorten(name, 60))


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _span(low: float | None, high: float | None) -> str:
    return "-" if low is None or high is None else f"{low:.3f} to {high:.3f}"
