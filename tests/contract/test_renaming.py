"""A metric's name decides nothing: renamed, it has the same numbers from every method.

The new names are those of other metrics, turned by one place, so that whoever still looks at a
name finds the wrong metric there.
"""

from __future__ import annotations

import warnings
from dataclasses import fields, replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from tests.stream.worlds import binary_table, written

import ssme
from ssme.data.scoreset import ScoreSet
from ssme.errors import SsmeWarning, UnsupportedError
from ssme.methods.base import Estimate, check_supported
from ssme.methods.registry import find_method_class, get_method, method_names
from ssme.metrics import (
    Metric,
    ece,
    expected_cost,
    from_callable,
    get_metric,
    metric_names,
)
from ssme.results.evaluation import Evaluation
from ssme.stream import evaluate_parquet
from ssme.stream.tally import adds_up

N_ROWS, N_LABELED = 120, 40


def mean_score_of_positives(y_true, y_score):
    return float(y_score[y_true == 1].mean()) if (y_true == 1).any() else float("nan")


def all_metrics(n_classes: int) -> list[Metric]:
    """The registry, and metrics that are made with options."""
    found = [get_metric(name) for name in metric_names(n_classes)]
    found += [get_metric("precision[0]"), get_metric("f1[1]")]
    if n_classes == 2:
        found += [get_metric("accuracy@0.501"), get_metric("f1@0.3"), ece(norm="l2")]
        found += [expected_cost([[0, 1], [5, 0]]), from_callable(mean_score_of_positives)]
    return found


def renamed(metrics: list[Metric]) -> list[Metric]:
    names = [metric.name for metric in metrics]
    return [replace(m, name=n) for m, n in zip(metrics, names[1:] + names[:1], strict=True)]


@cache
def data_of(n_classes: int) -> ScoreSet:
    rng = np.random.default_rng(n_classes)
    y = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, N_ROWS - n_classes)])
    logits = rng.normal(size=(N_ROWS, 3, n_classes))
    logits[np.arange(N_ROWS), :, y] += 1.5
    scores = np.exp(logits) / np.exp(logits).sum(axis=2, keepdims=True)
    labels = np.where(np.arange(N_ROWS) < N_LABELED, y, -1)
    return ScoreSet(scores, labels, ("a", "b", "c"), tuple(range(n_classes)))


def options_of(method: str, n_classes: int) -> dict[str, object]:
    """Few draws, and an oracle for who asks."""
    names = {field.name for field in fields(find_method_class(method))}
    few = {"n_draws": 30, "n_bootstrap": 2, "n_boot": 30}
    options: dict[str, object] = {name: few[name] for name in names & set(few)}
    if "oracle" in names:
        options["oracle"] = data_of(n_classes).labels.clip(0)
    return options


def assert_same(one: Estimate, other: Estimate, what: str) -> None:
    np.testing.assert_array_equal(one.value, other.value, err_msg=what)
    np.testing.assert_array_equal(one.interval(), other.interval(), err_msg=what)
    assert (one.draws is None) == (other.draws is None), what
    if one.draws is not None:
        np.testing.assert_array_equal(one.draws, other.draws, err_msg=what)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("method", method_names())
def test_every_method_gives_renamed_metrics_the_same_numbers(method: str, n_classes: int) -> None:
    spec, data = find_method_class(method).spec, data_of(n_classes)
    if not (spec.binary if n_classes == 2 else spec.multiclass):
        return
    metrics = [m for m in all_metrics(n_classes) if spec.can_estimate(m, n_classes)]
    assert metrics
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SsmeWarning)
        fitted = get_method(method, **options_of(method, n_classes))
        belief = fitted.fit(data, np.random.default_rng(0))
        under_own = belief.estimate(metrics, [None])[0]
        under_other = belief.estimate(renamed(metrics), [None])[0]
    for metric, one, other in zip(metrics, under_own, under_other, strict=True):
        assert_same(one, other, f"{method}, {metric.name}")


@pytest.mark.parametrize("method", method_names())
@pytest.mark.parametrize("n_classes", [2, 4])
def test_what_a_method_accepts_does_not_depend_on_names(method: str, n_classes: int) -> None:
    spec, data = find_method_class(method).spec, data_of(n_classes)
    if not (spec.binary if n_classes == 2 else spec.multiclass):
        return
    metrics = all_metrics(n_classes)
    for metric, other in zip(metrics, renamed(metrics), strict=True):
        assert accepts(spec, data, metric) == accepts(spec, data, other), metric.name


def accepts(spec, data: ScoreSet, metric: Metric) -> bool:
    try:
        check_supported(spec, data, [metric])
    except UnsupportedError:
        return False
    return True


def rows_of(result: Evaluation) -> list[tuple[object, ...]]:
    """Everything a table shows but the metric's name."""
    return [tuple(v for k, v in row.items() if k != "metric") for row in result.rows()]


@pytest.mark.parametrize("n_classes", [2, 4])
def test_whole_evaluations_are_the_same(n_classes: int) -> None:
    data, metrics = data_of(n_classes), all_metrics(n_classes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SsmeWarning)
        one, other = (
            ssme.evaluate(data, metrics=chosen, n_draws=20)
            for chosen in (metrics, renamed(metrics))
        )
    np.testing.assert_equal(rows_of(one), rows_of(other))


@pytest.mark.parametrize("method", ["auto", "ensemble"])
def test_streamed_evaluations_are_the_same(method: str, tmp_path: Path) -> None:
    files = written(binary_table(1500, 80), tmp_path)
    metrics = [metric for metric in all_metrics(2) if adds_up(metric, 2)]
    assert {get_metric(name).kind for name in metric_names(2)} <= {m.kind for m in metrics}
    one, other = (
        evaluate_parquet(files, method=method, metrics=chosen, n_draws=20, sample_rows=400)
        for chosen in (metrics, renamed(metrics))
    )
    np.testing.assert_equal(rows_of(one), rows_of(other))
    bounds = [list(r.settings["stream"]["error_bounds"]["all"].values()) for r in (one, other)]
    np.testing.assert_equal(*bounds)


def test_a_calibration_error_has_its_interval_under_every_name() -> None:
    data = data_of(2)
    own, other = ece(), replace(ece(), name="reliability gap")
    rms, named = ece(norm="l2"), replace(ece(norm="l2"), name="ece")
    belief = get_method("labeled").fit(data, np.random.default_rng(0))
    a, b, c, d = belief.estimate([own, other, rms, named], [None])[0]
    np.testing.assert_array_equal(a.interval(), b.interval())
    assert np.isfinite(a.interval()).all()
    assert np.isnan(c.interval()).all()
    assert np.isnan(d.interval()).all()


@pytest.mark.parametrize("method", ["labeled", "auto", "ppi", "autoeval", "agreement"])
def test_accuracy_at_another_threshold_differs_in_the_threshold_alone(method: str) -> None:
    """A threshold with no score between it and one half decides as one half does."""
    data, near = data_of(2), get_metric("accuracy@0.500001")
    assert not ((data.scores >= 0.5) & (data.scores < 0.500001)).any()
    belief = get_method(method).fit(data, np.random.default_rng(0))
    one, other = belief.estimate([get_metric("accuracy"), near], [None])[0]
    np.testing.assert_allclose(one.value, other.value, rtol=1e-12)
    np.testing.assert_allclose(one.interval(), other.interval(), rtol=1e-12)
    np.testing.assert_allclose(one.value, belief.estimate([near], [None])[0][0].value, rtol=1e-12)


def test_two_names_of_one_metric_have_one_interval() -> None:
    """With two classes the averages of ROC AUC are one number; micro F1 is the accuracy."""
    belief = get_method("auto", n_draws=50).fit(data_of(2), np.random.default_rng(0))
    names = ("roc_auc", "roc_auc_ovo", "roc_auc_ovr_weighted", "accuracy", "f1_micro")
    found = belief.estimate([get_metric(name) for name in names], [None])[0]
    for other in found[1:3]:
        np.testing.assert_allclose(found[0].interval(), other.interval(), rtol=1e-12)
    np.testing.assert_allclose(found[3].interval(), found[4].interval(), rtol=1e-12)


def test_a_threshold_that_a_method_cannot_take_is_refused_with_the_one_it_can() -> None:
    with pytest.raises(UnsupportedError, match=r"cannot estimate 'accuracy@0\.3'.*threshold 0\.5"):
        check_supported(find_method_class("atc").spec, data_of(2), [get_metric("accuracy@0.3")])
