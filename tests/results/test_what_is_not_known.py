"""Values without draws, without a direction or without a number: told, and never guessed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.made_sets import binary_set, grouped_set

import ssme
from ssme.errors import InputError
from ssme.memory import EstimateRecord, EvaluationRecord
from ssme.memory.tracking import compare_records, find_drift, trace_estimates
from ssme.methods.base import Estimate
from ssme.metrics import from_callable, get_metric
from ssme.results.choose import choose_model
from ssme.results.table import to_plain_values

NEUTRAL = from_callable(lambda y, s: float(np.mean(y)), name="share", low=0.0, high=1.0)


@pytest.fixture(scope="module")
def plain() -> ssme.Evaluation:
    data = binary_set(n=60, n_labeled=30)
    return ssme.evaluate(data, method="ensemble", metrics=["accuracy", "ece"], n_draws=20)


@pytest.fixture(scope="module")
def in_groups() -> ssme.Evaluation:
    return ssme.evaluate(grouped_set(), method="ensemble", metrics="accuracy", n_draws=20)


def without_draws(result: ssme.Evaluation) -> ssme.Evaluation:
    bare = tuple(tuple(Estimate(one.value) for one in each) for each in result.estimates)
    return replace(result, estimates=bare)


def test_a_metric_without_a_direction_chooses_nothing(plain: ssme.Evaluation) -> None:
    with pytest.raises(InputError, match="whether greater is better"):
        choose_model(("a", "b"), NEUTRAL, Estimate(np.array([0.7, 0.8])))
    data = binary_set(n=60, n_labeled=30)
    neutral = ssme.evaluate(data, method="ensemble", metrics=[NEUTRAL], n_draws=20)
    assert "share" in repr(neutral)
    with pytest.raises(InputError, match="whether greater is better"):
        neutral.suggest(3)


def test_classes_are_found_by_their_names(plain: ssme.Evaluation) -> None:
    assert plain.class_index() == 1
    assert plain.class_index("0") == 0
    with pytest.raises(InputError, match="there is no class '7'"):
        plain.class_index(7)


def test_groups_without_draws_are_ranked_by_their_values(in_groups: ssme.Evaluation) -> None:
    bare = without_draws(in_groups)
    by = in_groups.groups[1].by
    ranking = bare.worst_groups("accuracy", by=by)
    assert [row.group for row in ranking.rows] == [
        row.group for row in in_groups.worst_groups("accuracy", by=by).rows
    ]
    assert all(np.isnan(row.p_worst) for row in ranking.rows)
    assert f"accuracy by {by}, worst group first" in repr(ranking)
    assert "gaps between groups" in repr(in_groups.gaps("accuracy"))
    assert "worst group first" in in_groups._repr_html_()


def test_plain_values_are_what_json_knows() -> None:
    given = {
        1: np.array([1.0, np.nan]),
        "b": (np.float64(np.inf), np.int64(3), None, True),
        "c": get_metric,
    }
    found = to_plain_values(given)
    assert found["1"] == [1.0, None]
    assert found["b"] == [None, 3, None, True]
    assert isinstance(found["c"], str)


def test_a_plan_and_a_suggestion_are_tables_too() -> None:
    data = binary_set(n=200, n_labeled=40)
    result = ssme.evaluate(data, metrics="accuracy", n_draws=50, random_state=0)
    rows = result.suggest(4, random_state=0)
    for library in ("pandas", "polars", "pyarrow"):
        frame = rows.frame(library)
        assert len(frame) == 4
    assert list(rows.frame("pandas").columns) == ["id", "probability", "round", "reason"]
    plan = result.plan("width(accuracy)<=0.9")
    assert plan.is_met
    assert list(plan.frame().columns) == ["labels", "value", "met"]


def record(*estimates: EstimateRecord, scores: Any = None, n: int = 100) -> EvaluationRecord:
    return EvaluationRecord({}, "auto", n, 20, "1", estimates, scores=scores or {})


def test_records_that_cannot_be_compared_are_left_out() -> None:
    one = EstimateRecord("a", "accuracy", "all", 0.8, 0.7, 0.9, None)
    group = replace(one, group="site=x")
    unknown = replace(one, model="b", estimate=None, low=None, high=None)
    before, after = record(one, unknown, group), record(one, unknown, group)
    assert len(compare_records(before, after)) == 2
    assert len(compare_records(before, after, group="all")) == 1
    with pytest.raises(InputError):
        compare_records(before, after, metric="ece")
    assert trace_estimates({}) == []
    assert [row["model"] for row in trace_estimates({1: before})] == ["a"]


def test_scores_in_other_bins_are_not_compared() -> None:
    before = record(scores={"a": [0.5, 0.5], "b": [1.0, 0.0]})
    after = record(scores={"a": [0.2, 0.3, 0.5], "b": [0.0, 1.0]})
    (drift,) = find_drift(before, after)
    assert (drift.model, drift.distance) == ("b", 1.0)
    assert drift.is_clear
