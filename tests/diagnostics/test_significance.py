"""The tests behind the checks against exact and simulated laws."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from ssme.diagnostics.significance import (
    compute_right_answers_tail,
    draw_samples,
    format_tail,
    run_energy_test,
)


@pytest.mark.parametrize("right", [0, 3, 15, 20])
def test_equal_chances_give_the_binomial(right: int):
    assert compute_right_answers_tail(right, np.full(20, 0.7)) == pytest.approx(
        binom.cdf(right, 20, 0.7)
    )


def test_unequal_chances_equal_enumeration():
    chance = np.array([0.9, 0.2, 0.6])
    at_most_one = 0.1 * 0.8 * 0.4 + 0.9 * 0.8 * 0.4 + 0.1 * 0.2 * 0.4 + 0.1 * 0.8 * 0.6
    assert compute_right_answers_tail(1, chance) == pytest.approx(at_most_one)


def test_the_normal_tail_takes_over_smoothly_for_many_rows():
    chance = np.random.default_rng(0).uniform(0.5, 1.0, 301)
    right = int(chance.sum()) - 10
    exact = (
        compute_right_answers_tail(right, chance[:300]),
        compute_right_answers_tail(right, chance),
    )
    assert exact[0] == pytest.approx(exact[1], abs=0.03)
    assert compute_right_answers_tail(400, np.ones(400)) == 1.0
    assert compute_right_answers_tail(399, np.ones(400)) == 0.0


def test_a_wrong_answer_given_for_certain_is_not_said_to_have_probability_zero():
    certain = np.array([1.0] * 5 + [0.9] * 5)
    assert compute_right_answers_tail(4, certain) == 0.0
    assert format_tail(compute_right_answers_tail(4, certain)) == "p < 1e-12"
    assert format_tail(2.3e-10) == "p = 2e-10"


def test_energy_test_keeps_its_level_and_finds_a_shift():
    rng = np.random.default_rng(2)
    same = [run_energy_test(rng.random((20, 3)), rng.random((80, 3)), rng)[1] for _ in range(200)]
    assert np.mean(np.array(same) < 0.05) < 0.1
    distance, p = run_energy_test(rng.random((20, 3)) + 0.5, rng.random((80, 3)), rng)
    assert p == pytest.approx(1 / 400)
    assert distance > 0.0


@pytest.mark.parametrize(("a", "b"), [(6, 70), (20, 30)])
def test_energy_test_is_the_plain_mean_of_distances(a: int, b: int) -> None:
    """Both ways to sum, for a small and for a large first sample, and the p-value by counting."""
    rng = np.random.default_rng(a)
    points = rng.random((a + b, 3))
    points[:a] += 0.2

    def distance(member):
        one, two = points[member], points[~member]

        def mean(x, y):
            return np.mean([[np.sqrt(((p - q) ** 2).sum()) for q in y] for p in x])

        return 2 * mean(one, two) - mean(one, one) - mean(two, two)

    found, p = run_energy_test(points[:a], points[a:], np.random.default_rng(1), permutations=9)
    member = np.arange(a + b) < a
    shuffled = draw_samples(member, np.random.default_rng(1), 9)[1:]
    drawn = [distance(np.isin(np.arange(a + b), rows)) for rows in shuffled]
    assert found == pytest.approx(distance(member), rel=1e-9)
    assert p == (1 + sum(each >= distance(member) for each in drawn)) / 10
