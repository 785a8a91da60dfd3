"""Calibration errors: scikit-learn's curve, and a slow loop over bins for every option."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.calibration import calibration_curve
from tests.metrics.problems import (
    Floats,
    Problem,
    draw_labels,
    many,
    problems,
    random_posterior,
    random_problem,
)

from ssme.metrics import ece, get_metric, one_hot_mass
from ssme.metrics.calibration import remove_chance


@given(problem=problems(st.just(2), weighted=False))
@many
def test_ece_of_two_classes_is_the_mean_gap_of_the_calibration_curve(problem: Problem) -> None:
    values = get_metric("ece")(problem.scores, problem.mass)[0]
    for m, value in enumerate(values):
        frequency, score = calibration_curve(
            problem.labels, problem.scores[:, m, 1], n_bins=10, strategy="quantile"
        )
        np.testing.assert_allclose(value, np.abs(frequency - score).mean(), rtol=1e-11, atol=1e-13)


def slow_bins(score: Floats, n_bins: int, binning: str) -> list[NDArray[np.bool_]]:
    """The rows of each bin."""
    if binning == "quantile":
        edges = np.percentile(score, 100 * np.linspace(0, 1, n_bins + 1))
        inside = [(score > low) & (score <= high) for low, high in itertools.pairwise(edges[1:-1])]
        inside = [score <= edges[1], *inside, score > edges[-2]]
        if n_bins == 1:
            inside = [np.ones(score.size, dtype=bool)]
    else:
        edges = np.linspace(0, 1, n_bins + 1)
        inside = [(score >= low) & (score < high) for low, high in itertools.pairwise(edges)]
        inside[-1] |= score == 1
    return inside


def slow_error(
    score: Floats,
    event: Floats,
    weight: Floats,
    n_bins: int,
    binning: str,
    weighted: bool,
    norm: str,
    apart: NDArray[np.int64] | None = None,
) -> float:
    """Bin by bin; rows of no weight still shape the equal-mass bins. Rows that differ in ``apart``
    are in different bins."""
    apart = np.zeros(score.size, dtype=np.int64) if apart is None else apart
    inside = []
    for each in np.unique(apart):
        own = np.flatnonzero(apart == each)
        inside += [own[rows] for rows in slow_bins(score[own], n_bins, binning)]
    gaps, counts = [], []
    for rows in inside:
        held = weight[rows].sum()
        if held > 0:
            gaps.append(abs(event[rows].sum() - (weight * score)[rows].sum()) / held)
            counts.append(held if weighted else 1.0)
    if not gaps:
        return np.nan
    if norm == "max":
        return max(gaps)
    power = 1 if norm == "l1" else 2
    return float(np.average(np.array(gaps) ** power, weights=counts) ** (1 / power))


@pytest.mark.parametrize("n_bins", [1, 4, 15])
@pytest.mark.parametrize("binning", ["quantile", "uniform"])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("norm", ["l1", "l2", "max"])
@pytest.mark.parametrize("target", ["positive", "top_label", "top_label_by_class", "classwise"])
def test_every_option(n_bins: int, binning: str, weighted: bool, norm: str, target: str) -> None:
    options = {"n_bins": n_bins, "binning": binning, "weighted": weighted, "norm": norm}
    metric = ece(**options, target=target)
    for n_classes, grid, weighting in itertools.product((2, 3), (None, 10), ("none", "real")):
        if target == "positive" and n_classes > 2:
            continue
        problem = random_problem(8, 50, n_classes, grid=grid, weighting=weighting)
        labels = draw_labels(np.random.default_rng(9), random_posterior_of(problem), 3)
        mass = one_hot_mass(labels, n_classes, problem.weights)
        mass[2] = random_posterior_of(problem) * problem.weights[:, None]
        values = metric(problem.scores, mass)
        for d, m in itertools.product(range(3), range(3)):
            s = problem.scores[:, m]
            top = (s[:, 1] >= 0.5).astype(int) if n_classes == 2 else s.argmax(axis=1)
            columns = {
                "positive": [(s[:, -1], mass[d, :, -1])],
                "top_label": [(s.max(axis=1), mass[d, np.arange(50), top])],
                "top_label_by_class": [(s.max(axis=1), mass[d, np.arange(50), top])],
                "classwise": [(s[:, k], mass[d, :, k]) for k in range(n_classes)],
            }[target]
            apart = top if target == "top_label_by_class" else None
            errors = [
                slow_error(*each, problem.weights, **options, apart=apart) for each in columns
            ]
            expected = np.mean(errors)
            np.testing.assert_allclose(values[d, m], expected, rtol=1e-10, atol=1e-13)


def random_posterior_of(problem: Problem) -> Floats:
    return random_posterior(np.random.default_rng(10), len(problem.labels), problem.n_classes)


def test_bins_by_predicted_class_never_hide_a_gap() -> None:
    """Gupta and Ramdas's error against the confidence error: gaps of two classes cannot cancel."""
    scores = np.array([[[0.7, 0.3]], [[0.7, 0.3]], [[0.3, 0.7]], [[0.3, 0.7]]])
    right, wrong = np.array([0, 0, 1, 1]), np.array([0, 0, 0, 0])
    for labels, confidence, by_class in ((right, 0.3, 0.3), (wrong, 0.2, 0.5)):
        mass = one_hot_mass(labels, 2)
        assert get_metric("ece_top_label")(scores, mass)[0, 0] == pytest.approx(confidence)
        assert get_metric("ece_top_label_by_class")(scores, mass)[0, 0] == pytest.approx(by_class)


def test_what_chance_adds_to_gaps_is_taken_out_by_hand() -> None:
    # gaps 1/2 and 0 of four rows each, both with a variance of the mean of 1/16
    scores = np.repeat([0.25, 0.75], 4)
    mass = one_hot_mass(np.array([1, 1, 1, 0, 1, 1, 1, 0]), 2)
    stacked = np.stack([1.0 - scores, scores], axis=1)[:, None]
    for norm, plain, expected in (("l1", 0.25, 0.25 * 0.5**0.5), ("l2", 0.125**0.5, 0.25)):
        plan = ece(n_bins=2, binning="uniform", weighted=True, norm=norm).plan(stacked)
        assert plan(mass)[0, 0] == pytest.approx(plain)
        assert remove_chance(plan, mass)[0, 0] == pytest.approx(expected)
    largest = ece(norm="max").plan(stacked)
    assert remove_chance(largest, mass) == pytest.approx(largest(mass))


@pytest.mark.parametrize("name", ["ece", "ece_l2", "classwise_ece", "ece_top_label_by_class"])
def test_a_calibrated_classifier_has_hardly_any_error_without_chance(name: str) -> None:
    rng, found = np.random.default_rng(0), []
    for _ in range(50):
        one = rng.beta(1.0, 1.0, 500)
        scores = np.stack([1.0 - one, one], axis=1)[:, None]
        mass = one_hot_mass((rng.random(500) < one).astype(np.int64), 2)
        plan = get_metric(name).plan(scores)
        found.append([plan(mass)[0, 0], remove_chance(plan, mass)[0, 0]])
    plain, without = np.mean(found, axis=0)
    assert plain > 0.02
    assert without < 0.4 * plain


def test_a_mean_square_without_chance_is_unbiased() -> None:
    rng, found = np.random.default_rng(0), []
    one = np.repeat(np.linspace(0.05, 0.95, 15), 20)
    scores = np.stack([1.0 - one, one], axis=1)[:, None]
    plan = get_metric("ece_l2").plan(scores)
    frequency = np.clip(one + 0.15, 0.0, 1.0)
    for _ in range(300):
        mass = one_hot_mass((rng.random(one.size) < frequency).astype(np.int64), 2)
        found.append(remove_chance(plan, mass)[0, 0] ** 2)
    exact = np.mean((frequency - one) ** 2)
    assert np.mean(found) == pytest.approx(exact, abs=4.0 * np.std(found) / 300**0.5)


@given(problem=problems(st.integers(2, 4), weighted=True))
@many
def test_taking_chance_out_never_adds_and_ignores_the_unit_of_weights(problem: Problem) -> None:
    plan, mass = get_metric("ece").plan(problem.scores), problem.mass[:1]
    plain, found = plan(mass), remove_chance(plan, mass)
    np.testing.assert_array_equal(np.isfinite(found), np.isfinite(plain))
    assert (found <= plain + 1e-12)[np.isfinite(found)].all()
    np.testing.assert_allclose(remove_chance(plan, 3.0 * mass), found, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", ["ece_uniform", "classwise_ece"])
def test_rounded_weights_do_not_move_an_error_without_chance(name: str) -> None:
    """The gap of a bin of one row is all chance, also where its weight is not quite the others'."""
    rng = np.random.default_rng(0)
    k = 2 if name == "ece_uniform" else 3
    plan = get_metric(name).plan(rng.dirichlet(np.full(k, 0.5), (60, 2)))
    mass = rng.dirichlet(np.ones(k), 60)[None]
    exact = remove_chance(plan, mass)
    for _ in range(20):
        rounded = mass * (1.0 + rng.choice([-2.0, 0.0, 2.0], (60, 1)) * 2.0**-52)
        np.testing.assert_allclose(remove_chance(plan, rounded), exact, rtol=0, atol=1e-9)
