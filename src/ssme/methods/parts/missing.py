"""Missing scores filled by what the row's other classifiers say.

For methods that need a full matrix (regressions, pools): a classifier without a score for a row is
given the mean score of the classifiers that have one. It then adds no information to that row.
"""

from __future__ import annotations

import numpy as np

from ssme.methods.estimators.ensemble import average_scores
from ssme.metrics.base import FloatArray

__all__ = ["fill_missing"]


def fill_missing(scores: FloatArray) -> FloatArray:
    """``scores`` (n, M, K) without NaN; unchanged where nothing is missing."""
    present = np.isfinite(scores)
    if present.all():
        return scores
    filled: FloatArray = np.where(present, scores, average_scores(scores)[:, None, :])
    return filled
