"""Many labelings of the same labels: the fast way and the plain one give the same values."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score

from ssme.arrays import FloatArray
from ssme.methods.label_draws import ResamplingSettings, make_bootstrap_mass
from ssme.metrics import get_metric
from ssme.metrics.base import Metric
from ssme.metrics.ranking import SplitMass, plan_together


def make_problem(share: float, digits: int | None, n: int = 1200) -> tuple[FloatArray, FloatArray]:
    """Scores (n, 3, 2) and labels (n,) with ``share`` of positives."""
    rng = np.random.default_rng(5)
    labels = (rng.random(n) < share).astype(np.int64)
    logits = 2.0 * labels[:, None] - 1.0 + 1.5 * rng.normal(size=(n, 3))
    positive = 1.0 / (1.0 + np.exp(-logits))
    positive = positive if digits is None else positive.round(digits)
    return np.stack([1.0 - positive, positive], axis=2), labels


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("digits", [None, 2, 1])
@pytest.mark.parametrize("name", ["roc_auc", "average_precision"])
@pytest.mark.parametrize("n_draws", [7, 40])
def test_bootstrap_is_that_of_labelings_one_by_one(
    share: float, digits: int | None, name: str, n_draws: int
) -> None:
    scores, labels = make_problem(share, digits)
    rng = np.random.default_rng(1)
    settings = ResamplingSettings(prior_holders=100)
    weights = rng.standard_exponential((n_draws, len(labels)))
    mass = make_bootstrap_mass(weights, labels, 2, np.ones(len(labels)), rng, settings)
    assert SplitMass.of(mass) is not None
    assert SplitMass.of(mass[:1]) is None
    plan = get_metric(name).plan(scores)
    one_by_one = np.concatenate([plan(mass[d : d + 1]) for d in range(n_draws)])
    np.testing.assert_allclose(plan(mass), one_by_one, rtol=0, atol=1e-13)


@pytest.mark.parametrize("digits", [None, 1])
def test_weighted_labels_are_those_of_scikit_learn(digits: int | None) -> None:
    scores, labels = make_problem(0.3, digits)
    weights = np.random.default_rng(2).random((3, len(labels)))
    mass = weights[:, :, None] * (labels[:, None] == np.arange(2))
    assert SplitMass.of(mass) is not None
    by_name = {"roc_auc": roc_auc_score, "average_precision": average_precision_score}
    for name, oracle in by_name.items():
        expected = [
            [oracle(labels, scores[:, m, 1], sample_weight=of) for m in range(3)] for of in weights
        ]
        np.testing.assert_allclose(get_metric(name)(scores, mass), expected, rtol=1e-12)


def test_one_class_alone_is_undefined() -> None:
    scores, labels = make_problem(0.3, None)
    mass = np.ones((3, len(labels), 1)) * np.array([1.0, 0.0])
    assert np.isnan(get_metric("roc_auc")(scores, mass)).all()


def test_soft_labels_are_not_split() -> None:
    scores, _ = make_problem(0.3, None)
    assert SplitMass.of(np.stack([scores[:, 0], scores[:, 1]])) is None


def test_plans_made_together_are_the_same_plans() -> None:
    scores, labels = make_problem(0.3, 2)
    mass = (labels[:, None] == np.arange(2))[None].astype(np.float64)
    metrics: list[Metric] = [
        get_metric(name) for name in ("roc_auc", "accuracy", "average_precision", "ece")
    ]
    for metric, plan in zip(metrics, plan_together(metrics, scores), strict=True):
        np.testing.assert_array_equal(plan(mass), metric(scores, mass))


@pytest.mark.parametrize("name", ["roc_auc", "average_precision"])
def test_a_first_row_without_mass_in_one_labeling_changes_nothing_there(name: str) -> None:
    """The highest row is positive in one labeling and counts nothing in the other."""
    scores, labels = make_problem(0.3, None)
    first = scores[:, 0, 1].argmax()
    labels[first] = 1
    mass = np.repeat((labels[:, None] == np.arange(2))[None].astype(np.float64), 2, axis=0)
    mass[1, first] = 0.0
    assert SplitMass.of(mass) is not None
    plan = get_metric(name).plan(scores)
    one_by_one = np.concatenate([plan(mass[d : d + 1]) for d in range(2)])
    assert np.isfinite(one_by_one).all()
    np.testing.assert_allclose(plan(mass), one_by_one, rtol=0, atol=1e-13)
