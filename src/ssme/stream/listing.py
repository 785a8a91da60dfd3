"""Which Parquet files a path, folder, pattern or address stands for, and what their folders say.

A folder stands for all Parquet files in it or below it; where some are in it and others further
down, nothing says which are meant, and it is refused. Folders below it, or matched by a pattern,
that are called ``name=value`` (``scores/site=north/part0.parquet``) give every row of their files a
value in the column ``name``, as text; a column of that name in the file itself comes first. A file
that is named by its path has the columns that it holds, as in memory.

Names that begin with a dot are hidden and left out, as shells do. Names that begin with an
underscore are those that the writers of such folders keep for themselves (``_temporary`` of an
unfinished job, ``_delta_log`` of a table of versions): a folder with Parquet files under such a
name is refused, since rows might count twice, or be rows that were deleted.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from ssme.data.readers.sources import find_local_path
from ssme.errors import InputError
from ssme.stream.files import Partition, import_arrow, locate, name_file_in_errors

__all__ = ["Listed", "find_files"]

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
    """The files that ``paths`` stand for, those of each sorted; none where nothing is found.

    Raises `InputError` where a file is found twice, whose rows would count twice.
    """
    found: list[Listed] = []
    asked: dict[str, str] = {}
    for path in paths:
        for file in _find(path):
            real = file.path if "://" in file.path else os.path.realpath(file.path)
            if real in asked:
                raise InputError(
                    f"{file.path} is read twice, once as {asked[real]}",
                    allowed="each file once, whose rows would else count twice",
                    fix="name each file, folder or pattern once; remove links to files beside it",
                )
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
        files = _list_folder(Path(path))
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
            for file in _list_folder(Path(path)):
                given = dict(_read_partition(folders)) | dict(file.partition)
                yield Listed(file.path, tuple(given.items()))
        else:
            yield Listed(path, _read_partition(folders[:-1]))


def _list_folder(folder: Path) -> Iterator[Listed]:
    """The Parquet files in ``folder`` and below."""
    for name, partition in _choose_files(str(folder), _list_below(folder)):
        yield Listed(str(folder / name), partition)


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
    """The Parquet files among ``names``, all of them below ``folder`` and named from there on."""
    first: tuple[int, str] | None = None
    for name in names:
        *folders, _ = parts = name.split("/")
        if any(part.startswith(".") for part in parts):
            continue
        if VERSIONS in folders:
            raise InputError(
                f"{folder} is a Delta table: it has a folder {VERSIONS}",
                allowed="folders of which every Parquet file counts; those of a Delta table may "
                "hold rows that were deleted or replaced",
                fix="list the files of the version you mean, such as DeltaTable(folder).file_uris()"
                ", or write that version to a folder of its own",
            )
        if not name.lower().endswith(SUFFIX):
            continue
        if any(part.startswith("_") for part in parts):
            raise InputError(
                f"{folder} holds {name}, and names that begin with _ are those of unfinished or "
                "internal files",
                allowed="folders of finished Parquet files",
                fix="wait until the files are written and remove what is left over, or name the "
                "files with a pattern such as 'dir/*.parquet'",
            )
        depth = len(folders) - sum("=" in each for each in folders)
        if first is None:
            first = depth, name
        if depth != first[0]:
            raise InputError(
                f"{folder} holds Parquet files at different depths: {first[1]} and {name}",
                allowed="folders whose Parquet files are all beside each other, or in folders of "
                "one depth",
                fix="name the files you mean with a pattern: 'dir/*.parquet' for those in the "
                "folder itself, 'dir/**/*.parquet' for those below it too",
            )
        yield Listed(name, _read_partition(folders))


def _read_partition(folders: Sequence[str]) -> Partition:
    """What the folders say that are called ``name=value``; the innermost of a name is taken."""
    found: dict[str, str | None] = {}
    for folder in folders:
        name, equals, value = folder.partition("=")
        if equals and name:
            found[unquote(name)] = None if value == NO_VALUE else unquote(value)
    return tuple(found.items())


def _list_remote(address: str) -> Iterator[Listed]:
    fs = import_arrow()[1]
    place, mark, options = address.partition("?")
    folder, _, name = place.rpartition("/")
    scheme = address.partition("://")[0]
    pattern = any(sign in name for sign in "*[")
    try:
        system, root = locate((folder if pattern else place) + mark + options)
        if not pattern and system.get_file_info(root).type != fs.FileType.Directory:
            yield Listed(address)
            return
        entries = system.get_file_info(fs.FileSelector(root, recursive=not pattern))
    except (OSError, ValueError) as error:
        raise InputError(
            f"{address} cannot be listed ({error})",
            allowed="the address of files or a folder that these credentials may read",
            fix="check the address and the credentials; AWS_ENDPOINT_URL names an S3 store other "
            "than Amazon's",
        ) from error
    start = f"{root.rstrip('/')}/"
    kept = [entry.path for entry in entries if entry.type != fs.FileType.Directory]
    inside = [path.removeprefix(start) for path in kept]
    matched = (Listed(each) for each in inside if fnmatch(each, name))
    for path, partition in matched if pattern else _choose_files(address, inside):
        yield Listed(f"{scheme}://{start}{path}{mark}{options}", partition)
