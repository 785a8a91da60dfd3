"""Labels of suggested rows tell classifiers apart; others change nothing."""

from __future__ import annotations

import numpy as np
import pytest

import ssme
from ssme.data.design import LabelRounds, make_design
from ssme.methods.auto.correction import _compute_covariances, correct_differences


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


def test_labels_where_all_agree_say_nothing_of_differences() -> None:
    decisions, soft, *_ = disagreement(1000, 1)
    rows = np.arange(1, 101, 10)
    known = decisions[rows], soft[rows], np.ones(10, dtype=np.int64)
    step = correct_differences(decisions, soft, *known, np.full(10, 0.1), bias_labels=423.0)
    np.testing.assert_allclose(step, 0.0, atol=1e-12)


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
