"""Two classes by columns: the same center as the general model."""

from __future__ import annotations

import numpy as np
import pytest

from ssme.methods.auto.constants import ALL_POOLS
from ssme.methods.auto.model import compute_posterior, find_blocks
from ssme.methods.auto.pool import (
    PoolRule,
    _compute_binary_median,
    _log_pool,
    _sort_lines,
    clip_scores,
    compute_binary_posterior,
    find_present,
    log_pool,
    pool_binary_log_odds,
)


@pytest.mark.parametrize("n_models", [1, 2, 3, 5, 8])
def test_columns_give_the_general_center(n_models: int) -> None:
    rng = np.random.default_rng(n_models)
    p = rng.beta(0.3, 0.3, size=(400, n_models))
    scores = np.stack([1 - p, p], axis=2)
    q, present = clip_scores(scores, 1e-4), find_present(scores)
    standing, weights = rng.dirichlet(np.ones(n_models), 2)
    theta = 0.3 * rng.normal(size=60)
    theta[find_blocks(n_models, 2)["c"].start :] = 0.0
    lines = np.ascontiguousarray(q[:, :, 1].T)
    if n_models > 1:
        general = _log_pool(q, present, standing, weights, ALL_POOLS)
        odds = pool_binary_log_odds(lines, standing, weights)
        np.testing.assert_allclose(odds, general[:, 1] - general[:, 0], atol=1e-10)
        np.testing.assert_allclose(log_pool(q, present, standing, weights), general, atol=1e-10)
    log_share = np.log([0.9, 0.1])
    log_pi = log_pool(q, present, standing, weights)
    expected = compute_posterior(q, log_pi, log_share, theta)[:, 1]
    found = compute_binary_posterior(lines, PoolRule(standing, weights, log_share), theta)
    np.testing.assert_allclose(found, expected, atol=1e-10)


@pytest.mark.parametrize("n_models", [2, 3, 8, 17])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_sorting_with_numbers_in_the_last_bits_is_a_plain_sort(
    n_models: int, dtype: type[np.floating]
) -> None:
    """Classifier numbers ride in the mantissas; the slow way sorts values and weights."""
    rng = np.random.default_rng(0)
    q = np.clip(rng.random((n_models, 300)), 1e-4, 1.0).astype(dtype)
    values, places = _sort_lines(q)
    order = np.argsort(q, axis=0, kind="stable")
    tolerance = 64.0 * np.finfo(dtype).eps
    np.testing.assert_allclose(np.stack(values), np.take_along_axis(q, order, 0), rtol=tolerance)
    gaps = np.diff(np.take_along_axis(q, order, 0), axis=0)
    apart = (gaps > tolerance).all(axis=0)
    assert apart.sum() > 250
    np.testing.assert_array_equal(np.stack(places)[:, apart], order[:, apart])


@pytest.mark.parametrize("n_models", [2, 5, 8])
def test_log_odds_of_the_pool_one_row_at_a_time(n_models: int) -> None:
    rng = np.random.default_rng(1)
    q = np.clip(rng.beta(0.4, 0.4, (n_models, 40)), 1e-4, 1.0 - 1e-4)
    standing, weights = rng.dirichlet(np.ones(n_models), 2)

    def logit(p: float) -> float:
        return float(np.log(p / (1.0 - p)))

    for i, found in enumerate(pool_binary_log_odds(q, standing, weights)):
        total = 0.0
        for w in (standing, weights):
            order = np.argsort(q[:, i])
            middle = np.cumsum(w[order]) - w[order] / 2.0
            median = float(np.interp(0.5, middle, q[order, i]))
            logs = sum(w[j] * logit(q[j, i]) for j in range(n_models))
            total += logit(float(w @ q[:, i])) + logs + logit(median)
        assert found == pytest.approx(total / 6.0, abs=1e-9)


@pytest.mark.parametrize("n_models", [2, 3, 7, 16, 33])
def test_tied_scores_have_the_weighted_median_of_a_plain_sort(n_models: int) -> None:
    """Where scores are equal the numbers in the last bits decide the order, which must not show."""
    rng = np.random.default_rng(n_models)
    q = np.round(rng.beta(0.4, 0.4, size=(n_models, 300)), 1).clip(1e-4, 1 - 1e-4)
    weights = rng.dirichlet(np.ones(n_models)) + 1e-3
    weights /= weights.sum()
    values, places = _sort_lines(q)
    np.testing.assert_allclose(np.stack(values), np.sort(q, axis=0), rtol=1e-13)
    expected = []
    for row in q.T:
        order = sorted(range(n_models), key=lambda j: row[j])
        middles = np.cumsum(weights[order]) - 0.5 * weights[order]
        expected.append(float(np.interp(0.5, middles, row[order])))
    found = _compute_binary_median(values, [weights[at] for at in places])
    np.testing.assert_allclose(found, expected, rtol=1e-10)
