import numpy as np

from ssme.methods.parts.votes import cast_votes, compute_share_correct, fill_missing

SCORES = np.array(
    [
        [[0.7, 0.2, 0.1], [0.4, 0.4, 0.2]],
        [[np.nan] * 3, [0.1, 0.1, 0.8]],
    ]
)


def test_a_vote_is_the_predicted_class_and_not_cast_without_a_score() -> None:
    expected = [[[1, 0, 0], [1, 0, 0]], [[0, 0, 0], [0, 0, 1]]]
    np.testing.assert_array_equal(cast_votes(SCORES), expected)
    tied = np.array([[[0.5, 0.5], [0.6, 0.4]]])
    np.testing.assert_array_equal(cast_votes(tied), [[[0, 1], [1, 0]]])


def test_share_correct_is_the_mass_at_the_voted_class() -> None:
    right = compute_share_correct(cast_votes(SCORES), np.array([[0.0, 1.0, 0.0], [0.2, 0.3, 0.5]]))
    np.testing.assert_allclose(right, [[0.0, 0.0], [np.nan, 0.5]])


def test_missing_scores_become_the_mean_of_the_others() -> None:
    filled = fill_missing(SCORES)
    np.testing.assert_array_equal(filled[1, 0], SCORES[1, 1])
    np.testing.assert_array_equal(filled[0], SCORES[0])
    assert fill_missing(filled) is filled
