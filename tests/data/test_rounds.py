"""Labels that came in rounds stand for all rows, without bias."""

from __future__ import annotations

import numpy as np
import pytest

from ssme.data.design import LabelRounds
from ssme.methods.labeled import compute_lure_weights
from ssme.results.suggest import draw_spread, set_probabilities


def rounds(chance: dict[int, float], number: dict[int, int], n: int = 10) -> LabelRounds:
    probability, rank = np.full(n, np.nan), np.zeros(n, dtype=np.int64)
    for row, value in chance.items():
        probability[row] = value
    for row, value in number.items():
        rank[row] = value
    return LabelRounds(probability, rank)


def labels_of(rows: list[int], n: int = 10) -> np.ndarray:
    labels = np.full(n, -1)
    labels[rows] = 0
    return labels


def test_labels_drawn_at_random_in_two_rounds_all_count_the_same() -> None:
    came = rounds({5: 2 / 7, 6: 2 / 7}, {5: 1, 6: 1})
    weights = came.compute_weights(labels_of([0, 1, 2, 5, 6]))
    np.testing.assert_allclose(weights[[0, 1, 2, 5, 6]], 2.0)
    assert weights.sum() == pytest.approx(10.0)


def test_rounds_of_one_row_each_give_the_weights_of_lure() -> None:
    order, chance = [3, 8, 0], [0.3, 0.05, 0.2]
    came = rounds(
        dict(zip(order, chance, strict=True)), {row: t + 1 for t, row in enumerate(order)}
    )
    weights = came.compute_weights(labels_of(order))
    expected = compute_lure_weights(np.array(chance), 10) * 10 / 3
    np.testing.assert_allclose(weights[order], expected)


def test_totals_are_unbiased_when_the_second_round_looks_at_the_first() -> None:
    rng = np.random.default_rng(0)
    value = rng.gamma(1.0, size=30)
    truth, found = value.sum(), []
    for _ in range(4000):
        labels, number = np.full(30, -1), np.zeros(30, dtype=np.int64)
        chance = np.full(30, np.nan)
        for t, n in ((1, 5), (2, 5)):
            free = np.flatnonzero(labels < 0)
            size = np.ones(free.size) if t == 1 else value[free] ** 0.5
            p = set_probabilities(size, n, 0.2)
            drawn = draw_spread(p, np.arange(free.size), rng)
            rows = free[drawn]
            labels[rows], number[rows], chance[rows] = 0, t, p[drawn]
        found.append(float(LabelRounds(chance, number).compute_weights(labels) @ value))
    error = np.std(found) / np.sqrt(len(found))
    assert abs(np.mean(found) - truth) < 4.0 * error


def test_rows_that_were_drawn_and_not_labeled_are_missing_by_chance() -> None:
    came = rounds(dict.fromkeys(range(4), 0.4), dict.fromkeys(range(4), 1))
    np.testing.assert_allclose(came.compute_weights(labels_of([0, 1]))[:2], 5.0)
    np.testing.assert_allclose(came.compute_weights(labels_of([0, 1, 2, 3]))[:4], 2.5)
