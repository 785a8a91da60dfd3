"""Angles of elliptical slice sampling, many chains at once.

A step of a chain goes along the ellipse through its state and a draw from the prior. The angle is
drawn from a bracket of a whole turn; where it is refused, the bracket shrinks to it on its side of
zero, the state itself, and the angle is drawn anew.

Source: Murray, Adams and MacKay, "Elliptical slice sampling", AISTATS 2010.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ssme.metrics.base import FloatArray

__all__ = ["Angles"]


@dataclass(frozen=True, eq=False)
class Angles:
    """The angle (D,) of each chain and its bracket; `shrink` changes them in place."""

    angle: FloatArray
    low: FloatArray
    high: FloatArray

    @classmethod
    def draw(cls, n_chains: int, rng: np.random.Generator) -> Angles:
        """Angles uniform on the circle."""
        angle = rng.uniform(0.0, 2.0 * np.pi, n_chains)
        return cls(angle, angle - 2.0 * np.pi, angle.copy())

    def shrink(self, refused: NDArray[np.int64], rng: np.random.Generator) -> None:
        """Draw the angles of the chains ``refused`` anew from what is left of their brackets."""
        angle = self.angle[refused]
        below = angle < 0.0
        self.low[refused] = np.where(below, angle, self.low[refused])
        self.high[refused] = np.where(below, self.high[refused], angle)
        self.angle[refused] = rng.uniform(self.low[refused], self.high[refused])
