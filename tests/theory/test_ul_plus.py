import numpy as np
import pytest
from benchmarks.theory import ul_plus

from ssme.errors import InputError


def world(separation, n_unlabeled=4000, n_labeled=20, seed=0):
    rng = np.random.default_rng(seed)
    n = n_unlabeled + n_labeled
    y = rng.integers(0, 2, n)
    scores = rng.standard_normal((n, len(separation))) + y[:, None] * np.asarray(separation)
    return scores, np.where(np.arange(n) < n_labeled, y, -1), y


def test_separations_are_found_with_their_signs() -> None:
    truth = np.array([1.5, -0.8, 0.0, 2.0])
    scores, labels, _ = world(truth, n_unlabeled=40_000)
    fit = ul_plus(scores, labels)
    np.testing.assert_allclose(fit.separation, truth, atol=0.06)
    np.testing.assert_allclose(fit.center, truth / 2, atol=0.06)
    assert fit.converged
    assert fit.auc[1] < 0.5 < fit.auc[0]
    np.testing.assert_allclose(fit.accuracy[1], 0.345, atol=0.01)


def test_labels_decide_the_sign_and_nothing_else() -> None:
    scores, labels, _ = world([1.5, 1.0])
    flipped = np.where(labels >= 0, 1 - labels, -1)
    np.testing.assert_allclose(
        ul_plus(scores, flipped).separation, -ul_plus(scores, labels).separation
    )
    one = labels.copy()
    one[1:] = np.where(labels[1:] >= 0, labels[1:], -1)
    np.testing.assert_array_equal(
        np.abs(ul_plus(scores, labels).separation), np.abs(ul_plus(scores, one).separation)
    )


def test_labels_in_em_pull_the_separation_to_their_own() -> None:
    scores, labels, _ = world([1.5, 1.0], n_unlabeled=400, n_labeled=50)
    plain = ul_plus(scores, labels)
    shifted = np.where((labels == 1)[:, None], scores + 1.0, scores)
    pulled = ul_plus(shifted, labels, labels_in_em=True)
    np.testing.assert_allclose(ul_plus(shifted, labels).separation, plain.separation)
    assert (pulled.separation > plain.separation).all()


def test_the_error_falls_with_the_square_root_of_the_unlabeled_rows() -> None:
    truth = np.full(4, 1.0)

    def error(n_unlabeled):
        errors = []
        for seed in range(30):
            scores, labels, _ = world(truth, n_unlabeled, seed=seed)
            errors.append(np.linalg.norm(ul_plus(scores, labels).separation - truth))
        return np.mean(errors)

    assert 2.5 < error(500) / error(500 * 16) < 6.0


def test_without_a_separation_nothing_breaks() -> None:
    scores, labels, _ = world(np.zeros(3))
    assert np.isfinite(ul_plus(scores, labels).separation).all()


@pytest.mark.parametrize(
    ("scores", "labels", "message"),
    [
        (np.zeros((3, 2)), np.zeros(4), "scores have the shape"),
        (np.full((3, 2), np.nan), np.array([0, 1, -1]), "finite scores"),
        (np.zeros((3, 2)), np.array([0, 2, -1]), "labels must be 0, 1 or -1"),
        (np.zeros((3, 2)), np.full(3, -1), "0 labeled rows"),
        (np.zeros((3, 2)), np.array([0, 1, 1]), "0 unlabeled"),
    ],
)
def test_bad_input_is_refused(scores, labels, message) -> None:
    with pytest.raises(InputError, match=message):
        ul_plus(scores, labels)
