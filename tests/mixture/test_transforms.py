"""Log-ratios and the nearest falling values."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.isotonic import isotonic_regression

from ssme.errors import InputError
from ssme.mixture.model import alr, clip_simplex, stack_alr
from ssme.mixture.monotone import make_falling


@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_probabilities_are_the_softmax_of_their_log_ratios(n_classes: int) -> None:
    p = np.random.default_rng(0).dirichlet(np.ones(n_classes), size=50)
    odds = np.exp(np.concatenate([alr(p), np.zeros((50, 1))], axis=1))
    np.testing.assert_allclose(odds / odds.sum(axis=1, keepdims=True), p, atol=1e-14)


def test_clip_floors_and_renormalizes() -> None:
    p = np.array([[0.0, 1.0], [1e-9, 1 - 1e-9], [0.3, 0.7]])
    clipped = clip_simplex(p, 1e-6)
    np.testing.assert_allclose(clipped.sum(axis=1), 1.0)
    np.testing.assert_allclose(clipped[:2, 0], 1e-6, rtol=1e-5)
    np.testing.assert_array_equal(clipped[2], p[2])


def test_clip_of_exact_zeros_only() -> None:
    p = np.array([[0.0, 1.0], [1e-9, 1 - 1e-9]])
    clipped = clip_simplex(p, 1e-4, only_exact=True)
    np.testing.assert_allclose(clipped[0, 0], 1e-4, rtol=1e-3)
    np.testing.assert_allclose(clipped[1, 0], 1e-9)


@pytest.mark.parametrize("eps", [0.0, 0.5, -1.0])
def test_clip_refuses_impossible_eps(eps: float) -> None:
    with pytest.raises(InputError, match="between 0 and 1/2"):
        clip_simplex(np.array([[0.5, 0.5]]), eps)


def test_stack_keeps_missing_models_missing() -> None:
    scores = np.full((2, 2, 3), 1 / 3)
    scores[0, 1] = np.nan
    points = stack_alr(scores)
    assert points.shape == (2, 4)
    np.testing.assert_array_equal(np.isnan(points[0]), [False, False, True, True])


@pytest.mark.parametrize("seed", range(5))
def test_it_is_the_isotonic_regression(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values, weights = rng.normal(size=30), rng.uniform(0.1, 5.0, size=30)
    for given in (None, weights):
        expected = isotonic_regression(values, sample_weight=given, increasing=False)
        np.testing.assert_allclose(make_falling(values, given), expected, rtol=1e-12, atol=1e-14)
