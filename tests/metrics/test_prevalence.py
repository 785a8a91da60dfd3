"""A metric at a stated prevalence is that of rows drawn with that prevalence."""

from __future__ import annotations

import numpy as np
import pytest
from tests.made_sets import binary_set
from tests.metrics.problems import random_problem

import ssme
from ssme.errors import InputError, UnsupportedError
from ssme.metrics import at_prevalence, get_metric, metric_names, one_hot_mass
from ssme.metrics.confusion import FullTables, confusion_matrices
from ssme.metrics.kinds import ConfusionInterval


@pytest.mark.parametrize("name", ["accuracy", "precision", "f1", "roc_auc", "average_precision"])
def test_it_is_the_metric_of_rows_weighted_to_it(name: str) -> None:
    problem = random_problem(5, 300, 2)
    share = (problem.labels == 1).mean()
    weights = np.where(problem.labels == 1, 0.03 / share, 0.97 / (1 - share))
    mass = one_hot_mass(problem.labels, 2, weights)
    expected = get_metric(name)(problem.scores, mass)
    found = get_metric(f"{name}~0.03")(problem.scores, problem.mass)
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_recall_does_not_depend_on_it_and_precision_does() -> None:
    data = binary_set(n=80, n_labeled=60)
    names = ["recall", "recall~0.03", "precision", "precision~0.03"]
    r = ssme.evaluate(data, method="ensemble", metrics=names, n_draws=30)
    np.testing.assert_allclose(
        r.estimate("recall~0.03").value, r.estimate("recall").value, atol=0.02
    )
    assert (r.estimate("precision~0.03").value < r.estimate("precision").value).all()
    low, high = r.estimate("precision~0.03").interval()
    assert (low < high).all()


@pytest.mark.parametrize("name", metric_names(2))
def test_every_metric_has_it(name: str) -> None:
    problem = random_problem(6, 80, 2)
    metric = at_prevalence(get_metric(name), 0.3)
    values = metric(problem.scores, problem.mass)
    assert np.isfinite(values).all()
    assert metric.name == f"{name}~0.3"


@pytest.mark.parametrize("name", ["accuracy", "precision", "f1", "mcc", "balanced_accuracy"])
def test_drawn_tables_are_read_at_the_stated_shares(name: str) -> None:
    problem = random_problem(5, 300, 2)
    metric = get_metric(f"{name}~0.03")
    drawn = metric.kind.choose_labels_interval(2)
    assert isinstance(drawn, ConfusionInterval)
    tables = confusion_matrices(problem.scores, problem.mass, threshold=drawn.threshold)
    found = drawn.statistic(FullTables(tables))
    np.testing.assert_allclose(found, metric(problem.scores, problem.mass), rtol=1e-9)


def test_decisions_that_are_alike_on_all_labels_are_no_certainty() -> None:
    scores = np.random.default_rng(0).uniform(0.0, 0.45, (200, 2))
    labels = np.full(200, np.nan)
    labels[:40] = [1.0] * 4 + [0.0] * 36
    r = ssme.evaluate(scores, labels, method="labeled", metrics="accuracy~0.03")
    low, high = r.estimate("accuracy~0.03").interval()
    np.testing.assert_allclose(r.estimate("accuracy~0.03").value, 0.97)
    assert (high - low > 0.02).all()


def test_shares_of_more_classes_and_a_missing_class() -> None:
    problem = random_problem(7, 90, 3)
    metric = at_prevalence(get_metric("accuracy"), (0.2, 0.3, 0.5))
    assert np.isfinite(metric(problem.scores, problem.mass)).all()
    without = one_hot_mass(np.zeros(90, dtype=np.int64), 3)
    assert np.isnan(metric(problem.scores, without)).all()
    with pytest.raises(UnsupportedError, match="3 classes with 2"):
        metric(random_problem(8, 20, 2).scores, one_hot_mass(np.zeros(20, dtype=np.int64), 2))


@pytest.mark.parametrize("share", [0.0, 1.0, -1, (0.5, 0.4), (0.5,), float("nan")])
def test_bad_shares_are_refused(share) -> None:
    with pytest.raises(InputError):
        at_prevalence(get_metric("accuracy"), share)


@pytest.mark.parametrize("name", ["accuracy~", "accuracy~x", "accuracy~2"])
def test_bad_names_are_refused(name: str) -> None:
    with pytest.raises(InputError, match="prevalence"):
        get_metric(name)
