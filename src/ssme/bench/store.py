"""Finished cells on disk: one line of a file each, written as soon as it is done.

A line is JSON, ``{"checksum": "...", "cell": {...}}``, the checksum being over the text of the
cell. A process that is killed while it writes leaves at most a torn last line, which is dropped;
its cell is computed again. Any other line that is not as it was written is refused.

The file may hold cells of several protocols and data sets: a cell is found by everything that
decides its numbers (`Protocol.describe_settings`, the content of the data among it). Cells of
another version are taken where they are all there is to read; they are never completed by cells of
this version.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from ssme.bench.provenance import DECISIVE, describe_process
from ssme.errors import InputError, translate_foreign_errors

__all__ = ["CellStore"]

HEAD, MIDDLE, TAIL = b'{"checksum": "', b'", "cell": ', b"}"
AGAIN = "name another folder, or delete this file to start again"
FIELDS = {"key": str, "settings": str, "provenance": dict, "rows": list, "seconds": float}
"""What a finished cell holds."""


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
        """Keep one more finished cell; a write that fails leaves the file as it was.

        Parameters
        ----------
        result : dict
            The finished cell as `Runner` returns it.
        """
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
        """Refuse cells of several versions, or of a version that this one cannot continue.

        Parameters
        ----------
        wanted : list of pairs of str
            Names of the cells that the run needs.

        Raises
        ------
        InputError
            If cells of another version were found.
        """
        found = [name for name in wanted if name in self]
        versions = Counter(_name_versions(self[name]["provenance"]) for name in found)
        if len(found) < len(wanted) and found:
            versions.setdefault(_name_versions(describe_process()), 0)
        if len(versions) > 1:
            counts = ", ".join(f"{n} of {each}" for each, n in versions.items())
            raise InputError(
                f"{self.path} holds finished cells of {counts}, and {len(wanted) - len(found)} "
                "are missing",
                allowed="cells of one version",
                fix=f"finish them with the version that began, or {AGAIN}",
            )

    def _read(self, path: Path) -> None:
        with _lock(path, "rb") as file:
            content = file.read()
            *lines, rest = content.split(b"\n")
            for number, line in enumerate(lines, start=1):
                result = _parse(line, f"{path}, line {number}")
                self.done[result["key"], result["settings"]] = result
            if not (rest.startswith(HEAD) or HEAD.startswith(rest)):
                raise _tell_no_cell(f"{path}, line {len(lines) + 1}")
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
        raise _tell_no_cell(where)
    if head.removeprefix(HEAD) != _compute_checksum(text):
        raise InputError(
            f"{where} is not as it was written: its checksum differs",
            allowed="finished cells that nothing has altered",
            fix=f"delete this line, and its cell is computed again; or {AGAIN}",
        )
    with translate_foreign_errors(f"reading {where}", fix=AGAIN):
        result: dict[str, Any] = json.loads(text)
    odd = [name for name, kind in FIELDS.items() if not isinstance(result.get(name), kind)]
    if odd:
        raise InputError(f"{where} has no {odd[0]!r}", fix=AGAIN)
    return result


def _tell_no_cell(where: str) -> InputError:
    return InputError(
        f"{where} is not a finished cell of this version of ssme",
        allowed="lines as `ssme bench --resume` writes them, each with its checksum",
        fix=AGAIN,
    )


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
