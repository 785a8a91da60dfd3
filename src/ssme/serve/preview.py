"""What is in a file and how it was understood: what the page "Open" shows, run in a worker.

Large tables are looked at in part: all labeled rows and a random part of the others, up to
`SAMPLE` rows. The page says so.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from ssme import diagnostics, fitting, progress, schema, writing
from ssme.data import ScoreSet, as_score_set
from ssme.data.readers import reading, sources, tables
from ssme.data.readers.columns import USUAL_NAMES, Columns, explain_no_model, find_roles
from ssme.data.values import is_missing
from ssme.diagnostics.page import explain_plainly
from ssme.errors import (
    InputError,
    MissingExtraError,
    name_argument,
    spell_options,
)
from ssme.methods.registry import list_supported
from ssme.metrics import default_metrics, metric_names
from ssme.options import accept, list_declared
from ssme.serve import worker
from ssme.serve.forms import ONE, UNUSED, is_telling, spell_for_page
from ssme.spec import RunSpec
from ssme.wording import quote, shorten

SAMPLE = 20_000
"""Rows of a larger table that are looked at."""
EXAMPLES, FIRST, LISTED_GROUPS = 3, 4, 50
"""Values of a column, rows as they were read, and groups by a column that are shown."""
WIDTH = 80
"""Characters of an example that are shown."""


def write_preview(request: Mapping[str, Any], folder: Path) -> None:
    """Look at a file as ``request`` says and write what was found into ``folder``."""
    found = look_at(request["path"], request["read"], request["run"], request.get("by_hand"))
    writing.write_text(folder / "look.json", json.dumps(found))


def look_at(
    path: str,
    read: Mapping[str, Any],
    run: Mapping[str, Any],
    by_hand: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """What is in a file: columns with examples, and either what was understood or what is wrong.

    ``read`` and ``run`` are the mapping, as sections of a config file. ``by_hand`` is about labels
    given by hand: the ``id`` column that names their rows, and their ``classes``. ``error`` is None
    where the file can be read with this mapping. Where it cannot be opened and the errors say how,
    ``proposed`` contains these options, and the columns are those that are read with them.
    """
    found: dict[str, Any] = {"columns": [], "error": None, "rows": None, "looked_at": None}
    try:
        _check_fields(read)
        spec = RunSpec.from_dict({"source": path, "read": dict(read), "run": dict(run)})
        file = sources.find_local_path(path)
        progress.tell("reading the file", 0, 2)
        if sources.find_reader(file, spec.read.get("format")).open is None:
            data = as_score_set(file, spec.read.get("labels_file"), **_take_reading(spec.read))
            found |= {"rows": data.n_rows, "looked_at": data.n_rows}
        else:
            data = _read_table(file, spec, found)
        progress.tell("reading the file", 1, 2)
        found |= _describe(data)
        _check_labels(data, found, by_hand)
        found["understood"] = {} if data.layout is None else data.layout.describe()
        found["config"] = spec.to_dict()
        found["can_weigh"] = _check_run(spec, data)
        progress.tell("reading the file", 2, 2)
    except (InputError, MissingExtraError, OSError) as error:
        found["error"] = spell_for_page(error, path)
        for part, columns in _list_advice(error):
            if part in ("answers", "ratings") and columns is not None:
                for column in found["columns"]:
                    column["role"] = part if column["name"] in columns else column["role"]
    return found


def _list_advice(error: Exception) -> list[tuple[str, Any]]:
    """Options that an error tells to set, each with the value; None where it names none."""
    found: list[tuple[str, Any]] = []

    def note(name: str, value: str | None) -> str:
        with suppress(ValueError, SyntaxError):
            found.append((name, None if value is None else ast.literal_eval(value)))
        return ""

    if isinstance(error, InputError) and error.hint:
        spell_options(error.hint, note)
    return found


def _check_fields(read: Mapping[str, Any]) -> None:
    """Refuse a value in the words of its field, not of a config file."""
    for each in list_declared(schema.ReadOptions):
        if each.key in read:
            accept(each, read[each.key])


def _check_labels(
    data: ScoreSet, found: Mapping[str, Any], by_hand: Mapping[str, Any] | None
) -> None:
    """Refuse a mapping by which labels that were given by hand would lose their row or class."""
    if by_hand is None:
        return
    before = "by its position" if by_hand["id"] is None else f"by column {by_hand['id']!r}"
    if found["id"] != by_hand["id"]:
        raise InputError(
            f"`id`: labels that were given by hand name each row {before} and would be lost",
            hint="leave this as it was, or open a copy of the file under another name",
        )
    lost = [label for label in by_hand["classes"] if label not in data.classes]
    if lost:
        raise InputError(
            f"`classes`: labels {quote(lost)} were given by hand and are not among "
            f"{quote(data.classes)}",
            hint="keep the classes; to show other words for them, use “Names of classes” below",
        )


def _check_run(spec: RunSpec, data: ScoreSet) -> bool:
    """Whether the method weighs labels; what cannot be estimated is refused."""
    method, metrics = spec.made_method, fitting.choose_metrics(spec, data)
    if data.n_labeled:  # without any, labels are given by hand
        with name_argument("method"):
            fitting.check_run(data, method, metrics, n_groups=len(fitting.make_groups(data, spec)))
    return "weights" in method.spec.designs


def _take_reading(read: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in read.items() if name != "labels_file"}


def _read_table(file: Path, spec: RunSpec, found: dict[str, Any]) -> ScoreSet:
    options = schema.ReadOptions(**_take_reading(spec.read))
    try:
        frame = sources.open_table(file, options)
    except InputError as error:
        found["proposed"], frame = _propose(file, options, error)
        if frame is not None:
            found["columns"] = _describe_columns(tables.Table(frame, file.name), options)
        raise
    table = tables.Table(frame, file.name)
    found["rows"] = found["looked_at"] = table.n_rows
    labels = spec.read.get("labels_file")
    if table.n_rows > SAMPLE and not _is_long(table, options):
        rows = _draw_rows(table, options, labels)
        frame = frame.iloc[rows] if hasattr(frame, "iloc") else frame.take(rows)
        table = tables.Table(frame, file.name)
        found["looked_at"] = len(rows)
    found["columns"] = _describe_columns(table, options)
    data = reading.read_table(table, labels, options, source=file.name)
    if data.n_rows != table.n_rows:  # one row per score
        found["rows"] = found["looked_at"] = data.n_rows
    skipped = {} if data.layout is None else data.layout.skipped
    if data.layout is not None and data.layout.id and table.n_rows == found["rows"]:
        options = replace(options, id=data.layout.id)  # found by its values, which the form shows
    _mark_roles(found["columns"], reading.find_columns(table, options, labels), options, skipped)
    return data


def _propose(
    file: Path, options: schema.ReadOptions, error: InputError
) -> tuple[dict[str, Any], Any]:
    """What the errors advise, one after another, until the table opens; and the table."""
    proposed: dict[str, Any] = {}
    while True:
        advised = [each for each in _list_advice(error) if each[0] in schema.FILE_OPTIONS]
        name, value = advised[0] if advised else ("", None)
        unset = name and getattr(options, name) == getattr(sources.USUAL, name)
        if value is None or name in proposed or not unset:
            return {}, None
        proposed[name] = value
        try:
            return proposed, sources.open_table(file, replace(options, **proposed))
        except InputError as another:
            error = another


def _is_long(table: tables.Table, options: schema.ReadOptions) -> bool:
    usual = {name.lower() for name in table.columns}
    return options.layout == "long" or all(
        usual & {*USUAL_NAMES[part]} for part in ("model", "score")
    )


def _draw_rows(
    table: tables.Table, options: schema.ReadOptions, labels: Any
) -> np.typing.NDArray[np.int64]:
    """Labeled rows and a random part of the others, in the order of the table."""
    label = find_roles(table, options, labels).label
    missing = np.ones(table.n_rows, dtype=bool)
    if label is not None:
        missing = is_missing(table.read_values(label))
    labeled, others = np.flatnonzero(~missing)[:SAMPLE], np.flatnonzero(missing)
    size = min(SAMPLE - labeled.size, others.size)
    drawn = np.random.default_rng(0).choice(others, size, replace=False)
    return np.sort(np.concatenate([labeled, drawn]))


def _describe_columns(table: tables.Table, options: schema.ReadOptions) -> list[dict[str, Any]]:
    """The columns with the parts that they may play; whether they do, the reader says."""
    usual = {part: {*USUAL_NAMES[part]} for part in ("label", "id", "weight")}
    named = {getattr(options, part): part for part in usual}
    named |= dict.fromkeys(options.models or (), "models") | dict.fromkeys(
        options.groups or (), "groups"
    )
    columns = []
    for name in table.columns:
        values = table.read_values(name)
        known = values[~is_missing(values)]
        kind = table.find_kind(name).replace("other", "text")
        column: dict[str, Any] = {
            "name": name,
            "kind": kind,
            "examples": [*dict.fromkeys(_show(value) for value in known[:200])][:EXAMPLES],
            "filled": int(known.size),
            "empty": int(values.size - known.size),
            "reason": "",
            "ignored": name in (options.ignore or ()),
            "names_rows": kind == "text" and _are_names(known, table.n_rows),
        }
        part = named.get(name) or next((p for p in usual if name.lower() in usual[p]), None)
        is_open = part is None and kind == "number" and options.models is None
        if is_open and _are_probabilities(known) and not explain_no_model(table, name):
            part = "models"
        unused = "out" if is_telling(name) else "shown"
        column["role"] = unused if part is None or column["ignored"] else part
        columns.append(column)
    if any(column["role"] == "models" for column in columns):
        for column in columns:  # the reader takes other numbers for scores, too
            if column["kind"] == "number" and column["role"] in UNUSED:
                values = table.read_values(column["name"])
                column["ignored"] |= not _are_probabilities(values[~is_missing(values)])
    return columns


def _show(value: Any) -> str:
    return shorten(f"{value:.6g}" if isinstance(value, float) else str(value), WIDTH)


def _are_names(known: np.typing.NDArray[Any], n_rows: int) -> bool:
    texts = {str(value) for value in known}
    return len(texts) == n_rows and max(map(len, texts), default=WIDTH) < WIDTH


def _are_probabilities(known: np.typing.NDArray[Any]) -> bool:
    numbers = known.astype(float)
    return bool(numbers.size and (numbers >= 0.0).all() and (numbers <= 1.0).all())


def _mark_roles(
    columns: list[dict[str, Any]],
    found: Columns,
    options: schema.ReadOptions,
    skipped: Mapping[str, str],
) -> None:
    """The part that each column was found to play."""
    models = {name: model for model, of in found.scores.items() for name in of}
    parts: dict[Any, str] = dict.fromkeys(models, "models")
    parts |= dict.fromkeys(found.groups.values(), "groups")
    parts |= {getattr(found, part): part for part in ONE}
    parts |= dict.fromkeys(options.answers or (), "answers")
    parts |= dict.fromkeys(options.ratings or (), "ratings")
    for column in columns:
        name = column["name"]
        column["model"] = models.get(name)
        column["role"] = parts.get(name, "out" if is_telling(name) else "shown")
        if column["role"] == "out":
            column["reason"] = "hidden: it would lead annotators"
        if name in skipped:
            column |= {"role": "out", "reason": f"no model: {skipped[name]}"}


def _show_rows(data: ScoreSet) -> dict[str, Any]:
    """The first rows as they were read: id, label, groups, and what each model says."""
    models, rows = data.models[:6], []
    for i in range(min(FIRST, data.n_rows)):
        label = "none" if data.labels[i] < 0 else str(data.classes[data.labels[i]])
        row = [str(i + 1 if data.ids is None else data.ids[i]), label]
        row += [str(values[i]) for values in data.groups.values()]
        row += [text for _, _, text in worker.read_answers(data, i)[: len(models)]]
        rows.append([shorten(text, WIDTH) for text in row])
    return {"titles": ["row", "label", *data.groups, *models], "rows": rows}


def _describe(data: ScoreSet) -> dict[str, Any]:
    can, cannot = list_supported(data)
    gaps = np.isnan(data.scores[:, :, 0]).sum(axis=0)
    counts = np.bincount(data.labels[data.labeled], minlength=data.n_classes)
    plain = str | bool | int | float
    classes = [name if isinstance(name, plain) else str(name) for name in data.classes]
    return {
        "models": list(data.models),
        "classes": classes,
        "labeled": data.n_labeled,
        "labels": [[str(c), int(k)] for c, k in zip(classes, counts, strict=True)],
        "missing_scores": {m: int(n) for m, n in zip(data.models, gaps, strict=True) if n},
        "has_ids": data.ids is not None,
        "id": None if data.ids is None or data.layout is None else data.layout.id or "ids",
        "ordered": data.ordered,
        "groups": list(data.groups),
        "group_values": {
            name: sorted({str(value) for value in values})[:LISTED_GROUPS]
            for name, values in data.groups.items()
        },
        "first_rows": _show_rows(data),
        "methods": can,
        "methods_not": cannot,
        "metrics": list(metric_names(data.n_classes)),
        "default_metrics": list(default_metrics(data.n_classes, ordered=data.ordered)),
        "warnings": [
            {**asdict(warning), "explanation": explain_plainly(warning.code)}
            for warning in diagnostics.check_all(diagnostics.Case(data))
        ],
    }
