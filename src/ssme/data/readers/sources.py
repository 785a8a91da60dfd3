"""Where files are and which reader opens them, by suffix. None is ever unpickled."""

from __future__ import annotations

import codecs
import errno
import gzip
import re
import stat
import zipfile
from collections.abc import Callable
from contextlib import suppress
from inspect import signature
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

from ssme.data.readers import csv_files, logs, records
from ssme.errors import InputError, MissingExtraError, translate_foreign_errors
from ssme.schema import FILE_OPTIONS, FORMATS, ReadOptions
from ssme.wording import escape_all, quote, suggest_nearest

WRITTEN = ("st_ino", "st_size", "st_mtime_ns")
"""What differs when a file has been written in the meantime."""
STREAMED = "evaluate several Parquet files with `engine='stream'`"
LOGS = "read logs of evaluation harnesses with `ssme systems` or ssme.read_logs"
LOOKED_AT = 1 << 16
"""Bytes that show the format of a file."""
MAGIC = {b"PAR1": "parquet", b"\x93NUMPY": "npy"}
COMPRESSED = {b"BZh": "bzip2", b"\xfd7zXZ": "xz", b"(\xb5/\xfd": "zstd"}


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


def find_suffix(file: Path) -> str:
    """The suffix in small letters; that of ``scores.csv.gz`` is ``.csv``."""
    suffix = file.suffix.lower()
    return Path(file.stem).suffix.lower() if suffix == ".gz" else suffix


def find_reader(file: Path, format: str | None = None) -> Reader:
    """The reader of ``format`` or the file's suffix; the file must exist and be a regular one."""
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
    reader = READERS.get(f".{format}" if format else find_suffix(file))
    if reader is None and stat.S_ISREG(mode):
        suffix = f"the suffix {file.suffix!r}" if file.suffix else "no suffix"
        if not file.stat().st_size:
            raise InputError(f"{file} is empty", hint="it needs a header and at least one row")
        if file.suffix == ".eval":
            raise InputError(f"{file} has {suffix}", hint=LOGS)
        if content := find_format(file):
            problem = f"{file} has {suffix} and looks like {FORMATS[f'.{content}']}"
            raise InputError(problem, hint=f"pass `format={content!r}`")
        hint = f"save it as one of {', '.join(READERS)}, or use ScoreSet.from_frame or from_arrays"
        raise InputError(f"{file} has {suffix}", hint=hint)
    if reader is None or not stat.S_ISREG(mode):
        problem = f"{file} is a pipe or a device, whose rows can be read only once"
        raise InputError(problem, hint="write the rows to a file first")
    return reader


def open_table(file: Path, options: ReadOptions | None = None) -> Any:
    """The native frame in a file with a table."""
    given = options or ReadOptions()
    reader = find_reader(file, given.format)
    if reader.open is None:
        tables = ", ".join(suffix for suffix, each in READERS.items() if each.open is not None)
        problem = f"{file} contains arrays, not a table with ids"
        raise InputError(problem, hint=f"pass the labels as an array, or as a table ({tables})")
    suffix = f".{given.format}" if given.format else find_suffix(file)
    refuse_file_options(given, suffix, str(file))
    _refuse_other_format(file, suffix)
    how = {name: getattr(given, name) for name in list(signature(reader.open).parameters)[1:]}
    if reader.delimiter is not None:
        how["delimiter"] = given.delimiter or reader.delimiter
    before = file.stat()
    try:
        with translate_foreign_errors(f"reading {file}"):
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


def find_format(file: Path) -> str | None:
    """The suffix, without its point, that fits the first bytes of a file; None if none does.

    Tables of text may be compressed with gzip; other compressed files are refused.
    """
    with translate_foreign_errors(f"reading {file}"), csv_files.open_content(file) as content:
        head, packed = content.read(LOOKED_AT), isinstance(content, gzip.GzipFile)
    if packed and (head.startswith((b"PK", *MAGIC)) or not head):
        raise InputError(f"{file} is compressed with gzip", hint="decompress it first")
    for start, what in COMPRESSED.items():
        if head.startswith(start):
            raise InputError(f"{file} is compressed with {what}", hint="decompress it first")
    if head.startswith(b"PK"):
        with suppress(zipfile.BadZipFile), zipfile.ZipFile(file) as archive:
            names = archive.namelist()
            if "xl/workbook.xml" in names:
                return "xlsx"
            if names and all(name.endswith(".npy") for name in names):
                return "npz"
            problem = f"{file} is a zip archive of {quote(names)}"
            raise InputError(problem, hint="extract the file that contains the scores")
    for start, name in MAGIC.items():
        if head.startswith(start):
            return name
    wide = head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    text = head.decode("utf-16" if wide else "latin-1", "ignore").lstrip("ï»¿ \t\r\n")
    if not text or re.search(r"[\0-\x08\x0b\x0e-\x1f]", text):
        return None
    if found := re.match(r'\{\s*"|\[\s*\{', text):
        return "jsonl" if found[0][0] == "{" else "json"
    first = text.splitlines()[0]
    return "tsv" if "\t" in first and first.count("\t") > first.count(",") else "csv"


def _refuse_other_format(file: Path, suffix: str) -> None:
    """Refuse a file whose content is certainly not of the format of ``suffix``."""
    content = find_format(file)
    if content in (None, "csv", "tsv") or READERS[f".{content}"] == READERS[suffix]:
        return  # the reader says what is wrong with text
    problem = f"{file} looks like {FORMATS[f'.{content}']}, not {FORMATS[suffix]}"
    raise InputError(problem, hint=f"pass `format={content!r}`")


def refuse_file_options(options: ReadOptions, suffix: str, what: str) -> None:
    """Refuse an option that says how another kind of file is written."""
    for name, files in FILE_OPTIONS.items():
        value = getattr(options, name)
        if value != getattr(USUAL, name) and suffix not in files:
            hint = f"leave it out: it is for {', '.join(files)} files"
            raise InputError(f"`{name}={value!r}` was given for {what}", hint=hint)
