from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import check_grad
from scipy.special import softmax
from scipy.stats import truncnorm

from ssme.methods.annotators import (
    Spe,
    _compute_loss,
    _start,
    compute_log_joint,
    fit_dawid_skene,
)


def votes(n=400, accuracy=(0.9, 0.8, 0.7, 0.6), seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    right = rng.random((n, len(accuracy))) < np.array(accuracy)
    return np.eye(2)[np.where(right, y[:, None], 1 - y[:, None])], y


def test_labels_turn_the_classes_the_right_way_round() -> None:
    v, y = votes(accuracy=(0.2, 0.25, 0.3, 0.35))
    blind = fit_dawid_skene(v, np.full(len(y), -1), 1e-6, 500).posterior
    told = fit_dawid_skene(v, np.where(np.arange(len(y)) < 200, y, -1), 1e-6, 500).posterior
    assert (blind.argmax(axis=1) == y).mean() < 0.3
    assert (told[200:].argmax(axis=1) == y[200:]).mean() > 0.7


def slow_em(votes, labels, steps, floor=1e-10):
    """The same EM, a row, a voter and a class at a time."""
    n, m, k = votes.shape

    def clamped(soft):
        return np.array([np.eye(k)[y] if y >= 0 else p for y, p in zip(labels, soft, strict=True)])

    def counted(soft):
        confusion = np.full((m, k, k), 1.0 / k)
        for j in range(m):
            for c in range(k):
                told = sum(soft[i, c] * votes[i, j] for i in range(n))
                if told.sum() > 0:
                    confusion[j, c] = told / told.sum()
        return soft.mean(axis=0), confusion

    cast = votes.sum(axis=1)
    soft = clamped([row / row.sum() if row.any() else row for row in cast])
    prior, confusion = counted(soft)
    for _ in range(steps):
        joint = np.tile(np.log(np.maximum(prior, floor)), (n, 1))
        for i, j, c in np.ndindex(n, m, k):
            joint[i, c] += votes[i, j] @ np.log(np.maximum(confusion[j, c], floor))
        joint = np.exp(joint - joint.max(axis=1, keepdims=True))
        soft = clamped(joint / joint.sum(axis=1, keepdims=True))
        prior, confusion = counted(soft)
    return soft, prior, confusion


@pytest.mark.parametrize("steps", [1, 2, 5])
def test_each_step_is_that_of_a_plain_loop(steps) -> None:
    """Rows with one vote, with a shared one and with none; a voter who never votes."""
    rng = np.random.default_rng(3)
    cast = np.eye(3)[rng.integers(0, 3, (12, 4))]
    cast[:3, 1:] = 0.0
    cast[3] = 0.0
    cast[4, 0] = [0.5, 0.5, 0.0]
    cast[:, 3] = 0.0
    labels = np.full(12, -1)
    labels[[5, 6]] = [0, 2]
    fit = fit_dawid_skene(cast, labels, 0.0, steps)
    soft, prior, confusion = slow_em(cast, labels, steps)
    np.testing.assert_allclose(fit.posterior, soft, atol=1e-12)
    np.testing.assert_allclose(fit.prior, prior, atol=1e-12)
    np.testing.assert_allclose(fit.confusion, confusion, atol=1e-12)
    assert (fit.n_iter, fit.converged) == (steps, False)


@pytest.mark.parametrize(("n_classes", "tol"), [(2, 1e-3), (3, 3e-3)])
def test_the_number_of_steps_is_that_of_the_first_small_one(n_classes, tol) -> None:
    """Of three classes a share may rise by more than any other falls."""
    rng = np.random.default_rng(4)
    y = rng.integers(0, n_classes, 60)
    right = rng.random((60, 4)) < np.array([0.9, 0.7, 0.6, 0.5])
    v = np.eye(n_classes)[np.where(right, y[:, None], rng.integers(0, n_classes, (60, 4)))]
    unlabeled = np.full(len(y), -1)
    fit = fit_dawid_skene(v, unlabeled, tol, 500)
    ends = [fit_dawid_skene(v, unlabeled, 0.0, fit.n_iter + step) for step in (-2, -1, 0)]
    moved = [
        max(np.abs(b.prior - a.prior).max(), np.abs(b.confusion - a.confusion).max())
        for a, b in pairwise(ends)
    ]
    assert fit.converged
    assert moved[0] >= tol > moved[1]


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
    theta, converged = Spe()._fit_mixture(scores, labels)
    assert converged
    np.testing.assert_allclose(theta[[0, 2]], TRUE[[0, 2]], atol=0.1)
    ideal, fitted = (softmax(compute_log_joint(scores, t), axis=1)[:, 1] for t in (TRUE, theta))
    assert np.abs(ideal - fitted).mean() < 0.06


def test_the_posterior_far_from_both_classes_is_finite() -> None:
    theta = np.array([0.0, np.log(0.01), 1.0, np.log(0.01), np.log(3.0)])
    told = softmax(compute_log_joint(np.array([0.5, 0.499, 0.501]), theta), axis=1)
    # halfway the priors decide; one thousandth to a side is 10 in the log-odds
    odds = np.log(3.0) + np.array([0.0, -10.0, 10.0])
    np.testing.assert_allclose(told[:, 1], 1 / (1 + np.exp(-odds)), rtol=1e-6)


def test_few_steps_end_unconverged_and_the_bounds_hold() -> None:
    scores, labels, _ = sample(300, 30)
    narrow = Spe(mean_bounds=(0.2, 0.6), deviation_bounds=(0.3, 0.5))
    theta, ended = narrow._fit_mixture(scores, labels)
    assert ended.converged
    assert theta[0] == pytest.approx(0.2)
    assert theta[2] == pytest.approx(0.6)
    assert np.log(0.3) - 1e-12 <= theta[[1, 3]].min() <= theta[[1, 3]].max() <= np.log(0.5) + 1e-12
    _, early = Spe(max_iter=1)._fit_mixture(scores, labels)
    assert (early.converged, early.n_iter) == (False, 1)


def test_a_class_without_labels_starts_in_its_own_half() -> None:
    scores = np.array([0.1, 0.3, 0.9])
    none = _start(scores, np.full(3, -1))
    np.testing.assert_allclose(none, [0.25, np.log(0.25), 0.75, np.log(0.25), 0.0])
    zeros = _start(scores, np.array([0, 0, -1]))
    np.testing.assert_allclose(zeros, [0.2, np.log(0.1), 0.75, np.log(0.25), np.log(1 / 3)])
