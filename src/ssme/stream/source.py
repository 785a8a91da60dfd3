"""Parquet files as a list of row groups, which are read one by one.

Every column is known by its name; it may be written in any of Arrow's encodings and types, and not
in the same in every file, as long as numbers stay numbers and text stays text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ssme.data.judges import Judge
from ssme.data.readers import reading
from ssme.data.readers.columns import Columns
from ssme.data.readers.sources import refuse_file_options
from ssme.data.readers.tables import Table, decode, from_arrow
from ssme.errors import InputError, translate_foreign_errors
from ssme.schema import ReadOptions
from ssme.stream.files import File, find_files, identify, name_file_in_errors, open_parquet

NUMBERS, TEXT, EMPTY = "numbers", "text", "nothing"
"""Kinds of columns, as messages call them."""


@dataclass(frozen=True)
class Part:
    """One row group of one file, and where its rows stand among all."""

    file: File
    row_group: int
    first_row: int
    n_rows: int

    @property
    def path(self) -> str:
        return self.file.path


@dataclass(frozen=True, eq=False)
class Source:
    """All files of an evaluation, their row groups, and the kind of each column in each file."""

    files: tuple[File, ...]
    parts: tuple[Part, ...]
    kinds: tuple[Mapping[str, str], ...]

    @property
    def n_rows(self) -> int:
        return self.parts[-1].first_row + self.parts[-1].n_rows

    def refuse_mixed_types(self, columns: Sequence[str]) -> None:
        """Refuse a column that holds numbers in one file and text in another."""
        first = dict(self.kinds[0])
        where = dict.fromkeys(first, self.files[0].path)
        for file, kinds in zip(self.files, self.kinds, strict=True):
            for name in columns:
                if first[name] == EMPTY:
                    first[name], where[name] = kinds[name], file.path
                if kinds[name] not in (first[name], EMPTY):
                    raise InputError(
                        f"column {name!r} holds {first[name]} in {where[name]} and {kinds[name]} "
                        f"in {file.path}",
                        allowed="values of one type in every file",
                        fix="write the files again with one type",
                    )


def find_source(paths: str | Path | Sequence[str | Path]) -> Source:
    """The row groups of all files, in the order of the files' names."""
    given = [paths] if isinstance(paths, str | Path) else list(paths)
    found = find_files(map(str, given))
    if not found:
        raise InputError(
            f"no Parquet file at {', '.join(map(str, given)) or 'an empty list'}",
            allowed="files, folders, patterns such as 'dir/*.parquet', or addresses (s3://...)",
            fix="check the path; quote patterns so that the shell leaves them alone",
        )
    files = tuple(identify(*file) for file in found)
    parts: list[Part] = []
    kinds: list[Mapping[str, str]] = []
    first = 0
    for file in files:
        opened = open_parquet(file)
        fresh = _name_kinds(file, opened.schema_arrow)
        kinds.append(kinds[-1] if kinds and kinds[-1] == fresh else fresh)
        if fresh.keys() != kinds[0].keys():
            differ = sorted(fresh.keys() ^ kinds[0].keys())
            raise InputError(
                f"{file.path} and {files[0].path} differ in the columns {', '.join(differ[:5])}",
                allowed="the same columns in every file",
                fix="evaluate files of different layouts apart",
            )
        metadata = opened.metadata
        for group in range(opened.num_row_groups):
            n_rows = metadata.row_group(group).num_rows
            if n_rows:
                parts.append(Part(file, group, first, n_rows))
                first += n_rows
    if not parts:
        raise InputError(f"{files[0].path} has no rows", allowed="at least one row")
    return Source(files, tuple(parts), tuple(kinds))


def join_tables(tables: Sequence[Any]) -> Any:
    """Tables of the same columns, one below the other."""
    import pyarrow as pa

    with translate_foreign_errors("putting rows of several parts together"):
        return pa.concat_tables(tables, promote_options="permissive")


def read_table(part: Part, columns: list[str] | None) -> Any:
    """The columns of a part as a pyarrow table, encodings undone."""
    with name_file_in_errors(part.path):
        opened = open_parquet(part.file)
        own = set(opened.schema_arrow.names)
        held = None if columns is None else [name for name in columns if name in own]
        table = opened.read_row_group(part.row_group, columns=held, use_threads=False)
        return _add_partition(_decode(table), part.file, part.n_rows, columns)


def read_head(part: Part, n_rows: int) -> Any:
    """The first rows of a part, all columns."""
    import pyarrow as pa

    with name_file_in_errors(part.path):
        batches = open_parquet(part.file).iter_batches(
            n_rows, row_groups=[part.row_group], use_threads=False
        )
        table = _decode(pa.Table.from_batches([next(batches)]))
        return _add_partition(table, part.file, len(table), None)


def take_rows(table: Any, rows: NDArray[np.int64]) -> Any:
    """Some rows of a table; indices go as an Arrow array, which spares importing pandas."""
    import pyarrow as pa

    buffer = pa.py_buffer(np.ascontiguousarray(rows, dtype=np.int64))
    return table.take(pa.Array.from_buffers(pa.int64(), len(rows), [None, buffer]))


def _decode(table: Any) -> Any:
    for position, name in enumerate(table.column_names):
        column = table.column(position)
        plain = decode(column)
        if plain is not column:
            table = table.set_column(position, name, plain)
    return table


def _add_partition(table: Any, file: File, n_rows: int, columns: list[str] | None) -> Any:
    """``table`` with the ``columns`` that the names of the file's folders give; None for all."""
    import pyarrow as pa

    given = {
        name: pa.repeat(pa.scalar(value, pa.string()), n_rows)
        for name, value in file.partition
        if name not in table.column_names and (columns is None or name in columns)
    }
    if not given:
        return table
    own = {name: table[name] for name in table.column_names}
    return pa.table({**own, **given})


def _name_kinds(file: File, schema: Any) -> dict[str, str]:
    """Column -> kind of its values, those that the names of the file's folders give included."""
    if len(set(schema.names)) < len(schema.names):
        twice = [name for name in schema.names if schema.names.count(name) > 1]
        raise InputError(
            f"{file.path} has two columns called {twice[0]!r}",
            allowed="unique column names",
            fix="rename or drop the repeated columns",
        )
    given = {name: EMPTY if value is None else TEXT for name, value in file.partition}
    own = zip(schema.names, schema.types, strict=True)
    return given | {name: _name_kind(of) for name, of in own}


def _name_kind(of: Any) -> str:
    """A type of Arrow in words that are the same for types that mix."""
    import pyarrow as pa

    if pa.types.is_dictionary(of) or pa.types.is_run_end_encoded(of):
        return _name_kind(of.value_type)
    if pa.types.is_integer(of) or pa.types.is_floating(of) or pa.types.is_decimal(of):
        return NUMBERS
    if pa.types.is_string(of) or pa.types.is_large_string(of) or pa.types.is_string_view(of):
        return TEXT
    return EMPTY if pa.types.is_null(of) else f"values of type {of}"


# -------------------------------------------------------------------------------------------------
# Which columns hold what: found once, from the first rows.
#
# The layout is wide, with one column per model or judge, or one per model and class. Where a column
# of numbers has few values in the first rows, or none, others are looked for further on, so that a
# stream takes the same columns for models as memory does.


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


def find_columns(source: Source, options: Mapping[str, Any]) -> Reading:
    """The layout, from the first rows; ``options`` as in `ScoreSet.from_frame`."""
    told = ReadOptions.of(options, "the reader of Parquet files")
    refuse_file_options(told, None, "Parquet files")
    path = source.files[0].path
    columns = reading.find_columns(Table(_read_head(source), path), told)
    if columns.is_long:
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
