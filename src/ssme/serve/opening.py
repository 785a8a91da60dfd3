"""The pages "Files" and "What is in it": choose a file, see what was understood, correct it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from ssme.errors import InputError
from ssme.sample import sample_path
from ssme.serve.files import list_root, resolve_inside_root, save
from ssme.serve.mapping import Form, fill_form, find_parts, parse_mapping
from ssme.serve.pages import find_project, go_to, parse_message, read_form, render
from ssme.serve.project import OpenFile, Project
from ssme.serve.settings import SUFFIXES
from ssme.serve.spelling import PARTS, TITLES, VALUES, spell_for_page

__all__ = ["correct", "open_path", "read_again", "show", "show_files", "upload"]


async def show_files(request: Request) -> Response:
    """All files of the project, and ways to open another."""
    project = find_project(request)
    known = await project.desk.ask(lambda records: records.store.list_files())
    listed = list_root(project.settings)
    return render(request, "files.html", files=known, listed=listed, suffixes=SUFFIXES)


async def upload(request: Request) -> Response:
    """Take a file whose bytes are the body; its name is in the address."""
    project = find_project(request)
    name = request.query_params.get("name", "")
    path = await save(project.settings, name, request.stream())
    number = await project.add_file(path)
    return JSONResponse({"go": f"/files/{number}"})


async def open_path(request: Request) -> Response:
    """Open a file inside ``--root``, or the bundled sample."""
    project, form = find_project(request), await read_form(request)
    if form.get("sample"):
        number = await project.add_file(sample_path())
    else:
        text = form.get("path", [""])[0].strip()
        if not text:
            raise InputError("no path was given", fix="choose a file of the list")
        number = await project.add_file(resolve_inside_root(project.settings, text))
    return go_to(f"/files/{number}")


async def show(request: Request) -> Response:
    """What is in a file, and the form to correct it."""
    project = find_project(request)
    return await _render(request, await project.open(request.path_params["file"]))


async def _render(
    request: Request, file: OpenFile, typed: Form | None = None, error: Any = None
) -> Response:
    """The page, with the form as the newest mapping has it, or as it was ``typed``."""
    project = find_project(request)
    asked = {} if file.job is None else file.job.request
    read, run = asked.get("read", {}), asked.get("run", {})
    columns, source = await _find_columns(project, file, typed or {})
    parts = find_parts(columns, read, asked.get("shown", file.record.shown))
    proposed = (file.tried or {}).get("proposed", {})
    values = fill_form({**read, **proposed}, run)
    if typed is not None:
        parts = [typed.get(f"part-{i}", [part])[0] for i, part in enumerate(parts)]
        values = fill_form({}, {}) | {name: of[0] for name, of in typed.items() if of[0]}
        values["metric"] = typed.get("metric")
    by_hand = await project.count_labels(file.record.id)
    state = "" if file.job is None else file.job.state
    failed = None
    if state in ("failed", "cancelled") and file.job is not None:
        failed = parse_message(file.job.message) or {
            "got": "Reading the file was cancelled.",
            "allowed": "",
            "fix": "choose “Read it again”",
            "fields": [],
        }
    error = error or failed or (file.tried or {}).get("error")
    waits = state in ("waiting", "running")
    knows_fields = file.look or file.tried or not waits  # the job will say, which costs nothing
    fields = await _list_fields(file) if knows_fields else ()
    context: dict[str, Any] = {
        "error": error,
        "is_waiting": waits,
        "columns": [*zip(columns, parts, strict=True)],
        "columns_from": source,
        "fields": _offer_words(fields, columns, parts, values),
        "values": values,
        "proposed": proposed,
        "by_hand": by_hand,
        "parts_words": PARTS,
        "titles": TITLES,
        "value_words": VALUES,
        "has_failed": failed is not None,
    }
    follows = None if typed else (file.record, file.job, file.changed, file.is_current, by_hand)
    status, here = 200 if typed is None else 400, f"/files/{file.record.id}"
    return render(
        request, "file.html", status=status, file=file, follows_from=follows, here=here, **context
    )


async def _find_columns(
    project: Project, file: OpenFile, typed: Form
) -> tuple[Sequence[Mapping[str, Any]], int | None]:
    """The columns that a form is about, and the job that found them; by default the newest."""
    number = typed.get("columns_from", [""])[0]
    if number.isdecimal() and len(number) < 19:
        job = await project.desk.ask(lambda records: records.store.find_job(int(number)))
        look = project.read_look(job) if (job.file, job.kind) == (file.record.id, "look") else None
        if look is not None:
            return look["columns"], job.id
    if file.tried is not None and file.tried["columns"] and file.job is not None:
        return file.tried["columns"], file.job.id
    return (file.look["columns"] if file.look else ()), file.record.look


def _offer_words(
    fields: Sequence[Mapping[str, Any]],
    columns: Sequence[Mapping[str, Any]],
    parts: Sequence[str],
    values: Mapping[str, Any],
) -> list[Mapping[str, Any]]:
    """The fields with the two words of a label column to choose the positive class from."""
    labels = [c for c, part in zip(columns, parts, strict=True) if part == "label"]
    words = labels[0]["examples"] if len(labels) == 1 and labels[0]["kind"] == "text" else []
    offer = len(words) == 2 and values.get("positive", "") in ("", *words)
    return [{**f, "choices": words} if offer and f["name"] == "positive" else f for f in fields]


async def _list_fields(file: OpenFile) -> Sequence[Mapping[str, Any]]:
    for found in (file.tried, file.look):
        if found is not None and "fields" in found:
            return cast(Sequence[Mapping[str, Any]], found["fields"])

    def list_here() -> Sequence[Mapping[str, Any]]:
        from ssme.serve.looking import list_fields  # large: only where no job could say

        return list_fields(file.record.path)

    return await asyncio.to_thread(list_here)


async def correct(request: Request) -> Response:
    """Look at the file with a corrected mapping, which is taken if the file can be read with it."""
    project, form = find_project(request), await read_form(request)
    file = await project.open(request.path_params["file"])
    columns, _ = await _find_columns(project, file, form)
    said = {*([] if file.job is None else file.job.request["read"])}
    if file.tried is not None and any(
        (column["kind"], column["role"]) == ("number", "shown") for column in columns
    ):
        said.add("models")
    try:
        mapping = parse_mapping(form, columns, await _list_fields(file), said)
    except InputError as error:
        return await _render(request, file, form, spell_for_page(error))
    await project.look(file.record.id, *mapping)
    return go_to(f"/files/{file.record.id}")


async def read_again(request: Request) -> Response:
    """Take the file as it is on the disk now."""
    project = find_project(request)
    file = await project.open(request.path_params["file"])
    await project.add_file(Path(file.record.path), file.record.name)
    return go_to(f"/files/{file.record.id}")
