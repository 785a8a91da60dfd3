"""The metric that leads follows the data, and naming one overrules it."""

from __future__ import annotations

import numpy as np
import pytest

import ssme
from ssme.data.scoreset import ScoreSet
from ssme.metrics.registry import find_leading_metric
from ssme.show.document import build_document


@pytest.mark.parametrize(
    ("shares", "lead"),
    [
        ((0.8, 0.2), "accuracy"),
        ((0.81, 0.19), "average_precision"),
        ((0.19, 0.81), "roc_auc"),
        ((0.5, 0.36, 0.14), "accuracy"),
        ((0.5, 0.37, 0.13), "balanced_accuracy"),
        ((0.5, np.nan), "accuracy"),
    ],
)
def test_a_rare_class_takes_the_lead_from_accuracy(shares: tuple[float, ...], lead: str) -> None:
    found = find_leading_metric(np.array(shares), [f"class {k}" for k in range(len(shares))])
    assert found.metric == lead
    assert bool(found.reason) == (lead != "accuracy")


def rare_set(shares: tuple[float, ...]) -> ScoreSet:
    rng = np.random.default_rng(0)
    y = rng.choice(len(shares), 400, p=shares)
    logits = rng.normal(size=(400, 2, len(shares)))
    logits[np.arange(400), :, y] += 3.0
    logits += np.log(shares)
    scores = np.exp(logits) / np.exp(logits).sum(axis=2, keepdims=True)
    labels = np.where(np.arange(400) < 80, y, -1)
    return ScoreSet(scores, labels, ("a", "b"), tuple(f"k{k}" for k in range(len(shares))))


def test_it_is_estimated_first_and_the_report_says_why() -> None:
    r = ssme.evaluate(rare_set((0.95, 0.05)), method="ensemble", n_draws=20)
    assert [m.name for m in r.metrics] == ["average_precision", "accuracy", "ece", "roc_auc"]
    assert r.choose().metric == "average_precision"
    answers = build_document(r, report=False).answers
    assert "always predicting 'k0' is right on" in answers[1].detail


def test_a_named_metric_leads() -> None:
    r = ssme.evaluate(rare_set((0.95, 0.05)), method="ensemble", n_draws=20, metrics="accuracy")
    assert r.choose().metric == "accuracy"
    assert r.settings["lead"] == {"metric": "accuracy", "reason": ""}


def test_labels_alone_know_the_shares_from_labels() -> None:
    r = ssme.evaluate(rare_set((0.95, 0.05)), method="labeled")
    assert r.metrics[0].name == "average_precision"
