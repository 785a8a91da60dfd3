"""Weights count relative to one another: their unit changes no number, however large or small."""

from __future__ import annotations

import warnings
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from tests.stream.worlds import binary_table, written

import ssme
from ssme.data.values import find_weight_unit
from ssme.errors import SsmeWarning
from ssme.metrics import metric_names
from ssme.stream import evaluate_parquet

UNITS = [1e160, 1e-160, 1e300, 5e-300, 1e-310]


@cache
def numbers_of(unit: float, method: str) -> np.ndarray:
    rng = np.random.default_rng(0)
    y = np.array([0, 1] * 60)
    scores = 1 / (1 + np.exp(-(2 * y[:, None] - 1) - rng.normal(size=(120, 3))))
    labels = np.where(np.arange(120) < 50, y, np.nan)
    weights = rng.uniform(0.5, 2.0, 120) * unit
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SsmeWarning)
        result = ssme.evaluate(
            scores,
            labels,
            method=method,
            weights=weights,
            metrics=list(metric_names(2)),
            n_draws=40,
        )
    columns = ("estimate", "low", "high", "labels_only")
    return np.array([[row[column] for column in columns] for row in result.rows()], dtype=float)


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("method", ["labeled", "auto", "ensemble"])
def test_the_unit_of_weights_changes_no_number(method: str, unit: float) -> None:
    np.testing.assert_allclose(numbers_of(unit, method), numbers_of(1.0, method), rtol=1e-9)


@pytest.mark.parametrize("unit", [*UNITS, 1e308, 0.1, 1000.0])
@pytest.mark.parametrize("method", ["labeled", "auto", "ppi", "active_testing", "answers"])
def test_the_unit_of_weights_of_labels_changes_no_number(method: str, unit: float) -> None:
    """Accuracy by active testing was 0.98, 1.00 or 0.00, and 1e160 ended `auto` in a traceback."""
    rng = np.random.default_rng(0)
    y = np.array([0, 1] * 60)
    scores = 1 / (1 + np.exp(-(2 * y[:, None] - 1) - rng.normal(size=(120, 3))))
    labels = np.where(np.arange(120) < 50, y, np.nan)
    weights = np.where(np.arange(120) % 3 == 0, 1.0, 0.5)
    numbers = []
    for design in (weights, weights * unit):
        result = ssme.evaluate(scores, labels, method=method, design=design, metrics=["accuracy"])
        columns = ["estimate", "low", "high", "labels_only_low"]
        numbers.append(result.frame()[columns].to_numpy(dtype=float))
    np.testing.assert_allclose(numbers[1], numbers[0], rtol=1e-9)


def test_the_unit_of_weights_changes_no_streamed_number(tmp_path: Path) -> None:
    found = []
    for unit in (1.0, 1e160):
        table = binary_table(1200, 60)
        place = table.schema.get_field_index("weight")
        weights = table["weight"].to_numpy() * unit
        folder = tmp_path / f"{unit:g}"
        folder.mkdir()
        files = written(table.set_column(place, "weight", [weights]), folder)
        metrics = [name for name in metric_names(2) if name != "roc_auc_ovo"]
        result = evaluate_parquet(files, metrics=metrics, sample_rows=300, weight="weight")
        found.append([[r["estimate"], r["low"], r["high"]] for r in result.rows()])
    np.testing.assert_allclose(found[1], found[0], rtol=1e-9)


def test_labels_of_rows_that_hardly_count_have_intervals() -> None:
    rng = np.random.default_rng(0)
    labels = np.where(np.arange(120) < 40, rng.integers(0, 2, 120), np.nan)
    found = [
        ssme.evaluate(
            np.random.default_rng(1).random((120, 2)),
            labels,
            weights=np.where(labels >= 0, unit, 1.0),
            method="labeled",
            metrics=["accuracy", "roc_auc"],
        ).frame()
        for unit in (1.0, 1e-310)
    ]
    columns = ["estimate", "low", "high"]
    np.testing.assert_allclose(found[1][columns], found[0][columns], rtol=1e-9)


def test_usual_weights_are_kept_as_they_are() -> None:
    """Whole numbers stay whole: callables without weights repeat rows by them."""
    assert find_weight_unit(np.array([3.0, 1e6])) == 1.0
    assert find_weight_unit(np.array([1e-6, 0.0])) == 1.0
    assert 0.5 <= 1e160 * find_weight_unit(np.array([1.0, 1e160])) < 1.0
