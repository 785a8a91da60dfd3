import numpy as np

from ssme.data.scoreset import ScoreSet
from ssme.methods.estimators.ensemble import MajorityVote, weigh_votes

# Classifier "a" is always right on the labeled rows, "b" half the time, "c" never.
POSITIVE = np.array(
    [[0.9, 0.9, 0.1], [0.2, 0.7, 0.9], [0.8, 0.1, 0.2], [0.6, 0.3, 0.9]],
)
SCORES = np.stack([1 - POSITIVE, POSITIVE], axis=2)


def fit(labels, **options):
    data = ScoreSet(SCORES, np.array(labels), ("a", "b", "c"), (0, 1))
    return MajorityVote(**options).fit(data, np.random.default_rng(0))


def test_votes_weigh_as_much_as_the_labeled_accuracy() -> None:
    belief = fit([1, 0, -1, -1])
    assert belief.facts.describe()["vote_weights"] == {"a": 1.0, "b": 0.5, "c": 0.0}
    np.testing.assert_allclose(belief.posterior[2:], [[1 / 3, 2 / 3], [1 / 3, 2 / 3]])


def test_without_labels_all_weigh_the_same() -> None:
    belief = fit([-1, -1, -1, -1])
    np.testing.assert_allclose(belief.posterior[:, 1], [2 / 3, 2 / 3, 1 / 3, 2 / 3])


def test_a_hard_vote_takes_the_winner() -> None:
    belief = fit([1, 0, -1, -1], hard=True)
    np.testing.assert_array_equal(belief.posterior[2:], [[0, 1], [0, 1]])


def test_voters_without_weight_decide_where_no_other_votes() -> None:
    votes = np.zeros((4, 3, 2))
    votes[0, [0, 1], [0, 1]] = 1.0  # two without weight, one each
    votes[1, 0, 1] = 1.0  # one without weight
    votes[2, [0, 2], [0, 1]] = 1.0  # the one with weight decides
    share = weigh_votes(votes, np.array([0.0, 0.0, 0.4]))
    np.testing.assert_allclose(share, [[0.5, 0.5], [0.0, 1.0], [0.0, 1.0], [0.0, 0.0]])
