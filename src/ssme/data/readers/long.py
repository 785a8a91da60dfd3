"""The long layout: one row per score, as ``id, model, class, score``.

Without a class column each score is P(positive). Labels, weights and groups may stand on every
row of an id and must then agree.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ssme.data.labels import RawLabels, convert_as_labels, observe, order_classes
from ssme.data.readers.columns import USUAL_NAMES, Columns, refuse_without_labels
from ssme.data.readers.join import find_own_label_column, join_labels, joins_by_id
from ssme.data.readers.options import ReadOptions
from ssme.data.readers.raw import RawTable
from ssme.data.readers.tables import Table
from ssme.data.values import (
    FloatArray,
    as_floats,
    as_objects,
    factorize,
    is_missing,
    refuse_duplicates,
)
from ssme.errors import InputError, argument
from ssme.wording import quote, suggest_nearest

__all__ = [
    "factorize_column",
    "find_models",
    "find_scores",
    "observe_labels",
    "read",
    "take_constant_by_id",
    "take_weights_by_id",
]

IntArray = NDArray[np.int64]

LAYOUT = (
    f"{{}} of the long layout, for which {argument('layout', repr('long'))}, {argument('model')}, "
    f"{argument('class_')} or {argument('score')} asks"
)
"""What a column is for; the braces stand for its part."""


def find_scores(table: Table, roles: Columns, options: ReadOptions, *, given: bool) -> Columns:
    """``roles`` with the columns of models, classes and scores.

    ``given``: labels were given apart from the table.
    """
    if roles.id is None:
        table.require("id", LAYOUT.format("id column"), "id")
    model = _require_column(table, options.model, "model")
    score = _require_column(table, options.score, "score")
    name = table.find(options.class_, USUAL_NAMES["class_"], "class_")
    used = roles.roles | {column for column in (model, score, name) if column is not None}
    ignored = tuple(column for column in table.columns if column not in used)
    if roles.label is None and not given and ignored:
        refuse_without_labels(table)
    return replace(roles, kind="long", model=model, class_=name, score=score, ignored=ignored)


def read(
    table: Table, columns: Columns, options: ReadOptions, labels: object | None = None
) -> RawTable:
    """Scores, labels and the rest of a long table; rows in the order ids first appear."""
    assert columns.id is not None
    assert columns.model is not None
    assert columns.score is not None
    id_codes, ids = factorize_column(table, columns.id)
    model_codes, models = find_models(table, columns.model, options.models)
    raw = observe_labels(table, columns, options, labels, id_codes, ids)
    values = table.read_floats(columns.score)
    kept = model_codes >= 0
    rows = _LongScores(ids, models, id_codes[kept], model_codes[kept], values[kept])
    classes: Sequence[Hashable] | None = options.classes
    if columns.class_ is None:
        scores = rows.make_binary()
    else:
        class_codes, names = _find_classes(table, columns.class_, options)
        scores = rows.make_by_class(class_codes[kept], names)
        classes = options.classes or convert_as_labels(names, raw.values)
    return RawTable(
        scores=scores,
        labels=raw,
        models=models,
        classes=classes,
        weights=take_weights_by_id(table, columns.weight, id_codes, ids),
        groups={
            group: take_constant_by_id(table, column, id_codes, ids)
            for group, column in columns.groups.items()
        },
        ids=ids,
        design=take_weights_by_id(table, columns.design, id_codes, ids),
    )


def _require_column(table: Table, named: str | None, part: str) -> str:
    found = table.find(named, USUAL_NAMES[part], part)
    if found is not None:
        return found
    return table.require(part, LAYOUT.format(f"{part} column"), part)


def factorize_column(
    table: Table, column: str, required: str = "an id, a model and a class on every row"
) -> tuple[IntArray, NDArray[np.object_]]:
    """Codes in order of first appearance; a missing value is refused."""
    codes, found = factorize(as_objects(table.read_values(column)))
    distinct = as_objects(found)
    blank = np.append(is_missing(distinct), True)
    missing = blank[codes]
    if missing.any():
        raise InputError(
            f"column {column!r} is empty at row {int(np.argmax(missing))}",
            allowed=required,
            fix="fill it in or drop the row",
        )
    return codes, distinct


def find_models(
    table: Table, column: str, wanted: Sequence[str] | None
) -> tuple[IntArray, tuple[str, ...]]:
    """Codes (N,) of models in their order, -1 for models that are not wanted."""
    codes, distinct = factorize_column(table, column)
    found = tuple(str(name) for name in distinct)
    if wanted is None:
        return codes, found
    names = tuple(wanted)
    refuse_duplicates(names, "model")
    for name in names:
        if name not in found:
            raise InputError(
                f"column {column!r} has no model {name!r}",
                allowed=f"the models {quote(found)}",
                fix=f"{suggest_nearest(name, found)}name models as in the data",
            )
    order = {name: index for index, name in enumerate(names)}
    place = np.array([order.get(name, -1) for name in found])
    return place[codes].astype(np.int64), names


def _find_classes(
    table: Table, column: str, options: ReadOptions
) -> tuple[IntArray, tuple[Hashable, ...]]:
    codes, distinct = factorize_column(table, column)
    names = order_classes(list(distinct), options.classes, options.positive)
    order = {name: index for index, name in enumerate(names)}
    place = np.array([order[name] for name in distinct])
    return place[codes].astype(np.int64), names


class _LongScores:
    """The scores of a long table, by code of id and model."""

    def __init__(
        self,
        ids: NDArray[np.object_],
        models: tuple[str, ...],
        id_codes: IntArray,
        model_codes: IntArray,
        values: FloatArray,
    ) -> None:
        self.ids, self.models, self.values = ids, models, values
        self.pair = id_codes * len(models) + model_codes
        self.shape = (len(ids), len(models))

    def make_binary(self) -> FloatArray:
        """(n, M) P(positive)."""
        self._refuse_repeats(self.pair, 1, ("",))
        out: FloatArray = np.full(self.shape[0] * self.shape[1], np.nan)
        out[self.pair] = self.values
        return out.reshape(self.shape)

    def make_by_class(self, class_codes: IntArray, names: Sequence[Hashable]) -> FloatArray:
        """(n, M, K)."""
        k = len(names)
        flat = self.pair * k + class_codes
        self._refuse_repeats(flat, k, names)
        present = np.bincount(self.pair, minlength=self.shape[0] * self.shape[1])
        part = (present > 0) & (present < k)
        if part.any():
            pair = int(np.argmax(part))
            there = set(class_codes[self.pair == pair].tolist())
            lacking = [name for code, name in enumerate(names) if code not in there]
            raise InputError(
                f"id {self._find_id(pair)!r}, model {self._find_model(pair)!r} has "
                f"{present[pair]} of {k} class scores and lacks {quote(lacking)}",
                allowed="a row for every class, or none where a model has no score",
                fix="add the missing rows",
            )
        out: FloatArray = np.full(self.shape[0] * self.shape[1] * k, np.nan)
        out[flat] = self.values
        return out.reshape(*self.shape, k)

    def _refuse_repeats(self, flat: IntArray, k: int, names: Sequence[Hashable]) -> None:
        counts = np.bincount(flat)
        if counts.max() > 1:
            place = int(np.argmax(counts > 1))
            name = f", class {names[place % k]!r}" if k > 1 else ""
            raise InputError(
                f"id {self._find_id(place // k)!r}, model {self._find_model(place // k)!r}{name} "
                f"has {counts[place]} scores",
                allowed="one score per id, model and class",
                fix=f"remove the repeated rows, or name the class column with {argument('class_')}",
            )

    def _find_id(self, pair: int) -> object:
        return self.ids[pair // len(self.models)]

    def _find_model(self, pair: int) -> str:
        return self.models[pair % len(self.models)]


def observe_labels(
    table: Table,
    columns: Columns,
    options: ReadOptions,
    labels: object | None,
    id_codes: IntArray,
    ids: NDArray[np.object_],
) -> RawLabels:
    """The label of each id, from its column or from a table that is joined."""
    if joins_by_id(labels):
        column = find_own_label_column(table, options)
        own = None if column is None else take_constant_by_id(table, column, id_codes, ids)
        return observe(
            join_labels(labels, ids, options, columns.id, own), len(ids), options.unlabeled
        )
    if labels is not None and labels is not False:
        raise InputError(
            f"labels is a {type(labels).__name__} beside a long table",
            allowed="a label column, or a table of labels joined by id",
            fix="put the labels in a table with ids",
        )
    if labels is False or columns.label is None:
        return observe(None, len(ids))
    raw = observe(table.read_values(columns.label), table.n_rows, options.unlabeled)
    return _take_one_per_id(raw, columns.label, id_codes, ids)


def take_constant_by_id(
    table: Table, column: str, id_codes: IntArray, ids: NDArray[np.object_]
) -> NDArray[np.object_]:
    raw = _take_one_per_id(observe(table.read_values(column), table.n_rows), column, id_codes, ids)
    values: NDArray[np.object_] = np.full(len(raw.values) + 1, None, dtype=object)
    values[:-1] = raw.values
    out: NDArray[np.object_] = values[raw.codes]
    return out


def _take_one_per_id(
    raw: RawLabels, column: str, id_codes: IntArray, ids: NDArray[np.object_]
) -> RawLabels:
    """The value each id has on its rows, or none; two different ones are refused."""
    known = raw.codes >= 0
    at, codes = id_codes[known], raw.codes[known]
    chosen = np.full(len(ids), -1, dtype=np.int64)
    chosen[at] = codes
    differs = chosen[at] != codes
    if differs.any():
        first = int(np.argmax(differs))
        values = {raw.values[codes[first]], raw.values[chosen[at[first]]]}
        raise InputError(
            f"column {column!r} has different values for id {ids[at[first]]!r}: "
            f"{quote(sorted(values, key=str))}",
            allowed="one value per id",
            fix="make the rows of each id agree",
        )
    return RawLabels(chosen, raw.values)


def take_weights_by_id(
    table: Table, column: str | None, id_codes: IntArray, ids: NDArray[np.object_]
) -> FloatArray | None:
    if column is None:
        return None
    return as_floats(take_constant_by_id(table, column, id_codes, ids), f"column {column!r}")
