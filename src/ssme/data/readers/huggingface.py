"""A Hugging Face ``datasets.Dataset`` as a `ScoreSet`, by its own methods; nothing is imported.

A column holds one score per row (the probability of the positive class) or a list of class scores,
which is read as one column per class. The names of a ``ClassLabel`` feature name the classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ssme.data.readers.columns import USUAL_NAMES
from ssme.data.readers.frames import read_table
from ssme.data.readers.options import ReadOptions
from ssme.data.readers.tables import Table
from ssme.data.registry import reads
from ssme.data.scoreset import ScoreSet
from ssme.data.values import FloatArray, objects_of
from ssme.errors import InputError, foreign_errors
from ssme.wording import listing

__all__ = ["from_huggingface"]

LISTS = (list, tuple, np.ndarray)


@reads("huggingface")
def from_huggingface(dataset: Any, labels: object | None = None, **options: Any) -> ScoreSet:
    """Read ``dataset``; see `ScoreSet.from_huggingface`."""
    told = ReadOptions.of(options, "from_huggingface")
    if isinstance(labels, str) and told.label is None:
        told, labels = replace(told, label=labels), None
    with foreign_errors("reading the dataset"):
        table = Table(_frame(dataset), "the dataset")
        columns = {name: table.values(name) for name in table.columns}
        if labels is None and told.labels is None:
            told = _name_classes(dataset, table, columns, told)
        told = _spread_lists(columns, told)
        return read_table(Table(_as_pandas(columns), "the dataset"), labels, told)


def _frame(dataset: Any) -> Any:
    if isinstance(dataset, dict):
        raise InputError(
            f"a dictionary of splits: {listing(list(dataset))}",
            allowed="one split",
            fix=f"pass dataset[{next(iter(dataset), 'train')!r}]",
        )
    if hasattr(dataset, "with_format"):
        rows = dataset.with_format("arrow")
        if hasattr(rows, "__getitem__"):
            return rows[:]
    if not hasattr(dataset, "to_pandas"):
        raise InputError(
            f"a {type(dataset).__name__}, which cannot be held in memory as it is",
            allowed="a datasets.Dataset",
            fix="load it with streaming=False",
        )
    return dataset.to_pandas()


def _as_pandas(columns: dict[str, NDArray[Any]]) -> Any:
    import pandas

    return pandas.DataFrame({name: pandas.Series(of) for name, of in columns.items()})


def _name_classes(
    dataset: Any, table: Table, columns: dict[str, NDArray[Any]], options: ReadOptions
) -> ReadOptions:
    """The codes of a ``ClassLabel`` as its names; -1 is how it writes a missing label."""
    label = table.find(options.label, USUAL_NAMES["label"], "label")
    features = getattr(dataset, "features", None) or {}
    names = getattr(features.get(label), "names", None)
    if label is None or names is None or options.classes is not None:
        return options
    columns[label] = objects_of([_class_of(code, names) for code in columns[label]])
    return replace(options, classes=tuple(names))


def _class_of(code: Any, names: Sequence[str]) -> str | None:
    if code is None or code != code or int(code) < 0:
        return None
    if int(code) >= len(names):
        raise InputError(
            f"label {int(code)} of a ClassLabel with {len(names)} names",
            allowed=f"0 to {len(names) - 1}, or -1 where there is no label",
            fix="check the features of the dataset",
        )
    return names[int(code)]


def _spread_lists(columns: dict[str, NDArray[Any]], options: ReadOptions) -> ReadOptions:
    """Columns of lists become one column per class; the options say which belong to which model."""
    named = options.models
    models = tuple(named) if named is not None else tuple(columns)
    lists = [name for name in models if name in columns and _holds_lists(columns[name])]
    if not lists:
        return options
    if named is not None and len(lists) < len(models):
        single = [name for name in models if name not in lists]
        raise InputError(
            f"{listing(lists)} hold lists of class scores, {listing(single)} do not",
            allowed="models of one kind",
            fix="give every model a list of class scores",
        )
    spread: dict[str, dict[Any, str]] = {}
    for name in lists:
        scores = _matrix(columns.pop(name), name)
        classes = options.classes or range(scores.shape[1])
        if len(classes) != scores.shape[1]:
            raise InputError(
                f"column {name!r} holds lists of {scores.shape[1]} scores for {len(classes)} "
                f"classes {listing(classes)}",
                allowed="one score per class in every row",
                fix="list as many classes as there are scores",
            )
        spread[name] = {each: f"{name}:{each}" for each in classes}
        columns.update(zip(spread[name].values(), scores.T, strict=True))
    return replace(options, models=spread)


def _holds_lists(values: NDArray[Any]) -> bool:
    first = next((value for value in values if value is not None), None)
    return values.dtype.kind == "O" and isinstance(first, LISTS)


def _matrix(values: NDArray[Any], name: str) -> FloatArray:
    """(n, K) scores of a column of lists; NaN where a row has none."""
    sizes = {len(value) for value in values if isinstance(value, LISTS)}
    if len(sizes) != 1:
        raise InputError(
            f"column {name!r} holds lists of lengths {sorted(sizes)}",
            allowed="one score per class in every row",
            fix="give every row as many scores as there are classes",
        )
    nothing = [np.nan] * sizes.pop()
    rows = [value if isinstance(value, LISTS) else nothing for value in values]
    return np.array(rows, dtype=np.float64)
