import numpy as np
import pytest

from ssme.errors import InputError
from ssme.mixture.model import draw_start, start_by_neighbors


def test_draw_is_one_hot_with_the_right_frequencies() -> None:
    guess = np.tile([0.2, 0.5, 0.3], (20000, 1))
    start = draw_start(guess, np.random.default_rng(0))
    assert set(np.unique(start)) == {0.0, 1.0}
    np.testing.assert_allclose(start.mean(axis=0), guess[0], atol=0.02)
    np.testing.assert_array_equal(start.sum(axis=1), 1.0)


def test_knn_takes_the_majority_of_the_five_nearest() -> None:
    x = np.array([0.0, 0.1, 0.2, 0.3, 0.4, 9.0, 0.15, 8.0])[:, None]
    labels = np.array([0, 0, 1, 1, 1, 0, -1, -1])
    start = start_by_neighbors(x, labels, 2)
    np.testing.assert_array_equal(start[6], [0.0, 1.0])


def test_knn_with_fewer_labels_than_neighbors_breaks_ties_to_the_nearer() -> None:
    start = start_by_neighbors(np.array([[0.0], [1.0], [0.4]]), np.array([0, 1, -1]), 2)
    np.testing.assert_array_equal(start[2], [1.0, 0.0])


def test_knn_uses_the_coordinates_that_both_rows_have() -> None:
    x = np.array([[0.0, np.nan], [5.0, 5.0], [4.0, np.nan], [np.nan, np.nan]])
    start = start_by_neighbors(np.vstack([x[:2]] * 3 + [x[2:]]), np.array([0, 1] * 3 + [-1, -1]), 2)
    np.testing.assert_array_equal(start[6], [0.0, 1.0])
    assert np.isfinite(start).all()


def test_knn_needs_labels() -> None:
    with pytest.raises(InputError, match="no labeled row"):
        start_by_neighbors(np.zeros((3, 1)), np.full(3, -1), 2)
