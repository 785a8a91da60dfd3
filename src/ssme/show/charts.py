"""The pictures of a document as SVG, made when it is written: opening a report runs no chart code.

Static SVG rather than a chart library inside the file: a third of the size, it shows in mail
viewers and with scripts switched off, prints as it looks, and needs no exception from the
Content-Security-Policy.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ssme.errors import InputError
from ssme.progress import track
from ssme.results.curves import find_other_areas
from ssme.show.document import Document
from ssme.show.plot import UNCUT, Plot, render_svg
from ssme.show.plots import HEATMAP_PANELS, SHOWN_MODELS, Plots, draw_metric

if TYPE_CHECKING:
    from ssme.results.evaluation import Evaluation

Maker = Callable[[], Plot]

TAG = re.compile(r"<[^>]+>")
DEFAULTS = re.compile(
    r' (?:font-family="[^"]*"|font-size="12px"|opacity="1"|stroke-width="1"'
    r'|transform="translate\(0,0\)"|aria-[a-z]+="[^"]*"|role="[^"]*"|pointer-events="none")'
)
"""Attributes that say what a browser or the style sheet of the report says anyway."""
EMPTY = re.compile(r'<path class="(?:background" d="M0,0h0v0h0Z|foreground" d=")"[^>]*/>')
"""Paths that draw nothing."""
MARK = 'role="graphics-symbol"'
REPORT_MODELS = 10
"""Models that a picture of a report draws, the best ones."""
FEW_GROUPS = 9
"""Groups, with that of all rows, up to which eight models and two metrics are drawn by group."""
ABREAST = 2
"""Panels of models in one picture of a report."""
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
    "legend": {"orient": "top", "labelFontSize": 12, "titleFontSize": 12, **UNCUT},
    "view": {"stroke": None},
}


def can_draw() -> bool:
    """Whether the extra ``report`` is installed, without which reports have no pictures."""
    return importlib.util.find_spec("vl_convert") is not None


def draw_charts(document: Document) -> list[dict[str, Any]]:
    """The pictures of a document: ``section`` (its key), ``title``, ``alt``, ``note``, ``svg``.

    ``wide`` says whether it is scrolled on a narrow screen. A picture that the method has no
    numbers for is left out, and so are all of them without the extra ``report``.
    """
    makers = [(section.key, make) for section in document.walk() for make in section.charts]
    found: list[dict[str, Any]] = []
    for section, make in track(makers if can_draw() else [], "pictures"):
        try:
            plot = make()
        except InputError:
            continue
        parts = [
            _render_svg(spec, f"c{len(found)}-{number}-")
            for number, spec in enumerate(split_spec({**plot.spec(), "title": None}))
        ]
        words = {"title": plot.title, "alt": plot.alt, "note": plot.note}
        widths = [re.search(r'\bwidth="([0-9.]+)', svg.split(">", 1)[0]) for svg in parts]
        wide = max((float(width[1]) for width in widths if width), default=0.0) > WIDE
        found.append({"section": section, **words, "svg": "".join(parts), "wide": wide})
    return found


def list_charts(evaluation: Evaluation) -> dict[str, tuple[Maker, ...]]:
    """What draws the pictures of an evaluation's report, by the key of the section."""
    plots, data = Plots(evaluation), evaluation.data
    found: dict[str, tuple[Maker, ...]] = {
        f"metric-{number}": (partial(_draw_metric, evaluation, metric.name),)
        for number, metric in enumerate(evaluation.metrics)
    }
    if data.n_models > 1:
        found["ranking"] = (partial(plots.ranking, limit=REPORT_MODELS),)
    if len(evaluation.groups) > 1:
        models, metrics = (8, 2) if len(evaluation.groups) <= FEW_GROUPS else (4, 1)
        found["groups"] = tuple(
            partial(plots.groups, metric.name, limit=models)
            for metric in evaluation.metrics[:metrics]
        )
    if evaluation.posterior is not None:
        found["behavior"] = tuple(_list_curves(evaluation, plots))
    found["method"] = (plots.convergence,)
    return found


def _list_curves(evaluation: Evaluation, plots: Plots) -> Iterator[Maker]:
    """Pictures of scores: of classifiers, and where the order alone counts of raters too.

    An answer is not a probability and has one threshold only, which the confusion matrix shows.
    """
    data = evaluation.data
    kinds = {name: judge.kind for name, judge in data.judges.items()}
    scored = [name for name in data.models if name not in kinds]
    ordered = [name for name in data.models if kinds.get(name) != "answers"]
    some = scored[:HEATMAP_PANELS] if kinds else None
    graded = ordered[:HEATMAP_PANELS] if kinds else None
    if scored:
        yield partial(plots.reliability, models=some, limit=HEATMAP_PANELS)
    if data.n_classes == 2 and ordered:
        yield lambda: _note_areas(evaluation, plots.roc(models=graded, limit=HEATMAP_PANELS))
        yield lambda: _note_areas(
            evaluation, plots.precision_recall(models=graded, limit=HEATMAP_PANELS)
        )
    if data.n_classes == 2 and scored:
        yield partial(plots.densities, models=some)
    yield plots.confusion
    if data.n_models > 1:
        yield lambda: _note_correlation(evaluation, plots.agreement(limit=REPORT_MODELS))


def _draw_metric(evaluation: Evaluation, metric: str) -> Plot:
    plot = draw_metric(evaluation, metric, limit=REPORT_MODELS)
    count = evaluation.data.n_models
    some = f"The best {REPORT_MODELS} of {count} models; the table has all."
    title = f"{metric} with {evaluation.level * 100:g}% intervals"
    return replace(plot, title=title, note=some if count > REPORT_MODELS else "")


def _note_correlation(evaluation: Evaluation, plot: Plot) -> Plot:
    note = (
        "The correlation of errors is that under the probabilities of the classes given the "
        "answers. The labels have not corrected it further, as they have the table above."
    )
    return replace(plot, note=note) if evaluation.data.judges else plot


def _note_areas(evaluation: Evaluation, plot: Plot) -> Plot:
    """Say where the area under a curve is not in the interval of the table."""
    other = find_other_areas(evaluation, plot.rows)
    if not other:
        return plot
    metric = other[0][1]
    areas = ", ".join(f"{model} {area:.3f}" for model, _, area in other[:SHOWN_MODELS])
    return replace(
        plot,
        note=f"The area under some curves is not in the interval of {metric} in the table: "
        f"{areas}. {evaluation.method} corrects {metric} as a whole, and not the points of a "
        "curve. The table is what was compared with the truth on benchmark sets.",
    )


def split_spec(spec: dict[str, Any]) -> list[dict[str, Any]]:
    """Pictures that a narrow screen stacks: of two models each, or of one of several charts."""
    if "hconcat" in spec:
        whole = {key: value for key, value in spec.items() if key not in ("hconcat", "resolve")}
        first, *others = spec["hconcat"]
        return [{**whole, **first}, *({**whole, "description": "", **each} for each in others)]
    if spec.get("columns", 0) <= ABREAST:
        return [spec]
    names = spec["facet"]["sort"]
    parts = []
    for start in range(0, len(names), ABREAST):
        some = names[start : start + ABREAST]
        values = [row for row in spec["data"]["values"] if row["model"] in some]
        facet = {**spec["facet"], "sort": some}
        parts.append({**spec, "data": {"values": values}, "facet": facet, "columns": ABREAST})
        spec = {**spec, "description": ""}  # the first one has the words for screen readers
    return parts


def _render_svg(spec: dict[str, Any], prefix: str) -> str:
    """The picture as inline SVG: ids unique in the page, words for screen readers."""
    head, body = render_svg({**spec, "config": STYLE}).split(">", 1)
    head = head.replace(
        'role="img" aria-label=""', 'aria-hidden="true"'
    )  # the first part has words
    return f"{head}>{TAG.sub(lambda tag: _rewrite_tag(tag[0], prefix), EMPTY.sub('', body))}"


def _rewrite_tag(tag: str, prefix: str) -> str:
    """One tag: its id and references prefixed; a mark's own words become its tooltip."""
    tag = re.sub(r'\bid="([^"]+)"', rf'id="{prefix}\1"', tag)
    tag = re.sub(r"url\(#([^)]+)\)", rf"url(#{prefix}\1)", tag)
    words = re.search(r' aria-label="([^"]*)"', tag) if MARK in tag and tag[-2] == "/" else None
    tag = DEFAULTS.sub("", tag)
    if words is None:
        return tag
    name = tag[1:].split(None, 1)[0]
    return f"{tag[:-2]}><title>{words[1]}</title></{name}>"
