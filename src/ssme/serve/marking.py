"""The page "Label": one row at a time, by keyboard; and the intervals as they tighten."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, cast

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from ssme.errors import InputError
from ssme.memory import EvaluationRecord
from ssme.memory.records import make_key
from ssme.serve.desk import Records
from ssme.serve.drawing import MODELS, draw_tightening
from ssme.serve.files import find_image
from ssme.serve.labeling import Bench, give_label, look_back, skip, take_seat, undo
from ssme.serve.pages import (
    find_project,
    find_session,
    go_to,
    may_change,
    parse_class,
    parse_row,
    read_form,
    render,
    render_fragment,
    wants_json,
)
from ssme.serve.project import OpenFile, Project
from ssme.serve.settling import ADJUDICATED, settle
from ssme.writing import format_csv

__all__ = [
    "choose_design",
    "export",
    "find_keys",
    "mark",
    "name_classes",
    "plan",
    "show",
    "show_image",
    "show_tightening",
]

LONGEST_NAME = 60
"""Characters of a name of a class."""
LETTERS = "qwertyiopadfghjklxcvnm"
"""Keys of classes that have no digit; u, s, b and z do something else on the page."""


def find_keys(classes: Sequence[Any]) -> list[str]:
    """The key that gives each class; empty where there are more classes than keys.

    A class that is a digit has that digit, False and True have 0 and 1. No other number has a digit
    for a key. Other classes are counted from 1, without the digits that are taken.

    Examples
    --------
    >>> find_keys([0, 1]), find_keys(["ham", "spam"]), find_keys([-1, 1])
    (['0', '1'], ['1', '2'], ['q', '1'])
    """
    texts = [str(int(c)) if isinstance(c, bool) else str(c).strip() for c in classes]
    own = {text for text in texts if len(text) == 1 and text in "0123456789"}
    letters = iter(LETTERS)
    found = []
    for place, text in enumerate(texts, start=1):
        counted = str(place)
        if text in own:
            found.append(text)
        elif place < 10 and counted not in own and not _is_number(text):
            found.append(counted)
        else:
            found.append(next(letters, ""))
    return found


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


async def show(request: Request) -> Response:
    """The next row for the person who asks."""
    project, session = find_project(request), find_session(request)
    file = await project.open(request.path_params["file"])
    if not file.is_ready or not session.annotator:
        return render(request, "label.html", file=file, bench=None, job=None)
    choosing = None if project.settings.read_only else await project.choose_rows(file)
    if file.lacks_names and may_change(request) and not await project.count_labels(file.record.id):
        return render(request, "label.html", file=file, bench=None, job=None)
    bench = await project.desk.ask(take_seat, file.data, session.annotator)
    job = choosing if bench.row is None and choosing is not None else None
    if job is not None and job.state == "done":
        job = None
    done, newest = await project.find_newest_result(file.record.id)
    may_count = not project.settings.read_only
    return render(
        request,
        "label.html",
        file=file,
        bench=bench,
        shown=_is_showing_scores(request),
        job=job,
        running=newest if newest is not None and newest.state in ("waiting", "running") else None,
        card=_render_card(request, file, bench),
        plan=_tell_plan(project.read_plan(done)) if done is not None and may_count else "",
        known=await _tell_known(project, file),
    )


async def mark(request: Request) -> Response:
    """Take a label, "unsure", a skip, a step back or an undo, and give the next row."""
    project, session = find_project(request), find_session(request)
    file = await project.open(request.path_params["file"])
    if not session.annotator or file.look is None:
        raise InputError("nobody is named here", fix="say who you are on the page “Label”")
    form = await read_form(request)
    does, key = form.get("do", ["label"])[0], form.get("key", [""])[0] or make_key()
    row = parse_row(form)
    data, person = file.data, session.annotator
    said, bench = "", cast(Bench | None, None)
    if does in ("label", "other"):
        label = parse_class(form, does, file.look["classes"])
        await project.desk.ask(give_label, data, person, row, label, key)
        said = f"Labeled {file.name_class(label)}."
    elif does == "unsure":
        await project.desk.ask(give_label, data, person, row, None, key)
        said = "Noted as unsure."
    elif does == "skip":
        await project.desk.ask(skip, data, person, row)
        said = "Put off."
    elif does == "undo":
        back = await project.desk.ask(undo, data, person, key)
        said = "Nothing to take back." if back is None else "Taken back."
    elif does == "back":
        bench = await project.desk.ask(look_back, data, person, row)
        said = "The row before."
    else:
        raise InputError(f"button {does!r}", fix="load the page again")
    job = await _go_on(project, file) if does in ("label", "other", "unsure", "undo") else None
    if not wants_json(request):
        return go_to(f"{request.url.path}{'?scores=shown' if _is_showing_scores(request) else ''}")
    if bench is None:
        bench = await project.desk.ask(take_seat, data, person)
    return JSONResponse(
        {
            "card": _render_card(request, file, bench),
            "said": said,
            "mine": bench.mine,
            "settled": bench.settled,
            "job": job,
            "changed": file.changed,
        }
    )


async def _go_on(project: Project, file: OpenFile) -> int | None:
    """After a batch of labels, ask for an evaluation and for more rows."""
    await project.choose_rows(file)
    if await project.count_labels_since(file) < project.settings.batch or not file.is_ready:
        return None
    job = await project.evaluate(file)
    return job.id


def _render_card(request: Request, file: OpenFile, bench: Bench) -> str:
    assert file.look is not None
    return render_fragment(
        "card.html",
        bench=bench,
        key=make_key(),
        row=None if bench.row is None else json.dumps(bench.row.row),
        classes=file.look["classes"],
        keys=find_keys(file.look["classes"]),
        file=file,
        csrf=find_session(request).csrf,
        shown=_is_showing_scores(request),
        may_change=may_change(request),
    )


def _is_showing_scores(request: Request) -> bool:
    """Whether the person has asked to see what the models say."""
    return bool(request.query_params.get("scores") == "shown")


async def show_tightening(request: Request) -> Response:
    """The intervals after each evaluation, as a part of the page."""
    project = find_project(request)
    file = await project.open(request.path_params["file"])
    return JSONResponse(await _tell_known(project, file))


async def plan(request: Request) -> Response:
    """How many more labels the decision takes, as a part of the page; a job while it is counted."""
    project = find_project(request)
    done, _ = await project.find_newest_result(request.path_params["file"])
    if done is None or project.settings.read_only:
        return JSONResponse({"html": ""})
    found = project.read_plan(done)
    if found is None:
        job = await project.runner.add(done.file, "plan", done.request)
        if job.state in ("waiting", "running"):
            return JSONResponse({"job": job.id, "html": _tell_plan(None)})
        found = {}
    return JSONResponse({"html": _tell_plan(found)})


def _tell_plan(found: dict[str, Any] | None) -> str:
    """What a plan says, or that it is being counted; nothing where there is nothing to tell."""
    is_about_nothing = found is not None and "pick" not in found
    return "" if is_about_nothing else render_fragment("plan.html", plan=found)


async def choose_design(request: Request) -> Response:
    """Say how rows are chosen from the next round on."""
    project, form = find_project(request), await read_form(request)
    number, design = request.path_params["file"], form.get("design", [""])[0]
    if design not in ("goal", "random"):
        raise InputError(f"rows chosen by {design!r}", allowed="goal or random")
    await project.desk.ask(lambda records: records.store.set_design(number, design))
    return go_to(f"/files/{number}/label")


async def name_classes(request: Request) -> Response:
    """Say what the pages call the classes; labels keep the classes as they are in the file."""
    project, form = find_project(request), await read_form(request)
    file = await project.open(request.path_params["file"])
    classes = file.look["classes"] if file.look else []
    names = {}
    for number, label in enumerate(classes):
        text = form.get(f"name-{number}", [""])[0].strip()
        if text and not form.get("plain"):
            names[json.dumps(label)] = text[:LONGEST_NAME]
    called = [names.get(json.dumps(label), str(label)) for label in classes]
    if len({*called}) < len(called):
        raise InputError(
            f"two classes would have one name: {', '.join(called)}", fix="give them different names"
        )
    await project.desk.ask(lambda records: records.store.set_names(file.record.id, names))
    back = "/label" if form.get("back") else ""
    return go_to(f"/files/{file.record.id}{back}")


async def _tell_known(project: Project, file: OpenFile) -> dict[str, str]:
    """What the labels have told so far: the decision, and the intervals as they tightened."""

    def read(records: Records) -> list[Any]:
        return list(records.open_memory(file.data).evaluations().values())

    records = await project.desk.ask(read)
    metric, order, decision = "", [], None
    if records:
        metric = records[-1].estimates[0].metric
        decision = records[-1].decisions[0] if records[-1].decisions else None
        order = _order_models(records, metric)
    pictures = draw_tightening(records, metric, order)
    told = ""
    if decision is not None:
        told = render_fragment("decision.html", decision=decision, labeled=records[-1].n_labeled)
    shown = render_fragment("tightening.html", pictures=pictures, metric=metric, decision=decision)
    return {"decision": told, "html": shown}


def _order_models(records: list[EvaluationRecord], metric: str) -> list[str]:
    """Models as they were ranked first, so that none changes its place; a new pick comes first."""
    first, last = records[0], records[-1]
    rows = [e for e in first.estimates if (e.metric, e.group) == (metric, "all")]
    rows += [e for e in last.estimates if (e.metric, e.group) == (metric, "all")]
    best: dict[str, int] = {}
    if first.decisions:
        leading = (first.decisions[0].pick, *first.decisions[0].possible_best)
        best = {model: rank - len(leading) for rank, model in reversed([*enumerate(leading)])}
    order = list(dict.fromkeys(e.model for e in sorted(rows, key=lambda e: best.get(e.model, 0))))
    pick = last.decisions[0].pick if last.decisions else ""
    shown = order[:MODELS]
    return order if pick in shown or pick not in order else [pick, *order]


async def export(request: Request) -> Response:
    """All labels given by hand, one line per label, as CSV."""
    project = find_project(request)
    file = await project.open(request.path_params["file"])

    def read(records: Records) -> list[dict[str, Any]]:
        return [line for data in records.list_data(file.record.id) for line in of(records, data)]

    def of(records: Records, data: str) -> list[dict[str, Any]]:
        events = records.open_memory(data).label_events()
        rows = settle(events)
        return [
            {
                "id": event.row,
                "label": event.label,
                "annotator": event.annotator,
                "given_at": event.given_at,
                "probability": event.probability,
                "reason": event.reason,
                "counts": rows[event.row].label is not None
                and rows[event.row].label == event.label
                and (event.annotator in rows[event.row].given or event.reason == ADJUDICATED),
            }
            for event in events
        ]

    text = (
        format_csv(await project.desk.ask(read))
        or "id,label,annotator,given_at,probability,reason,counts\n"
    )
    return Response(
        text.encode("utf-8", "backslashreplace"),
        media_type="text/csv",
        headers={"content-disposition": 'attachment; filename="labels.csv"'},
    )


async def show_image(request: Request) -> Response:
    """A picture that a cell of a row to label names."""
    project = find_project(request)
    file = await project.open(request.path_params["file"])
    text = request.query_params.get("path", "")

    def is_known(records: Records) -> bool:
        rows = records.store.list_suggestions(file.data)
        return any(cell == text and kind == "image" for s in rows for _, kind, cell in s.cells)

    if not await project.desk.ask(is_known):
        raise InputError("no row to label names this picture", fix="load the page again")
    content, kind = find_image(project.settings, file.record, text)
    return Response(
        content, media_type=kind, headers={"content-security-policy": "default-src 'none'; sandbox"}
    )
