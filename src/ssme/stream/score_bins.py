"""A fixed grid over [0, 1], fine at both ends, that a score is put on by looking at its bits.

The bin of a score p is read off the bits of its odds p / (1 - p): their exponent and the first 7
bits of their mantissa. So a bin spans less than 0.8 % of the odds, from 2^-32 to 2^32; scores
beyond share the first or the last bin. Rounding keeps order: the bin number never falls as p
grows, and `MIDDLE`, where the odds are one, is the first bin of scores that are 1/2 or more.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["MIDDLE", "N_BINS", "find_bins"]

MANTISSA_BITS = 7
OCTAVES = 32
"""Doublings of the odds on either side of one."""
MIDDLE = OCTAVES << MANTISSA_BITS
N_BINS = 2 * MIDDLE

_DROPPED_BITS = 52 - MANTISSA_BITS
_LEAST, _MOST = 2.0**-OCTAVES, float(np.nextafter(2.0**OCTAVES, 0.0))
_FIRST = int(np.array(_LEAST).view(np.int64)) >> _DROPPED_BITS


def find_bins(score: NDArray[np.float64]) -> NDArray[np.int64]:
    """Bin (n,) of each score in [0, 1]; never smaller for a larger score."""
    odds = np.subtract(1.0, score)
    with np.errstate(divide="ignore"):
        np.divide(score, odds, out=odds)
    np.clip(odds, _LEAST, _MOST, out=odds)
    bins = odds.view(np.int64)
    bins >>= _DROPPED_BITS
    bins -= _FIRST
    return bins
