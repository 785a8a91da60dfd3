"""Arrow columns as numpy arrays, without a copy where numbers have no holes.

pyarrow's own ``to_numpy`` imports pandas, which takes longer than reading ten million scores; the
DLPack protocol does not. Only what it cannot carry (text, booleans) goes the long way.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ssme.data.values import EXACT_INTEGER, to_float64, to_objects

__all__ = ["decode", "from_arrow"]


def decode(column: Any) -> Any:
    """A ``ChunkedArray`` without its dictionary or run-length encoding; a null is a null.

    A null may stand among the indices or in the dictionary they point into, and every chunk may
    have a dictionary of its own.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_run_end_encoded(column.type):
        column = pc.run_end_decode(column)
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def from_arrow(column: Any) -> NDArray[Any]:
    """A pyarrow ``ChunkedArray``: numbers with NaN where null, else objects with None.

    Whole numbers that have holes and are too large to be exact as floating-point numbers stay
    whole, as Python objects. Numbers of 32 or 16 bits are decimals (`to_float64`), also in lists.
    """
    import pyarrow as pa

    column = decode(column)
    if pa.types.is_floating(column.type):
        return _read_numbers(column)
    if pa.types.is_integer(column.type):
        exact = column.null_count == 0 or _is_exact(column)
        return _read_numbers(column) if exact else to_objects(column.to_pylist())
    if pa.types.is_boolean(column.type) or _is_text(column.type):
        return np.asarray(column.to_numpy(zero_copy_only=False), dtype=_choose_dtype(column))
    if pa.types.is_nested(column.type) and column.type.num_fields == 1:
        kind = column.type.field(0).type
        if pa.types.is_float32(kind) or pa.types.is_float16(kind):
            return _read_lists(column)
    return to_objects(column.to_pylist())


def _read_lists(column: Any) -> NDArray[np.object_]:
    """A column of lists of numbers; None where null."""
    import pyarrow.compute as pc

    sizes = from_arrow(pc.fill_null(pc.list_value_length(column), 0))
    flat, valid = from_arrow(pc.list_flatten(column)), from_arrow(column.is_valid())
    ends = np.cumsum(sizes)
    return to_objects(
        [
            flat[end - size : end].tolist() if known else None
            for known, size, end in zip(valid, sizes, ends, strict=True)
        ]
    )


def _read_numbers(column: Any) -> NDArray[Any]:
    import pyarrow.compute as pc

    if column.null_count == 0:
        whole = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
        dense: NDArray[Any] = np.from_dlpack(whole)
        return to_float64(dense)
    numbers: NDArray[Any] = np.full(len(column), np.nan)
    present = np.from_dlpack(pc.indices_nonzero(column.is_valid()))
    numbers[present] = to_float64(np.from_dlpack(column.drop_null().combine_chunks()))
    return numbers


def _is_exact(column: Any) -> bool:
    import pyarrow.compute as pc

    ends = pc.min_max(column).as_py()
    return ends["min"] is None or -EXACT_INTEGER <= ends["min"] <= ends["max"] <= EXACT_INTEGER


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    return bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )


def _choose_dtype(column: Any) -> Any:
    import pyarrow as pa

    return bool if pa.types.is_boolean(column.type) and column.null_count == 0 else object
