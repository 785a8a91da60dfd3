"""npz and npy files: named arrays of numbers, booleans or text. Pickled objects are never loaded.

What an array says about its size is checked against the bytes that are there before memory is
taken for it.
"""

from __future__ import annotations

import math
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy_format
from numpy.typing import NDArray

from ssme.errors import InputError, translate_foreign_errors
from ssme.wording import quote

__all__ = ["ArrayFile", "open_arrays"]

UNPACKED_BYTES = 1 << 30
UNPACKED_TIMES = 100
"""Arrays may unpack to the larger of this many bytes and this many times the size of the file."""

ZIP_MARKS = (b"PK\x03\x04", b"PK\x05\x06")
PLAIN = "plain arrays of numbers, booleans or text; pickle is never loaded"
REPAIR = "write the file again with numpy.savez or numpy.save"
CURE = "convert object arrays before saving, for example with .astype(str)"


def open_arrays(file: Path) -> Mapping[str, NDArray[Any]]:
    """The arrays in an npz, loaded when asked for; an npy holds one, ``scores``."""
    with file.open("rb") as content:
        mark = content.read(6)
    if mark[:4] in ZIP_MARKS:
        return ArrayFile(file)
    if mark == npy_format.MAGIC_PREFIX:
        size = file.stat().st_size
        with (
            translate_foreign_errors(f"reading {file}", allowed=PLAIN, fix=REPAIR),
            file.open("rb") as content,
        ):
            return {"scores": _load(content, size, str(file))}
    raise InputError(
        f"{file} is not an array file, or holds pickled objects",
        allowed=PLAIN,
        fix=CURE,
    )


class ArrayFile(Mapping[str, NDArray[Any]]):
    """The arrays of an npz by name; each is read when it is asked for first."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._loaded: dict[str, NDArray[Any]] = {}
        self._allowed = max(UNPACKED_BYTES, UNPACKED_TIMES * file.stat().st_size)
        with (
            translate_foreign_errors(f"reading {file}", allowed=PLAIN, fix=REPAIR),
            zipfile.ZipFile(file) as archive,
        ):
            members = archive.infolist()
        names = [member.filename.removesuffix(".npy") for member in members]
        if len(set(names)) < len(names):
            twice = sorted({name for name in names if names.count(name) > 1})
            raise InputError(
                f"{file} holds several arrays under one name: {quote(twice)}",
                allowed="one array per name",
                fix="save it again with numpy.savez",
            )
        self._members = dict(zip(names, members, strict=True))

    def __getitem__(self, name: str) -> NDArray[Any]:
        if name not in self._loaded:
            self._loaded[name] = self._read(name)
        return self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)

    def __contains__(self, name: object) -> bool:
        return name in self._members

    def _read(self, name: str) -> NDArray[Any]:
        member = self._members[name]
        self._allowed -= member.file_size
        if self._allowed < 0:
            raise InputError(
                f"{self._file}, key {name!r}, unpacks to {member.file_size:,} bytes",
                allowed=f"arrays that unpack to at most {UNPACKED_BYTES:,} bytes, or "
                f"{UNPACKED_TIMES} times the size of the file",
                fix="if you trust the file, load it with numpy and pass the arrays to "
                "ScoreSet.from_arrays",
            )
        where = f"{self._file}, key {name!r},"
        with (
            translate_foreign_errors(
                f"reading {self._file}, key {name!r},", allowed=PLAIN, fix=REPAIR
            ),
            zipfile.ZipFile(self._file) as archive,
            archive.open(member) as content,
        ):
            array = _load(content, member.file_size, where)
            content.read(1)  # at its end the archive compares the checksum
        return array


def _load(content: IO[bytes], size: int, where: str) -> NDArray[Any]:
    """The array in ``content``, which has ``size`` bytes."""
    version = npy_format.read_magic(content)
    headers: dict[tuple[int, int], Any] = {
        (1, 0): npy_format.read_array_header_1_0,
        (2, 0): npy_format.read_array_header_2_0,
    }
    if version not in headers:
        raise InputError(
            f"{where} is in version {version[0]}.{version[1]} of the npy format",
            allowed="plain arrays of numbers, booleans or text",
            fix=REPAIR,
        )
    shape, fortran, dtype = headers[version](content)
    if dtype.hasobject:
        raise InputError(
            f"{where} holds pickled Python objects",
            allowed=PLAIN,
            fix=CURE,
        )
    count = math.prod(shape)
    there = size - content.tell()
    if count * dtype.itemsize != there or (count and not dtype.itemsize):
        raise InputError(
            f"{where} declares {dtype} values of shape {shape}, which need "
            f"{count * dtype.itemsize:,} bytes, and has {there:,}",
            allowed="files as numpy.save and numpy.savez write them",
            fix=REPAIR,
        )
    if count == 0:
        return np.empty(shape, dtype)
    values = np.frombuffer(content.read(there), dtype=dtype)
    return values.reshape(shape, order="F" if fortran else "C")
