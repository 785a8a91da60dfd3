"""Where Parquet files are: paths, folders, patterns, and addresses of object stores.

An address (``s3://bucket/scores/*.parquet``, ``gs://``, ``hdfs://``, ``file://``) goes through
pyarrow's file systems, which take credentials from where the store's own tools take them: for S3
the environment (``AWS_ACCESS_KEY_ID``, ``AWS_REGION``, ``AWS_ENDPOINT_URL`` for a store other than
Amazon's), the shared credentials file or the machine's role. Options may follow a question mark
(``s3://bucket/scores?region=eu-west-1``), so that an address's patterns know ``*`` and ``[...]``.
"""

from __future__ import annotations

import glob
from collections.abc import Iterator
from fnmatch import fnmatch
from functools import lru_cache
from pathlib import Path
from typing import Any

from ssme.errors import InputError, MissingExtraError

__all__ = ["find_files", "open_parquet"]

SUFFIX = ".parquet"


def find_files(path: str) -> list[str]:
    """The files that ``path`` stands for, sorted; none where it finds none."""
    if "://" in path:
        return sorted(_remote_files(path))
    if Path(path).is_dir():
        return sorted(str(file) for file in Path(path).glob(f"*{SUFFIX}"))
    return sorted(glob.glob(path))


def open_parquet(file: str) -> Any:
    """A ``pyarrow.parquet.ParquetFile``."""
    parquet = _arrow()[0]
    try:
        if "://" in file:
            system, path = _located(file)
            return parquet.ParquetFile(system.open_input_file(path), pre_buffer=True)
        return parquet.ParquetFile(file)
    except OSError as error:
        raise InputError(
            f"{file} cannot be read ({error})",
            allowed="a Parquet file that is there and may be read",
            fix="check the path, the rights and the credentials",
        ) from error
    except ValueError as error:
        raise InputError(
            f"{file} cannot be read as Parquet ({error})",
            allowed="Parquet files",
            fix="convert it to Parquet, such as pandas.read_csv(...).to_parquet(...); a file that "
            "fits into memory needs no streaming",
        ) from error


def _remote_files(address: str) -> Iterator[str]:
    fs = _arrow()[1]
    place, mark, options = address.partition("?")
    folder, _, name = place.rpartition("/")
    scheme = address.partition("://")[0]
    try:
        if any(sign in name for sign in "*["):
            system, root = _located(folder + mark + options)
        else:
            system, root = _located(address)
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


def _located(address: str) -> tuple[Any, str]:
    """The file system of ``address``, opened once for each of its hosts, and the path in it."""
    place, mark, options = address.partition("?")
    scheme, _, rest = place.partition("://")
    host, slash, path = rest.partition("/")
    system, root = _file_system(f"{scheme}://{host}{slash and '/'}{mark}{options}")
    return system, f"{root.rstrip('/')}/{path}" if path else root


@lru_cache(maxsize=16)
def _file_system(root: str) -> tuple[Any, str]:
    found: tuple[Any, str] = _arrow()[1].FileSystem.from_uri(root)
    return found


def _arrow() -> tuple[Any, Any]:
    try:
        import pyarrow.fs
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtraError("streaming Parquet files", "parquet") from error
    return pyarrow.parquet, pyarrow.fs
