"""Sums of many groups: the cells that are not zero, of all groups side by side.

The sums of one group are arrays of fixed shape (`ssme.stream.counters`), some hundred kilobytes of
them histograms that a group of few rows leaves nearly empty. Here a cell is a place and a value,

    place = number of the group * cells of the array + cell within it,

so that memory follows the rows that were counted, not the number of groups. Cells of the same place
are added in the order of the parts; the sums are the same whenever they are brought together.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ssme.errors import InputError, argument
from ssme.stream.group_keys import GroupKey
from ssme.stream.tally import Sums

__all__ = ["Cells", "GroupSums"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
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
                allowed="fewer groups, or metrics that need no order of the scores",
                fix=f"name fewer group columns in {argument('by')}, or leave ranking metrics out",
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
