"""Files of scores, told by their suffix: CSV, TSV, Parquet, Excel, JSON Lines, npz and npy.

None of them is ever unpickled.
"""

from __future__ import annotations

import errno
import re
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import unquote

from ssme.data.readers.array_files import open_arrays
from ssme.data.readers.csv_files import open_csv
from ssme.data.readers.excel import open_excel
from ssme.data.readers.json_lines import open_json_lines
from ssme.data.readers.options import ReadOptions
from ssme.errors import InputError, MissingExtraError, argument, translate_foreign_errors
from ssme.wording import escape_all, suggest_nearest

__all__ = [
    "FILE_OPTIONS",
    "READERS",
    "Reader",
    "find_local_path",
    "find_reader",
    "open_table",
    "refuse_file_options",
]


FILE_OPTIONS = {
    "delimiter": "CSV only",
    "decimal": "CSV only",
    "thousands": "CSV only",
    "encoding": "CSV only",
    "sheet": "Excel files only",
}
"""Options that say how one kind of file is written, and of which kind."""


@dataclass(frozen=True)
class Reader:
    """How one kind of file is opened: to a pandas, polars or pyarrow frame, or to named arrays.

    ``open`` gets the path and, by keyword, the options named in ``takes``. ``delimiter`` is what is
    between cells without that option. In the columns of a reader of ``lists``, a cell may be a list
    of class scores.
    """

    kind: Literal["table", "arrays"]
    open: Callable[..., Any]
    takes: tuple[str, ...] = ()
    delimiter: str | None = None
    lists: bool = False


def find_local_path(path: str | Path) -> Path:
    """The path that ``path`` or an address such as ``file:///data/scores.csv`` stands for."""
    text = str(path)
    scheme = re.match(r"([A-Za-z][A-Za-z0-9+.-]+):/", text)
    if scheme is None or Path(text).exists():
        return Path(path)
    if scheme[1].lower() == "file":
        place = text[len("file:") :]
        host, slash, rest = place[2:].partition("/") if place.startswith("//") else ("", "/", place)
        if host in ("", "localhost") and slash:
            return Path(unquote("/" + rest.lstrip("/")))
        raise InputError(
            f"{text} is a file on another machine, {host!r}",
            allowed="a file on this machine, such as file:///data/scores.csv",
            fix="copy the file, or write three slashes before an absolute path",
        )
    raise InputError(
        f"{text} is an address, not a file on this machine",
        allowed="the path of a file",
        fix="download it first; Parquet in an object store can be streamed (engine 'stream')",
    )


def find_reader(file: Path) -> Reader:
    """The reader of the file's suffix; the file must be there and be a regular file."""
    try:
        mode = file.stat().st_mode
    except (OSError, ValueError) as error:
        if getattr(error, "errno", None) in (errno.EACCES, errno.EPERM, errno.EIO):
            raise
        raise _tell_no_file(file) from None
    if stat.S_ISDIR(mode):
        raise InputError(
            f"{file} is a directory", allowed="a file", fix=f"name a file in it, or {STREAMED}"
        )
    reader = READERS.get(file.suffix.lower())
    if reader is None:
        raise InputError(
            f"{file} has the suffix {file.suffix!r}",
            allowed=f"files ending in {', '.join(READERS)}",
            fix="save it as one of these, or load it and use ScoreSet.from_frame or from_arrays",
        )
    if not stat.S_ISREG(mode):
        raise InputError(
            f"{file} is a pipe or a device, whose rows can be read only once",
            allowed="a regular file",
            fix="write the rows to a file first",
        )
    return reader


def open_table(file: Path, options: ReadOptions | None = None) -> Any:
    """The native frame in a file that holds a table."""
    reader, told = find_reader(file), options or ReadOptions()
    if reader.kind != "table":
        raise InputError(
            f"{file} holds arrays, not a table with ids",
            allowed=", ".join(s for s, r in READERS.items() if r.kind == "table"),
            fix="pass the labels as an array",
        )
    refuse_file_options(told, reader, str(file))
    given = {name: getattr(told, name) for name in reader.takes}
    if reader.delimiter is not None:
        given["delimiter"] = told.delimiter or reader.delimiter
        given["ignored"] = told.ignore or ()
    before = _fingerprint(file)
    frame = reader.open(file, **given)
    if _fingerprint(file) != before:
        raise InputError(
            f"{file} was changed while it was read",
            allowed="a file that stays as it is",
            fix="read it again once it is written, or read a copy",
        )
    return frame


def _fingerprint(file: Path) -> tuple[int, int, int]:
    """What tells one content of a file from another: which file it is, its size and its time."""
    found = file.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns


def refuse_file_options(options: ReadOptions, reader: Reader | None, what: str) -> None:
    """Refuse an option that says how another kind of file is written."""
    for name, kind in FILE_OPTIONS.items():
        value = getattr(options, name)
        if value is not None and (reader is None or name not in reader.takes):
            raise InputError(
                f"{argument(name, repr(value))} was given for {what}",
                allowed=f"{argument(name)} for {kind}",
                fix="leave it out",
            )


def open_parquet(file: Path) -> Any:
    """The pyarrow table in a Parquet file."""
    try:
        from pyarrow import parquet
    except ImportError:
        raise MissingExtraError("reading Parquet", "parquet") from None
    cure = "write it again, or save the table as another kind of file"
    with (
        translate_foreign_errors(f"reading {file}", allowed="Parquet files", fix=cure),
        file.open("rb") as content,
    ):
        return parquet.ParquetFile(content).read()


def _tell_no_file(file: Path) -> InputError:
    try:
        near = [each.name for each in file.parent.iterdir()]
    except (OSError, ValueError):
        near = []
    if any(mark in file.name for mark in "*?["):
        return InputError(
            f"no file {escape_all(str(file))}, which reads like a pattern",
            allowed="an existing file",
            fix=f"name one file, or {STREAMED}",
        )
    return InputError(
        f"no file {escape_all(str(file))}",
        allowed="an existing file",
        fix=f"{suggest_nearest(file.name, near)}check the path",
    )


STREAMED = f"evaluate several Parquet files with {argument('engine', repr('stream'))}"
"""What to do with a folder or a pattern of files."""

OF_CSV = ("delimiter", "decimal", "thousands", "encoding", "classes")

READERS: dict[str, Reader] = {
    ".csv": Reader("table", open_csv, OF_CSV, delimiter=","),
    ".tsv": Reader("table", open_csv, OF_CSV, delimiter="\t"),
    ".parquet": Reader("table", open_parquet),
    ".xlsx": Reader("table", open_excel, ("sheet", "classes")),
    ".xlsm": Reader("table", open_excel, ("sheet", "classes")),
    ".jsonl": Reader("table", open_json_lines, lists=True),
    ".ndjson": Reader("table", open_json_lines, lists=True),
    ".npz": Reader("arrays", open_arrays),
    ".npy": Reader("arrays", open_arrays),
}
"""Suffix -> reader. docs/extending.md says what a new format needs beside its line here."""
