"""Scoring rules against scikit-learn."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as skm
from tests.metrics.problems import Floats, Problem, many, problems

from ssme.metrics import get_metric


def log_loss(problem: Problem, scores: Floats) -> float:
    classes = np.arange(problem.n_classes)
    return skm.log_loss(problem.labels, scores, labels=classes, sample_weight=problem.weights)


def brier_score(problem: Problem, scores: Floats) -> float:
    """That of two classes is scikit-learn's, half of the sum over both classes."""
    if problem.n_classes == 2:
        return skm.brier_score_loss(
            problem.labels, scores[:, 1], pos_label=1, sample_weight=problem.weights
        )
    squares = (scores - (problem.labels[:, None] == np.arange(problem.n_classes))) ** 2
    return np.average(squares.sum(axis=1), weights=problem.weights)


@pytest.mark.parametrize("oracle", [log_loss, brier_score])
@given(problem=problems(st.integers(2, 5)))
@many
def test_losses_as_scikit_learn(oracle: Callable[..., float], problem: Problem) -> None:
    values = get_metric(oracle.__name__)(problem.scores, problem.mass)[0]
    expected = np.full(len(values), np.nan)
    if problem.weights.sum() > 0:
        expected = [oracle(problem, problem.scores[:, m]) for m in range(len(values))]
    np.testing.assert_allclose(values, expected, rtol=1e-11, atol=1e-13)


def test_a_score_of_zero_for_the_true_class_is_clipped() -> None:
    value = get_metric("log_loss")(np.array([[[1.0, 0.0]]]), np.array([[[0.0, 1.0]]]))
    assert value.item() == pytest.approx(-np.log(np.finfo(float).eps))
