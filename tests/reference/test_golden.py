"""Metrics of the paper's public code on fixed rows of its own data.

Each golden run was made on ``rows`` of one half of a set, its first ``n_labeled`` rows labeled; the
truth is over the other half. ``numpy.random.default_rng(split).permutation(n)`` splits the halves,
first half for the run. Golden numbers carry six decimals.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.shared_data import available, golden_runs, load_set

from ssme.metrics import get_metric, one_hot_mass

NAMES = {"acc": "accuracy", "ece": "ece", "auc": "roc_auc", "auprc": "average_precision"}
RUNS = golden_runs() if available() else []

pytestmark = pytest.mark.data
each_run = pytest.mark.parametrize(
    "run", RUNS, ids=[f"{r['dataset']}-{r['n_labeled']}-{r['split']}" for r in RUNS]
)


@cache
def scores_and_labels(
    name: str, models: tuple[str, ...]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    scores, labels, names = load_set(name)
    return scores[:, [names.index(model) for model in models]], labels


def halves(run: dict[str, Any], n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    order = np.random.default_rng(run["split"]).permutation(n)
    return order[: n // 2], order[n // 2 :]


def values(run: dict[str, Any], rows: NDArray[np.int64], key: str) -> NDArray[np.float64]:
    scores, labels = scores_and_labels(run["dataset"], tuple(run["models"]))
    mass = one_hot_mass(labels[rows], scores.shape[2])
    out: NDArray[np.float64] = get_metric(NAMES[key])(scores[rows], mass)[0]
    return out


def test_the_runs_are_there() -> None:
    assert len(RUNS) == 12


@each_run
def test_rows_lie_in_the_first_half(run: dict[str, Any]) -> None:
    _, labels = scores_and_labels(run["dataset"], tuple(run["models"]))
    assert np.isin(run["rows"], halves(run, labels.size)[0]).all()


@each_run
def test_labels_only(run: dict[str, Any]) -> None:
    rows = np.array(run["rows"][: run["n_labeled"]])
    for key, golden in run["labels_only"].items():
        np.testing.assert_allclose(values(run, rows, key), golden, rtol=0, atol=1e-6)


@each_run
def test_truth_on_the_other_half(run: dict[str, Any]) -> None:
    """The multiclass ECE was summed there in single precision: see the next test."""
    scores, labels = scores_and_labels(run["dataset"], tuple(run["models"]))
    rows = halves(run, labels.size)[1]
    for key, golden in run["truth_on_complement_half"].items():
        single = key == "ece" and scores.shape[2] > 2
        np.testing.assert_allclose(
            values(run, rows, key), golden, rtol=0, atol=2e-5 if single else 1e-6
        )


@each_run
def test_single_precision_explains_the_multiclass_truth(run: dict[str, Any]) -> None:
    """The same definition, float32 sums in row order, gives those golden values to 1e-6."""
    scores, labels = scores_and_labels(run["dataset"], tuple(run["models"]))
    if scores.shape[2] == 2:
        assert "auc" in run["truth_on_complement_half"]  # two classes: exact already
        return
    rows = np.sort(halves(run, labels.size)[1])
    for m, golden in enumerate(run["truth_on_complement_half"]["ece"]):
        s = scores[rows, m].astype(np.float32)
        score, hit = s.max(axis=1), (s.argmax(axis=1) == labels[rows]).astype(np.float32)
        bins = np.searchsorted(np.linspace(0, 1, 16, dtype=np.float32)[1:-1], score, side="right")
        sums = np.zeros((3, 15), dtype=np.float32)
        for line, term in zip(sums, (np.ones_like(score), score, hit), strict=True):
            np.add.at(line, bins, term)
        count, confidence, hits = sums[:, sums[0] > 0]
        error = (np.abs(hits / count - confidence / count) * (count / count.sum())).sum()
        assert error == pytest.approx(golden, rel=0, abs=1e-6)
