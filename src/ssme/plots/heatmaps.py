"""Matrices and shapes: confusion, agreement and error correlation, densities, convergence."""

from __future__ import annotations

from typing import Any

from ssme.plots.display import BLUE, NAME_LIMIT, VERMILION, Plot, altair, data
from ssme.plots.intervals import best_models
from ssme.results import curves
from ssme.results.evaluation import ALL, Evaluation

__all__ = ["agreement", "confusion", "convergence", "densities"]

PANELS = 6
WRITTEN = 12
"""Rows and columns up to which the numbers are written into the cells."""


def confusion(
    evaluation: Evaluation, *, group: str = ALL, limit: int = PANELS, models: Any = None
) -> Plot:
    """Where each true class is predicted, as a share of the true class."""
    alt = altair()
    names = best_models(evaluation, evaluation.metrics[0], limit, models)
    rows = curves.confusion(evaluation, group, names)
    classes = [str(name) for name in evaluation.data.classes]
    base = alt.Chart(data(rows)).encode(
        x=alt.X("predicted:N", sort=classes, title="predicted", axis=alt.Axis(labelAngle=0)),
        y=alt.Y("true:N", sort=classes, title="true"),
        tooltip=["model:N", "true:N", "predicted:N", "within_true:Q", "share:Q"],
    )
    step = 46 if len(classes) <= 4 else 26
    cells = _cells(base, "within_true", "share of the true class", len(classes), percent=True)
    chart = cells.properties(width=alt.Step(step), height=alt.Step(step)).facet(
        facet=alt.Facet("model:N", sort=names, title=None), columns=3
    )
    diagonal = [row for row in rows if row["true"] == row["predicted"]]
    worst = min(diagonal, key=lambda row: row["within_true"])
    words = (
        f"Estimated confusion matrices of {len(names)} models over {len(classes)} classes. The "
        f"lowest recall is {worst['within_true']:.0%}, of {worst['model']} on {worst['true']}."
    )
    return Plot("Confusion matrices", chart, rows, words)


def agreement(evaluation: Evaluation, *, group: str = ALL, limit: int = 20) -> Plot:
    """How often two models decide alike, and whether they err on the same rows."""
    alt = altair()
    names = best_models(evaluation, evaluation.metrics[0], limit, None)
    found = curves.agreement(evaluation, group, names)
    rows = [row for row in found if row["model"] != row["other"]]
    base = alt.Chart(data(rows)).encode(
        x=alt.X("other:N", sort=names, title=None, axis=alt.Axis(labelAngle=-40, labelLimit=110)),
        y=alt.Y("model:N", sort=names, title=None, axis=alt.Axis(labelLimit=NAME_LIMIT)),
        tooltip=["model:N", "other:N", "agree:Q", "error_correlation:Q"],
    )
    size = {"width": alt.Step(34), "height": alt.Step(26)}
    left = _cells(base, "agree", "same decision", len(names), percent=True).properties(
        title="same decision", **size
    )
    right = _cells(base, "error_correlation", "correlation of errors", len(names)).properties(
        title="correlation of errors", **size
    )
    chart = alt.hconcat(left, right).resolve_scale(color="independent")
    defined = [row for row in rows if row["error_correlation"] == row["error_correlation"]]
    words = f"Agreement and correlation of errors of {len(names)} models."
    if defined:
        top = max(defined, key=lambda row: row["error_correlation"])
        words += (
            f" The errors of {top['model']} and {top['other']} are the most alike: "
            f"{top['error_correlation']:.2f}; they agree on {top['agree']:.0%} of rows."
        )
    return Plot("Agreement of the models", chart, rows, words)


def densities(
    evaluation: Evaluation,
    *,
    group: str = ALL,
    class_name: Any = None,
    limit: int = PANELS,
    models: Any = None,
) -> Plot:
    """Scores by class: how many rows each class has at each score, by the fitted posterior."""
    alt = altair()
    names = best_models(evaluation, evaluation.metrics[0], limit, models)
    k = evaluation.class_index(class_name)
    rows = curves.class_densities(evaluation, group, k, names)
    classes = [str(name) for name in evaluation.data.classes]
    positive = classes[k]
    if len(classes) > 2 or k == 0:
        for row in rows:
            row["class"] = positive if row["class"] == positive else f"not {positive}"
        rows = _summed(rows)
        classes = [f"not {positive}", positive]
    colors = alt.Scale(domain=classes, range=[VERMILION, BLUE])
    chart = (
        alt.Chart(data(rows))
        .mark_line(interpolate="step", strokeWidth=2)
        .encode(
            x=alt.X("middle:Q", title=f"score of class {positive}", scale=alt.Scale(domain=[0, 1])),
            y=alt.Y("share:Q", title="share of rows"),
            color=alt.Color("class:N", scale=colors, title="class"),
            strokeDash=alt.StrokeDash(
                "class:N", scale=alt.Scale(domain=classes, range=[[5, 3], [1, 0]]), title="class"
            ),
            tooltip=["model:N", "class:N", "from:Q", "to:Q", "share:Q"],
        )
        .properties(width=200, height=130)
        .facet(facet=alt.Facet("model:N", sort=names, title=None), columns=3)
        .resolve_scale(y="independent")
    )
    words = f"Scores of {len(names)} models by class, as the method splits the unlabeled rows."
    return Plot("Scores by class", chart, rows, words)


def convergence(evaluation: Evaluation) -> Plot:
    """The fit's objective step by step."""
    alt = altair()
    rows = curves.convergence(evaluation)
    fits = list(dict.fromkeys(row["fit"] for row in rows))
    base = alt.Chart(data(rows)).encode(
        x=alt.X("step:Q", title="step"),
        y=alt.Y("objective:Q", title="objective", scale=alt.Scale(zero=False)),
    )
    if len(fits) > 1:
        base = base.encode(
            color=alt.Color("fit:N", sort=fits, title=None),
            strokeDash=alt.StrokeDash("fit:N", sort=fits, title=None),
        )
    chart = base.mark_line(strokeWidth=2).properties(width=420, height=200)
    last = rows[-1]
    words = f"The objective over {last['step']} steps, ending at {last['objective']:.4g}."
    return Plot("Convergence", chart, rows, words)


def _cells(base: Any, value: str, title: str, size: int, percent: bool = False) -> Any:
    """Colored squares with their numbers while these fit."""
    alt = altair()
    scale = alt.Scale(scheme="blues", domain=[0, 1], clamp=True)
    legend = alt.Legend(title=title) if size > WRITTEN else None
    squares = base.mark_rect().encode(color=alt.Color(f"{value}:Q", scale=scale, legend=legend))
    if legend is not None:
        return squares
    numbers = base.mark_text(fontSize=10).encode(
        text=alt.Text(f"{value}:Q", format=".0%" if percent else ".2f"),
        color=alt.condition(f"datum.{value} > 0.55", alt.value("#ffffff"), alt.value("#111111")),
    )
    return squares + numbers


def _summed(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows with equal model, class and bin added up."""
    total: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in rows:
        key = (row["model"], row["class"], row["from"])
        if key in total:
            total[key]["share"] += row["share"]
        else:
            total[key] = dict(row)
    return list(total.values())
