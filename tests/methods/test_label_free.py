"""cbpe, atc and agreement: accuracy from confidence and agreement."""

import numpy as np
import pytest
from benchmarks.datasets.synthetic import gaussian_set

from ssme.data.scoreset import UNLABELED, ScoreSet
from ssme.errors import UnsupportedError
from ssme.methods.label_free import (
    Agreement,
    Atc,
    Cbpe,
    find_confidence_threshold,
    measure_agreement_with_others,
)
from ssme.metrics import get_metric

FULL = gaussian_set(4000, np.array([1.0, 2.0]), rng=np.random.default_rng(0))
HIDDEN = FULL.replace(labels=np.full(4000, UNLABELED))
TRUTH = (FULL.scores.argmax(axis=2) == FULL.labels[:, None]).mean(axis=0)


def accuracy(method, data):
    belief = method.fit(data, np.random.default_rng(0))
    return belief.estimate([get_metric("accuracy")], [None])[0][0].value


def test_cbpe_is_the_mean_confidence_and_right_for_calibrated_classifiers() -> None:
    value = accuracy(Cbpe(), HIDDEN)
    np.testing.assert_allclose(value, HIDDEN.scores.max(axis=2).mean(axis=0), atol=0.003)
    np.testing.assert_allclose(value, TRUTH, atol=0.02)


def test_atc_threshold_leaves_as_many_below_as_are_wrong() -> None:
    right = np.array([1.0, 0.0, 1.0, 1.0])
    assert find_confidence_threshold(np.array([0.9, 0.6, 0.8, 0.7]), right) == (0.7, 1.0)
    assert find_confidence_threshold(np.array([0.9, 0.6, 0.6, 0.6]), right) == (
        0.6,
        pytest.approx(2 / 3),
    )
    assert find_confidence_threshold(np.array([0.9, 0.6]), np.zeros(2)) == (np.inf, 0.0)
    assert np.isnan(find_confidence_threshold(np.empty(0), np.empty(0))).all()


@pytest.mark.parametrize("confidence", ["top", "entropy"])
def test_atc_finds_the_accuracy_from_labels(confidence) -> None:
    data = FULL.replace(labels=np.where(np.arange(4000) < 1000, FULL.labels, UNLABELED))
    np.testing.assert_allclose(accuracy(Atc(confidence=confidence), data), TRUTH, atol=0.03)


def test_agreement_counts_equal_votes_of_the_others() -> None:
    votes = np.eye(2)[np.array([[0, 0, 1], [1, 1, 1]])]
    np.testing.assert_allclose(
        measure_agreement_with_others(votes), [[0.5, 0.5, 0.0], [1.0, 1.0, 1.0]]
    )


def test_agreement_needs_two_classifiers() -> None:
    one = ScoreSet(HIDDEN.scores[:, :1], HIDDEN.labels, ("a",), (0, 1))
    with pytest.raises(UnsupportedError, match="only one"):
        Agreement().fit(one, np.random.default_rng(0))
