"""Parquet files as they are when a pass begins, on this machine or in an object store.

An address (``s3://bucket/scores/*.parquet``, ``gs://``, ``hdfs://``) goes through pyarrow's file
systems, which take credentials from where the store's own tools take them: for S3 the environment
(``AWS_ACCESS_KEY_ID``, ``AWS_REGION``, ``AWS_ENDPOINT_URL`` for a store other than Amazon's), the
shared credentials file or the machine's role. Options may follow a question mark
(``s3://bucket/scores?region=eu-west-1``), so that an address's patterns know ``*`` and ``[...]``.

A pass reads its files twice and may take hours. `File` is a file as it was when the pass began: its
size, time of change and the checksum of its footer, which says where every column of every row
group lies. A file that is another one later is refused (`refuse_changed`), never mixed in.
"""

from __future__ import annotations

import glob
import hashlib
import os
import stat
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

from ssme.data.readers.sources import find_local_path
from ssme.errors import InputError, MissingExtraError, translate_foreign_errors

Partition = tuple[tuple[str, str | None], ...]
"""Columns that the names of a file's folders give, and the value of all its rows there."""
OPEN_FILES = 4
"""Files that a thread keeps open."""
TAIL_BYTES = 8
"""The end of a Parquet file: the length of its footer in four bytes, and ``PAR1``."""


@dataclass(frozen=True)
class File:
    """A file and what tells it from another under the same name; ``modified`` in nanoseconds.

    ``partition`` has the columns that come from its place rather than from its content.
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
            content = system.open_input_file(place)
        else:
            found = os.stat(path)
            if not stat.S_ISREG(found.st_mode):
                raise InputError(f"{path} is not a file")
            size, modified, inode = found.st_size, found.st_mtime_ns, found.st_ino
            content = import_arrow().OSFile(path)
        with content:
            content.seek(max(0, size - TAIL_BYTES))
            tail, footer = bytes(content.read(TAIL_BYTES)), ""
            if tail.endswith(b"PAR1"):
                start = max(0, size - TAIL_BYTES - int.from_bytes(tail[:4], "little"))
                content.seek(start)
                footer = hashlib.sha256(content.read(size - start)).hexdigest()[:32]
        return File(path, size, modified, inode, footer, partition)


def refuse_changed(files: Iterable[File]) -> None:
    """Refuse files that are not what they were."""
    for file in files:
        now = identify(file.path, file.partition)
        for name in ("size", "modified", "inode", "footer"):
            if getattr(now, name) != getattr(file, name):
                problem = f"{file.path} changed while it was read: {name} was {getattr(file, name)}"
                raise InputError(problem, hint="evaluate again when the files are complete")


def open_parquet(file: File) -> Any:
    """A ``pyarrow.parquet.ParquetFile``, kept open for the thread that asks.

    Opening takes time in proportion to the row groups, so that opening for each would take it
    squared.
    """
    kept: dict[File, Any] = _opened.__dict__.setdefault("files", {})
    if file in kept:
        return kept[file]
    while len(kept) >= OPEN_FILES:
        kept.pop(next(iter(kept))).close()
    with name_file_in_errors(file.path):
        refuse_changed([file])
        remote, content = "://" in file.path, file.path
        if remote:
            system, path = locate(file.path)
            content = system.open_input_file(path)
        # a row group's bytes that are read ahead would stay in memory while a local file is open
        kept[file] = import_arrow().parquet.ParquetFile(content, pre_buffer=remote)
    return kept[file]


def close_files() -> None:
    """Close what `open_parquet` keeps open for this thread."""
    kept: dict[File, Any] = _opened.__dict__.pop("files", {})
    for opened in kept.values():
        opened.close()


_opened = threading.local()


@contextmanager
def name_file_in_errors(path: str) -> Iterator[None]:
    """What fails while ``path`` is opened, as our error."""
    with translate_foreign_errors(f"reading {path}"):
        try:
            yield
        except InputError:
            raise
        except OSError as error:
            problem = f"{path} cannot be read ({error})"
            hint = "check the path, the rights and the credentials"
            raise InputError(problem, hint=hint) from error
        except ValueError as error:
            problem = f"{path} is not a valid Parquet file, which `engine` reads ({error})"
            hint = "convert it, such as pandas.read_csv(...).to_parquet(...), or leave `engine` out"
            raise InputError(problem, hint=hint) from error


def locate(address: str) -> tuple[Any, str]:
    """The file system of ``address``, opened once for each of its hosts, and the path in it."""
    place, mark, options = address.partition("?")
    scheme, _, rest = place.partition("://")
    host, slash, path = rest.partition("/")
    system, root = _open_file_system(f"{scheme}://{host}{slash and '/'}{mark}{options}")
    return system, f"{root.rstrip('/')}/{path}" if path else root


@lru_cache(maxsize=16)
def _open_file_system(root: str) -> tuple[Any, str]:
    found: tuple[Any, str] = import_arrow().fs.FileSystem.from_uri(root)
    return found


def import_arrow() -> Any:
    """``pyarrow`` with its parts for file systems and Parquet."""
    try:
        import pyarrow.fs
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtraError("streaming Parquet files", "parquet") from error
    return pyarrow


# -------------------------------------------------------------------------------------------------
# Which Parquet files a path, folder, pattern or address stands for, and what their folders say.
#
# A folder stands for all Parquet files in it or below it; where some are in it and others further
# down, nothing says which are meant, and it is refused. Folders below it, or matched by a
# pattern, that are called ``name=value`` (``scores/site=north/part0.parquet``) give every row of
# their files a value in the column ``name``, as text; a column of that name in the file itself
# comes first. A file that is named by its path has the columns that it holds, as in memory.
#
# Names that begin with a dot are hidden and left out, as shells do. Names that begin with an
# underscore are those that the writers of such folders keep for themselves (``_temporary`` of an
# unfinished job, ``_delta_log`` of a table of versions): a folder with Parquet files under such a
# name is refused, since rows might count twice, or be rows that were deleted.


SUFFIX = ".parquet"
VERSIONS = "_delta_log"
"""The folder in which a Delta table keeps which of its files are current."""
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
"""How a folder's name says that the value is missing."""


class Listed(NamedTuple):
    """A file, and the columns that the names of its folders give."""

    path: str
    partition: Partition = ()


def find_files(paths: Iterable[str]) -> list[Listed]:
    """The files that match ``paths``, sorted for each path; one found twice is refused."""
    found: list[Listed] = []
    asked: dict[str, str] = {}
    for path in paths:
        for file in _find(path):
            real = file.path if "://" in file.path else os.path.realpath(file.path)
            if real in asked:
                problem = f"{file.path} is read twice, once as {asked[real]}"
                hint = "name each file once, and remove links to other files"
                raise InputError(problem, hint=hint)
            asked[real] = file.path
            found.append(file)
    return found


def _find(path: str) -> list[Listed]:
    """The files of one path, sorted, each once."""
    if path.lower().startswith("file:"):
        path = str(find_local_path(path))
    if "://" in path:
        files = _list_remote(path)
    elif Path(path).is_dir():
        files = _choose_files(path, _list_below(Path(path)))
    elif os.path.lexists(path):
        files = iter([Listed(path)])
    else:
        files = _match(path)
    found = {file.path: file for file in files}
    return [found[name] for name in sorted(found)]


def _match(pattern: str) -> Iterator[Listed]:
    """Files that a pattern matches, and those in folders that it matches."""
    parts = Path(pattern).parts
    fixed = next((i for i, part in enumerate(parts) if glob.has_magic(part)), len(parts))
    for path in glob.glob(pattern, recursive=True):
        folders = Path(path).parts[fixed:]
        if Path(path).is_dir():
            for file in _choose_files(path, _list_below(Path(path))):
                given = dict(_read_partition(folders)) | dict(file.partition)
                yield Listed(file.path, tuple(given.items()))
        else:
            yield Listed(path, _read_partition(folders[:-1]))


def _list_below(folder: Path, above: frozenset[str] = frozenset()) -> Iterator[str]:
    """Names of all files in ``folder`` and below, from there on; links to folders are followed."""
    real = os.path.realpath(folder)
    if real in above:
        return
    with name_file_in_errors(str(folder)):
        entries = sorted(folder.iterdir())
    for entry in entries:
        if entry.is_dir() and not entry.name.startswith("."):
            yield from (f"{entry.name}/{name}" for name in _list_below(entry, above | {real}))
        elif not entry.is_dir():
            yield entry.name


def _choose_files(folder: str, names: Iterable[str]) -> Iterator[Listed]:
    """The Parquet files among ``names``, all below ``folder`` and named from there on."""
    first: tuple[int, str] | None = None
    for name in names:
        *folders, _ = parts = name.split("/")
        if any(part.startswith(".") for part in parts):
            continue
        if VERSIONS in folders:
            problem = f"{folder} is a Delta table: it has a folder {VERSIONS}"
            hint = "list the files of one version, such as DeltaTable(folder).file_uris()"
            raise InputError(problem, hint=hint)
        if not name.lower().endswith(SUFFIX):
            continue
        if any(part.startswith("_") for part in parts):
            problem = f"{folder} contains {name}, named like an unfinished or internal file"
            hint = "remove it, or name the files with a pattern such as 'dir/*.parquet'"
            raise InputError(problem, hint=hint)
        depth = len(folders) - sum("=" in each for each in folders)
        if first is None:
            first = depth, name
        if depth != first[0]:
            problem = f"{folder} contains Parquet files at different depths: {first[1]} and {name}"
            hint = "name those you mean: 'dir/*.parquet', or 'dir/**/*.parquet' for all below"
            raise InputError(problem, hint=hint)
        yield Listed(f"{folder.rstrip('/')}/{name}", _read_partition(folders))


def _read_partition(folders: Sequence[str]) -> Partition:
    """What the folders say that are called ``name=value``; the innermost of a name is taken."""
    found: dict[str, str | None] = {}
    for folder in folders:
        name, equals, value = folder.partition("=")
        if equals and name:
            found[unquote(name)] = None if value == NO_VALUE else unquote(value)
    return tuple(found.items())


def _list_remote(address: str) -> Iterator[Listed]:
    fs = import_arrow().fs
    place, mark, options = address.partition("?")
    folder, _, name = place.rpartition("/")
    pattern = any(sign in name for sign in "*[")
    try:
        system, root = locate((folder if pattern else place) + mark + options)
        if not pattern and system.get_file_info(root).type != fs.FileType.Directory:
            yield Listed(address)
            return
        entries = system.get_file_info(fs.FileSelector(root, recursive=not pattern))
    except (OSError, ValueError) as error:
        problem = f"{address} cannot be listed ({error})"
        hint = "check the address, the credentials and AWS_ENDPOINT_URL"
        raise InputError(problem, hint=hint) from error
    folder = f"{address.partition('://')[0]}://{root.rstrip('/')}"
    inside = [e.path[len(root) :].lstrip("/") for e in entries if e.type != fs.FileType.Directory]
    matched = (Listed(f"{folder}/{each}") for each in inside if fnmatch(each, name))
    for path, partition in matched if pattern else _choose_files(folder, inside):
        yield Listed(f"{path}{mark}{options}", partition)
