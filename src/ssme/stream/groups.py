"""The groups of rows that a pass meets, named as in memory.

Values of group columns are not known before the files are read. A first pass over these columns
alone counts the rows of every group (`count_groups`), so that it is known which groups are
reported separately and which are pooled before anything is summed: memory follows the groups that
are reported, not those that there are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from functools import partial
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ssme.arrays import FloatArray, IntArray
from ssme.data import arrays, grouping
from ssme.data.grouping import GroupBy, GroupValue, Pooling
from ssme.data.readers.tables import from_arrow
from ssme.errors import InputError
from ssme.executors import map_in_order
from ssme.progress import tell
from ssme.stream.source import Part, Source, read_table
from ssme.stream.tally import Sums

Values = tuple[GroupValue, ...]
MOST_VALUES = 1_000_000
"""Groups of one grouping that are counted before the smaller ones are put together."""


def list_members(codes: IntArray) -> Iterator[tuple[int, IntArray]]:
    """Each group that occurs among ``codes`` (n,), and its rows."""
    order = np.argsort(codes, kind="stable")
    present, first = np.unique(codes[order], return_index=True)
    return zip(present.tolist(), np.split(order, first[1:]), strict=True)


@dataclass(frozen=True, eq=False)
class GroupTable:
    """The groups of one settled grouping: those reported separately, then the pooled rest.

    ``first`` is the number of its first group among those of all groupings; ``pooled`` is how many
    groups the last name represents, or zero without pooling.
    """

    group_by: GroupBy
    names: tuple[str, ...]
    first: int
    pooled: int

    @classmethod
    def of(
        cls, group_by: GroupBy, counts: Mapping[Values, int], pooling: Pooling, first: int
    ) -> GroupTable:
        """From the rows of every group."""
        listed = sorted(counts, key=lambda values: [(v.kind, v.order) for v in values])
        names = [grouping.name_group(values) for values in listed]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise InputError(f"two groups are called {twice!r}", hint="rename a group column")
        sizes = np.array([counts[values] for values in listed], dtype=np.int64)
        kept = pooling.choose_kept(sizes, group_by.text)
        pooled = int((~kept).sum())
        together = [grouping.name_pooled(group_by.text, pooled)] if pooled else []
        return cls(group_by, (*compress(names, kept), *together), first, pooled)

    def group_values(self, columns: Mapping[str, NDArray[np.object_]]) -> IntArray:
        """The number (n,) of the group of rows in memory."""
        return self._number(*grouping.find_values(self.group_by, columns))

    def group_arrow(self, table: Any, names: Mapping[str, str]) -> IntArray:
        """That of the rows of a pyarrow table; ``names`` are its columns by group column."""
        return self._number(*_find_arrow_values(self.group_by, table, names))

    def _number(self, listed: Sequence[Values], codes: IntArray) -> IntArray:
        places = {name: place for place, name in enumerate(self.names)}
        last = len(self.names) - 1
        number = np.array(
            [places.get(grouping.name_group(v), last) for v in listed], dtype=np.int64
        )
        return self.first + number[codes]


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
                problem = f"{group_by.text!r} has more than {MOST_VALUES:,} groups"
                hint = (
                    f"leave it out of `by`, or put numbers into bins ({group_by.text}:quantiles=10)"
                )
                raise InputError(problem, hint=hint)
    tables: list[GroupTable] = []
    for group_by, total in zip(groupings, totals, strict=True):
        first = sum(len(table.names) for table in tables)
        tables.append(GroupTable.of(group_by, total, pooling, first))
    return tuple(tables)


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
    joint, inverse = np.arange(len(columns[group_by.parts[0].column]))[:, None], codes[0]
    if len(codes) > 1:
        joint, inverse = np.unique(np.stack(codes, axis=1), axis=0, return_inverse=True)
    taken = {
        part.column: columns[part.column][places]
        for part, places in zip(group_by.parts, joint.T, strict=True)
    }
    listed, of_joint = grouping.find_values(group_by, taken)
    return listed, of_joint[inverse.ravel()]


def _find_distinct(part: grouping.Binning, values: Any) -> tuple[NDArray[np.object_], IntArray]:
    """Distinct values, None last, and which each row has; of a bin only the lowest number."""
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
    distinct = arrays.as_groups(
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
            problem = f"the groups fill more than {MOST_CELLS:,} cells of histograms"
            hint = "name fewer group columns in `by`, or no ranking metrics"
            raise InputError(problem, hint=hint)

    def take_group(self, number: int) -> FloatArray:
        """The array of one group."""
        self.settle()
        first, last = np.searchsorted(self.places, [number * self.size, (number + 1) * self.size])
        out = np.zeros(self.size)
        out[self.places[first:last] - number * self.size] = self.values[first:last]
        return out.reshape(self.shape)


@dataclass(eq=False)
class GroupSums:
    """Rows, labels and sums by the number of the group."""

    rows: Counter[int] = field(default_factory=Counter)
    labeled: Counter[int] = field(default_factory=Counter)
    cells: dict[str, Cells] = field(default_factory=dict)

    def take_sums(self, group: int) -> Sums:
        """The sums of one group."""
        return {name: cells.take_group(group) for name, cells in self.cells.items()}

    def add_rows(self, counted: Iterable[tuple[int, Sums, int, int]]) -> None:
        """Sums of more rows: group, sums, rows and labeled rows of each group among them."""
        found: dict[str, list[tuple[IntArray, FloatArray]]] = {}
        for group, sums, n_rows, n_labeled in counted:
            self.rows[group] += n_rows
            self.labeled[group] += n_labeled
            for name, array in sums.items():
                cells = self.cells.setdefault(name, Cells(array.shape))
                filled = np.flatnonzero(array)
                place = filled + group * cells.size
                found.setdefault(name, []).append((place, array.ravel()[filled]))
        for name, parts in found.items():
            places, values = zip(*parts, strict=True)
            self.cells[name].add(np.concatenate(places), np.concatenate(values))

    def add(self, other: GroupSums) -> None:
        """Sums of one more part."""
        self.rows.update(other.rows)
        self.labeled.update(other.labeled)
        for name, cells in other.cells.items():
            cells.settle()
            self.cells.setdefault(name, Cells(cells.shape)).add(cells.places, cells.values)
