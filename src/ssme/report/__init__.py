"""The report: `summarize` gives plain facts, renderers turn them into HTML, Markdown or JSON."""

from ssme.report.html import render_html
from ssme.report.markdown import render_markdown
from ssme.report.summary import summarize
from ssme.report.writing import can_draw, render_report, write_report

__all__ = [
    "can_draw",
    "render_html",
    "render_markdown",
    "render_report",
    "summarize",
    "write_report",
]
