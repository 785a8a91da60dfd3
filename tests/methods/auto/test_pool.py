"""The pool of two classes by columns, and the correlation of classifiers."""

from __future__ import annotations

import numpy as np
import pytest

from ssme.arrays import FloatArray
from ssme.methods.auto.constants import Constants
from ssme.methods.auto.model import compute_posterior, find_blocks
from ssme.methods.auto.pool import (
    PoolRule,
    _compute_binary_median,
    _log_pool,
    _sort_lines,
    add_evidence,
    clip_scores,
    compute_binary_posterior,
    find_present,
    log_pool,
    measure_correlation,
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
        general = _log_pool(q, present, standing, weights)
        odds = pool_binary_log_odds(lines, standing, weights)
        np.testing.assert_allclose(odds, general[:, 1] - general[:, 0], atol=1e-10)
        np.testing.assert_allclose(log_pool(q, present, standing, weights), general, atol=1e-10)
    log_share = np.log([0.9, 0.1])
    log_pi = log_pool(q, present, standing, weights)
    expected = compute_posterior(q, log_pi, log_share, theta)[:, 1]
    found = compute_binary_posterior(lines, PoolRule(standing, weights, log_share), theta)
    np.testing.assert_allclose(found, expected, atol=1e-10)


@pytest.mark.parametrize("n_models", [2, 3, 7, 16, 33])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_order_of_classifiers_and_classes_decides_nothing_where_scores_are_tied(
    n_models: int, n_classes: int
) -> None:
    """The median of tied scores with unequal weights depended on which classifier came first."""
    rng = np.random.default_rng(n_models)
    tenths = rng.multinomial(10, np.full(n_classes, 1 / n_classes), size=(300, n_models)) / 10
    tenths[:50, 0] = np.nan
    for scores in (tenths[50:], tenths):
        q, present = clip_scores(scores, 1e-4), find_present(scores)
        standing, weights = rng.dirichlet(np.ones(n_models), 2)
        found = log_pool(q, present, standing, weights)
        order, classes = rng.permutation(n_models), np.arange(n_classes)[::-1]
        moved = log_pool(q[:, order], present[:, order], standing[order], weights[order])
        np.testing.assert_allclose(moved, found, atol=1e-12)
        turned = log_pool(q[:, :, classes], present, standing, weights)
        np.testing.assert_allclose(turned[:, classes], found, atol=1e-9)
        general = _log_pool(q, present, standing, weights)
        np.testing.assert_allclose(found, general, atol=1e-10)


@pytest.mark.parametrize("n_models", [2, 3, 7, 16, 33])
def test_tied_scores_of_equal_weights_have_the_median_of_a_plain_sort(n_models: int) -> None:
    """Where scores are equal the numbers in the last bits decide the order, which must not show."""
    rng = np.random.default_rng(n_models)
    q = np.round(rng.beta(0.4, 0.4, size=(n_models, 300)), 1).clip(1e-4, 1 - 1e-4)
    weights = np.full(n_models, 1.0 / n_models)
    values, places = _sort_lines(q)
    np.testing.assert_allclose(np.stack(values), np.sort(q, axis=0), rtol=1e-13)
    expected = []
    for row in q.T:
        order = sorted(range(n_models), key=lambda j: row[j])
        middles = np.cumsum(weights[order]) - 0.5 * weights[order]
        expected.append(float(np.interp(0.5, middles, row[order])))
    found = _compute_binary_median(values, [weights[at] for at in places])
    np.testing.assert_allclose(found, expected, rtol=1e-10)


OF = Constants()


def simulated(n: int, n_models: int, share: float = 0.5, shared: float = 0.0) -> FloatArray:
    """Calibrated binary scores (n, M, 2); ``shared`` is the correlation of the noise."""
    rng = np.random.default_rng(n_models)
    y = rng.random(n) < share
    noise = np.sqrt(shared) * rng.standard_normal((n, 1))
    noise = noise + np.sqrt(1.0 - shared) * rng.standard_normal((n, n_models))
    logit = 1.2 * (noise + 1.2 * y[:, None]) - 0.72 + np.log(share / (1.0 - share))
    p = 1.0 / (1.0 + np.exp(-logit))
    return clip_scores(np.stack([1.0 - p, p], axis=2), OF.pool.clip)


def correlation(q: FloatArray, standing: FloatArray | None = None) -> float:
    equal = np.full(q.shape[1], 1.0 / q.shape[1])
    weights = equal if standing is None else standing
    return measure_correlation(q, add_evidence(q), weights)


def test_it_is_zero_under_the_posterior_of_independent_classifiers() -> None:
    assert abs(correlation(simulated(200_000, 3))) < 0.01
    assert abs(correlation(simulated(20_000, 6, share=0.1))) < 0.05
