"""What every bandwidth rule keeps: units, shifts, order, and the meaning of weights."""

import numpy as np
import pytest

from ssme.mixture.kde import BANDWIDTH_RULES

RULES = pytest.mark.parametrize("rule", list(BANDWIDTH_RULES.values()), ids=list(BANDWIDTH_RULES))


@pytest.fixture(params=["normal", "skewed", "two modes"])
def sample(request) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(7)
    x = {
        "normal": rng.normal(size=400),
        "skewed": rng.gamma(1.5, size=400),
        "two modes": np.concatenate([rng.normal(0, 1, 300), rng.normal(9, 0.5, 100)]),
    }[request.param]
    return x, rng.random(400) + 0.1


@RULES
@pytest.mark.parametrize("scale", [1e-6, 0.01, 100.0, 1e7])
def test_scale_and_shift_equivariance(rule, sample, scale) -> None:
    x, w = sample
    np.testing.assert_allclose(rule(scale * x, None), scale * rule(x, None), rtol=1e-9)
    np.testing.assert_allclose(rule(scale * (x + 3), w), scale * rule(x, w), rtol=1e-9)
    np.testing.assert_allclose(rule(-x, w), rule(x, w), rtol=1e-9)


@RULES
def test_order_does_not_matter(rule, sample) -> None:
    x, w = sample
    order = np.random.default_rng(0).permutation(len(x))
    np.testing.assert_allclose(rule(x[order], w[order]), rule(x, w), rtol=1e-9)


@RULES
def test_weights_are_relative_and_zero_means_absent(rule, sample) -> None:
    x, w = sample
    np.testing.assert_allclose(rule(x, 40 * w), rule(x, w), rtol=1e-9)
    np.testing.assert_allclose(rule(x, np.full_like(x, 3.0)), rule(x, None), rtol=1e-9)
    inner = np.abs(x - np.median(x)) < np.abs(x - np.median(x)).max()
    np.testing.assert_allclose(rule(x, w * inner), rule(x[inner], w[inner]), rtol=1e-9)
