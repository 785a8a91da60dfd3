"""Labels alone: points equal the metric on labeled rows; intervals by rule; joint draws."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ssme.data.scoreset import ScoreSet
from ssme.methods.base import Estimate
from ssme.methods.label_draws import find_ap_interval, newcombe_auc, wilson
from ssme.methods.labeled import Labeled
from ssme.metrics import expected_cost, get_metric, metric_names


def score_set(n: int = 60, k: int = 2, m: int = 3, labeled: int = 30, seed: int = 0, **extra):
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(k), rng.integers(0, k, n - k)])
    logits = rng.normal(size=(n, m, k))
    logits[np.arange(n), :, y] += 1.2
    scores = np.exp(logits) / np.exp(logits).sum(axis=2, keepdims=True)
    labels = np.where(np.arange(n) < labeled, y, -1)
    names = tuple(f"m{j}" for j in range(m))
    return ScoreSet(scores, labels, names, tuple(range(k)), **extra)


def with_scores(data: ScoreSet, rows: object, models: object, values: object) -> ScoreSet:
    scores = data.scores.copy()
    scores[rows, models] = values
    return replace(data, scores=scores)


def estimate(data: ScoreSet, metric: object, rows=None, seed: int = 0) -> Estimate:
    belief = Labeled(n_draws=200).fit(data, np.random.default_rng(seed))
    return belief.estimate([get_metric(metric)], [rows])[0][0]


@pytest.mark.parametrize("k", [2, 4])
def test_every_metric_contains_its_point_and_stays_in_range(k: int):
    data = score_set(k=k)
    for name in metric_names(k):
        metric = get_metric(name)
        result = estimate(data, name)
        low, high = result.interval()
        assert result.value == pytest.approx(
            metric(data.scores[:30], np.eye(k)[data.labels[:30]][None])[0], nan_ok=True
        )
        if name in {"mce", "classwise_ece", "ece_l2"}:
            assert np.isnan(low).all(), name
            continue
        assert (low <= result.value).all(), name
        assert (result.value <= high).all(), name
        assert (low >= metric.low).all(), name
        assert (high <= metric.high).all(), name


def test_closed_forms_rest_on_their_own_denominators():
    data = score_set()
    y = data.labels[:30]
    flagged = (data.scores[:30, :, 1] >= 0.3).sum(axis=0)
    positives = np.full(3, float((y == 1).sum()))
    expected = {
        "accuracy": lambda v: wilson(v, np.full(3, 30.0)),
        "recall": lambda v: wilson(v, positives),
        "specificity": lambda v: wilson(v, 30.0 - positives),
        "precision@0.3": lambda v: wilson(v, flagged.astype(float)),
        "roc_auc": lambda v: newcombe_auc(v, positives, 30.0 - positives),
        "average_precision": lambda v: find_ap_interval(v, positives),
    }
    for name, rule in expected.items():
        result = estimate(data, name)
        assert np.allclose(result.interval(), rule(result.value)), name


def test_missing_scores_do_not_count_for_that_classifier():
    data = with_scores(score_set(), slice(10), 0, np.nan)
    result = estimate(data, "accuracy")
    low, high = wilson(result.value, np.array([20.0, 30.0, 30.0]))
    assert np.allclose(result.interval(), (low, high))


def test_equal_weights_change_nothing_and_uneven_ones_widen():
    plain = score_set()
    for name in ("accuracy", "f1", "ece", "brier_score"):
        equal = estimate(score_set(weights=np.full(60, 2.5)), name)
        low, high = estimate(plain, name).interval()
        assert np.allclose(equal.interval(), (low, high), rtol=1e-6), name
    uneven = estimate(score_set(weights=np.where(np.arange(60) < 5, 20.0, 1.0)), "accuracy")
    wide_low, wide_high = uneven.interval()
    low, high = estimate(plain, "accuracy").interval()
    assert (wide_high - wide_low > high - low).all()


def test_cost_and_threshold_metrics_use_the_confusion_rule():
    plain = score_set()
    truth = np.eye(2)[plain.labels[:30]][:, None, :]
    perfect = with_scores(plain, slice(30), slice(None), truth)
    cost = expected_cost([[0.0, 1.0], [5.0, 0.0]], name="euros")
    low, high = estimate(perfect, cost).interval()
    assert (low == 0.0).all()
    assert (high > 0.1).all()  # thirty right answers do not prove a cost of zero
    low, high = estimate(perfect, "f1@0.4").interval()
    assert (high == 1.0).all()
    assert ((low > 0.7) & (low < 0.97)).all()


def test_callables_with_and_without_weights():
    def median_score(y_true, y_score):
        return float(np.median(y_score[y_true == 1]))

    def mean_error(y_true, y_score, sample_weight=None):
        return float(np.average(np.abs(y_true - y_score), weights=sample_weight))

    for function in (median_score, mean_error):
        result = estimate(score_set(), function)
        low, high = result.interval()
        assert result.draws is not None
        assert result.draws.shape == (200, 3)
        assert ((low < result.value) & (result.value < high)).all()


def test_groups_use_their_own_rows_and_an_empty_one_is_nan():
    data = score_set()
    belief = Labeled(n_draws=50).fit(data, np.random.default_rng(0))
    even = np.arange(60) % 2 == 0
    nobody = np.arange(60) >= 30
    accuracy = get_metric("accuracy")
    (inside,), (empty,), (everyone,) = belief.estimate([accuracy], [even, nobody, None])
    subset = ScoreSet(data.scores[even], data.labels[even], data.models, data.classes)
    assert np.array_equal(inside.value, estimate(subset, "accuracy").value)
    assert np.isnan(empty.value).all()
    assert np.isnan(empty.interval()).all()
    assert everyone.draws is not None
    assert everyone.draws.shape == (50, 3)


def test_without_joint_draws_the_intervals_stay_and_only_bootstrapped_metrics_are_drawn():
    data = score_set()
    metrics = [get_metric(name) for name in ("accuracy", "f1", "ece", "brier_score")]
    full, lean = (
        Labeled(n_draws=100, joint_draws=joint)
        .fit(data, np.random.default_rng(0))
        .estimate(metrics, [None])[0]
        for joint in (True, False)
    )
    assert [estimate.draws is None for estimate in lean] == [True, True, True, False]
    for one, two in zip(full, lean, strict=True):
        assert np.array_equal(one.value, two.value)
        assert np.array_equal(one.interval(), two.interval())


def test_a_belief_repeats_one_of_the_same_data_draws_and_random_numbers():
    data = score_set()

    def fit(n_draws: int, seed: int, of: ScoreSet = data):
        return Labeled(n_draws=n_draws).fit(of, np.random.default_rng(seed))

    one = fit(50, 0)
    assert one.repeats(fit(50, 0))
    for other in (fit(60, 0), fit(50, 1), fit(50, 0, score_set()), None):
        assert not one.repeats(other)
