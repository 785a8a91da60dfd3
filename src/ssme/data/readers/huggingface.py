"""A Hugging Face ``datasets.Dataset`` as a `ScoreSet`, by its own methods; nothing is imported.

A column holds one score per row (the probability of the positive class) or a list of class scores,
which is read as one column per class. The names of a ``ClassLabel`` feature name the classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from numpy.typing import NDArray

from ssme.data.readers.class_lists import as_table, spread_lists
from ssme.data.readers.columns import USUAL_NAMES
from ssme.data.readers.frames import read_table
from ssme.data.readers.options import ReadOptions
from ssme.data.readers.tables import Table
from ssme.data.scoreset import ScoreSet
from ssme.data.values import to_objects
from ssme.errors import InputError, translate_foreign_errors
from ssme.wording import quote

__all__ = ["from_huggingface", "is_dataset"]


def from_huggingface(dataset: Any, labels: object | None = None, **options: Any) -> ScoreSet:
    """Read ``dataset``; see `ScoreSet.from_huggingface`."""
    told = ReadOptions.of(options, "from_huggingface")
    if isinstance(labels, str) and told.label is None:
        told, labels = replace(told, label=labels), None
    with translate_foreign_errors("reading the dataset"):
        table = Table(_make_frame(dataset), "the dataset")
        columns = {name: table.read_values(name) for name in table.columns}
        if labels is None and told.labels is None:
            told = _name_classes(dataset, table, columns, told)
        told = spread_lists(columns, told)
        return read_table(as_table(columns, "the dataset"), labels, told)


def is_dataset(value: object) -> bool:
    """Whether ``value`` is a ``datasets.Dataset``, or a dictionary of splits of one."""
    if isinstance(value, dict):
        return bool(value) and all(is_dataset(each) for each in value.values())
    return hasattr(value, "features") and (
        hasattr(value, "with_format") or hasattr(value, "to_pandas")
    )


def _make_frame(dataset: Any) -> Any:
    if isinstance(dataset, dict):
        raise InputError(
            f"a dictionary of splits: {quote(list(dataset))}",
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


def _name_classes(
    dataset: Any, table: Table, columns: dict[str, NDArray[Any]], options: ReadOptions
) -> ReadOptions:
    """The codes of a ``ClassLabel`` as its names; -1 is how it writes a missing label."""
    label = table.find(options.label, USUAL_NAMES["label"], "label")
    features = getattr(dataset, "features", None) or {}
    names = getattr(features.get(label), "names", None)
    if label is None or names is None or options.classes is not None:
        return options
    columns[label] = to_objects([_find_class(code, names) for code in columns[label]])
    return replace(options, classes=tuple(names))


def _find_class(code: Any, names: Sequence[str]) -> str | None:
    if code is None or code != code or int(code) < 0:
        return None
    if int(code) >= len(names):
        raise InputError(
            f"label {int(code)} of a ClassLabel with {len(names)} names",
            allowed=f"0 to {len(names) - 1}, or -1 where there is no label",
            fix="check the features of the dataset",
        )
    return names[int(code)]
