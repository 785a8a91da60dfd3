"""What predictions say of decisions, and the mean of both with labels."""

from __future__ import annotations

import numpy as np
import pytest

from ssme import ScoreSet
from ssme.methods.estimators.ppi import PredictedAccuracy

POSITIVE = np.array([[0.9, 0.2], [0.4, 0.35], [0.1, np.nan], [0.3, 0.6]])


@pytest.fixture
def data() -> ScoreSet:
    scores = np.stack([1.0 - POSITIVE, POSITIVE], axis=2)
    return ScoreSet.from_arrays(scores, [1, 0, None, None], classes=[0, 1])


def test_confidence_is_the_score_of_the_class_decided_for(data: ScoreSet) -> None:
    usual = PredictedAccuracy.of(data, "confidence")
    np.testing.assert_allclose(usual.predicted, np.maximum(POSITIVE, 1.0 - POSITIVE))
    low = PredictedAccuracy.of(data, "confidence", 0.33)
    expected = np.where(POSITIVE >= 0.33, POSITIVE, 1.0 - POSITIVE)
    np.testing.assert_allclose(low.predicted, expected)
    np.testing.assert_allclose(low.truth[:2], [[1.0, 0.0], [0.0, 0.0]])


def test_the_pool_is_asked_for_the_class_decided_for(data: ScoreSet) -> None:
    found = PredictedAccuracy.of(data, "pool", 0.33).predicted
    pool = np.nanmean(POSITIVE, axis=1, keepdims=True)
    expected = np.where(POSITIVE >= 0.33, pool, 1.0 - pool)
    np.testing.assert_allclose(found, np.where(np.isnan(POSITIVE), np.nan, expected))


def test_the_mean_is_that_of_predictions_moved_by_what_labels_say(data: ScoreSet) -> None:
    known = PredictedAccuracy.of(data, "confidence")
    value, influence = known.estimate_means(np.arange(4), ridge_grid=None, lam=1.0)
    # labeled rows 0 and 1, unlabeled 2 and 3 of the first classifier
    expected = (0.9 + 0.7) / 2 + ((1.0 - 0.9) + (1.0 - 0.6)) / 2
    assert value[0] == pytest.approx(expected)
    # the second has no score for row 2
    assert value[1] == pytest.approx(0.6 + ((0.0 - 0.8) + (1.0 - 0.65)) / 2)
    np.testing.assert_allclose(influence.sum(axis=1), 0.0, atol=1e-12)
    assert influence[1, 2] == 0.0
