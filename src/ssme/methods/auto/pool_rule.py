"""A pool that is ready to use: weights, members and the class shares it is sharpened about.

Each regime has a `PoolRule` of its own. Calling it on the scores of rows gives their log pi.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ssme.methods.auto.constants import ALL_POOLS
from ssme.methods.auto.pool import log_pool
from ssme.metrics.base import FloatArray

__all__ = ["GEOMETRIC", "PoolRule", "make_equal_shares"]

GEOMETRIC = ("weighted geometric mean",)
"""The one pool of classifiers whose evidence is added up."""


@dataclass(frozen=True, eq=False)
class PoolRule:
    """How the scores of several classifiers become one score.

    ``standing`` and ``weights`` (M,) are the classifiers' weights in the plain and in the weighted
    pools, ``log_share`` (K,) is log p, and ``members`` are the pools that are averaged.
    """

    standing: FloatArray
    weights: FloatArray
    log_share: FloatArray
    members: tuple[str, ...] = ALL_POOLS

    def __call__(self, q: FloatArray, present: NDArray[np.bool_]) -> FloatArray:
        """log pi (n, K) of clipped scores ``q`` (n, M, K)."""
        return log_pool(q, present, self.standing, self.weights, self.members)


def make_equal_shares(n_classes: int) -> FloatArray:
    """log p (K,) of equally frequent classes."""
    return np.full(n_classes, -np.log(n_classes))
