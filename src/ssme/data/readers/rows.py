"""The rows of a table whose columns are known, with their ids and labels.

Rows are those of a wide table, or the ids of a long one, which has one line per score or answer
(``id, model, class, score``); labels, weights and groups may be on every line of an id and must
then agree. Labels may be kept in another table, joined by id (`LabelTable`).
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ssme.arrays import BoolArray, FloatArray, IntArray
from ssme.data.arrays import as_ids, refuse_other_order
from ssme.data.design import LabelRounds
from ssme.data.labels import RawLabels, observe, order_classes
from ssme.data.readers import columns as layouts
from ssme.data.readers.csv_files import find_other_delimiter, is_encoded
from ssme.data.readers.sources import open_table
from ssme.data.readers.tables import Table, is_frame
from ssme.data.values import (
    as_floats,
    as_objects,
    factorize,
    is_missing,
    make_plain,
    refuse_duplicates,
)
from ssme.errors import InputError, name_argument, warn
from ssme.schema import REASONS_TAKEN, ReadOptions
from ssme.wording import quote, suggest_nearest

Objects = NDArray[np.object_]


class Rows:
    """The ``n`` rows of the set to be, with their ``ids`` and ``labels``.

    Rows of a long table are its ids in order of appearance; ``codes`` (N,) is the row of each of
    its lines. ``joined`` is the table of labels, where they are in another one.
    """

    def __init__(
        self, table: Table, columns: layouts.Columns, options: ReadOptions, labels: object | None
    ) -> None:
        self.table, self.columns, self.options = table, columns, options
        self.n: int = table.n_rows
        self.codes: Any = None
        self.ids: Any = None
        if columns.is_long:
            self.codes, self.ids = self._factorize(columns.id)
            self.n = len(self.ids)
        elif columns.id is not None:
            self.ids = table.read_ids(columns.id)
        self.joined: LabelTable | None = None
        if joins_by_id(labels):
            self.joined = LabelTable(labels, self.ids, options, columns.id)
            own = layouts.find_own_label_column(table, options)
            labels = self.joined.join_labels(None if own is None else self.take(own))
        elif labels is None and columns.label is not None:
            labels = self._observe_column(columns.label, options.unlabeled)
        elif labels is not None and labels is not False and columns.is_long:
            problem = f"a {type(labels).__name__} of labels cannot be matched to a long table"
            raise InputError(problem, hint="put them in a label column, or in a table with ids")
        else:
            refuse_other_order([(table.what, table.native), ("the labels", labels)])
        self.labels = observe(labels, self.n, options.unlabeled)

    def take(self, column: str) -> NDArray[Any]:
        """(n,) values of a column."""
        if self.codes is None:
            return self.table.read_values(column)
        return self._observe_column(column).spread()

    def take_floats(self, column: str) -> FloatArray:
        """(n,) numbers of a column."""
        return as_floats(self.take(column), f"column {column!r}")

    def _observe_column(
        self, column: str, unlabeled: tuple[Hashable, ...] | None = None
    ) -> RawLabels:
        """The values (n,) of a column; of a long table the one that each id has on its lines."""
        raw = observe(self.table.read_values(column), self.table.n_rows, unlabeled)
        if self.codes is None:
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

    def _factorize(self, column: str | None) -> tuple[IntArray, Objects]:
        """Codes (N,) and distinct values of a column of a long table, none of them missing."""
        codes, found = factorize(as_objects(self.table.read_values(column or "")))
        distinct = as_objects(found)
        missing = np.append(is_missing(distinct), True)[codes]
        if missing.any():
            problem = f"column {column!r} is empty at row {int(np.argmax(missing))}"
            raise InputError(problem, hint="fill it in or drop the row")
        return codes, distinct

    def read_long(self) -> tuple[NDArray[Any], tuple[str, ...], tuple[Hashable, ...] | None]:
        """Scores or answers (n, M, K) of a long table, its models or judges, and classes if any."""
        columns, options = self.columns, self.options
        model_codes, models = self._factorize_models(columns.model)
        values: NDArray[Any] = self.table.read_values(columns.score)
        values = as_objects(values) if options.judged else self.table.read_floats(columns.score)
        names: tuple[Hashable, ...] = ("",)
        class_codes = np.zeros(len(values), dtype=np.int64)
        if columns.class_:
            found, distinct = self._factorize(columns.class_)
            names = order_classes(list(distinct), options.classes, options.positive)
            class_codes = np.array([names.index(name) for name in distinct])[found]
        shape, kept = (self.n, len(models), len(names)), model_codes >= 0
        index = (self.codes[kept], model_codes[kept], class_codes[kept])
        cells = np.ravel_multi_index(index, shape)
        counts = np.bincount(cells, minlength=self.n * len(models) * len(names)).reshape(shape)
        if counts.max() > 1:
            first = np.argwhere(counts > 1)[0]
            rows = np.flatnonzero(kept)[cells == np.ravel_multi_index(first, shape)][:4]
            twice = ", ".join(f"{make_plain(values[row])!r} at row {row}" for row in rows)
            name = f", class {names[first[2]]!r}" if len(names) > 1 else ""
            more = int((counts > 1).sum()) - 1
            raise InputError(
                f"id {self.ids[first[0]]!r}, {models[first[1]]!r}{name} has {counts[*first]} "
                f"values: {twice}" + (f"; {more:,} more cells have several" if more else ""),
                hint="keep one of them; if there is a class column, pass it as `class_`; if a "
                "judge answered twice, give the second answer another judge name",
            )
        present = counts.sum(axis=2)
        part = (present > 0) & (present < len(names))
        if part.any():
            i, m = np.argwhere(part)[0].tolist()
            lacking = [name for k, name in enumerate(names) if not counts[i, m, k]]
            problem = f"id {self.ids[i]!r}, model {models[m]!r} has no score of {quote(lacking)}"
            hint = "add the missing rows, or leave out all classes of the model there"
            raise InputError(problem, hint=hint)
        out = np.full(shape, None if options.judged else np.nan, dtype=values.dtype)
        out[index] = values[kept]
        return out, models, names if columns.class_ else None

    def _factorize_models(self, column: str) -> tuple[IntArray, tuple[str, ...]]:
        """Codes (N,) of models in their order, -1 for models that are not asked for."""
        codes, distinct = self._factorize(column)
        found = tuple(map(str, distinct))
        first: dict[str, str] = {}
        for name in found if self.options.judged else ():
            if first.setdefault(name.strip(), name) != name:
                problem = f"the judges {first[name.strip()]!r} and {name!r} differ in blanks only"
                raise InputError(problem, hint="remove the blanks")
        if self.options.models is None:
            return codes, found
        wanted = tuple(self.options.models)
        refuse_duplicates(wanted, "model")
        for name in wanted:
            if name not in found:
                problem = f"column {column!r} has no model {name!r}, only {quote(found)}"
                near = suggest_nearest(name, found)
                raise InputError(problem, hint=f"{near}name models as in the data")
        order = {name: index for index, name in enumerate(wanted)}
        place = np.array([order.get(name, -1) for name in found], dtype=np.int64)
        return place[codes], wanted


# -------------------------------------------------------------------------------------------------
# Labels kept in another table.
#
# Such a table replaces the labels beside the scores. One with a column ``probability``, as
# `ssme.Evaluation.suggest` writes it, adds to them: its rows were drawn with these probabilities,
# in the rounds of labeling that its column ``round`` numbers (`ssme.data.design`). One with
# ``round`` or ``reason`` and labels without a probability is refused: not a random sample.


def joins_by_id(labels: object) -> bool:
    """Whether ``labels`` is a table or a file rather than plain values."""
    return labels is not None and (isinstance(labels, Path) or is_frame(labels))


class LabelTable:
    """A table of labels whose ids are all among those of the scores, ``ids`` (n,).

    ``id_name`` is the id column of the scores.
    """

    def __init__(
        self, labels: Any, ids: NDArray[Any] | None, options: ReadOptions, id_name: str | None
    ) -> None:
        self.options = options
        self.table = table = _open(labels, options)
        self.probability = self._find("probability")
        if id_name is not None and id_name in table.columns:
            self.id = id_name
        else:
            self.id = self._find("id") or table.require(id_name or "id", "id column", "id")
        # labels of suggested rows may be in a column named otherwise than that of the scores
        marked = self._find("round") is not None and self._find("reason") is not None
        added = (self.probability is not None or marked) and options.label not in table.columns
        label = table.find(None if added else options.label, layouts.USUAL_NAMES["label"], "label")
        if label is None:
            taken = (self.id, layouts.find_design(table, options), self.probability)
            usual = {*layouts.USUAL_NAMES["round"], *layouts.USUAL_NAMES["reason"]}
            usual |= {*layouts.PROPOSALS}
            others = [n for n in table.columns if n not in taken and n.lower() not in usual]
            if len(others) != 1:
                raise table.explain_no_column("label column", "name it with `label='...'`")
            label = others[0]
        self.values = as_objects(table.read_values(label))
        self.values[is_missing(self.values)] = None
        if ids is None:
            problem = f"labels are in {table.what}, and the scores have no id column to join by"
            raise InputError(problem, hint="name it with `id='...'`, or pass labels as an array")
        self.ids = as_ids(ids, len(ids))
        with name_argument("labels"):
            self.row_ids = named = as_ids(table.read_ids(self.id), table.n_rows)
        place = {id: row for row, id in enumerate(self.ids)}
        unmatched = [id for id in named if id not in place]
        if unmatched:
            there, here = type(named[0]).__name__, type(self.ids[0]).__name__
            types = f" (ids are {there} there and {here} in the scores)"
            raise InputError(
                f"{len(unmatched)} of {named.size} ids in {table.what} are not among the scores: "
                f"{quote(unmatched)}{types if there != here else ''}",
                hint="remove these labels, or check that both tables write ids in the same way",
            )
        self.places = np.array([place[id] for id in named], dtype=np.int64)

    def _find(self, role: str) -> str | None:
        return self.table.find(None, layouts.USUAL_NAMES[role], role)

    def join_labels(self, own: object | None = None) -> Objects:
        """(n,) label of each id, None without one.

        ``own`` (n,) are the labels in the scores table, which a table with probabilities adds to;
        others replace them. Labels of suggested rows without probability, which are not a random
        sample, are refused.
        """
        table, unlabeled = self.table, self.options.unlabeled
        known = observe(own, len(self.ids), unlabeled)
        labeled = observe(self.values, table.n_rows, unlabeled).codes >= 0
        replaced = known.codes >= 0
        replaced[self.places[labeled]] = False
        dropped, alone = int(replaced.sum()), self.probability is None
        designed = (
            self.options.design is not None or layouts.find_design(table, self.options) is not None
        )
        if alone and (not designed or self.options.design == "random"):
            self._refuse_taken(labeled)
        marks = [name for name in map(self._find, ("round", "reason")) if name is not None]
        lost = labeled & False
        if marks and not (alone and designed):
            marked = [~is_missing(table.read_values(name)) for name in marks]
            lost = labeled & np.any(marked, axis=0)
        if self.probability is not None:
            lost &= np.isnan(table.read_floats(self.probability))
        if lost.any():
            more = f", and {dropped:,} labels in the scores table would be dropped"
            names = " and ".join(map(repr, marks))
            raise InputError(
                f"{table.what} has {names} as `ssme suggest` writes it, but no probability for "
                f"{lost.sum():,} of its {labeled.sum():,} labels, which would count as a random "
                f"sample{more if alone and dropped else ''}",
                hint="restore the column 'probability' as `ssme suggest` wrote it; or, if these "
                "rows are a random sample, "
                + ("pass `design=random`" if alone else f"leave {names} empty")
                + (", or `design=by_score` if they were taken without one" if alone else ""),
            )
        if dropped and alone and self.options.design is None:
            warn(
                f"the labels of {table.what} replace those in the scores table, and {dropped:,} "
                "rows that are labeled there only count as unlabeled. Add them to "
                f"{table.what} to keep them"
            )
        out: Objects = np.full(len(self.ids), None, dtype=object)
        out[self.places] = self.values
        if own is None or alone:
            return out
        before = known.spread()
        for row in np.flatnonzero([value is not None for value in out]):
            value, where = make_plain(out[row]), f"row {self.ids[row]!r} is labeled"
            if known.are_all(int) and isinstance(value, str):
                if not value.strip().lstrip("+-").isdecimal():
                    problem = f"{where} {value!r} in {self.table.what}, not a whole number"
                    hint = "correct it, or leave it empty if there is no label yet"
                    raise InputError(problem, hint=hint)
                value = int(value)
            elif known.are_all(str) and type(value) is int:
                value = str(value)
            if known.codes[row] >= 0 and value != before[row]:
                problem = f"{where} {before[row]!r} with the scores, {value!r} in {self.table.what}"
                raise InputError(problem, hint="correct one of them, or leave one empty")
            before[row] = value
        return before

    def _refuse_taken(self, labeled: BoolArray) -> None:
        """Refuse labels of rows that a method took without a probability as a random sample."""
        column = self._find("reason")
        reasons = [] if column is None else self.table.read_values(column)[labeled].tolist()
        taken = [reason for reason in reasons if reason in REASONS_TAKEN.values()]
        if taken:
            problem = f"{len(taken):,} labels of {self.table.what} are of rows that were "
            raise InputError(
                f"{problem}{taken[0]}: not a random sample", hint="pass `design=by_score`"
            )

    def join_design(self) -> FloatArray | LabelRounds | None:
        """(n,) weight of each label, NaN without one, or their rounds; None without either."""
        if self.probability is not None:
            layouts.refuse_two_designs(self.options, self.probability, self.table.what)
        column = layouts.find_design(self.table, self.options)
        if column is not None:
            out: FloatArray = np.full(len(self.ids), np.nan)
            out[self.places] = self.table.read_floats(column)
            return out
        if self.probability is None:
            return None
        chance = self.table.read_floats(self.probability)
        named = self._find("round")
        number = np.ones(len(chance)) if named is None else self.table.read_floats(named)
        whole = (number >= 1.0) & (number <= 1e9) & (number == np.rint(number))
        bad = np.flatnonzero(~np.isnan(chance) & ~whole)
        if bad.size:
            found = number[bad[0]]
            raise InputError(
                f"row {self.row_ids[bad[0]]!r} in {self.table.what} has a probability, but "
                + ("no round" if np.isnan(found) else f"its round is {found:g}"),
                hint="number the rounds of labeling 1, 2, 3, ... as `ssme suggest` wrote them",
            )
        n = len(self.ids)
        probabilities, rounds = np.full(n, np.nan), np.zeros(n, dtype=np.int64)
        probabilities[self.places] = chance
        rounds[self.places] = np.where(np.isnan(chance), 0.0, number)
        return LabelRounds(probabilities, rounds)


def _open(labels: Any, options: ReadOptions) -> Table:
    """The table of labels; a CSV file is written as that of the scores is said to be, or in UTF-8.

    Where the delimiter of the scores leaves its header in one piece, and one other delimiter
    splits it, the file has that delimiter, and a decimal point in its numbers.
    """
    if not isinstance(labels, Path):
        return Table(labels, "the table of labels")
    is_csv = labels.suffix.lower() == ".csv"
    of_csv = ("delimiter", "decimal", "thousands", "encoding") if is_csv else ()
    written = ReadOptions(**{name: getattr(options, name) for name in of_csv})
    with name_argument("labels"):
        if is_csv and labels.is_file():
            if written.encoding is not None and is_encoded(labels, "utf-8"):
                written = replace(written, encoding=None)
            other = find_other_delimiter(labels, written.delimiter or ",", written.encoding)
            if other is not None:
                written = ReadOptions(delimiter=other, encoding=written.encoding)
        return Table(open_table(labels, written), str(labels))
