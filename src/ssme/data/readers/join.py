"""Labels kept in another table, joined to the scores by id."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ssme.data.readers.columns import USUAL_NAMES, find_design
from ssme.data.readers.options import ReadOptions
from ssme.data.readers.sources import open_table
from ssme.data.readers.tables import Table, is_frame
from ssme.data.validation import as_ids
from ssme.data.values import FloatArray, as_objects, is_missing
from ssme.errors import InputError, argument
from ssme.wording import listing

__all__ = ["joined", "joined_design", "joins_by_id"]


def joins_by_id(labels: object) -> bool:
    """Whether ``labels`` is a table or a file rather than plain values."""
    return isinstance(labels, Path) or is_frame(labels)


def joined(
    labels: Any, ids: NDArray[Any] | None, options: ReadOptions, id_name: str | None = None
) -> NDArray[np.object_]:
    """(n,) label of each id, None where the table of labels has none.

    Every id of the table of labels must be among ``ids``; ids without a label are unlabeled rows.
    """
    table = _open(labels, options.delimiter)
    place, id_column = _place_of_rows(table, ids, id_name)
    values = as_objects(table.values(_label_column(table, options, id_column)))
    values[is_missing(values)] = None
    out: NDArray[np.object_] = np.full(place.n_rows, None, dtype=object)
    out[place.rows] = values
    return out


def joined_design(
    labels: Any, ids: NDArray[Any] | None, options: ReadOptions, id_name: str | None = None
) -> FloatArray | None:
    """(n,) weight of each label, NaN without a label; None where the table holds no weights."""
    table = _open(labels, options.delimiter)
    column = find_design(table, options)
    if column is None:
        return None
    place, _ = _place_of_rows(table, ids, id_name)
    out: FloatArray = np.full(place.n_rows, np.nan)
    out[place.rows] = table.floats(column)
    return out


@dataclass(frozen=True, eq=False)
class _Places:
    """Rows of the scores, ``n_rows`` in all, that a table of labels speaks of in its order."""

    rows: NDArray[np.intp]
    n_rows: int


def _place_of_rows(
    table: Table, ids: NDArray[Any] | None, id_name: str | None
) -> tuple[_Places, str]:
    """Where the rows of ``table`` are among the scores, and its id column."""
    if ids is None:
        raise InputError(
            f"labels in {table.what} and no id column beside the scores",
            allowed="tables joined by an id column that both have",
            fix=f"name it with {argument('id', repr('...'))}, or pass labels as an array in the "
            "order of the rows",
        )
    id_column = _id_column(table, id_name)
    label_ids = as_ids(table.values(id_column), table.n_rows)
    assert label_ids is not None
    return _Places(_places(as_objects(ids), label_ids, table.what), len(ids)), id_column


def _open(labels: Any, delimiter: str | None) -> Table:
    if isinstance(labels, Path):
        of_csv = delimiter if labels.suffix.lower() == ".csv" else None
        return Table(open_table(labels, delimiter=of_csv), str(labels))
    return Table(labels, "the table of labels")


def _id_column(table: Table, id_name: str | None) -> str:
    if id_name is not None and id_name in table.columns:
        return id_name
    found = table.find(None, USUAL_NAMES["id"], "id")
    return found if found is not None else table.require(id_name or "id", "id column")


def _label_column(table: Table, options: ReadOptions, id_column: str) -> str:
    found = table.find(options.label, USUAL_NAMES["label"], "label")
    if found is not None:
        return found
    others = [
        name for name in table.columns if name not in (id_column, find_design(table, options))
    ]
    if len(others) == 1:
        return others[0]
    raise InputError(
        f"{table.what} has no label column with a usual name; its columns are "
        f"{listing(table.columns)}",
        allowed="one label column beside the id column",
        fix=f"name it with {argument('label', repr('...'))}",
    )


def _places(
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
            f"{listing(unmatched)}" + _kinds_differ(ids, label_ids),
            allowed="ids that occur beside the scores",
            fix="remove these labels, or check that both tables write ids in the same way",
        )
    return place


def _kinds_differ(ids: Iterable[object], label_ids: Iterable[object]) -> str:
    first, second = type(next(iter(ids))), type(next(iter(label_ids)))
    if first is second:
        return ""
    return f" (ids are {second.__name__} there and {first.__name__} beside the scores)"
