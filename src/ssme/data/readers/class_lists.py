"""Columns whose cells are lists of class scores, as one column per class."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ssme.data.readers.options import ReadOptions
from ssme.data.readers.tables import Table
from ssme.data.values import FloatArray, as_floats
from ssme.errors import InputError, argument
from ssme.wording import quote

__all__ = ["as_table", "spread_lists"]

LISTS = (list, tuple, np.ndarray)


def as_table(columns: dict[str, NDArray[Any]], what: str) -> Table:
    """A table of named arrays."""
    import pandas

    frame = pandas.DataFrame({name: pandas.Series(of) for name, of in columns.items()})
    return Table(frame, what)


def spread_lists(columns: dict[str, NDArray[Any]], options: ReadOptions) -> ReadOptions:
    """Columns of lists become one column per class; the options say which belong to which model.

    A column of lists that is neither named as a model nor holds numbers is left out.
    """
    for name in [name for name in columns if _holds_lists(columns[name])]:
        if name not in (options.models or ()) and not _holds_numbers(columns[name]):
            del columns[name]
    named = options.models
    models = tuple(named) if named is not None else tuple(columns)
    lists = [name for name in models if name in columns and _holds_lists(columns[name])]
    if not lists:
        return options
    if named is not None and len(lists) < len(models):
        single = [name for name in models if name not in lists]
        raise InputError(
            f"{quote(lists)} hold lists of class scores, {quote(single)} do not",
            allowed="models of one kind",
            fix="give every model a list of class scores",
        )
    spread: dict[str, dict[Any, str]] = {}
    for name in lists:
        scores = _make_matrix(columns.pop(name), name)
        classes = options.classes or range(scores.shape[1])
        if len(classes) != scores.shape[1]:
            raise InputError(
                f"column {name!r} holds lists of {scores.shape[1]} scores for {len(classes)} "
                f"classes {quote(classes)}",
                allowed="one score per class in every row",
                fix=f"list as many with {argument('classes', '[...]')} as there are scores",
            )
        spread[name] = {each: f"{name}:{each}" for each in classes}
        columns.update(zip(spread[name].values(), scores.T, strict=True))
    return replace(options, models=spread)


def _holds_lists(values: NDArray[Any]) -> bool:
    first = next((value for value in values if value is not None), None)
    return values.dtype.kind == "O" and isinstance(first, LISTS)


def _holds_numbers(values: NDArray[Any]) -> bool:
    first = next(value for value in values if isinstance(value, LISTS))
    return all(isinstance(each, int | float | np.number) for each in first)


def _make_matrix(values: NDArray[Any], name: str) -> FloatArray:
    """(n, K) scores of a column of lists; NaN where a row has none."""
    sizes = {len(value) for value in values if isinstance(value, LISTS)}
    if len(sizes) != 1:
        raise InputError(
            f"column {name!r} holds lists of lengths {sorted(sizes)}",
            allowed="one score per class in every row",
            fix="give every row as many scores as there are classes, or leave the column out with "
            f"{argument('ignore', repr(name))}",
        )
    held = np.array([isinstance(value, LISTS) for value in values])
    out: FloatArray = np.full((len(values), sizes.pop()), np.nan)
    out[held] = as_floats(list(values[held]), f"column {name!r}")
    return out
