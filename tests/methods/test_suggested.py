"""What labels of suggested rows say of differences between classifiers and of a metric's bias."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.made_sets import binary_set

import ssme
from ssme.data.design import LabelRounds, make_design
from ssme.methods.auto.constants import Constants, CorrectionConstants
from ssme.methods.auto.method import Auto
from ssme.methods.suggested import _compute_covariances, correct_differences, guess_bias
from ssme.metrics import get_metric

ACCURACY = get_metric("accuracy")


def disagreement(n: int, labeled: int) -> tuple[np.ndarray, ...]:
    """Two classifiers that differ on every tenth row, where the second is right."""
    decisions = np.zeros((n, 2), dtype=np.int64)
    decisions[::10, 1] = 1
    soft = np.tile([0.8, 0.2], (n, 1))
    soft[::10] = 0.5
    rows = np.arange(0, n, 10)[:labeled]
    return decisions, soft, decisions[rows], soft[rows], np.ones(labeled, dtype=np.int64)


def test_labels_where_classifiers_differ_move_the_difference_towards_the_truth() -> None:
    parts = disagreement(1000, 40)
    step = correct_differences(*parts, np.full(40, 0.1 / 40), bias_labels=423.0)
    assert step.sum() == pytest.approx(0.0, abs=1e-12)
    # the belief thinks both alike; in truth the second is right on 10 % of the rows more
    assert 0.02 < step[1] - step[0] < 0.1


def test_only_labels_that_came_in_rounds_are_used_so() -> None:
    rng = np.random.default_rng(0)
    n = 300
    truth = rng.integers(0, 2, n)
    z = (2 * truth - 1)[:, None] * [1.0, 1.3] + rng.normal(size=(n, 2))
    scores = 1.0 / (1.0 + np.exp(-z))
    labels = np.where(np.arange(n) < 40, truth, -1)
    data = ssme.ScoreSet.from_arrays(scores, labels, unlabeled=-1)
    chance = np.where(labels >= 0, 40 / n, np.nan)
    rounds = LabelRounds(chance, (labels >= 0).astype(np.int64))
    in_rounds = data.with_design(make_design(rounds, data.labels))
    names = ["accuracy", "roc_auc", "average_precision"]
    plain, moved = (ssme.evaluate(each, metrics=names) for each in (data, in_rounds))
    for name in names:
        before, after = plain.estimate(name).value, moved.estimate(name).value
        changed = np.ptp(after - before) > 1e-6
        assert changed == (name != "average_precision"), name
        assert np.isfinite(moved.estimate(name).draws).all()


def test_covariances_are_those_of_being_right_less_the_mean() -> None:
    rng = np.random.default_rng(0)
    soft = rng.dirichlet([1.0, 2.0, 3.0], 5)
    decisions = rng.integers(0, 3, (5, 4))
    found = _compute_covariances(decisions, soft)
    for row in range(5):
        right = (decisions[row][None] == np.arange(3)[:, None]).astype(float)  # by true class
        right -= right.mean(axis=1, keepdims=True)
        mean = soft[row] @ right
        expected = (right - mean).T @ np.diag(soft[row]) @ (right - mean)
        np.testing.assert_allclose(found[row], expected, atol=1e-14)


def test_a_missing_decision_says_nothing_of_its_row() -> None:
    rng = np.random.default_rng(0)
    soft = rng.dirichlet([1.0, 2.0, 3.0], 5)
    decisions = rng.integers(0, 3, (5, 4))
    missing = decisions.copy()
    missing[:, 2] = -1
    found, others = _compute_covariances(missing, soft), [0, 1, 3]
    assert (found[:, 2] == 0.0).all()
    expected = _compute_covariances(decisions[:, others], soft)
    np.testing.assert_allclose(found[:, others][:, :, others], expected, atol=1e-14)
    decisions, soft, known, known_soft, labels = disagreement(1000, 40)
    third = [np.concatenate([d, np.full((len(d), 1), -1)], axis=1) for d in (decisions, known)]
    weights = np.full(40, 0.1 / 40)
    step = correct_differences(third[0], soft, third[1], known_soft, labels, weights, 423.0)
    two = correct_differences(decisions, soft, known, known_soft, labels, weights, 423.0)
    np.testing.assert_allclose(step, [*two, 0.0], atol=1e-12)


def test_the_step_is_the_posterior_mean_of_the_differences() -> None:
    """Residuals ~ N(bias, noise), bias ~ N(0, C / n_0): the mean of bias given the residual."""
    rng = np.random.default_rng(1)
    soft, decisions = rng.dirichlet([1.0, 1.0], 300), rng.integers(0, 2, (300, 3))
    labels, weights = rng.integers(0, 2, 20), rng.uniform(0.01, 0.09, 20)
    step = correct_differences(
        decisions, soft, decisions[:20], soft[:20], labels, weights, 50.0, least_variance=1e-6
    )
    off = (decisions[:20] == labels[:, None]) - np.take_along_axis(soft[:20], decisions[:20], 1)
    off -= off.mean(axis=1, keepdims=True)
    prior = _compute_covariances(decisions, soft).mean(axis=0) / 50.0
    model = sum(
        w**2 * c for w, c in zip(weights, _compute_covariances(decisions, soft), strict=False)
    )
    seen = sum(w**2 * np.outer(o, o) for w, o in zip(weights, off, strict=True))
    noise = (model + seen) / 2 + 1e-6 * np.eye(3)
    expected = prior @ np.linalg.inv(prior + noise) @ (weights @ off)
    np.testing.assert_allclose(step, expected, rtol=1e-9)


def believed(n: int, share: float = 0.8) -> tuple[np.ndarray, np.ndarray]:
    """Scores of one classifier that says class 0, and a belief that it is mostly right."""
    return np.tile([0.9, 0.1], (n, 1))[:, None], np.tile([share, 1.0 - share], (n, 1))


def test_where_every_row_has_its_label_the_guess_is_the_bias_itself() -> None:
    scores, soft = believed(200)
    labels = (np.arange(200) % 2).astype(np.int64)
    known = np.arange(200)
    step, left = guess_bias(ACCURACY, scores, soft, known, labels, np.ones(200), 300.0)
    assert step == pytest.approx([0.5 - 0.8], abs=1e-3)
    assert left[0, 0] < 1e-6


def test_the_gain_is_that_of_a_bias_as_large_as_the_noise_of_so_many_labels() -> None:
    n, labeled, n_0 = 1000, 40, 300.0
    scores, soft = believed(n, 0.75)
    labels = np.repeat([0, 1], [24, 16])
    weights = np.full(labeled, n / labeled)
    known = np.arange(0, n, n // labeled)
    step, left = guess_bias(ACCURACY, scores, soft, known, labels, weights, n_0, 0.0)
    residual = 24 / 40 - 0.75
    variance = 0.75 * 0.25
    seen = (24 * 0.25**2 + 16 * 0.75**2) / labeled
    noise = 0.5 * (variance + seen) / labeled * (1.0 - labeled / n)
    gain = variance / n_0 / (variance / n_0 + noise)
    assert step == pytest.approx([gain * residual])
    assert left[0, 0] == pytest.approx((1.0 - gain) * variance / n_0)


def test_what_is_left_of_the_bias_widens_the_draws_and_no_others() -> None:
    """The draws of ROC AUC get noise; its correlation with them is zero within 1 / sqrt(draws)."""
    data = binary_set(n=600, n_labeled=0)
    first = ssme.evaluate(data, metrics=["accuracy", "roc_auc"], random_state=0)
    filled = first.suggest(30, "best:accuracy").fill_in((np.arange(30) % 2).tolist())
    draws = {}
    for n_0 in (300.0, 1e12):
        correction = replace(CorrectionConstants(), ranking_bias_labels=n_0)
        method = Auto(constants=replace(Constants(), correction=correction))
        found = ssme.evaluate(filled, method=method, metrics=["accuracy", "roc_auc"], by=[])
        for name in ("accuracy", "roc_auc"):
            estimate = found.estimate(name)
            low, high = estimate.interval(0.95)
            assert (low <= estimate.value).all()
            assert (estimate.value <= high).all()
            draws[name, n_0] = estimate.draws
    plain = draws["roc_auc", 1e12]
    noise = draws["roc_auc", 300.0] - plain
    assert (noise.std(axis=0) > 0.1 * plain.std(axis=0)).all()
    for model in range(data.n_models):
        together = np.corrcoef(noise[:, model], plain[:, model])[0, 1]
        assert abs(together) < 4.0 / np.sqrt(len(plain))
    np.testing.assert_array_equal(draws["accuracy", 300.0], draws["accuracy", 1e12])
