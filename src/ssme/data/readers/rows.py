"""The rows of a table whose columns are known: those of a wide table, or the ids of a long one.

A long table has one row per score or answer (``id, model, class, score``); labels, weights and
groups may be on every row of an id and must then agree.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ssme.data.labels import RawLabels, observe, order_classes
from ssme.data.readers.columns import Columns, find_own_label_column
from ssme.data.readers.join import LabelTable, joins_by_id, refuse_other_index
from ssme.data.readers.tables import Table
from ssme.data.values import (
    FloatArray,
    as_floats,
    as_objects,
    factorize,
    is_missing,
    refuse_duplicates,
)
from ssme.errors import InputError
from ssme.schema import ReadOptions
from ssme.wording import quote, suggest_nearest

IntArray = NDArray[np.int64]
Objects = NDArray[np.object_]


class Rows:
    """The ``n`` rows of the set to be, with their ``ids`` and ``labels``.

    Rows of a long table are its ids in order of appearance; ``codes`` (N,) is the row of each of
    its lines. ``joined`` is the table of labels, where they are in another one.
    """

    def __init__(
        self, table: Table, columns: Columns, options: ReadOptions, labels: object | None
    ) -> None:
        self.table, self.columns, self.options = table, columns, options
        self.codes: IntArray | None = None
        self.ids: NDArray[Any] | None = None
        if columns.is_long:
            assert columns.id is not None
            self.codes, self.ids = self._factorize(columns.id)
        elif columns.id is not None:
            self.ids = table.read_ids(columns.id)
        self.n = table.n_rows if self.codes is None or self.ids is None else len(self.ids)
        self.joined = (
            LabelTable(labels, self.ids, options, columns.id) if joins_by_id(labels) else None
        )
        self.labels = self._observe(labels)

    def _observe(self, labels: object | None) -> RawLabels:
        unlabeled = self.options.unlabeled
        if self.joined is not None:
            own = find_own_label_column(self.table, self.options)
            joined = self.joined.join_labels(None if own is None else self.take(own))
            return observe(joined, self.n, unlabeled)
        if labels is None and self.columns.label is not None:
            values = self.table.read_values(self.columns.label)
            raw = observe(values, self.table.n_rows, unlabeled)
            return self._take_one_per_id(raw, self.columns.label)
        if labels is None or labels is False:
            return observe(None, self.n)
        if self.codes is not None:
            raise InputError(
                f"labels is a {type(labels).__name__} beside a long table",
                hint="put the labels in a label column, or in a table with ids",
            )
        refuse_other_index(self.table, labels)
        return observe(labels, self.n, unlabeled)

    def take(self, column: str) -> NDArray[Any]:
        """(n,) values of a column."""
        values = self.table.read_values(column)
        if self.codes is None:
            return values
        raw = self._take_one_per_id(observe(values, self.table.n_rows), column)
        distinct: Objects = np.full(len(raw.values) + 1, None, dtype=object)
        distinct[:-1] = raw.values
        out: Objects = distinct[raw.codes]
        return out

    def take_floats(self, column: str | None) -> FloatArray | None:
        """(n,) numbers of a column; None without one."""
        return None if column is None else as_floats(self.take(column), f"column {column!r}")

    def _take_one_per_id(self, raw: RawLabels, column: str) -> RawLabels:
        """The value each id has on its lines, if any; two different ones are refused."""
        if self.codes is None or self.ids is None:
            return raw
        known = raw.codes >= 0
        at, codes = self.codes[known], raw.codes[known]
        chosen = np.full(self.n, -1, dtype=np.int64)
        chosen[at] = codes
        differs = chosen[at] != codes
        if differs.any():
            first = int(np.argmax(differs))
            values = {raw.values[codes[first]], raw.values[chosen[at[first]]]}
            raise InputError(
                f"column {column!r} has different values for id {self.ids[at[first]]!r}: "
                f"{quote(sorted(values, key=str))}",
                hint="make the rows of each id agree",
            )
        return RawLabels(chosen, raw.values)

    def _factorize(self, column: str) -> tuple[IntArray, Objects]:
        """Codes (N,) and distinct values of a column of a long table, none of them missing."""
        codes, found = factorize(as_objects(self.table.read_values(column)))
        distinct = as_objects(found)
        missing = np.append(is_missing(distinct), True)[codes]
        if missing.any():
            raise InputError(
                f"column {column!r} is empty at row {int(np.argmax(missing))}",
                hint="fill it in or drop the row",
            )
        return codes, distinct

    def read_long_scores(self) -> tuple[FloatArray, tuple[str, ...], tuple[Hashable, ...] | None]:
        """Scores (n, M) or (n, M, K), models and, with a class column, classes of a long table."""
        columns = self.columns
        assert self.codes is not None
        assert columns.model is not None
        assert columns.score is not None
        model_codes, models = self._find_models(columns.model)
        values = self.table.read_floats(columns.score)
        kept = model_codes >= 0
        names: tuple[Hashable, ...] = ("",)
        class_codes = np.zeros(len(values), dtype=np.int64)
        if columns.class_ is not None:
            found, distinct = self._factorize(columns.class_)
            names = order_classes(list(distinct), self.options.classes, self.options.positive)
            class_codes = np.array([names.index(name) for name in distinct])[found]
        shape = (self.n, len(models), len(names))
        index = (self.codes[kept], model_codes[kept], class_codes[kept])
        counts = np.zeros(shape, dtype=np.int64)
        np.add.at(counts, index, 1)
        self._refuse_incomplete(counts, models, names)
        scores: FloatArray = np.full(shape, np.nan)
        scores[index] = values[kept]
        if columns.class_ is None:
            return scores[:, :, 0], models, None
        return scores, models, names

    def _refuse_incomplete(
        self, counts: IntArray, models: Sequence[str], names: Sequence[Hashable]
    ) -> None:
        """Refuse a score that is given twice, and scores for some of the classes."""
        assert self.ids is not None
        if counts.max() > 1:
            i, m, k = np.argwhere(counts > 1)[0].tolist()
            name = f", class {names[k]!r}" if len(names) > 1 else ""
            raise InputError(
                f"id {self.ids[i]!r}, model {models[m]!r}{name} has {counts[i, m, k]} scores",
                hint="remove the repeated rows, or name the class column with `class_`",
            )
        present = counts.sum(axis=2)
        part = (present > 0) & (present < len(names))
        if part.any():
            i, m = np.argwhere(part)[0].tolist()
            lacking = [name for k, name in enumerate(names) if not counts[i, m, k]]
            raise InputError(
                f"id {self.ids[i]!r}, model {models[m]!r} has {present[i, m]} of {len(names)} "
                f"class scores and lacks {quote(lacking)}",
                hint="add the missing rows, or leave out all classes where a model has no score",
            )

    def _find_models(self, column: str) -> tuple[IntArray, tuple[str, ...]]:
        """Codes (N,) of models in their order, -1 for models that are not asked for."""
        codes, distinct = self._factorize(column)
        found = tuple(map(str, distinct))
        if self.options.models is None:
            return codes, found
        wanted = tuple(self.options.models)
        refuse_duplicates(wanted, "model")
        for name in wanted:
            if name not in found:
                raise InputError(
                    f"column {column!r} has no model {name!r}, only {quote(found)}",
                    hint=f"{suggest_nearest(name, found)}name models as in the data",
                )
        order = {name: index for index, name in enumerate(wanted)}
        place = np.array([order.get(name, -1) for name in found], dtype=np.int64)
        return place[codes], wanted

    def read_long_answers(self) -> dict[str, Objects]:
        """(n,) answer of each judge; one that is given twice is refused."""
        assert self.codes is not None
        assert self.ids is not None
        assert self.columns.model is not None
        assert self.columns.score is not None
        judge_codes, distinct = self._factorize(self.columns.model)
        judges = list(map(str, distinct))
        stripped = [name.strip() for name in judges]
        for name in judges:
            first = judges[stripped.index(name.strip())]
            if first != name:
                raise InputError(
                    f"the judges {first!r} and {name!r} differ in blanks only",
                    hint="remove the blanks",
                )
        answers = as_objects(self.table.read_values(self.columns.score))
        cells = self.codes * len(judges) + judge_codes
        counts = np.bincount(cells)
        if counts.max() > 1:
            place = int(np.argmax(counts > 1))
            twice = [
                f"{'nothing' if is_missing(answers[[row]])[0] else repr(answers[row])} at row {row}"
                for row in np.flatnonzero(cells == place)[:4]
            ]
            many = int((counts > 1).sum()) - 1
            more = f"; {many:,} more cells have several" if many else ""
            raise InputError(
                f"id {self.ids[place // len(judges)]!r} has {counts[place]} answers of "
                f"{judges[place % len(judges)]!r}: {', '.join(twice)}{more}",
                hint="keep one of them, or give repeated answers another judge's name",
            )
        values: Objects = np.full((self.n, len(judges)), None, dtype=object)
        values[self.codes, judge_codes] = answers
        return {name: values[:, m] for m, name in enumerate(judges)}
