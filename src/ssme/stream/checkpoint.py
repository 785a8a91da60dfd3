"""What a pass has counted so far, on disk: written whole or not at all.

    ssme checkpoint 2
    SHA-256 of what follows
    npz: the sums over all rows and by group, and as JSON the run they belong to

A run is known by its files (name, size, time of change, footer) and by the sums over its sample,
which depend on every option that matters. Sums of another run are refused, never mixed in.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ssme.errors import InputError, translate_foreign_errors
from ssme.stream.files import File
from ssme.stream.group_keys import GroupKey
from ssme.stream.group_sums import Cells, GroupSums
from ssme.stream.tally import Sums, add_sums
from ssme.writing import write_bytes

__all__ = ["Progress", "RunMark", "load", "read_checkpoint", "save"]

HEAD = b"ssme checkpoint 2\n"
START_OVER = "name another file, or delete this one to start over"
ALL_ROWS, PLACES, VALUES = "all", "places", "values"


@dataclass(eq=False)
class Progress:
    """Sums over the first ``n_parts`` parts, over all their rows and by group."""

    n_parts: int = 0
    n_rows: int = 0
    n_labeled: int = 0
    sums: Sums = field(default_factory=dict)
    groups: GroupSums = field(default_factory=GroupSums)

    def add(self, part: Progress) -> None:
        """Add what was counted over the next part or parts."""
        self.n_parts += part.n_parts
        self.n_rows += part.n_rows
        self.n_labeled += part.n_labeled
        self.sums = add_sums(self.sums, part.sums)
        self.groups.add(part.groups)


@dataclass(frozen=True)
class RunMark:
    """What tells one run from another: its files, and a hash of its options and fit."""

    files: tuple[tuple[str, int, int, str], ...]
    fit: str

    @classmethod
    def of(cls, files: Iterable[File], facts: Any, sample: Progress) -> RunMark:
        """``facts`` are plain; ``sample`` holds the sums over the sample."""
        marks = tuple((file.path, file.size, file.modified, file.footer) for file in files)
        digest = hashlib.sha256(json.dumps(facts, sort_keys=True, default=str).encode())
        for name, array in _pack_arrays(sample).items():
            digest.update(name.encode())
            digest.update(np.ascontiguousarray(array).tobytes())
        return cls(marks, digest.hexdigest())


def save(path: Path, progress: Progress, mark: RunMark) -> None:
    """Write ``progress`` to ``path`` in one step."""
    facts = {
        "files": mark.files,
        "fit": mark.fit,
        "n_parts": progress.n_parts,
        "n_rows": progress.n_rows,
        "n_labeled": progress.n_labeled,
        "groups": list(progress.groups.numbers),
        "rows": progress.groups.rows,
        "labeled": progress.groups.labeled,
        "shapes": {name: cells.shape for name, cells in progress.groups.cells.items()},
    }
    content = io.BytesIO()
    np.savez(content, facts=np.array(json.dumps(facts)), **_pack_arrays(progress))
    body = content.getvalue()
    write_bytes(path, HEAD + _compute_checksum(body) + b"\n" + body)


def load(path: Path, mark: RunMark) -> Progress:
    """The progress in ``path``; nothing yet where there is no such file."""
    if not path.exists():
        return Progress()
    facts, arrays = read_checkpoint(path)
    if facts["fit"] != mark.fit or [file[0] for file in facts["files"]] != [
        file[0] for file in mark.files
    ]:
        raise InputError(
            f"{path} is the checkpoint of another run: files, options, seed or fit differ",
            allowed="the checkpoint of the same run",
            fix=START_OVER,
        )
    for before, now in zip(facts["files"], mark.files, strict=True):
        if tuple(before) != now:
            raise InputError(
                f"{now[0]} changed since the checkpoint {path} was written",
                allowed="the files that the pass began with",
                fix=START_OVER,
            )
    groups = GroupSums(
        {GroupKey(*key): number for number, key in enumerate(facts["groups"])},
        facts["rows"],
        facts["labeled"],
        {
            name: Cells(tuple(shape), arrays[f"{name}/{PLACES}"], arrays[f"{name}/{VALUES}"])
            for name, shape in facts["shapes"].items()
        },
    )
    sums = {
        name.removeprefix(f"{ALL_ROWS}/"): values
        for name, values in arrays.items()
        if name.startswith(f"{ALL_ROWS}/")
    }
    return Progress(facts["n_parts"], facts["n_rows"], facts["n_labeled"], sums, groups)


def read_checkpoint(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The facts and the arrays in the file ``path``, which has to be whole and unaltered."""
    content = path.read_bytes()
    checksum, _, body = content.removeprefix(HEAD).partition(b"\n")
    if not content.startswith(HEAD) or checksum != _compute_checksum(body):
        what = "is not whole" if HEAD.startswith(content[: len(HEAD)]) else "is not a checkpoint"
        raise InputError(
            f"{path} {what}, or was altered",
            allowed="a checkpoint that this version of ssme wrote",
            fix=START_OVER,
        )
    with (
        translate_foreign_errors(f"reading the checkpoint {path}", fix=START_OVER),
        np.load(io.BytesIO(body), allow_pickle=False) as file,
    ):
        facts = json.loads(str(file["facts"]))
        return facts, {name: file[name] for name in file.files if name != "facts"}


def _pack_arrays(progress: Progress) -> dict[str, Any]:
    arrays: dict[str, Any] = {f"{ALL_ROWS}/{name}": v for name, v in progress.sums.items()}
    for name, cells in progress.groups.cells.items():
        cells.settle()
        arrays |= {f"{name}/{PLACES}": cells.places, f"{name}/{VALUES}": cells.values}
    return arrays


def _compute_checksum(body: bytes) -> bytes:
    return hashlib.sha256(body).hexdigest().encode()
