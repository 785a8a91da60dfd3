"""Labels from other tools, read in a worker: tables with one line per label, Label Studio's JSON.

    table: id, label, annotator, note, proposal      one line per label, as the page saves them
    tasks: [{"data": {"id": ...}, "predictions": [{"result": [...]}],
             "annotations": [{"completed_by": ..., "result": [...]}]}]

A *proposal* (pre-label, prediction) is a class to be confirmed by a person; a label next to it
counts as given with the proposal in view. A file is taken whole or not at all: each line names a
row and classes of the data.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ssme import run, spec, writing
from ssme.data.labels import spell_class
from ssme.data.readers import sources, tables
from ssme.data.readers.columns import PROPOSALS
from ssme.data.values import is_missing
from ssme.errors import InputError
from ssme.schema import ReadOptions
from ssme.wording import quote

IMPORTED = "imported"
"""Who gave labels that come without a name."""
NAMES = {
    "label": ("label", "choice", "class", "sentiment"),
    "annotator": ("annotator", "completed_by"),
    "note": ("note", "comment"),
    "proposal": PROPOSALS,
}
"""Columns of a table of labels."""

Line = tuple[Any, Any, str, str, Any]
"""Name of the row, label, annotator, note and proposal."""


def write_labels(request: Mapping[str, Any], folder: Path) -> None:
    """Write the ``labels`` of a file, lines, and its ``proposals``, (row, class), into ``folder``.

    The last label of each person for a row is taken, and the last proposal.

    ``request`` has the ``config`` of the data, the path of ``labels``, the ``classes`` and what
    the page calls them: ``names``, by class as JSON.
    """
    data = run.read_scores(spec.RunSpec.from_dict(request["config"]))
    ids = range(data.n_rows) if data.ids is None else data.ids.tolist()
    spelled = [spell_class(name) for name in ids]
    once = {row for row, count in Counter(spelled).items() if count == 1}
    rows = {
        row if row in once else repr(name): name for row, name in zip(spelled, ids, strict=True)
    }
    classes = {name: json.loads(label) for label, name in (request["names"] or {}).items()}
    classes |= {spell_class(label): label for label in request["classes"]}
    path = Path(request["labels"])
    id_column = data.layout.id if data.layout is not None and data.layout.id else "id"
    if path.suffix.lower() == ".json":
        lines = _read_tasks(path, id_column)
    else:
        lines = _read_table(path, id_column, ReadOptions(classes=tuple(classes)))
    classes[""] = None
    found: dict[tuple[Any, str], Line] = {}
    proposals: dict[Any, Any] = {}
    unknown: dict[str, dict[Any, None]] = {"row": {}, "class": {}}
    for name, *given, annotator, note, proposed in lines:
        row = spell_class(name) if spell_class(name) in once else repr(name)
        said = ["" if each is None else spell_class(each) for each in (*given, proposed)]
        unknown["class"] |= {each: None for each in said if each not in classes}
        if row not in rows:
            unknown["row"][name] = None
        elif not unknown["class"]:
            label, proposal = (classes[each] for each in said)
            found.pop((row, annotator), None)
            if label is not None:
                found[row, annotator] = (rows[row], label, annotator, note, proposal)
            if proposal is not None:
                proposals[rows[row]] = proposal
    del classes[""]
    for what, known in (("row", rows), ("class", classes)):
        if unknown[what]:
            raise InputError(
                f"the data has no {what} {quote(unknown[what], 3)}, for which {path.name} has "
                "a label",
                hint=f"write each {what} as in the data: {quote(known, 3)}; no label was imported",
            )
    if not found and not proposals:
        raise InputError(f"{path.name} has no label", hint="check the column of its labels")
    imported = {"labels": list(found.values()), "proposals": list(proposals.items())}
    writing.write_text(folder / "labels.json", json.dumps(imported))


def _read_table(path: Path, id_column: str, options: ReadOptions) -> Iterator[Line]:
    """Lines of a table; a line without a label takes back what the person said before."""
    table = tables.Table(sources.open_table(path, options), path.name)
    usual = {"id": (id_column, "id", "row"), **NAMES}
    columns: dict[str, list[Any]] = {}
    for part, names in usual.items():
        wanted = [name.strip().lower() for name in names]
        at = next((c for name in wanted for c in table.columns if c.strip().lower() == name), None)
        if at is not None:
            values = table.read_ids(at) if part == "id" else table.read_values(at)
            columns[part] = [
                None if empty else value
                for value, empty in zip(values.tolist(), is_missing(values), strict=True)
            ]
    for part, what in (("id", "row ids"), ("label", "labels")):
        if part not in columns and (part == "id" or "proposal" not in columns):
            raise InputError(
                f"{path.name} has no column {usual[part][0]!r}, only {quote(table.columns)}",
                hint=f"call the column of the {what} {usual[part][0]!r}",
            )
    nothing = [None] * table.n_rows
    parts = ("id", "label", "annotator", "note", "proposal")
    for each in zip(*(columns.get(part, nothing) for part in parts), strict=True):
        row, label, annotator, note, proposal = each
        person = IMPORTED if annotator is None else spell_class(annotator)
        yield row, label, person, str(note or ""), proposal


def _read_tasks(path: Path, id_column: str) -> Iterator[Line]:
    """Tasks of Label Studio as it exports them, in full or as JSON-MIN."""
    try:
        tasks = json.loads(path.read_bytes())
        for task in tasks:
            if "data" not in task:  # JSON-MIN: the data, and each answer under its control's name
                label = next((task[name] for name in NAMES["label"] if name in task), None)
                person = _name_person(task.get("annotator"))
                yield _find_id(task, id_column), label, person, "", None
                continue
            row = _find_id(task["data"], id_column)
            proposal = None
            for prediction in task.get("predictions", ()):
                proposal = _find_choice(prediction)
                yield row, None, "", "", proposal
            for annotation in task.get("annotations", ()):
                label = None if annotation.get("was_cancelled") else _find_choice(annotation)
                person = _name_person(annotation.get("completed_by"))
                yield row, label, person, _find_note(annotation), proposal
    except (ValueError, RecursionError, TypeError, AttributeError, LookupError) as error:
        raise InputError(
            f"{path.name} is not a list of Label Studio's tasks: {error}",
            hint="export the project as JSON or JSON-MIN, or as CSV",
        ) from None


def _find_id(data: Mapping[str, Any], id_column: str) -> Any:
    for name in (id_column, "id", "row"):
        if name in data:
            return data[name]
    raise ValueError(f"a task has no {id_column!r} in its data")


def _name_person(person: Any) -> str:
    """Label Studio names people by number, or by a record."""
    if isinstance(person, Mapping):
        person = person.get("email") or person.get("id")
    return IMPORTED if person is None else str(person)


def _find_choice(annotation: Mapping[str, Any]) -> Any:
    """The single choice of an annotation, or its rating; None where it has neither."""
    values = [result["value"] for result in annotation["result"]]
    found = [choice for value in values for choice in value.get("choices", ())]
    found += [value["rating"] for value in values if "rating" in value]
    if len({spell_class(each) for each in found}) > 1:
        raise ValueError(f"{len(found)} choices for one row")
    return found[0] if found else None


def _find_note(annotation: Mapping[str, Any]) -> str:
    texts = [result["value"].get("text") for result in annotation["result"]]
    return " ".join(part for text in texts if text for part in text)
