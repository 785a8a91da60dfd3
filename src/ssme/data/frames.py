"""Columns as a data frame of the library the data came in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ssme.data.values import EXACT_INTEGER

__all__ = ["make_frame"]

EAGER_LIBRARIES = ("pandas", "polars", "pyarrow")


def make_frame(columns: Mapping[str, Any], library: str = "pandas") -> Any:
    """Make a native frame from arrays or lists.

    Parameters
    ----------
    columns : dict
        From the name of a column to its values, None where a value is missing.
    library : str
        ``"pandas"``, ``"polars"`` or ``"pyarrow"``; any other gives a pandas frame.
    """
    import narwhals

    backend: Any = library if library in EAGER_LIBRARIES else "pandas"
    plain = {
        name: values.tolist() if _is_inferred(values, backend) else values
        for name, values in columns.items()
    }
    return narwhals.from_dict(plain, backend=backend).to_native()


def _is_inferred(values: Any, library: str) -> bool:
    """Whether the library may choose a type for these objects.

    pandas would round large whole numbers that stand beside missing ones; they stay objects.
    """
    if not isinstance(values, np.ndarray) or values.dtype != object:
        return False
    return library != "pandas" or not any(
        isinstance(value, int) and abs(value) > EXACT_INTEGER for value in values
    )
