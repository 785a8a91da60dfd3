"""The model's bias, as labels that were drawn with known probabilities tell it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.made_sets import binary_set

import ssme
from ssme.methods.auto.constants import Constants, CorrectionConstants
from ssme.methods.auto.correction import guess_bias
from ssme.methods.auto.method import Auto
from ssme.metrics import get_metric, one_hot_mass


def believed(n: int, share: float = 0.8) -> tuple[np.ndarray, np.ndarray]:
    """Scores of one classifier that says class 0, and a belief that it is mostly right."""
    return np.tile([0.9, 0.1], (n, 1))[:, None], np.tile([share, 1.0 - share], (n, 1))


def test_where_every_row_has_its_label_the_guess_is_the_bias_itself() -> None:
    scores, soft = believed(200)
    labels = (np.arange(200) % 2).astype(np.int64)
    known = np.arange(200)
    guess = guess_bias(get_metric("accuracy"), scores, soft, known, labels, np.ones(200), 300.0)
    assert guess.step == pytest.approx([0.5 - 0.8], abs=1e-3)
    assert guess.left[0, 0] < 1e-6


def test_the_gain_is_that_of_a_bias_as_large_as_the_noise_of_so_many_labels() -> None:
    n, labeled, n_0 = 1000, 40, 300.0
    scores, soft = believed(n, 0.75)
    labels = np.repeat([0, 1], [24, 16])
    weights = np.full(labeled, n / labeled)
    known = np.arange(0, n, n // labeled)
    accuracy = get_metric("accuracy")
    guess = guess_bias(accuracy, scores, soft, known, labels, weights, n_0, 0.0)
    residual = 24 / 40 - 0.75
    variance = 0.75 * 0.25
    seen = (24 * 0.25**2 + 16 * 0.75**2) / labeled
    noise = 0.5 * (variance + seen) / labeled * (1.0 - labeled / n)
    gain = variance / n_0 / (variance / n_0 + noise)
    assert guess.step == pytest.approx([gain * residual])
    assert guess.left[0, 0] == pytest.approx((1.0 - gain) * variance / n_0)


def test_roc_auc_of_a_belief_that_is_too_sure_falls() -> None:
    """On average over the models; of one, 200 labels show it within two standard errors."""
    data = binary_set(n=800, n_labeled=0)
    scores = data.scores
    truth = np.random.default_rng(1).integers(0, 2, 800)
    auc = get_metric("roc_auc")
    sharp = scores.mean(axis=1) ** 3
    soft = sharp / sharp.sum(axis=1, keepdims=True)
    known = np.arange(0, 800, 4)
    weights = np.full(200, 4.0)
    guess = guess_bias(auc, scores, soft, known, truth[known], weights, 300.0)
    believed, true = auc(scores, soft[None])[0], auc(scores, one_hot_mass(truth, 2))[0]
    before, after = np.abs(believed - true), np.abs(believed + guess.step - true)
    assert after.mean() < 0.95 * before.mean()
    assert (after < before + 2.0 * np.sqrt(np.diag(guess.left))).all()


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
