"""The groups of rows that a pass meets, named as in memory.

A group is a column and one of its values. Values are not known before the pass: each part tells
those it met, and what has the same key is the same group.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ssme.data.readers.arrow import from_arrow
from ssme.data.validation import as_groups

__all__ = ["GroupKey", "Grouping"]

IntArray = NDArray[np.int64]
READ_BACK: dict[str, Any] = {
    str(int): int,
    str(float): float,
    str(bool): lambda text: text == "True",
}


class GroupKey(NamedTuple):
    """A group in plain text, so that it can be kept in a file: column, type and value."""

    column: str
    kind: str
    text: str

    @classmethod
    def of(cls, column: str, value: Any) -> GroupKey:
        return cls(column, str(type(value)), str(value))

    @property
    def name(self) -> str:
        """As in the table of an evaluation."""
        return f"{self.column}={self.text}"

    @property
    def order(self) -> tuple[str, Any]:
        """Where the group stands among those of its column: as in memory."""
        return self.kind, READ_BACK.get(self.kind, str)(self.text)


@dataclass(frozen=True, eq=False)
class Grouping:
    """Which group of one column each row is in: ``keys[codes[i]]``."""

    keys: tuple[GroupKey, ...]
    codes: IntArray

    @classmethod
    def of_values(cls, column: str, values: NDArray[Any]) -> Grouping:
        """By the values of a `ScoreSet`'s group column."""
        places: dict[GroupKey, int] = {}
        known: dict[Any, int] = {}
        codes = np.empty(len(values), dtype=np.int64)
        for row, value in enumerate(values.tolist()):
            mark = type(value), value
            if mark not in known:
                known[mark] = places.setdefault(GroupKey.of(column, value), len(places))
            codes[row] = known[mark]
        return cls(tuple(places), codes)

    @classmethod
    def of_arrow(cls, column: str, values: Any) -> Grouping:
        """By a ``ChunkedArray``; each distinct value is looked at once."""
        import pyarrow as pa
        import pyarrow.compute as pc

        whole = values.combine_chunks().dictionary_encode()
        distinct = as_groups(
            {column: from_arrow(pa.chunked_array([whole.dictionary]))}, len(whole.dictionary)
        )[column]
        grouping = cls.of_values(column, np.append(distinct, [None]))
        indices = np.from_dlpack(pc.fill_null(whole.indices, len(distinct)).cast(pa.int64()))
        used = np.unique(grouping.codes[indices])
        place = np.zeros(len(grouping.keys), dtype=np.int64)
        place[used] = np.arange(used.size)
        keys = tuple(grouping.keys[code] for code in used)
        return cls(keys, place[grouping.codes[indices]])

    def members(self, rows: slice = slice(None)) -> Iterator[tuple[GroupKey, IntArray]]:
        """Each group that some of ``rows`` are in, and which of these."""
        codes = self.codes[rows]
        order = np.argsort(codes, kind="stable")
        present, first = np.unique(codes[order], return_index=True)
        for code, inside in zip(present, np.split(order, first[1:]), strict=True):
            yield self.keys[code], inside
