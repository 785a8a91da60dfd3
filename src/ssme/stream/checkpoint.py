"""What a pass has counted so far, on disk: written whole or not at all.

One npz with the sums of every group and the number of parts they hold. It also holds a fingerprint
of files, options and fit; sums of another run are refused, never mixed in.
"""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ssme.errors import InputError
from ssme.stream.tally import Sums, added

__all__ = ["Progress", "fingerprint", "load", "save"]

SEPARATOR = "\x1f"


@dataclass(eq=False)
class Progress:
    """Sums by group over the first ``n_parts`` parts, and rows and labels counted."""

    n_parts: int = 0
    sums: dict[str, Sums] = field(default_factory=dict)
    rows: dict[str, tuple[int, int]] = field(default_factory=dict)

    def add(self, sums: dict[str, Sums], rows: dict[str, tuple[int, int]]) -> None:
        """Add the next part."""
        self.n_parts += 1
        for group, fresh in sums.items():
            self.sums[group] = added(self.sums.get(group, {}), fresh)
        for group, (n, labeled) in rows.items():
            before = self.rows.get(group, (0, 0))
            self.rows[group] = before[0] + n, before[1] + labeled


def fingerprint(facts: Any, *arrays: np.ndarray[Any, Any]) -> str:
    """A hash of plain ``facts`` and of the bits of ``arrays``."""
    digest = hashlib.sha256(json.dumps(facts, sort_keys=True, default=str).encode())
    for array in arrays:
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def save(path: Path, progress: Progress, mark: str) -> None:
    """Write ``progress`` to ``path`` in one step."""
    arrays = {
        SEPARATOR.join((group, name)): values
        for group, sums in progress.sums.items()
        for name, values in sums.items()
    }
    facts = {"fingerprint": mark, "n_parts": progress.n_parts, "rows": progress.rows}
    unfinished = path.with_name(path.name + ".tmp")
    with unfinished.open("wb") as file:
        np.savez(file, facts=np.array(json.dumps(facts)), **arrays)  # type: ignore[arg-type]
        file.flush()
        os.fsync(file.fileno())
    os.replace(unfinished, path)


def load(path: Path, mark: str) -> Progress:
    """The progress in ``path``; nothing yet where there is no such file."""
    if not path.exists():
        return Progress()
    try:
        with np.load(path, allow_pickle=False) as file:
            facts = json.loads(str(file["facts"]))
            arrays = {name: file[name] for name in file.files if name != "facts"}
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise InputError(
            f"{path} is not a checkpoint of this program ({error})",
            fix="name another file, or delete this one to start over",
        ) from error
    if facts["fingerprint"] != mark:
        raise InputError(
            f"{path} is the checkpoint of another run: files, options, seed or fit differ",
            allowed="the checkpoint of the same run",
            fix="name another file, or delete this one to start over",
        )
    progress = Progress(facts["n_parts"])
    progress.rows = {group: (n, labeled) for group, (n, labeled) in facts["rows"].items()}
    for name, values in arrays.items():
        group, counter = name.split(SEPARATOR)
        progress.sums.setdefault(group, {})[counter] = values
    return progress
