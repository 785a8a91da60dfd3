import numpy as np
import pytest
from sklearn.neighbors import KernelDensity

from ssme.engines.kernels import KERNELS
from ssme.mixture.kde import Bandwidth, KdeClasses


def log_kde_density(points, queries, *, bandwidth, kernel="gaussian", weights=None):
    widths = np.broadcast_to(np.asarray(bandwidth, dtype=float), points.shape[1:])
    classes = KdeClasses(points, Bandwidth(widths, "fixed", "each"), kernel)
    mass = np.ones(len(points)) if weights is None else weights
    classes.update(mass[:, None])
    return classes.at(queries)[:, 0]


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_dims", [1, 2, 7])
@pytest.mark.parametrize("bandwidth", [0.05, 0.5, 3.0])
def test_equals_scikit_learn(kernel, weighted, n_dims, bandwidth) -> None:
    # One leaf: with a deeper tree scikit-learn's own bounds lose digits in the tails.
    rng = np.random.default_rng(n_dims)
    points, queries = rng.normal(size=(200, n_dims)), rng.normal(size=(40, n_dims))
    weights = rng.random(200) if weighted else None
    oracle = KernelDensity(kernel=kernel, bandwidth=bandwidth, leaf_size=200, rtol=0, atol=0)
    expected = oracle.fit(points, sample_weight=weights).score_samples(queries)
    got = log_kde_density(points, queries, bandwidth=bandwidth, kernel=kernel, weights=weights)
    reached = expected > -1e4 if kernel != "epanechnikov" else np.isfinite(got)
    np.testing.assert_allclose(got[reached], expected[reached], rtol=0, atol=1e-9)
    assert (np.isneginf(got[~reached]) | (expected[~reached] <= -1e4)).all()


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("bandwidth", [0.7, (0.4, 1.3)])
def test_integrates_to_one(kernel, bandwidth) -> None:
    rng = np.random.default_rng(0)
    points, weights = rng.normal(size=(5, 2)), rng.random(5)
    axis = np.linspace(-16, 16, 401)
    grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    log_density = log_kde_density(
        points, grid, bandwidth=np.array(bandwidth), kernel=kernel, weights=weights
    )
    cell = (axis[1] - axis[0]) ** 2
    np.testing.assert_allclose(np.exp(log_density).sum() * cell, 1.0, rtol=5e-3)


@pytest.mark.parametrize("kernel", KERNELS)
def test_weight_is_repetition(kernel) -> None:
    rng = np.random.default_rng(0)
    points, queries = rng.normal(size=(30, 2)), rng.normal(size=(9, 2))
    counts = rng.integers(0, 4, 30)
    weighted = log_kde_density(points, queries, bandwidth=1.0, kernel=kernel, weights=counts * 1.0)
    repeated = log_kde_density(
        np.repeat(points, counts, axis=0), queries, bandwidth=1.0, kernel=kernel
    )
    np.testing.assert_allclose(weighted, repeated, atol=1e-12)


@pytest.mark.parametrize("kernel", KERNELS)
def test_order_of_points_and_scale_of_units(kernel) -> None:
    rng = np.random.default_rng(0)
    points, queries, h = rng.normal(size=(50, 3)), rng.normal(size=(9, 3)), np.array([2.0, 1.5, 1])
    base = log_kde_density(points, queries, bandwidth=h, kernel=kernel)
    shuffled = log_kde_density(rng.permutation(points), queries, bandwidth=h, kernel=kernel)
    np.testing.assert_allclose(shuffled, base, atol=1e-12)
    units, shift = np.array([1e3, 1e-2, 7.0]), np.array([5.0, -1.0, 2.0])
    moved = log_kde_density(
        points * units + shift, queries * units + shift, bandwidth=h * units, kernel=kernel
    )
    np.testing.assert_allclose(moved, base - np.log(units).sum(), atol=1e-9)


@pytest.mark.parametrize("kernel", KERNELS)
def test_missing_coordinates_give_the_marginal_of_the_rest(kernel) -> None:
    rng = np.random.default_rng(0)
    points = rng.normal(size=(40, 3))
    points[:10, 2] = np.nan
    queries = np.array([[0.1, -0.2, np.nan], [0.1, -0.2, 0.3], [np.nan] * 3])
    classes = KdeClasses(points, Bandwidth(np.full(3, 1.5), "fixed", "each"), kernel)
    classes.update(np.ones((40, 1)))
    got = classes.at(queries)[:, 0]
    two = log_kde_density(points[:, :2], queries[:1, :2], bandwidth=1.5, kernel=kernel)[0]
    three = log_kde_density(points[10:], queries[1:2], bandwidth=1.5, kernel=kernel)[0]
    np.testing.assert_allclose(got, [two, three, 0.0], atol=1e-12)


def test_coordinates_never_observed_together_tell_nothing() -> None:
    points = np.array([[0.0, np.nan], [np.nan, 1.0], [0.5, np.nan]])
    classes = KdeClasses(points, Bandwidth(np.ones(2), "fixed", "each"))
    classes.update(np.ones((3, 2)))
    got = classes.at(np.array([[0.0, 1.0]]))
    np.testing.assert_array_equal(got, [[0.0, 0.0]])
