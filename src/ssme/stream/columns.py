"""Which columns hold what: found once, from the first rows.

The layout is wide, with one column per model or judge, or one per model and class. A column that is
empty in the first rows is looked for further on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ssme.data.answers import Judge
from ssme.data.readers import frames
from ssme.data.readers.columns import Columns
from ssme.data.readers.options import ReadOptions
from ssme.data.readers.sources import refuse_file_options
from ssme.data.readers.tables import Table
from ssme.errors import InputError
from ssme.stream.source import (
    EMPTY,
    NUMBERS,
    Source,
    join_tables,
    read_head,
    read_table,
    take_rows,
)

__all__ = ["Reading", "find_columns"]

HEAD_ROWS = 2000
"""Rows from which the layout is found."""
ROWS_OF_LATE_COLUMN = 100
"""Rows added to these for a column that begins further on."""


@dataclass(frozen=True)
class Reading:
    """How every part is read: which columns hold what, and what was said about them.

    ``judges`` are the models that give answers or ratings; their classes and grades are those of
    the sample, so that there are none before it is read. ``id`` is the column that names the rows,
    which is read once, to see that no row occurs twice.
    """

    columns: Columns
    options: ReadOptions
    judges: Mapping[str, Judge] = field(default_factory=dict)
    id: str | None = None

    @property
    def scored(self) -> tuple[str, ...]:
        """The models that give probabilities."""
        return tuple(name for name in self.columns.models if name not in self.judges)


def find_columns(source: Source, options: Mapping[str, Any]) -> Reading:
    """The layout, from the first rows; ``options`` as in `ScoreSet.from_frame`."""
    told = ReadOptions.of(options, "the reader of Parquet files")
    refuse_file_options(told, None, "Parquet files")
    path = source.files[0].path
    columns = frames.find_columns(Table(_read_head(source), path), told)
    if columns.kind == "long":
        raise InputError(
            f"{path} is in the long layout",
            allowed="wide files, one column per model, judge, or model and class, for streaming",
            fix="pivot the file, or evaluate it in memory",
        )
    source.refuse_mixed_types(columns.names)
    return Reading(replace(columns, id=None), replace(told, id=None), id=columns.id)


def _read_head(source: Source) -> Any:
    """The first rows, and for each column of numbers that is empty there the first that are not."""
    head = read_head(source.parts[0], HEAD_ROWS)
    tables = [head]
    for name, kind in source.kinds[0].items():
        if kind in (NUMBERS, EMPTY) and not _list_present(head[name]).size:
            late = _find_first_rows_with(source, name)
            if late is not None:
                tables.append(late)
    return join_tables(tables)


def _find_first_rows_with(source: Source, name: str) -> Any:
    """A few rows in which the column ``name`` has a value; None where no row has one."""
    for part in source.parts:
        rows = _list_present(read_table(part, [name])[name])
        if rows.size:
            return take_rows(read_table(part, None), rows[:ROWS_OF_LATE_COLUMN])
    return None


def _list_present(column: Any) -> NDArray[np.int64]:
    """The rows in which a column of numbers has a value."""
    import pyarrow.compute as pc

    held = column.is_valid()
    if column.type in _list_float_types():
        held = pc.and_(held, pc.invert(pc.fill_null(pc.is_nan(column), False)))
    return np.from_dlpack(pc.indices_nonzero(held)).astype(np.int64)


def _list_float_types() -> tuple[Any, ...]:
    import pyarrow as pa

    return pa.float32(), pa.float64()
