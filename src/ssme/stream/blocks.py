"""The rows of one part as scores, labels, weights and groups, checked as in memory."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ssme.data.answers import judge_codes, listen, tell_unanswered
from ssme.data.labels import observe
from ssme.data.readers.arrow import from_arrow
from ssme.data.readers.tables import Table
from ssme.data.scoreset import UNLABELED
from ssme.data.simplex import to_simplex
from ssme.errors import InputError
from ssme.stream.columns import Reading
from ssme.stream.group_keys import Grouping, GroupTable
from ssme.stream.source import Part

__all__ = ["Block", "find_labeled_rows", "read_block", "read_numbers"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Block:
    """The rows of a part, scores as the columns of the file.

    ``numbers`` are the columns of classifiers, ``said`` (J, n) the places of what each judge said
    among its classes or grades. ``labeled`` are the positions of labeled rows, ``labels`` theirs;
    ``groups`` has each grouping of the rows.
    """

    part: Part
    reading: Reading
    numbers: tuple[tuple[FloatArray, ...], ...]
    said: tuple[NDArray[np.int64], ...]
    weights: FloatArray | None
    groups: tuple[Grouping, ...]
    labeled: NDArray[np.int64]
    labels: list[Hashable]

    def read_scores(self, rows: slice) -> FloatArray:
        """(r, M, K) of some rows, checked as at the front door, rows fastest in memory."""
        if not self.said:
            return self._read_probabilities(rows)
        parts = [self._read_probabilities(rows)] if self.numbers else []
        judges = self.reading.judges.values()
        judged = zip(judges, self.said, strict=True)
        parts.append(
            np.stack([judge.compute_scores(codes[rows]) for judge, codes in judged], axis=1)
        )
        joined = np.concatenate(parts, axis=1)
        silent = np.flatnonzero(np.isnan(joined[:, :, 0]).all(axis=1))
        if silent.size:
            raise tell_unanswered(
                f"row {self.part.first_row + (rows.start or 0) + silent[0]}, in {self.part.path}, "
                "has no answer of any judge"
            )
        return joined

    def _read_probabilities(self, rows: slice) -> FloatArray:
        """The scores (r, M, K) of the classifiers, those that give probabilities."""
        one_each = all(len(of) == 1 for of in self.numbers)
        if one_each and not self.reading.options.logits:
            lines = [line[rows] for (line,) in self.numbers]
            both: FloatArray = np.empty((2, len(lines), len(lines[0])))
            np.stack(lines, out=both[1])
            np.subtract(1.0, both[1], out=both[0])
            lowest = np.minimum.reduce(both, axis=None)
            if np.isnan(lowest) and not np.isnan(both[1]).all(axis=0).any():
                lowest = np.fmin.reduce(both, axis=None)
            if lowest >= 0.0:
                return both.transpose(2, 1, 0)
        raw = np.stack([np.stack([line[rows] for line in of]) for of in self.numbers])
        given = raw[:, 0].T if one_each else raw.transpose(2, 0, 1)
        options = {
            "logits": self.reading.options.logits,
            "normalize": self.reading.options.normalize,
        }
        try:
            return to_simplex(given, self.reading.scored, all_rows=False, **options)
        except InputError as error:
            first = self.part.first_row + (rows.start or 0)
            where = f"{self.part.path}, rows from {first} on: {error.got}"
            raise InputError(where, allowed=error.allowed, fix=error.fix) from None


def find_labeled_rows(table: Any, reading: Reading) -> tuple[NDArray[np.int64], list[Hashable]]:
    """Positions of labeled rows and their labels; cheap where nearly all are null."""
    import pyarrow.compute as pc

    label = reading.columns.label
    if label is None or table[label].null_count == len(table):
        return np.zeros(0, dtype=np.int64), []
    column = table[label]
    valid = np.from_dlpack(pc.indices_nonzero(column.is_valid())).astype(np.int64)
    values = from_arrow(column.drop_null())
    if values.dtype.kind == "f":
        kept = ~np.isnan(values)
        valid, values = valid[kept], values[kept]
    raw = observe(values, len(values), reading.options.unlabeled)
    known = raw.codes != UNLABELED
    return valid[known], [raw.values[code] for code in raw.codes[known]]


def read_block(
    table: Any, part: Part, reading: Reading, tables: Sequence[GroupTable] = ()
) -> Block:
    """The rows of ``table`` as a block, grouped as ``tables`` say."""
    columns = reading.columns
    labeled, labels = find_labeled_rows(table, reading)
    weights = None if columns.weight is None else read_numbers(table, columns.weight)
    if weights is not None and not (np.isfinite(weights).all() and (weights >= 0).all()):
        row = int(np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))[0])
        raise InputError(
            f"the weight at row {part.first_row + row} is {weights[row]}",
            allowed="finite weights of 0 or more",
        )
    groups = tuple(each.group_arrow(table, columns.groups) for each in tables)
    numbers = tuple(
        tuple(read_numbers(table, name) for name in columns.scores[model])
        for model in reading.scored
    )
    said = tuple(_read_answers(table, part, reading, name) for name in reading.judges)
    return Block(part, reading, numbers, said, weights, groups, labeled, labels)


def _read_answers(table: Any, part: Part, reading: Reading, name: str) -> NDArray[np.int64]:
    """Places (n,) of what a judge said, read as in memory."""
    options = reading.options
    known = [*(options.classes or ()), *(options.grades or ())]
    try:
        values = Table(table.select([name])).read_values(name)
        heard = listen(values, part.n_rows, name, options.unsure, known)
        return judge_codes(heard, reading.judges[name])
    except InputError as error:
        where = f"{part.path}, rows from {part.first_row} on: {error.got}"
        raise InputError(where, allowed=error.allowed, fix=error.fix) from None


def read_numbers(table: Any, name: str) -> FloatArray:
    """A column of numbers, read as in memory; without a copy where it can be."""
    import pyarrow as pa

    of = table.schema.field(name).type
    if pa.types.is_floating(of) or pa.types.is_integer(of):
        return np.asarray(from_arrow(table[name]), dtype=np.float64)
    return Table(table.select([name])).read_floats(name)
