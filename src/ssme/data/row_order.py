"""Series of pandas that name the same rows in another order.

Values are taken row by row, in the order in which they stand. A Series also names its rows, by its
index; where two of them name the same rows in another order, taking them row by row would put
scores beside the labels of other rows. Such a pair is refused. An index with other names, or with
names that repeat, tells nothing about the order, and arrays have none.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ssme.errors import InputError

__all__ = ["find_index", "name_same_rows", "refuse_other_order"]


def find_index(values: object) -> Any:
    """The index of a pandas Series or frame; None for anything else."""
    index = getattr(values, "index", None)
    return index if hasattr(index, "equals") and hasattr(index, "isin") else None


def name_same_rows(own: Any, theirs: Any) -> bool:
    """Whether two indexes differ although all rows of ``theirs`` are among those of ``own``."""
    if own is None or theirs is None or own.equals(theirs):
        return False
    return bool(own.is_unique and theirs.is_unique and theirs.isin(own).all())


def refuse_other_order(parts: Iterable[tuple[str, object]]) -> None:
    """Refuse Series whose index has the rows of the first one in another order.

    Parameters
    ----------
    parts : iterable of (str, object)
        What each thing is called in a message, and its values.
    """
    first: tuple[str, Any] | None = None
    for what, values in parts:
        index = find_index(values)
        if index is None:
            continue
        if first is None:
            first = what, index
        elif len(index) == len(first[1]) and name_same_rows(first[1], index):
            raise InputError(
                f"{what} are a {type(values).__name__} whose index has the rows of {first[0]} in "
                "another order",
                allowed="one value per row, in the same order everywhere",
                fix="align them by their index with reindex, or pass to_numpy() of each if they "
                "are in order",
            )
