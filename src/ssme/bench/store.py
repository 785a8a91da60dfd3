"""Finished cells on disk: one line of a file each, written as soon as it is done.

After a crash the file is read back and a torn last line dropped. It may hold cells of several
protocols: a cell is found by its key, which names the work, and taken only where its
settings are those asked for. Cells of another version are taken where they are all there is to
read; they are never completed by cells of this version.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ssme.bench.protocol import Cell, Protocol
from ssme.bench.provenance import DECISIVE, here
from ssme.errors import InputError

__all__ = ["CellStore"]

AGAIN = "name another folder, or delete this file to start again"


class CellStore:
    """The finished cells of the file ``path``; without one they live in memory alone."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.done: dict[str, dict[str, Any]] = {}
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._read(path)

    def __contains__(self, cell: Cell) -> bool:
        return cell.key in self.done

    def __getitem__(self, cell: Cell) -> dict[str, Any]:
        return self.done[cell.key]

    def keep(self, result: dict[str, Any]) -> None:
        """One more finished cell."""
        self.done[result["key"]] = result
        if self.path is not None:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(result) + "\n")

    def check(self, protocol: Protocol, cells: Iterable[Cell]) -> None:
        """Refuse cells of other settings, of several versions, or of a version not ours to go on.

        Raises `InputError`.
        """
        cells = list(cells)
        found = [cell for cell in cells if cell in self]
        for cell in found:
            if self[cell]["settings"] != protocol.settings(cell):
                raise InputError(
                    f"{self.path} holds results of another protocol: cell {cell.key!r} was "
                    f"computed with {self[cell]['settings']}",
                    allowed=f"cells computed with {protocol.settings(cell)}",
                    fix=AGAIN,
                )
        versions = Counter(_told(self[cell]["provenance"]) for cell in found)
        if len(found) < len(cells) and found:
            versions.setdefault(_told(here()), 0)
        if len(versions) > 1:
            counts = ", ".join(f"{n} of {each}" for each, n in versions.items())
            raise InputError(
                f"{self.path} holds finished cells of {counts}, and {len(cells) - len(found)} "
                "are missing",
                allowed="cells of one version",
                fix=f"finish them with the version that began, or {AGAIN}",
            )

    def _read(self, path: Path) -> None:
        if not path.exists():
            return
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        whole = []
        for line in lines:
            try:
                result = json.loads(line)
            except json.JSONDecodeError:
                continue  # torn by a crash: this cell is computed again
            if line.endswith("\n"):
                whole.append(line)
                self.done[result["key"]] = result
        if len(whole) < len(lines):
            temporary = path.with_suffix(".tmp")
            temporary.write_text("".join(whole), encoding="utf-8")
            temporary.replace(path)


def _told(provenance: dict[str, Any]) -> str:
    return " with ".join(f"{name} {provenance[name]}" for name in DECISIVE)
