"""The pages "Label" (one row at a time, by keyboard) and "People" (agreement and conflicts)."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from ssme import memory, writing
from ssme.errors import InputError
from ssme.memory.database import make_key
from ssme.serve import files, forms, pages, results, settings
from ssme.serve.labels import LISTED, MOST_COUNTED, LabelView
from ssme.serve.project import OpenFile, Project
from ssme.serve.store import JobRecord, Store

LONGEST_NAME, LONGEST_NOTE, LONGEST_GUIDE = 60, 1_000, 20_000
"""Characters of a name of a class, of a note on a row or a class, and of the guideline."""
ACTIONS = {"accept": "a", "unsure": "u", "skip": "s", "back": "b", "undo": "z", "note": "n"}
"""Buttons that are not those of a class, and their keys."""
LETTERS = "qwertyiopdfghjklxcvm"
"""Keys of classes that have no digit."""
NUMBER = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[-+]?[0-9]+)?", re.IGNORECASE)
WORDS = re.compile("[A-Z]*[a-z]+|[A-Z]+|[0-9]+")
"""Words of the name of a column or class: of ``answerB`` "answer" and "B"."""
SHORT, RECORD = 60, 3
"""Cells of so few characters are laid out as a record, where a row has so many."""
SIDES = (("a", "b"), ("1", "2"), ("left", "right"), ("first", "second"))
"""What distinguishes columns, and classes, that are about one of two texts."""


def choose_keys(classes: Sequence[Any], own: Mapping[str, str]) -> dict[str, str]:
    """The key of each class, written as JSON, and of each action; ``own`` are a person's.

    >>> choose_keys(["ham"], {"undo": "1"})
    {'"ham"': '', 'accept': 'a', 'unsure': 'u', 'skip': 's', 'back': 'b', 'undo': '1', 'note': 'n'}
    """
    usual = dict(zip(map(json.dumps, classes), find_keys(classes), strict=True)) | ACTIONS
    taken = {*own.values()}
    return {name: own.get(name, "" if key in taken else key) for name, key in usual.items()}


def find_keys(classes: Sequence[Any]) -> list[str]:
    """The usual key of each class; empty where there are more classes than keys.

    A class that is a digit has that digit, False and True have 0 and 1. No other number has a digit
    for a key. Other classes are counted from 1, without the digits that are taken.

    >>> find_keys([0, 1]), find_keys(["ham", "spam"]), find_keys([-1, 1])
    (['0', '1'], ['1', '2'], ['q', '1'])
    """
    texts = [str(int(c)) if isinstance(c, bool) else str(c).strip() for c in classes]
    digits = {text for text in texts if len(text) == 1 and text in "0123456789"}
    letters = iter(LETTERS)
    found = []
    for place, text in enumerate(texts, start=1):
        counted = str(place)
        if text in digits:
            found.append(text)
        elif place < 10 and counted not in digits and not NUMBER.fullmatch(text):
            found.append(counted)
        else:
            found.append(next(letters, ""))
    return found


def find_pair(names: Sequence[Any]) -> tuple[Any, Any] | None:
    """The two of several names that are about the two sides of a comparison.

    >>> find_pair(["prompt", "answer_a", "answer_b"]), find_pair(["tie", "B", "A"])
    (('answer_a', 'answer_b'), ('A', 'B'))
    """
    words = {n: tuple(each.lower() for each in WORDS.findall(n)) for n in map(str, names)}
    by_words = {of: n for n, of in words.items()}
    for left, right in SIDES:
        for name, of in words.items():
            if of.count(left) == 1 and name in names:
                other = tuple(right if word == left else word for word in of)
                if other in by_words:
                    return name, by_words[other]
    return None


def arrange_cells(
    cells: Sequence[tuple[str, str, str]], classes: Sequence[Any], seed: str
) -> dict[str, Any]:
    """How a row is laid out: ``blocks`` below one another, a ``pair`` side by side, a ``record``.

    ``order`` are the places of the classes as buttons have them, each with the place of the class
    whose key it has. Where classes say which of two texts is better, chance decides by ``seed``
    which is first, and ``called`` is what the two classes are called then.
    """
    known = [(name, kind, text) for name, kind, text in cells if kind != "score"]
    texts = {name: text for name, kind, text in known if kind == "text"}
    long = [name for name, text in texts.items() if len(text) > 2 * SHORT]
    pair = find_pair([*texts]) or (tuple(long) if len(long) == 2 else ())
    sides = find_pair(classes) if pair and find_pair([*texts]) else None
    titles, order, called = [*pair], [*range(len(classes))], {}
    usual = order
    if sides is not None:
        places = [[*map(str, classes)].index(side) for side in sides]
        usual = [*places, *(place for place in order if place not in places)]
        if hashlib.sha256(seed.encode()).digest()[0] % 2:
            places, pair = places[::-1], pair[::-1]
        order = [*places, *usual[2:]]
        titles, called = ["First", "Second"], dict(zip(places, ("first", "second"), strict=True))
    rest = [each for each in known if each[0] not in pair]
    record = [
        (name, kind, text)
        for name, kind, text in rest
        if kind != "image" and len(text) <= SHORT and "\n" not in text and text[:1] != "{"
    ]
    if len(record) < RECORD:
        record = []
    return {
        "pair": [(title, texts[name]) for title, name in zip(titles, pair, strict=True)],
        "blocks": [(*each, _read_record(each[2])) for each in rest if each not in record],
        "record": record,
        "order": [*zip(order, usual, strict=True)],
        "called": called,
    }


def _read_record(text: str) -> list[tuple[str, str]]:
    """The fields of a cell that is a JSON object; nothing for any other."""
    with suppress(ValueError, RecursionError):
        found = json.loads(text) if text.startswith("{") else None
        if isinstance(found, dict):
            return [(name, v if isinstance(v, str) else json.dumps(v)) for name, v in found.items()]
    return []


async def show_label(request: Request, project: Project, file: OpenFile) -> Response:
    """The next row for the person who asks, or the one that the address names."""
    annotator = pages.find_session(request).annotator
    may_label = not project.settings.read_only
    job = await project.choose_rows(file) if file.is_ready and annotator and may_label else None
    asks_for_names = file.lacks_names and pages.may_change(request)
    if asks_for_names:  # what 0 and 1 mean is asked until there is a label
        asks_for_names = not await project.count_labels(file.record.id)
    if not file.is_ready or not annotator or asks_for_names:
        return pages.render(request, "label.html", file=file, view=None, job=None)
    view: LabelView | None = None
    if "row" in request.query_params:
        row = pages.parse_row({"row": [request.query_params["row"]]})
        view = await project.db.run(Store.find_row, file.data, annotator, row)
    if view is None:
        view = await project.db.run(Store.next_row, file.data, annotator)
    if view.row is None and job is None and may_label:
        job = await project.choose_rows(file, annotator)
    done, newest = await project.find_newest_result(file.record.id)
    may_see = pages.may_see_results(request, file)
    classes = file.classes
    return pages.render(
        request,
        "label.html",
        file=file,
        job=job if view.row is None and job is not None and job.state != "done" else None,
        running=newest if newest is not None and newest.is_active else None,
        plan=_tell_plan(project.read_plan(done)) if done and may_label and may_see else "",
        known=await _tell_known(project, file) if may_see else None,
        guide=pages.render_markdown(file.record.guide.get("text", "")),
        described=[(c, file.describe_class(c)) for c in classes if file.describe_class(c)],
        **await _describe_card(request, project, file, view),
    )


async def mark(request: Request, project: Project, file: OpenFile) -> Response:
    """Take a label, "unsure", a note, a skip, a step back or an undo, and give the next row."""
    annotator = pages.find_annotator(request)
    form, run = pages.read_form(request), project.db.run
    file.refuse_unread()
    action, key = forms.first(form, "do") or "label", forms.first(form, "key") or make_key()
    row, data = pages.parse_row(form), file.data
    note = forms.first(form, "note").strip()[:LONGEST_NOTE] if "note" in form else None
    view: LabelView | None = None
    if action in ("label", "other", "unsure"):
        label = None if action == "unsure" else pages.parse_class(form, action, file.classes)
        given = (data, annotator, row, label, key, note)
        await run(Store.give_label, *given, proposed="proposed" in form)
        named = "" if find_pair(file.classes) else f" {file.name_class(label)}"
        done = "Noted as unsure." if label is None else f"Labeled{named}."
    elif action == "note":
        await run(Store.write_note, data, annotator, row, note or "")
        view, done = await run(Store.find_row, data, annotator, row), "Noted."
    elif action == "skip":
        await run(Store.skip_row, data, annotator, row)
        done = "Put off."
    elif action == "undo":
        back = await run(Store.undo_label, data, annotator, key)
        done = "Nothing to take back." if back is None else "Taken back."
    elif action == "back":
        view, done = await run(Store.previous_row, data, annotator, row), "The row before."
    else:
        raise InputError(f"there is no button {action!r}", hint="load the page again")
    job = None if action in ("skip", "back", "note") else await _go_on(project, file)
    if not pages.wants_json(request):
        shown = "?scores=shown" if _is_showing_scores(request, file) else ""
        return pages.go_to(f"{request.url.path}{shown}")
    if view is None:
        view = await run(Store.next_row, data, annotator)
    card = await _describe_card(request, project, file, view)
    card |= {"session": pages.find_session(request), "may_change": pages.may_change(request)}
    return JSONResponse(
        {
            "card": pages.render_fragment("card.html", file=file, **card),
            "said": done,
            "mine": view.mine,
            "settled": view.settled,
            "job": job if pages.may_see_results(request, file) else None,
            "changed": file.changed,
        }
    )


async def _go_on(project: Project, file: OpenFile) -> int | None:
    """After a batch of labels, ask for an evaluation and for more rows."""
    await project.choose_rows(file)
    if await project.count_labels_since(file) < project.settings.batch or not file.is_ready:
        return None
    return (await project.evaluate(file)).id


async def _describe_card(
    request: Request, project: Project, file: OpenFile, view: LabelView
) -> dict[str, Any]:
    """What the template of the row shows to the person who asks."""
    session, classes = pages.find_session(request), file.classes
    keys = await project.db.run(Store.read_keys, file.record.id, session.annotator)
    row = None if view.row is None else json.dumps(view.row.row)
    cells = () if view.row is None else [*view.row.cells]
    layout = arrange_cells(cells, classes, f"{session.annotator} {row}")
    called = layout["called"]
    given = None if view.given is None else file.name_class(view.given)
    given = {classes[place]: name for place, name in called.items()}.get(view.given, given)
    return {
        "view": view,
        "key": make_key(),
        "row": row,
        "layout": layout,
        "called": {j: called[i] for i, j in layout["order"] if i in called},
        "given": given,
        "proposed": next((i for i, label in enumerate(classes) if label == view.proposal), None),
        "keys": choose_keys(classes, keys),
        "codes": [json.dumps(label) for label in classes],
        "may_choose_keys": len(classes) <= len(LETTERS),
        "shown": _is_showing_scores(request, file),
        "most_counted": MOST_COUNTED,
    }


def _is_showing_scores(request: Request, file: OpenFile) -> bool:
    """Whether the person has asked to see what the models say, and may."""
    asks = request.query_params.get("scores") == "shown"
    return asks and pages.may_see_results(request, file)


async def show_tightening(request: Request, project: Project, file: OpenFile) -> Response:
    return JSONResponse(await _tell_known(project, file))


async def plan(request: Request, project: Project, file: OpenFile) -> Response:
    """How many more labels the decision takes, as a part of the page; a job while it is counted."""
    done, _ = await project.find_newest_result(file.record.id)
    if done is None or project.settings.read_only:
        return JSONResponse({"html": ""})
    found = project.read_plan(done)
    if found is None:
        job = await project.runner.add(done.file, "plan", done.request)
        if job.is_active:
            return JSONResponse({"job": job.id, "html": _tell_plan(None)})
        found = {}
    return JSONResponse({"html": _tell_plan(found)})


def _tell_plan(found: dict[str, Any] | None) -> str:
    """What a plan says, or that it is being counted; nothing where there is nothing to tell."""
    is_about_nothing = found is not None and "pick" not in found
    return "" if is_about_nothing else pages.render_fragment("plan.html", plan=found)


async def change_labeling(request: Request, project: Project, file: OpenFile) -> Response:
    """Set how rows are chosen from the next round on, who labels them, and who sees results."""
    form = pages.read_form(request)
    every = forms.first(form, "double_every").strip() or "0"
    people = forms.first(form, "people").strip() or "2"
    design = forms.first(form, "design") or file.record.design
    if design not in ("goal", "random"):
        raise InputError(option="design", value=design, must="be goal or random")
    if not (every.isdecimal() and len(every) < 5 and every != "1"):
        problem = f"“One row of” must be 0 (none) or a whole number from 2 on, got {every!r}"
        raise InputError(problem, hint="enter 5 to show every fifth row to several people")
    if people not in [*"23456789"]:
        problem = f"“How many people” must be from 2 to 9, got {people!r}"
        raise InputError(problem, hint="2 are enough for kappa")
    values = {"double_every": int(every), "people": int(people), "design": design}
    values |= {name: int(name in form) for name in ("third", "shared", "proposed")}
    await project.db.run(Store.update_file, file.record.id, **values)
    await project.db.run(Store.settle_again, file.data)
    return pages.go_to(f"/files/{file.record.id}/label")


async def choose_own_keys(request: Request, project: Project, file: OpenFile) -> Response:
    """Set the keys of the person who asks; "usual" gives them the usual ones again."""
    annotator = pages.find_annotator(request)
    form = pages.read_form(request)
    names = [*choose_keys(file.classes, {})]
    keys = {name: forms.first(form, f"key-{i}").strip().lower() for i, name in enumerate(names)}
    given = [key for key in keys.values() if key]
    wrong = [key for key in given if len(key) > 1 or not key.isprintable()]
    if wrong or len({*given}) < len(given):
        raise InputError(
            "each button needs another key" if not wrong else f"{wrong[0]!r} is not one key",
            hint="enter one letter, digit or sign for each button, or leave it empty",
        )
    keys = {} if form.get("usual") else keys
    await project.db.run(Store.update_person, file.record.id, annotator, keys=keys)
    return pages.go_to(f"/files/{file.record.id}/label")


async def assign_rows(request: Request, project: Project, file: OpenFile) -> Response:
    """Divide the rows of rounds to come among people, by share or by group."""
    form = pages.read_form(request)
    wanted, groups = {}, _list_groups(file)
    for number, who in enumerate(form.get("who", ())):
        text, group = (
            forms.first(form, f"share-{number}").strip(),
            forms.first(form, f"group-{number}"),
        )
        share = text or ("100" if group else "0")
        if not share.isdecimal() or not (share == "0" or 5 <= int(share) <= 100):
            raise InputError(
                f"the share of {who} must be from 5 to 100 percent, got {text!r}",
                hint="leave it empty for somebody who labels what is in nobody's share",
            )
        if group and group not in groups:
            raise InputError(f"there is no group {group!r}", hint="load the page again")
        wanted[who] = {"share": int(share) / 100, "group": group}

    for who, values in wanted.items():
        await project.db.run(Store.update_person, file.record.id, who, **values)
    return pages.go_to(f"/files/{file.record.id}/people#assigned")


def _list_groups(file: OpenFile) -> list[str]:
    found = (file.look or {}).get("group_values", {})
    return [f"{name}={value}" for name, values in found.items() for value in values]


async def write_guide(request: Request, project: Project, file: OpenFile) -> Response:
    form = pages.read_form(request)
    classes = file.classes
    told = {json.dumps(c): forms.first(form, f"class-{i}").strip() for i, c in enumerate(classes)}
    guide = {
        # browsers send \r\n for the end of a line
        "text": "\n".join(forms.first(form, "text").strip().splitlines())[:LONGEST_GUIDE],
        "classes": {label: text[:LONGEST_NOTE] for label, text in told.items() if text},
    }
    await project.db.run(Store.update_file, file.record.id, guide=guide)
    return pages.go_to(f"/files/{file.record.id}#guide")


async def show_mine(request: Request, project: Project, file: OpenFile) -> Response:
    annotator = pages.find_annotator(request)
    search, label, page = (request.query_params.get(name, "") for name in ("q", "label", "page"))
    number = int(page) if page.isdecimal() and len(page) < 7 else 0
    asked = (search[:200], label[:200], number * LISTED)
    rows = await project.db.run(Store.list_mine, file.data, annotator, *asked)
    shown = {"search": search, "label": label, "page": number, "has_more": len(rows) > LISTED}
    return pages.render(request, "mine.html", file=file, rows=rows[:LISTED], **shown)


async def name_classes(request: Request, project: Project, file: OpenFile) -> Response:
    """Say what the pages call the classes; labels keep the classes as they are in the file."""
    form = pages.read_form(request)
    classes = file.classes
    told = [forms.first(form, f"name-{i}").strip()[:LONGEST_NAME] for i in range(len(classes))]
    told = [""] * len(classes) if form.get("plain") else told
    names = {json.dumps(label): text for label, text in zip(classes, told, strict=True) if text}
    called = [names.get(json.dumps(label), str(label)) for label in classes]
    if len({*called}) < len(called):
        problem = f"two classes would have one name: {', '.join(called)}"
        raise InputError(problem, hint="give them different names")
    await project.db.run(Store.update_file, file.record.id, names=names)
    back = "/label" if form.get("back") else ""
    return pages.go_to(f"/files/{file.record.id}{back}")


async def _tell_known(project: Project, file: OpenFile) -> dict[str, str]:
    """What the labels show so far: the decision, and the intervals as they tightened."""
    found = await project.db.run(lambda store: store.memory(file.data).evaluations(results.STEPS))
    records = list(found.values())
    metric, order, decision = "", [], None
    if records:
        metric = records[-1].estimates[0].metric
        decision = records[-1].decisions[0] if records[-1].decisions else None
        order = _order_models(records, metric)
    pictures = results.draw_tightening(records, metric, order)
    told = ""
    if decision is not None:
        told = pages.render_fragment(
            "decision.html",
            decision=decision,
            labeled=records[-1].n_labeled,
            stop=(project.read(records[-1].key, "facts") or {}).get("stop", ""),
        )
    shown = pages.render_fragment(
        "tightening.html", pictures=pictures, metric=metric, decision=decision
    )
    return {"decision": told, "html": shown}


def _order_models(records: list[memory.EvaluationRecord], metric: str) -> list[str]:
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
    shown = order[: results.MODELS]
    return order if pick in shown or pick not in order else [pick, *order]


async def export(request: Request, project: Project, file: OpenFile) -> Response:
    labels = await project.db.run(
        lambda store: store.list_all_labels(store.list_data(file.record.id))
    )
    head = "id,label,annotator,given_at,probability,reason,counts,note,proposal\n"
    return _save(writing.format_csv(labels) or head, "labels.csv", "text/csv")


async def export_tasks(request: Request, project: Project, file: OpenFile) -> Response:
    """The present label of each person, with the content of its row, as Label Studio reads it."""

    def make(store: Store) -> list[dict[str, Any]]:
        labels = store.list_all_labels(store.list_data(file.record.id))
        return _make_tasks(labels, store.list_cells(file.data), store.list_proposals(file.data))

    tasks = json.dumps(await project.db.run(make), ensure_ascii=False, indent=1)
    return _save(tasks, "labels.json", "application/json")


def _make_tasks(
    labels: Sequence[Mapping[str, Any]],
    cells: Mapping[Any, Sequence[tuple[str, str, str]]],
    proposals: Mapping[Any, Any],
) -> list[dict[str, Any]]:
    """Tasks as Label Studio imports them: each person's label and what a file proposes.

    Its project needs a control ``<Choices name="label" toName="text">`` for an object called
    ``text``. Only labels that people hold now are among them: ``labels`` are those of
    `LabelStore.list_all_labels`, ``cells`` the content of each row.
    """
    tasks: dict[Any, dict[str, Any]] = {}

    def find_task(row: Any) -> dict[str, Any]:
        shown = {name: text for name, kind, text in cells.get(row, ()) if kind != "score"}
        return tasks.setdefault(row, {"data": {**shown, "id": row}, "annotations": []})

    for row, proposal in proposals.items():
        find_task(row)["predictions"] = [{"result": _make_answers(str(proposal))}]
    newest = {(each["id"], each["annotator"]): each for each in labels}
    for (row, annotator), each in newest.items():
        if each["label"] is None:
            continue
        result = _make_answers(str(each["label"]), each["note"])
        find_task(row)["annotations"].append(
            {"completed_by": {"email": annotator}, "result": result}
        )
    return [*tasks.values()]


def _make_answers(label: str, note: str = "") -> list[dict[str, Any]]:
    answers = [("label", "choices", "choices", label)]
    answers += [("note", "textarea", "text", note)] if note else []
    return [
        {"from_name": name, "to_name": "text", "type": kind, "value": {key: [value]}}
        for name, kind, key, value in answers
    ]


def _save(text: str, name: str, kind: str) -> Response:
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(text.encode("utf-8", "backslashreplace"), media_type=kind, headers=headers)


async def add_labels(request: Request, project: Project, file: OpenFile) -> Response:
    """Take a file of labels whose bytes are the body; its name is in the address."""
    if not file.is_ready:
        raise InputError("the data was not read yet", hint="see the page “What is in it” first")
    name = request.query_params.get("name", "")
    kinds = settings.LABEL_SUFFIXES
    path = await files.save_upload(project.settings, name, request.stream(), kinds)
    job = await project.add_labels(file, path)
    return JSONResponse({"go": f"/files/{file.record.id}/people?labels={job.id}"})


async def show_image(request: Request, project: Project, file: OpenFile) -> Response:
    """A picture that a cell of a row to label names."""
    text = request.query_params.get("path", "")
    row = pages.parse_row({"row": [request.query_params.get("row", "")]})
    if not await project.db.run(Store.shows_image, file.data, row, text):
        raise InputError("no row to label names this picture", hint="load the page again")
    content, kind = files.find_image(project.settings, file.record, text)
    return Response(
        content, media_type=kind, headers={"content-security-policy": "default-src 'none'; sandbox"}
    )


async def show_people(request: Request, project: Project, file: OpenFile) -> Response:
    """Who labeled how many rows, how far they agree, and rows that wait for a verdict."""

    def read(store: Store) -> dict[str, Any]:
        names = store.list_data(file.record.id)
        conflicts = store.list_conflicts(file.data)
        return {
            "people": store.list_people(names),
            "agreement": store.measure_agreement(names),
            "conflicts": [{**each, "key": make_key()} for each in conflicts],
            "settled": store.count_settled(names),
            "entries": store.list_entries(),
            "assigned": {who: rest for who, *rest in store.list_assigned(file.record.id)},
        }

    found, job = await project.db.run(read), await _find_import(request, project, file)
    imported = project.read(job.key, "labels") if job and job.state == "done" else None
    return pages.render(
        request,
        "people.html",
        file=file,
        job=job,
        error=None if job is None else pages.parse_message(job.message),
        imported=imported and {name: len(each) for name, each in imported.items()},
        suffixes=settings.LABEL_SUFFIXES,
        groups=_list_groups(file),
        **found,
    )


async def _find_import(request: Request, project: Project, file: OpenFile) -> JobRecord | None:
    """The import of labels that the address names."""
    number = request.query_params.get("labels", "")
    if not (number.isdecimal() and len(number) < 19):
        return None
    job = await project.db.run(Store.find_job, int(number))
    return job if (job.file, job.kind) == (file.record.id, "labels") else None


async def settle_conflict(request: Request, project: Project, file: OpenFile) -> Response:
    """Take a verdict on a row about which people differ."""
    annotator = pages.find_annotator(request)
    form = pages.read_form(request)
    file.refuse_unread()
    label = pages.parse_class(form, "label", file.classes)
    row, key = pages.parse_row(form), forms.first(form, "key") or make_key()
    await project.db.run(Store.adjudicate, file.data, annotator, row, label, key)
    return pages.go_to(f"/files/{file.record.id}/people")
