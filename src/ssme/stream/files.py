"""Where Parquet files are: paths, folders, patterns, and addresses of object stores.

An address (``s3://bucket/scores/*.parquet``, ``gs://``, ``hdfs://``, ``file://``) goes through
pyarrow's file systems, which take credentials from where the store's own tools take them: for S3
the environment (``AWS_ACCESS_KEY_ID``, ``AWS_REGION``, ``AWS_ENDPOINT_URL`` for a store other than
Amazon's), the shared credentials file or the machine's role. Options may follow a question mark
(``s3://bucket/scores?region=eu-west-1``), so that an address's patterns know ``*`` and ``[...]``.

A pass reads its files twice and may take hours. `File` is a file as it was when the pass began: its
size, time of change and the checksum of its footer, which tells where every column of every row
group lies. A file that is another one later is refused (`refuse_changed`), never mixed in.
"""

from __future__ import annotations

import glob
import hashlib
import os
import stat
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import lru_cache
from pathlib import Path
from typing import Any

from ssme.errors import InputError, MissingExtraError, translate_foreign_errors

__all__ = [
    "File",
    "close_files",
    "find_files",
    "identify",
    "name_file_in_errors",
    "open_parquet",
    "refuse_changed",
]

SUFFIX = ".parquet"
OPEN_FILES = 4
"""Files that a thread keeps open."""
TAIL_BYTES = 8
"""The end of a Parquet file: the length of its footer in four bytes, and ``PAR1``."""


@dataclass(frozen=True)
class File:
    """A file and what tells it from another under the same name; ``modified`` in nanoseconds."""

    path: str
    size: int
    modified: int
    inode: int
    footer: str


def find_files(path: str) -> list[str]:
    """The files that ``path`` stands for, sorted; none where it finds none."""
    if "://" in path:
        return sorted(_list_remote_files(path))
    if Path(path).is_dir():
        return sorted(str(file) for file in Path(path).glob(f"*{SUFFIX}"))
    return sorted(glob.glob(path))


def identify(path: str) -> File:
    """The file ``path`` as it is now."""
    with name_file_in_errors(path):
        if "://" in path:
            system, place = _locate(path)
            info = system.get_file_info(place)
            size, modified, inode = info.size or 0, info.mtime_ns or 0, 0
            opened = system.open_input_file(place)
        else:
            found = os.stat(path)
            if not stat.S_ISREG(found.st_mode):
                raise InputError(f"{path} is no file", allowed="Parquet files")
            size, modified, inode = found.st_size, found.st_mtime_ns, found.st_ino
            opened = _import_arrow()[2].OSFile(path)
        with opened as file:
            return File(path, size, modified, inode, _compute_footer_checksum(file, size))


def refuse_changed(files: Iterable[File]) -> None:
    """Refuse files that are not what they were.

    Raises `InputError`, which names the first.
    """
    for file in files:
        now = identify(file.path)
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
    parquet = _import_arrow()[0]
    with name_file_in_errors(file.path):
        now = identify(file.path)
        if now != file:
            raise _explain_change(file, now)
        if "://" in file.path:
            system, path = _locate(file.path)
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


def _list_remote_files(address: str) -> Iterator[str]:
    fs = _import_arrow()[1]
    place, mark, options = address.partition("?")
    folder, _, name = place.rpartition("/")
    scheme = address.partition("://")[0]
    try:
        if any(sign in name for sign in "*["):
            system, root = _locate(folder + mark + options)
        else:
            system, root = _locate(address)
            if system.get_file_info(root).type != fs.FileType.Directory:
                yield address
                return
            name = f"*{SUFFIX}"
        entries = system.get_file_info(fs.FileSelector(root))
    except (OSError, ValueError) as error:
        raise InputError(
            f"{address} cannot be listed ({error})",
            allowed="the address of files or a folder that these credentials may read",
            fix="check the address and the credentials; AWS_ENDPOINT_URL names an S3 store other "
            "than Amazon's",
        ) from error
    for entry in entries:
        if fnmatch(entry.base_name, name):
            yield f"{scheme}://{entry.path}{mark}{options}"


def _locate(address: str) -> tuple[Any, str]:
    """The file system of ``address``, opened once for each of its hosts, and the path in it."""
    place, mark, options = address.partition("?")
    scheme, _, rest = place.partition("://")
    host, slash, path = rest.partition("/")
    system, root = _open_file_system(f"{scheme}://{host}{slash and '/'}{mark}{options}")
    return system, f"{root.rstrip('/')}/{path}" if path else root


@lru_cache(maxsize=16)
def _open_file_system(root: str) -> tuple[Any, str]:
    found: tuple[Any, str] = _import_arrow()[1].FileSystem.from_uri(root)
    return found


def _import_arrow() -> tuple[Any, Any, Any]:
    """``pyarrow.parquet``, ``pyarrow.fs`` and ``pyarrow``."""
    try:
        import pyarrow.fs
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtraError("streaming Parquet files", "parquet") from error
    return pyarrow.parquet, pyarrow.fs, pyarrow
