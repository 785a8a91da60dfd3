"""Two classes by columns: the same center as the general model."""

from __future__ import annotations

import numpy as np
import pytest

from ssme.methods.auto.binary import binary_log_odds, binary_posterior
from ssme.methods.auto.constants import ALL_POOLS, ModelConstants
from ssme.methods.auto.model import Design
from ssme.methods.auto.pool import _log_pool, clip_scores, log_pool, present_scores


@pytest.mark.parametrize("n_models", [1, 2, 3, 5, 8])
def test_columns_give_the_general_center(n_models: int) -> None:
    rng = np.random.default_rng(n_models)
    p = rng.beta(0.3, 0.3, size=(400, n_models))
    scores = np.stack([1 - p, p], axis=2)
    q, present = clip_scores(scores, 1e-4), present_scores(scores)
    weights, theta = rng.dirichlet(np.ones(n_models)), 0.3 * rng.normal(size=60)
    lines = np.ascontiguousarray(q[:, :, 1].T)
    if n_models > 1:
        general = _log_pool(q, present, weights, ALL_POOLS)
        odds = binary_log_odds(lines, weights)
        np.testing.assert_allclose(odds, general[:, 1] - general[:, 0], atol=1e-10)
        np.testing.assert_allclose(log_pool(q, present, weights), general, atol=1e-10)
    log_share = np.log([0.9, 0.1])
    design = Design(log_pool(q, present, weights), q, log_share, ModelConstants())
    expected = design.posterior(theta, slice(None))[:, 1]
    found = binary_posterior(lines, weights, theta, log_share)
    np.testing.assert_allclose(found, expected, atol=1e-10)
