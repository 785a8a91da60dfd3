"""Parquet files as they are when a pass begins, on this machine or in an object store.

An address (``s3://bucket/scores/*.parquet``, ``gs://``, ``hdfs://``) goes through
pyarrow's file systems, which take credentials from where the store's own tools take them: for S3
the environment (``AWS_ACCESS_KEY_ID``, ``AWS_REGION``, ``AWS_ENDPOINT_URL`` for a store other than
Amazon's), the shared credentials file or the machine's role. Options may follow a question mark
(``s3://bucket/scores?region=eu-west-1``), so that an address's patterns know ``*`` and ``[...]``.

A pass reads its files twice and may take hours. `File` is a file as it was when the pass began: its
size, time of change and the checksum of its footer, which tells where every column of every row
group lies. A file that is another one later is refused (`refuse_changed`), never mixed in.
"""

from __future__ import annotations

import hashlib
import os
import stat
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from ssme.errors import InputError, MissingExtraError, translate_foreign_errors

__all__ = [
    "File",
    "Partition",
    "close_files",
    "identify",
    "import_arrow",
    "locate",
    "name_file_in_errors",
    "open_parquet",
    "refuse_changed",
]

Partition = tuple[tuple[str, str | None], ...]
"""Columns that the names of a file's folders give, and the value of all its rows there."""
OPEN_FILES = 4
"""Files that a thread keeps open."""
TAIL_BYTES = 8
"""The end of a Parquet file: the length of its footer in four bytes, and ``PAR1``."""


@dataclass(frozen=True)
class File:
    """A file and what tells it from another under the same name; ``modified`` in nanoseconds.

    ``partition`` holds the columns that come from its place rather than from its content.
    """

    path: str
    size: int
    modified: int
    inode: int
    footer: str
    partition: Partition = ()


def identify(path: str, partition: Partition = ()) -> File:
    """The file ``path`` as it is now."""
    with name_file_in_errors(path):
        if "://" in path:
            system, place = locate(path)
            info = system.get_file_info(place)
            size, modified, inode = info.size or 0, info.mtime_ns or 0, 0
            opened = system.open_input_file(place)
        else:
            found = os.stat(path)
            if not stat.S_ISREG(found.st_mode):
                raise InputError(f"{path} is not a file", allowed="Parquet files")
            size, modified, inode = found.st_size, found.st_mtime_ns, found.st_ino
            opened = import_arrow()[2].OSFile(path)
        with opened as file:
            footer = _compute_footer_checksum(file, size)
            return File(path, size, modified, inode, footer, partition)


def refuse_changed(files: Iterable[File]) -> None:
    """Refuse files that are not what they were.

    Raises `InputError`, which names the first.
    """
    for file in files:
        now = identify(file.path, file.partition)
        if now != file:
            raise _explain_change(file, now)


def open_parquet(file: File) -> Any:
    """A ``pyarrow.parquet.ParquetFile``, kept open for the thread that asks.

    Opening takes time in proportion to the row groups, so that opening for each would take it
    squared.
    """
    kept: dict[File, Any] = _opened.__dict__.setdefault("files", {})
    if file not in kept:
        while len(kept) >= OPEN_FILES:
            kept.pop(next(iter(kept))).close()
        kept[file] = _open(file)
    return kept[file]


def close_files() -> None:
    """Close what `open_parquet` keeps open for this thread."""
    kept: dict[File, Any] = _opened.__dict__.pop("files", {})
    for opened in kept.values():
        opened.close()


_opened = threading.local()


def _open(file: File) -> Any:
    parquet = import_arrow()[0]
    with name_file_in_errors(file.path):
        now = identify(file.path, file.partition)
        if now != file:
            raise _explain_change(file, now)
        if "://" in file.path:
            system, path = locate(file.path)
            return parquet.ParquetFile(system.open_input_file(path), pre_buffer=True)
        # a row group's bytes that are read ahead would stay in memory while the file is open
        return parquet.ParquetFile(file.path, pre_buffer=False)


def _explain_change(file: File, now: File) -> InputError:
    words = {
        "size": "size",
        "modified": "time of change",
        "inode": "place on the disk",
        "footer": "footer",
    }
    differs = [word for name, word in words.items() if vars(file)[name] != vars(now)[name]]
    return InputError(
        f"{file.path} changed while it was read: it has another {differs[0]}",
        allowed="files that stay as they are until the evaluation ends",
        fix="evaluate again when the files are complete",
    )


def _compute_footer_checksum(file: Any, size: int) -> str:
    file.seek(max(0, size - TAIL_BYTES))
    tail = bytes(file.read(TAIL_BYTES))
    if not tail.endswith(b"PAR1"):
        return ""
    length = int.from_bytes(tail[:4], "little")
    start = max(0, size - TAIL_BYTES - length)
    file.seek(start)
    return hashlib.sha256(file.read(size - start)).hexdigest()[:32]


@contextmanager
def name_file_in_errors(path: str) -> Iterator[None]:
    """What fails while ``path`` is opened, as our error."""
    with translate_foreign_errors(f"reading {path}"):
        try:
            yield
        except InputError:
            raise
        except OSError as error:
            raise InputError(
                f"{path} cannot be read ({error})",
                allowed="a Parquet file that is there, is whole and may be read",
                fix="check the path, the rights and the credentials",
            ) from error
        except ValueError as error:
            raise InputError(
                f"{path} cannot be read as Parquet ({error})",
                allowed="Parquet files",
                fix="convert it to Parquet, such as pandas.read_csv(...).to_parquet(...); a file "
                "that fits into memory needs no streaming",
            ) from error


def locate(address: str) -> tuple[Any, str]:
    """The file system of ``address``, opened once for each of its hosts, and the path in it."""
    place, mark, options = address.partition("?")
    scheme, _, rest = place.partition("://")
    host, slash, path = rest.partition("/")
    system, root = _open_file_system(f"{scheme}://{host}{slash and '/'}{mark}{options}")
    return system, f"{root.rstrip('/')}/{path}" if path else root


@lru_cache(maxsize=16)
def _open_file_system(root: str) -> tuple[Any, str]:
    found: tuple[Any, str] = import_arrow()[1].FileSystem.from_uri(root)
    return found


def import_arrow() -> tuple[Any, Any, Any]:
    """``pyarrow.parquet``, ``pyarrow.fs`` and ``pyarrow``."""
    try:
        import pyarrow.fs
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtraError("streaming Parquet files", "parquet") from error
    return pyarrow.parquet, pyarrow.fs, pyarrow
