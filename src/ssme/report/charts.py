"""The pictures of a report as SVG, made when the report is written: opening it runs no chart code.

Static SVG rather than a chart library inside the file: a third of the size, it shows in mail
viewers and with scripts switched off, prints as it looks, and needs no exception from the
Content-Security-Policy.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ssme.errors import InputError
from ssme.plots.accessor import Plots
from ssme.plots.curves import CURVE_PANELS
from ssme.plots.display import UNCUT, Plot, render_svg
from ssme.plots.intervals import SHOWN_MODELS, draw_metric
from ssme.progress import track
from ssme.results.curves import find_other_areas

if TYPE_CHECKING:
    from ssme.results.evaluation import Evaluation

__all__ = ["draw_charts", "draw_sections"]

TAG = re.compile(r"<[^>]+>")
MARK = 'role="graphics-symbol"'
CORRELATION_NOTE = (
    "The correlation of errors is that under the probabilities of the classes given the answers. "
    "The labels have not corrected it further, as they have the table above."
)
WIDE = 560
"""Pixels from which a picture is not made smaller to fit a narrow screen, but scrolled."""
STYLE = {
    "background": "transparent",
    "font": "Helvetica, Arial, sans-serif",
    "axis": {
        "labelFontSize": 12,
        "titleFontSize": 12,
        "gridOpacity": 0.35,
        "labelSeparation": 10,  # fonts of readers may be wider than the one that is measured with
        **UNCUT,
    },
    "header": {"labelFontSize": 12, **UNCUT},
    "legend": {"labelFontSize": 12, "titleFontSize": 12, **UNCUT},
    "view": {"stroke": None},
}


def draw_charts(evaluation: Evaluation) -> list[dict[str, Any]]:
    """The pictures of a report.

    Parameters
    ----------
    evaluation : Evaluation
        What the report is about.

    Returns
    -------
    list of dict
        Each has the ``section`` it belongs to, ``title``, ``alt``, ``note``, the ``svg`` itself and
        whether it is ``wide``. A picture that the method has no numbers for is left out.
    """
    makers = list(_list_makers(evaluation))
    found: list[dict[str, Any]] = []
    for section, make in track(makers, "pictures"):
        try:
            plot = make()
        except InputError:
            continue
        svg = _render_svg(plot, f"c{len(found)}-")
        found.append(
            {
                "section": section,
                "title": _write_caption(evaluation, section, plot),
                "alt": plot.alt,
                "note": _write_note(evaluation, section, plot),
                "svg": svg,
                "wide": _read_width(svg) > WIDE,
            }
        )
    return found


def draw_sections(plots: Sequence[tuple[str, Plot]], first: int) -> list[dict[str, Any]]:
    """Pictures of further sections, as `draw_charts` gives them.

    Parameters
    ----------
    plots : sequence of (section, Plot)
        The section that each belongs to, and the picture.
    first : int
        Number of pictures that the page has already.
    """
    found = []
    for number, (section, plot) in enumerate(plots, start=first):
        svg = _render_svg(plot, f"c{number}-")
        words = {"section": section, "title": plot.title, "alt": plot.alt, "note": ""}
        found.append({**words, "svg": svg, "wide": _read_width(svg) > WIDE})
    return found


def _list_makers(evaluation: Evaluation) -> Iterator[tuple[str, Callable[[], Plot]]]:
    plots = Plots(evaluation)
    for metric in evaluation.metrics:
        yield metric.name, lambda name=metric.name: draw_metric(evaluation, name)  # type: ignore[misc]
    if evaluation.data.n_models > 1:
        yield "ranking", plots.ranking
    if len(evaluation.groups) > 1:
        for metric in evaluation.metrics[:2]:
            yield "groups", lambda name=metric.name: plots.groups(name)  # type: ignore[misc]
    if evaluation.posterior is not None:
        yield from _list_curves(evaluation, plots)
        yield "curves", plots.confusion
        if evaluation.data.n_models > 1:
            yield "curves", plots.agreement
    yield "method", plots.convergence


def _list_curves(evaluation: Evaluation, plots: Plots) -> Iterator[tuple[str, Callable[[], Plot]]]:
    """Pictures of scores: of classifiers, and where the order alone counts of raters too.

    An answer is no probability and has one threshold only, which the confusion matrix shows.
    """
    data = evaluation.data
    kinds = {name: data.judges[name].kind for name in data.judges}
    scored = [name for name in data.models if name not in kinds]
    ordered = [name for name in data.models if kinds.get(name) != "answers"]
    some = None if not kinds else scored[:CURVE_PANELS]
    if scored:
        yield "curves", lambda: plots.reliability(models=some)
    if data.n_classes == 2 and ordered:
        graded = None if not kinds else ordered[:CURVE_PANELS]
        yield "curves", lambda: plots.roc(models=graded)
        yield "curves", lambda: plots.precision_recall(models=graded)
    if data.n_classes == 2 and scored:
        yield "curves", lambda: plots.densities(models=some)


def _write_note(evaluation: Evaluation, section: str, plot: Plot) -> str:
    if plot.title == "Agreement of the models" and evaluation.data.judges:
        return CORRELATION_NOTE
    names = [metric.name for metric in evaluation.metrics]
    if section in names and evaluation.data.n_models > SHOWN_MODELS:
        return f"The best {SHOWN_MODELS} of {evaluation.data.n_models} models; the table has all."
    other = find_other_areas(evaluation, plot.rows) if section == "curves" else []
    if other:
        metric = other[0][1]
        areas = ", ".join(f"{model} {area:.3f}" for model, _, area in other[:SHOWN_MODELS])
        return (
            f"The area under some curves is not in the interval of {metric} in the table: {areas}. "
            f"{evaluation.method} corrects {metric} as a whole, and not the points of a curve. The "
            "table is what was compared with the truth on benchmark sets."
        )
    return ""


def _write_caption(evaluation: Evaluation, section: str, plot: Plot) -> str:
    if section in [metric.name for metric in evaluation.metrics]:
        return f"{section} with {evaluation.level * 100:g} % intervals"
    return plot.title


def _render_svg(plot: Plot, prefix: str) -> str:
    """The picture as inline SVG: ids unique in the page, words for screen readers."""
    spec = {**plot.spec(), "title": None, "config": STYLE}
    head, body = render_svg(spec).split(">", 1)
    return f"{head}>{TAG.sub(lambda tag: _rewrite_tag(tag[0], prefix), body)}"


def _read_width(svg: str) -> float:
    found = re.search(r'\bwidth="([0-9.]+)', svg.split(">", 1)[0])
    return float(found[1]) if found else 0.0


def _rewrite_tag(tag: str, prefix: str) -> str:
    """One tag: its id and references prefixed; a mark's own words become its tooltip."""
    tag = re.sub(r'\bid="([^"]+)"', rf'id="{prefix}\1"', tag)
    tag = re.sub(r"url\(#([^)]+)\)", rf"url(#{prefix}\1)", tag)
    words = re.search(r' aria-label="([^"]*)"', tag) if MARK in tag and tag[-2] == "/" else None
    tag = re.sub(r' aria-[a-z]+="[^"]*"| role="[^"]*"| pointer-events="none"', "", tag)
    if words is None:
        return tag
    name = tag[1:].split(None, 1)[0]
    return f"{tag[:-2]}><title>{words[1]}</title></{name}>"
