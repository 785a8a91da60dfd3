"""ROC, precision-recall and reliability curves with bands, one small panel per model."""

from __future__ import annotations

from typing import Any

from ssme.plots.display import (
    BLUE,
    GREY,
    SAID,
    Plot,
    Spec,
    encode_names,
    encode_number,
    facet_by_model,
)
from ssme.plots.names import cut_name
from ssme.results import curves
from ssme.results.evaluation import BaseEvaluation

__all__ = ["PANELS", "draw_precision_recall", "draw_reliability", "draw_roc"]

PANELS = 9
"""Models drawn, one panel each, where none are named."""
UNIT: Spec = {"domain": [0, 1]}
SQUARE: Spec = {"width": 190, "height": 190}
DIAGONAL: Spec = {
    "data": {"values": [{}]},
    "mark": {"type": "rule", "color": GREY, "strokeDash": [4, 3]},
    "encoding": {"x": {"datum": 0}, "y": {"datum": 0}, "x2": {"datum": 1}, "y2": {"datum": 1}},
}


def draw_roc(evaluation: BaseEvaluation, names: list[str], group: str, class_name: Any) -> Plot:
    """True positive rate over false positive rate; on the dashed diagonal, scores say nothing."""
    k = evaluation.class_index(class_name)
    rows = curves.estimate_roc(evaluation, group, k, names)
    x, y = "false_positive_rate", "true_positive_rate"
    return _draw_panels(
        rows, x, y, names, "ROC curves", _describe_class(evaluation, k), diagonal=True
    )


def draw_precision_recall(
    evaluation: BaseEvaluation, names: list[str], group: str, class_name: Any
) -> Plot:
    """Precision over recall."""
    k = evaluation.class_index(class_name)
    rows = curves.estimate_precision_recall(evaluation, group, k, names)
    title, against = "Precision-recall curves", _describe_class(evaluation, k)
    return _draw_panels(rows, "recall", "precision", names, title, against)


def draw_reliability(evaluation: BaseEvaluation, names: list[str], group: str) -> Plot:
    """Share of rows that are right at each confidence; on the diagonal, scores are calibrated."""
    rows = curves.estimate_reliability(evaluation, group, names)
    binary = evaluation.data.n_classes == 2
    x = "mean score" if binary else "confidence of the top class"
    y = (
        f"share of class {cut_name(evaluation.data.classes[-1])}"
        if binary
        else "share that is right"
    )
    across = encode_number("confidence", title=x, scale=UNIT)
    panel = {
        **SQUARE,
        "layer": [
            DIAGONAL,
            {
                "mark": {"type": "rule", "color": BLUE, "strokeWidth": 2},
                "encoding": {
                    **SAID,
                    "x": across,
                    "y": encode_number("low", title=y, scale=UNIT),
                    "y2": {"field": "high"},
                },
            },
            {
                "mark": {"type": "point", "filled": True, "color": BLUE, "opacity": 1},
                "encoding": {
                    "x": across,
                    "y": encode_number("right", title=y, scale=UNIT),
                    "size": encode_number("share", scale={"range": [20, 200]}, legend=None),
                    **SAID,
                },
            },
        ],
    }
    words = (
        f"Reliability of {len(names)} models: {y} against {x}, with intervals; larger points "
        "hold more rows, points below the diagonal are overconfident."
    )
    return Plot("Reliability", facet_by_model(rows, names, panel, _describe_bin), rows, words)


def _describe_class(evaluation: BaseEvaluation, k: int) -> str:
    return f"class {cut_name(evaluation.data.classes[k])} against the rest"


def _describe_bin(row: dict[str, Any]) -> str:
    return (
        f"{row['model']} at {row['confidence']:.2f}: {row['right']:.3f} ({row['low']:.3f} to "
        f"{row['high']:.3f}), {row['share']:.1%} of rows"
    )


def _draw_panels(
    rows: list[dict[str, Any]],
    x: str,
    y: str,
    names: list[str],
    title: str,
    against: str,
    diagonal: bool = False,
) -> Plot:
    vertical = {"title": y.replace("_", " "), "scale": UNIT}
    across = encode_number(x, title=x.replace("_", " "), scale=UNIT)
    panel = {
        **SQUARE,
        "layer": [
            *([DIAGONAL] if diagonal else []),
            {
                "mark": {"type": "area", "color": BLUE, "opacity": 0.25},
                "encoding": {
                    "x": across,
                    "y": encode_number("low", **vertical),
                    "y2": {"field": "high"},
                },
            },
            {
                "mark": {"type": "line", "color": BLUE, "strokeWidth": 2},
                "encoding": {
                    "x": across,
                    "y": encode_number(y, **vertical),
                    "tooltip": [encode_names("model"), *map(encode_number, (x, y, "low", "high"))],
                },
            },
        ],
    }
    words = f"{title} of {len(names)} models with bands, {against}."
    return Plot(title, facet_by_model(rows, names, panel), rows, words)
