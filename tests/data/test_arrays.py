"""Arrays and mappings at the door."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit, softmax

import ssme
from ssme.data import ScoreSet, as_score_set
from ssme.data.values import to_float64, undo_widening
from ssme.errors import InputError, SsmeWarning
from ssme.metrics import get_metric, one_hot_mass

P = np.array([[0.2, 0.7], [0.6, 0.1], [0.5, 0.9], [0.8, 0.3]])


@pytest.fixture
def class_scores() -> np.ndarray:
    return np.random.default_rng(0).dirichlet(np.ones(4), size=(6, 3))


def test_float32_scores_are_the_decimals_that_they_print_as(class_scores: np.ndarray) -> None:
    single = class_scores.astype(np.float32)
    data = ScoreSet.from_arrays(single)
    assert data.scores.dtype == np.float64
    assert data.scores.ravel().tolist() == [float(str(value)) for value in single.ravel()]


def test_ranks_of_rounded_class_scores_are_those_of_scikit_learn() -> None:
    """Equal scores stay equal, whatever the others of their rows add up to."""
    from sklearn.metrics import average_precision_score

    rng = np.random.default_rng(0)
    truth = rng.integers(0, 5, 400)
    votes = rng.multinomial(8, np.full(5, 0.2), 400) + 4 * np.eye(5)[truth]
    raw = (votes / 12.0).round(4)
    assert (raw.sum(axis=1) != 1.0).mean() > 0.3
    for scores in (raw, raw.astype(np.float32)):
        data = ScoreSet.from_arrays({"a": scores}, truth)
        metric = get_metric("average_precision")
        found = metric(data.scores, one_hot_mass(truth, 5))[0, 0]
        expected = average_precision_score(np.eye(5)[truth], raw, average="macro")
        assert found == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("kind", [np.float32, np.float16])
def test_narrow_numbers_become_their_shortest_decimals(kind: Any) -> None:
    rng = np.random.default_rng(0)
    decimals = [rng.random(3000).round(places) for places in range(1, 10)]
    drawn = np.concatenate([*decimals, rng.beta(0.3, 0.3, 3000), 20 * rng.normal(size=3000)])
    values = drawn[np.abs(drawn) > 1e-4].astype(kind)
    expected = [float(str(value)) for value in values]
    found = to_float64(values)
    if kind == np.float32:
        assert found.tolist() == expected
    assert_allclose(found, expected, rtol=1e-3 if kind == np.float16 else 0)
    assert_array_equal(found.astype(kind), values)
    swapped = values.reshape(-1, 1).astype(values.dtype.newbyteorder())
    assert_array_equal(to_float64(swapped)[::2], found.reshape(-1, 1)[::2])
    edges = np.array([0.0, 1.0, -0.0, np.nan, np.inf, -np.inf, 1e-7, 2.0**-14], dtype=kind)
    assert_array_equal(to_float64(edges), [float(str(value)) for value in edges])
    assert to_float64(drawn) is drawn


def test_numbers_of_32_bits_that_were_widened_become_decimals_again() -> None:
    rng = np.random.default_rng(0)
    decimals, drawn = rng.random(3000).round(4), rng.random(3000)
    single = decimals.astype(np.float32).astype(float)
    for held in (single, single.round(15), single.round(10), single[:, None].round(10)):
        assert_array_equal(undo_widening(held).ravel(), decimals)
    shares = np.arange(4097) / 4096  # fit in 32 bits, and are what they say
    for kept in (decimals, drawn, shares, np.array([0.5, 1.0, np.nan, np.inf, 1e300])):
        assert undo_widening(kept) is kept


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_logits_of_decimals_reach_the_same_thresholds(kind: Any) -> None:
    """Recall at 0.9 was 0 where the scores themselves had 0.05."""
    rng = np.random.default_rng(0)
    for places in (1, 2, 4):
        scores = np.clip(rng.random((300, 2)).round(places), 0.1**places, 1 - 0.1**places)
        scores = scores.round(places)
        logits = np.log(scores.astype(kind) / (1 - scores.astype(kind)))
        found = ScoreSet.from_arrays(logits, logits=True).scores[:, :, 1]
        assert_array_equal(found, ScoreSet.from_arrays(scores).scores[:, :, 1])
    drawn = rng.normal(size=(300, 2)).astype(kind)
    found = ScoreSet.from_arrays(drawn, logits=True).scores[:, :, 1]
    assert_allclose(found, 1 / (1 + np.exp(-drawn.astype(float))), atol=1e-7)
    assert np.unique(found).size == np.unique(drawn).size


def test_posteriors_of_rounded_scores_sum_to_one() -> None:
    rng = np.random.default_rng(0)
    scores = rng.dirichlet(np.ones(3), (60, 3)).round(4)
    labels = [int(k) if i < 20 else None for i, k in enumerate(rng.integers(0, 3, 60))]
    for method in ("auto", "ensemble", "weighted_ensemble", "cbpe"):
        found = ssme.evaluate(scores, labels, method=method, metrics="accuracy").posterior
        assert_allclose(found.sum(axis=1), 1.0, rtol=0, atol=1e-12)


def test_normalize_rescales(class_scores: np.ndarray) -> None:
    counts = class_scores * np.arange(1, 7)[:, None, None]
    assert_allclose(ScoreSet.from_arrays(counts, normalize=True).scores, class_scores, atol=1e-12)


def test_logits_pass_through_sigmoid_and_softmax() -> None:
    rng = np.random.default_rng(1)
    binary, many = rng.normal(size=(5, 2)) * 9, rng.normal(size=(5, 2, 3)) * 9
    assert_allclose(ScoreSet.from_arrays(binary, logits=True).scores[:, :, 1], expit(binary))
    assert_allclose(ScoreSet.from_arrays(many, logits=True).scores, softmax(many, axis=2))


def test_missing_scores_survive_every_path(class_scores: np.ndarray) -> None:
    holes = class_scores.copy()
    holes[2, 1] = np.nan
    for options in ({}, {"normalize": True}, {"logits": True}):
        data = ScoreSet.from_arrays(holes, **options)
        assert np.isnan(data.scores[2, 1]).all()
        assert np.isnan(data.scores).sum() == 4
    binary = P.copy()
    binary[0, 1] = np.nan
    assert np.isnan(ScoreSet.from_arrays(binary).scores[0, 1]).all()


def test_what_the_caller_holds_stays_his() -> None:
    scores, labels, weights = P.copy(), np.array([0, 1, 1, 0]), np.ones(4)
    data = ScoreSet.from_arrays(scores, labels, weights=weights)
    scores[0, 0], labels[0], weights[0] = 0.9, 1, 5.0
    assert data.scores[0, 0, 1] == 0.2
    assert data.labels[0] == 0
    assert data.weights[0] == 1.0
    frame = pd.DataFrame(P)
    assert ScoreSet.from_frame(frame, labels=False, models=["0", "1"]).n_models == 2
    assert list(frame.columns) == [0, 1]


def test_any_source_at_one_door(tmp_path: object) -> None:
    frame = pd.DataFrame({"a": P[:, 0], "b": P[:, 1]})
    made = ScoreSet.from_arrays(P, [0, 1, 1, 0], models=["a", "b"])
    for source in (P, {"a": P[:, 0], "b": P[:, 1]}, frame, P.tolist()):
        data = as_score_set(source, [0, 1, 1, 0])
        assert_array_equal(data.scores, made.scores)
        assert_array_equal(data.labels, made.labels)
    assert as_score_set(made) is made
    assert as_score_set(made, [-1, 1, 1, 0], unlabeled=-1).n_labeled == 3
    with pytest.raises(
        InputError, match="classes cannot be given for a ScoreSet that is already made"
    ):
        as_score_set(made, classes=[0, 1])


def test_logits_on_one_side_of_zero_are_warned_of() -> None:
    p = np.random.default_rng(0).uniform(0.05, 0.95, (20, 2))
    with pytest.warns(SsmeWarning, match="No logit of any model is above 0.*numpy.exp") as told:
        ScoreSet.from_arrays(np.log(p), logits=True)
    assert told[0].filename == __file__
    assert str(told[0].message).isprintable()
    with pytest.warns(SsmeWarning, match="No logit of any model is below 0.*percentages"):
        ScoreSet.from_arrays(100 * p, logits=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ScoreSet.from_arrays(np.log(p / (1 - p)), logits=True)
        ScoreSet.from_arrays(np.stack([np.log(1 - p), np.log(p)], axis=2), logits=True)


def test_a_model_and_its_opposite_are_two_models_where_they_are_named() -> None:
    p = np.linspace(0.0, 1.0, 12)
    both = np.stack([p, 1.0 - p], axis=1)
    assert ScoreSet.from_arrays(both, models=["a", "b"]).n_models == 2
    assert ScoreSet.from_arrays({"a": p, "b": 1.0 - p}).n_models == 2
    assert ScoreSet.from_arrays(np.full((12, 2), 0.5)).n_models == 2
    frame = pd.DataFrame(both, columns=["a", "b"])
    assert ScoreSet.from_frame(frame, labels=False, models=["a", "b"]).n_models == 2


def test_a_list_of_the_scores_of_each_model_is_warned_of() -> None:
    each = [np.random.default_rng(seed).random(30) for seed in range(5)]
    with pytest.warns(SsmeWarning, match="5 rows and 30 models.*swapaxes"):
        ScoreSet.from_arrays(each)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ScoreSet.from_arrays(np.swapaxes(each, 0, 1))
        ScoreSet.from_arrays(each, models=[f"m{j}" for j in range(30)])
