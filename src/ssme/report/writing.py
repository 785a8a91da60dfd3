"""Write a report: HTML, Markdown or JSON, told by the suffix."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ssme.errors import InputError
from ssme.report.charts import draw_charts, draw_sections
from ssme.report.html import render_html
from ssme.report.markdown import render_markdown
from ssme.report.summary import summarize
from ssme.results.sections import Section
from ssme.writing import write_text

if TYPE_CHECKING:
    from ssme.results.evaluation import Evaluation

__all__ = ["can_draw", "render_report", "write_report"]


def write_report(
    evaluation: Evaluation,
    path: str | Path,
    *,
    title: str | None = None,
    sections: Sequence[Section] = (),
) -> Path:
    """Write the report of an evaluation, whole or not at all.

    Parameters
    ----------
    evaluation : Evaluation
        What the report is about.
    path : str or Path
        The file: .html, .md or .json, all with the same facts.
    title : str, optional
        Heading of the report.
    sections : sequence of Section
        Further sections (`ssme.report.sections`; default: only those that were asked for).

    Returns
    -------
    Path
        The file written.
    """
    target = Path(path)
    suffix = target.suffix.lower()
    if suffix in (".html", ".htm"):
        text = render_report(evaluation, title=title, sections=sections)
    elif suffix == ".md":
        text = render_markdown(_summarize(evaluation, title, sections))
    elif suffix == ".json":
        facts = _summarize(evaluation, title, sections)
        text = json.dumps(facts, indent=2, ensure_ascii=False) + "\n"
    else:
        raise InputError(f"report {target}", allowed="a name that ends in .html, .md or .json")
    write_text(target, text)
    return target


def can_draw() -> bool:
    """Whether the extra ``report`` is installed, without which reports have no pictures."""
    return importlib.util.find_spec("vl_convert") is not None


def render_report(
    evaluation: Evaluation, *, title: str | None = None, sections: Sequence[Section] = ()
) -> str:
    """The report as the text of an HTML page.

    Parameters
    ----------
    evaluation : Evaluation
        What the report is about.
    title : str, optional
        Heading of the report.
    sections : sequence of Section
        Further sections (default none).

    Returns
    -------
    str
        One page that needs nothing else; without the extra ``report`` it has no pictures.
    """
    charts = draw_charts(evaluation) if can_draw() else []
    if can_draw():
        drawn = [each for each in sections if each.plot is not None]
        charts += draw_sections([(each.key, each.plot) for each in drawn if each.plot], len(charts))
    return render_html(_summarize(evaluation, title, sections), charts)


def _summarize(
    evaluation: Evaluation, title: str | None, sections: Sequence[Section]
) -> dict[str, Any]:
    summary = summarize(evaluation, title)
    summary["further"] += [each.to_dict() for each in sections]
    return summary
