"""Names, thresholds in names, and what stands in for a name."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.metrics.problems import random_problem

from ssme.errors import InputError
from ssme.metrics import at_threshold, default_metrics, ece, get_metric, metric_names, write_metric


def test_every_name_resolves_to_the_metric_of_that_name() -> None:
    assert all(get_metric(name).name == name for name in metric_names())


@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_defaults_are_defined_for_their_classes(n_classes: int) -> None:
    assert set(default_metrics(n_classes)) <= set(metric_names(n_classes))


def test_names_by_number_of_classes() -> None:
    assert "f1" in metric_names(2)
    assert "f1" not in metric_names(3)
    assert set(metric_names(2)) == set(metric_names())


@pytest.mark.parametrize(
    ("alias", "name"),
    [("auc", "roc_auc"), ("auprc", "average_precision"), ("brier", "brier_score")],
)
def test_common_other_names(alias: str, name: str) -> None:
    assert get_metric(alias) is get_metric(name)


def test_a_metric_is_itself() -> None:
    metric = ece(n_bins=7)
    assert get_metric(metric) is metric


@pytest.mark.parametrize(
    ("wrong", "hint"),
    [("acuracy", "accuracy"), ("ROC_AUC", "roc_auc"), ("f1-macro", "f1_macro")],
)
def test_a_near_miss_is_told(wrong: str, hint: str) -> None:
    with pytest.raises(InputError, match=rf"unknown metric .?{wrong}.*Did you mean.*{hint}"):
        get_metric(wrong)


def test_a_threshold_shows_in_name_and_definition() -> None:
    metric = get_metric("accuracy", threshold=0.3)
    assert metric.name == "accuracy@0.3"
    assert "P(1) >= 0.3" in metric.definition
    assert not metric.multiclass
    problem = random_problem(30, 50, 2)
    np.testing.assert_array_equal(
        metric(problem.scores, problem.mass),
        get_metric("acc@0.3")(problem.scores, problem.mass),
    )


def test_the_usual_threshold_changes_nothing() -> None:
    assert get_metric("f1", threshold=0.5) is get_metric("f1")


def test_metrics_of_scores_have_no_threshold() -> None:
    with pytest.raises(InputError, match="not a metric of decisions"):
        at_threshold(get_metric("roc_auc"), 0.3)
    assert get_metric("roc_auc", threshold=0.3) is get_metric("roc_auc")
    with pytest.raises(InputError, match="roc_auc takes no threshold"):
        get_metric("roc_auc@0.3")


@pytest.mark.parametrize("spec", ["accuracy@high", "accuracy@", "accuracy@1.5", "accuracy@nan"])
def test_a_threshold_that_is_no_probability_is_refused(spec: str) -> None:
    with pytest.raises(InputError, match="a number from 0 to 1"):
        get_metric(spec)


def test_a_metric_that_computes_something_else_is_not_written_by_the_name_it_has() -> None:
    accuracy, f1 = get_metric("accuracy"), get_metric("f1")
    assert write_metric(accuracy) is not None
    assert write_metric(replace(accuracy, plan=f1.plan)) is None


def test_something_else_is_refused() -> None:
    with pytest.raises(InputError, match="the metric 3 is of type int"):
        get_metric(3)


@pytest.mark.parametrize(
    "name", ["recall[2]@0.3", "accuracy~0.03", "accuracy~0.2~0.3~0.5", "mce", "f1@0.3"]
)
def test_what_is_written_is_the_same_metric(name: str) -> None:
    data = write_metric(get_metric(name))
    assert data is not None
    again = get_metric(data)
    assert (again.name, again.kind) == (name, get_metric(name).kind)
