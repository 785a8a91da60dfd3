"""W of rows that were not there: the regimes' own, each with its share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from ssme.methods.auto.model import AutoPredictor


@dataclass(frozen=True)
class Fixed:
    """A regime that says the same of every row."""

    said: tuple[float, float]

    def compute_posterior(self, scores: np.ndarray, dtype: type = float) -> np.ndarray:
        return np.tile(np.array(self.said, dtype=dtype), (len(scores), 1))


@pytest.mark.parametrize(
    ("shares", "expected"), [([1.0], [0.9, 0.1]), ([0.25, 0.75], [0.375, 0.625])]
)
def test_shares_of_regimes(shares: list[float], expected: list[float]) -> None:
    regimes = (Fixed((0.9, 0.1)), Fixed((0.2, 0.8)))[: len(shares)]
    told = AutoPredictor(regimes, np.array(shares))(np.zeros((3, 1, 2)))  # type: ignore[arg-type]
    np.testing.assert_allclose(told, np.tile(expected, (3, 1)), rtol=1e-6)
