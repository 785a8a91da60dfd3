import warnings

import numpy as np
import pytest

from ssme.mixture.kde import (
    BANDWIDTH_RULES,
    isj,
    public_code,
    select_bandwidth,
    silverman,
)


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
