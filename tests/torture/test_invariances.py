"""What must not change a result does not, and sizes at both ends work: the whole public path.

The sets are drawn by hypothesis from a fixed seed. Orders of rows, models and classes, renamed
models and units of weights are held for every method in ``tests/contract`` and ``tests/data``;
here are the promises that need ``ssme.evaluate`` as a whole.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ssme
from ssme.arrays import FloatArray
from ssme.errors import SsmeWarning

FAST = ("labeled", "ensemble", "majority_vote", "weighted_ensemble", "auto")
QUIETLY = settings(max_examples=2, deadline=None, derandomize=True, database=None)


def made(seed: int, n: int, m: int, k: int) -> tuple[FloatArray, np.ndarray]:
    """Scores (n, M, K) of classifiers that are right more often than not, and labels for some."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % k
    logits = 1.5 * (y[:, None, None] == np.arange(k)) + rng.normal(size=(n, m, k))
    scores = np.exp(logits)
    return scores / scores.sum(axis=2, keepdims=True), np.where(
        np.arange(n) < max(n // 3, k), y, -1
    )


def table(method: str, scores: FloatArray, labels: np.ndarray, **options: Any) -> dict[str, Any]:
    """{model: (estimate, low, high, labels_only)} of the accuracy."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SsmeWarning)
        result = ssme.evaluate(
            scores, labels, method=method, metrics="accuracy", unlabeled=-1, **options
        )
    kept = ("estimate", "low", "high", "labels_only")
    return {row["model"]: np.array([row[name] for name in kept]) for row in result.rows()}


sets = st.builds(
    made, st.integers(0, 99), st.integers(24, 60), st.integers(2, 4), st.integers(2, 3)
)


@pytest.mark.parametrize("method", FAST)
@QUIETLY
@given(data=sets)
def test_an_exact_copy_has_the_numbers_of_its_original(
    method: str, data: tuple[FloatArray, np.ndarray]
) -> None:
    scores, labels = data
    twice = np.concatenate([scores, scores[:, :1]], axis=1)
    found = list(table(method, twice, labels).values())
    np.testing.assert_allclose(found[-1], found[0], rtol=0, atol=1e-9)


@QUIETLY
@given(data=sets)
def test_a_copy_changes_nothing_for_the_others_where_labels_alone_speak(
    data: tuple[FloatArray, np.ndarray],
) -> None:
    scores, labels = data
    alone = list(table("labeled", scores, labels).values())
    beside = list(table("labeled", np.concatenate([scores, scores[:, :1]], 1), labels).values())
    np.testing.assert_array_equal(beside[:-1], alone)


@pytest.mark.parametrize("method", ["labeled", "ensemble", "majority_vote"])
@QUIETLY
@given(data=sets, seed=st.integers(0, 99))
def test_a_weight_is_a_number_of_equal_rows(
    method: str, data: tuple[FloatArray, np.ndarray], seed: int
) -> None:
    scores, labels = data
    times = np.random.default_rng(seed).integers(1, 4, len(labels))
    weighted = table(method, scores, labels, weights=times)
    repeated = table(method, np.repeat(scores, times, axis=0), np.repeat(labels, times))
    for model, numbers in weighted.items():
        assert abs(numbers[0] - repeated[model][0]) < (1e-9 if method == "labeled" else 0.03)
        assert abs(numbers[3] - repeated[model][3]) < 1e-9


SIZES = {
    "a row a class": (2, 1, 2),
    "a row of three classes": (3, 2, 3),
    "one model": (60, 1, 2),
    "100 models": (120, 100, 2),
    "40 classes": (100, 2, 40),
    "200 classes": (400, 2, 200),
}
SLOW = {("auto", "200 classes")}
"""Takes ten seconds and more."""


@pytest.mark.parametrize(
    ("method", "n", "m", "k"),
    [
        pytest.param(method, *shape, id=f"{method}, {size}")
        for method in FAST
        for size, shape in SIZES.items()
        if (method, size) not in SLOW
    ],
)
def test_both_ends_of_sizes(method: str, n: int, m: int, k: int) -> None:
    found = table(method, *made(0, n, m, k))
    assert len(found) == m
    for estimate, low, high, labels_only in found.values():
        assert 0.0 <= low <= estimate <= high <= 1.0
        assert 0.0 <= labels_only <= 1.0


@pytest.mark.parametrize("method", FAST)
@pytest.mark.parametrize("tiny", [1e-300, 5e-324, 0.0])
def test_scores_at_the_end_of_the_numbers(method: str, tiny: float) -> None:
    scores, labels = made(1, 40, 3, 2)
    positive = np.where(scores[:, :, 1] > 0.5, 1.0, tiny)
    for estimate, low, high, _ in table(method, positive, labels).values():
        assert 0.0 <= low <= estimate <= high <= 1.0
