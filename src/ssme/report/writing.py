"""Write a report: HTML, Markdown or JSON, told by the suffix."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

from ssme.errors import InputError
from ssme.report.html import render_html
from ssme.report.markdown import render_markdown
from ssme.report.summary import summarize
from ssme.results.evaluation import BaseEvaluation
from ssme.writing import write_text

__all__ = ["can_draw", "report_html", "write_report"]


def write_report(evaluation: BaseEvaluation, path: str | Path, *, title: str | None = None) -> Path:
    """Write the report of ``evaluation`` to ``path``; .html, .md or .json."""
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
    """Whether the extra ``report`` is there."""
    return importlib.util.find_spec("vl_convert") is not None


def report_html(evaluation: BaseEvaluation, *, title: str | None = None) -> str:
    """The HTML report; without the extra ``report`` it has tables but no pictures."""
    found = []
    if can_draw():
        from ssme.report.charts import charts

        found = charts(evaluation)
    return render_html(summarize(evaluation, title), found)
