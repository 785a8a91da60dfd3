"""What a memory tells of the evaluations it holds."""

from __future__ import annotations

import numpy as np
import pytest
from tests.made_sets import binary_set

import ssme
from ssme.errors import InputError
from ssme.memory import EstimateRecord, EvaluationRecord, Memory
from ssme.tracking import (
    compare_records,
    find_drift,
    read_events,
    record_evaluation,
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
