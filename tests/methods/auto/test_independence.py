"""Independent classifiers are told from the usual ones without labels, and their evidence added."""

from __future__ import annotations

import numpy as np
import pytest

from ssme.data.scoreset import ScoreSet
from ssme.datasets.synthetic import gaussian_set
from ssme.methods.auto.constants import Constants
from ssme.methods.auto.independence import (
    Pooling,
    added_posterior,
    probability_of_independence,
    within_class_correlation,
)
from ssme.methods.auto.method import Auto
from ssme.methods.auto.pool import clip_scores, log_pool, log_softmax
from ssme.metrics import get_metric
from ssme.metrics.base import FloatArray, one_hot_mass

OF = Constants()


def simulated(n: int, n_models: int, share: float = 0.5, shared: float = 0.0) -> FloatArray:
    """Calibrated binary scores (n, M, 2); ``shared`` is the correlation of the noise."""
    rng = np.random.default_rng(n_models)
    y = rng.random(n) < share
    noise = np.sqrt(shared) * rng.standard_normal((n, 1))
    noise = noise + np.sqrt(1.0 - shared) * rng.standard_normal((n, n_models))
    logit = 1.2 * (noise + 1.2 * y[:, None]) - 0.72 + np.log(share / (1.0 - share))
    p = 1.0 / (1.0 + np.exp(-logit))
    return clip_scores(np.stack([1.0 - p, p], axis=2), OF.pool.clip)


@pytest.mark.parametrize("n_models", [3, 5, 10])
@pytest.mark.parametrize("share", [0.5, 0.1])
def test_independent_classifiers_are_recognized(n_models: int, share: float) -> None:
    assert probability_of_independence(simulated(2000, n_models, share), OF.independence) > 0.8


@pytest.mark.parametrize("shared", [0.1, 0.4, 0.9])
def test_classifiers_that_err_together_are_not(shared: float) -> None:
    assert probability_of_independence(simulated(2000, 6, shared=shared), OF.independence) == 0.0


def test_overconfident_classifiers_are_not() -> None:
    sharpened = simulated(2000, 6) ** 3.0
    assert (
        probability_of_independence(
            clip_scores(sharpened / sharpened.sum(axis=2, keepdims=True), OF.pool.clip),
            OF.independence,
        )
        == 0.0
    )


def test_too_few_or_constant_classifiers_are_not_asked() -> None:
    assert probability_of_independence(simulated(2000, 2), OF.independence) == 0.0
    assert probability_of_independence(simulated(1, 5), OF.independence) == 0.0
    assert probability_of_independence(np.full((100, 4, 2), 0.5), OF.independence) == 0.0


def test_correlation_is_zero_under_the_posterior_of_independent_classifiers() -> None:
    q = simulated(200_000, 3)
    assert abs(within_class_correlation(q, added_posterior(q), OF.independence)) < 0.01


def test_without_independence_the_pool_is_the_average() -> None:
    q = simulated(300, 4, shared=0.5)
    present, weights = np.ones((300, 4), bool), np.full(4, 0.25)
    pooling = Pooling.of(q, present, weights, OF)
    assert pooling.independent == 0.0
    assert (pooling(q, present) == log_pool(q, present, weights)).all()


def test_evidence_is_added() -> None:
    q = simulated(50, 4, share=0.2)
    pooling = Pooling(np.full(4, 0.25), 1.0, np.log([0.8, 0.2]))
    odds = np.log(q[:, :, 1] / q[:, :, 0]).sum(axis=1) - 3.0 * np.log(0.2 / 0.8)
    expected = 1.0 / (1.0 + np.exp(-odds))
    pooled = pooling(q, np.ones((50, 4), bool))
    w = np.exp(log_softmax(4.0 * (pooled - pooling.log_share) + pooling.log_share))
    assert np.allclose(w[:, 1], expected)


def test_estimates_and_intervals_of_independent_classifiers() -> None:
    whole = gaussian_set(20_000, np.array([0.8, 1.0, 1.2, 1.4]), rng=np.random.default_rng(3))
    labels = whole.labels[:1020].copy()
    labels[20:] = -1
    data = whole.take(np.arange(1020)).replace(labels=labels)
    belief = Auto().fit(data, np.random.default_rng(0))
    assert belief.facts.independence > 0.8
    for name in ("accuracy", "roc_auc"):
        metric = get_metric(name)
        truth = metric(whole.scores, one_hot_mass(whole.labels, 2))[0]
        estimate = belief.estimate([metric], [None])[0][0]
        low, high = estimate.interval()
        assert np.abs(estimate.value - truth).max() < 0.05
        assert ((low <= truth) & (truth <= high)).all()


def test_rows_that_were_not_there_have_the_same_posterior() -> None:
    scores = simulated(500, 4)
    labels = np.where(np.arange(500) < 30, (scores[:, 0, 1] > 0.5).astype(float), np.nan)
    data = ScoreSet.from_arrays(scores, labels)
    belief = Auto(n_draws=10).fit(data, np.random.default_rng(0))
    assert belief.facts.independence > 0.0
    assert np.allclose(belief.predictor(data.scores), belief.soft)
