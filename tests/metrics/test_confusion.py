"""Decision metrics against scikit-learn, with ``zero_division=np.nan`` for what is undefined."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as skm
from tests.metrics.problems import Floats, Problem, many, problems

from ssme.errors import InputError, UnsupportedError
from ssme.metrics import (
    Metric,
    confusion_matrices,
    ece,
    expected_cost,
    get_metric,
    one_hot_mass,
    predicted_classes,
)
from ssme.metrics.confusion import FullTables, plan_tables

Oracle = Callable[..., float]


def classwise(function: Oracle, average: str, **keywords: object) -> Oracle:
    def oracle(y: Floats, predicted: Floats, w: Floats, k: int) -> float:
        labels = None if average == "binary" else np.arange(k)
        return function(
            y,
            predicted,
            labels=labels,
            average=average,
            sample_weight=w,
            zero_division=np.nan,
            **keywords,
        )

    return oracle


def accuracy(y: Floats, predicted: Floats, w: Floats, k: int) -> float:
    return skm.accuracy_score(y, predicted, sample_weight=w)


def balanced_accuracy(y: Floats, predicted: Floats, w: Floats, k: int) -> float:
    return skm.balanced_accuracy_score(y[w > 0], predicted[w > 0], sample_weight=w[w > 0])


def matthews(y: Floats, predicted: Floats, w: Floats, k: int) -> float:
    if min(np.unique(y[w > 0]).size, np.unique(predicted[w > 0]).size) < 2:
        return np.nan
    return skm.matthews_corrcoef(y, predicted, sample_weight=w)


ANY_NUMBER_OF_CLASSES: dict[str, Oracle] = {
    "accuracy": accuracy,
    "balanced_accuracy": balanced_accuracy,
    "f1_macro": classwise(skm.f1_score, "macro"),
    "f1_micro": classwise(skm.f1_score, "micro"),
    "f1_weighted": classwise(skm.f1_score, "weighted"),
    "precision_macro": classwise(skm.precision_score, "macro"),
    "recall_macro": classwise(skm.recall_score, "macro"),
    "matthews_corrcoef": matthews,
}
TWO_CLASSES: dict[str, Oracle] = {
    "precision": classwise(skm.precision_score, "binary"),
    "recall": classwise(skm.recall_score, "binary"),
    "specificity": classwise(skm.recall_score, "binary", pos_label=0),
    "f1": classwise(skm.f1_score, "binary"),
}


def check(oracles: dict[str, Oracle], problem: Problem, threshold: float) -> None:
    """Every metric of every classifier; on rows without weight every one is NaN."""
    k, w = problem.n_classes, problem.weights
    predicted = predicted_classes(problem.scores, threshold)
    for name, oracle in oracles.items():
        values = get_metric(name, threshold=threshold)(problem.scores, problem.mass)[0]
        for m, value in enumerate(values):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                expected = oracle(problem.labels, predicted[:, m], w, k) if w.any() else np.nan
            np.testing.assert_allclose(value, expected, rtol=1e-12, atol=1e-12, err_msg=name)


@given(problem=problems(st.just(2)), threshold=st.sampled_from([0.5, 0.3, 0.9, 0.0, 1.0]))
@many
def test_two_classes_as_scikit_learn(problem: Problem, threshold: float) -> None:
    check({**ANY_NUMBER_OF_CLASSES, **TWO_CLASSES}, problem, threshold)


@given(problem=problems(st.integers(3, 5)))
@many
def test_more_classes_as_scikit_learn(problem: Problem) -> None:
    check(ANY_NUMBER_OF_CLASSES, problem, 0.5)


@given(problem=problems(st.integers(2, 5)))
@many
def test_confusion_matrix_as_scikit_learn(problem: Problem) -> None:
    matrices = confusion_matrices(problem.scores, problem.mass)
    predicted = predicted_classes(problem.scores)
    for m in range(problem.scores.shape[1]):
        expected = skm.confusion_matrix(
            problem.labels,
            predicted[:, m],
            labels=np.arange(problem.n_classes),
            sample_weight=problem.weights if problem.weights.any() else None,
        )
        expected = expected if problem.weights.any() else 0 * expected
        np.testing.assert_allclose(matrices[0, m], expected, rtol=1e-12, atol=1e-12)


def test_a_tie_at_the_threshold_is_predicted_positive_and_the_first_maximum_wins() -> None:
    two = np.array([[[0.5, 0.5]], [[0.7, 0.3]]])
    assert predicted_classes(two).ravel().tolist() == [1, 0]
    assert predicted_classes(two, 0.3).ravel().tolist() == [1, 1]
    assert predicted_classes(np.array([[[0.4, 0.4, 0.2]]])).item() == 0


def test_a_missing_score_is_no_prediction() -> None:
    scores = np.array([[[0.2, 0.8], [np.nan, np.nan]]])
    assert predicted_classes(scores).tolist() == [[1, -1]]
    mass = np.array([[[0.0, 1.0]]])
    assert confusion_matrices(scores, mass)[0, 1].sum() == 0
    np.testing.assert_equal(get_metric("accuracy")(scores, mass), [[1.0, np.nan]])


@given(problem=problems(st.integers(2, 4)))
@many
def test_expected_cost_is_the_mean_of_the_cells(problem: Problem) -> None:
    k = problem.n_classes
    cost = np.random.default_rng(k).normal(size=(k, k))
    value = expected_cost(cost)(problem.scores, problem.mass)
    matrices = confusion_matrices(problem.scores, problem.mass)[0]
    total = problem.weights.sum()
    expected = (matrices * cost).sum(axis=(1, 2)) / total if total else np.full(2, np.nan)
    np.testing.assert_allclose(value[0], expected, rtol=1e-10, atol=1e-12)


def test_cost_at_a_threshold_is_named_so() -> None:
    metric = expected_cost([[0, 1], [5, 0]], threshold=0.2, name="loss")
    assert metric.name == "loss@0.2"
    scores = np.array([[[0.75, 0.25]], [[0.75, 0.25]]])
    mass = np.array([[[1.0, 0.0], [0.0, 1.0]]])
    assert metric(scores, mass).item() == 0.5
    assert expected_cost([[0, 1], [5, 0]])(scores, mass).item() == 2.5


@pytest.mark.parametrize("matrix", [[[0, 1]], [0, 1], [[0, np.nan], [1, 0]], [[0, np.inf], [1, 0]]])
def test_a_bad_cost_matrix_is_refused(matrix: object) -> None:
    with pytest.raises(InputError, match="square matrix of finite numbers"):
        expected_cost(matrix)


@pytest.mark.parametrize(
    "metric",
    [
        *map(get_metric, TWO_CLASSES),
        get_metric("accuracy", threshold=0.3),
        expected_cost([[0, 1], [1, 0]]),
        ece(target="positive"),
    ],
    ids=lambda metric: metric.name,
)
def test_metrics_of_two_classes_refuse_three(metric: Metric) -> None:
    with pytest.raises(UnsupportedError, match="3 classes"):
        metric.plan(np.full((4, 1, 3), 1 / 3))


def slow_terms(table: Floats) -> dict[str, float]:
    """Macro means of one confusion table (true, predicted), class by class."""
    recalls, precisions, f1s, shares = [], [], [], []
    for k in range(len(table)):
        hits, occurring, predicted = table[k, k], table[k].sum(), table[:, k].sum()
        if occurring > 0:
            recalls.append(hits / occurring)
        if predicted > 0:
            precisions.append(hits / predicted)
        if occurring + predicted > 0:
            f1s.append(2 * hits / (occurring + predicted))
            shares.append(occurring)
    return {
        "accuracy": np.trace(table) / table.sum(),
        "recall_macro": np.mean(recalls),
        "precision_macro": np.mean(precisions),
        "f1_macro": np.mean(f1s),
        "f1_weighted": np.average(f1s, weights=shares),
    }


@pytest.mark.parametrize("soft", [False, True])
@pytest.mark.parametrize("n_classes", [2, 5, 60])
def test_margins_without_tables_are_those_of_the_tables(n_classes: int, soft: bool) -> None:
    """Many classes, some that never occur or are never predicted, missing scores, weights."""
    rng = np.random.default_rng(n_classes)
    n, n_draws = 80, 3
    scores = rng.dirichlet(np.full(n_classes, 0.2), (n, 2))
    scores[rng.random((n, 2)) < 0.2] = np.nan
    mass = one_hot_mass(rng.integers(0, n_classes, (n_draws, n)), n_classes)
    if soft:
        mass = rng.dirichlet(np.full(n_classes, 0.1), (n_draws, n))
    mass *= rng.gamma(1.0, 1.0, (n_draws, n, 1))
    tables = confusion_matrices(scores, mass)
    for d in range(n_draws):
        for m in range(2):
            for name, expected in slow_terms(tables[d, m]).items():
                got = get_metric(name)(scores, mass)[d, m]
                np.testing.assert_allclose(got, expected, rtol=1e-11, err_msg=name)


def test_costs_of_rows_are_costs_of_tables() -> None:
    """A statistic may ask rows and tables for the same total."""
    rng = np.random.default_rng(3)
    scores, values = rng.dirichlet(np.ones(4), (50, 2)), rng.normal(size=(4, 4))
    scores[:5, 1] = np.nan
    mass = rng.dirichlet(np.ones(4), (3, 50))
    rows = plan_tables(scores, 0.5)(mass).total_of(values)
    whole = FullTables(confusion_matrices(scores, mass)).total_of(values)
    np.testing.assert_allclose(rows, whole, rtol=1e-11)
