"""The row groups of Parquet files, which are read one by one, and what their columns hold.

Every column is known by its name; it may be written in any of Arrow's encodings and types, and not
in the same in every file, as long as numbers stay numbers and text stays text.

Row groups are read with ``ParquetFile``, not with ``pyarrow.dataset``: that cuts them into batches,
which costs a copy of every column.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ssme.arrays import IntArray
from ssme.data.judges import Judge
from ssme.data.readers import joined, reading, sources
from ssme.data.readers.columns import USUAL_NAMES, Columns
from ssme.data.readers.tables import Table, decode, from_arrow, is_arrow_text
from ssme.errors import InputError, translate_foreign_errors
from ssme.executors import map_in_order
from ssme.schema import ReadOptions
from ssme.stream.files import File, find_files, identify, name_file_in_errors, open_parquet

NUMBERS, TEXT, EMPTY = "numbers", "text", "nothing"
"""Kinds of columns, as messages call them."""


@dataclass(frozen=True)
class Part:
    """One row group of one file, and the place of its rows among all."""

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


def find_source(paths: str | Path | Sequence[str | Path]) -> Source:
    """The row groups of all files, in the order of the files' names."""
    given = [paths] if isinstance(paths, str | Path) else list(paths)
    found = find_files(map(str, given))
    if not found:
        problem = f"no Parquet file at {', '.join(map(str, given)) or 'an empty list'}"
        hint = "name files, folders, addresses (s3://...) or quoted patterns ('dir/*.parquet')"
        raise InputError(problem, hint=hint)
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
            problem = f"{file.path} and {files[0].path} differ in columns: {', '.join(differ[:5])}"
            raise InputError(problem, hint="evaluate files of different layouts separately")
        metadata = opened.metadata
        for group in range(opened.num_row_groups):
            n_rows = metadata.row_group(group).num_rows
            if n_rows:
                parts.append(Part(file, group, first, n_rows))
                first += n_rows
    if not parts:
        raise InputError(f"{files[0].path} has no rows")
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


def take_rows(table: Any, rows: IntArray) -> Any:
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
        problem = f"{file.path} has two columns called {twice[0]!r}"
        raise InputError(problem, hint="rename or drop the repeated columns")
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
    if is_arrow_text(of):
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
    the sample, so that they are unknown before it is read. ``id`` is the column that names the
    rows, which is read once, to see that no row occurs twice.
    """

    columns: Columns
    options: ReadOptions
    judges: Mapping[str, Judge] = field(default_factory=dict)
    id: str | None = None


def find_columns(source: Source, options: Mapping[str, Any]) -> Reading:
    """The layout, from the first rows; ``options`` as in `ScoreSet.from_frame`."""
    given = ReadOptions.of(options, "the reader of Parquet files")
    sources.refuse_file_options(given, "", "Parquet files")
    path = source.files[0].path
    head = Table(_read_head(source), path)
    if given.models is None and head.find(given.id, USUAL_NAMES["id"], "id") is None:
        named = [text.partition(":")[0] for text in given.groups or ()]
        names = joined.find_row_names(head, named)
        if names is not None:  # ids that only their values tell have no use here
            given = replace(given, ignore=(*(given.ignore or ()), names))
    columns = reading.find_columns(head, given)
    if columns.is_long:
        problem = f"{path} is in the long layout"
        raise InputError(problem, hint="pivot it to one column per model, or evaluate it in memory")
    seen: dict[str, tuple[str, str]] = {}  # column -> its kind and the first file that has it
    for file, kinds in zip(source.files, source.kinds, strict=True):
        for name in columns.names:
            kind, where = seen.setdefault(name, (kinds[name], file.path))
            if kind == EMPTY:
                seen[name] = kinds[name], file.path
            elif kinds[name] not in (kind, EMPTY):
                problem = f"column {name!r} is {kind} in {where} and {kinds[name]} in {file.path}"
                raise InputError(problem, hint="write the files again with one type")
    repeating = reading.find_repeating(head, columns)
    repeating = tuple(n for n in repeating if len({of.get(n) for of in source.kinds}) == 1)
    columns = replace(columns, repeating=repeating)
    return Reading(replace(columns, id=None), replace(given, id=None), id=columns.id)


def _read_head(source: Source) -> Any:
    """The first rows, and others with values that a column of numbers does not have there."""
    import pyarrow as pa

    part = source.parts[0]
    with name_file_in_errors(part.path):
        batches = open_parquet(part.file).iter_batches(
            HEAD_ROWS, row_groups=[part.row_group], use_threads=False
        )
        head = _decode(pa.Table.from_batches([next(batches)]))
        head = _add_partition(head, part.file, len(head), None)
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
    import pyarrow as pa
    import pyarrow.compute as pc

    held = column.is_valid()
    if pa.types.is_float32(column.type) or pa.types.is_float64(column.type):
        held = pc.and_(held, pc.invert(pc.fill_null(pc.is_nan(column), False)))
    present = np.from_dlpack(pc.indices_nonzero(held)).astype(np.int64)
    values = from_arrow(take_rows(column, present))
    distinct, first = np.unique(values, return_index=True)
    return dict(zip(distinct.tolist(), present[first].tolist(), strict=True))


# -------------------------------------------------------------------------------------------------
# Rows that occur twice, whose labels would count twice: refused as in memory.
#
# With an id column every id must occur once. Ids are compared by hashes of 64 bits, and two ids
# with one hash are looked up before they are refused. Kept are those of all labeled rows, and of
# the other rows those with the smallest hashes, `MOST_KEPT` in expectation: all ids of files with
# so few rows, and of larger files the same ids in every part, so that a part that was copied is
# found however it was written. Without an id column, files with the same rows are refused, in
# whatever order, row groups or compression they are written.


Hashes = NDArray[np.uint64]

MOST_KEPT = 2**22
"""Hashes of ids that are kept, 8 bytes each."""


def hash_ids(column: Any, part: Part, labeled: IntArray, n_rows: int) -> Hashes:
    """The hashes that are kept of a part's ids; ``n_rows`` is the number of rows of all parts."""
    hashes = _hash_ids(column, part)
    kept = hashes <= min(MOST_KEPT / n_rows, 1.0) * np.iinfo(np.uint64).max
    kept[labeled] = True
    return hashes[kept]


def refuse_repeated_ids(source: Source, id: str, kept: Sequence[Hashes]) -> None:
    """Refuse an id that occurs twice; ``kept`` are the hashes of each part."""
    distinct, counts = np.unique(np.concatenate(kept), return_counts=True)
    repeated = distinct[counts > 1]
    first: dict[Hashable, tuple[int, Part]] = {}
    for part, hashes in zip(source.parts, kept, strict=True):
        if not np.isin(hashes, repeated).any():
            continue
        column = read_table(part, [id])[id]
        for row in np.flatnonzero(np.isin(_hash_ids(column, part), repeated)).tolist():
            value = column[row].as_py()
            if value not in first:
                first[value] = part.first_row + row, part
                continue
            before, where = first[value]
            more = int((counts - 1).sum()) - 1
            raise InputError(
                f"ids: id {value!r} appears at row {before}, in {where.path}, and again at row "
                f"{part.first_row + row}, in {part.path}"
                + (f" ({more:,} more repeated rows were seen)" if more else ""),
                hint="remove the repeated rows or the copied file, or pass "
                f"`ignore={[id]}` if the column does not name the rows",
            )


def refuse_copied_files(pool: Executor, source: Source, columns: Sequence[str]) -> None:
    """Refuse two files with the same rows; only those whose metadata agree are read for it."""
    described: dict[Hashable, list[File]] = {}
    for file in source.files:
        n_rows = open_parquet(file).metadata.num_rows
        if n_rows:
            key = n_rows, _describe_columns(file, columns)
            described.setdefault(key, []).append(file)
    first: dict[Hashable, str] = {}
    for facts, same in described.items():
        if len(same) < 2:
            continue
        parts, sums = [p for p in source.parts if p.file in same], dict.fromkeys(same, 0)
        hashed = map_in_order(pool, partial(_add_hashes, columns=columns), parts)
        for part, added in zip(parts, hashed, strict=True):
            sums[part.file] = (sums[part.file] + added) % 2**64
        for file, total in sums.items():
            before = first.setdefault((facts, total), file.path)
            if before != file.path:
                problem = f"{file.path} has the same rows as {before}, which would count twice"
                raise InputError(problem, hint="remove the copy, or name the rows in an id column")


def _describe_columns(file: File, columns: Sequence[str]) -> Hashable:
    """Least and largest value of each column, and its size where the file does not say them."""
    metadata = open_parquet(file).metadata
    found: dict[str, list[Any]] = {}
    for group in range(metadata.num_row_groups):
        for number in range(metadata.num_columns):
            column = metadata.row_group(group).column(number)
            if column.path_in_schema in columns:
                found.setdefault(column.path_in_schema, []).append(column)
    return tuple((name, _describe_chunks(chunks)) for name, chunks in sorted(found.items()))


def _describe_chunks(chunks: Sequence[Any]) -> Hashable:
    statistics = [chunk.statistics for chunk in chunks]
    known = [each for each in statistics if each is not None and each.has_min_max]
    if not known or not all(each is not None and each.has_null_count for each in statistics):
        return (sum(chunk.total_compressed_size for chunk in chunks),)
    nulls = sum(each.null_count for each in statistics)
    return str(min(each.min for each in known)), str(max(each.max for each in known)), nulls


def _add_hashes(part: Part, columns: Sequence[str]) -> int:
    """The sum of a hash of each row, which does not depend on the order of the rows."""
    given = dict(part.file.partition)
    table = read_table(part, [name for name in columns if name not in given])
    rows: Hashes = np.zeros(part.n_rows, dtype=np.uint64)
    for name in sorted(table.column_names):
        rows = _mix(rows ^ _hash_column(table[name]))
    return int(rows.sum())


def _hash_ids(column: Any, part: Part) -> Hashes:
    import pyarrow.compute as pc

    missing = np.zeros(part.n_rows, dtype=bool)
    if column.null_count:
        missing[np.from_dlpack(pc.indices_nonzero(column.is_null()))] = True
    elif _is_number(column):
        missing = np.isnan(from_arrow(column))
    else:
        length = pc.utf8_length(pc.utf8_trim_whitespace(_as_text(column)))
        missing = from_arrow(length) == 0
    if missing.any():
        problem = f"the id at row {part.first_row + np.argmax(missing)} is missing, in {part.path}"
        raise InputError(problem, hint="fill in the id or drop the row")
    return _hash_column(column)


def _hash_column(column: Any) -> Hashes:
    """A hash of each value (n,): equal numbers have equal ones, whatever their type."""
    from pandas.util import hash_array

    values = from_arrow(column) if _is_number(column) else np.array([], dtype=object)
    if values.dtype.kind == "O":  # text, or whole numbers that are too large for floats
        return hash_array(from_arrow(_as_text(column)), categorize=False)
    if values.dtype.kind == "f":
        exact = np.asarray(values, dtype=np.float64)
        whole = (exact == np.rint(exact)) & (np.abs(exact) < 2.0**63)
        bits = exact.view(np.int64)
        values = np.where(whole, np.where(whole, exact, 0.0).astype(np.int64), bits)
    return _mix(values.astype(np.uint64))


def _is_number(column: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_integer(column.type) or pa.types.is_floating(column.type))


def _as_text(column: Any) -> Any:
    import pyarrow as pa

    try:
        return column.cast(pa.large_string()).fill_null("")
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        return pa.chunked_array([[str(value) for value in column.to_pylist()]], pa.large_string())


def _mix(bits: Hashes) -> Hashes:
    """Bits that depend on all bits given, one to one (the last step of splitmix64)."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))
