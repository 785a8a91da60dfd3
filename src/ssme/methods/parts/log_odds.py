"""Log-odds of shares that may be 0 or 1.

log_odds(x) = log( x' / (1 - x') ),     x' = x cut off at ``edge`` and 1 - ``edge``
"""

from __future__ import annotations

import numpy as np

from ssme.metrics.base import FloatArray

__all__ = ["log_odds"]


def log_odds(share: FloatArray, edge: float) -> FloatArray:
    """Log-odds of each ``share``, which is first cut off at ``edge`` and 1 - ``edge``."""
    inside = np.clip(share, edge, 1.0 - edge)
    out: FloatArray = np.log(inside) - np.log1p(-inside)
    return out
