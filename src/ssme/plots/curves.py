"""ROC, precision-recall and reliability curves with bands, one small panel a model."""

from __future__ import annotations

from typing import Any

from ssme.plots.display import BLUE, GREY, Plot, altair, data
from ssme.plots.intervals import best_models
from ssme.results import curves
from ssme.results.evaluation import ALL, Evaluation

__all__ = ["precision_recall", "reliability", "roc"]

PANELS = 9


def roc(
    evaluation: Evaluation,
    *,
    group: str = ALL,
    class_name: Any = None,
    limit: int = PANELS,
    models: Any = None,
) -> Plot:
    """True positive rate over false positive rate; the dashed diagonal is a coin."""
    names = best_models(evaluation, evaluation.metrics[0], limit, models)
    k = evaluation.class_index(class_name)
    rows = curves.roc(evaluation, group, k, names)
    x, y = "false_positive_rate", "true_positive_rate"
    against = f"class {evaluation.data.classes[k]} against the rest"
    return _panels(rows, x, y, names, "ROC curves", against, diagonal=True)


def precision_recall(
    evaluation: Evaluation,
    *,
    group: str = ALL,
    class_name: Any = None,
    limit: int = PANELS,
    models: Any = None,
) -> Plot:
    """Precision over recall."""
    names = best_models(evaluation, evaluation.metrics[0], limit, models)
    k = evaluation.class_index(class_name)
    rows = curves.precision_recall(evaluation, group, k, names)
    against = f"class {evaluation.data.classes[k]} against the rest"
    return _panels(rows, "recall", "precision", names, "Precision-recall curves", against)


def reliability(
    evaluation: Evaluation, *, group: str = ALL, limit: int = PANELS, models: Any = None
) -> Plot:
    """Share of rows that are right at each confidence; on the diagonal, scores are honest."""
    alt = altair()
    names = best_models(evaluation, evaluation.metrics[0], limit, models)
    rows = curves.reliability(evaluation, group, names)
    binary = evaluation.data.n_classes == 2
    x = "mean score" if binary else "confidence of the top class"
    y = f"share of class {evaluation.data.classes[-1]}" if binary else "share that is right"
    base = alt.Chart()
    unit = alt.Scale(domain=[0, 1])
    bars = base.mark_rule(color=BLUE, strokeWidth=2).encode(
        x=alt.X("confidence:Q", title=x, scale=unit),
        y=alt.Y("low:Q", title=y, scale=unit),
        y2="high:Q",
    )
    dots = base.mark_point(filled=True, color=BLUE, opacity=1).encode(
        x=alt.X("confidence:Q", scale=unit),
        y=alt.Y("right:Q", title=y, scale=unit),
        size=alt.Size(
            "share:Q", title="share of rows", scale=alt.Scale(range=[20, 200]), legend=None
        ),
        tooltip=["model:N", *(f"{c}:Q" for c in ("confidence", "right", "low", "high", "share"))],
    )
    chart = _facet(_diagonal() + bars + dots, rows, names)
    words = (
        f"Reliability of {len(names)} models: {y} against {x}, with intervals; "
        "points below the diagonal are overconfident."
    )
    return Plot("Reliability", chart, rows, words)


def _panels(
    rows: list[dict[str, Any]],
    x: str,
    y: str,
    names: list[str],
    title: str,
    against: str,
    diagonal: bool = False,
) -> Plot:
    alt = altair()
    base = alt.Chart()
    unit = alt.Scale(domain=[0, 1])
    horizontal = alt.X(f"{x}:Q", title=x.replace("_", " "), scale=unit)
    band = base.mark_area(color=BLUE, opacity=0.25).encode(
        x=horizontal, y=alt.Y("low:Q", title=y.replace("_", " "), scale=unit), y2="high:Q"
    )
    line = base.mark_line(color=BLUE, strokeWidth=2).encode(
        x=horizontal,
        y=alt.Y(f"{y}:Q", title=y.replace("_", " "), scale=unit),
        tooltip=["model:N", *(f"{c}:Q" for c in (x, y, "low", "high"))],
    )
    layers = band + line
    if diagonal:
        layers = _diagonal() + layers
    words = f"{title} of {len(names)} models with bands, {against}."
    return Plot(title, _facet(layers, rows, names), rows, words)


def _diagonal() -> Any:
    """From (0, 0) to (1, 1), dashed."""
    alt = altair()
    return (
        alt.Chart(data([{}]))
        .mark_rule(color=GREY, strokeDash=[4, 3])
        .encode(x=alt.datum(0), y=alt.datum(0), x2=alt.datum(1), y2=alt.datum(1))
    )


def _facet(layers: Any, rows: list[dict[str, Any]], names: list[str]) -> Any:
    facet = altair().Facet("model:N", sort=names, title=None)
    return layers.properties(width=190, height=190).facet(facet=facet, data=data(rows), columns=3)
