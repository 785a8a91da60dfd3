from itertools import pairwise

import numpy as np
import pytest

from ssme.methods.estimators.annotators import fit_dawid_skene


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
