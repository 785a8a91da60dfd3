"""What the EM loop asks of a density: refit to class weights, give log densities.

    update(W)  ->  log P(s_i | y = k) at the fitted rows, with class k fitted to weights W[:, k]
    at(points) ->  the same at other rows

A density object holds the rows it is fitted to; what does not depend on the weights (kernel
matrices, neighbors) is computed once, when it is made.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["ClassDensities", "FloatArray"]

FloatArray = NDArray[np.float64]


class ClassDensities(Protocol):
    """P(s | y = k) for every class k over the same rows."""

    def update(self, weights: FloatArray) -> FloatArray:
        """Refit to ``weights`` (n, K) and return the log densities (n, K) at the rows."""

    def at(self, points: FloatArray) -> FloatArray:
        """Log densities (m, K) at ``points`` (m, d), for the weights of the last update."""

    def describe(self) -> dict[str, Any]:
        """Facts for the result's notes: bandwidth, parameters, engine."""
