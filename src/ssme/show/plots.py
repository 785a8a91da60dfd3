"""Every picture of an evaluation: ``r.plot.<name>()``; statistics come from `ssme.results`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ssme.errors import InputError
from ssme.results import curves
from ssme.results.groups import ALL, compute_badness, order_by_estimate, order_groups
from ssme.results.plan import LabelPlan
from ssme.show.plot import (
    BLUE,
    GREEN,
    GREY,
    MARK_WORDS,
    VERMILION,
    Plot,
    Spec,
    cut_name,
    draw_intervals,
    encode_data,
    encode_names,
    encode_number,
    facet_by_model,
)
from ssme.show.sections import format_percent

if TYPE_CHECKING:
    from ssme.results.evaluation import Evaluation

SHOWN_MODELS = 20
"""Models drawn where none are named; a picture of more can no longer be read."""
SHOWN_GROUPS = 20
"""Groups drawn where there are more; the table has all."""
CURVE_PANELS = 9
HEATMAP_PANELS = 6
"""Models drawn, one panel each, where none are named."""
HISTORY_PANELS = 8
WRITTEN = 12
"""Rows and columns of a matrix up to which the numbers are written into the cells."""
SLANTED = -40
"""Degrees of names that would overlap if written level."""
LEVEL_NAME = 5
"""Characters of a name that fit under a column."""

UNIT: Spec = {"domain": [0, 1]}
SQUARE: Spec = {"width": 190, "height": 190}
DIAGONAL: Spec = {
    "data": {"values": [{}]},
    "mark": {"type": "rule", "color": GREY, "strokeDash": [4, 3]},
    "encoding": {"x": {"datum": 0}, "y": {"datum": 0}, "x2": {"datum": 1}, "y2": {"datum": 1}},
}
LOOK = {
    "estimate": (BLUE, "circle"),
    "labels only": (GREY, "diamond"),
    "truth": (VERMILION, "cross"),
}

BIN = "{model} at {confidence:.2f}: {right:.3f} ({low:.3f} to {high:.3f}), {share:.1%} of rows"
CELL = "{model}: {within_true:.1%} of true {true} are predicted {predicted}"
PAIR = (
    "{model} and {other}: same decision on {agree:.1%} of rows, correlation of errors "
    "{error_correlation:.2f}"
)
"""Words of a mark: of a point, of a cell of a matrix and of a pair of models."""

Models = str | Sequence[str] | None
"""One model, several, or None for the best ones."""
Truth = Mapping[str, Mapping[str, float]]
"""metric -> model -> value, for those who know it."""
Row = dict[str, Any]


@dataclass(frozen=True, eq=False, repr=False)
class Plots:
    """The pictures of an evaluation; calling it draws the estimates.

    Every method returns a `Plot`, which has ``save(path)``, ``frame()`` for the numbers drawn,
    ``alt`` for the picture in words and ``chart`` for an altair chart to change.

    Parameters
    ----------
    evaluation : Evaluation
        What is drawn.

    Examples
    --------
    >>> import ssme
    >>> scores = {"a": [0.9, 0.8, 0.3, 0.2], "b": [0.4, 0.6, 0.7, 0.5]}
    >>> r = ssme.evaluate(scores, [1, None, 0, None], method="ensemble", metrics="accuracy")
    >>> r.plot.ranking().title
    'Who is best in accuracy'
    >>> r.plot.roc(models="a").frame()["model"].unique().tolist()
    ['a']
    """

    evaluation: Evaluation

    def __call__(self, **options: Any) -> Plot:
        return self.estimates(**options)

    def __repr__(self) -> str:
        names = [name for name in dir(type(self)) if not name.startswith("_")]
        return f"Plots: {', '.join(names)}"

    def estimates(
        self, *, group: str = ALL, limit: int = SHOWN_MODELS, truth: Truth | None = None
    ) -> Plot:
        """Every metric of every model with its interval, next to what labels alone say.

        Parameters
        ----------
        group : str
            Draw the rows of this group (default "all").
        limit : int
            The largest number of models drawn.
        truth : mapping of metric -> model -> float, optional
            True values to draw as well, where they are known.
        """
        parts = [
            draw_metric(self.evaluation, metric.name, group=group, limit=limit, truth=truth)
            for metric in self.evaluation.metrics
        ]
        return Plot(
            f"Estimates with {self.evaluation.level * 100:g}% intervals",
            {"concat": [{"title": part.title, **part.body} for part in parts], "columns": 2},
            [row for part in parts for row in part.rows],
            " ".join(part.alt for part in parts),
        )

    def groups(
        self,
        metric: str | None = None,
        *,
        limit: int = 8,
        models: Models = None,
        most_groups: int = SHOWN_GROUPS,
    ) -> Plot:
        """One metric in every group, the worst first, one panel per model, below all rows.

        Parameters
        ----------
        metric : str, optional
            The metric (default: the first one).
        limit : int
            The largest number of models drawn.
        models : str or sequence of str, optional
            Draw these models (default: the best ones).
        most_groups : int
            Largest number of groups drawn, the worst ones.
        """
        metric = self.evaluation.metrics[0].name if metric is None else metric
        chosen, names = self.evaluation.find_metric(metric), self._choose(limit, models, metric)
        order = order_groups(self.evaluation, metric)
        shown = [ALL, *order[:most_groups]]
        rows = [
            {
                **{k: row[k] for k in ("model", "group", "low", "high", "n_labeled")},
                "value": row["estimate"],
                # a value of labels alone that is that of all rows is not drawn
                "labels_only": row["labels_only"]
                if row["group"] == ALL or row["labels_only_from"] == "group"
                else math.nan,
            }
            for row in self.evaluation.rows(metric)
            if row["model"] in names and row["group"] in shown
        ]
        both = [*rows, *({**row, "value": row["labels_only"]} for row in rows)]
        x = {"title": metric, "scale": _choose_scale(both)}  # a longer one does not fit the panels
        line, point = draw_intervals("x", "value", x)
        alone = {
            "mark": {"type": "point", "size": 60, "shape": "diamond", "color": GREY},
            "encoding": {"x": encode_number("labels_only", **x)},
        }
        panel = {
            "width": 200,
            "height": {"step": 20},
            "encoding": {"y": encode_names("group", sort=shown, title=None), **MARK_WORDS},
            "layer": [line, alone, point],
        }
        words = f"{metric} by group for {len(names)} models; diamonds are labels alone."
        defined = [row for row in rows if not math.isnan(row["value"])]
        worst = min(defined, key=lambda row: compute_badness(row["value"], chosen), default=None)
        if worst is not None and worst["group"] != ALL:
            words += f" The worst is {cut_name(worst['model'])} on {cut_name(worst['group'])}: "
            words += f"{worst['value']:.3f}."
        title = f"{metric} ({chosen.direction}) by group, the worst first; "
        title += "diamonds are labels alone"
        if len(order) > most_groups:
            title += f"; the worst {most_groups} of {len(order)} groups"
            words += f" The worst {most_groups} of {len(order)} groups are shown."
        body = facet_by_model(encode_data(rows, _describe_group), names, panel)
        return Plot(title, body, rows, words)

    def ranking(
        self, metric: str | None = None, *, group: str = ALL, limit: int = SHOWN_MODELS
    ) -> Plot:
        """The probability of each model to be the best.

        Parameters
        ----------
        metric : str, optional
            The metric (default: the first one).
        group : str
            Draw the rows of this group (default "all").
        limit : int
            The largest number of models drawn.
        """
        metric = self.evaluation.metrics[0].name if metric is None else metric
        ranking = self.evaluation.ranking(metric, group)
        rows = [dict(vars(row)) for row in ranking.rows[:limit]]
        written = [
            {**row, "text": "" if math.isnan(row["p_best"]) else format_percent(row["p_best"])}
            for row in rows
        ]
        axis = {"tickCount": 5, "format": ".0%"}
        best = encode_number("p_best", title="probability of being best", scale=UNIT, axis=axis)
        body = {
            "data": encode_data(written),
            "width": 300,
            "height": {"step": 20},
            "encoding": {"y": _encode_models([row["model"] for row in rows]), "x": best},
            "layer": [
                {"mark": {"type": "bar", "color": GREEN, "height": 12}},
                {
                    "mark": {"type": "text", "align": "left", "dx": 4, "color": GREY},
                    "encoding": {"text": encode_names("text")},
                },
            ],
        }
        first = "; ".join(
            f"{cut_name(row['model'])} {row['p_best']:.0%}"
            for row in rows[:5]
            if row["p_best"] >= 0.0
        )
        words = f"Probability of being best: {first}." if first else ""
        words = " ".join([words or "The method gives no probabilities.", *ranking.remarks])
        return Plot(f"Who is best in {metric}", body, rows, words)

    def roc(
        self,
        *,
        group: str = ALL,
        class_name: Any = None,
        limit: int = CURVE_PANELS,
        models: Models = None,
    ) -> Plot:
        """ROC curves with bands; on the dashed diagonal, scores say nothing.

        Parameters
        ----------
        group : str
            Draw the rows of this group (default "all").
        class_name : object, optional
            The class that is drawn against all others (default: the positive one of two,
            the last one of more).
        limit : int
            The largest number of models drawn where ``models`` names none.
        models : str or sequence of str, optional
            Draw these models (default: the best ones).
        """
        k, names = self.evaluation.class_index(class_name), self._choose(limit, models)
        rows = curves.estimate_roc(self.evaluation, group, k, names)
        axes = "false_positive_rate", "true_positive_rate"
        return self._draw_curves("ROC curves", rows, axes, names, k, [DIAGONAL])

    def precision_recall(
        self,
        *,
        group: str = ALL,
        class_name: Any = None,
        limit: int = CURVE_PANELS,
        models: Models = None,
    ) -> Plot:
        """Precision-recall curves with bands.

        Parameters
        ----------
        group, class_name, limit, models
            As in `roc`.
        """
        k, names = self.evaluation.class_index(class_name), self._choose(limit, models)
        rows = curves.estimate_precision_recall(self.evaluation, group, k, names)
        return self._draw_curves("Precision-recall curves", rows, ("recall", "precision"), names, k)

    def reliability(
        self, *, group: str = ALL, limit: int = CURVE_PANELS, models: Models = None
    ) -> Plot:
        """How often rows of each confidence are right; on the diagonal, scores are calibrated.

        Parameters
        ----------
        group, limit, models
            As in `roc`.
        """
        names, data = self._choose(limit, models), self.evaluation.data
        rows = curves.estimate_reliability(self.evaluation, group, names)
        x, y = "confidence of the top class", "share that is right"
        if data.n_classes == 2:
            x, y = "mean score", f"share of class {cut_name(data.classes[-1])}"
        across = encode_number("confidence", title=x, scale=UNIT)
        size = encode_number("share", scale={"range": [20, 200]}, legend=None)
        panel = {
            **SQUARE,
            "layer": [
                DIAGONAL,
                *(
                    {**layer, "encoding": {**layer["encoding"], "x": across, **MARK_WORDS}}
                    for layer in draw_intervals(
                        "y", "right", {"title": y, "scale": UNIT}, size=size
                    )
                ),
            ],
        }
        words = (
            f"Reliability of {len(names)} models: {y} against {x}, with intervals; larger points "
            "contain more rows, points below the diagonal are overconfident."
        )
        body = facet_by_model(encode_data(rows, BIN.format_map), names, panel)
        return Plot("Reliability", body, rows, words)

    def densities(
        self,
        *,
        group: str = ALL,
        class_name: Any = None,
        limit: int = HEATMAP_PANELS,
        models: Models = None,
    ) -> Plot:
        """The scores of each class, as the method splits the unlabeled rows.

        Parameters
        ----------
        group, class_name, limit, models
            As in `roc`.
        """
        k, names = self.evaluation.class_index(class_name), self._choose(limit, models)
        positive = str(self.evaluation.data.classes[k])
        classes = [f"not {positive}", positive]
        binned: dict[tuple[Any, ...], Row] = {}  # the other classes are added up
        for row in curves.estimate_densities(self.evaluation, group, k, names):
            name = positive if row["class"] == positive else classes[0]
            total = binned.setdefault(
                (row["model"], name, row["from"]), {**row, "class": name, "share": 0.0}
            )
            total["share"] += row["share"]
        rows = list(binned.values())
        colors = {"domain": classes, "range": [VERMILION, BLUE]}
        dashes = {"domain": classes, "range": [[5, 3], [1, 0]]}
        title = f"score of class {cut_name(positive)}"
        panel = {
            "width": 200,
            "height": 130,
            "mark": {"type": "line", "interpolate": "step", "strokeWidth": 2, "aria": False},
            "encoding": {
                "x": encode_number("middle", title=title, scale=UNIT),
                "y": encode_number("share", title="share of rows"),
                "color": encode_names("class", scale=colors),
                "strokeDash": encode_names("class", scale=dashes),
                "tooltip": [
                    *map(encode_names, ("model", "class")),
                    *map(encode_number, ("from", "to", "share")),
                ],
            },
        }
        independent = {"scale": {"y": "independent"}}
        body = facet_by_model(encode_data(rows), names, panel, resolve=independent)
        words = f"Scores of {len(names)} models by class, as the method splits the unlabeled rows."
        return Plot("Scores by class", body, rows, words)

    def confusion(
        self, *, group: str = ALL, limit: int = HEATMAP_PANELS, models: Models = None
    ) -> Plot:
        """How often each true class is predicted as each class, as a share of the true class.

        Parameters
        ----------
        group, limit, models
            As in `roc`.
        """
        names = self._choose(limit, models)
        rows = curves.estimate_confusion(self.evaluation, group, names)
        classes = [str(name) for name in self.evaluation.data.classes]
        step = {"step": 46 if len(classes) <= 4 else 26}
        angle = 0 if max(map(len, classes)) <= LEVEL_NAME else SLANTED
        panel = {
            "width": step,
            "height": step,
            "encoding": {
                "x": encode_names("predicted", sort=classes, axis={"labelAngle": angle}),
                "y": encode_names("true", sort=classes),
                **MARK_WORDS,
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
        body = facet_by_model(encode_data(rows, CELL.format_map), names, panel)
        return Plot("Confusion matrices", body, rows, words)

    def agreement(
        self, *, group: str = ALL, limit: int = SHOWN_MODELS, models: Models = None
    ) -> Plot:
        """Which models make the same decisions, and which err on the same rows.

        Parameters
        ----------
        group, limit, models
            As in `roc`.
        """
        names = self._choose(limit, models)
        pairs = curves.estimate_agreement(self.evaluation, group, names)
        rows = [row for row in pairs if row["model"] != row["other"]]
        common = {
            "width": {"step": 34},
            "height": {"step": 26},
            "encoding": {
                "x": encode_names("other", sort=names, title=None, axis={"labelAngle": SLANTED}),
                "y": _encode_models(names),
                **MARK_WORDS,
            },
        }
        maps = (
            ("agree", "same decision", ".0%"),
            ("error_correlation", "correlation of errors", ".2f"),
        )
        body = {
            "data": encode_data(rows, PAIR.format_map),
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
                f" The errors of {cut_name(top['model'])} and {cut_name(top['other'])} are the "
                f"most similar: {top['error_correlation']:.2f}; they agree on "
                f"{top['agree']:.0%} of rows."
            )
        return Plot("Agreement of the models", body, rows, words)

    def convergence(self) -> Plot:
        """The objective of the fit step by step, for methods that keep it."""
        rows = curves.read_convergence(self.evaluation)
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

    def _choose(self, limit: int, models: Models, metric: str | None = None) -> list[str]:
        """The ``models`` named, or the ``limit`` best ones by ``metric``."""
        names = [models] if isinstance(models, str) else list(models or ())
        for name in names:
            self.evaluation.model_index(name)
        if models is not None:
            return names
        order = order_by_estimate(self.evaluation, metric or self.evaluation.metrics[0].name)
        return [self.evaluation.data.models[j] for j in order[:limit]]

    def _draw_curves(
        self,
        title: str,
        rows: list[Row],
        axes: tuple[str, str],
        names: list[str],
        k: int,
        behind: Sequence[Spec] = (),
    ) -> Plot:
        x, y = axes
        vertical = {"title": y.replace("_", " "), "scale": UNIT}
        across = encode_number(x, title=x.replace("_", " "), scale=UNIT)
        band = {"x": across, "y": encode_number("low", **vertical), "y2": {"field": "high"}}
        line = {
            "x": across,
            "y": encode_number(y, **vertical),
            "tooltip": [encode_names("model"), *map(encode_number, (x, y, "low", "high"))],
        }
        layers = [
            *behind,
            {"mark": {"type": "area", "color": BLUE, "opacity": 0.25}, "encoding": band},
            {"mark": {"type": "line", "color": BLUE, "strokeWidth": 2}, "encoding": line},
        ]
        against = f"class {cut_name(self.evaluation.data.classes[k])} against the rest"
        words = f"{title} of {len(names)} models with bands, {against}."
        body = facet_by_model(encode_data(rows), names, {**SQUARE, "layer": layers})
        return Plot(title, body, rows, words)


# -------------------------------------------------------------------------------------------------
# Pictures of one metric, of a project and of a plan


def draw_metric(
    evaluation: Evaluation,
    metric: str,
    *,
    group: str = ALL,
    limit: int = SHOWN_MODELS,
    truth: Truth | None = None,
) -> Plot:
    """One metric of every model, best first, next to what labels alone say."""
    by_model = {row["model"]: row for row in evaluation.rows(metric, group)}
    models = [evaluation.data.models[j] for j in order_by_estimate(evaluation, metric, group)]
    return draw_rows(
        [by_model[model] for model in models],
        metric,
        f"{metric} ({evaluation.find_metric(metric).direction})",
        evaluation.level,
        where="" if group == ALL else f" on {group}",
        limit=limit,
        truth=(truth or {}).get(metric, {}),
    )


def draw_rows(
    found: Sequence[Row],
    metric: str,
    title: str,
    level: float,
    *,
    where: str = "",
    limit: int = SHOWN_MODELS,
    truth: Mapping[str, float] | None = None,
) -> Plot:
    """Rows of estimates of one ``metric`` in their order, next to what labels alone say."""
    models = [row["model"] for row in found]
    rows = [part for row in found[:limit] for part in _split_parts(row, truth or {})]
    kinds = [kind for kind in LOOK if any(row["kind"] == kind for row in rows)]
    colors = {"domain": kinds, "range": [LOOK[kind][0] for kind in kinds]}
    shapes = {"domain": kinds, "range": [LOOK[kind][1] for kind in kinds]}
    legend = {"title": None, "orient": "top"}
    x = {"title": title, "scale": _choose_scale(rows), "axis": {"tickCount": 6}}
    shape = encode_names("kind", sort=kinds, scale=shapes)
    body = {
        "data": encode_data(
            rows, lambda row: f"{row['model']}, {row['kind']}: {_describe_triple(row)}"
        ),
        "width": 300,
        "height": {"step": 14},
        "encoding": {
            "y": _encode_models(models[:limit]),
            "yOffset": encode_names("kind", sort=kinds),
            "color": encode_names("kind", sort=kinds, scale=colors, legend=legend),
            **MARK_WORDS,
        },
        "layer": draw_intervals("x", "value", x, color=None, shape=shape),
    }
    first = [
        f"{cut_name(row['model'])} {_describe_triple({**row, 'value': row['estimate']})}, labels "
        "alone " + ("undefined" if math.isnan(row["labels_only"]) else f"{row['labels_only']:.3f}")
        for row in found[: min(limit, 5)]
    ]
    more = f"; and {len(found) - len(first)} more models" if len(found) > len(first) else ""
    words = f"{metric}{where}, estimates with {level * 100:g}% intervals: "
    return Plot(metric, body, rows, f"{words}{'; '.join(first)}{more}.")


def draw_history(rows: Sequence[Row]) -> Plot:
    """One metric of every model over the evaluations of a memory (`trace_estimates`)."""
    if not rows:
        raise InputError("there are no evaluations to draw", hint="add one with `ssme track add`")
    metric = str(rows[0]["metric"])
    models = list(dict.fromkeys(str(row["model"]) for row in rows))[:HISTORY_PANELS]
    shown = [{**row, "run": str(row["evaluation"])} for row in rows if row["model"] in models]
    order = list(dict.fromkeys(row["run"] for row in shown))
    spec = {
        "width": 160,
        "height": 140,
        "encoding": {"x": encode_names("run", sort=order, title="evaluation"), **MARK_WORDS},
        "layer": draw_intervals("y", "estimate", {"title": metric, "scale": {"zero": False}}),
    }
    data = encode_data(shown, "{model}, evaluation {run}: {estimate:.3f}".format_map)
    words = (
        f"{metric} of {len(models)} models over {len(order)} evaluations, from "
        f"{rows[0]['labels']} to {rows[-1]['labels']} labels."
    )
    return Plot(f"How {metric} tightened", facet_by_model(data, models, spec), shown, words)


def draw_plan(plan: LabelPlan) -> Plot:
    """The share of simulations that meet the target, by the number of labels."""
    rows = [dict(vars(step)) for step in plan.curve]
    if len(rows) < 2:
        raise InputError("the plan needs no labels, so that there is nothing to draw")
    x = encode_number("labels", title="labels in all", scale={"type": "log", "nice": False})
    look = {"type": "point", "filled": True, "size": 50, "color": BLUE, "opacity": 1}
    body = {
        "data": encode_data(rows, "{labels} labels: {met:.0%} meet the target".format_map),
        "width": 300,
        "height": 180,
        "encoding": {"x": x, "y": encode_number("met", title="share of simulations"), **MARK_WORDS},
        "layer": [{"mark": {"type": "line", "color": GREY}}, {"mark": look}],
    }
    return Plot(f"Labels for {plan.target}", body, rows, plan.sentence())


# -------------------------------------------------------------------------------------------------
# Parts of pictures, and their marks in words


def _split_parts(row: Row, truth: Mapping[str, float]) -> list[Row]:
    """The marks of one model: its estimate, labels alone, and the truth where it is known."""
    triples = {
        "estimate": (row["estimate"], row["low"], row["high"]),
        "labels only": (row["labels_only"], row["labels_only_low"], row["labels_only_high"]),
    }
    if row["model"] in truth:
        triples["truth"] = (truth[row["model"]],) * 3
    common = {"metric": row["metric"], "model": row["model"]}
    return [
        {
            **common,
            "kind": kind,
            "value": value,
            "low": value if math.isnan(low) else low,
            "high": value if math.isnan(high) else high,
        }
        for kind, (value, low, high) in triples.items()
        if not math.isnan(value)
    ]


def _encode_models(order: Sequence[str]) -> Spec:
    return encode_names("model", sort=list(order), title=None)


def _choose_scale(rows: Sequence[Row]) -> Spec:
    """The range the numbers need, with a little room; not from zero, these are dots, not bars."""
    values = [v for row in rows for v in (row["low"], row["high"], row["value"]) if v == v]
    if not values:
        return UNIT
    low, high = min(values), max(values)
    room = 0.04 * (high - low) or 0.01
    return {"domain": [low - room, high + room], "nice": False, "zero": False}


def _draw_cells(value: str, title: str, size: int, form: str) -> list[Spec]:
    """Colored squares with their numbers while these fit, else with a legend."""
    scale = {"scheme": "blues", "domain": [0, 1], "clamp": True}
    legend = {"title": title} if size > WRITTEN else None
    color = encode_number(value, scale=scale, legend=legend)
    squares = {"mark": "rect", "encoding": {"color": color}}
    if legend is not None:
        return [squares]
    ink = {"condition": {"test": f"datum.{value} > 0.55", "value": "#ffffff"}, "value": "#111111"}
    text = {"text": encode_number(value, format=form), "color": ink}
    return [squares, {"mark": {"type": "text", "fontSize": 10}, "encoding": text}]


def _describe_triple(row: Row) -> str:
    if math.isnan(row["value"]):
        return "undefined"
    interval = "" if math.isnan(row["low"]) else f" ({row['low']:.3f} to {row['high']:.3f})"
    return f"{row['value']:.3f}{interval}"


def _describe_group(row: Row) -> str:
    alone = row["labels_only"]
    words = "do not determine it" if math.isnan(alone) else f"alone say {alone:.3f}"
    return (
        f"{row['model']} on {row['group']}: {_describe_triple(row)}; its {row['n_labeled']} labels "
        f"{words}"
    )
