"""The groups of rows that a pass meets, named as in memory.

Values of group columns are not known before the files are read. A first pass over these columns
alone counts the rows of every group (`count_groups`), so that it is known which groups stand by
themselves and which are put together before anything is summed: memory follows the groups that are
reported, not those that there are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ssme.data.arrays import as_groups
from ssme.data.grouping import (
    Binning,
    GroupBy,
    GroupValue,
    Pooling,
    find_values,
    name_group,
    name_pooled,
)
from ssme.data.readers.tables import from_arrow
from ssme.engines.executors import map_in_order
from ssme.errors import InputError
from ssme.progress import tell
from ssme.stream.source import Part, Source, read_table
from ssme.stream.tally import Sums

IntArray = NDArray[np.int64]
Values = tuple[GroupValue, ...]
MOST_VALUES = 1_000_000
"""Groups of one grouping that are counted before the smaller ones are put together."""


class GroupKey(NamedTuple):
    """A group in plain text, so that it can be kept in a file: its grouping and its name."""

    by: str
    name: str


@dataclass(frozen=True, eq=False)
class Grouping:
    """Which group of one grouping each row is in: ``keys[codes[i]]``."""

    keys: tuple[GroupKey, ...]
    codes: IntArray

    def list_members(self, rows: slice = slice(None)) -> Iterator[tuple[GroupKey, IntArray]]:
        """Each group that some of ``rows`` are in, and which of these."""
        codes = self.codes[rows]
        order = np.argsort(codes, kind="stable")
        present, first = np.unique(codes[order], return_index=True)
        for code, inside in zip(present, np.split(order, first[1:]), strict=True):
            yield self.keys[code], inside


@dataclass(frozen=True, eq=False)
class GroupTable:
    """The groups of one settled grouping: those that stand by themselves, then all others.

    ``pooled`` is how many groups the last key stands for; none where it is zero.
    """

    group_by: GroupBy
    keys: tuple[GroupKey, ...]
    pooled: int

    @classmethod
    def of(cls, group_by: GroupBy, counts: Mapping[Values, int], pooling: Pooling) -> GroupTable:
        """From the rows of every group."""
        listed = sorted(counts, key=lambda values: [(v.kind, v.order) for v in values])
        names = [name_group(values) for values in listed]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise InputError(f"two groups are called {twice!r}", hint="rename a group column")
        sizes = np.array([counts[values] for values in listed], dtype=np.int64)
        kept = pooling.choose_kept(sizes, group_by.text)
        keys = [
            GroupKey(group_by.text, name) for name, keep in zip(names, kept, strict=True) if keep
        ]
        pooled = int((~kept).sum())
        if pooled:
            keys.append(GroupKey(group_by.text, name_pooled(group_by.text, pooled)))
        return cls(group_by, tuple(keys), pooled)

    def group_values(self, columns: Mapping[str, NDArray[np.object_]]) -> Grouping:
        """The groups of rows in memory."""
        return self._make_grouping(*find_values(self.group_by, columns))

    def group_arrow(self, table: Any, names: Mapping[str, str]) -> Grouping:
        """The groups of rows of a pyarrow table; ``names`` are its columns by group column."""
        return self._make_grouping(*_find_arrow_values(self.group_by, table, names))

    def _make_grouping(self, listed: Sequence[Values], codes: IntArray) -> Grouping:
        places = {key.name: number for number, key in enumerate(self.keys)}
        last = len(self.keys) - 1
        number = np.array([places.get(name_group(v), last) for v in listed], dtype=np.int64)
        return Grouping(self.keys, number[codes])


def count_groups(
    pool: Executor,
    source: Source,
    groupings: Sequence[GroupBy],
    names: Mapping[str, str],
    pooling: Pooling,
) -> tuple[GroupTable, ...]:
    """The groups of every settled grouping, from one pass over the group columns alone."""
    totals: list[Counter[Values]] = [Counter() for _ in groupings]
    count = partial(_count_part, groupings=tuple(groupings), names=dict(names))
    for done, counted in enumerate(map_in_order(pool, count, source.parts) if groupings else ()):
        tell("counting groups", done + 1, len(source.parts))
        for group_by, total, more in zip(groupings, totals, counted, strict=True):
            total.update(more)
            if len(total) > MOST_VALUES:
                raise InputError(
                    f"{group_by.text!r} has more than {MOST_VALUES:,} groups",
                    hint="leave it out of `by`, or put numbers into bins "
                    f"({group_by.text}:quantiles=10)",
                )
    found = zip(groupings, totals, strict=True)
    return tuple(GroupTable.of(group_by, total, pooling) for group_by, total in found)


def _count_part(
    part: Part, groupings: tuple[GroupBy, ...], names: dict[str, str]
) -> list[dict[Values, int]]:
    wanted = {names[column] for group_by in groupings for column in group_by.columns}
    table = read_table(part, sorted(wanted))
    counted = []
    for group_by in groupings:
        listed, codes = _find_arrow_values(group_by, table, names)
        sizes = np.bincount(codes, minlength=len(listed)).tolist()
        counted.append({v: size for v, size in zip(listed, sizes, strict=True) if size})
    return counted


def _find_arrow_values(
    group_by: GroupBy, table: Any, names: Mapping[str, str]
) -> tuple[list[Values], IntArray]:
    """As `find_values`, each distinct value looked at once."""
    columns, codes = {}, []
    for part in group_by.parts:
        distinct, own = _find_distinct(part, table[names[part.column]])
        columns[part.column] = distinct
        codes.append(own)
    if len(codes) == 1:
        listed, of_distinct = find_values(group_by, columns)
        return listed, of_distinct[codes[0]]
    rows = np.stack(codes, axis=1)
    joint, inverse = np.unique(rows, axis=0, return_inverse=True)
    taken = {
        part.column: columns[part.column][joint[:, place]]
        for place, part in enumerate(group_by.parts)
    }
    listed, of_joint = find_values(group_by, taken)
    return listed, of_joint[inverse.ravel()]


def _find_distinct(part: Binning, values: Any) -> tuple[NDArray[np.object_], IntArray]:
    """Distinct values of a ``ChunkedArray``, None last, and which each row has.

    Numbers that go into bins are told apart by their bin alone: the lowest of each stands for all.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if part.edges is not None and (
        pa.types.is_integer(values.type) or pa.types.is_floating(values.type)
    ):
        numbers = np.asarray(from_arrow(values), dtype=np.float64)
        edges = np.array(part.edges, dtype=np.float64)
        bins = np.searchsorted(edges, numbers, side="right")
        missing = np.isnan(numbers)
        bins[missing] = edges.size + 1
        lows = [edges[0] - 1.0, *edges.tolist()] if edges.size else [0.0]
        return np.array([*lows, None], dtype=object), bins.astype(np.int64)
    whole = values.combine_chunks().dictionary_encode()
    distinct = as_groups(
        {part.column: from_arrow(pa.chunked_array([whole.dictionary]))}, len(whole.dictionary)
    )[part.column]
    indices = np.from_dlpack(pc.fill_null(whole.indices, len(distinct)).cast(pa.int64()))
    return np.append(distinct, [None]), indices.astype(np.int64)


# -------------------------------------------------------------------------------------------------
# Sums of many groups: the cells that are not zero, of all groups side by side.
#
# The sums of one group are arrays of fixed shape (`ssme.stream.tally`), some hundred kilobytes of
# them histograms that a group of few rows leaves nearly empty. Here a cell is a place and a value,
#
#     place = number of the group * cells of the array + cell within it,
#
# so that memory follows the rows that were counted, not the number of groups. Cells of the same
# place are added in the order of the parts; the sums are the same whenever they are brought
# together.


FloatArray = NDArray[np.float64]
MOST_CELLS = 1 << 28
"""Cells of one counter that are held: 4 GB of places and values."""


@dataclass(eq=False)
class Cells:
    """The cells of one counter: ``shape`` of a group's array, sorted places, values."""

    shape: tuple[int, ...]
    places: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    values: FloatArray = field(default_factory=lambda: np.zeros(0))
    fresh: list[tuple[IntArray, FloatArray]] = field(default_factory=list)

    @property
    def size(self) -> int:
        return int(np.prod(self.shape))

    def add(self, places: IntArray, values: FloatArray) -> None:
        """Cells of one more part."""
        self.fresh.append((places, values))
        if sum(len(new) for new, _ in self.fresh) > len(self.places) + (1 << 20):
            self.settle()

    def settle(self) -> None:
        """Bring cells of the same place together."""
        if not self.fresh:
            return
        places = np.concatenate([self.places, *(new for new, _ in self.fresh)])
        values = np.concatenate([self.values, *(new for _, new in self.fresh)])
        self.places, where = np.unique(places, return_inverse=True)
        self.values = np.bincount(where, values, len(self.places)).astype(np.float64)
        self.fresh = []
        if len(self.places) > MOST_CELLS:
            raise InputError(
                f"the groups fill more than {MOST_CELLS:,} cells of histograms",
                hint="name fewer group columns in `by`, or leave ranking metrics out",
            )

    def take_group(self, number: int) -> FloatArray:
        """The array of one group."""
        self.settle()
        first, last = np.searchsorted(self.places, [number * self.size, (number + 1) * self.size])
        out = np.zeros(self.size)
        out[self.places[first:last] - number * self.size] = self.values[first:last]
        return out.reshape(self.shape)


@dataclass(eq=False)
class GroupSums:
    """Sums, rows and labels by group."""

    numbers: dict[GroupKey, int] = field(default_factory=dict)
    rows: list[int] = field(default_factory=list)
    labeled: list[int] = field(default_factory=list)
    cells: dict[str, Cells] = field(default_factory=dict)

    def __contains__(self, key: GroupKey) -> bool:
        return key in self.numbers

    def take_counts(self, key: GroupKey) -> tuple[int, int]:
        """Rows of a group, and those that are labeled."""
        number = self.numbers[key]
        return self.rows[number], self.labeled[number]

    def take_sums(self, key: GroupKey) -> Sums:
        """The sums of one group."""
        return {name: cells.take_group(self.numbers[key]) for name, cells in self.cells.items()}

    def add_rows(self, counted: Iterable[tuple[GroupKey, Sums, int, int]]) -> None:
        """Sums of more rows: key, sums, rows and labeled rows of each group among them."""
        places: dict[str, list[IntArray]] = {}
        values: dict[str, list[FloatArray]] = {}
        for key, sums, n_rows, n_labeled in counted:
            number = self._find_number(key)
            self.rows[number] += n_rows
            self.labeled[number] += n_labeled
            for name, array in sums.items():
                cells = self.cells.setdefault(name, Cells(array.shape))
                flat = array.ravel()
                filled = np.flatnonzero(flat)
                places.setdefault(name, []).append(filled + number * cells.size)
                values.setdefault(name, []).append(flat[filled])
        for name, found in places.items():
            self.cells[name].add(np.concatenate(found), np.concatenate(values[name]))

    def add(self, other: GroupSums) -> None:
        """Sums of one more part."""
        numbers = np.array([self._find_number(key) for key in other.numbers], dtype=np.int64)
        for number, n_rows, n_labeled in zip(numbers, other.rows, other.labeled, strict=True):
            self.rows[number] += n_rows
            self.labeled[number] += n_labeled
        for name, cells in other.cells.items():
            cells.settle()
            group, cell = np.divmod(cells.places, cells.size)
            held = self.cells.setdefault(name, Cells(cells.shape))
            held.add(numbers[group] * cells.size + cell, cells.values)

    def _find_number(self, key: GroupKey) -> int:
        if key not in self.numbers:
            self.numbers[key] = len(self.rows)
            self.rows.append(0)
            self.labeled.append(0)
        return self.numbers[key]
