"""Counters against the metrics themselves; sums that add up in any order; bounds that hold."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ssme.errors import UnsupportedError
from ssme.metrics import get_metric, metric_names
from ssme.stream.tally import N_BINS, add_sums, adds_up, find_bins, plan_tally

EXACT = ["accuracy", "balanced_accuracy", "f1", "precision", "matthews_corrcoef", "accuracy@0.3"]
EXACT += ["log_loss", "brier_score", "ece_uniform", "ece_top_label", "mce", "classwise_ece"]
EXACT += ["ece_top_label_by_class"]
BOUNDED = ["roc_auc", "average_precision"]


def world(n: int, n_classes: int, seed: int, *, holes: bool = False, soft: bool = True):
    rng = np.random.default_rng(seed)
    scores = rng.dirichlet(np.full(n_classes, 0.4), size=(n, 3))
    truth = np.sqrt(scores.mean(axis=1)) + 1e-9
    mass = truth / truth.sum(axis=1, keepdims=True)
    if not soft:
        drawn = (rng.random(n)[:, None] > np.cumsum(mass, axis=1)).sum(axis=1)
        mass = np.eye(n_classes)[np.minimum(drawn, n_classes - 1)]
    if holes:
        scores[rng.random((n, 3)) < 0.2] = np.nan
    return scores, mass * rng.uniform(0.5, 2.0, n)[:, None]


def find_values(names, scores, mass, n_parts=1):
    """Each metric, what its counter says and the bound, and its value from all rows."""
    metrics = [get_metric(name) for name in names]
    tally, sums = plan_tally(metrics, scores), {}
    for rows in np.array_split(np.arange(len(scores)), n_parts):
        sums = add_sums(sums, tally.count(scores[rows], mass[rows]))
    exact = [metric(scores, mass[None])[0] for metric in metrics]
    return tally, zip(metrics, tally.compute_values(sums), exact, strict=True)


@pytest.mark.parametrize("holes", [False, True])
@pytest.mark.parametrize("soft", [False, True])
def test_sums_over_parts_give_the_metric_of_all_rows(holes, soft) -> None:
    scores, mass = world(2000, 2, 0, holes=holes, soft=soft)
    for _, (value, bound), exact in find_values(EXACT, scores, mass, 7)[1]:
        np.testing.assert_allclose(value, exact, atol=1e-12)
        np.testing.assert_array_equal(bound, 0.0)


def test_multiclass_sums_are_exact_too() -> None:
    scores, mass = world(1500, 4, 1, holes=True)
    names = ["accuracy", "f1_macro", "log_loss", "brier_score", "ece", "classwise_ece"]
    for _, (value, _), exact in find_values(names, scores, mass)[1]:
        np.testing.assert_allclose(value, exact, atol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("soft", [False, True])
@pytest.mark.parametrize("n", [30, 3000])
def test_ranking_metrics_stay_within_their_bound(n_classes, soft, n) -> None:
    scores, mass = world(n, n_classes, 2, soft=soft)
    names = [*BOUNDED, "roc_auc_ovr_weighted"]
    for metric, (value, bound), exact in find_values(names, scores, mass)[1]:
        assert (np.abs(value - exact) <= bound + 1e-12).all(), metric.name
        assert (bound < (0.01 if n == 3000 else 0.2)).all()


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000))
def test_ranking_bound_holds_on_tied_and_crowded_scores(seed) -> None:
    rng = np.random.default_rng(seed)
    crowd = 0.5 + rng.integers(0, 40, size=(60, 2)) * 10.0 ** -rng.integers(2, 7)
    scores = np.stack([1 - crowd, crowd], axis=2)
    p = rng.random(60)
    mass = np.stack([1 - p, p], axis=1)
    for _, (value, bound), exact in find_values(BOUNDED, scores, mass)[1]:
        assert (np.abs(value - exact) <= bound + 1e-12).all()


def test_decisions_read_off_fine_bins_are_exact() -> None:
    scores, mass = world(2000, 2, 6)
    scores[:5, :, 1] = [0.5, np.nextafter(0.5, 0), np.nextafter(0.5, 1)]
    scores[:, :, 0] = 1 - scores[:, :, 1]
    tally, found = find_values(("accuracy", "f1", "recall", "roc_auc"), scores, mass)
    assert list(tally.counters) == ["ranking"]
    for _, (value, _), exact in list(found)[:3]:
        np.testing.assert_allclose(value, exact, atol=1e-12)


def test_equal_mass_bins_come_from_the_sample() -> None:
    scores, mass = world(4000, 2, 3)
    ((_, (value, _), exact),) = find_values(["ece"], scores, mass)[1]
    np.testing.assert_allclose(value, exact, atol=2e-3)


@settings(max_examples=20, deadline=None)
@given(st.permutations(range(5)), st.integers(0, 1000))
def test_adding_is_commutative_and_associative(order, seed) -> None:
    scores, mass = world(200, 2, seed)
    tally = plan_tally([get_metric(name) for name in [*EXACT, *BOUNDED, "ece"]], scores)
    parts = [tally.count(scores[i::5], mass[i::5]) for i in range(5)]
    left: dict = {}
    for i in order:
        left = add_sums(left, parts[i])
    right = add_sums(add_sums(parts[0], parts[1]), add_sums(parts[2], add_sums(parts[3], parts[4])))
    for name, sums in right.items():
        np.testing.assert_allclose(left[name], sums, rtol=1e-12, atol=1e-12)
        np.testing.assert_array_equal(
            add_sums(parts[0], parts[1])[name], add_sums(parts[1], parts[0])[name]
        )


def test_bins_grow_with_the_score_and_are_narrow() -> None:
    rng = np.random.default_rng(0)
    tails = 10.0 ** -rng.uniform(0.3, 14, 5000)
    scores = np.sort(np.concatenate([[0.0, 0.5, 1.0], tails, 1 - tails, rng.random(5000)]))
    bins = find_bins(scores)
    assert (np.diff(bins) >= 0).all()
    assert (bins.min(), bins.max()) == (0, N_BINS - 1)
    middle = (scores > 1e-9) & (scores < 0.5)
    width = np.diff(scores[middle]) / scores[middle][1:]
    assert (width[np.diff(bins[middle]) == 0] < 1 / 100).all()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_every_metric_of_the_registry_is_streamed_or_refused(n_classes) -> None:
    scores, mass = world(300, n_classes, 5)
    for name in metric_names(n_classes):
        metric = get_metric(name)
        assert adds_up(metric, n_classes) == (n_classes == 2 or name != "roc_auc_ovo")
        if not adds_up(metric, n_classes):
            with pytest.raises(UnsupportedError, match="cannot be added up"):
                plan_tally([metric], scores)
        else:
            ((_, (value, _), exact),) = find_values([name], scores, mass)[1]
            np.testing.assert_allclose(value, exact, atol=0.03)


def test_a_callable_is_refused() -> None:
    scores, _ = world(50, 2, 0)
    metric = get_metric(lambda y, s: float(np.mean(y)))
    with pytest.raises(UnsupportedError, match="cannot be added up"):
        plan_tally([metric], scores)
