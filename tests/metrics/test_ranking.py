"""ROC AUC and average precision: scikit-learn for hard labels, the double sum for a posterior."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as skm
from tests.metrics.problems import (
    Floats,
    Problem,
    many,
    problems,
    random_posterior,
    random_problem,
    random_scores,
)

from ssme.metrics import get_metric, one_hot_mass

RANKINGS = ("roc_auc", "roc_auc_ovr_weighted", "roc_auc_ovo", "average_precision")


def ask_scikit_learn(name: str, y: Any, score: Floats, weight: Floats) -> float | None:
    """The metric of one classifier (n, K); None where scikit-learn takes no weights."""
    k = score.shape[1]
    if name == "average_precision":
        truth, score = (y, score[:, 1]) if k == 2 else (y[:, None] == np.arange(k), score)
        return skm.average_precision_score(truth, score, sample_weight=weight)
    if k == 2:
        return skm.roc_auc_score(y, score[:, 1], sample_weight=weight)
    if name == "roc_auc_ovo":
        return skm.roc_auc_score(y, score, multi_class="ovo") if (weight == 1).all() else None
    average = "weighted" if name == "roc_auc_ovr_weighted" else "macro"
    return skm.roc_auc_score(y, score, multi_class="ovr", average=average, sample_weight=weight)


@pytest.mark.parametrize("name", RANKINGS)
@given(problem=problems(st.integers(2, 5)))
@many
def test_hard_labels_as_scikit_learn(name: str, problem: Problem) -> None:
    values = get_metric(name)(problem.scores, problem.mass)[0]
    classes = set(problem.labels[problem.weights > 0].tolist())
    needed = (
        {1} if (name, problem.n_classes) == ("average_precision", 2) else range(problem.n_classes)
    )
    if not classes.issuperset(needed):
        assert np.isnan(values).all()
        return
    for m, value in enumerate(values):
        found = ask_scikit_learn(name, problem.labels, problem.scores[:, m], problem.weights)
        if found is not None:
            np.testing.assert_allclose(value, found, rtol=1e-11, atol=1e-12)


def slow_roc_auc(score: Floats, positive: Floats, negative: Floats) -> float:
    """The double sum over pairs of different rows."""
    wins = (score[:, None] > score) + 0.5 * (score[:, None] == score)
    pairs = positive[:, None] * negative
    np.fill_diagonal(pairs, 0.0)
    return float((wins * pairs).sum() / pairs.sum())


def slow_average_precision(score: Floats, positive: Floats, weight: Floats) -> float:
    """Each row, taken as positive, meets the precision of the rows scored as high or higher."""
    summed = 0.0
    for i in range(score.size):
        above = score >= score[i]
        hits = positive[above].sum() - positive[i] + weight[i]
        if weight[i] > 0:
            summed += positive[i] * hits / weight[above].sum()
    return float(summed / positive.sum())


def test_one_unsure_row_is_no_pair() -> None:
    scores, mass = np.array([[[0.3, 0.7]]]), np.array([[[0.4, 0.6]]])
    assert np.isnan(get_metric("roc_auc")(scores, mass)).all()


def test_rounding_of_weights_makes_no_class_occur() -> None:
    """Rows of a posterior sum to one up to rounding; beside it, one class is still one class."""
    rng = np.random.default_rng(8)
    posterior = random_posterior(rng, 500, 2) @ np.array([[0.7, 0.3], [0.3, 0.7]])
    mass = np.stack([posterior, hard_labels := np.tile([0.0, 1.0], (500, 1))])
    assert (posterior.sum(axis=1) != hard_labels.sum(axis=1)).any()
    values = get_metric("roc_auc")(random_scores(rng, 500, 2, 2, None), mass)
    assert np.isfinite(values[0]).all()
    assert np.isnan(values[1]).all()


@pytest.mark.parametrize("n_draws", [0, 1, 2, 7, 30])
def test_batches_of_any_size_agree(n_draws: int) -> None:
    """More cells than one batch holds, an odd number of labelings, weights of each its own."""
    rng = np.random.default_rng(6)
    problem = random_problem(7, 3000, 2, n_models=2, grid=50)
    labels = rng.integers(0, 2, (n_draws, 3000))
    mass = one_hot_mass(labels, 2) * rng.gamma(1.0, 1.0, (n_draws, 3000, 1))
    for name in ("roc_auc", "average_precision"):
        plan = get_metric(name).plan(problem.scores)
        alone = [plan(mass[d : d + 1])[0] for d in range(n_draws)]
        np.testing.assert_allclose(plan(mass), np.reshape(alone, (n_draws, 2)), rtol=1e-11)


def slow_value(name: str, score: Floats, mass: Floats) -> float:
    """One metric of one classifier's scored rows (n, K) and one labeling, by its definition."""
    weight, k = mass.sum(axis=1), score.shape[1]
    classes = [1] if k == 2 else range(k)
    prevalence = mass[:, classes].sum(axis=0)
    if name == "average_precision":
        return np.mean([slow_average_precision(score[:, a], mass[:, a], weight) for a in classes])
    if name == "roc_auc_ovo":
        pairs = [(1, 0)] if k == 2 else [(a, b) for a in range(k) for b in range(k) if a != b]
        return np.mean([slow_roc_auc(score[:, a], mass[:, a], mass[:, b]) for a, b in pairs])
    found = [slow_roc_auc(score[:, a], mass[:, a], weight - mass[:, a]) for a in classes]
    shares = prevalence if name == "roc_auc_ovr_weighted" else None
    return float(np.average(found, weights=shares))


LABELINGS = ["shared weights", "own weights", "posterior", "bootstrap of few"]


@pytest.mark.parametrize("labeling", LABELINGS)
@pytest.mark.parametrize("n_classes", [2, 3, 12])
@pytest.mark.parametrize("n_draws", [4, 5])
def test_running_sums_follow_the_double_sum(n_classes: int, labeling: str, n_draws: int) -> None:
    """Ties, missing scores, weights; odd and even numbers of labelings, summed in pairs or not."""
    rng = np.random.default_rng(n_classes)
    n = 60
    scores = random_scores(rng, n, 3, n_classes, grid=8)
    scores[:, 1] = random_scores(rng, n, 1, n_classes, None)[:, 0]
    scores[rng.random((n, 3)) < 0.2] = np.nan
    scores[:, 1] = np.where(np.isnan(scores[:, 1]), 1.0 / n_classes, scores[:, 1])
    labels = rng.integers(0, n_classes, (n_draws, n))
    labels[:, : 3 * n_classes] = np.tile(np.arange(n_classes), 3)
    scores[:n_classes] = 1.0 / n_classes  # every class occurs for every classifier
    mass = one_hot_mass(labels, n_classes)
    if labeling == "shared weights":
        mass *= rng.gamma(1.0, 1.0, (n, 1))
    elif labeling == "own weights":
        mass *= rng.gamma(1.0, 1.0, (n_draws, n, 1))
    elif labeling == "posterior":
        mass = rng.dirichlet(np.full(n_classes, 0.4), (n_draws, n)) * rng.gamma(1.0, 1.0, (n, 1))
    else:
        mass *= rng.integers(1, 3, (n_draws, n, 1))
        mass[:, ::9] += 1e-3 * rng.random((n_draws, 7, n_classes))
    for name in RANKINGS:
        got = get_metric(name)(scores, mass)
        for m in range(3):
            held = ~np.isnan(scores[:, m, 0])
            expected = [slow_value(name, scores[held, m], one[held]) for one in mass]
            np.testing.assert_allclose(got[:, m], expected, rtol=1e-11, err_msg=name)
