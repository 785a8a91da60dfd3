"""Files of scores: given through the page, or opened by path inside ``--root``, never elsewhere.

A file is known by its content (SHA-256). When the content on the disk changes, the page says so
and nothing is computed until somebody asks to read it again. Labels belong to the names of rows, so
they stay; where rows have no names they belong to the content.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import AsyncIterator
from pathlib import Path

from ssme.errors import InputError
from ssme.serve.security import RefusedError
from ssme.serve.settings import SUFFIXES, ServeSettings
from ssme.serve.store import FileRecord
from ssme.writing import open_whole

__all__ = [
    "find_image",
    "fingerprint",
    "has_changed",
    "is_as_opened",
    "list_root",
    "name_data",
    "resolve_inside_root",
    "save",
]

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
            fix="give the file through the page, or start the server with --root FOLDER",
        )
    root = settings.root.resolve()
    try:
        path = (root / text).resolve()
    except (OSError, ValueError, RuntimeError):
        raise InputError("this is not the path of a file", fix="choose one of the list") from None
    if not path.is_relative_to(root):
        raise InputError(
            f"{text} is outside the folder that this server may read",
            allowed=f"files in {root.name}",
            fix="choose one of the list",
        )
    return path


def list_root(settings: ServeSettings) -> list[str]:
    """Files inside ``--root`` that may hold scores, by their path from there."""
    if settings.root is None:
        return []
    root = settings.root.resolve()
    found: list[str] = []
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        if settings.project.resolve() == Path(folder).resolve():
            folders[:] = []
            continue
        for name in sorted(names):
            if Path(name).suffix.lower() in SUFFIXES and not name.startswith("."):
                found.append(str((Path(folder) / name).relative_to(root)))
                if len(found) == LISTED:
                    return found
    return found


def fingerprint(path: Path) -> tuple[str, int, int]:
    """SHA-256, size and time of change of a file; an error where it cannot be one of ours."""
    if path.suffix.lower() not in SUFFIXES:
        raise InputError(
            f"{path.name} has the suffix {path.suffix!r}",
            allowed=f"files ending in {', '.join(SUFFIXES)}",
            fix="save the scores as one of these",
        )
    if not path.is_file():
        raise InputError(f"there is no file {path.name}", fix="check its name")
    with path.open("rb") as content:
        digest = hashlib.file_digest(content, "sha256").hexdigest()
    facts = path.stat()
    return digest, facts.st_size, facts.st_mtime_ns


def is_as_opened(file: FileRecord) -> bool:
    """Whether size and time of change are those of when the file was opened."""
    try:
        facts = Path(file.path).stat()
    except OSError:
        return False
    return (facts.st_size, facts.st_mtime_ns) == (file.size, file.changed_ns)


def has_changed(file: FileRecord) -> str:
    """What happened to a file on the disk since it was opened; empty if nothing."""
    if is_as_opened(file):
        return ""
    try:
        found = fingerprint(Path(file.path))[0]
    except (InputError, OSError):
        return "is no longer there"
    return "" if found == file.sha256 else "was changed on the disk"


def name_data(file: FileRecord, has_ids: bool) -> str:
    """The name under which the memory keeps the labels of a file."""
    return f"file {file.id}" if has_ids else f"file {file.id} {file.sha256[:12]}"


async def save(settings: ServeSettings, name: str, chunks: AsyncIterator[bytes]) -> Path:
    """Write an upload into the project, whole or not at all; nothing there is overwritten."""
    clean = re.sub(r"[^\w.\- ]", "_", Path(name.replace("\\", "/")).name).strip(" .")[-120:]
    if Path(clean).suffix.lower() not in SUFFIXES:
        raise InputError(
            f"{clean or 'the file'} is none of the kinds that can be read",
            allowed=f"files ending in {', '.join(SUFFIXES)}",
            fix="save the scores as one of these",
        )
    limit, size, digest = settings.upload_mb * 1_000_000, 0, hashlib.sha256()
    partial = settings.uploads / f".{os.urandom(8).hex()}.part"
    try:
        with open_whole(partial) as target:
            async for chunk in chunks:
                size += len(chunk)
                if size > limit:
                    raise RefusedError(
                        413,
                        f"{clean} is larger than {settings.upload_mb:,} MB",
                        "Start the server with --root and open it by path, or with a larger "
                        "--upload-mb.",
                    )
                digest.update(chunk)
                target.write(chunk)
        if size == 0:
            raise InputError(f"{clean} is empty", fix="choose another file")
        folder = settings.uploads / digest.hexdigest()[:16]
        folder.mkdir(mode=0o700, exist_ok=True)
        os.replace(partial, folder / clean)
        return folder / clean
    finally:
        partial.unlink(missing_ok=True)


def find_image(settings: ServeSettings, file: FileRecord, text: str) -> tuple[bytes, str]:
    """The bytes and type of a picture that a cell names, inside ``--root`` only.

    The path is taken from the folder of the file of scores first, then from ``--root``.
    """
    for place in (str(Path(file.path).parent / text), text):
        try:
            path = resolve_inside_root(settings, place)
        except InputError:
            continue
        if path.is_file() and path.stat().st_size <= settings.upload_mb * 1_000_000:
            content = path.read_bytes()
            kind = next((k for head, k in IMAGE_TYPES.items() if content.startswith(head)), None)
            if kind is not None and (kind != "image/webp" or content[8:12] == b"WEBP"):
                return content, kind
    raise InputError(f"{text} is not a picture in the folder of this server", fix="check the path")
