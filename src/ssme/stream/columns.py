"""Which columns hold what: found once, from the first rows.

The layout is wide, with one column per model or one per model and class. A column that is empty in
the first rows is looked for further on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ssme.data.layout import Layout
from ssme.data.readers.frames import FrameOptions
from ssme.data.readers.roles import Roles, find_roles
from ssme.data.readers.tables import Table
from ssme.data.scoreset import ScoreSet
from ssme.errors import InputError, argument
from ssme.stream.source import (
    EMPTY,
    NUMBERS,
    Source,
    join_tables,
    read_head,
    read_table,
    take_rows,
)

__all__ = ["Columns", "find_columns"]

HEAD_ROWS = 2000
"""Rows from which the layout is found."""
ROWS_OF_LATE_COLUMN = 100
"""Rows added to these for a column that begins further on."""


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


def find_columns(source: Source, options: Mapping[str, Any]) -> Columns:
    """The layout, from the first rows; ``options`` as in `ScoreSet.from_frame`."""
    unknown = sorted(set(options) - set(FrameOptions.__dataclass_fields__))
    if unknown:
        raise InputError(
            f"unknown option {unknown[0]!r} for Parquet files",
            allowed=", ".join(FrameOptions.__dataclass_fields__),
        )
    if options.get("delimiter") is not None:
        raise InputError(
            f"{argument('delimiter', options['delimiter'])} for Parquet files",
            allowed="a delimiter for CSV files, which are read into memory",
            fix="leave it out",
        )
    frame_options = FrameOptions(**options)
    path = source.files[0].path
    head = _head(source)
    roles = find_roles(Table(head, path), frame_options, None)
    if roles.label is not None:
        head = head.drop_columns([roles.label])
    kept = {name: value for name, value in options.items() if name != "label"}
    layout = ScoreSet.from_frame(head, False, **kept).layout
    assert layout is not None
    if layout.kind not in ("wide", "wide by class"):
        raise InputError(
            f"{path} is in the {layout.kind} layout",
            allowed="wide files, a column per model or per model and class, for streaming",
            fix="pivot the file, or evaluate it in memory",
        )
    columns = _columns(layout, roles, frame_options)
    source.refuse_mixed_types(columns.names)
    return columns


def _columns(layout: Layout, roles: Roles, options: FrameOptions) -> Columns:
    return Columns(
        models=tuple(layout.columns),
        scores=tuple(layout.columns.values()),
        label=roles.label,
        weight=roles.weight,
        groups=dict(roles.groups),
        unlabeled=options.unlabeled,
        logits=options.logits,
        normalize=options.normalize,
    )


def _head(source: Source) -> Any:
    """The first rows, and for each column of numbers that is empty there the first that are not."""
    head = read_head(source.parts[0], HEAD_ROWS)
    tables = [head]
    for name, kind in source.kinds[0].items():
        if kind in (NUMBERS, EMPTY) and not _present(head[name]).size:
            late = _first_rows_with(source, name)
            if late is not None:
                tables.append(late)
    return join_tables(tables)


def _first_rows_with(source: Source, name: str) -> Any:
    """A few rows in which the column ``name`` has a value; None where no row has one."""
    for part in source.parts:
        rows = _present(read_table(part, [name])[name])
        if rows.size:
            return take_rows(read_table(part, None), rows[:ROWS_OF_LATE_COLUMN])
    return None


def _present(column: Any) -> NDArray[np.int64]:
    """The rows in which a column of numbers has a value."""
    import pyarrow.compute as pc

    held = column.is_valid()
    if column.type in _floating():
        held = pc.and_(held, pc.invert(pc.fill_null(pc.is_nan(column), False)))
    return np.from_dlpack(pc.indices_nonzero(held)).astype(np.int64)


def _floating() -> tuple[Any, ...]:
    import pyarrow as pa

    return pa.float32(), pa.float64()
