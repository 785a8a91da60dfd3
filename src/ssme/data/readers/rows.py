"""The rows of a table whose columns are known, with their ids and labels.

Rows are those of a wide table, or the ids of a long one, which has one line per score or answer
(``id, model, class, score``); labels, weights and groups may be on every line of an id and must
then agree. Labels may be kept in another table, joined by id (`LabelTable`).
"""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ssme.data.arrays import as_ids, find_index, name_same_rows
from ssme.data.design import LabelRounds
from ssme.data.labels import RawLabels, observe, order_classes
from ssme.data.readers.columns import (
    USUAL_NAMES,
    Columns,
    find_design,
    find_own_label_column,
    refuse_two_designs,
)
from ssme.data.readers.csv_files import find_other_delimiter, is_encoded
from ssme.data.readers.sources import open_table
from ssme.data.readers.tables import Table, is_frame
from ssme.data.values import (
    FloatArray,
    as_floats,
    as_objects,
    factorize,
    is_missing,
    make_plain,
    refuse_duplicates,
)
from ssme.errors import InputError, SsmeWarning, name_argument
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
        self.joined: LabelTable | None = None
        if labels is not None and joins_by_id(labels):
            self.joined = LabelTable(labels, self.ids, options, columns.id)
        self.labels = self._observe(labels)

    def _observe(self, labels: object | None) -> RawLabels:
        unlabeled = self.options.unlabeled
        if self.joined is not None:
            own = find_own_label_column(self.table, self.options)
            joined = self.joined.join_labels(None if own is None else self.take(own))
            return observe(joined, self.n, unlabeled)
        if labels is None and self.columns.label is not None:
            return self._observe_column(self.columns.label, unlabeled)
        if labels is None or labels is False:
            return observe(None, self.n)
        if self.codes is not None:
            raise InputError(
                f"labels of a long table must be a column or a table with ids, got a "
                f"{type(labels).__name__}",
                hint="put the labels in a label column, or in a table with ids",
            )
        refuse_other_index(self.table, labels)
        return observe(labels, self.n, unlabeled)

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
        model_codes, models = self._factorize_models(columns.model)
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

    def _factorize_models(self, column: str) -> tuple[IntArray, tuple[str, ...]]:
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
        first: dict[str, str] = {}
        for name in judges:
            if first.setdefault(name.strip(), name) != name:
                problem = f"the judges {first[name.strip()]!r} and {name!r} differ in blanks only"
                raise InputError(problem, hint="remove the blanks")
        answers = as_objects(self.table.read_values(self.columns.score))
        cells = self.codes * len(judges) + judge_codes
        counts = np.bincount(cells)
        if counts.max() > 1:
            place = int(np.argmax(counts > 1))
            rows = np.flatnonzero(cells == place)[:4]
            twice = [f"{answers[row]!r} at row {row}" for row in rows]
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


# -------------------------------------------------------------------------------------------------
# Labels kept in another table.
#
# Such a table replaces the labels beside the scores. One with a column ``probability``, as
# `ssme.Evaluation.suggest` writes it, adds to them: its rows were drawn with these probabilities,
# in the rounds of labeling that its column ``round`` numbers (`ssme.data.design`). One with
# ``round`` or ``reason`` and labels without a probability is refused: not a random sample.


def joins_by_id(labels: object) -> bool:
    """Whether ``labels`` is a table or a file rather than plain values."""
    return isinstance(labels, Path) or is_frame(labels)


def refuse_other_index(table: Table, labels: object) -> None:
    """Refuse a Series of labels whose index has the rows in another order, or some of them.

    Labels are taken row by row: such a Series would put labels on wrong rows.
    """
    own, theirs = table.row_index, find_index(labels)
    if name_same_rows(own, theirs):
        whole = len(own) == len(theirs)
        part = "the rows" if whole else f"{len(theirs):,} of the {len(own):,} rows"
        raise InputError(
            f"the labels are a Series whose index has {part} of {table.what}"
            + (" in another order" if whole else ""),
            hint="align them by their index with labels.reindex(frame.index)"
            + (", or pass labels.to_numpy() if they are in order" if whole else ""),
        )


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
        self.label = self._find_label_column()
        self.row_ids = as_objects(table.read_values(self.id))
        self.values = as_objects(table.read_values(self.label))
        self.values[is_missing(self.values)] = None
        if ids is None:
            raise InputError(
                f"labels are in {table.what}, and the scores have no id column to join them by",
                hint="name it with `id='...'`, or pass labels as an array in the order of the rows",
            )
        self.ids = as_objects(ids)
        self.places = self._find_places()

    def _find(self, role: str) -> str | None:
        return self.table.find(None, USUAL_NAMES[role], role)

    def _find_label_column(self) -> str:
        table, options = self.table, self.options
        beside_scores = self.probability is not None and options.label not in table.columns
        label = None if beside_scores else options.label
        found = table.find(label, USUAL_NAMES["label"], "label")
        if found is not None:
            return found
        taken = (self.id, find_design(table, options), self.probability)
        suggested = (*USUAL_NAMES["round"], *USUAL_NAMES["reason"])
        others = [n for n in table.columns if n not in taken and n.lower() not in suggested]
        if len(others) == 1:
            return others[0]
        raise InputError(
            f"{table.what} has no label column with a usual name; its columns are "
            f"{quote(table.columns)}",
            hint="name it with `label='...'`",
        )

    def _find_places(self) -> NDArray[np.intp]:
        """Row of each labeled id among the scores."""
        import pandas

        with name_argument("labels"):
            missing = is_missing(self.row_ids)
            first: dict[Any, int] = {}
            for row, id in enumerate(self.row_ids.tolist()):
                if first.setdefault(id, row) != row and not missing[row]:
                    before, now = make_plain(self.values[first[id]]), make_plain(self.values[row])
                    raise InputError(
                        f"{self.table.what} has {id!r} at row {first[id]}, labeled {before!r}, and "
                        f"again at row {row}, labeled {now!r}",
                        hint="remove one of the two rows",
                    )
            row_ids = as_ids(self.table.read_ids(self.id), self.table.n_rows)
        as_ids(self.ids, len(self.ids))
        places: NDArray[np.intp] = pandas.Index(self.ids, dtype=object).get_indexer(
            pandas.Index(row_ids, dtype=object)
        )
        unmatched = row_ids[places < 0]
        if unmatched.size:
            there, here = type(row_ids[0]).__name__, type(self.ids[0]).__name__
            types = f" (ids are {there} there and {here} in the scores)"
            raise InputError(
                f"{unmatched.size} of {row_ids.size} ids in {self.table.what} are not among the "
                f"scores: {quote(unmatched)}{types if there != here else ''}",
                hint="remove these labels, or check that both tables write ids in the same way",
            )
        return places

    def join_labels(self, own: object | None = None) -> Objects:
        """(n,) label of each id, None without one.

        ``own`` (n,) are the labels in the scores table, which a table with probabilities adds to.
        """
        self._refuse_lost_probabilities(own)
        if self.probability is None and self.options.design is None:
            self._warn_of_dropped(own)
        out: Objects = np.full(len(self.ids), None, dtype=object)
        out[self.places] = self.values
        return out if own is None or self.probability is None else self._add(out, own)

    def _add(self, given: Objects, own: object) -> Objects:
        """The labels ``given`` by the table and the ``own`` ones; different ones are refused."""
        known = observe(own, len(self.ids), self.options.unlabeled)
        before = known.spread()
        text = known.values and all(isinstance(value, str) for value in known.values)
        for row in np.flatnonzero([value is not None for value in given]):
            value, where = make_plain(given[row]), f"row {self.ids[row]!r} is labeled"
            if known.integral and isinstance(value, str):
                if not value.strip().lstrip("+-").isdecimal():
                    raise InputError(
                        f"{where} {value!r} in {self.table.what}, and the labels in the scores "
                        f"table are the whole numbers {quote(known.values)}",
                        hint="correct it, or leave it empty if the row has no label yet",
                    )
                value = int(value)
            elif text and type(value) is int:
                value = str(value)
            if known.codes[row] >= 0 and value != before[row]:
                raise InputError(
                    f"{where} {before[row]!r} in the scores table and {value!r} in "
                    f"{self.table.what}",
                    hint="correct one of them, or leave one empty",
                )
            before[row] = value
        return before

    def _refuse_lost_probabilities(self, own: object | None) -> None:
        """Refuse labels of suggested rows without probability, which are not a random sample."""
        table, unlabeled = self.table, self.options.unlabeled
        marks = [name for name in map(self._find, ("round", "reason")) if name is not None]
        designed = self.options.design is not None or find_design(table, self.options) is not None
        if not marks or (self.probability is None and designed):
            return
        labeled = observe(self.values, table.n_rows, unlabeled).codes >= 0
        lost = labeled & np.any([~is_missing(table.read_values(name)) for name in marks], axis=0)
        if self.probability is not None:
            lost &= np.isnan(self._read_numbers(self.probability))
        if not lost.any():
            return
        dropped = self._count_dropped(own)
        replaced = f", and {dropped:,} labels in the scores table would be dropped"
        names = " and ".join(map(repr, marks))
        alone = self.probability is None
        raise InputError(
            f"{table.what} has {names}, as `ssme suggest` writes, and no probability for "
            f"{lost.sum():,} of its {labeled.sum():,} labels: they would count as a random sample"
            + (replaced if alone and dropped else ""),
            hint="restore the column 'probability' as `ssme suggest` wrote it; or, if these rows "
            f"are a random sample, {'pass `design=random`' if alone else f'leave {names} empty'}",
        )

    def _count_dropped(self, own: object | None) -> int:
        """How many rows are labeled in the scores table only."""
        own_known = observe(own, len(self.ids), self.options.unlabeled).codes >= 0
        known = observe(self.values, self.table.n_rows, self.options.unlabeled).codes >= 0
        own_known[self.places[known]] = False
        return int(own_known.sum())

    def _warn_of_dropped(self, own: object | None) -> None:
        dropped = self._count_dropped(own)
        if dropped:
            warnings.warn(
                f"the labels of {self.table.what} replace those in the scores table, and "
                f"{dropped:,} rows that are labeled there only count as unlabeled. Add them to "
                f"{self.table.what} to keep them",
                SsmeWarning,
                stacklevel=2,
            )

    def join_design(self) -> FloatArray | LabelRounds | None:
        """(n,) weight of each label, NaN without one, or the rounds that labels came in.

        None where the table has neither weights nor probabilities.
        """
        if self.probability is not None:
            refuse_two_designs(self.options, self.probability, self.table.what)
        column = find_design(self.table, self.options)
        if column is not None:
            out: FloatArray = np.full(len(self.ids), np.nan)
            out[self.places] = self.table.read_floats(column)
            return out
        return None if self.probability is None else self._read_rounds(self.probability)

    def _read_rounds(self, probability: str) -> LabelRounds:
        chance = self._read_numbers(probability)
        named = self._find("round")
        number = np.ones(self.table.n_rows) if named is None else self._read_numbers(named)
        whole = (number >= 1.0) & (number <= 1e9) & (number == np.rint(number))
        for row in np.flatnonzero(~np.isnan(chance)):
            where = f"row {self.row_ids[row]!r} in {self.table.what} has"
            if not 0.0 < chance[row] <= 1.0:
                raise InputError(
                    f"{where} the probability {chance[row]:g}, which is not above 0 and up to 1",
                    hint="give the probability with which the row was chosen, or leave it empty",
                )
            if not whole[row]:
                found = "no round" if np.isnan(number[row]) else f"the round {number[row]:g}"
                raise InputError(
                    f"{where} a probability and {found}",
                    hint="number the rounds of labeling 1, 2, 3, ... as `ssme suggest` wrote them",
                )
        n = len(self.ids)
        probabilities, rounds = np.full(n, np.nan), np.zeros(n, dtype=np.int64)
        probabilities[self.places] = chance
        rounds[self.places] = np.where(np.isnan(chance), 0.0, number)
        return LabelRounds(probabilities, rounds)

    def _read_numbers(self, column: str) -> FloatArray:
        """A column of numbers, NaN where empty; the first other text is named with its row."""
        import pandas

        values = pandas.Series(self.table.read_values(column), dtype=object)
        texts = values.dropna().astype(str).str.strip()
        stray = texts[(texts != "") & pandas.to_numeric(texts, errors="coerce").isna()]
        if len(stray):
            raise InputError(
                f"column {column!r} of {self.table.what} contains {stray.iloc[0]!r} at row "
                f"{stray.index[0]}, which is not a number",
                hint="restore the column as `ssme suggest` wrote it",
            )
        return self.table.read_floats(column)


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
