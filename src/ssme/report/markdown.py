"""A report as Markdown, from the same facts as the HTML one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from ssme.markup import format_percent
from ssme.report.summary import DOUBT_NAMES
from ssme.results.sections import format_number, format_span
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
    return "\n".join(_write_lines(summary)) + "\n"


def _write_lines(summary: dict[str, Any]) -> Iterator[str]:
    data, method = summary["data"], summary["method"]
    yield f"# {_escape_text(summary['title'])}"
    yield ""
    yield (
        f"{len(data['models'])} classifiers, {len(data['classes'])} classes"
        f"{_escape_text(data['positive'])}, {data['labeled']:,} "
        f"labeled and {data['unlabeled']:,} unlabeled rows, method `{method['name']}`."
    )
    yield ""
    if summary["settings"].get("corrected_shift"):
        shift = f"{summary['settings']['corrected_shift']} shift. {summary['settings']['shift']}"
        yield from (f"The labels are weighted to correct {_escape_text(shift)}", "")
    for item in summary["headline"]["answers"]:
        answer = item["name"] if "name" in item else item["answer"]
        yield f"- **{item['question']}** {_escape_text(answer)}. {_escape_text(item['detail'])}"
    if summary["calibration"]:
        yield from ("", _escape_text(summary["calibration"]))
    for metric in summary["metrics"]:
        yield from (
            "",
            f"## {_escape_text(metric['name'])}",
            "",
            f"{_escape_text(metric['definition'])}.",
            "",
        )
        yield from _write_table(
            ("model", "estimate", "interval", "labels only", "interval of labels only", "P(best)"),
            [
                (
                    _escape_name(row["model"]),
                    format_number(row["estimate"]),
                    format_span(row["low"], row["high"]),
                    format_number(row["labels_only"]),
                    format_span(row["labels_only_low"], row["labels_only_high"]),
                    format_percent(row["p_best"]),
                )
                for row in metric["rows"]
            ],
        )
    for section in summary["further"]:
        yield from ("", f"## {_escape_text(section['title'])}", "")
        yield "\n\n".join(_escape_text(sentence) for sentence in section["sentences"])
        if section["head"]:
            yield ""
            cells = [tuple(_escape_text(cell) for cell in row) for row in section["rows"]]
            yield from _write_table([_escape_text(each) for each in section["head"]], cells)
    yield from _write_group_lines(summary)
    for metric in summary["by_group"]:
        yield from ("", f"## {_escape_text(metric['name'])} by group", "")
        yield from _write_table(
            ("group", "model", "estimate", "interval", "labels only", "labels"),
            [
                (
                    _escape_name(row["group"]),
                    _escape_name(row["model"]),
                    format_number(row["estimate"]),
                    format_span(row["low"], row["high"]),
                    format_number(row["labels_only"])
                    + (" (of all rows)" if row["labels_only_from"] == "all" else ""),
                    str(row["n_labeled"]),
                )
                for row in metric["rows"]
            ],
        )
    yield from ("", "## Doubts", "")
    for doubt in summary["doubts"]:
        words = _escape_text(f"{doubt['reason']} {doubt['advice']}")
        kind = DOUBT_NAMES[doubt["severity"]]
        yield f"- **{_escape_text(doubt['title'])}** ({doubt['code']}, {kind}). {words}"
    if not summary["doubts"]:
        yield "None of the checks found a reason for doubt in the data."
    yield from (
        "",
        "## Method",
        "",
        f"{_escape_text(method['title'])}. {_escape_text(method['source'])}",
    )
    for words in ("does", "assumes", "fails"):
        if method[words]:
            yield from ("", _escape_text(method[words]))
    again = summary["rerun"]
    yield from ("", "## Run it again", "")
    if again["cannot"]:
        yield f"No config file can hold this run. {_escape_text(again['cannot'])}"
    else:
        yield from ("```toml", *_write_code(again["toml"]), "```")
        yield from ("", _escape_text(again["more"])) if again["more"] else ()
    made = summary["made"]
    yield from ("", f"Written on {made['date']} with ssme {made['version']}, seed {made['seed']}.")
    if made["input_sha256"]:
        yield f"SHA-256 of the input: `{made['input_sha256']}`."


def _write_group_lines(summary: dict[str, Any]) -> Iterator[str]:
    """The groups of every grouping, worst first, and the gaps between them."""
    for part in summary["group_ranks"]:
        what = f"{part['metric']} of {part['model']} by {part['by']}, worst group first"
        yield from ("", f"## {_escape_text(what)}", "")
        yield from _write_table(
            (
                "group",
                "rows",
                "labels",
                "estimate",
                "interval",
                "minus all rows",
                "P(worst)",
                "borrowed",
            ),
            [
                (
                    _escape_name(row["group"]),
                    f"{row['n_labeled'] + row['n_unlabeled']:,}",
                    f"{row['n_labeled']:,}",
                    format_number(row["estimate"]),
                    format_span(row["low"], row["high"]),
                    format_span(row["difference_low"], row["difference_high"]),
                    format_percent(row["p_worst"]),
                    format_percent(row["borrowed"]),
                )
                for row in part["rows"]
            ],
        )
        for remark in part["remarks"]:
            yield from ("", _escape_text(remark))
    if summary["gaps"]:
        yield from ("", "## Gaps between groups", "")
        yield from _write_table(
            ("grouping", "metric", "gap", "interval", "worst", "best"),
            [
                (
                    _escape_name(row["by"]),
                    _escape_name(row["name"]),
                    format_number(row["estimate"]),
                    format_span(row["low"], row["high"]),
                    _escape_name(row["worst"]),
                    _escape_name(row["best"]),
                )
                for row in summary["gaps"]
            ],
        )


def _write_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{'|'.join('---' for _ in head)}|"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def _write_code(code: str) -> list[str]:
    """Lines of a code block; none of them can end it."""
    return [line.replace("```", "` ` `") for line in make_printable(code).rstrip().splitlines()]


def _escape_text(text: str) -> str:
    """``text`` with everything that Markdown or HTML could read as markup made plain."""
    return MARKUP.sub(r"\\\1", " ".join(make_printable(text).split()))


def _escape_name(name: str) -> str:
    return _escape_text(shorten(name, 60))
