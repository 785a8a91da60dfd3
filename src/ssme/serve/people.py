"""The pages "People" and "History": who labeled what, where they differ, how answers changed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from ssme.errors import InputError
from ssme.memory import EvaluationRecord
from ssme.memory.records import make_key
from ssme.serve.desk import Records
from ssme.serve.labeling import adjudicate
from ssme.serve.pages import (
    find_project,
    find_session,
    go_to,
    parse_class,
    parse_row,
    read_form,
    render,
)
from ssme.serve.settling import Standing, measure_agreement, settle

__all__ = ["settle_row", "show", "show_history", "tell_changes"]


async def show(request: Request) -> Response:
    """Who labeled how many rows, how far they agree, and rows that wait for a verdict."""
    project = find_project(request)
    file = await project.open(request.path_params["file"])

    def read(records: Records) -> dict[str, Any]:
        cells = {each.row: each.cells for each in records.store.list_suggestions(file.data)}
        people: dict[str, dict[str, Any]] = {}
        settled: dict[Any, Standing] = {}
        for data in records.list_data(file.record.id):
            events = records.open_memory(data).label_events()
            for event in events:
                person = people.setdefault(event.annotator, {"labels": 0, "unsure": 0, "last": ""})
                person["last"] = max(person["last"], event.given_at[:16].replace("T", " "))
            settled |= {(data, row): standing for row, standing in settle(events).items()}
        for standing in settled.values():
            for who, label in standing.given.items():
                people[who]["unsure" if label is None else "labels"] += 1
        return {
            "people": people,
            "agreement": measure_agreement(settled),
            "conflicts": [
                {
                    "row": json.dumps(row.row),
                    "name": str(row.row),
                    "given": row.given,
                    "cells": cells.get(row.row, ()),
                    "key": make_key(),
                }
                for (data, _), row in settled.items()
                if row.in_conflict and data == file.data
            ],
            "settled": sum(standing.label is not None for standing in settled.values()),
            "entries": records.store.list_entries(),
        }

    found = await project.desk.ask(read)
    return render(request, "people.html", file=file, **found)


async def settle_row(request: Request) -> Response:
    """Take a verdict on a row about which people differ."""
    project, session = find_project(request), find_session(request)
    file = await project.open(request.path_params["file"])
    form = await read_form(request)
    if not session.annotator or file.look is None:
        raise InputError("nobody is named here", fix="say who you are on the page “Label”")
    label = parse_class(form, "label", file.look["classes"])
    row, key = parse_row(form), form.get("key", [""])[0] or make_key()
    await project.desk.ask(adjudicate, file.data, session.annotator, row, label, key)
    return go_to(f"/files/{file.record.id}/people")


async def show_history(request: Request) -> Response:
    """All evaluations of a file, what changed from one to the next, and why."""
    project = find_project(request)
    file = await project.open(request.path_params["file"])

    def read(records: Records) -> dict[int, EvaluationRecord]:
        found: dict[int, EvaluationRecord] = {}
        for data in records.list_data(file.record.id):
            found |= records.open_memory(data).evaluations()
        return dict(sorted(found.items()))

    found = await project.desk.ask(read)
    rows, before = [], None
    for number, record in found.items():
        decision = record.decisions[0] if record.decisions else None
        rows.append(
            {
                "number": number,
                "record": record,
                "when": record.made_at[:16].replace("T", " "),
                "decision": decision,
                "sureness": decision.describe_sureness() if decision else "",
                "estimate": _estimate_of(record, decision.pick if decision else None),
                "changes": tell_changes(before, record),
            }
        )
        before = record
    return render(request, "history.html", file=file, rows=rows[::-1])


def _estimate_of(record: EvaluationRecord, model: str | None) -> Any:
    rows = [e for e in record.estimates if e.group == "all"]
    return next((e for e in rows if model is None or e.model == model), None)


def tell_changes(before: EvaluationRecord | None, now: EvaluationRecord) -> list[str]:
    """What differs between two evaluations, in sentences.

    Parameters
    ----------
    before : EvaluationRecord or None
        The earlier one.
    now : EvaluationRecord
        The later one.
    """
    if before is None:
        return ["The first evaluation."]
    said = []
    labels = now.n_labeled - before.n_labeled
    if labels:
        noun = "label" if abs(labels) == 1 else "labels"
        said.append(f"{abs(labels):,} {'more' if labels > 0 else 'fewer'} {noun}.")
    if now.n_rows != before.n_rows:
        said.append(f"The file has {now.n_rows:,} rows and had {before.n_rows:,}.")
    for name, one, two in _list_differences(before.spec, now.spec):
        said.append(f"{name} is {two} and was {one}.")
    if now.scores != before.scores:
        said += _tell_drift(before, now)
    if now.version != before.version:
        said.append(f"Made with ssme {now.version}, before with {before.version}.")
    picks = [r.decisions[0].pick if r.decisions else None for r in (before, now)]
    if picks[0] != picks[1]:
        said.append(f"The pick is {picks[1]} and was {picks[0]}.")
    return said or ["The same labels and settings."]


def _tell_drift(before: EvaluationRecord, now: EvaluationRecord) -> list[str]:
    """Models whose scores moved, where the two evaluations have models in common."""
    from ssme.memory.tracking import find_drift

    try:
        found = find_drift(before, now)
    except InputError:
        return ["The models are others."]
    moved = [drift.model for drift in found if drift.is_clear]
    return [f"The scores of {', '.join(moved)} moved."] if moved else []


def _list_differences(
    one: Mapping[str, Any], two: Mapping[str, Any], path: Sequence[str] = ()
) -> list[tuple[str, str, str]]:
    found: list[tuple[str, str, str]] = []
    for key in sorted({*one, *two}):
        a, b = one.get(key), two.get(key)
        if isinstance(a, Mapping) or isinstance(b, Mapping):
            found += _list_differences(a or {}, b or {}, (*path, key))
        elif a != b:
            before, now = ("nothing" if value is None else str(value) for value in (a, b))
            found.append((" ".join((*path[1:], key)), before, now))
    return found
