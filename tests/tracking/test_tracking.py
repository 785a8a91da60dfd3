"""What a memory tells of the evaluations it holds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.made_sets import binary_set

import ssme
from ssme.errors import InputError
from ssme.memory import DecisionRecord, EstimateRecord, EvaluationRecord, Memory
from ssme.memory.tracking import (
    compare_records,
    find_drift,
    read_events,
    record_evaluation,
    tell_differences,
    trace_estimates,
)


def evaluate(n_labeled: int, seed: int = 0, shift: float = 0.0):
    data = binary_set(n=400, n_labeled=n_labeled, seed=seed)
    scores = data.scores.copy()
    scores[:, :, 1] = np.clip(scores[:, :, 1] + shift, 0.0, 1.0)
    scores[:, :, 0] = 1.0 - scores[:, :, 1]
    ids = np.array([f"r{i}" for i in range(400)], dtype=object)
    return ssme.evaluate(
        data.replace(ids=ids, scores=scores), method="labeled", metrics=["accuracy", "roc_auc"]
    )


def record(estimate: float, low: float, high: float, **more) -> EvaluationRecord:
    estimates = (EstimateRecord("a", "accuracy", "all", estimate, low, high, None),)
    return EvaluationRecord({}, "auto", 100, 20, "1", estimates, **more)


def test_an_evaluation_and_its_labels_are_kept_once(tmp_path) -> None:
    result = evaluate(40)
    with Memory(tmp_path / "m.sqlite") as memory:
        for _ in range(2):
            memory.add_labels(read_events(result.data, "default", "ada"))
            memory.add_evaluation(record_evaluation(result))
        assert len(memory.label_events()) == 40
        assert list(memory.evaluations()) == [1]
        kept = memory.evaluation(-1)
        memory.add_evaluation(record_evaluation(evaluate(80)))
        rows = trace_estimates(memory.evaluations(), "accuracy")
    assert kept.n_labeled == 40
    assert {decision.metric for decision in kept.decisions} == {"accuracy", "roc_auc"}
    assert sum(kept.scores["forest"]) == pytest.approx(1.0)
    widths = {n: [r["high"] - r["low"] for r in rows if r["labels"] == n] for n in (40, 80)}
    assert np.mean(widths[80]) < np.mean(widths[40])


def test_the_interval_of_a_change_is_that_of_two_estimates() -> None:
    (change,) = compare_records(record(0.8, 0.7, 0.85), record(0.9, 0.86, 0.93))
    assert change.change == pytest.approx(0.1)
    assert change.low == pytest.approx(0.1 - np.hypot(0.04, 0.05))
    assert change.high == pytest.approx(0.1 + np.hypot(0.03, 0.1))
    assert change.is_clear


def test_nothing_in_common_is_refused() -> None:
    other = EvaluationRecord({}, "auto", 100, 20, "1")
    with pytest.raises(InputError, match="no model, metric and group in common"):
        compare_records(record(0.8, 0.7, 0.9), other)
    with pytest.raises(InputError, match="no evaluation has"):
        trace_estimates({1: record(0.8, 0.7, 0.9)}, "f1")


def test_drift_is_seen_and_chance_is_not() -> None:
    here, again = (record_evaluation(evaluate(40, seed)) for seed in (0, 1))
    moved = record_evaluation(evaluate(40, 1, shift=0.2))
    assert not any(drift.is_clear for drift in find_drift(here, again))
    assert all(drift.is_clear for drift in find_drift(here, moved))
    assert find_drift(here, here)[0].distance == 0.0


def test_rows_without_names_cannot_be_kept() -> None:
    with pytest.raises(InputError, match="the rows have no names"):
        read_events(binary_set(), "default")


def test_a_correction_that_is_taken_back_is_heard(tmp_path) -> None:
    data = evaluate(40).data
    row = int(np.flatnonzero(data.labeled)[0])
    corrected = data.label_values.copy()
    corrected[row] = 1 - corrected[row]
    with Memory(tmp_path / "m.sqlite") as memory:
        for labels in (data.label_values, corrected, data.label_values, data.label_values):
            said = data.with_labels(labels)
            memory.add_labels(read_events(said, "default", "ada", memory.label_events()))
            assert memory.labels()[data.ids[row]] == labels[row]
        assert len(memory.label_events()) == 42


def test_one_evaluation_of_two_data_sets_is_kept_for_both(tmp_path) -> None:
    now = record_evaluation(evaluate(40))
    for name in ("ward", "clinic", "clinic", "ward"):
        with Memory(tmp_path / "m.sqlite", name) as memory:
            memory.add_evaluation(now)
            assert list(memory.evaluations().values()) == [now]


def test_drift_counts_the_rows_that_a_model_has_scored() -> None:
    few, none = {"a": (0.5, 0.5)}, {"a": (0.6, 0.4)}
    whole = [record(0.8, 0.7, 0.9, scores=scores) for scores in (few, none)]
    part = [record(0.8, 0.7, 0.9, scores=scores, scored={"a": 20}) for scores in (few, none)]
    assert find_drift(*part)[0].p > find_drift(*whole)[0].p
    data = binary_set(n=100, n_labeled=40)
    scores = data.scores.copy()
    scores[:30, 0] = np.nan
    counted = record_evaluation(
        ssme.evaluate(data.replace(scores=scores), method="labeled", metrics="accuracy")
    )
    assert list(counted.scored.values()) == [70, *[100] * (data.n_models - 1)]


def test_a_decision_is_kept_with_how_far_to_trust_it(tmp_path) -> None:
    result = evaluate(40)
    with Memory(tmp_path / "m.sqlite") as memory:
        memory.add_evaluation(record_evaluation(result))
        decision = memory.evaluation(-1).decisions[0]
    assert decision.sureness == result.choose("accuracy").sureness()
    assert decision.p_best == result.choose("accuracy").p_best
    older = DecisionRecord("accuracy", "a", 0.9, 0.01, ("a", "b"))
    assert "older version" in older.describe_sureness()


def test_intervals_of_two_levels_call_no_change_clear() -> None:
    wide, narrow = (
        replace(record(value, value - 0.01, value + 0.01), spec={"run": {"level": level}})
        for value, level in ((0.8, 0.95), (0.9, 0.5))
    )
    (change,) = compare_records(wide, narrow)
    assert change.low > 0.0
    assert not change.is_clear
    (said,) = tell_differences(wide, narrow)
    assert "was 95% and is 50%" in said
    assert compare_records(wide, replace(narrow, spec=wide.spec))[0].is_clear
    assert tell_differences(wide, wide) == ()
    other = replace(wide, spec={"run": {"level": 0.95, "threshold": 0.3}}, method="labeled")
    assert tell_differences(wide, other) == (
        "The method was auto and is labeled: it may be what changed the estimates.",
        "The option threshold was not given and is 0.3.",
    )
