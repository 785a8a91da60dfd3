import numpy as np
import pytest
from scipy.integrate import quad

from ssme.mixture.gaussian_mixture import differentiate_truncated_normal, log_truncated_normal

PARAMETERS = [(0.3, 0.2), (-0.8, 0.3), (1.9, 0.4), (0.5, 2.0)]


@pytest.mark.parametrize(("mu", "sigma"), PARAMETERS)
def test_density_integrates_to_one(mu, sigma) -> None:
    total, _ = quad(lambda x: np.exp(log_truncated_normal(np.array(x), mu, sigma)), 0.0, 1.0)
    assert total == pytest.approx(1.0, abs=1e-8)


@pytest.mark.parametrize(("mu", "sigma"), PARAMETERS)
def test_gradient_is_the_slope_of_the_log_density(mu, sigma) -> None:
    x, h = np.linspace(0.0, 1.0, 7), 1e-6
    by_mu, by_log_sigma = differentiate_truncated_normal(x, mu, sigma)

    def slope(*pair):
        up, down = (log_truncated_normal(x, *p) for p in pair)
        return (up - down) / (2 * h)

    np.testing.assert_allclose(by_mu, slope((mu + h, sigma), (mu - h, sigma)), rtol=1e-5, atol=1e-6)
    wider, narrower = sigma * np.exp(h), sigma * np.exp(-h)
    expected = slope((mu, wider), (mu, narrower))
    np.testing.assert_allclose(by_log_sigma, expected, rtol=1e-5, atol=1e-6)


def test_nothing_outside_the_interval_and_far_tails_stay_finite() -> None:
    assert np.isneginf(log_truncated_normal(np.array([-0.1, 1.1]), 0.5, 0.2)).all()
    assert np.isfinite(log_truncated_normal(np.array([0.0, 1.0]), -40.0, 1.0)).all()
