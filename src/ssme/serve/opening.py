"""The pages "Files" and "What is in it": choose a file, see what was understood, correct it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from ssme.errors import InputError
from ssme.sample import sample_path
from ssme.serve.files import list_root, resolve_inside_root, save
from ssme.serve.mapping import PARTS, parse_mapping
from ssme.serve.pages import find_project, go_to, parse_message, read_form, render
from ssme.serve.settings import SUFFIXES

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
    file = await project.open(request.path_params["file"])
    failed = None
    if file.job is not None and file.job.state in ("failed", "cancelled"):
        failed = parse_message(file.job.message) or {
            "got": "Looking at the file was cancelled.",
            "allowed": "",
            "fix": "choose “Read it again”",
            "fields": [],
        }
    return render(
        request,
        "file.html",
        file=file,
        follows_from=(file.record, file.job, file.changed),
        parts_words=PARTS,
        failed=failed,
        fields=_fill_fields(file.record),
    )


def _fill_fields(record: Any) -> dict[str, Any]:
    """What the form shows of the present mapping."""
    read, run = record.read, record.run
    return {
        "classes": ", ".join(map(str, read.get("classes", ()))),
        "positive": str(read.get("positive", "")),
        "unlabeled": ", ".join(map(str, read.get("unlabeled", ()))),
        "pattern": read.get("pattern", ""),
        "layout": read.get("layout", ""),
        "delimiter": read.get("delimiter", ""),
        "logits": bool(read.get("logits")),
        "normalize": bool(read.get("normalize")),
        "models_named": "models" in read,
        "metric": run.get("metric"),
        "method": run.get("method", "auto"),
        "level": f"{100 * run['level']:g}" if "level" in run else "95",
        "shown": record.shown,
    }


async def correct(request: Request) -> Response:
    """Take a corrected mapping and look at the file with it."""
    project = find_project(request)
    file = await project.open(request.path_params["file"])
    columns = [] if file.look is None else file.look["columns"]
    read, run, shown = parse_mapping(await read_form(request), columns)
    await project.look(file.record.id, read, run, shown if columns else None)
    return go_to(f"/files/{file.record.id}")


async def read_again(request: Request) -> Response:
    """Take the file as it is on the disk now."""
    project = find_project(request)
    file = await project.open(request.path_params["file"])
    await project.add_file(Path(file.record.path), file.record.name)
    return go_to(f"/files/{file.record.id}")
