import numpy as np
import pytest
from benchmarks.datasets.synthetic import gaussian_set
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from ssme.data.scoreset import UNLABELED, ScoreSet
from ssme.errors import UnsupportedError
from ssme.methods.estimators.ensemble import PseudoLabel


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
