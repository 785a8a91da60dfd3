"""Worlds: draws that carry unknown labels, refits and the sampling of rows, around the estimate."""

from __future__ import annotations

import numpy as np
import pytest

from ssme.data.scoreset import ScoreSet
from ssme.errors import InputError
from ssme.methods.base import Estimate
from ssme.methods.beliefs import LabelPosterior, PerModelPosterior
from ssme.methods.ensemble import Ensemble
from ssme.methods.registry import get_method
from ssme.metrics import get_metric


def data_of(n: int = 400, labeled: int = 40, seed: int = 0) -> ScoreSet:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    positive = 1 / (1 + np.exp(-(2 * y[:, None] - 1) * [0.6, 1.2] - rng.normal(size=(n, 2))))
    scores = np.stack([1 - positive, positive], axis=2)
    return ScoreSet(scores, np.where(np.arange(n) < labeled, y, -1), ("a", "b"), (0, 1))


def test_estimates_stay_the_mean_over_label_draws():
    data = data_of()
    metric = get_metric("roc_auc")
    belief = Ensemble(n_draws=50).fit(data, np.random.default_rng(0))
    from ssme.metrics.base import one_hot_mass

    by_hand = np.concatenate(
        [metric(data.scores, one_hot_mass(labels, 2)) for labels in belief.draw_label_batches()]
    )
    got = belief.estimate([metric], [None])[0][0]
    assert np.allclose(got.value, by_hand.mean(axis=0))
    assert got.draws.shape == (200, 2)


def test_worlds_are_wider_than_label_draws_and_as_wide_as_sampling_alone_when_all_is_known():
    data = data_of(labeled=400)
    belief = Ensemble().fit(data, np.random.default_rng(0))
    got = belief.estimate([get_metric("accuracy")], [None])[0][0]
    standard_error = np.sqrt(got.value * (1 - got.value) / 400)
    assert got.draws.std(axis=0) == pytest.approx(standard_error, rel=0.25)


def test_refits_widen_by_their_spread():
    data = data_of(labeled=0)
    sure = np.tile([0.0, 1.0], (400, 1))
    seed = np.random.SeedSequence(0)
    metric = get_metric("accuracy")
    alone = LabelPosterior(data, sure, 10, 200, seed).estimate([metric], [None])[0][0]
    shaken = LabelPosterior(data, sure, 10, 200, seed, {}, (sure, 1.0 - sure))
    refitted = shaken.estimate([metric], [None])[0][0]
    assert np.array_equal(alone.value, refitted.value)
    assert (refitted.draws.std(axis=0) > 0.5 * np.abs(2 * alone.value - 1)).all()


def test_ssme_estimates_do_not_depend_on_refits_and_intervals_do():
    data = data_of(n=120, labeled=20)
    metric = get_metric("accuracy")

    def run(n_bootstrap: int) -> Estimate:
        method = get_method("ssme", preset="public_code", n_bootstrap=n_bootstrap)
        belief = method.fit(data, np.random.default_rng(4))
        assert belief.facts.describe()["n_bootstrap"] == n_bootstrap
        return belief.estimate([metric], [None])[0][0]

    without, default = run(0), run(20)
    assert np.array_equal(without.value, default.value)
    assert (default.draws.std(axis=0) > without.draws.std(axis=0)).all()
    assert np.array_equal(default.draws, run(20).draws)
    with pytest.raises(InputError, match="n_bootstrap"):
        run(-1)


def test_undefined_draws_do_not_take_the_interval_away():
    draws = np.array([[0.2, 0.1], [np.nan, 0.2], [0.4, 0.3], [0.6, np.nan], [0.8, np.nan]])
    low, high = Estimate(np.array([0.5, 0.2]), draws).interval(0.5)
    np.testing.assert_allclose(low, [np.quantile([0.2, 0.4, 0.6, 0.8], 0.25), 0.15])
    np.testing.assert_allclose(high, [np.quantile([0.2, 0.4, 0.6, 0.8], 0.75), 0.25])
    low, high = Estimate(np.array([0.5, np.nan]), np.full((3, 2), np.nan)).interval()
    assert np.isnan([low, high]).all()


@pytest.mark.parametrize("cells", [1, 700, 1 << 22])
def test_worlds_are_as_many_as_asked_for_whatever_the_batches(cells):
    data = data_of(n=60, labeled=10)
    seed = np.random.SeedSequence(0)
    posteriors = np.full((2, 60, 2), 0.5)
    own = PerModelPosterior(data, posteriors, 7, 5, seed, batch_cells=cells)
    shared = LabelPosterior(data, posteriors[0], 7, 5, seed, batch_cells=cells)
    for belief in (own, shared):
        told = belief.estimate([get_metric("accuracy")], [None])[0][0]
        assert told.draws.shape == (5, 2)
        assert belief.clamps_labels
    assert sum(len(labels) for labels in shared.draw_label_batches()) == 7
    largest = max(len(labels) for labels in shared.draw_label_batches())
    assert largest == min(7, max(1, cells // 120))
