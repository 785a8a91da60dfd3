"""Intervals that contain the value of labels alone where the two contradict each other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.made_sets import binary_set

import ssme
from ssme.methods.base import Estimate

VALUE = np.array([0.8, 0.8, 0.8, np.nan])
DRAWS = np.linspace(-0.05, 0.05, 201)[:, None] + VALUE


def say(value: float, low: float, high: float) -> Estimate:
    """Labels alone with a closed-form interval, the same for every classifier."""
    ends = np.full(4, low), np.full(4, high)
    return Estimate(np.full(4, value), bounds=lambda level: ends)


@pytest.mark.parametrize(
    ("value", "low", "high", "contradicts"),
    [
        (0.97, 0.87, 0.99, True),
        (0.97, 0.79, 0.99, False),  # labels alone are noisy
        (0.84, 0.82, 0.86, False),  # inside the interval of the estimate
        (0.60, 0.50, 0.70, True),
    ],
)
def test_what_contradicts_an_estimate(value, low, high, contradicts) -> None:
    estimate = Estimate(VALUE, DRAWS)
    found = estimate.find_contradictions(say(value, low, high))
    assert found.tolist() == [contradicts] * 3 + [False]
    widened = replace(estimate, contains=np.where(found, value, np.nan))
    (ends, before) = (each.interval(0.9) for each in (widened, estimate))
    assert (ends[0][:3] <= np.minimum(before[0][:3], value if contradicts else 1.0)).all()
    assert (ends[1][:3] >= np.maximum(before[1][:3], value if contradicts else 0.0)).all()
    assert np.isnan(ends[0][3])
    np.testing.assert_array_equal(widened.find_contradictions(say(value, low, high)), found)
    without = Estimate(np.full(4, value), np.full((10, 4), value))
    assert not estimate.find_contradictions(without).any()


def strong_among_weak() -> ssme.ScoreSet:
    """30 labels by which the weakest of three classifiers is always right."""
    data = binary_set(n=600, n_labeled=0)
    labels = np.full(600, -1)
    labels[:30] = data.scores[:30, 2].argmax(axis=1)
    return data.replace(labels=labels)


@pytest.mark.parametrize(("method", "widens"), [("auto", True), ("ensemble", False)])
def test_contradicted_intervals_are_widened_and_named(method: str, widens: bool) -> None:
    r = ssme.evaluate(strong_among_weak(), method=method, metrics=["accuracy", "roc_auc"])
    estimate, alone = r.estimates[0][0], r.labels_only[0][0]
    found = estimate.find_contradictions(alone)
    assert found.any()
    (reason,) = (warning.reason for warning in r.warnings if warning.code == "D309")
    rows = {row["model"]: row for row in r.rows("accuracy")}
    for model, contradicted in zip(r.data.models, found, strict=True):
        row = rows[model]
        inside = row["low"] <= row["labels_only"] <= row["high"]
        assert inside == widens or not contradicted
        assert (f"accuracy of {model!r}" in reason) == contradicted
    assert ("widened" in reason) == widens
    plain = replace(
        r, estimates=((replace(estimate, contains=None), *r.estimates[0][1:]),), settings={}
    )
    assert [vars(row) for row in plain.compare("accuracy").rows] == [
        vars(row) for row in r.compare("accuracy").rows
    ]


def test_sound_data_are_seldom_widened() -> None:
    """Six of 60 estimates at most: the rate is 2 %, and the largest of 20 such sums was four."""
    found = []
    for seed in range(10):
        data = binary_set(n=600, n_labeled=30, seed=seed)
        r = ssme.evaluate(data, metrics=["accuracy", "roc_auc"], n_draws=200)
        found += [
            estimate.find_contradictions(alone)
            for estimate, alone in zip(r.estimates[0], r.labels_only[0], strict=True)
        ]
    assert np.sum(found) <= 6
