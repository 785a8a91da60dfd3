"""Estimates from labels of rows that were chosen with known probabilities are right on average."""

from __future__ import annotations

import numpy as np
import pytest

from ssme.data.design import LabelRounds, make_design
from ssme.data.scoreset import ScoreSet
from ssme.methods.auto.constants import Constants
from ssme.methods.auto.correction import count_labels
from ssme.methods.auto.method import situate
from ssme.methods.registry import get_method
from ssme.metrics import get_metric
from ssme.results.suggest import draw_spread, set_probabilities

N = 600


def complete_set() -> ScoreSet:
    """Two classifiers, the second one badly calibrated, all rows labeled."""
    rng = np.random.default_rng(3)
    y = (rng.random(N) < 0.4).astype(int)
    logit = 2.0 * (y[:, None] - 0.5) * np.array([1.5, 0.8]) + rng.normal(size=(N, 2))
    logit[:, 1] = 4.0 * logit[:, 1] + 1.0
    return ScoreSet.from_arrays(1.0 / (1.0 + np.exp(-logit)), y, models=["a", "b"])


def choose(data: ScoreSet, rng: np.random.Generator, n: int = 60) -> ScoreSet:
    """Mostly rows of which the second classifier is unsure, in two rounds."""
    labels, number = np.full(N, -1), np.zeros(N, dtype=np.int64)
    chance = np.full(N, np.nan)
    for t, size in ((1, np.ones(N)), (2, 1.0 - 2.0 * np.abs(data.scores[:, 1, 1] - 0.5))):
        free = np.flatnonzero(labels < 0)
        p = set_probabilities(size[free], n // 2, 0.3)
        drawn = draw_spread(p, rng.permutation(free.size), rng)
        rows = free[drawn]
        labels[rows], number[rows], chance[rows] = data.labels[rows], t, p[drawn]
    design = make_design(LabelRounds(chance, number), labels)
    return data.replace(labels=labels, design=design)


@pytest.mark.parametrize("method", ["labeled", "ppi", "autoeval", "active_testing"])
def test_accuracy_is_right_on_average_and_its_interval_holds(method: str) -> None:
    data, rng, metric = complete_set(), np.random.default_rng(0), get_metric("accuracy")
    truth = (data.scores.argmax(axis=2) == data.labels[:, None]).mean(axis=0)
    values, held = [], []
    for _ in range(60):
        chosen = choose(data, rng)
        belief = get_method(method).fit(chosen, np.random.default_rng(0))
        estimate = belief.estimate([metric], [None])[0][0]
        low, high = estimate.interval(0.95)
        values.append(estimate.value)
        held.append((low <= truth) & (truth <= high))
    error = np.std(values, axis=0) / np.sqrt(len(values))
    assert (np.abs(np.mean(values, axis=0) - truth) < 4.0 * error + 0.002).all()
    if method != "active_testing":
        assert np.mean(held) > 0.88


def test_auto_takes_labels_alike_in_its_likelihood_and_by_weight_in_its_correction() -> None:
    chosen = choose(complete_set(), np.random.default_rng(0))
    given = chosen.with_design(chosen.design.weights)
    for data, in_likelihood in ((chosen, False), (given, True)):
        situation = situate(data, Constants(), np.random.default_rng(0))
        assert (situation.labels.weights is not None) == in_likelihood
    counts = count_labels(chosen.design, np.flatnonzero(chosen.labeled))
    assert counts is not None
    assert counts.max() > 1.5 * counts.min()
    estimate = get_method("auto").fit(chosen, np.random.default_rng(0))
    low, high = estimate.estimate([get_metric("accuracy")], [None])[0][0].interval(0.95)
    assert (low < high).all()


def test_ppi_of_a_ranking_is_right_on_average() -> None:
    data, rng, metric = complete_set(), np.random.default_rng(1), get_metric("roc_auc")
    truth = metric(data.scores, np.eye(2)[data.labels][None])[0]
    method = get_method("ppi", n_boot=50)
    values = [
        method.fit(choose(data, rng, 120), np.random.default_rng(0)).estimate([metric], [None])[0][
            0
        ]
        for _ in range(40)
    ]
    found = np.array([estimate.value for estimate in values])
    assert (np.abs(found.mean(axis=0) - truth) < 0.02).all()
