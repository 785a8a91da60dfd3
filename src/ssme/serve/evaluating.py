"""An evaluation of a file with labels given by hand, written as a folder of results; in a worker.

    file + labels by hand --> ScoreSet --> Evaluation --> summary, pictures, CSV, report, config

The file's own labels count too; where both label a row, the one given by hand does.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from ssme.data.design import LabelRounds, find_rounds, make_design
from ssme.data.scoreset import ScoreSet
from ssme.errors import InputError
from ssme.memory.tracking import record_evaluation
from ssme.progress import tell
from ssme.report.charts import draw_charts
from ssme.report.html import render_html
from ssme.report.summary import summarize
from ssme.report.writing import can_draw
from ssme.results.evaluation import Evaluation
from ssme.results.plan import LabelPlan
from ssme.run import execute, read_scores
from ssme.spec import RunSpec
from ssme.writing import format_csv, write_text

__all__ = ["add_labels", "draw_report", "evaluate_file", "plan_further", "read_labeled"]

LABELS_FILE = "labels.csv"
"""The file of all labels, beside which the config can be run again."""


def read_labeled(spec: RunSpec, given: Sequence[Sequence[Any]]) -> tuple[ScoreSet, list[Any]]:
    """The scores that ``spec`` names with the labels ``given``, and rows that are not there.

    Parameters
    ----------
    spec : RunSpec
        How the file is read.
    given : list of (row, label, probability, round)
        Labels by the name of the row, or by its position where rows have no names. Rows of rounds
        that were drawn at random have no probability.
    """
    tell("reading the file", 0, 1)
    data = read_scores(spec)
    found = add_labels(data, given)
    tell("reading the file", 1, 1)
    return found


def add_labels(data: ScoreSet, given: Sequence[Sequence[Any]]) -> tuple[ScoreSet, list[Any]]:
    """``data`` with the labels ``given`` beside its own, and those rows that it does not have."""
    if not given:
        return data, []
    names = range(data.n_rows) if data.ids is None else data.ids.tolist()
    place = {name: number for number, name in enumerate(names)}
    values = data.label_values.copy()
    before = find_rounds(data.design, data.labels)
    chance, number = before.probability.copy(), before.number.copy()
    vanished = []
    for row, label, probability, drawn in given:
        if row not in place:
            vanished.append(row)
            continue
        at = place[row]
        values[at], number[at] = label, drawn
        chance[at] = np.nan if probability is None else probability
    labeled = data.with_labels(values)
    if np.isnan(chance[labeled.labeled]).all():
        return labeled, vanished
    return labeled.with_design(make_design(LabelRounds(chance, number), labeled.labels)), vanished


def evaluate_file(request: Mapping[str, Any], folder: Path) -> None:
    """Evaluate as ``request`` says and write the numbers that the pages show into ``folder``."""
    result, asked = _evaluate(request)
    summary = summarize(result, request["title"])
    record = replace(record_evaluation(result), spec=request["config"])
    files = {
        "summary.json": json.dumps(summary, indent=2, ensure_ascii=False),
        "estimates.csv": format_csv(list(result.rows())),
        "differences.json": json.dumps(_list_differences(result)),
        "facts.json": json.dumps(
            {"record": asdict(record), "vanished": result.settings["vanished"]}
        ),
        "config.toml": asked.to_text(".toml"),
        LABELS_FILE: _format_labels_csv(result.data),
    }
    for name, text in files.items():
        write_text(folder / name, text)


def draw_report(request: Mapping[str, Any], folder: Path) -> None:
    """The same evaluation once more, to the bit, with its pictures and its report."""
    result, _ = _evaluate(request)
    charts = draw_charts(result) if can_draw() else []
    page = render_html(summarize(result, request["title"]), charts)
    write_text(folder / "charts.json", json.dumps(charts, ensure_ascii=False))
    write_text(folder / "report.html", page)


def plan_further(request: Mapping[str, Any], folder: Path) -> None:
    """How many more labels it takes until the best model is told, by simulation."""
    result, _ = _evaluate(request)
    metric = result.metrics[0]
    found: dict[str, Any] = {"sentence": ""}
    if metric.greater_is_better is not None and result.data.n_models > 1:
        choice = result.choose(metric.name)
        others = [name for name in choice.possible_best if name != choice.pick]
        found["pick"] = choice.pick
        if others:
            plan = result.plan(f"P(best:{metric.name})>={result.level:g}")
            found = {
                **plan.to_dict(),
                "sentence": _tell_plan(plan),
                "is_hopeless": not np.isfinite(plan.more),
                "pick": choice.pick,
                "others": others,
            }
    write_text(folder / "plan.json", json.dumps(found))


def _tell_plan(plan: LabelPlan) -> str:
    if not np.isfinite(plan.more):
        return f"Even {plan.most - plan.n_labeled:,} more labels would not suffice"
    few, many = plan.more_low, plan.more_high
    span = f"{few:,.0f} to {many:,.0f}" if np.isfinite(many) else f"{few:,.0f} or more"
    return f"About {plan.more:,.0f} more labels ({span})"


def _evaluate(request: Mapping[str, Any]) -> tuple[Evaluation, RunSpec]:
    spec = RunSpec.from_dict(request["config"])
    data, vanished = read_labeled(spec, request["labels"])
    if data.n_labeled == 0:
        raise InputError(
            "no row of the file has a label yet",
            allowed="a few labels; ten are a start",
            fix="label some rows on the page “Label”, then evaluate",
        )
    asked = _attach_labels_file(spec, data) if request["labels"] else spec
    tell("estimating", 0, 1)
    result = execute(asked, data)
    tell("estimating", 1, 1)
    return replace(result, settings={**result.settings, "vanished": vanished[:100]}), asked


def _attach_labels_file(spec: RunSpec, data: ScoreSet) -> RunSpec:
    """The run with its labels in a file beside it, where rows have names to join by."""
    if data.ids is None or data.layout is None or data.layout.id is None:
        return spec
    listed = data.ordered and "positive" not in spec.read
    classes = {"classes": list(data.classes)} if listed else {}
    reading = {**spec.read, **classes, "labels": Path(LABELS_FILE), "label": "label"}
    return replace(spec, read={**reading, "id": data.layout.id})


def _format_labels_csv(data: ScoreSet) -> str:
    """All labels; where they came in rounds, with round and probability as a reader expects them.

    Labels that were there before have neither. A round that was drawn at random has the share of
    rows that it took, which is what `LabelRounds` makes of it.
    """
    names = np.arange(data.n_rows) if data.ids is None else data.ids
    id_column = data.layout.id if data.layout is not None and data.layout.id else "row"
    values, rounds = data.label_values, data.design.rounds
    found = [{id_column: names[i], "label": values[i]} for i in np.flatnonzero(data.labeled)]
    if rounds is not None:
        number, chance = rounds.number[data.labeled], rounds.probability[data.labeled].copy()
        first = int((number[~np.isnan(chance)] == 0).any())
        for drawn in np.unique(number[np.isnan(chance) & (number > 0)]):
            own = number == drawn
            share = own.sum() / (data.n_rows - (number < drawn).sum())
            chance[own & np.isnan(chance)] = share
        for row, p, drawn in zip(found, chance.tolist(), number.tolist(), strict=True):
            known = not np.isnan(p)
            row |= {"probability": p if known else "", "round": drawn + first if known else ""}
    return format_csv(found)


def _list_differences(result: Evaluation) -> list[dict[str, Any]]:
    """The pick against every other model, by the first metric."""
    metric = result.metrics[0]
    if metric.greater_is_better is None or result.data.n_models < 2:
        return []
    pick = result.choose(metric.name).pick
    rows = result.compare(metric.name, pick).rows
    names = ("a", "b", "difference", "low", "high", "p_better")
    return [{name: _drop_undefined(getattr(row, name)) for name in names} for row in rows]


def _drop_undefined(value: Any) -> Any:
    return None if isinstance(value, float) and value != value else value
