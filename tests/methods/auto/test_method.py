"""auto: what it promises for every input, and the parts against slow oracles."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ssme.arrays import FloatArray
from ssme.data.scoreset import ScoreSet
from ssme.methods.auto.belief import AutoBelief
from ssme.methods.auto.constants import Constants
from ssme.methods.auto.method import Auto
from ssme.metrics import default_metrics, get_metric, metric_names
from ssme.metrics.base import one_hot_mass

OF = Constants()


def made_up(
    n: int = 300, n_models: int = 4, n_classes: int = 2, n_labeled: int = 30, seed: int = 0
) -> tuple[FloatArray, np.ndarray, np.ndarray]:
    """Scores (n, M, K) of classifiers that share most of their errors, labels with NaN, truth."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(n_classes, size=n)
    signal = 1.2 * (truth[:, None] == np.arange(n_classes)) + 0.8 * rng.normal(size=(n, n_classes))
    logits = signal[:, None] + 0.6 * rng.normal(size=(n, n_models, n_classes))
    scores = np.exp(logits) / np.exp(logits).sum(axis=2, keepdims=True)
    labels = truth.astype(float)
    labels[n_labeled:] = np.nan
    return scores, labels, truth


def score_set(scores: FloatArray, labels: np.ndarray, **options: object) -> ScoreSet:
    return ScoreSet.from_arrays(scores, labels, classes=list(range(scores.shape[2])), **options)


def believe(data: ScoreSet, seed: int = 0, **options: Any) -> AutoBelief:
    return Auto(**{"n_draws": 60, **options}).fit(data, np.random.default_rng(seed))


def check(
    data: ScoreSet, names: tuple[str, ...] | None = None, truth: np.ndarray | None = None
) -> AutoBelief:
    """Finite estimates, near the truth where it is given; in each regime the median of its draws.

    Intervals are read off the draws as they are: what `Estimate.interval` widens to hold the value
    is not looked at.
    """
    belief, covered = believe(data), []
    metrics = [get_metric(name) for name in names or default_metrics(data.n_classes)]
    by_regime = belief.estimate_by_regime(metrics, np.arange(data.n_rows))
    for m, (metric, estimate) in enumerate(
        zip(metrics, belief.estimate(metrics, [None])[0], strict=True)
    ):
        assert np.isfinite(estimate.value).all(), metric.name
        assert estimate.draws.shape == (60, data.n_models)
        for part in by_regime:
            ends = [np.quantile(part[m].draws, 0.5, axis=0, method=e) for e in ("lower", "higher")]
            assert (ends[0] <= part[m].value + 1e-9).all(), metric.name
            assert (part[m].value <= ends[1] + 1e-9).all(), metric.name
        mixed = belief.weights @ np.array([part[m].value for part in by_regime])
        assert np.allclose(mixed, estimate.value), metric.name
        if truth is not None:
            exact = metric(data.scores, one_hot_mass(truth, data.n_classes))[0]
            low, high = np.quantile(estimate.draws, [0.025, 0.975], axis=0)
            covered.append(((low <= exact) & (exact <= high)).mean())
            assert (high - low < 0.5 * (metric.high - metric.low)).all(), metric.name
    assert truth is None or np.mean(covered) >= 0.5
    assert np.allclose(belief.posterior.sum(axis=1), 1.0)
    return belief


@pytest.mark.parametrize("n_classes", [2, 3])
def test_every_metric_is_the_median_of_draws_that_reach_the_truth(n_classes: int) -> None:
    scores, labels, truth = made_up(n_classes=n_classes)
    check(score_set(scores, labels), metric_names(n_classes))
    check(score_set(scores, labels), truth=truth)


@pytest.mark.parametrize("n_models", [1, 2, 30])
def test_any_number_of_classifiers(n_models: int) -> None:
    scores, labels, truth = made_up(n_models=n_models)
    check(score_set(scores, labels), truth=truth)


def test_no_label_is_label_free_and_says_so() -> None:
    scores, _, truth = made_up()
    belief = check(score_set(scores, np.full(300, np.nan)))
    assert belief.facts.label_free is True
    assert belief.facts.correction_weight == 0.0
    assert belief.facts.temperature == pytest.approx(belief.facts.prior_temperature)
    accuracy = belief.estimate([get_metric("accuracy")], [None])[0][0].value
    assert np.abs(accuracy - (scores.argmax(axis=2) == truth[:, None]).mean(axis=0)).max() < 0.15


@pytest.mark.parametrize("kind", ["judges", "constant", "exact", "copies"])
def test_hostile_scores(kind: str) -> None:
    scores, labels, _ = made_up()
    hard = one_hot_mass(scores.argmax(axis=2).T, 2).transpose(1, 0, 2)
    hostile = {
        "judges": hard,
        "constant": np.full_like(scores, 0.5),
        "exact": np.where(np.arange(300)[:, None, None] % 2 == 0, hard, scores),
        "copies": np.repeat(scores[:, :1], 4, axis=1),
    }[kind]
    check(score_set(hostile, labels), ("accuracy", "ece", "log_loss", "brier_score"))


def test_groups_share_worlds_and_need_no_labels() -> None:
    scores, labels, _ = made_up()
    belief = believe(score_set(scores, labels), n_draws=200)
    unlabeled = np.arange(300) >= 30
    metric = get_metric("accuracy")
    whole, part = (group[0] for group in belief.estimate([metric], [None, unlabeled]))
    assert np.isfinite(part.value).all()
    for m in range(4):
        assert np.corrcoef(whole.draws[:, m], part.draws[:, m])[0, 1] > 0.9


def test_empty_group_is_undefined() -> None:
    belief = believe(score_set(*made_up()[:2]))
    estimate = belief.estimate([get_metric("accuracy")], [np.zeros(300, dtype=bool)])[0][0]
    assert np.isnan(estimate.value).all()
    assert np.isnan(estimate.draws).all()


def test_callables_see_hard_labels() -> None:
    def share_right(y_true: np.ndarray, y_score: np.ndarray) -> float:
        assert set(np.unique(y_true)) <= {0, 1}
        return float(np.mean(y_true == (y_score > 0.5)))

    belief = believe(score_set(*made_up()[:2]))
    custom, soft = belief.estimate([get_metric(share_right), get_metric("accuracy")], [None])[0]
    assert np.allclose(custom.value, soft.value, atol=0.02)
    wider = np.std(custom.draws, axis=0) / np.std(soft.draws, axis=0)
    assert ((wider > 0.8) & (wider < 3.0)).all()


def test_agrees_with_labels_alone_as_labels_grow() -> None:
    scores, labels, truth = made_up(n=12_000, n_labeled=10_000)
    metrics = [get_metric(name) for name in default_metrics(2)]
    data = score_set(scores, labels)
    ours = believe(data).estimate(metrics, [None])[0]
    for metric, estimate in zip(metrics, ours, strict=True):
        alone = metric(scores[:10_000], one_hot_mass(truth[:10_000], 2))[0]
        assert np.abs(estimate.value - alone).max() < 0.01, metric.name


def test_part_of_many_rows_has_the_spread_of_all() -> None:
    data = score_set(*made_up(n=2000, n_labeled=30)[:2])
    metrics = [get_metric("accuracy"), get_metric("roc_auc")]
    whole = believe(data, n_draws=300).estimate(metrics, [None])[0]
    few = Constants(world_rows=500)
    part = believe(data, n_draws=300, constants=few).estimate(metrics, [None])[0]
    for a, b in zip(whole, part, strict=True):
        assert (a.value == b.value).all()
        assert np.allclose(a.draws.std(axis=0), b.draws.std(axis=0), rtol=0.4)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"temperature": (0.0, 0.5, 1.0)},
        {"constants": replace(Constants(), world_rows=50, fit_rows=40)},
    ],
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_with_every_row_labeled_the_estimates_are_those_of_the_labels(
    n_classes: int, options: dict[str, Any]
) -> None:
    scores, _, truth = made_up(n=160, n_classes=n_classes)
    group = np.arange(160) < 70
    names = [*default_metrics(n_classes), "log_loss", "f1_macro"]
    metrics = [get_metric(name) for name in names]
    metrics.append(get_metric(lambda y, s: float((y * s.reshape(len(y), -1)[:, -1]).mean())))
    for design in ("random", "by_class", np.linspace(1.0, 9.0, 160)):
        weights = 1.0 + np.arange(160) % 3
        data = score_set(scores, truth, weights=weights).with_design(design)
        estimates = believe(data, **options).estimate(metrics, [None, group])
        for rows, row in zip((slice(None), group), estimates, strict=True):
            mass = one_hot_mass(truth[rows], n_classes, weights[rows])
            for metric, estimate in zip(metrics, row, strict=True):
                found = metric(data.scores[rows], mass)[0]
                np.testing.assert_allclose(estimate.value, found, rtol=1e-12, err_msg=metric.name)
                low, high = estimate.interval(0.95)
                assert ((low <= estimate.value) & (estimate.value <= high) & (low < high)).all()


def test_chance_is_no_calibration_error_until_every_row_has_a_label() -> None:
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 600)
    x = (2 * y - 1)[:, None] * np.array([0.8, 1.0, 1.2]) + rng.normal(size=(600, 3))
    one = 1.0 / (1.0 + np.exp(-2.0 * x * np.array([0.8, 1.0, 1.2])))
    data = ScoreSet.from_arrays(np.stack([1.0 - one, one], axis=2), y)
    metric = get_metric("ece")
    plain = metric(data.scores, one_hot_mass(data.labels, 2))[0]

    def estimate(n_labeled: int) -> np.ndarray:
        seen = np.where(np.arange(600) < n_labeled, data.labels, -1)
        belief = Auto(n_draws=20).fit(replace(data, labels=seen), np.random.default_rng(0))
        return belief.estimate([metric], [None])[0][0].value

    assert estimate(60).mean() < 0.8 * plain.mean()
    np.testing.assert_allclose(estimate(600), plain)
