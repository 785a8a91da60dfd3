"""Files of scores, and the pages "Files" and "What is in it".

Files are given through the page, or opened by path inside ``--root``, never elsewhere. A file is
known by its content (SHA-256): when it changes on the disk, the page says so and nothing is
computed until somebody asks to read it again. Labels belong to the ids of rows, so they stay; where
rows have no ids they belong to the content.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from ssme import sample, schema, writing
from ssme.errors import InputError
from ssme.serve import forms, pages, store
from ssme.serve.settings import SUFFIXES, ServeSettings

if TYPE_CHECKING:
    from ssme.serve.project import OpenFile, Project

LISTED = 500
"""Files of ``--root`` that the page lists."""
IMAGE_TYPES = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
    b"RIFF": "image/webp",
}
"""First bytes of a picture -> what it is. SVG is not among them: it can hold scripts."""


def resolve_inside_root(settings: ServeSettings, text: str) -> Path:
    """The file that ``text`` names inside ``--root``; links that lead out of it are refused."""
    if settings.root is None:
        raise InputError(
            "files cannot be opened by path here",
            hint="give the file through the page, or start the server with --root FOLDER",
        )
    return _resolve_inside(settings.root.resolve(), text)


def _resolve_inside(root: Path, text: str) -> Path:
    try:
        path = (root / text).resolve()
    except (OSError, ValueError, RuntimeError):
        raise InputError("this is not the path of a file", hint="choose one of the list") from None
    if not path.is_relative_to(root):
        raise InputError(
            f"{text} is outside the folder that this server may read",
            hint="choose one of the list",
        )
    return path


def list_root(settings: ServeSettings) -> list[str]:
    """Files inside ``--root`` that may hold scores, by their path from there."""
    found: list[str] = []
    root = None if settings.root is None else settings.root.resolve()
    for folder, folders, names in () if root is None else os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        if settings.project.resolve() == Path(folder).resolve():
            folders[:] = []
            continue
        fitting = (n for n in sorted(names) if Path(n).suffix.lower() in SUFFIXES and n[0] != ".")
        found += (os.path.relpath(os.path.join(folder, name), root) for name in fitting)
        if len(found) >= LISTED:
            break
    return found[:LISTED]


def fingerprint(path: Path) -> tuple[str, int, int]:
    """SHA-256, size and time of change of a file; an error where it cannot be one of ours."""
    check_file(path)
    with path.open("rb") as content:
        digest = hashlib.file_digest(content, "sha256").hexdigest()
    facts = path.stat()
    return digest, facts.st_size, facts.st_mtime_ns


def check_file(path: Path) -> None:
    if path.suffix.lower() not in SUFFIXES:
        raise _make_suffix_error(path.name)
    if not path.is_file():
        raise InputError(f"there is no file {path.name}", hint="check its name")


def _make_suffix_error(name: str, suffixes: Sequence[str] = SUFFIXES) -> InputError:
    kinds = ", ".join(suffixes)
    return InputError(f"{name} cannot be read", hint=f"give a file that ends in {kinds}")


def has_changed(file: store.FileRecord) -> str:
    """What happened to a file on the disk since it was opened; empty if nothing."""
    try:
        facts = Path(file.path).stat()
        if (facts.st_size, facts.st_mtime_ns) == (file.size, file.changed_ns):
            return ""
        return "" if fingerprint(Path(file.path))[0] == file.sha256 else "was changed on the disk"
    except (InputError, OSError):
        return "is no longer there"


def name_data(file: store.FileRecord, has_ids: bool) -> str:
    """The name under which the memory keeps the labels of a file."""
    return f"file {file.id}" if has_ids else f"file {file.id} {file.sha256[:12]}"


async def save_upload(
    settings: ServeSettings,
    name: str,
    chunks: AsyncIterator[bytes],
    suffixes: Sequence[str] = SUFFIXES,
) -> Path:
    """Write an upload into the project, whole or not at all; nothing there is overwritten."""
    clean = re.sub(r"[^\w.\- ]", "_", Path(name.replace("\\", "/")).name).strip(" .")[-120:]
    if Path(clean).suffix.lower() not in suffixes:
        raise _make_suffix_error(clean or "the file", suffixes)
    limit, size, digest = settings.upload_mb * 1_000_000, 0, hashlib.sha256()
    partial = settings.uploads / f".{os.urandom(8).hex()}.part"
    try:
        with writing.open_whole(partial) as target:
            async for chunk in chunks:
                size += len(chunk)
                if size > limit:
                    raise pages.RefusedError(
                        413,
                        f"{clean} is larger than {settings.upload_mb:,} MB",
                        "Start the server with --root and open it by path, or with a larger "
                        "--upload-mb.",
                    )
                digest.update(chunk)
                target.write(chunk)
        if size == 0:
            raise InputError(f"{clean} is empty", hint="choose another file")
        folder = settings.uploads / digest.hexdigest()[:16]
        folder.mkdir(mode=0o700, exist_ok=True)
        os.replace(partial, folder / clean)
        return folder / clean
    finally:
        partial.unlink(missing_ok=True)


def find_image(settings: ServeSettings, file: store.FileRecord, text: str) -> tuple[bytes, str]:
    """The bytes and type of a picture that a cell names.

    The path is taken from the folder of the file of scores, then from ``--root``. The picture is
    inside ``--root``; without one, in the folder of a file that the server was started with.
    """
    folder = Path(file.path).parent.resolve()
    root = folder if settings.root is None else settings.root.resolve()
    if settings.root is None and folder.is_relative_to(settings.uploads.resolve()):
        root = folder / file.name  # an upload comes without pictures
    for place in (str(folder / text), text):
        try:
            path = _resolve_inside(root, place)
        except InputError:
            continue
        if path.is_file() and path.stat().st_size <= settings.upload_mb * 1_000_000:
            content = path.read_bytes()
            kind = next((k for head, k in IMAGE_TYPES.items() if content.startswith(head)), None)
            if kind is not None and (kind != "image/webp" or content[8:12] == b"WEBP"):
                return content, kind
    raise InputError(f"{text} is not a picture in the folder of this server", hint="check the path")


# -------------------------------------------------------------------------------------------------
# The pages.


async def show_files(request: Request, project: Project) -> Response:
    return pages.render(
        request,
        "files.html",
        files=await project.db.run(store.Store.list_files),
        listed=list_root(project.settings),
        suffixes=SUFFIXES,
        formats=schema.LISTED_FORMATS,
    )


async def upload(request: Request, project: Project) -> Response:
    name = request.query_params.get("name", "")
    path = await save_upload(project.settings, name, request.stream())
    return JSONResponse({"go": f"/files/{await project.add_file(path)}"})


async def open_path(request: Request, project: Project) -> Response:
    """Open a file inside ``--root``, or the bundled sample."""
    form = pages.read_form(request)
    text = forms.first(form, "path").strip()
    if not (text or form.get("sample")):
        raise InputError("no path was given", hint="choose a file of the list")
    path = (
        sample.sample_path() if form.get("sample") else resolve_inside_root(project.settings, text)
    )
    return pages.go_to(f"/files/{await project.add_file(path)}")


async def show_file(
    request: Request,
    project: Project,
    file: OpenFile,
    typed: forms.Form | None = None,
    error: Any = None,
) -> Response:
    """The page, with the form as the newest mapping has it, or as it was ``typed``."""
    asked = {} if file.job is None else file.job.request
    read, run = asked.get("read", {}), asked.get("run", {})
    columns, source = await _find_columns(project, file, typed or {})
    parts = forms.find_parts(columns, read, asked.get("shown", file.record.shown))
    proposed = (file.tried or {}).get("proposed", {})
    values = forms.fill_form({**read, **proposed}, run)
    if typed is not None:
        parts = [typed.get(f"part-{i}", [part])[0] for i, part in enumerate(parts)]
        values = forms.fill_form({}, {}) | {name: of[0] for name, of in typed.items() if of[0]}
        values["metric"] = typed.get("metric")
    by_hand = await project.count_labels(file.record.id)
    state = "" if file.job is None else file.job.state
    failed = None
    if state in ("failed", "cancelled") and file.job is not None:
        failed = pages.parse_message(file.job.message) or forms.make_error(
            "Reading the file was cancelled.", "Choose “Read it again”."
        )
    return pages.render(
        request,
        "file.html",
        status=200 if typed is None else 400,
        file=file,
        here=f"/files/{file.record.id}",
        error=error or failed or (file.tried or {}).get("error"),
        is_waiting=state in ("waiting", "running"),
        columns=[*zip(columns, parts, strict=True)],
        columns_from=source,
        fields=_offer_words(forms.list_fields(file.record.path), columns, parts, values),
        values=values,
        proposed=proposed,
        by_hand=by_hand,
        parts_words=forms.PARTS,
        titles=forms.TITLES,
        value_words=forms.VALUES,
        has_failed=failed is not None,
    )


async def _find_columns(
    project: Project, file: OpenFile, typed: forms.Form
) -> tuple[Sequence[Mapping[str, Any]], int | None]:
    """The columns that a form is about, and the job that found them; by default the newest."""
    number = forms.first(typed, "columns_from")
    if number.isdecimal() and len(number) < 19:
        job = await project.db.run(store.Store.find_job, int(number))
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


async def correct(request: Request, project: Project, file: OpenFile) -> Response:
    """Look at the file with a corrected mapping, which is taken if the file can be read with it."""
    form = pages.read_form(request)
    columns, _ = await _find_columns(project, file, form)
    given = {*([] if file.job is None else file.job.request["read"])}
    if form.get("confirm"):
        given.add("models")
    try:
        mapping = forms.parse_mapping(form, columns, file.record.path, given)
    except InputError as error:
        return await show_file(request, project, file, form, forms.spell_for_page(error))
    await project.look(file.record.id, *mapping)
    return pages.go_to(f"/files/{file.record.id}")


async def read_again(request: Request, project: Project, file: OpenFile) -> Response:
    """Take the file as it is on the disk now."""
    await project.add_file(Path(file.record.path), file.record.name)
    return pages.go_to(f"/files/{file.record.id}")
