"""The mixture: its options, its start, the choice of a density and its refits."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.isotonic import isotonic_regression

from ssme.data.scoreset import ScoreSet
from ssme.errors import InputError
from ssme.methods.ssme import SsmeMethod, SsmeOptions
from ssme.mixture import model as choice
from ssme.mixture.model import (
    MixtureOptions,
    alr,
    choose_density,
    clip_simplex,
    fit_mixture,
    refit_responsibilities,
    stack_alr,
    start_by_neighbors,
)
from ssme.results.reliability import make_falling


def test_options_that_are_given_replace_those_of_the_preset() -> None:
    assert SsmeOptions().make_mixture_options() == MixtureOptions()
    assert SsmeOptions(tol=1e-3).make_mixture_options().tol == 1e-3
    code = SsmeOptions(preset="public_code").make_mixture_options()
    numbers = (code.max_iter, code.tol, code.labeled_weight, code.weighted_from, code.clip)
    assert numbers == (20, None, 10.0, 2, 1e-4)
    for options, paper in ((code, False), (MixtureOptions(), True)):
        assert options.clamp == options.label_priors == paper
        assert options.drawn_priors == options.clip_only_exact == (not paper)


def two_clouds(n: int = 60) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Points of two classes four apart, a third labeled, and a guess that is right mostly."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2
    points = rng.normal(size=(n, 1)) + 4.0 * y[:, None]
    guess = np.where(np.arange(2) == y[:, None], 0.9, 0.1)
    return points, np.where(np.arange(n) < n // 3, y, -1), guess


@pytest.mark.parametrize("density", ["kde", "gmm"])
@pytest.mark.parametrize("init", ["draw", "knn"])
def test_the_posterior_elsewhere_is_that_of_the_rows_there(density: str, init: str) -> None:
    points, labels, guess = two_clouds()
    options = MixtureOptions(density=density, init=init)
    fitted = fit_mixture(points, labels, guess, options, np.random.default_rng(1))
    told = fitted.compute_posterior_at(points)
    np.testing.assert_allclose(told.sum(axis=1), 1.0)
    unlabeled = labels < 0
    inside = fitted.em.responsibilities[unlabeled]
    np.testing.assert_allclose(told[unlabeled], inside, atol=0.02)
    far = fitted.compute_posterior_at(np.array([[-1.0], [5.0]]))
    assert far[0, 0] > 0.95
    assert far[1, 1] > 0.95
    facts = fitted.describe()
    assert facts["density"] == density
    assert facts["density_reason"] == "asked for"
    np.testing.assert_allclose(facts["priors"], [0.5, 0.5], atol=0.1)


@pytest.mark.parametrize("init", ["draw", "knn"])
def test_a_refit_weighs_rows_anew_and_keeps_the_first_fit(init: str) -> None:
    points, labels, guess = two_clouds()
    options = MixtureOptions(density="gmm", init=init)
    fitted = fit_mixture(points, labels, guess, options, np.random.default_rng(1))
    before = fitted.compute_posterior_at(points)
    again = [
        refit_responsibilities(fitted, points, labels, guess, options, np.random.default_rng(seed))
        for seed in (2, 2, 3)
    ]
    assert np.array_equal(again[0], again[1])
    assert not np.array_equal(again[0], again[2])
    np.testing.assert_allclose(fitted.compute_posterior_at(points), before)
    # rows of weight zero are as if they were not there
    weight = np.where((np.arange(60) % 2 == 1) & (labels < 0), 0.0, 1.0)
    args = (fitted, points, labels, guess, options, np.random.default_rng(2), weight)
    np.testing.assert_allclose(refit_responsibilities(*args).sum(axis=1), 1.0)


def binary_set(n: int, n_labeled: int, seed: int = 0) -> tuple[ScoreSet, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.4).astype(np.int64)
    logits = (2 * y[:, None] - 1) * 1.5 + rng.normal(size=(n, 3)) * [0.8, 1.0, 1.2]
    p = 1 / (1 + np.exp(-logits))
    labels = np.where(np.arange(n) < n_labeled, y, -1)
    return ScoreSet(np.stack([1 - p, p], axis=2), labels, ("a", "b", "c"), (0, 1)), y


def test_auto_goes_by_dimension_rows_and_missing_scores(monkeypatch) -> None:
    narrow, wide = np.zeros((1000, 20)), np.zeros((1000, 21))
    auto = MixtureOptions(density="auto")
    assert choose_density(auto, narrow)[0] == "kde"
    monkeypatch.setattr(choice, "find_spec", lambda name: object())
    assert choose_density(auto, wide)[0] == "flow"
    density, reason = choose_density(auto, wide[:100])
    assert density == "gmm"
    assert "100 rows" in reason
    holed = wide.copy()
    holed[0, 0] = np.nan
    assert "missing" in choose_density(auto, holed)[1]
    monkeypatch.setattr(choice, "find_spec", lambda name: None)
    assert "not installed" in choose_density(auto, wide)[1]


@pytest.mark.parametrize("density", ["kde", "gmm", "auto"])
def test_each_density_finds_the_classes(density: str) -> None:
    data, y = binary_set(600, 60)
    belief = SsmeMethod(density=density, tol=1e-2, n_bootstrap=0).fit(
        data, np.random.default_rng(0)
    )
    assert ((belief.posterior[:, 1] > 0.5) == y).mean() > 0.93
    assert belief.facts.describe()["density"] == ("kde" if density == "auto" else density)
    assert belief.facts.describe()["engine"]
    assert belief.facts.describe()["density_reason"]


@pytest.mark.torch
def test_torch_engine_gives_the_same_fit() -> None:
    pytest.importorskip("torch")
    data, _ = binary_set(300, 30)
    fits = [
        SsmeMethod(device=device, tol=1e-2, n_bootstrap=0).fit(data, np.random.default_rng(0))
        for device in (None, "cpu")
    ]
    assert fits[1].facts.describe()["engine"] == "torch cpu"
    np.testing.assert_allclose(fits[0].posterior, fits[1].posterior, atol=1e-8)


def test_rows_beyond_max_rows_get_the_fitted_posterior() -> None:
    data, y = binary_set(900, 50)
    belief = SsmeMethod(max_rows=400, tol=1e-2, n_bootstrap=0).fit(data, np.random.default_rng(0))
    assert belief.facts.describe()["fitted_rows"] == 400
    assert ((belief.posterior[:, 1] > 0.5) == y).mean() > 0.93
    assert belief.predictor is not None
    again = belief.predictor(data.scores)
    same = np.abs(again - belief.posterior).max(axis=1) < 1e-6
    assert same[data.labels < 0].mean() > 0.5
    with pytest.raises(InputError, match="max_rows"):
        SsmeMethod(max_rows=0)


def test_knn_takes_the_majority_of_the_five_nearest() -> None:
    x = np.array([0.0, 0.1, 0.2, 0.3, 0.4, 9.0, 0.15, 8.0])[:, None]
    labels = np.array([0, 0, 1, 1, 1, 0, -1, -1])
    start = start_by_neighbors(x, labels, 2)
    np.testing.assert_array_equal(start[6], [0.0, 1.0])


def test_knn_with_fewer_labels_than_neighbors_breaks_ties_to_the_nearer() -> None:
    start = start_by_neighbors(np.array([[0.0], [1.0], [0.4]]), np.array([0, 1, -1]), 2)
    np.testing.assert_array_equal(start[2], [1.0, 0.0])


def test_knn_uses_the_coordinates_that_both_rows_have() -> None:
    x = np.array([[0.0, np.nan], [5.0, 5.0], [4.0, np.nan], [np.nan, np.nan]])
    start = start_by_neighbors(np.vstack([x[:2]] * 3 + [x[2:]]), np.array([0, 1] * 3 + [-1, -1]), 2)
    np.testing.assert_array_equal(start[6], [0.0, 1.0])
    assert np.isfinite(start).all()


def test_knn_needs_labels() -> None:
    with pytest.raises(InputError, match="no labeled row"):
        start_by_neighbors(np.zeros((3, 1)), np.full(3, -1), 2)


@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_probabilities_are_the_softmax_of_their_log_ratios(n_classes: int) -> None:
    p = np.random.default_rng(0).dirichlet(np.ones(n_classes), size=50)
    odds = np.exp(np.concatenate([alr(p), np.zeros((50, 1))], axis=1))
    np.testing.assert_allclose(odds / odds.sum(axis=1, keepdims=True), p, atol=1e-14)


def test_clip_floors_and_renormalizes() -> None:
    p = np.array([[0.0, 1.0], [1e-9, 1 - 1e-9], [0.3, 0.7]])
    clipped = clip_simplex(p, 1e-6)
    np.testing.assert_allclose(clipped.sum(axis=1), 1.0)
    np.testing.assert_allclose(clipped[:2, 0], 1e-6, rtol=1e-5)
    np.testing.assert_array_equal(clipped[2], p[2])


def test_clip_of_exact_zeros_only() -> None:
    p = np.array([[0.0, 1.0], [1e-9, 1 - 1e-9]])
    clipped = clip_simplex(p, 1e-4, only_exact=True)
    np.testing.assert_allclose(clipped[0, 0], 1e-4, rtol=1e-3)
    np.testing.assert_allclose(clipped[1, 0], 1e-9)


@pytest.mark.parametrize("eps", [0.0, 0.5, -1.0])
def test_clip_refuses_impossible_eps(eps: float) -> None:
    with pytest.raises(InputError, match="between 0 and 1/2"):
        clip_simplex(np.array([[0.5, 0.5]]), eps)


def test_stack_keeps_missing_models_missing() -> None:
    scores = np.full((2, 2, 3), 1 / 3)
    scores[0, 1] = np.nan
    points = stack_alr(scores)
    assert points.shape == (2, 4)
    np.testing.assert_array_equal(np.isnan(points[0]), [False, False, True, True])


@pytest.mark.parametrize("seed", range(5))
def test_it_is_the_isotonic_regression(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values, weights = rng.normal(size=30), rng.uniform(0.1, 5.0, size=30)
    for given in (None, weights):
        expected = isotonic_regression(values, sample_weight=given, increasing=False)
        np.testing.assert_allclose(make_falling(values, given), expected, rtol=1e-12, atol=1e-14)
