"""The jobs of a worker process except the preview: evaluate a file, draw its report, choose rows.

    file + labels by hand --> ScoreSet --> Evaluation --> summary, charts, CSV, report, config

The file's own labels count too; where both label a row, the one given by hand does. Each function
writes its results into a folder, which `ssme.serve.jobs.do_job` publishes whole.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from ssme import fitting, metrics, progress, run, schema
from ssme.data.design import LabelRounds, find_rounds, make_design
from ssme.data.readers import sources, tables
from ssme.data.scoreset import ScoreSet
from ssme.data.values import is_missing
from ssme.errors import InputError
from ssme.memory.tracking import record_evaluation
from ssme.results import choose, evaluation
from ssme.results.plan import LabelPlan
from ssme.serve.forms import is_telling, spell_for_page
from ssme.serve.labels import AT_RANDOM
from ssme.show import html, report
from ssme.show.charts import draw_charts
from ssme.show.document import build_document
from ssme.spec import RunSpec
from ssme.writing import format_csv, write_text

LABELS_FILE = "labels.csv"
"""The file of all labels, which the config needs in its folder to be run again."""


def read_labeled(spec: RunSpec, given: Sequence[Sequence[Any]]) -> tuple[ScoreSet, list[Any]]:
    """The scores that ``spec`` names with the labels ``given``, and rows that are not there.

    ``given`` are (row, label, probability, round, proposed): rows by name, or by position where
    they have no names; rows of rounds that were drawn at random have no probability; whether the
    label was given with a proposal in view.
    """
    progress.tell("reading the file", 0, 1)
    data = run.read_scores(spec)
    found = add_labels(data, given)
    progress.tell("reading the file", 1, 1)
    return found


def add_labels(data: ScoreSet, given: Sequence[Sequence[Any]]) -> tuple[ScoreSet, list[Any]]:
    """``data`` with the labels ``given`` added, and the given rows that it does not have."""
    if not given:
        return data, []
    names = range(data.n_rows) if data.ids is None else data.ids.tolist()
    place = {name: number for number, name in enumerate(names)}
    values = data.label_values.copy()
    before = find_rounds(data.design, data.labels)
    chance, number = before.probability.copy(), before.number.copy()
    vanished, n_proposed = [], 0
    for row, label, probability, drawn, proposed in given:
        if row not in place:
            vanished.append(row)
            continue
        at = place[row]
        values[at], number[at] = label, drawn
        n_proposed += proposed
        chance[at] = np.nan if probability is None else probability
    labeled = data.with_labels(values)
    design = labeled.design
    if not np.isnan(chance[labeled.labeled]).all():
        design = make_design(LabelRounds(chance, number), labeled.labels)
    return labeled.with_design(replace(design, n_proposed=n_proposed)), vanished


def evaluate_file(request: Mapping[str, Any], folder: Path) -> None:
    """Evaluate as ``request`` says and write the numbers that the pages show into ``folder``."""
    result, asked = _evaluate(request)
    summary = report.describe_report(result, build_document(result, request["title"]))
    record = replace(record_evaluation(result), spec=request["config"])
    files = {
        "summary.json": json.dumps(summary, indent=2, ensure_ascii=False),
        "estimates.csv": format_csv(list(result.rows())),
        "facts.json": json.dumps(
            {
                "record": asdict(record),
                "given": len(request["labels"]),
                "stop": choose.find_stop(result, result.metrics[0]) if _has_best(result) else "",
                "vanished": result.settings["vanished"],
                "metrics": [(each.name, each.title, each.definition) for each in result.metrics],
            }
        ),
        "config.toml": asked.to_text(".toml"),
        LABELS_FILE: _format_labels_csv(result.data),
    }
    for name, text in files.items():
        write_text(folder / name, text)


def draw_report(request: Mapping[str, Any], folder: Path) -> None:
    """The same evaluation once more, to the bit, with its pictures and its report."""
    result, _ = _evaluate(request)
    document = build_document(result, request["title"])
    charts = draw_charts(document)
    write_text(folder / "charts.json", json.dumps(charts, ensure_ascii=False))
    write_text(folder / "report.html", html.render_html(document, charts))


def plan_labels(request: Mapping[str, Any], folder: Path) -> None:
    """How many more labels it takes to identify the best model, by simulation."""
    result, _ = _evaluate(request, is_brief=True)
    metric = result.metrics[0]
    found: dict[str, Any] = {"sentence": ""}
    if _has_best(result):
        choice = result.choose(metric.name)
        others = [name for name in choice.possible_best if name != choice.pick]
        found |= {"pick": choice.pick}
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


def _has_best(result: evaluation.Evaluation) -> bool:
    return result.metrics[0].greater_is_better is not None and result.data.n_models > 1


def _tell_plan(plan: LabelPlan) -> str:
    if not np.isfinite(plan.more):
        return f"Even {plan.most - plan.n_labeled:,} more labels would not suffice"
    few, many = plan.more_low, plan.more_high
    span = f"{few:,.0f} to {many:,.0f}" if np.isfinite(many) else f"{few:,.0f} or more"
    return f"About {plan.more:,.0f} more labels ({span})"


def _evaluate(
    request: Mapping[str, Any], *, is_brief: bool = False
) -> tuple[evaluation.Evaluation, RunSpec]:
    """The evaluation, and the run with its labels; a brief one is `_lead`'s."""
    spec = RunSpec.from_dict(request["config"])
    data, vanished = read_labeled(spec, request["labels"])
    if data.n_labeled == 0:
        raise InputError(
            "no row of the file has a label yet",
            hint="label some rows on the page “Label”; ten are a start",
        )
    spec = _lead(spec, data) if is_brief else spec
    asked = _attach_labels_file(spec, data) if request["labels"] else spec
    progress.tell("estimating", 0, 1)
    result = run.execute(asked, data)
    progress.tell("estimating", 1, 1)
    return replace(result, settings={**result.settings, "vanished": vanished[:100]}), asked


def _lead(spec: RunSpec, data: ScoreSet) -> RunSpec:
    """The run with its first metric on all rows alone: by these, rows and plans are chosen."""
    wanted = fitting.choose_usual_metrics(data) if spec.metrics is None else spec.metrics
    return replace(spec, metrics=wanted[:1], by=())


def _attach_labels_file(spec: RunSpec, data: ScoreSet) -> RunSpec:
    """The run with its labels in a separate file, if rows have ids to join by."""
    if data.ids is None or data.layout is None or data.layout.id is None:
        return spec
    listed = data.ordered and "positive" not in spec.read
    classes = {"classes": list(data.classes)} if listed else {}
    reading = {**spec.read, **classes, "labels_file": Path(LABELS_FILE), "label": "label"}
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


# -------------------------------------------------------------------------------------------------
# Which rows to label next, with what an annotator needs to see of them.
#
# With a method that can weigh labels, rows are drawn by `ssme.Evaluation.suggest`: those whose
# labels tell most about the best model have a higher probability. Without, or where that was asked
# for, all rows without a label have the same. Either way the probability of each row
# is known and goes with its label into the memory. Rows are shown in random order, so that those
# labeled of a round are a random part of it.

IMAGES = (".png", ".jpg", ".jpeg", ".gif", ".webp")
LONGEST = 20_000
"""Characters of a cell that are shown."""


def write_rows(request: Mapping[str, Any], folder: Path) -> None:
    write_text(folder / "rows.json", json.dumps(choose_rows(request)))


def choose_rows(request: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The next rows to label, as the page shows them: the fields of `StoredSuggestion`.

    ``request`` has ``config`` (a `RunSpec` as a dict), ``labels`` given by hand, the ``round``,
    the ``count`` of rows, ``design`` ("goal" or "random") and ``shown`` columns (None: those with
    no other part). Cells are (name, kind, text); those of kind "score" are what the models say.
    """
    spec = RunSpec.from_dict(request["config"])
    data, _ = read_labeled(spec, request["labels"])
    names: list[Any] = list(range(data.n_rows)) if data.ids is None else data.ids.tolist()
    size = min(int(request["count"]), data.n_unlabeled)
    seed = hashlib.sha256(repr((request["round"], request["config"])).encode()).digest()
    rng = np.random.default_rng(np.frombuffer(seed, dtype=np.uint32))
    if size == 0:
        return []
    rows, chance, reasons = _draw(spec, data, size, request["design"], rng)
    order = rng.permutation(len(rows))
    cells = _describe_cells(spec, data, rows[order], request["shown"])
    return [
        {
            "row": names[rows[i]],
            "round": request["round"],
            "place": place,
            "cells": [*cells[place], *read_answers(data, int(rows[i]))],
            "probability": float(chance[i]),
            "reason": reasons[i],
            "groups": {name: str(of[rows[i]]) for name, of in data.groups.items()},
        }
        for place, i in enumerate(order)
    ]


def _draw(
    spec: RunSpec,
    data: ScoreSet,
    size: int,
    design: str,
    rng: np.random.Generator,
) -> tuple[np.typing.NDArray[np.int64], np.typing.NDArray[np.float64], list[str]]:
    """Row numbers, their probabilities and why each is worth a label.

    Where the method or the metric cannot value rows yet, all count equally; the reason says why.
    """
    why = AT_RANDOM
    seed = int(rng.integers(2**32))
    weighs = "weights" in spec.made_method.spec.designs
    if design == "goal" and weighs and data.n_models > 1:
        try:
            found = run.execute(_lead(spec, data), data).suggest(size, random_state=seed)
            return found.rows, found.probability, list(found.reasons)
        except InputError as error:
            said = spell_for_page(error, str(spec.source))
            why = f"{AT_RANDOM}, not by what its label tells: {said['got']}"
    free = np.flatnonzero(~data.labeled)
    rows = rng.choice(free, size, replace=False)
    return rows, np.full(size, size / free.size), [why] * size


def _describe_cells(
    spec: RunSpec, data: ScoreSet, chosen: np.typing.NDArray[np.int64], shown: Sequence[str] | None
) -> list[list[tuple[str, str, str]]]:
    """(column, kind, text) of the columns to show, for each chosen row."""
    layout = data.layout
    groups = [
        [(name, "text", str(values[i])) for name, values in data.groups.items()] for i in chosen
    ]
    if layout is None or not isinstance(spec.source, str):
        return groups
    file = Path(spec.source)
    if sources.find_reader(file, spec.read.get("format")).open is None:
        return groups
    written = (*schema.FILE_OPTIONS, "classes", "ignore")
    told = schema.ReadOptions.of({k: v for k, v in spec.read.items() if k in written}, file.name)
    table = tables.Table(sources.open_table(file, told), file.name)
    unused = [n for n in layout.ignored if n not in layout.skipped and not is_telling(n)]
    wanted = {*unused, *layout.groups} if shown is None else {*shown} & {*layout.ignored}
    columns = [name for name in table.columns if name in wanted]
    places = _find_places(table, data, chosen)
    values = {name: table.read_values(name)[places] for name in columns}
    return [
        [_describe_cell(name, values[name][number]) for name in columns]
        for number in range(len(chosen))
    ]


def read_answers(data: ScoreSet, row: int) -> list[tuple[str, str, str]]:
    """(model, "score", the class it predicts); pages show it only where it is asked."""
    predicted = metrics.predicted_classes(data.scores[[row]])[0]
    return [
        (name, "score", "none" if k < 0 else f"{data.classes[k]} ({scores[k]:.2f})")
        for name, scores, k in zip(data.models, data.scores[row], predicted, strict=True)
    ]


def _find_places(
    table: tables.Table, data: ScoreSet, chosen: np.typing.NDArray[np.int64]
) -> np.typing.NDArray[np.int64]:
    """Rows of the table that hold the chosen rows of the set: the same, unless it is long."""
    if data.n_rows == table.n_rows or data.layout is None or data.layout.id is None:
        return chosen
    first: dict[Any, int] = {}
    for number, name in enumerate(table.read_values(data.layout.id).tolist()):
        first.setdefault(name, number)
    ids = data.ids if data.ids is not None else np.arange(data.n_rows)
    return np.array([first[ids[i]] for i in chosen], dtype=np.int64)


def _describe_cell(name: str, value: Any) -> tuple[str, str, str]:
    if is_missing(np.array([value], dtype=object))[0]:
        return name, "empty", ""
    if isinstance(value, bool | int | float | np.number):
        return name, "number", f"{value:.6g}" if isinstance(value, float) else str(value)
    text = str(value)
    if text.lower().endswith(IMAGES) and "\n" not in text and len(text) < 1000:
        return name, "image", text
    cut = len(text) - LONGEST
    return name, "text", text if cut <= 0 else f"{text[:LONGEST]}… ({cut:,} more characters)"
