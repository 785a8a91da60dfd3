"""The options of a mixture, and what a fitted one says of other rows."""

from __future__ import annotations

import numpy as np
import pytest

from ssme.errors import InputError
from ssme.mixture.model import (
    MixtureOptions,
    choose_preset_options,
    fit_mixture,
    refit_responsibilities,
)


def test_what_is_given_stands_in_the_place_of_the_preset() -> None:
    assert choose_preset_options("paper") == MixtureOptions()
    assert choose_preset_options("paper", max_iter=None, tol=1e-3).tol == 1e-3
    code = choose_preset_options("public_code", clip=None)
    told = (code.max_iter, code.tol, code.labeled_weight, code.weighted_from, code.clip)
    assert told == (20, None, 10.0, 2, 1e-4)
    flags = (code.clamp, code.label_priors, code.drawn_priors, code.clip_only_exact)
    assert flags == (False, False, True, True)
    paper = MixtureOptions()
    flags = (paper.clamp, paper.label_priors, paper.drawn_priors, paper.clip_only_exact)
    assert flags == (True, True, False, False)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("init", "guess"),
        ("lambda_u", 0.0),
        ("lambda_u", -1.0),
        ("lambda_u", np.inf),
        ("lambda_u", np.nan),
        ("max_iter", 0),
    ],
)
def test_options_are_checked(option: str, value: object) -> None:
    with pytest.raises(InputError, match=option):
        choose_preset_options("paper", **{option: value})


def test_the_least_that_is_allowed() -> None:
    assert choose_preset_options("paper", max_iter=1, lambda_u=1e-9).max_iter == 1
    with pytest.raises(InputError, match="preset"):
        choose_preset_options("papers")


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
    options = choose_preset_options("paper", density=density, init=init)
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
    options = choose_preset_options("paper", density="gmm", init=init)
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
