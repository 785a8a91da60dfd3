import numpy as np
import pytest
from scipy.optimize import check_grad
from scipy.stats import truncnorm

from ssme.methods.estimators.annotators import (
    _compute_loss,
    _start,
    compute_mixture_posterior,
    fit_truncated_mixture,
)

BOUNDS = (-1.0, 2.0), (1e-2, 2.0)
TRUE = np.array([0.1, np.log(0.25), 0.8, np.log(0.2), np.log(0.3 / 0.7)])


def sample(n, n_labeled, seed=0):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.3).astype(np.int64)
    mu, sigma = np.where(y, 0.8, 0.1), np.where(y, 0.2, 0.25)
    scores = truncnorm.rvs(-mu / sigma, (1 - mu) / sigma, mu, sigma, random_state=rng)
    return scores, np.where(np.arange(n) < n_labeled, y, -1), y


def test_gradient_is_exact() -> None:
    scores, labels, _ = sample(200, 20)
    for theta in (TRUE, np.zeros(5), np.array([-0.5, -1.0, 1.4, 0.2, 1.0])):
        error = check_grad(
            lambda t: _compute_loss(t, scores, labels)[0],
            lambda t: _compute_loss(t, scores, labels)[1],
            theta,
        )
        assert error < 1e-5


def test_recovers_the_mixture_from_few_labels() -> None:
    scores, labels, _ = sample(4000, 20)
    theta, converged = fit_truncated_mixture(scores, labels, *BOUNDS, 15_000)
    assert converged
    np.testing.assert_allclose(theta[[0, 2]], TRUE[[0, 2]], atol=0.1)
    ideal, fitted = (
        compute_mixture_posterior(scores, TRUE)[:, 1],
        compute_mixture_posterior(scores, theta)[:, 1],
    )
    assert np.abs(ideal - fitted).mean() < 0.06


def test_the_posterior_far_from_both_classes_is_finite() -> None:
    theta = np.array([0.0, np.log(0.01), 1.0, np.log(0.01), np.log(3.0)])
    told = compute_mixture_posterior(np.array([0.5, 0.499, 0.501]), theta)
    # halfway the priors decide; one thousandth to a side is 10 in the log-odds
    odds = np.log(3.0) + np.array([0.0, -10.0, 10.0])
    np.testing.assert_allclose(told[:, 1], 1 / (1 + np.exp(-odds)), rtol=1e-6)


def test_few_steps_end_unconverged_and_the_bounds_hold() -> None:
    scores, labels, _ = sample(300, 30)
    theta, ended = fit_truncated_mixture(scores, labels, (0.2, 0.6), (0.3, 0.5), 15_000)
    assert ended.converged
    assert theta[0] == pytest.approx(0.2)
    assert theta[2] == pytest.approx(0.6)
    assert np.log(0.3) - 1e-12 <= theta[[1, 3]].min() <= theta[[1, 3]].max() <= np.log(0.5) + 1e-12
    _, early = fit_truncated_mixture(scores, labels, *BOUNDS, 1)
    assert (early.converged, early.n_iter) == (False, 1)


def test_a_class_without_labels_starts_in_its_own_half() -> None:
    scores = np.array([0.1, 0.3, 0.9])
    none = _start(scores, np.full(3, -1))
    np.testing.assert_allclose(none, [0.25, np.log(0.25), 0.75, np.log(0.25), 0.0])
    zeros = _start(scores, np.array([0, 0, -1]))
    np.testing.assert_allclose(zeros, [0.2, np.log(0.1), 0.75, np.log(0.25), np.log(1 / 3)])
