"""Scoring rules against scikit-learn, and their linearity in the mass."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as skm
from tests.metrics.problems import Problem, many, problems, random_posterior, random_problem

from ssme.metrics import get_metric


@given(problem=problems(st.integers(2, 4)))
@many
def test_log_loss_as_scikit_learn(problem: Problem) -> None:
    values = get_metric("log_loss")(problem.scores, problem.mass)[0]
    if problem.weights.sum() == 0:
        assert np.isnan(values).all()
        return
    for m, value in enumerate(values):
        expected = skm.log_loss(
            problem.labels,
            problem.scores[:, m],
            labels=np.arange(problem.n_classes),
            sample_weight=problem.weights,
        )
        np.testing.assert_allclose(value, expected, rtol=1e-11, atol=1e-13)


@given(problem=problems(st.just(2)))
@many
def test_brier_of_two_classes_as_scikit_learn(problem: Problem) -> None:
    values = get_metric("brier_score")(problem.scores, problem.mass)[0]
    if problem.weights.sum() == 0:
        assert np.isnan(values).all()
        return
    for m, value in enumerate(values):
        expected = skm.brier_score_loss(
            problem.labels,
            problem.scores[:, m, 1],
            pos_label=1,
            sample_weight=problem.weights,
        )
        np.testing.assert_allclose(value, expected, rtol=1e-11, atol=1e-13)


@given(problem=problems(st.integers(3, 5)))
@many
def test_brier_of_more_classes_sums_over_them(problem: Problem) -> None:
    values = get_metric("brier_score")(problem.scores, problem.mass)[0]
    if problem.weights.sum() == 0:
        assert np.isnan(values).all()
        return
    one_hot = problem.labels[:, None] == np.arange(problem.n_classes)
    for m, value in enumerate(values):
        squares = ((problem.scores[:, m] - one_hot) ** 2).sum(axis=1)
        expected = np.average(squares, weights=problem.weights)
        np.testing.assert_allclose(value, expected, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("name", ["log_loss", "brier_score"])
def test_the_posterior_itself_scores_best(name: str) -> None:
    """Proper: of all scores, the true conditional probability has the least expected loss."""
    rng = np.random.default_rng(14)
    posterior = random_posterior(rng, 100, 3)
    others = random_problem(15, 100, 3).scores
    scores = np.concatenate([posterior[:, None], others], axis=1)
    values = get_metric(name)(scores, posterior[None])[0]
    assert values[0] < values[1:].min()


def test_a_score_of_zero_for_the_true_class_is_clipped() -> None:
    value = get_metric("log_loss")(np.array([[[1.0, 0.0]]]), np.array([[[0.0, 1.0]]]))
    assert value.item() == pytest.approx(-np.log(np.finfo(float).eps))
