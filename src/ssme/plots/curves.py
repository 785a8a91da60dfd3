"""ROC, precision-recall and reliability curves with bands, one small panel per model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ssme.errors import InputError
from ssme.plots.display import (
    BLUE,
    GREY,
    SAID,
    VERMILION,
    Plot,
    Spec,
    cut_name,
    encode_data,
    encode_names,
    encode_number,
    facet_by_model,
)
from ssme.results import curves
from ssme.results.plan import LabelPlan

if TYPE_CHECKING:
    from ssme.results.evaluation import Evaluation

CURVE_PANELS = 9
"""Models drawn, one panel each, where none are named."""
UNIT: Spec = {"domain": [0, 1]}
SQUARE: Spec = {"width": 190, "height": 190}
DIAGONAL: Spec = {
    "data": {"values": [{}]},
    "mark": {"type": "rule", "color": GREY, "strokeDash": [4, 3]},
    "encoding": {"x": {"datum": 0}, "y": {"datum": 0}, "x2": {"datum": 1}, "y2": {"datum": 1}},
}


def draw_roc(evaluation: Evaluation, names: list[str], group: str, class_name: Any) -> Plot:
    """True positive rate over false positive rate; on the dashed diagonal, scores say nothing."""
    k = evaluation.class_index(class_name)
    rows = curves.estimate_roc(evaluation, group, k, names)
    x, y = "false_positive_rate", "true_positive_rate"
    return _draw_panels(
        rows, x, y, names, "ROC curves", _describe_class(evaluation, k), diagonal=True
    )


def draw_precision_recall(
    evaluation: Evaluation, names: list[str], group: str, class_name: Any
) -> Plot:
    """Precision over recall."""
    k = evaluation.class_index(class_name)
    rows = curves.estimate_precision_recall(evaluation, group, k, names)
    title, against = "Precision-recall curves", _describe_class(evaluation, k)
    return _draw_panels(rows, "recall", "precision", names, title, against)


def draw_reliability(evaluation: Evaluation, names: list[str], group: str) -> Plot:
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


def _describe_class(evaluation: Evaluation, k: int) -> str:
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


# -------------------------------------------------------------------------------------------------
# Matrices and shapes: confusion, agreement and error correlation, densities, convergence.


HEATMAP_PANELS = 6
"""Models drawn, one panel each, where none are named."""
WRITTEN = 12
"""Rows and columns up to which the numbers are written into the cells."""


SLANTED = -40
"""Degrees of names that would overlap if written level."""
LEVEL_NAME = 5
"""Characters of a name that fit under a column."""


def draw_confusion(evaluation: Evaluation, names: list[str], group: str) -> Plot:
    """Where each true class is predicted, as a share of the true class."""
    rows = curves.estimate_confusion(evaluation, group, names)
    classes = [str(name) for name in evaluation.data.classes]
    step = {"step": 46 if len(classes) <= 4 else 26}
    panel = {
        "width": step,
        "height": step,
        "encoding": {
            "x": encode_names(
                "predicted", sort=classes, axis={"labelAngle": _choose_angle(classes)}
            ),
            "y": encode_names("true", sort=classes),
            **SAID,
        },
        "layer": _draw_cells("within_true", "share of the true class", len(classes), ".0%"),
    }
    diagonal = [row for row in rows if row["true"] == row["predicted"]]
    worst = min(diagonal, key=lambda row: row["within_true"])
    words = (
        f"Estimated confusion matrices of {len(names)} models over {len(classes)} classes. The "
        f"lowest recall is {worst['within_true']:.0%}, of "
        f"{cut_name(worst['model'])} on {cut_name(worst['true'])}."
    )
    return Plot(
        "Confusion matrices", facet_by_model(rows, names, panel, _describe_cell), rows, words
    )


def draw_agreement(evaluation: Evaluation, names: list[str], group: str) -> Plot:
    """How often two models decide alike, and whether they err on the same rows."""
    found = curves.estimate_agreement(evaluation, group, names)
    rows = [row for row in found if row["model"] != row["other"]]
    common = {
        "width": {"step": 34},
        "height": {"step": 26},
        "encoding": {
            "x": encode_names("other", sort=names, title=None, axis={"labelAngle": SLANTED}),
            "y": encode_names("model", sort=names, title=None),
            **SAID,
        },
    }
    maps = (
        ("agree", "same decision", ".0%"),
        ("error_correlation", "correlation of errors", ".2f"),
    )
    body = {
        "data": encode_data(rows, _describe_pair),
        "hconcat": [
            {**common, "title": title, "layer": _draw_cells(value, title, len(names), form)}
            for value, title, form in maps
        ],
        "resolve": {"scale": {"color": "independent"}},
    }
    words = f"Agreement and correlation of errors of {len(names)} models."
    defined = [row for row in rows if row["error_correlation"] == row["error_correlation"]]
    if defined:
        top = max(defined, key=lambda row: row["error_correlation"])
        words += (
            f" The errors of {cut_name(top['model'])} and {cut_name(top['other'])} are the most "
            f"alike: {top['error_correlation']:.2f}; they agree on {top['agree']:.0%} of rows."
        )
    return Plot("Agreement of the models", body, rows, words)


def draw_densities(evaluation: Evaluation, names: list[str], group: str, class_name: Any) -> Plot:
    """Scores by class: how many rows each class has at each score, by the fitted posterior."""
    k = evaluation.class_index(class_name)
    positive = str(evaluation.data.classes[k])
    title = f"score of class {cut_name(positive)}"
    classes = [f"not {positive}", positive]
    rows = _sum_up(
        {**row, "class": positive if row["class"] == positive else classes[0]}
        for row in curves.estimate_densities(evaluation, group, k, names)
    )
    colors = {"domain": classes, "range": [VERMILION, BLUE]}
    dashes = {"domain": classes, "range": [[5, 3], [1, 0]]}
    panel = {
        "width": 200,
        "height": 130,
        "mark": {"type": "line", "interpolate": "step", "strokeWidth": 2, "aria": False},
        "encoding": {
            "x": encode_number("middle", title=title, scale={"domain": [0, 1]}),
            "y": encode_number("share", title="share of rows"),
            "color": encode_names("class", scale=colors),
            "strokeDash": encode_names("class", scale=dashes),
            "tooltip": [
                *map(encode_names, ("model", "class")),
                *map(encode_number, ("from", "to", "share")),
            ],
        },
    }
    body = facet_by_model(rows, names, panel, resolve={"scale": {"y": "independent"}})
    words = f"Scores of {len(names)} models by class, as the method splits the unlabeled rows."
    return Plot("Scores by class", body, rows, words)


def draw_convergence(evaluation: Evaluation) -> Plot:
    """The fit's objective step by step."""
    rows = curves.read_convergence(evaluation)
    fits = list(dict.fromkeys(row["fit"] for row in rows))
    encoding = {
        "x": encode_number("step"),
        "y": encode_number("objective", scale={"zero": False}),
    }
    if len(fits) > 1:
        encoding["color"] = encoding["strokeDash"] = encode_names("fit", sort=fits, title=None)
    body = {
        "data": encode_data(rows),
        "width": 420,
        "height": 200,
        "mark": {"type": "line", "strokeWidth": 2},
        "encoding": encoding,
    }
    last = rows[-1]
    words = f"The objective over {last['step']} steps, ending at {last['objective']:.4g}."
    return Plot("Convergence", body, rows, words)


def _choose_angle(names: list[str]) -> int:
    """Level while the names fit under their columns, else slanted."""
    return 0 if max(map(len, names)) <= LEVEL_NAME else SLANTED


def _describe_cell(row: dict[str, Any]) -> str:
    return (
        f"{row['model']}: {row['within_true']:.1%} of true {row['true']} are predicted "
        f"{row['predicted']}"
    )


def _describe_pair(row: dict[str, Any]) -> str:
    return (
        f"{row['model']} and {row['other']}: same decision on {row['agree']:.1%} of rows, "
        f"correlation of errors {row['error_correlation']:.2f}"
    )


def _draw_cells(value: str, title: str, size: int, form: str) -> list[Spec]:
    """Colored squares with their numbers while these fit, else with a legend."""
    scale = {"scheme": "blues", "domain": [0, 1], "clamp": True}
    legend = {"title": title} if size > WRITTEN else None
    squares = {
        "mark": "rect",
        "encoding": {"color": encode_number(value, scale=scale, legend=legend)},
    }
    if legend is not None:
        return [squares]
    ink = {"condition": {"test": f"datum.{value} > 0.55", "value": "#ffffff"}, "value": "#111111"}
    text = {"text": encode_number(value, format=form), "color": ink}
    return [squares, {"mark": {"type": "text", "fontSize": 10}, "encoding": text}]


def _sum_up(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows with equal model, class and bin added up."""
    total: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in rows:
        key = (row["model"], row["class"], row["from"])
        if key in total:
            total[key]["share"] += row["share"]
        else:
            total[key] = dict(row)
    return list(total.values())


# -------------------------------------------------------------------------------------------------
# Curves of a project: estimates over time, and what a number of labels brings.


SHOWN = 8
"""Models drawn; a picture of more can no longer be read."""


def draw_history(rows: Sequence[dict[str, Any]]) -> Plot:
    """One metric of every model over the evaluations of a memory (`trace_estimates`)."""
    if not rows:
        raise InputError("there are no evaluations to draw", hint="add one with `ssme track add`")
    metric = str(rows[0]["metric"])
    models = list(dict.fromkeys(str(row["model"]) for row in rows))[:SHOWN]
    shown = [dict(row) for row in rows if row["model"] in models]
    order = [str(n) for n in dict.fromkeys(row["evaluation"] for row in shown)]
    for row in shown:
        row["run"] = str(row["evaluation"])
    x = encode_names("run", sort=order, title="evaluation")
    spec = {
        "width": 160,
        "height": 140,
        "encoding": {"x": x, **SAID},
        "layer": [
            {
                "mark": {"type": "rule", "strokeWidth": 2, "color": BLUE},
                "encoding": {
                    "y": encode_number("low", title=metric, scale={"zero": False}),
                    "y2": {"field": "high"},
                },
            },
            {
                "mark": {"type": "point", "filled": True, "size": 60, "color": BLUE, "opacity": 1},
                "encoding": {"y": encode_number("estimate", title=metric, scale={"zero": False})},
            },
        ],
    }

    def describe_row(row: dict[str, Any]) -> str:
        return f"{row['model']}, evaluation {row['run']}: {row['estimate']:.3f}"

    first, last = rows[0], rows[-1]
    alt = (
        f"{metric} of {len(models)} models over {len(order)} evaluations, from {first['labels']} "
        f"to {last['labels']} labels."
    )
    return Plot(
        f"How {metric} tightened", facet_by_model(shown, models, spec, describe_row), shown, alt
    )


def draw_plan(plan: LabelPlan) -> Plot:
    """The share of simulations that meet the target, by the number of labels."""
    rows = [{"labels": s.labels, "value": s.value, "met": s.met} for s in plan.curve]
    if len(rows) < 2:
        raise InputError("the plan needs no labels, so that there is nothing to draw")
    x = encode_number("labels", title="labels in all", scale={"type": "log", "nice": False})
    body = {
        "data": encode_data(
            rows, lambda row: f"{row['labels']} labels: {row['met']:.0%} meet the target"
        ),
        "width": 300,
        "height": 180,
        "encoding": {"x": x, **SAID},
        "layer": [
            {
                "mark": {"type": "line", "color": GREY},
                "encoding": {"y": encode_number("met", title="share of simulations")},
            },
            {
                "mark": {"type": "point", "filled": True, "size": 50, "color": BLUE, "opacity": 1},
                "encoding": {"y": encode_number("met", title="share of simulations")},
            },
        ],
    }
    return Plot(f"Labels for {plan.target}", body, rows, plan.sentence())
