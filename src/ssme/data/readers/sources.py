"""Where files are and which reader opens them, by suffix. None is ever unpickled."""

from __future__ import annotations

import errno
import re
import stat
from collections.abc import Callable
from inspect import signature
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

from ssme.data.readers import csv_files, logs, records
from ssme.errors import InputError, MissingExtraError, translate_foreign_errors
from ssme.schema import FILE_OPTIONS, FORMATS, ReadOptions
from ssme.wording import escape_all, suggest_nearest

WRITTEN = ("st_ino", "st_size", "st_mtime_ns")
"""What differs when a file has been written in the meantime."""
STREAMED = "evaluate several Parquet files with `engine='stream'`"
LOGS = "read logs of evaluation harnesses with `ssme systems` or ssme.read_logs"


class Reader(NamedTuple):
    """How one kind of file is opened as a pandas, polars or pyarrow frame.

    ``open`` gets the path and the options that its further arguments name; ``delimiter`` is the
    default of that option. In the columns of a reader of ``lists``, a cell may be a list of class
    scores. Files of arrays are not tables: they have no ``open``.
    """

    open: Callable[..., Any] | None = None
    delimiter: str | None = None
    lists: bool = False


def open_parquet(file: Path) -> Any:
    """The pyarrow table in a Parquet file."""
    try:
        from pyarrow import parquet
    except ImportError:
        raise MissingExtraError("reading Parquet", "parquet") from None
    cure = "write it again, or save the table as another kind of file"
    with translate_foreign_errors(f"reading {file}", hint=cure), file.open("rb") as content:
        return parquet.ParquetFile(content).read()


_OF_FORMAT = {
    "CSV": Reader(csv_files.open_csv, delimiter=","),
    "TSV": Reader(csv_files.open_csv, delimiter="\t"),
    "Parquet": Reader(open_parquet),
    "Excel": Reader(records.open_excel),
    "JSON Lines": Reader(records.open_json_lines, lists=True),
    "JSON": Reader(records.open_json_lines, lists=True),
    "npz": Reader(),
    "npy": Reader(),
}
USUAL = ReadOptions()
READERS = {suffix: _OF_FORMAT[name] for suffix, name in FORMATS.items()}
"""Suffix -> reader. docs/extending.md says what else a new format needs."""


def find_local_path(path: str | Path) -> Path:
    """The local path of ``path`` or of an address such as ``file:///data/scores.csv``."""
    text = str(path)
    scheme = re.match(r"([A-Za-z][A-Za-z0-9+.-]+):/", text)
    if scheme is None or Path(text).exists():
        return Path(path)
    if scheme[1].lower() != "file":
        problem = f"{text} is an address, not a file on this machine"
        hint = "download it, or stream Parquet from an object store (`engine=stream`)"
        raise InputError(problem, hint=hint)
    place = text[len("file:") :]
    host, slash, rest = place[2:].partition("/") if place.startswith("//") else ("", "/", place)
    if host in ("", "localhost") and slash:
        return Path(unquote("/" + rest.lstrip("/")))
    problem = f"{text} is a file on another machine, {host!r}"
    hint = "copy it; an absolute path has three slashes: file:///data/s.csv"
    raise InputError(problem, hint=hint)


def find_reader(file: Path) -> Reader:
    """The reader of the file's suffix; the file must exist and be a regular file."""
    try:
        mode = file.stat().st_mode
    except (OSError, ValueError) as error:
        if getattr(error, "errno", None) in (errno.EACCES, errno.EPERM, errno.EIO):
            raise
        try:
            near = [each.name for each in file.parent.iterdir()]
        except (OSError, ValueError):
            near = []
        problem, hint = f"no file {escape_all(str(file))}", suggest_nearest(file.name, near)
        if any(mark in file.name for mark in "*?["):
            hint = f"name one file, or {STREAMED}"
            raise InputError(f"{problem}, which reads like a pattern", hint=hint) from None
        raise InputError(problem, hint=f"{hint}check the path") from None
    if stat.S_ISDIR(mode):
        hint = f"name a file in it, {STREAMED}, or {LOGS}"
        raise InputError(f"{file} is a directory", hint=hint)
    reader = READERS.get(file.suffix.lower())
    if reader is None:
        problem = f"{file} has the suffix {file.suffix!r}"
        if file.suffix == ".eval":
            raise InputError(problem, hint=LOGS)
        hint = f"save it as one of {', '.join(READERS)}, or use ScoreSet.from_frame or from_arrays"
        raise InputError(problem, hint=hint)
    if not stat.S_ISREG(mode):
        problem = f"{file} is a pipe or a device, whose rows can be read only once"
        raise InputError(problem, hint="write the rows to a file first")
    return reader


def open_table(file: Path, options: ReadOptions | None = None) -> Any:
    """The native frame in a file with a table."""
    reader, given = find_reader(file), options or ReadOptions()
    if reader.open is None:
        tables = ", ".join(suffix for suffix, each in READERS.items() if each.open is not None)
        problem = f"{file} contains arrays, not a table with ids"
        raise InputError(problem, hint=f"pass the labels as an array, or as a table ({tables})")
    refuse_file_options(given, file.suffix.lower(), str(file))
    how = {name: getattr(given, name) for name in list(signature(reader.open).parameters)[1:]}
    if reader.delimiter is not None:
        how["delimiter"] = given.delimiter or reader.delimiter
    before = file.stat()
    try:
        frame = reader.open(file, **how)
    except InputError:
        harness = logs.find_harness(file)
        if harness is None:
            raise
        raise InputError(f"{file} is a log of {harness}", hint=LOGS) from None
    after = file.stat()
    if any(getattr(after, name) != getattr(before, name) for name in WRITTEN):
        problem = f"{file} was changed while it was read"
        raise InputError(problem, hint="read it again once it is written, or read a copy")
    return frame


def refuse_file_options(options: ReadOptions, suffix: str, what: str) -> None:
    """Refuse an option that says how another kind of file is written."""
    for name, files in FILE_OPTIONS.items():
        value = getattr(options, name)
        if value != getattr(USUAL, name) and suffix not in files:
            hint = f"leave it out: it is for {', '.join(files)} files"
            raise InputError(f"`{name}={value!r}` was given for {what}", hint=hint)
