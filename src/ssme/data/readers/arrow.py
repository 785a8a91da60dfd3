"""Arrow columns as numpy arrays, without a copy where numbers have no holes.

pyarrow's own ``to_numpy`` imports pandas, which takes longer than reading ten million scores; the
DLPack protocol does not. Only what it cannot carry (text, booleans) goes the long way.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

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
    """A pyarrow ``ChunkedArray``: numbers with NaN where null, else objects with None."""
    import pyarrow as pa
    import pyarrow.compute as pc

    column = decode(column)
    floating = pa.types.is_floating(column.type)
    if not (floating or pa.types.is_integer(column.type)):
        out: NDArray[Any] = np.asarray(column.to_numpy(zero_copy_only=False))
        return out
    if column.null_count == 0:
        whole = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
        dense: NDArray[Any] = np.from_dlpack(whole)
        return dense
    numbers: NDArray[Any] = np.full(len(column), np.nan)
    present = np.from_dlpack(pc.indices_nonzero(column.is_valid()))
    numbers[present] = np.from_dlpack(column.drop_null().combine_chunks())
    return numbers
