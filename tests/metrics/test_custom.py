"""Callables as metrics: what they see, what they may return, what they are told."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from sklearn import metrics as skm
from tests.metrics.problems import Floats, random_problem

from ssme.errors import InputError, UnsupportedError
from ssme.metrics import from_callable, get_metric, one_hot_mass


def share_of_positives(y_true: Floats, y_score: Floats) -> float:
    return float(y_true.mean())


@pytest.mark.parametrize("weighting", ["none", "real"])
def test_two_classes_see_the_positive_score_and_weights_go_where_they_are_taken(
    weighting: str,
) -> None:
    problem = random_problem(20, 40, 2, weighting=weighting)
    value = get_metric(skm.roc_auc_score)(problem.scores, problem.mass)
    np.testing.assert_allclose(value, get_metric("roc_auc")(problem.scores, problem.mass))


def test_more_classes_see_all_scores() -> None:
    problem = random_problem(21, 60, 3)
    metric = from_callable(partial(skm.roc_auc_score, multi_class="ovr"))
    assert metric.name == "roc_auc_score"
    assert metric.hard_only
    value = metric(problem.scores, problem.mass)
    np.testing.assert_allclose(value, get_metric("roc_auc")(problem.scores, problem.mass))


def test_each_labeling_and_classifier_on_the_rows_it_scored() -> None:
    problem = random_problem(22, 12, 2)
    problem.scores[:4, 1] = np.nan
    labels = np.random.default_rng(0).integers(0, 2, (5, 12))
    value = get_metric(share_of_positives)(problem.scores, one_hot_mass(labels, 2))
    np.testing.assert_allclose(value[:, 0], labels.mean(axis=1))
    np.testing.assert_allclose(value[:, 1], labels[:, 4:].mean(axis=1))


def test_whole_weights_repeat_rows_otherwise() -> None:
    problem = random_problem(24, 40, 2, weighting="whole")
    value = get_metric(share_of_positives)(problem.scores, problem.mass)
    np.testing.assert_allclose(value, np.average(problem.labels, weights=problem.weights))


def test_other_weights_are_refused() -> None:
    problem = random_problem(25, 40, 2, weighting="real")
    with pytest.raises(UnsupportedError, match=r"share_of_positives has no argument sample_weight"):
        get_metric(share_of_positives)(problem.scores, problem.mass)


def test_soft_labels_are_refused() -> None:
    mass = np.array([[[1.0, 0.0], [0.4, 0.6]]])
    with pytest.raises(UnsupportedError, match=r"labeling 0, row 1, \[0\.4, 0\.6\]"):
        get_metric(share_of_positives)(np.full((2, 1, 2), 0.5), mass)


def test_no_rows_are_nan_without_a_call() -> None:
    def never(y_true: Floats, y_score: Floats) -> float:
        raise AssertionError

    value = get_metric(never)(np.empty((0, 2, 2)), np.empty((3, 0, 2)))
    assert value.shape == (3, 2)
    assert np.isnan(value).all()


def test_an_error_inside_names_callable_classifier_and_labeling() -> None:
    def fragile(y_true: Floats, y_score: Floats) -> float:
        if y_true.sum() == 0:
            raise ValueError("no positives")
        return 1.0

    mass = one_hot_mass(np.array([[1, 0], [0, 0]]), 2)
    with pytest.raises(
        InputError, match="fragile on model 0 of 3, labeling 1 of 2 raised ValueError: no posit"
    ):
        get_metric(fragile)(np.full((2, 3, 2), 0.5), mass)


@pytest.mark.parametrize("value", [None, "0.5", np.array([0.5, 0.5]), 1j])
def test_anything_but_a_number_is_refused(value: object) -> None:
    def odd(y_true: Floats, y_score: Floats) -> object:
        return value

    mass = one_hot_mass(np.array([[1, 0]]), 2)
    with pytest.raises(InputError, match=r"odd on model 0 of 1, labeling 0 of 1 returned"):
        get_metric(odd)(np.full((2, 1, 2), 0.5), mass)


@pytest.mark.parametrize("value", [1, np.float32(1.0), np.int64(1), np.array(1.0), True])
def test_any_kind_of_number_will_do(value: object) -> None:
    def one(y_true: Floats, y_score: Floats) -> object:
        return value

    mass = one_hot_mass(np.array([[1, 0]]), 2)
    assert get_metric(one)(np.full((2, 1, 2), 0.5), mass).item() == 1.0


def test_direction_and_range_are_told_not_guessed() -> None:
    metric = from_callable(share_of_positives, name="prevalence", low=0.0, high=1.0)
    assert (metric.name, metric.low, metric.high) == ("prevalence", 0.0, 1.0)
    assert metric.greater_is_better is None
