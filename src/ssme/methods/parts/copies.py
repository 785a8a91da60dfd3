"""Exact copies among classifiers.

Where every classifier has draws of its own, a copy takes those of its original, so that the two
have the same numbers and remain equal in every draw.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ssme.metrics.base import FloatArray

__all__ = ["find_originals"]


def find_originals(scores: FloatArray, first_look: int = 100) -> NDArray[np.int64]:
    """For each classifier (M,) the first one that has the same ``scores`` (n, M, K) on all rows.

    Most pairs differ within ``first_look`` rows, and the others are not compared.
    """
    parts = (scores[:first_look], scores[first_look:])
    n_models = scores.shape[1]
    first = np.arange(n_models)
    for j in range(n_models):
        for i in range(j):
            if first[i] == i and all(
                np.array_equal(rows[:, i], rows[:, j], equal_nan=True) for rows in parts
            ):
                first[j] = i
                break
    return first
