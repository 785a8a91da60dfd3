"""What beliefs share: votes, labels drawn from a soft labeling, and parts of the rows."""

from __future__ import annotations

import numpy as np

from ssme import ScoreSet
from ssme.methods.beliefs import PerModelPosterior, draw_labels, draw_masses, take_part
from ssme.methods.votes import cast_votes, compute_share_correct, fill_missing
from ssme.metrics.base import one_hot_mass


def test_the_posterior_is_the_mean_of_those_that_scored_the_row() -> None:
    scores = np.full((3, 2, 2), 0.5)
    scores[1, 0] = np.nan
    data = ScoreSet.from_arrays(scores, classes=range(2))
    each = np.array([[[0.9, 0.1], [np.nan] * 2, [0.6, 0.4]], [[0.5, 0.5], [0.2, 0.8], [0.0, 1.0]]])
    belief = PerModelPosterior(data, each, 10, 5, np.random.SeedSequence(0))
    np.testing.assert_allclose(belief.posterior, [[0.7, 0.3], [0.2, 0.8], [0.3, 0.7]])


def test_batches_are_the_draws_of_one_generator_in_turn() -> None:
    soft = np.random.default_rng(0).dirichlet(np.ones(3), size=(5, 2))
    seed = np.random.SeedSequence(7)
    whole = np.concatenate(list(draw_masses(soft, 11, batch_cells=4 * soft.size, seed=seed)))
    rng = np.random.default_rng(seed)
    labels = [draw_labels(soft.reshape(-1, 3), size, rng) for size in (4, 4, 3)]
    plain = one_hot_mass(np.concatenate(labels), 3).reshape(11, 5, 2, 3)
    np.testing.assert_array_equal(whole, plain)


def test_a_part_of_the_rows_is_the_same_at_every_call_and_nested_in_larger_ones() -> None:
    rows, seed = np.arange(0, 1000, 3), np.random.SeedSequence(3)
    part = take_part(rows, 50, 1000, seed)
    assert part.size == 50
    assert np.isin(part, rows).all()
    assert (np.diff(part) > 0).all()
    np.testing.assert_array_equal(part, take_part(rows, 50, 1000, seed))
    assert np.isin(part, take_part(rows, 80, 1000, seed)).all()
    np.testing.assert_array_equal(take_part(rows, 1000, 1000, seed), rows)


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
