import warnings

import numpy as np
import pytest
from sklearn.neighbors import KernelDensity

from ssme.mixture.kde import (
    BANDWIDTH_RULES,
    Bandwidth,
    KdeClasses,
    isj,
    public_code,
    select_bandwidth,
    silverman,
)
from ssme.mixture.kernels import KERNELS


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


def test_public_code_rule_is_a_quarter_of_the_normal_reference() -> None:
    x = np.random.default_rng(0).standard_t(3, size=500)
    spread = min(x.std(ddof=1), np.subtract(*np.percentile(x, [75, 25])) / 1.349)
    expected = (4 / 3) ** 0.2 * spread * 500**-0.2 / 4
    np.testing.assert_allclose(public_code(x), expected, rtol=1e-12)


@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e5])
def test_isj_near_the_optimum_on_normal_data(scale) -> None:
    n = 2000
    optimum = (4 / 3) ** 0.2 * n**-0.2 * scale
    found = [isj(scale * np.random.default_rng(s).normal(3, 1, n)) for s in range(20)]
    np.testing.assert_allclose(np.mean(found), optimum, rtol=0.05)


def test_isj_sees_two_modes_where_silverman_does_not() -> None:
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(-10, 1, 500), rng.normal(10, 1, 500)])
    optimum = (4 / 3) ** 0.2 * 500**-0.2
    assert silverman(x) > 5 * optimum
    np.testing.assert_allclose(isj(x), optimum, rtol=0.15)


def test_few_distinct_values_fall_back_to_silverman_and_say_so() -> None:
    x = np.repeat([0.0, 1.0, 2.0], 100)[:, None]
    chosen = select_bandwidth(x, "isj")
    assert chosen.fallbacks == (0,)
    np.testing.assert_allclose(chosen.values, silverman(x[:, 0]))


def test_smallest_and_each_dimension() -> None:
    points = np.random.default_rng(0).normal(size=(300, 3)) * [1.0, 10.0, 0.1]
    each = select_bandwidth(points, "silverman", across="each").values
    assert len(set(each)) == 3
    np.testing.assert_array_equal(select_bandwidth(points, "silverman").values, [each.min()] * 3)


def test_constant_and_missing_dimensions_do_not_decide() -> None:
    points = np.random.default_rng(0).normal(size=(300, 3))
    points[:, 1] = 4.2
    points[:, 2] = np.nan
    points[:7, 0] = np.nan
    alone = silverman(points[7:, 0])
    np.testing.assert_allclose(select_bandwidth(points, "silverman").values, alone)
    each = select_bandwidth(points, "silverman", across="each").values
    np.testing.assert_allclose(each, [alone, 1.0, 1.0])


@pytest.mark.parametrize("rule", BANDWIDTH_RULES)
@pytest.mark.parametrize("scale", [1e-310, 1e-200, 1e200])
def test_any_scale_of_the_points_and_weights_gives_the_same_bandwidth_in_its_units(
    rule: str, scale: float
) -> None:
    x = np.random.default_rng(0).standard_normal((50, 1))
    weights = np.random.default_rng(1).random(50)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        usual = select_bandwidth(x, rule, weights=weights).values[0]
        scaled = select_bandwidth(x * scale, rule, weights=weights * 1e-300).values[0]
    assert scaled == pytest.approx(max(usual * scale, 1e-150), rel=1e-4)


@pytest.mark.parametrize("rule", BANDWIDTH_RULES)
@pytest.mark.parametrize("values", [[0.0, 1.0], [0.0] * 20 + [1.0], [-700.0, 0.0, 700.0] * 5])
def test_few_distinct_values_give_a_bandwidth_without_a_warning(
    rule: str, values: list[float]
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = select_bandwidth(np.array(values)[:, None], rule).values[0]
    assert 0.0 < found < np.ptp(values)


@pytest.mark.parametrize("rule", ["isj", "silverman", "scott"])
def test_points_of_no_weight_are_not_there(rule) -> None:
    rng = np.random.default_rng(2)
    points, weights = rng.normal(size=(200, 1)), rng.random(200)
    alone = select_bandwidth(points, rule, weights=weights).values
    points, weights = np.append(points, [[50.0]], axis=0), np.append(weights, 0.0)
    np.testing.assert_allclose(select_bandwidth(points, rule, weights=weights).values, alone)
    constant = np.array([[2.0], [2.0], [2.0], [5.0]])
    told = select_bandwidth(constant, rule, weights=np.array([1.0, 1.0, 1.0, 0.0]))
    assert (told.values.tolist(), told.fallbacks) == ([1.0], ())
