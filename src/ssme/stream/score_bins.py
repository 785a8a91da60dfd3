"""A fixed grid over [0, 1], fine at both ends, that a score is put on by looking at its bits.

The bin of a score p is read off the float32 bits of t = min(p, 1 - p): its exponent and the first
7 bits of its mantissa. So a bin is 1/128 wide relative to t (finer than 0.8 % of the odds), from
t = 2^-33 up; scores closer than that to 0 or 1 share the first or the last bin. The bin number
never falls as p grows, and `MIDDLE` is the first bin of scores that are 1/2 or more.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["MIDDLE", "N_BINS", "bin_of"]

MANTISSA_BITS = 7
OCTAVES = 32
SIDE = OCTAVES << MANTISSA_BITS
"""Bins on either side of 1/2."""
N_BINS = 2 * SIDE + 1
MIDDLE = SIDE

_DROPPED_BITS = 23 - MANTISSA_BITS
_HALF = int(np.array(0.5, dtype=np.float32).view(np.int32)) >> _DROPPED_BITS


def bin_of(score: NDArray[np.float64]) -> NDArray[np.int64]:
    """Bin (n,) of each score in [0, 1]; never smaller for a larger score."""
    tail = np.subtract(1.0, score)
    np.minimum(tail, score, out=tail)
    below_middle = tail.astype(np.float32).view(np.int32) >> _DROPPED_BITS
    below_middle -= _HALF  # 0 at one half, -SIDE at the ends
    np.maximum(below_middle, -SIDE, out=below_middle)
    low = (score < 0.5).astype(np.int32)
    np.minimum(below_middle, -low, out=below_middle)
    below_middle *= 2 * low - 1
    below_middle += MIDDLE
    return below_middle.astype(np.int64)
