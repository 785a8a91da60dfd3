import numpy as np
import pytest
from benchmarks.datasets.synthetic import gaussian_set

from ssme.data.scoreset import UNLABELED
from ssme.errors import InputError, UnsupportedError
from ssme.methods.labeled import ActiveTesting, acquire, compute_acquisition
from ssme.methods.votes import cast_votes
from ssme.metrics import get_metric

FULL = gaussian_set(400, np.array([1.0, 1.5, 2.0]), rng=np.random.default_rng(0))
HIDDEN = FULL.replace(labels=np.full(400, UNLABELED))
TRUTH = (FULL.scores.argmax(axis=2) == FULL.labels[:, None]).mean(axis=0)


def estimate(method, data=HIDDEN, seed=0):
    belief = method.fit(data, np.random.default_rng(seed))
    return belief.estimate([get_metric("accuracy")], [None])[0][0].value


@pytest.mark.parametrize("share", ["each", "all"])
def test_unbiased_over_seeds(share) -> None:
    method = ActiveTesting(oracle=FULL.label_values, budget=60, share=share)
    values = np.array([estimate(method, seed=seed) for seed in range(300)])
    error = values.std(axis=0) / np.sqrt(len(values))
    assert (np.abs(values.mean(axis=0) - TRUTH) < 4 * error).all()


def test_a_function_is_asked_for_no_more_rows_than_the_budget() -> None:
    asked = []

    def oracle(rows):
        asked.append(len(rows))
        return FULL.label_values[rows]

    method = ActiveTesting(oracle=oracle, budget=25)
    same = ActiveTesting(oracle=FULL.label_values, budget=25)
    np.testing.assert_array_equal(estimate(method), estimate(same))
    assert asked == [25, 25, 25]


def test_acquire_draws_in_proportion() -> None:
    proposal = np.array([0.5, 0.3, 0.2])
    rng = np.random.default_rng(0)
    draws = [acquire(proposal, 2, rng.exponential(size=3)) for _ in range(4000)]
    first = np.bincount([rows[0] for rows, _ in draws], minlength=3) / 4000
    np.testing.assert_allclose(first, proposal, atol=0.03)
    for rows, probability in draws[:50]:
        left = 1.0 - proposal[rows[0]]
        np.testing.assert_allclose(probability, [proposal[rows[0]], proposal[rows[1]] / left])


def test_nobody_to_ask_is_an_error_that_says_what_to_pass() -> None:
    with pytest.raises(UnsupportedError, match="oracle="):
        estimate(ActiveTesting())


def test_bad_answers_and_options_are_refused() -> None:
    with pytest.raises(InputError, match="oracle says 7 for row"):
        estimate(ActiveTesting(oracle=np.full(400, 7)))
    with pytest.raises(InputError, match="each of 400 rows, got 3 classes"):
        estimate(ActiveTesting(oracle=[0, 1, 0]))
    with pytest.raises(InputError, match="gives 1 classes for 100 rows"):
        estimate(ActiveTesting(oracle=lambda rows: [0]))


def test_the_odds_of_a_row_are_the_error_that_the_other_models_expect() -> None:
    scores = np.array([[0.9, 0.6, 0.3], [0.8, 0.7, 0.9], [0.6, 0.1, 0.2]])
    scores = np.stack([1.0 - scores, scores], axis=2)
    found = compute_acquisition(scores, cast_votes(scores), 0.1)
    for j in range(3):
        others = np.delete(scores, j, axis=1).mean(axis=1)
        error = 1.0 - others[np.arange(3), scores[:, j].argmax(axis=1)]
        np.testing.assert_allclose(found[:, j], 0.9 * error / error.sum() + 0.1 / 3)
    alone = compute_acquisition(scores[:, :1], cast_votes(scores[:, :1]), 0.2)[:, 0]
    error = 1.0 - scores[:, 0].max(axis=1)
    np.testing.assert_allclose(alone, 0.8 * error / error.sum() + 0.2 / 3)
