"""Parquet files as a list of row groups, and the rows of one as scores, labels and groups.

The layout, wide with one column a model or one a model and class, is found once from the first
rows; every part is then read by column name.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ssme.data.labels import observe
from ssme.data.readers.arrow import decode, from_arrow
from ssme.data.readers.frames import FrameOptions
from ssme.data.readers.roles import find_roles
from ssme.data.readers.tables import Table
from ssme.data.scoreset import UNLABELED, ScoreSet
from ssme.data.simplex import to_simplex
from ssme.errors import InputError
from ssme.stream.files import find_files, open_parquet

__all__ = [
    "Block",
    "Columns",
    "Part",
    "find_columns",
    "find_parts",
    "labeled_rows",
    "read_block",
    "read_table",
    "take_rows",
]

FloatArray = NDArray[np.float64]
HEAD_ROWS = 2000
"""Rows from which the layout is found."""


@dataclass(frozen=True)
class Part:
    """One row group of one file, and where its rows stand among all."""

    path: str
    row_group: int
    first_row: int
    n_rows: int


@dataclass(frozen=True)
class Columns:
    """Which columns hold what; ``scores`` are those of each model, one or one a class."""

    models: tuple[str, ...]
    scores: tuple[tuple[str, ...], ...]
    label: str | None
    weight: str | None
    groups: Mapping[str, str]
    unlabeled: object
    logits: bool
    normalize: bool

    @property
    def names(self) -> list[str]:
        """All columns that have to be read, each once."""
        named = [name for of in self.scores for name in of]
        named += [c for c in (self.label, self.weight, *self.groups.values()) if c is not None]
        return list(dict.fromkeys(named))


@dataclass(frozen=True, eq=False)
class Block:
    """The rows of a part, scores as the columns of the file.

    ``labeled`` are the positions of labeled rows, ``labels`` theirs.
    """

    part: Part
    columns: Columns
    numbers: tuple[tuple[FloatArray, ...], ...]
    weights: FloatArray | None
    groups: dict[str, NDArray[np.object_]]
    labeled: NDArray[np.int64]
    labels: list[Hashable]

    def scores(self, rows: slice) -> FloatArray:
        """(r, M, K) of some rows, checked as at the front door, rows fastest in memory."""
        one_each = all(len(of) == 1 for of in self.numbers)
        if one_each and not self.columns.logits:
            lines = [line[rows] for (line,) in self.numbers]
            both: FloatArray = np.empty((2, len(lines), len(lines[0])))
            np.stack(lines, out=both[1])
            np.subtract(1.0, both[1], out=both[0])
            if np.fmin.reduce(both, axis=None) >= 0.0:
                return both.transpose(2, 1, 0)
        raw = np.stack([np.stack([line[rows] for line in of]) for of in self.numbers])
        given = raw[:, 0].T if one_each else raw.transpose(2, 0, 1)
        options = {"logits": self.columns.logits, "normalize": self.columns.normalize}
        try:
            return to_simplex(given, self.columns.models, **options)
        except InputError as error:
            first = self.part.first_row + (rows.start or 0)
            where = f"{self.part.path}, rows from {first} on: {error.got}"
            raise InputError(where, allowed=error.allowed, fix=error.fix) from None


def find_parts(paths: str | Path | Sequence[str | Path]) -> list[Part]:
    """The row groups of all files, in the order of the files' names."""
    given = [paths] if isinstance(paths, str | Path) else list(paths)
    files = [file for path in given for file in find_files(str(path))]
    if not files:
        raise InputError(
            f"no Parquet file at {', '.join(map(str, given)) or 'an empty list'}",
            allowed="files, folders, patterns such as 'dir/*.parquet', or addresses (s3://...)",
            fix="check the path; quote patterns so that the shell leaves them alone",
        )
    parts: list[Part] = []
    first, names = 0, None
    for file in files:
        opened = open_parquet(file)
        if names is None:
            names = opened.schema_arrow.names
        elif set(names) != set(opened.schema_arrow.names):
            differ = sorted(set(names) ^ set(opened.schema_arrow.names))
            raise InputError(
                f"{file} and {files[0]} differ in the columns {', '.join(differ[:5])}",
                allowed="the same columns in every file",
                fix="evaluate files of different layouts apart",
            )
        for group in range(opened.num_row_groups):
            n_rows = opened.metadata.row_group(group).num_rows
            if n_rows:
                parts.append(Part(file, group, first, n_rows))
                first += n_rows
    if not parts:
        raise InputError(f"{files[0]} has no rows", allowed="at least one row")
    return parts


def find_columns(part: Part, options: Mapping[str, Any]) -> Columns:
    """The layout, from the first rows of ``part``; ``options`` as in `ScoreSet.from_frame`."""
    unknown = sorted(set(options) - set(FrameOptions.__dataclass_fields__))
    if unknown:
        raise InputError(
            f"unknown option {unknown[0]!r} for Parquet files",
            allowed=", ".join(FrameOptions.__dataclass_fields__),
        )
    head = read_table(part, None).slice(0, HEAD_ROWS)
    frame_options = FrameOptions(**options)
    roles = find_roles(Table(head, part.path), frame_options, None)
    without = head.drop_columns([roles.label]) if roles.label is not None else head
    kept = {name: value for name, value in options.items() if name != "label"}
    layout = ScoreSet.from_frame(without, False, **kept).layout
    assert layout is not None
    if layout.kind not in ("wide", "wide by class"):
        raise InputError(
            f"{part.path} is in the {layout.kind} layout",
            allowed="wide files, a column per model or per model and class, for streaming",
            fix="pivot the file, or evaluate it in memory",
        )
    return Columns(
        models=tuple(layout.columns),
        scores=tuple(layout.columns.values()),
        label=roles.label,
        weight=roles.weight,
        groups=dict(roles.groups),
        unlabeled=frame_options.unlabeled,
        logits=frame_options.logits,
        normalize=frame_options.normalize,
    )


def read_table(part: Part, columns: list[str] | None) -> Any:
    """The columns of a part as a pyarrow table."""
    return open_parquet(part.path).read_row_group(
        part.row_group, columns=columns, use_threads=False
    )


def take_rows(table: Any, rows: NDArray[np.int64]) -> Any:
    """Some rows of a table; indices go as an Arrow array, which spares importing pandas."""
    import pyarrow as pa

    buffer = pa.py_buffer(np.ascontiguousarray(rows, dtype=np.int64))
    return table.take(pa.Array.from_buffers(pa.int64(), len(rows), [None, buffer]))


def labeled_rows(table: Any, columns: Columns) -> tuple[NDArray[np.int64], list[Hashable]]:
    """Positions of labeled rows and their labels; cheap where nearly all are null."""
    import pyarrow.compute as pc

    if columns.label is None or table[columns.label].null_count == len(table):
        return np.zeros(0, dtype=np.int64), []
    column = decode(table[columns.label])
    valid = np.from_dlpack(pc.indices_nonzero(column.is_valid())).astype(np.int64)
    values = from_arrow(column.drop_null())
    if values.dtype.kind == "f":
        kept = ~np.isnan(values)
        valid, values = valid[kept], values[kept]
    raw = observe(values, len(values), columns.unlabeled)
    known = raw.codes != UNLABELED
    return valid[known], [raw.values[code] for code in raw.codes[known]]


def read_block(table: Any, part: Part, columns: Columns) -> Block:
    """The rows of ``table`` as a block."""
    labeled, labels = labeled_rows(table, columns)
    weights = None if columns.weight is None else _numbers(table, columns.weight)
    if weights is not None and not (np.isfinite(weights).all() and (weights >= 0).all()):
        row = int(np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))[0])
        raise InputError(
            f"weight {weights[row]} at row {part.first_row + row}",
            allowed="finite weights of 0 or more",
        )
    groups = {
        name: from_arrow(table[column]).astype(object) for name, column in columns.groups.items()
    }
    numbers = tuple(tuple(_numbers(table, name) for name in of) for of in columns.scores)
    return Block(part, columns, numbers, weights, groups, labeled, labels)


def _numbers(table: Any, name: str) -> FloatArray:
    return np.asarray(from_arrow(table[name]), dtype=np.float64)
