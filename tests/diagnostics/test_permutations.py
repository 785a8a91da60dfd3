"""Samples of shuffles have equal chances, and tests made of their sums are the plain ones."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import chisquare

from ssme.diagnostics.significance import (
    compute_p_value,
    draw_samples,
    run_class_test,
    run_classifier_test,
    sum_samples,
)

PERMUTATIONS = 19


@pytest.mark.parametrize(("a", "n"), [(1, 4), (2, 6), (4, 6), (6, 6)])
def test_every_sample_has_the_same_chance(a: int, n: int) -> None:
    labeled = np.random.default_rng(0).permutation(np.arange(n) < a)
    samples = draw_samples(labeled, np.random.default_rng(1), 3_000)
    assert samples[0].tolist() == np.flatnonzero(labeled).tolist()
    every = {frozenset(rows): 0 for rows in combinations(range(n), a)}
    for rows in samples[1:].tolist():
        every[frozenset(rows)] += 1
    assert sum(every.values()) == 3_000
    if len(every) > 1:
        assert chisquare([*every.values()]).pvalue > 0.001


def test_sums_are_those_of_the_rows_in_each_sample() -> None:
    rng = np.random.default_rng(2)
    values = rng.normal(size=(9, 3))
    samples = draw_samples(np.arange(9) < 4, rng, 5)
    plain = [[sum(values[i, d] for i in rows) for d in range(3)] for rows in samples]
    np.testing.assert_allclose(sum_samples(values, samples), plain)


def test_p_value_counts_the_data_and_what_is_as_extreme() -> None:
    assert compute_p_value(np.array([2.0, 1.0, 2.0, 3.0])) == 0.75
    assert compute_p_value(np.array([4.0, 1.0, 2.0, 3.0])) == 0.25


def correlate_plainly(x: np.ndarray, member: np.ndarray) -> float:
    """Of membership with what a ridge regression tells of each row without that row."""
    n, share = len(x), member.mean()
    gram = x.T @ x / n + 0.1 * np.eye(x.shape[1])
    hat = x @ np.linalg.solve(gram, x.T) / n + 1.0 / n
    told = np.array(
        [
            (hat[i] @ member - hat[i, i] * member[i]) / (1.0 - hat[i, i])
            - (member.sum() - member[i]) / (n - 1)
            for i in range(n)
        ]
    )
    centered = member - share
    return float(told @ centered / np.sqrt((told @ told) * (centered @ centered)))


@pytest.mark.parametrize(("a", "n", "apart"), [(8, 40, 0.8), (25, 45, 0.3)])
def test_classifier_test_leaves_out_each_row_in_turn(a: int, n: int, apart: float) -> None:
    rng = np.random.default_rng(a)
    labeled = rng.permutation(np.arange(n) < a)
    x = rng.normal(size=(n, 4)) + apart * labeled[:, None]
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    found, p = run_classifier_test(x, labeled, np.random.default_rng(5), PERMUTATIONS)
    samples = draw_samples(labeled, np.random.default_rng(5), PERMUTATIONS)
    values = [correlate_plainly(x, np.isin(np.arange(n), rows) * 1.0) for rows in samples]
    assert found == pytest.approx(values[0], rel=1e-9)
    assert p == np.mean(np.array(values) >= values[0] - 1e-12)


@pytest.mark.parametrize(("a", "n", "apart"), [(8, 40, 0.6), (25, 45, 0.1)])
def test_class_test_is_the_largest_difference_of_means(a: int, n: int, apart: float) -> None:
    rng = np.random.default_rng(a)
    labeled = rng.permutation(np.arange(n) < a)
    pool = rng.random((n, 3)) + apart * labeled[:, None]
    found, p = run_class_test(pool, labeled, np.random.default_rng(5), PERMUTATIONS)

    def find_largest(rows: np.ndarray) -> float:
        first = np.isin(np.arange(n), rows)
        gap = pool[first].mean(axis=0) - pool[~first].mean(axis=0)
        return float(np.max(np.abs(gap) / pool.std(axis=0) / np.sqrt(1 / a + 1 / (n - a))))

    samples = draw_samples(labeled, np.random.default_rng(5), PERMUTATIONS)
    values = [find_largest(rows) for rows in samples]
    assert found == pytest.approx(values[0], rel=1e-9)
    assert p == np.mean(np.array(values) >= values[0] - 1e-12)
