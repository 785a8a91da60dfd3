"""Write a report: HTML, Markdown or JSON, told by the suffix."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

from ssme.errors import InputError
from ssme.report.charts import draw_charts
from ssme.report.html import render_html
from ssme.report.markdown import render_markdown
from ssme.report.summary import summarize
from ssme.results.evaluation import BaseEvaluation
from ssme.writing import write_text

__all__ = ["can_draw", "report_html", "write_report"]


def write_report(evaluation: BaseEvaluation, path: str | Path, *, title: str | None = None) -> Path:
    """Write the report of an evaluation, whole or not at all.

    Parameters
    ----------
    evaluation : Evaluation
        What the report is about.
    path : str or Path
        The file: .html, .md or .json, all with the same facts.
    title : str, optional
        Heading of the report.

    Returns
    -------
    Path
        The file written.
    """
    target = Path(path)
    suffix = target.suffix.lower()
    if suffix in (".html", ".htm"):
        text = report_html(evaluation, title=title)
    elif suffix == ".md":
        text = render_markdown(summarize(evaluation, title))
    elif suffix == ".json":
        text = json.dumps(summarize(evaluation, title), indent=2, ensure_ascii=False) + "\n"
    else:
        raise InputError(f"report {target}", allowed="a name that ends in .html, .md or .json")
    write_text(target, text)
    return target


def can_draw() -> bool:
    """Whether the extra ``report`` is installed, without which reports have no pictures."""
    return importlib.util.find_spec("vl_convert") is not None


def report_html(evaluation: BaseEvaluation, *, title: str | None = None) -> str:
    """The report as the text of an HTML page.

    Parameters
    ----------
    evaluation : Evaluation
        What the report is about.
    title : str, optional
        Heading of the report.

    Returns
    -------
    str
        One page that needs nothing else; without the extra ``report`` it has no pictures.
    """
    charts = draw_charts(evaluation) if can_draw() else []
    return render_html(summarize(evaluation, title), charts)
