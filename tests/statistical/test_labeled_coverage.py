"""Intervals of labels alone cover the truth of a known model at 20 labels, as often as they say.

Two classes, scores N(+-d, 1): accuracy, recall and ROC AUC in closed form, the others from two
hundred thousand simulated rows once. 250 runs: a 95 % interval covers in 89.5 % of them or more
with probability 0.9999 (binomial, Monte-Carlo error 0.014), so that 9 metrics of 2 models hold for
20 seeds. Conservative ones may cover more, but not always: an interval that holds everything says
nothing.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, ndtr

from ssme.data.scoreset import ScoreSet
from ssme.methods.labeled import Labeled
from ssme.metrics import get_metric
from ssme.metrics.base import one_hot_mass

SEPARATION = np.array([0.5, 1.2])
RUNS = 250
LOWEST, HIGHEST = 0.895, 0.998


def sample(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    y = rng.integers(0, 2, n)
    view = (2 * y[:, None] - 1) * SEPARATION + rng.normal(size=(n, 2))
    positive = expit(2 * SEPARATION * view)  # the posterior: calibrated scores
    return np.stack([1 - positive, positive], axis=2), y


NAMES = (
    "accuracy",
    "recall",
    "roc_auc",
    "average_precision",
    "f1",
    "matthews_corrcoef",
    "balanced_accuracy",
    "brier_score",
    "log_loss",
)


@pytest.fixture(scope="module")
def coverage(other_seeds: None) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(11)
    scores, y = sample(200_000, rng)
    metrics = [get_metric(name) for name in NAMES]
    truth = {m.name: m(scores, one_hot_mass(y, 2))[0] for m in metrics}
    truth["accuracy"] = truth["recall"] = ndtr(SEPARATION)
    truth["roc_auc"] = ndtr(np.sqrt(2) * SEPARATION)
    inside: dict[str, list[np.ndarray]] = {name: [] for name in NAMES}
    for run in range(RUNS):
        scores, y = sample(20, np.random.default_rng([run, 1]))
        data = ScoreSet(scores, y, ("a", "b"), (0, 1))
        belief = Labeled(n_draws=300).fit(data, np.random.default_rng(run))
        for metric, got in zip(metrics, belief.estimate(metrics, [None])[0], strict=True):
            low, high = got.interval()
            inside[metric.name].append((low <= truth[metric.name]) & (truth[metric.name] <= high))
    return {name: np.mean(found, axis=0) for name, found in inside.items()}


@pytest.mark.parametrize("name", NAMES)
def test_coverage_at_twenty_labels(coverage: dict[str, np.ndarray], name: str):
    assert (coverage[name] >= LOWEST).all(), coverage[name]
    assert coverage[name].mean() <= HIGHEST, coverage[name]


@pytest.mark.parametrize(("n", "share"), [(20, 0.5), (60, 0.15)])
def test_coverage_at_a_stated_prevalence(n: int, share: float) -> None:
    """Where few labels are positive, all of them are often decided alike."""
    metric = get_metric("accuracy~0.03")
    right = ndtr(SEPARATION + np.log(share / (1 - share)) / (2 * SEPARATION))
    wrong = ndtr(-SEPARATION + np.log(share / (1 - share)) / (2 * SEPARATION))
    truth, inside = 0.03 * right + 0.97 * (1 - wrong), []
    for run in range(RUNS):
        rng = np.random.default_rng([run, 2])
        y = (rng.random(n) < share).astype(np.int64)
        view = (2 * y[:, None] - 1) * SEPARATION + rng.normal(size=(n, 2))
        positive = expit(2 * SEPARATION * view + np.log(share / (1 - share)))
        data = ScoreSet(np.stack([1 - positive, positive], axis=2), y, ("a", "b"), (0, 1))
        belief = Labeled(n_draws=300).fit(data, np.random.default_rng(run))
        low, high = belief.estimate([metric], [None])[0][0].interval()
        inside.append((low <= truth) & (truth <= high))
    found = np.mean(inside, axis=0)
    assert (found >= 0.90).all(), found
