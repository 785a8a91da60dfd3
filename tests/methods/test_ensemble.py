"""Ensembles and votes of the classifiers."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.datasets.synthetic import gaussian_set
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from ssme.data.scoreset import UNLABELED, ScoreSet
from ssme.errors import UnsupportedError
from ssme.methods.ensemble import (
    Ensemble,
    MajorityVote,
    PseudoLabel,
    find_weights,
    weigh_votes,
)
from ssme.methods.votes import average_scores


def partly_labeled(n_labeled=50):
    data = gaussian_set(200, np.array([1.0, 2.0, 1.5]), rng=np.random.default_rng(0))
    return data.replace(labels=np.where(np.arange(200) < n_labeled, data.labels, UNLABELED))


def test_the_plain_ensemble_does_not_look_at_labels() -> None:
    data = partly_labeled()
    belief = Ensemble(labels=False).fit(data, np.random.default_rng(0))
    np.testing.assert_array_equal(belief.posterior, average_scores(data.scores))
    none = data.replace(labels=np.full(200, UNLABELED))
    again = Ensemble(labels=False).fit(none, np.random.default_rng(0))
    np.testing.assert_array_equal(belief.posterior, again.posterior)


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


def test_weights_maximise_the_penalised_log_score() -> None:
    likelihood = np.random.default_rng(0).beta(2, 1, (40, 3))
    weights = find_weights(likelihood, 6.0)[0]

    def score(w):
        return np.log(likelihood @ w).sum() + 2.0 * np.log(w).sum()

    for step in np.random.default_rng(1).normal(scale=0.01, size=(50, 3)):
        other = np.abs(weights + step)
        assert score(other / other.sum()) <= score(weights) + 1e-9
    np.testing.assert_allclose(weights.sum(), 1.0)


def hidden(n_labeled=40):
    data = gaussian_set(200, np.array([1.0, 2.0]), rng=np.random.default_rng(0))
    keep = np.arange(200) < n_labeled
    return data.replace(labels=np.where(keep, data.labels, UNLABELED))


def test_posterior_is_scikit_learns_prediction_on_unlabeled_rows() -> None:
    data = hidden()
    positive = data.scores[:, :, 1]
    model = LogisticRegression().fit(positive[:40], data.labels[:40])
    posterior = PseudoLabel().fit(data, np.random.default_rng(0)).posterior
    np.testing.assert_allclose(posterior[40:], model.predict_proba(positive[40:]), atol=1e-4)


def test_one_class_among_the_labels_is_refused() -> None:
    data = hidden()
    one = data.replace(labels=np.where(data.labels == 1, 1, UNLABELED))
    with pytest.raises(UnsupportedError, match="two classes"):
        PseudoLabel().fit(one, np.random.default_rng(0))


def test_nearest_neighbors_vote() -> None:
    data = hidden()
    positive = data.scores[:, :, 1]
    model = KNeighborsClassifier(7).fit(positive[:40], data.labels[:40])
    method = PseudoLabel(model="knn", n_neighbors=7)
    posterior = method.fit(data, np.random.default_rng(0)).posterior
    np.testing.assert_allclose(posterior[40:], model.predict_proba(positive[40:]))


def test_a_class_without_labels_has_no_probability() -> None:
    scores = np.random.default_rng(0).dirichlet(np.ones(3), (40, 2))
    labels = np.where(np.arange(40) < 20, scores[:, 0, :2].argmax(axis=1), UNLABELED)
    data = ScoreSet.from_arrays(scores, labels, unlabeled=UNLABELED, classes=range(3))
    posterior = PseudoLabel().fit(data, np.random.default_rng(0)).posterior
    assert posterior[:, 2].tolist() == [0.0] * 40
    np.testing.assert_allclose(posterior.sum(axis=1), 1.0)
