"""Labels kept in another table, joined to the scores by id.

Such a table replaces the labels beside the scores. One with a column ``probability``, as
`ssme.Evaluation.suggest` writes it, adds to them: its rows were drawn with these probabilities, in
the rounds of labeling that its column ``round`` numbers (`ssme.data.design`). One with ``round`` or
``reason`` and labels without a probability is refused: its rows are not a random sample.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ssme.data.arrays import as_ids, find_index, name_same_rows
from ssme.data.design import LabelRounds
from ssme.data.labels import observe
from ssme.data.readers.columns import USUAL_NAMES, find_design
from ssme.data.readers.csv_files import find_other_delimiter, is_encoded
from ssme.data.readers.options import ReadOptions
from ssme.data.readers.sources import open_table
from ssme.data.readers.tables import Table, is_frame
from ssme.data.values import FloatArray, as_objects, is_missing, make_plain, to_objects
from ssme.errors import InputError, argument, name_argument
from ssme.wording import quote

__all__ = [
    "find_own_label_column",
    "join_design",
    "join_labels",
    "joins_by_id",
    "name_labels_source",
    "refuse_other_index",
]


def joins_by_id(labels: object) -> bool:
    """Whether ``labels`` is a table or a file rather than plain values."""
    return isinstance(labels, Path) or is_frame(labels)


def join_labels(
    labels: Any,
    ids: NDArray[Any] | None,
    options: ReadOptions,
    id_name: str | None = None,
    own: object | None = None,
) -> NDArray[np.object_]:
    """(n,) label of each id, None where the table of labels has none.

    Every id of the table of labels must be among ``ids``; ids without a label are unlabeled rows.
    ``own`` (n,) are the labels beside the scores, which a table with probabilities adds to.
    """
    table = _open(labels, options)
    id_column = _find_id_column(table, id_name)
    column = _find_label_column(table, options, id_column)
    _refuse_contradictions(table, id_column, column)
    place, _ = _place_rows(table, ids, id_name)
    values = as_objects(table.read_values(column))
    values[is_missing(values)] = None
    _refuse_lost_probabilities(table, values, own, place, options)
    out: NDArray[np.object_] = np.full(place.n_rows, None, dtype=object)
    out[place.rows] = values
    if own is None or _find_probability(table) is None:
        return out
    assert ids is not None
    return _add(out, own, as_objects(ids), options, table.what)


def refuse_other_index(table: Table, labels: object) -> None:
    """Refuse a pandas Series of labels whose index says that its rows stand in another order.

    Labels are taken row by row. A Series with the index of the frame in another order, or of a
    part of it, would put labels on wrong rows.
    """
    own, theirs = table.row_index, find_index(labels)
    if name_same_rows(own, theirs):
        whole = len(own) == len(theirs)
        part = "the rows" if whole else f"{len(theirs):,} of the {len(own):,} rows"
        raise InputError(
            f"the labels are a Series whose index has {part} of {table.what}"
            + (" in another order" if whole else ""),
            allowed="one label per row, in the order of the rows",
            fix="align them by their index with labels.reindex(frame.index)"
            + (", or pass labels.to_numpy() if they are in order" if whole else ""),
        )


def find_own_label_column(table: Table, options: ReadOptions) -> str | None:
    """The label column beside the scores where labels are given apart; None without one."""
    if options.label is not None and options.label in table.columns:
        return options.label
    found = [name for name in table.columns if name.lower() in USUAL_NAMES["label"]]
    return found[0] if len(found) == 1 else None


def _add(
    given: NDArray[np.object_],
    own: object,
    ids: NDArray[np.object_],
    options: ReadOptions,
    what: str,
) -> NDArray[np.object_]:
    """The labels ``given`` by a table and the ``own`` ones; two different ones are refused."""
    known = observe(own, len(ids), options.unlabeled)
    table: NDArray[np.object_] = np.full(len(known.values) + 1, None, dtype=object)
    table[:-1] = known.values
    before: NDArray[np.object_] = table[known.codes]
    told = np.array([value is not None for value in given.tolist()], dtype=bool)
    if known.integral:
        _refuse_text(given, told, ids, quote(known.values), what)
    given = given.copy()
    given[told] = _spell_as(known.values, given[told])
    for row in np.flatnonzero(told & (known.codes >= 0)):
        if make_plain(given[row]) != before[row]:
            raise InputError(
                f"row {ids[row]!r} is labeled {before[row]!r} beside the scores and "
                f"{make_plain(given[row])!r} in {what}",
                allowed="one label per row",
                fix="correct one of them, or leave one empty",
            )
    before[told] = given[told]
    return before


def _spell_as(known: Sequence[Hashable], given: NDArray[np.object_]) -> NDArray[np.object_]:
    """Whole numbers ``given`` as text or as numbers, as those that are ``known`` are."""
    plain = [make_plain(value) for value in given]
    if known and all(isinstance(value, str) for value in known):
        return to_objects([str(value) if type(value) is int else value for value in plain])
    if known and all(type(value) is int for value in known):
        return to_objects([int(value) if isinstance(value, str) else value for value in plain])
    return given


def _refuse_text(
    given: NDArray[np.object_],
    told: NDArray[np.bool_],
    ids: NDArray[np.object_],
    beside: str,
    what: str,
) -> None:
    """Refuse a label that is no whole number, where those ``beside`` the scores are."""
    for row in np.flatnonzero(told):
        value = make_plain(given[row])
        if isinstance(value, str) and not value.strip().lstrip("+-").isdecimal():
            raise InputError(
                f"row {ids[row]!r} is labeled {value!r} in {what}, and the labels beside the "
                f"scores are the whole numbers {beside}",
                allowed="labels written as those beside the scores",
                fix="correct it, or leave it empty if the row has no label yet",
            )


def _refuse_lost_probabilities(
    table: Table,
    values: NDArray[np.object_],
    own: object | None,
    place: _Places,
    options: ReadOptions,
) -> None:
    """Refuse labels of suggested rows without their probability, which are not a random sample."""
    found = (table.find(None, USUAL_NAMES[role], role) for role in ("round", "reason"))
    marks = [name for name in found if name is not None]
    chance = _find_probability(table)
    said = options.design is not None or find_design(table, options) is not None
    if not marks or (chance is None and said):
        return
    labeled = observe(values, table.n_rows, options.unlabeled).codes >= 0
    lost = labeled & np.any([~is_missing(table.read_values(name)) for name in marks], axis=0)
    if chance is not None:
        lost &= np.isnan(_read_numbers(table, chance))
    if not lost.any():
        return
    dropped = observe(own, place.n_rows, options.unlabeled).codes >= 0
    dropped[place.rows[labeled]] = False
    replaced = f", and {dropped.sum():,} labels beside the scores would be dropped"
    names = " and ".join(map(repr, marks))
    other = f"say {argument('design', 'random')}" if chance is None else f"leave {names} empty"
    raise InputError(
        f"{table.what} has {names}, as `ssme suggest` writes, and no probability for "
        f"{lost.sum():,} of its {labeled.sum():,} labels: they would count as a random sample"
        + (replaced if chance is None and dropped.any() else ""),
        allowed="the probability with which each suggested row was drawn",
        fix="restore the column 'probability' as `ssme suggest` wrote it; or, if these rows are a "
        f"random sample, {other}",
    )


def _refuse_contradictions(table: Table, id_column: str, column: str) -> None:
    """Refuse two different labels for one id; an id that is repeated is refused later."""
    seen: dict[Any, Any] = {}
    ids, values = as_objects(table.read_values(id_column)), as_objects(table.read_values(column))
    for id, value, missing in zip(ids, values, is_missing(values), strict=True):
        if missing:
            continue
        if id in seen and seen[id] != value:
            raise InputError(
                f"{table.what} labels row {id!r} both {make_plain(seen[id])!r} "
                f"and {make_plain(value)!r}",
                allowed="one label per row",
                fix="keep the right one",
            )
        seen[id] = value


def join_design(
    labels: Any, ids: NDArray[Any] | None, options: ReadOptions, id_name: str | None = None
) -> FloatArray | LabelRounds | None:
    """(n,) weight of each label, NaN without a label, or the rounds that they came in.

    None where the table holds neither weights nor probabilities.
    """
    table = _open(labels, options)
    chance = _find_probability(table)
    if chance is not None and options.design is not None:
        raise _tell_two_designs(options, chance, table.what)
    column = find_design(table, options)
    if chance is not None and column is None:
        return _read_rounds(table, chance, ids, id_name)
    if column is None:
        return None
    place, _ = _place_rows(table, ids, id_name)
    out: FloatArray = np.full(place.n_rows, np.nan)
    out[place.rows] = table.read_floats(column)
    return out


def _tell_two_designs(options: ReadOptions, column: str, what: str) -> InputError:
    said = options.design if isinstance(options.design, str) else "as an array"
    return InputError(
        f"{argument('design', said)} was given, and {what} has a column {column!r}, which says how "
        "its rows were chosen",
        allowed="one of them",
        fix=f"leave {argument('design')} out. `ssme suggest` writes labels with weights into its "
        "file, with their probabilities; labels that were chosen otherwise and are not in the file "
        "count as drawn at random",
    )


def _find_probability(table: Table) -> str | None:
    return table.find(None, USUAL_NAMES["probability"], "probability")


def _read_rounds(
    table: Table, column: str, ids: NDArray[Any] | None, id_name: str | None
) -> LabelRounds:
    """Probability and round of each row that ``table`` speaks of."""
    place, id_column = _place_rows(table, ids, id_name)
    row_ids = as_objects(table.read_values(id_column))
    chance = _read_numbers(table, column)
    bad = np.flatnonzero(~np.isnan(chance) & ~((chance > 0.0) & (chance <= 1.0)))
    if bad.size:
        raise InputError(
            f"row {row_ids[bad[0]]!r} in {table.what} has the probability {chance[bad[0]]:g}",
            allowed="probabilities above 0 and up to 1",
            fix="give the probability with which the row was chosen, or leave it empty",
        )
    named = table.find(None, USUAL_NAMES["round"], "round")
    number = np.ones(table.n_rows) if named is None else _read_numbers(table, named)
    whole = (number >= 1.0) & (number <= 1e9) & (number == np.rint(number))
    bad = np.flatnonzero(~np.isnan(chance) & ~whole)
    if bad.size:
        found = "no round" if np.isnan(number[bad[0]]) else f"the round {number[bad[0]]:g}"
        raise InputError(
            f"row {row_ids[bad[0]]!r} in {table.what} has a probability and {found}",
            allowed="rounds numbered 1, 2, 3, ...",
            fix="number the rounds of labeling in their order, as `ssme suggest` wrote them",
        )
    probability, rounds = np.full(place.n_rows, np.nan), np.zeros(place.n_rows, dtype=np.int64)
    probability[place.rows] = chance
    rounds[place.rows] = np.where(np.isnan(chance), 0.0, number)
    return LabelRounds(probability, rounds)


@dataclass(frozen=True, eq=False)
class _Places:
    """Rows of the scores, ``n_rows`` in all, that a table of labels speaks of in its order."""

    rows: NDArray[np.intp]
    n_rows: int


def _place_rows(table: Table, ids: NDArray[Any] | None, id_name: str | None) -> tuple[_Places, str]:
    """Where the rows of ``table`` are among the scores, and its id column."""
    if ids is None:
        raise InputError(
            f"labels are in {table.what} and there is no id column beside the scores",
            allowed="tables joined by an id column that both have",
            fix=f"name it with {argument('id', repr('...'))}, or pass labels as an array in the "
            "order of the rows",
        )
    id_column = _find_id_column(table, id_name)
    label_ids = _read_ids(table, id_column)
    return _Places(_find_places(as_objects(ids), label_ids, table.what), len(ids)), id_column


def _read_ids(table: Table, column: str) -> NDArray[np.object_]:
    """The names of the rows that ``table`` labels, each once."""
    with name_argument("labels"):
        ids = as_objects(table.read_values(column))
        missing = is_missing(ids)
        number = {id: row for row, id in reversed(list(enumerate(ids.tolist())))}
        for row, id in enumerate(ids.tolist()):
            if number[id] != row and not missing[row]:
                raise InputError(
                    f"{table.what} names {id!r} at row {number[id]} and again at row {row}",
                    allowed="each id once",
                    fix="remove one of the two rows",
                )
        found = as_ids(table.read_ids(column), table.n_rows)
    assert found is not None
    return found


def _read_numbers(table: Table, column: str) -> FloatArray:
    """A column of numbers, NaN where empty; the first other text is named with its row."""
    import pandas

    values = pandas.Series(table.read_values(column), dtype=object)
    texts = values.dropna().astype(str).str.strip()
    stray = texts[(texts != "") & pandas.to_numeric(texts, errors="coerce").isna()]
    if len(stray):
        raise InputError(
            f"column {column!r} of {table.what} holds {stray.iloc[0]!r} at row {stray.index[0]}",
            allowed="numbers with a decimal point, or nothing",
            fix="restore the column as `ssme suggest` wrote it",
        )
    return table.read_floats(column)


def _open(labels: Any, options: ReadOptions) -> Table:
    """The table of labels; a CSV file is written as that of the scores is said to be, or in UTF-8.

    It has an id and a label in each row. Where the delimiter of the scores leaves its header in one
    piece, and one other delimiter splits it, the file is written in its own way: with that
    delimiter, and with a point in its numbers.
    """
    if not isinstance(labels, Path):
        return Table(labels, "the table of labels")
    is_csv = labels.suffix.lower() == ".csv"
    of_csv = ("delimiter", "decimal", "thousands", "encoding") if is_csv else ()
    told = ReadOptions(**{name: getattr(options, name) for name in of_csv})
    with name_argument("labels"):
        if is_csv and labels.is_file():
            if told.encoding is not None and is_encoded(labels, "utf-8"):
                told = replace(told, encoding=None)
            other = find_other_delimiter(labels, told.delimiter or ",", told.encoding)
            if other is not None:
                told = ReadOptions(delimiter=other, encoding=told.encoding)
        return Table(open_table(labels, told), str(labels))


def _find_id_column(table: Table, id_name: str | None) -> str:
    if id_name is not None and id_name in table.columns:
        return id_name
    found = table.find(None, USUAL_NAMES["id"], "id")
    return found if found is not None else table.require(id_name or "id", "id column", "id")


def _find_label_column(table: Table, options: ReadOptions, id_column: str) -> str:
    beside_scores = _find_probability(table) is not None and options.label not in table.columns
    label = None if beside_scores else options.label
    found = table.find(label, USUAL_NAMES["label"], "label")
    if found is not None:
        return found
    design = (find_design(table, options), _find_probability(table))
    beside = (*USUAL_NAMES["round"], *USUAL_NAMES["reason"])
    others = [
        name
        for name in table.columns
        if name not in (id_column, *design) and name.lower() not in beside
    ]
    if len(others) == 1:
        return others[0]
    raise InputError(
        f"{table.what} has no label column with a usual name; its columns are "
        f"{quote(table.columns)}",
        allowed="one label column beside the id column",
        fix=f"name it with {argument('label', repr('...'))}",
    )


def _find_places(
    ids: NDArray[np.object_], label_ids: NDArray[np.object_], what: str
) -> NDArray[np.intp]:
    """Row of each labeled id among the scores."""
    import pandas

    as_ids(ids, len(ids))
    place: NDArray[np.intp] = pandas.Index(ids, dtype=object).get_indexer(
        pandas.Index(label_ids, dtype=object)
    )
    unmatched = label_ids[place < 0]
    if unmatched.size:
        raise InputError(
            f"{unmatched.size} of {label_ids.size} ids in {what} are not among the scores: "
            f"{quote(unmatched)}" + _tell_kinds_apart(ids, label_ids),
            allowed="ids that occur beside the scores",
            fix="remove these labels, or check that both tables write ids in the same way",
        )
    return place


def _tell_kinds_apart(ids: Iterable[object], label_ids: Iterable[object]) -> str:
    first, second = type(next(iter(ids))), type(next(iter(label_ids)))
    if first is second:
        return ""
    return f" (ids are {second.__name__} there and {first.__name__} beside the scores)"


def name_labels_source(labels: object | None) -> str | None:
    """Where labels that are kept apart from the scores came from, for people."""
    if labels is None or labels is False:
        return None
    return str(labels) if isinstance(labels, Path) else f"a given {type(labels).__name__}"
