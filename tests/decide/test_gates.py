"""A gate holds, fails and speaks as its conditions, the draws and the warnings say."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import numpy as np
import pytest
from tests.made_sets import binary_set

import ssme
from ssme.diagnostics.check import ResultWarning
from ssme.errors import InputError
from ssme.methods.base import Estimate
from ssme.metrics import get_metric, metric_names, one_hot_mass
from ssme.results.evaluation import PAIRED_MODELS
from ssme.results.gates import add_metrics, parse_condition

SERIOUS = ResultWarning("X1", "Labels are too few", "serious", "There is one.", "Label more.", "x")
WARNING = dataclasses.replace(SERIOUS, code="X2", severity="warning")
NAMES = ("new", "old", "old-er", "new-old")


def evaluation(names: tuple[str, ...] = NAMES, **changes: Any) -> ssme.Evaluation:
    """Models whose accuracy falls by 0.05 from one to the next, with narrow paired draws."""
    data = binary_set(names, n=60, n_labeled=30)
    plain = ssme.evaluate(data, method="ensemble", metrics="accuracy", n_draws=20)
    value = 0.9 - 0.05 * np.arange(len(names))
    together = np.random.default_rng(0).normal(0.0, 0.05, (400, 1))
    apart = np.random.default_rng(1).normal(0.0, 0.005, (400, len(names)))
    found = Estimate(value, np.clip(value + together + apart, 0.0, 1.0))
    return dataclasses.replace(plain, estimates=((found,),), warnings=(), **changes)


@pytest.mark.parametrize(
    ("condition", "passes"),
    [
        ("new-old:accuracy.low>=0", True),
        ("new-old:accuracy>=0.051", False),
        ("old - new:accuracy.low>=0", False),
        ("new-old-er:accuracy.low>0.05", True),
        ("new:accuracy.low>=0.85", False),
        ("accuracy>=0.75", True),
        ("accuracy>=0.81", False),
    ],
)
def test_differences_are_paired(condition: str, passes: bool) -> None:
    names = NAMES[:3]
    verdict = evaluation(names).gate(condition)
    assert verdict.passed is passes, verdict
    assert len(verdict.failures) == (not passes)


def test_a_model_whose_name_has_a_hyphen_is_one_model_and_that_is_said() -> None:
    verdict = evaluation().gate("new-old:accuracy>0.5")
    assert verdict.passed
    assert "asked of the model 'new-old'" in verdict.remarks[0]
    assert "'new - old'" in verdict.remarks[0]
    assert evaluation().gate("new - old:accuracy>0").remarks == ()
    assert not evaluation().gate("new - old:accuracy>0.1").passed


@pytest.mark.parametrize(
    "condition", ["new-newest:accuracy>0", "new-new:accuracy>0", "n:accuracy>0"]
)
def test_unknown_pairs_are_refused(condition: str) -> None:
    with pytest.raises(InputError, match="neither a model nor a pair of models"):
        evaluation().gate(condition)


def test_two_readings_are_refused() -> None:
    with pytest.raises(InputError, match="more than one pair"):
        evaluation(("a", "b-c", "a-b", "c")).gate("a-b-c:accuracy>0")


@pytest.mark.parametrize(
    "text",
    ["accuracy>=nan", "accuracy", ">=1", "accuracy=>1", "accuracy>=0_1", "accuracy>=٠", "ece<=inf"],
)
def test_bad_conditions_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="fail_under"):
        parse_condition(text)


def test_within_asks_the_probability_that_the_pick_is_close_enough() -> None:
    clear = evaluation()
    assert clear.gate(within=0.0).passed
    draws = np.array([[0.8, 0.7]] * 90 + [[0.8, 0.85]] * 10)
    unsure = dataclasses.replace(
        evaluation(("a", "b")), estimates=((Estimate(np.array([0.8, 0.75]), draws),),)
    )
    assert unsure.choose("accuracy").p_within == pytest.approx(0.9)
    assert not unsure.gate(within=0.04).passed
    assert unsure.gate(within=0.05).passed
    silent = dataclasses.replace(unsure, estimates=((Estimate(np.array([0.8, 0.75])),),))
    assert "no draws" in silent.gate(within=0.5).failures[0]
    with pytest.raises(InputError, match="within"):
        clear.gate(within=-0.1)
    with pytest.raises(InputError, match="within must be below"):
        clear.gate(within=1.0)


def test_serious_warnings_fail_a_gate_unless_told_and_are_then_said() -> None:
    warned = dataclasses.replace(evaluation(), warnings=(SERIOUS, WARNING))
    failed = warned.gate("accuracy>=0.1")
    assert [sentence.split(":")[0] for sentence in failed.failures] == ["serious warning X1"]
    assert len(warned.gate("accuracy>=0.1", fail_on="warning").failures) == 2
    passed = warned.gate("accuracy>=0.1", fail_on="never")
    assert passed.passed
    assert [sentence.split(":")[0] for sentence in passed.despite] == ["serious warning X1"]
    mild = dataclasses.replace(evaluation(), warnings=(WARNING,))
    assert mild.gate("accuracy>=0.1").passed
    assert not mild.gate(fail_on="warning").passed
    with pytest.raises(InputError, match="fail_on"):
        mild.gate(fail_on="note")


def test_metrics_of_conditions_are_added_once() -> None:
    conditions = [parse_condition(text) for text in ("acc>0", "f1>0", "f1>0.1")]
    options = {"name": "ece", "norm": "l2"}
    assert add_metrics(["accuracy", options], conditions) == ["accuracy", options, "f1"]


def test_json_holds_ranking_differences_and_the_decision() -> None:
    found = json.loads(evaluation().to_json())
    assert [row["model"] for row in found["ranking"]] == list(NAMES)
    assert len(found["differences"]) == 6
    assert {"a", "b", "difference", "low", "high", "p_better"} <= set(found["differences"][0])
    decision = found["decision"]
    assert (decision["pick"], decision["possible_best"]) == ("new", ["new"])
    assert decision["contenders"][0]["model"] == "new"


def test_among_many_models_differences_are_those_of_the_best() -> None:
    names = tuple(f"m{j}" for j in range(PAIRED_MODELS + 1))
    value = np.linspace(0.5, 0.9, len(names))
    many = dataclasses.replace(evaluation(names), estimates=((Estimate(value, value[None]),),))
    rows = json.loads(many.to_json())["differences"]
    assert {row["a"] for row in rows} == {names[-1]}
    assert len(rows) == PAIRED_MODELS


@pytest.mark.parametrize(
    "condition",
    [
        "accuracy>=0",
        "new:accuracy.low>=-0.1",
        "new-old:accuracy>-2",
        "new-old:accuracy<=1",
        "accuracy>1",
        "accuracy>=90",
    ],
)
def test_a_condition_that_all_or_no_models_meet_is_refused(condition: str) -> None:
    with pytest.raises(InputError, match=r"is (true|false) for every model.*between (0|-1) and 1"):
        evaluation(NAMES[:3]).gate(condition)


@pytest.mark.parametrize(
    ("condition", "instead"),
    [
        ("accuracy<0.9", "accuracy>=0.9"),
        ("new:accuracy.high <= 0.9", "new:accuracy.high >= 0.9"),
        ("ece>0.1", "ece<=0.1"),
        ("log_loss>=1", "log_loss<=1"),
    ],
)
def test_a_condition_that_bad_models_meet_is_refused(condition: str, instead: str) -> None:
    with pytest.raises(InputError, match="passes bad models") as raised:
        add_metrics(["accuracy"], [parse_condition(condition)])
    assert instead in str(raised.value)


def test_a_metric_without_direction_and_a_difference_take_either_sign() -> None:
    add_metrics(["accuracy"], [parse_condition(f"win_rate{sign}0.5") for sign in ("<", ">")])
    names = NAMES[:3]
    assert evaluation(names).gate("old-new:accuracy<=0.06").passed
    assert not evaluation(names).gate("old-new:accuracy<=-0.06").passed


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", metric_names())
def test_a_gate_at_the_worst_end_of_any_range_is_refused(name: str, n_classes: int) -> None:
    metric = get_metric(name)
    if not (metric.binary if n_classes == 2 else metric.multiclass):
        return
    low, high = metric.find_range(n_classes)
    rng = np.random.default_rng(0)
    scores = rng.dirichlet(np.ones(n_classes), (60, 2))
    labels = rng.integers(0, n_classes, 60)
    found = ssme.evaluate(scores, labels, method="labeled", metrics=[name], n_draws=20)
    for sign, limit in ((">=", low), ("<=", high)):
        if metric.greater_is_better in (None, sign == ">="):
            with pytest.raises(InputError, match="is true for every model"):
                found.gate(f"{name}{sign}{limit!r}")
            with pytest.raises(InputError, match="is true for every model"):
                add_metrics([name], [parse_condition(f"{name}{sign}{limit!r}")], n_classes)
    worst = np.eye(n_classes)[(labels + 1) % n_classes][:, None]
    value = metric(worst, one_hot_mass(labels, n_classes))
    assert low <= value.min() <= value.max() <= high
    if name in ("accuracy", "brier_score", "log_loss", "ece_uniform"):
        assert value == pytest.approx(low if metric.greater_is_better else high)


def test_a_limit_that_only_the_worst_model_misses_is_a_condition() -> None:
    assert evaluation(NAMES[:3]).gate("accuracy>0").passed
    assert not evaluation(NAMES[:3]).gate("accuracy>=1").passed
