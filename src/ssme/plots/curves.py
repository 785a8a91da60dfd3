"""ROC, precision-recall and reliability curves with bands, one small panel a model."""

from __future__ import annotations

from typing import Any

from ssme.plots.display import BLUE, GREY, SAID, Plot, Spec, facet, named, number
from ssme.plots.intervals import best_models
from ssme.results import curves
from ssme.results.evaluation import ALL, Evaluation

__all__ = ["precision_recall", "reliability", "roc"]

PANELS = 9
UNIT: Spec = {"domain": [0, 1]}
SQUARE: Spec = {"width": 190, "height": 190}
DIAGONAL: Spec = {
    "data": {"values": [{}]},
    "mark": {"type": "rule", "color": GREY, "strokeDash": [4, 3]},
    "encoding": {"x": {"datum": 0}, "y": {"datum": 0}, "x2": {"datum": 1}, "y2": {"datum": 1}},
}


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
    names = best_models(evaluation, evaluation.metrics[0], limit, models)
    rows = curves.reliability(evaluation, group, names)
    binary = evaluation.data.n_classes == 2
    x = "mean score" if binary else "confidence of the top class"
    y = f"share of class {evaluation.data.classes[-1]}" if binary else "share that is right"
    across = number("confidence", title=x, scale=UNIT)
    panel = {
        **SQUARE,
        "layer": [
            DIAGONAL,
            {
                "mark": {"type": "rule", "color": BLUE, "strokeWidth": 2},
                "encoding": {
                    **SAID,
                    "x": across,
                    "y": number("low", title=y, scale=UNIT),
                    "y2": {"field": "high"},
                },
            },
            {
                "mark": {"type": "point", "filled": True, "color": BLUE, "opacity": 1},
                "encoding": {
                    "x": across,
                    "y": number("right", title=y, scale=UNIT),
                    "size": number("share", scale={"range": [20, 200]}, legend=None),
                    **SAID,
                },
            },
        ],
    }
    words = (
        f"Reliability of {len(names)} models: {y} against {x}, with intervals; larger points "
        "hold more rows, points below the diagonal are overconfident."
    )
    return Plot("Reliability", facet(rows, names, panel, _bin_words), rows, words)


def _bin_words(row: dict[str, Any]) -> str:
    return (
        f"{row['model']} at {row['confidence']:.2f}: {row['right']:.3f} ({row['low']:.3f} to "
        f"{row['high']:.3f}), {row['share']:.1%} of rows"
    )


def _panels(
    rows: list[dict[str, Any]],
    x: str,
    y: str,
    names: list[str],
    title: str,
    against: str,
    diagonal: bool = False,
) -> Plot:
    vertical = {"title": y.replace("_", " "), "scale": UNIT}
    across = number(x, title=x.replace("_", " "), scale=UNIT)
    panel = {
        **SQUARE,
        "layer": [
            *([DIAGONAL] if diagonal else []),
            {
                "mark": {"type": "area", "color": BLUE, "opacity": 0.25},
                "encoding": {
                    "x": across,
                    "y": number("low", **vertical),
                    "y2": {"field": "high"},
                },
            },
            {
                "mark": {"type": "line", "color": BLUE, "strokeWidth": 2},
                "encoding": {
                    "x": across,
                    "y": number(y, **vertical),
                    "tooltip": [named("model"), *map(number, (x, y, "low", "high"))],
                },
            },
        ],
    }
    words = f"{title} of {len(names)} models with bands, {against}."
    return Plot(title, facet(rows, names, panel), rows, words)
