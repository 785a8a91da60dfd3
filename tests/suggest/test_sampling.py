"""Rows are drawn as often as their probabilities say, and spread."""

from __future__ import annotations

import numpy as np
import pytest

from ssme.results.suggest import draw_spread, measure_gain, set_probabilities


@pytest.mark.parametrize("n", [1, 7, 39, 40])
def test_probabilities_sum_to_the_number_and_stay_within_one(n: int) -> None:
    size = np.random.default_rng(0).gamma(0.3, size=40)
    chance = set_probabilities(size, n, 0.2)
    assert chance.sum() == pytest.approx(n)
    assert (chance <= 1.0).all()
    assert chance.min() >= 0.2 * n / 40 * (1 - 1e-9)


def test_worthless_rows_are_drawn_at_random() -> None:
    np.testing.assert_allclose(set_probabilities(np.zeros(8), 2, 0.2), 0.25)


def test_rows_are_drawn_as_often_as_said() -> None:
    rng = np.random.default_rng(1)
    chance = set_probabilities(rng.gamma(0.5, size=20), 6, 0.3)
    counts = np.zeros(20)
    for _ in range(6000):
        rows = draw_spread(chance, rng.permutation(20), rng)
        assert np.unique(rows).size == 6
        counts[rows] += 1
    error = np.sqrt(chance * (1 - chance) / 6000) + 1e-9
    assert (np.abs(counts / 6000 - chance) < 4.5 * error).all()


def test_neighbors_in_the_order_are_not_drawn_together() -> None:
    rng = np.random.default_rng(2)
    rows = np.sort(draw_spread(np.full(100, 0.1), np.arange(100), rng))
    assert np.diff(rows).tolist() == [10] * 9


def test_even_rows_gain_nothing_and_uneven_ones_do() -> None:
    even = np.ones(50)
    assert measure_gain(even, set_probabilities(even, 5, 0.2)) == pytest.approx(1.0)
    few = np.where(np.arange(1000) < 50, 1.0, 0.0)
    chance = set_probabilities(few, 10, 0.2)
    # nine in ten rows tell nothing: of ten labels eight fall on the fifty rows that do
    assert measure_gain(few, chance) == pytest.approx((1000 / 10 - 1) / (1 / chance[0] - 1))
    assert measure_gain(few, chance) > 10
    assert measure_gain(np.zeros(9), np.full(9, 1 / 3)) == 1.0
