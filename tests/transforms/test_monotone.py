"""Falling values, against scikit-learn's isotonic regression."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.isotonic import isotonic_regression

from ssme.mixture.monotone import make_falling


@pytest.mark.parametrize("seed", range(5))
def test_it_is_the_isotonic_regression(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values, weights = rng.normal(size=30), rng.uniform(0.1, 5.0, size=30)
    for given in (None, weights):
        expected = isotonic_regression(values, sample_weight=given, increasing=False)
        np.testing.assert_allclose(make_falling(values, given), expected, rtol=1e-12, atol=1e-14)
