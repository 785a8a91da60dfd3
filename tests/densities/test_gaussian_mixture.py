"""Gaussian mixtures and truncated normals."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import multivariate_normal

from ssme.mixture.gaussian_mixture import (
    COVARIANCES,
    GaussianClasses,
    Normal,
    differentiate_truncated_normal,
    log_truncated_normal,
)


@pytest.fixture
def rows() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    points = rng.normal(size=(300, 3)) @ np.array([[1.0, 0.4, 0.0], [0.0, 1.0, 0.2], [0, 0, 2.0]])
    return points, rng.dirichlet([1.0, 1.0], size=300)


def test_full_without_shrinkage_is_the_weighted_mean_and_covariance(rows) -> None:
    points, weights = rows
    fitted = GaussianClasses(points, shrinkage=0.0)
    log_density = fitted.update(weights)
    for k in range(2):
        mean = np.average(points, axis=0, weights=weights[:, k])
        covariance = np.cov(points.T, aweights=weights[:, k], bias=True)
        expected = multivariate_normal(mean, covariance).logpdf(points)
        np.testing.assert_allclose(log_density[:, k], expected, atol=1e-10)


@pytest.mark.parametrize("covariance", COVARIANCES)
@pytest.mark.parametrize("components", [1, 2])
def test_each_density_integrates_to_one(covariance: str, components: int) -> None:
    rng = np.random.default_rng(0)
    points = np.concatenate([rng.normal(-2, 0.5, (40, 2)), rng.normal(1, 1.0, (60, 2))])
    fitted = GaussianClasses(points, covariance, components=components, rng=rng)
    fitted.update(rng.random((100, 2)))
    axis = np.linspace(-9, 9, 181)
    grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    mass = np.exp(fitted.at(grid)).sum(axis=0) * (axis[1] - axis[0]) ** 2
    np.testing.assert_allclose(mass, 1.0, atol=1e-6)


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_weights_are_repetitions_and_units_do_not_matter(rows, covariance: str) -> None:
    points, _ = rows
    times = np.random.default_rng(1).integers(0, 4, len(points))
    repeated = np.repeat(points, times, axis=0)
    spread = np.nanvar(points, axis=0)
    by_weight = GaussianClasses(points, covariance, shrinkage=0.0, rank=1)
    by_weight.update(times[:, None].astype(float))
    by_rows = GaussianClasses(repeated, covariance, shrinkage=0.0, rank=1)
    by_rows.update(np.ones((len(repeated), 1)))
    np.testing.assert_allclose(by_weight.at(points), by_rows.at(points), atol=1e-9)

    shift, scale = 7.0, 3.0
    moved = GaussianClasses(shift + scale * points, covariance, rank=1)
    plain = GaussianClasses(points, covariance, rank=1)
    weights = np.ones((len(points), 1))
    np.testing.assert_allclose(
        moved.update(weights) + points.shape[1] * np.log(scale), plain.update(weights), atol=1e-8
    )
    assert (spread > 0).all()


def test_two_components_recover_a_known_mixture() -> None:
    rng = np.random.default_rng(3)
    n = 6000
    left = rng.random(n) < 0.3
    points = np.where(left, rng.normal(-3, 0.7, n), rng.normal(2, 1.2, n))[:, None]
    fitted = GaussianClasses(points, components=2, rng=rng)
    for _ in range(60):
        fitted.update(np.ones((n, 1)))
    grid = np.linspace(-6, 6, 200)[:, None]
    true = 0.3 * multivariate_normal(-3, 0.49).pdf(grid) + 0.7 * multivariate_normal(2, 1.44).pdf(
        grid
    )
    assert np.abs(np.exp(fitted.at(grid)[:, 0]) - true).max() < 0.012


def test_missing_coordinates_are_integrated_out(rows) -> None:
    points, weights = rows
    normal = Normal(np.array([1.0, -1.0, 0.5]), np.cov(points.T))
    holed = points.copy()
    holed[::2, 1] = np.nan
    holed[3] = np.nan
    log_prob = normal.log_prob(holed)
    seen = [0, 2]
    marginal = multivariate_normal(normal.mean[seen], normal.covariance[np.ix_(seen, seen)])
    np.testing.assert_allclose(log_prob[::2], marginal.logpdf(points[::2][:, seen]), atol=1e-10)
    assert log_prob[3] == 0.0

    fitted = GaussianClasses(holed, shrinkage=1.0)
    for _ in range(30):
        fitted.update(weights)
    complete = GaussianClasses(points, shrinkage=1.0)
    complete.update(weights)
    for k in range(2):
        close = fitted.list_normals()[k].covariance - complete.list_normals()[k].covariance
        assert np.abs(close).max() < 0.35


def test_a_class_without_weight_has_no_density(rows) -> None:
    points, _ = rows
    weights = np.stack([np.ones(len(points)), np.zeros(len(points))], axis=1)
    assert np.isneginf(GaussianClasses(points).update(weights)[:, 1]).all()


def test_low_rank_has_that_many_axes_and_one_noise() -> None:
    rng = np.random.default_rng(2)
    points = rng.normal(size=(500, 6)) * np.array([5.0, 4.0, 1.0, 0.9, 1.1, 1.0])
    fitted = GaussianClasses(points, "low_rank", rank=2)
    fitted.update(np.ones((500, 1)))
    values = np.linalg.eigvalsh(fitted.list_normals()[0].covariance)
    np.testing.assert_allclose(values[:4], values[0])
    assert values[4] > 5 * values[0]


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
