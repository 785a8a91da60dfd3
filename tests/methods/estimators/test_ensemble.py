import numpy as np
from benchmarks.datasets.synthetic import gaussian_set

from ssme.data.scoreset import UNLABELED
from ssme.methods.estimators.ensemble import Ensemble
from ssme.methods.parts.votes import average_scores


def partly_labeled(n_labeled=50):
    data = gaussian_set(200, np.array([1.0, 2.0, 1.5]), rng=np.random.default_rng(0))
    return data.replace(labels=np.where(np.arange(200) < n_labeled, data.labels, UNLABELED))


def test_labeled_rows_keep_their_label() -> None:
    data = partly_labeled()
    posterior = Ensemble().fit(data, np.random.default_rng(0)).posterior
    np.testing.assert_array_equal(posterior[:50], np.eye(2)[data.labels[:50]])
    np.testing.assert_array_equal(posterior[50:], average_scores(data.scores)[50:])


def test_the_plain_ensemble_does_not_look_at_labels() -> None:
    data = partly_labeled()
    belief = Ensemble(labels=False).fit(data, np.random.default_rng(0))
    np.testing.assert_array_equal(belief.posterior, average_scores(data.scores))
    none = data.replace(labels=np.full(200, UNLABELED))
    again = Ensemble(labels=False).fit(none, np.random.default_rng(0))
    np.testing.assert_array_equal(belief.posterior, again.posterior)
