"""Columns of Python values as a frame: what Excel and JSON Lines files come down to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ssme.data.values import EXACT_INTEGER, to_objects

__all__ = ["make_frame"]


def make_frame(columns: Mapping[str, Sequence[Any]]) -> Any:
    """A pandas frame whose columns hold numbers where all values are, else the values as they are.

    None is missing. Whole numbers stay exact: a column with holes or with numbers beyond 64 bits
    keeps them as they are.
    """
    import pandas

    return pandas.DataFrame({name: _make_column(list(values)) for name, values in columns.items()})


def _make_column(values: list[Any]) -> Any:
    kinds = {type(value) for value in values if value is not None}
    if kinds == {bool} and None not in values:
        return np.array(values, dtype=bool)
    if not kinds or not kinds <= {int, float}:
        return to_objects(values)
    large = any(isinstance(value, int) and abs(value) > EXACT_INTEGER for value in values)
    if float not in kinds and None not in values and not large:
        return np.array(values, dtype=np.int64)
    if large:
        return to_objects(values)
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
