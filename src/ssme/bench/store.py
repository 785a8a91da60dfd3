"""Finished cells on disk: one line of a file each, written as soon as it is done.

A line is JSON, ``{"checksum": "...", "cell": {...}}``, the checksum being over the text of the
cell. A process that is killed while it writes leaves at most a torn last line, which is dropped;
its cell is computed again. Any other line that is not as it was written is refused.

The file may hold cells of several protocols and data sets: a cell is found by everything that
decides its numbers (`Runner.describe`, the content of the data among it). Cells of
another version are taken where they are all there is to read; they are never completed by cells of
this version.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import platform
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import IO, Any

import numpy as np

import ssme
from ssme.data.scoreset import ScoreSet
from ssme.errors import InputError, translate_foreign_errors, warn
from ssme.writing import open_whole, write_text

# -------------------------------------------------------------------------------------------------
# Where a number comes from: the data, versions, state of the source and machine behind it.
#
# Every cell of a benchmark carries this from the process that computed it. ``source`` tells two
# states of the code apart that bear the same version: it is a checksum over the package's files.
# The checksum of the data tells two files of one name apart.


DECISIVE = ("ssme", "numpy")
"""What must agree before cells share a table: numbers may differ where one of these does."""


@lru_cache(maxsize=1)
def describe_process() -> dict[str, Any]:
    """Versions and machine of this process."""
    return {
        "ssme": ssme.__version__,
        "source": compute_source_checksum(),
        "numpy": np.__version__,
        "python": platform.python_version(),
        "machine": platform.machine(),
        "cores": os.cpu_count(),
    }


def compute_source_checksum(folder: Path | None = None) -> str:
    """Eight hexadecimal digits over the Python files of ``folder``, by default this package."""
    folder = folder or Path(ssme.__file__).parent
    total = 0
    for path in sorted(folder.rglob("*.py"), key=lambda path: path.as_posix()):
        name = path.relative_to(folder).as_posix()
        total = zlib.crc32(name.encode() + path.read_bytes().replace(b"\r\n", b"\n"), total)
    return f"{total:08x}"


def compute_content_checksum(data: ScoreSet) -> str:
    """Sixteen hexadecimal digits over all of ``data``, however its file is written."""
    names = [list(data.models), [[type(c).__name__, str(c)] for c in data.classes]]
    columns = [[name, list(map(repr, values))] for name, values in data.groups.items()]
    digest = hashlib.sha256(repr([names, columns, data.scores.shape]).encode())
    for array in (data.scores, data.labels, data.weights):
        digest.update(b"none" if array is None else np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()[:16]


HEAD, MIDDLE, TAIL = b'{"checksum": "', b'", "cell": ', b"}"
AGAIN = "name another folder, or delete this file to start again"
FIELDS = {"key": str, "settings": str, "provenance": dict, "rows": list, "seconds": float}
"""The fields of a finished cell."""


class CellStore:
    """The finished cells of the file ``path``; without one they live in memory alone."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.done: dict[tuple[str, str], dict[str, Any]] = {}
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.exists():
                self._read(path)

    def __contains__(self, name: tuple[str, str]) -> bool:
        return name in self.done

    def __getitem__(self, name: tuple[str, str]) -> dict[str, Any]:
        return self.done[name]

    def keep(self, result: dict[str, Any]) -> None:
        """Keep one more finished cell; a write that fails leaves the file as it was."""
        self.done[result["key"], result["settings"]] = result
        if self.path is None:
            return
        with _lock(self.path, "ab") as file:
            end = file.seek(0, os.SEEK_END)
            try:
                file.write(_write_line(result))
                file.flush()
            except BaseException:
                os.truncate(self.path, end)
                raise

    def check_versions(self, wanted: list[tuple[str, str]]) -> None:
        """Refuse cells of several versions, or of a version that this one cannot continue."""
        found = [name for name in wanted if name in self]
        versions = Counter(_name_versions(self[name]["provenance"]) for name in found)
        if len(found) < len(wanted) and found:
            versions.setdefault(_name_versions(describe_process()), 0)
        if len(versions) > 1:
            counts = ", ".join(f"{n} of {each}" for each, n in versions.items())
            raise InputError(
                f"{self.path} has finished cells of {counts}, and {len(wanted) - len(found)} "
                "are missing",
                hint=f"finish them with the version that began, or {AGAIN}",
            )

    def _read(self, path: Path) -> None:
        with _lock(path, "rb") as file:
            content = file.read()
            *lines, rest = content.split(b"\n")
            for number, line in enumerate(lines, start=1):
                result = _parse(line, f"{path}, line {number}")
                self.done[result["key"], result["settings"]] = result
            if not (rest.startswith(HEAD) or HEAD.startswith(rest)):
                raise _make_no_cell_error(f"{path}, line {len(lines) + 1}")
            if rest:
                os.truncate(path, len(content) - len(rest))


def _write_line(result: dict[str, Any]) -> bytes:
    text = json.dumps(result).encode()
    return HEAD + _compute_checksum(text) + MIDDLE + text + TAIL + b"\n"


def _parse(line: bytes, where: str) -> dict[str, Any]:
    """The cell of ``line``, which has to be as `_write_line` wrote it."""
    head, found, rest = line.partition(MIDDLE)
    text = rest.removesuffix(TAIL)
    if not (found and head.startswith(HEAD) and rest.endswith(TAIL)):
        raise _make_no_cell_error(where)
    if head.removeprefix(HEAD) != _compute_checksum(text):
        problem = f"{where} is not as it was written: its checksum differs"
        hint = f"delete this line, and its cell is computed again; or {AGAIN}"
        raise InputError(problem, hint=hint)
    with translate_foreign_errors(f"reading {where}", hint=AGAIN):
        result: dict[str, Any] = json.loads(text)
    odd = [name for name, kind in FIELDS.items() if not isinstance(result.get(name), kind)]
    if odd:
        raise InputError(f"{where} has no {odd[0]!r}", hint=AGAIN)
    return result


def _make_no_cell_error(where: str) -> InputError:
    return InputError(f"{where} is not a finished cell of this version of ssme", hint=AGAIN)


def _compute_checksum(text: bytes) -> bytes:
    return hashlib.sha256(text).hexdigest().encode()


@contextmanager
def _lock(path: Path, mode: str) -> Iterator[IO[bytes]]:
    """The file, while no other process reads or writes it (where the system knows locks)."""
    with path.open(mode) as file:
        try:
            import fcntl
        except ImportError:
            yield file
            return
        fcntl.flock(file, fcntl.LOCK_EX)
        yield file


def _name_versions(provenance: dict[str, Any]) -> str:
    return " with ".join(f"{name} {provenance[name]}" for name in DECISIVE)


# -------------------------------------------------------------------------------------------------
# The tables of a run in its folder: written whole, an earlier run's never lost.
#
# results.csv       one row per estimate, the same whatever the number of workers
# results.parquet   the same, where the table is long
# times.csv         what each cell took


PARQUET_ROWS = 50_000
"""Tables longer than this are written as Parquet too."""


def write_table(table: Any, times: Any, folder: Path, *, overwrite: bool = False) -> None:
    """Write a run's ``table`` and ``times`` (pandas) into ``folder``.

    Where a ``results.csv`` of other content is there, it and what belongs to it are first renamed
    to ``results.1.csv``, ``times.1.csv`` (or the next free number), with a warning that says so,
    unless ``overwrite`` is true.
    """
    text = table.to_csv(index=False)
    results = folder / "results.csv"
    if results.exists() and not overwrite and results.read_bytes() != text.encode():
        kept = set_aside(folder)
        warn(f"{results} held the table of another run, which is now {kept}")
    parquet = folder / "results.parquet"
    if len(table) > PARQUET_ROWS and importlib.util.find_spec("pyarrow"):
        with open_whole(parquet) as file:
            table.to_parquet(file, index=False)
    else:
        parquet.unlink(missing_ok=True)
    write_text(folder / "times.csv", times.to_csv(index=False))
    write_text(results, text)


def set_aside(folder: Path) -> Path:
    """Rename the tables of ``folder``, which are another run's; the new name of the results."""
    number = 1
    while any(folder.glob(f"*.{number}.*")):
        number += 1
    for name in ("results.csv", "results.parquet", "times.csv"):
        path = folder / name
        if path.exists():
            path.rename(path.with_suffix(f".{number}{path.suffix}"))
    return folder / f"results.{number}.csv"
