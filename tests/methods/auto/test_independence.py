"""How far classifiers err independently is told without labels."""

from __future__ import annotations

import numpy as np
import pytest

from ssme.methods.auto.constants import Constants
from ssme.methods.auto.pool import add_evidence, clip_scores, measure_correlation
from ssme.metrics.base import FloatArray

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
    return measure_correlation(q, add_evidence(q), weights, OF.independence)


def test_it_is_zero_under_the_posterior_of_independent_classifiers() -> None:
    assert abs(correlation(simulated(200_000, 3))) < 0.01
    assert abs(correlation(simulated(20_000, 6, share=0.1))) < 0.05


@pytest.mark.parametrize("shared", [0.4, 0.9])
def test_classifiers_that_err_together_have_more(shared: float) -> None:
    assert correlation(simulated(5000, 6, shared=shared)) > 0.15


def test_a_pair_counts_by_the_standing_of_both() -> None:
    q = simulated(20_000, 4, shared=0.6)
    q[:, 3] = q[::-1, 3]
    alone = correlation(q, np.array([1 / 3, 1 / 3, 1 / 3, 0.0]))
    assert correlation(q) < 0.7 * alone


def test_constant_classifiers_tell_nothing() -> None:
    assert np.isnan(correlation(np.full((100, 4, 2), 0.5)))
