"""The estimate of a judge's metric: residual, gain and draws, each by its formula."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.methods.answers.test_answers import ACCURACY, made

from ssme import ScoreSet
from ssme.data.design import LabelRounds, make_design
from ssme.methods.answers.constants import AnswerConstants
from ssme.methods.answers.method import Answers, AnswersBelief
from ssme.methods.auto.correction import Spread, recenter
from ssme.metrics import from_callable, get_metric
from ssme.metrics.base import one_hot_mass


@pytest.fixture(scope="module")
def belief() -> AnswersBelief:
    return Answers(n_draws=60).fit(made(n=200, labels=40)[0], np.random.default_rng(0))


def test_the_residual_is_what_labels_say_beyond_the_model(belief: AnswersBelief) -> None:
    labeled = np.flatnonzero(belief.data.labeled)
    residual, noise = belief._find_residual(ACCURACY, labeled, 7)
    scores = belief.data.scores[labeled]
    observed = (scores.argmax(axis=2) == belief.data.labels[labeled][:, None]).mean(axis=0)
    soft = belief.soft[labeled] * np.exp(belief.shift)
    soft /= soft.sum(axis=1, keepdims=True)
    expected = np.einsum("nk,nmk->m", soft, scores) / len(labeled)
    variance = np.einsum("nk,nmk->nm", soft, scores)
    variance = (variance * (1 - variance)).sum(axis=0) / len(labeled) ** 2
    # the mean over 50 labelings of the model, and their spread
    np.testing.assert_allclose(residual, observed - expected, atol=4 * np.sqrt(variance.max() / 50))
    np.testing.assert_allclose(noise.mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(noise.std(axis=0), np.sqrt(variance), rtol=0.45)


def test_one_label_that_the_model_thought_impossible_decides_little() -> None:
    """A judge who gave a single labeled answer, right where the others agree on another class."""
    said = np.tile(np.arange(200) % 2, (6, 1)).T.astype(object)
    said[1:, 5] = None
    said[100:, 5] = said[100:, 0]
    said[0, 5] = 1
    labels = [1, *[None] * 199]
    data = ScoreSet.from_answers(said, labels, classes=[0, 1])
    fitted = Answers(n_draws=60).fit(data, np.random.default_rng(0))
    residual, noise = fitted._find_residual(ACCURACY, np.array([0]), 6)
    assert residual[5] > 0.5
    # half of the variance is that of the label as it was seen
    assert noise.std(axis=0)[5] >= residual[5] / 2**0.5


def test_labels_of_suggested_rows_correct_differences() -> None:
    """Where the first and the last judge differ, labels say that the first, a bad one, is right."""
    data, asked = made(n=400, labels=0)[0], made(n=400)[0].scores.argmax(axis=2)
    differing = np.flatnonzero(asked[:, 0] != asked[:, 6])
    rows = differing[:40]
    chance, number = np.full(400, np.nan), np.zeros(400, dtype=np.int64)
    chance[rows], number[rows] = 40 / differing.size, 1
    labels = np.full(400, -1)
    labels[rows] = asked[rows, 0]
    labeled = data.replace(labels=labels)
    in_rounds = labeled.with_design(make_design(LabelRounds(chance, number), labels))

    def find_difference(given: ScoreSet, bias_labels: float) -> float:
        method = Answers(n_draws=60, constants=AnswerConstants(bias_labels=bias_labels))
        found = method.fit(given, np.random.default_rng(0)).estimate([ACCURACY], [None])[0][0]
        return float(found.value[6] - found.value[0])

    assert find_difference(in_rounds, 50.0) < find_difference(in_rounds, 1e12) - 0.02
    assert find_difference(labeled, 50.0) == find_difference(labeled, 1e12)


def likeliest_tau(
    of: AnswerConstants, error: float, residual: np.ndarray, variance: np.ndarray
) -> float:
    """By a search over the same taus, a judge at a time."""
    best, found = -np.inf, 0.0
    for tau in np.geomspace(*of.taus):
        each = [
            -0.5 * (np.log(v + tau**2) + r**2 / (v + tau**2))
            for r, v in zip(residual, variance, strict=True)
        ]
        prior = -0.5 * ((np.log(tau) - np.log(of.bias * error)) / of.bias_spread) ** 2
        value = sum(each) / (1 + of.errs_together * (len(each) - 1)) + prior
        if value > best:
            best, found = value, tau
    return found


@pytest.mark.parametrize("size", [0.0, 0.02, 0.2])
@pytest.mark.parametrize("span", [1.0, 2.0])
def test_the_gain_is_that_of_the_likeliest_size_of_residuals(
    belief: AnswersBelief, size: float, span: float
) -> None:
    rng = np.random.default_rng(1)
    noise = 0.05 * rng.normal(size=(50, 7))
    noise[:, 3] = 0.0
    residual = size * rng.normal(size=7)
    gain, left = belief._find_gain(residual, noise, span)
    variance = (noise**2).mean(axis=0) / span**2
    known = np.arange(7) != 3
    tau = likeliest_tau(
        belief.constants, belief.design.agreement.error, residual[known] / span, variance[known]
    )
    np.testing.assert_allclose(gain[known], (tau**2 / (tau**2 + variance))[known])
    assert gain[3] == 0.0
    np.testing.assert_allclose(left, np.where(known, 0.0, span * tau))


def test_the_value_is_the_model_and_its_part_of_the_residual(belief: AnswersBelief) -> None:
    rows = np.arange(200)
    labeled = np.flatnonzero(belief.data.labeled)
    plain = np.einsum("nk,nmk->m", belief.soft, belief.data.scores) / 200
    np.testing.assert_allclose(belief._expect(ACCURACY, rows), plain)
    residual, noise = belief._find_residual(ACCURACY, labeled, 7)
    gain, _ = belief._find_gain(residual, noise, 1.0)
    told = belief.estimate([ACCURACY], [None])[0][0]
    np.testing.assert_allclose(told.value, plain + (0.2 + 0.8 * gain) * residual)
    assert told.draws is not None
    np.testing.assert_allclose(np.median(told.draws, axis=0), told.value, atol=0.01)


def test_weights_of_rows_count_in_the_model_and_those_of_labels_in_the_residual(
    belief: AnswersBelief,
) -> None:
    weights = np.where(np.arange(200) % 2, 3.0, 1.0)
    weighted = replace(belief, data=belief.data.replace(weights=weights))
    expected = np.einsum("n,nk,nmk->m", weights, belief.soft, belief.data.scores) / weights.sum()
    np.testing.assert_allclose(weighted._expect(ACCURACY, np.arange(200)), expected)
    mass = one_hot_mass(belief.data.labels[:4], 2)
    heavy = np.arange(200) + 1.0
    designed = belief.data.replace(labels=belief.data.labels).with_design(heavy)
    told = replace(belief, data=designed)._weigh(mass, np.arange(4), labels=True)
    np.testing.assert_allclose(told.sum(axis=2)[0], [1.0, 2.0, 3.0, 4.0])
    assert replace(belief, data=designed)._weigh(mass, np.arange(4)) is mass


def test_a_metric_of_whole_labels_is_the_mean_over_labels_that_are_drawn(
    belief: AnswersBelief,
) -> None:
    def hits(y_true: np.ndarray, scores: np.ndarray) -> float:
        return float(((scores >= 0.5) == y_true).mean())

    metric = from_callable(hits)
    assert metric.hard_only
    soft = belief._expect(ACCURACY, np.arange(200))
    hard = belief._expect(metric, np.arange(200))
    np.testing.assert_allclose(hard, soft, atol=0.02)
    assert not np.array_equal(hard, soft)
    told = belief.estimate([metric], [None])[0][0]
    assert told.draws is not None
    np.testing.assert_allclose(
        told.draws.std(axis=0),
        belief.estimate([ACCURACY], [None])[0][0].draws.std(axis=0),
        rtol=0.6,
    )


def test_draws_are_moved_on_the_scale_of_their_range() -> None:
    worlds = np.array([[0.7, 0.1], [0.8, np.nan], [0.95, 0.3]])
    moved = recenter(ACCURACY, np.array([0.9, np.nan]), worlds, None, Spread())
    z = np.log(worlds[:, 0] / (1 - worlds[:, 0]))
    expected = 1 / (1 + np.exp(-(z - z[1] + np.log(9.0))))
    np.testing.assert_allclose(moved[:, 0], expected)
    assert np.isnan(moved[:, 1]).all()


def test_labelings_of_one_class_alone_say_nothing_of_a_ranking(belief: AnswersBelief) -> None:
    """Of four rows many drawn labelings have one class: no noise there, and a finite residual."""
    metric = get_metric("roc_auc")
    labels = belief.data.labels
    few = np.sort(np.concatenate([np.flatnonzero(labels == k)[:2] for k in (0, 1)]))
    soft = belief.soft[few] * np.exp(belief.shift)
    soft /= soft.sum(axis=1, keepdims=True)
    drawn = belief._draw_over_labels(metric, few, soft, labels=True)
    assert 0 < np.isnan(drawn).sum() < drawn.size
    residual, noise = belief._find_residual(metric, few, 7)
    np.testing.assert_allclose(noise, np.nan_to_num(drawn - np.nanmean(drawn, axis=0)), atol=1e-9)
    assert np.isfinite(residual).all()
