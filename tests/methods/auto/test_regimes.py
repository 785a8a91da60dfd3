"""Regimes: each is found where it holds, the usual one elsewhere, and designs are used."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import norm as normal
from scipy.stats import t as student

from ssme.arrays import FloatArray
from ssme.data.scoreset import UNLABELED, ScoreSet
from ssme.methods.auto.belief import Worlds
from ssme.methods.auto.constants import Constants, RegimesConstants
from ssme.methods.auto.method import Auto, situate
from ssme.methods.auto.pool import TemperaturePrior
from ssme.methods.auto.regimes import (
    MEANINGS,
    REGIMES,
    fit_regimes,
    log_conflict_density,
    weigh_regimes,
)
from ssme.metrics import get_metric
from ssme.metrics.base import one_hot_mass

OF = Constants()


def world(
    n: int = 1500,
    share: float = 0.5,
    n_models: int = 6,
    shared: float = 0.75,
    sharpness: float = 1.0,
    seed: int = 0,
) -> tuple[FloatArray, np.ndarray]:
    """Binary scores (n, M, 2), calibrated at ``sharpness`` one, and the truth."""
    rng = np.random.default_rng(seed)
    truth = (rng.random(n) < share).astype(np.int64)
    noise = np.sqrt(shared) * rng.standard_normal((n, 1))
    noise = noise + np.sqrt(1.0 - shared) * rng.standard_normal((n, n_models))
    gap = np.linspace(1.4, 2.2, n_models)
    logit = gap * (noise + gap * (truth[:, None] - 0.5)) + np.log(share / (1.0 - share))
    p = 1.0 / (1.0 + np.exp(-sharpness * logit))
    return np.stack([1.0 - p, p], axis=2), truth


def labeled(scores: FloatArray, truth: np.ndarray, rows: np.ndarray) -> ScoreSet:
    labels = np.full(len(truth), UNLABELED)
    labels[rows] = truth[rows]
    names = tuple(f"m{j}" for j in range(scores.shape[1]))
    return ScoreSet(scores=scores, labels=labels, models=names, classes=(0, 1))


def probabilities(data: ScoreSet) -> dict[str, float]:
    return dict(Auto(n_draws=20).fit(data, np.random.default_rng(0)).facts.regimes)


def test_probabilities_before_anything_is_seen_sum_to_one() -> None:
    prior = RegimesConstants().prior
    assert sum(prior.values()) == pytest.approx(1.0)
    assert set(prior) == set(MEANINGS) == set(REGIMES)


def test_estimates_do_not_depend_on_how_draws_are_shared_out() -> None:
    scores, truth = world()
    data, metrics = labeled(scores, truth, np.arange(20)), [get_metric("accuracy")]
    values, regimes = [], []
    for sharing in (0.0, 1e9):
        of = replace(OF, regimes=replace(OF.regimes, sharing=sharing))
        belief = Auto(constants=of).fit(data, np.random.default_rng(0))
        values.append(belief.estimate(metrics, [None])[0][0].value)
        regimes.append({regime.name: regime.n_draws for regime in belief.regimes})
    np.testing.assert_array_equal(*values)
    assert regimes[0] != regimes[1]


def test_flattened_scores_are_distorted() -> None:
    scores, truth = world(sharpness=0.15, share=0.3)
    belief = Auto(n_draws=20).fit(labeled(scores, truth, np.arange(100)), np.random.default_rng(0))
    assert belief.facts.conflict > 0.8
    assert belief.facts.regimes.get("distorted", 0.0) > 0.5


def test_labels_balanced_by_class_are_selected() -> None:
    scores, truth = world(n=3000, share=0.08)
    rows = np.r_[np.flatnonzero(truth == 1)[:25], np.flatnonzero(truth == 0)[:25]]
    data = labeled(scores, truth, rows)
    assert probabilities(data).get("selected", 0.0) > 0.8
    assert "selected" not in probabilities(data.with_design("random"))
    at_random = labeled(scores, truth, np.arange(50))
    assert probabilities(at_random).get("selected", 0.0) < 0.2


def test_no_label_leaves_the_prior_and_what_scores_show() -> None:
    scores, truth = world()
    situation = situate(labeled(scores, truth, np.arange(0)), OF, np.random.default_rng(0))
    fitted = fit_regimes(situation)
    chance = dict(zip([fit.name for fit in fitted], weigh_regimes(fitted, 0.0), strict=True))
    assert set(chance) == {"usual", "distorted"}
    logs = [log_conflict_density(situation, odd) for odd in (False, True)]
    odds = OF.regimes.prior["distorted"] / OF.regimes.prior["usual"] * np.exp(logs[1] - logs[0])
    assert chance["distorted"] / chance["usual"] == pytest.approx(odds)


def error(data: ScoreSet, truth: np.ndarray) -> float:
    accuracy = get_metric("accuracy")
    belief = Auto(n_draws=20).fit(data, np.random.default_rng(0))
    exact = accuracy(data.scores, one_hot_mass(truth, 2))[0]
    return float(np.abs(belief.estimate([accuracy], [None])[0][0].value - exact).mean())


def test_three_sound_classifiers_and_a_random_one() -> None:
    """Noise has next to no standing: what is said of the others hardly changes."""
    errors = []
    for seed in range(6):
        scores, truth = world(n=800, n_models=3, seed=seed)
        rng = np.random.default_rng(seed)
        with_noise = np.concatenate([scores, rng.dirichlet(np.ones(2), (800, 1))], axis=1)
        accuracy = get_metric("accuracy")
        belief = Auto().fit(labeled(with_noise, truth, np.arange(30)), rng)
        estimate = belief.estimate([accuracy], [None])[0][0]
        exact = accuracy(with_noise, one_hot_mass(truth, 2))[0]
        low, high = estimate.interval()
        errors.append(((low <= exact) & (exact <= high))[:3])
        assert belief.facts.standing["m3"] < 0.02
    assert np.mean(errors) > 0.85


def test_a_design_that_is_said_is_used() -> None:
    scores, truth = world(n=3000, share=0.1, seed=1)
    rows = np.r_[np.flatnonzero(truth == 1)[:30], np.flatnonzero(truth == 0)[:70]]
    data = labeled(scores, truth, rows)
    assert error(data.with_design("by_class"), truth) < error(data.with_design("random"), truth)
    weights = np.where(truth == 1, (truth == 1).sum() / 30, (truth == 0).sum() / 70)
    assert error(data.with_design(weights), truth) < error(data.with_design("random"), truth)


def test_equal_weights_are_random_to_the_bit() -> None:
    scores, truth = world(n=400)
    data = labeled(scores, truth, np.arange(40))
    metrics = [get_metric("accuracy"), get_metric("ece")]
    found = [
        Auto(n_draws=20).fit(each, np.random.default_rng(0)).estimate(metrics, [None])[0]
        for each in (data.with_design(np.full(400, 7.0)), data.with_design("random"))
    ]
    for weighted, plain in zip(*found, strict=True):
        assert np.allclose(weighted.value, plain.value, atol=1e-12)
        assert np.allclose(weighted.draws, plain.draws, atol=1e-12)


def test_rows_chosen_by_score_are_post_stratified() -> None:
    scores, truth = world(n=3000, seed=3)
    unsure = np.argsort(np.abs(scores[:, :, 1].mean(axis=1) - 0.5))[:100]
    data = labeled(scores, truth, unsure)
    assert error(data.with_design("by_score"), truth) < 0.05


def test_densities_of_conflict_are_scipys() -> None:
    of = OF.regimes
    prior = TemperaturePrior(0.0, 0.4)
    told = SimpleNamespace(constants=OF, conflict=0.7, usual_prior=prior)
    scale = np.hypot(of.usual_conflict, 0.4)
    found = log_conflict_density(told, False)  # type: ignore[arg-type]
    assert found == pytest.approx(student(4, 0.0, scale).logpdf(0.7))
    found = log_conflict_density(told, True)  # type: ignore[arg-type]
    assert found == pytest.approx(normal(0.0, of.distorted_conflict).logpdf(0.7))


def test_worlds_of_whole_labels_count_rows_once_on_average() -> None:
    soft = np.full((200, 300, 2), 0.5) + np.array([0.2, -0.2])
    rng = np.random.default_rng(0)
    worlds = Worlds(soft, rng.standard_exponential((200, 300)), rng)
    hard, noise = worlds.see(True)
    np.testing.assert_allclose(hard.mean(axis=(0, 1)), [0.7, 0.3], atol=0.01)
    assert abs(noise.mean()) < 0.02
    assert abs(noise.var() - 1.0) < 0.03
    same, noise = worlds.see(False)
    assert same is soft
    np.testing.assert_array_equal(noise, worlds.exponential - 1.0)
