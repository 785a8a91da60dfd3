"""Which columns hold what: found once, from the first rows.

The layout is wide, with one column per model or judge, or one per model and class. Where a column
of numbers has few values in the first rows, or none, others are looked for further on, so that a
stream takes the same columns for models as memory does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ssme.data.answers import Judge
from ssme.data.readers import frames
from ssme.data.readers.arrow import from_arrow
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
MOST_VALUES = 100
"""Values of a column up to which all are looked for."""


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
    """The first rows, and others with values that a column of numbers does not have there."""
    head = read_head(source.parts[0], HEAD_ROWS)
    kinds = {name: {of[name] for of in source.kinds} - {EMPTY} for name in source.kinds[0]}
    of_one_kind = [name for name, found in kinds.items() if len(found) < 2]
    tables = [head]
    for name in of_one_kind:
        if kinds[name] == {NUMBERS}:
            tables += _find_other_rows(source, name, head[name], of_one_kind)
    return join_tables(tables)


def _find_other_rows(source: Source, name: str, head: Any, columns: list[str]) -> list[Any]:
    """A row with each value that the column ``name`` has beyond those of ``head``, if it has few.

    More than two values that are not whole numbers are enough: no flag, group or label has them.
    """
    seen, found = set(_find_first_rows(head)), []
    for part in source.parts:
        if len(seen) > MOST_VALUES or (len(seen) > 2 and any(value % 1 for value in seen)):
            break
        first = _find_first_rows(read_table(part, [name])[name])
        rows = [row for value, row in first.items() if value not in seen][:MOST_VALUES]
        if rows:
            found.append(take_rows(read_table(part, columns), np.array(sorted(rows))))
        seen |= set(first)
    return found


def _find_first_rows(column: Any) -> dict[Any, int]:
    """Values of a column of numbers -> the first row that has them."""
    present = _list_present(column)
    values = from_arrow(take_rows(column, present))
    distinct, first = np.unique(values, return_index=True)
    return dict(zip(distinct.tolist(), present[first].tolist(), strict=True))


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
