"""Studies of intervals and pairs on the protocol engine: the numbers of a fit on the same rows."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.accuracy import intervals
from benchmarks.studies import run_studies, seen_rows

from ssme.bench.protocol import split_rows
from ssme.data.scoreset import ScoreSet
from ssme.methods.labeled import Labeled
from ssme.methods.ppi import Ppi
from ssme.metrics import get_metric
from ssme.metrics.base import one_hot_mass
from ssme.results.comparison import compute_probability_better


def load_small(name: str) -> ScoreSet:
    """1,600 rows of three classifiers."""
    rng = np.random.default_rng(4)
    y = (rng.random(1600) < 0.3).astype(np.int64)
    logits = rng.normal(size=(1600, 3)) + (2 * y[:, None] - 1) * np.array([0.6, 1.0, 1.5])
    positive = 1.0 / (1.0 + np.exp(-logits))
    return ScoreSet(np.stack([1.0 - positive, positive], axis=2), y, ("a", "b", "c"), (0, 1))


def split(n_labeled: int, n_unlabeled: int) -> tuple[ScoreSet, ScoreSet]:
    data = load_small("small")
    rows = split_rows(data.labels, n_labeled, n_unlabeled, 0, seed=0, dataset="small")
    return seen_rows(data, rows), data.take(rows.truth)


def test_intervals_of_ppi_are_those_of_a_fit_on_the_rows_of_the_split(monkeypatch):
    monkeypatch.setattr(intervals, "load_scores", load_small)
    ((table, _),) = run_studies([intervals.plan_ppi_study(("small",), 1)])
    seen, held = split(20, 600)
    metric = get_metric("roc_auc")
    got = Ppi(n_boot=200).fit(seen, np.random.default_rng(0)).estimate([metric], [None])[0][0]
    truth = metric(held.scores, one_hot_mass(held.labels, 2))[0]
    low, high = got.interval()
    found = table[(table["metric"] == "roc_auc") & (table["n_labeled"] == 20)]
    assert found["width"].tolist() == pytest.approx((high - low).tolist(), abs=1e-12)
    inside = (low <= truth) & (truth <= high)
    assert found["coverage"].tolist() == inside.astype(float).tolist()


def test_calls_of_labels_alone_are_those_of_a_fit_on_the_rows_of_the_split(monkeypatch):
    monkeypatch.setattr(intervals, "load_scores", load_small)
    ((table, _),) = run_studies([intervals.plan_study(("small",), 1, intervals.count_calls)])
    seen, held = split(100, 0)
    metric = get_metric("accuracy")
    metrics = [get_metric(name) for name in ("accuracy", "ece", "roc_auc", "average_precision")]
    fitted = Labeled(n_draws=400).fit(seen, np.random.default_rng(0))
    better = compute_probability_better(fitted.estimate(metrics, [None])[0][0], True)
    truth = metric(held.scores, one_hot_mass(held.labels, 2))[0]
    called = better >= intervals.CALLED
    found = table[(table["metric"] == "accuracy") & (table["n_labeled"] == 100)].iloc[0]
    assert found["called"] == called.sum()
    assert found["right"] == (truth[:, None] > truth[None, :])[called].sum()
    assert found["said"] == pytest.approx(better[called].sum(), abs=1e-12)
