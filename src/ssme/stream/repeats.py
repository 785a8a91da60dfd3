"""Rows that occur twice, whose labels would count twice: refused as in memory.

With an id column every id must occur once. Ids are compared by hashes of 64 bits, and two ids with
one hash are looked up before they are refused. Those of all labeled rows are kept, and of the other
rows those with the smallest hashes, `MOST_KEPT` in expectation: all ids of files with so few rows,
and of larger files the same ids in every part, so that a part that was copied is found however it
was written. Without an id column, files with the same rows are refused, in whatever order, row
groups or compression they are written.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from concurrent.futures import Executor
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ssme.data.readers.tables import from_arrow
from ssme.engines.executors import map_in_order
from ssme.errors import InputError, argument
from ssme.stream.files import File, open_parquet
from ssme.stream.source import Part, Source, read_table

__all__ = ["hash_ids", "refuse_copied_files", "refuse_repeated_ids"]

Hashes = NDArray[np.uint64]

MOST_KEPT = 2**22
"""Hashes of ids that are kept, 8 bytes each."""


def hash_ids(column: Any, part: Part, labeled: NDArray[np.int64], n_rows: int) -> Hashes:
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
                allowed="each id once",
                fix="remove the repeated rows or the copied file, or say "
                f"{argument('ignore', [id])} if the column does not name the rows",
            )


def refuse_copied_files(pool: Executor, source: Source, columns: Sequence[str]) -> None:
    """Refuse two files with the same rows; only those whose metadata agree are read for it."""
    by_size: dict[Hashable, list[File]] = {}
    for file in source.files:
        by_size.setdefault(open_parquet(file).metadata.num_rows, []).append(file)
    for files in [files for n_rows, files in by_size.items() if n_rows and len(files) > 1]:
        described: dict[Hashable, list[File]] = {}
        for file in files:
            described.setdefault(_describe_columns(file, columns), []).append(file)
        for same in described.values():
            if len(same) > 1:
                _compare_rows(pool, source, same, columns)


def _compare_rows(
    pool: Executor, source: Source, files: Sequence[File], columns: Sequence[str]
) -> None:
    parts = [part for part in source.parts if part.file in files]
    sums = dict.fromkeys(files, 0)
    for part, added in zip(
        parts, map_in_order(pool, partial(_add_hashes, columns=columns), parts), strict=True
    ):
        sums[part.file] = (sums[part.file] + added) % 2**64
    first: dict[int, str] = {}
    for file, found in sums.items():
        if found in first:
            raise InputError(
                f"{file.path} has the same rows as {first[found]}, and their labels would count "
                "twice",
                allowed="each row once",
                fix="remove the copy; if both files are meant, name the rows in an id column",
            )
        first[found] = file.path


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
        missing = np.from_dlpack(length) == 0
    if missing.any():
        raise InputError(
            f"the id at row {part.first_row + int(np.argmax(missing))} is missing, in {part.path}",
            allowed="one id per row",
            fix="fill in the id or drop the row",
        )
    return _hash_column(column)


def _hash_column(column: Any) -> Hashes:
    """A hash of each value (n,): equal numbers have equal ones, whatever their type."""
    if not _is_number(column):
        return _hash_text(_as_text(column))
    values = from_arrow(column)
    if values.dtype.kind == "O":
        return _hash_text(_as_text(column))
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
        return column.cast(pa.large_string()).fill_null("").combine_chunks()
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        return pa.array([str(value) for value in column.to_pylist()], pa.large_string())


def _hash_text(text: Any) -> Hashes:
    """Words of eight bytes, one after the other; ``text`` is an Arrow array without nulls."""
    ends = np.frombuffer(text.buffers()[1], dtype=np.int64)[text.offset :][: len(text) + 1]
    content = np.frombuffer(text.buffers()[2] or b"", dtype=np.uint8)
    lengths = np.diff(ends)
    n_words = -(-lengths // 8)
    out: Hashes = lengths.astype(np.uint64)
    step = max(2**24 // (8 * max(int(n_words.max(initial=0)), 1)), 1)
    for start in range(0, len(text), step):
        rows = slice(start, start + step)
        width = int(n_words[rows].max())
        padded = np.zeros((len(lengths[rows]), 8 * width), dtype=np.uint8)
        own = content[ends[start] : ends[min(start + step, len(text))]]
        padded[np.arange(8 * width) < lengths[rows, None]] = own
        for number, word in enumerate(padded.view("<u8").T):
            out[rows] = np.where(number < n_words[rows], _mix(out[rows] ^ word), out[rows])
    return out


def _mix(bits: Hashes) -> Hashes:
    """Bits that depend on all bits given, one to one (the last step of splitmix64)."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))
