"""The method for judges: right where it can be checked, invariant where it must be."""

from __future__ import annotations

import numpy as np
import pytest

import ssme
from ssme import ScoreSet, UnsupportedError
from ssme.arrays import FloatArray
from ssme.methods.answers.constants import AnswerConstants
from ssme.methods.answers.evidence import EvidenceEncoders
from ssme.methods.answers.method import Answers
from ssme.metrics import get_metric

ACCURACY = get_metric("accuracy")


def made(
    n: int = 600, judges: int = 7, classes: int = 2, labels: int = 60, seed: int = 0
) -> tuple[ScoreSet, FloatArray]:
    """Judges who share difficulty: hard rows are hard for all; and their true accuracy."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, classes, n)
    hard = rng.normal(size=n)
    skill = np.linspace(0.6, 2.0, judges)
    right = rng.normal(size=(n, judges)) < skill - hard[:, None]
    wrong = (truth[:, None] + rng.integers(1, classes, (n, judges))) % classes
    said = np.where(right, truth[:, None], wrong)
    known = np.where(np.arange(n) < labels, truth, -1)
    data = ScoreSet.from_answers(
        said, np.where(known < 0, None, known), classes=list(range(classes))
    )
    return data, (said == truth[:, None]).mean(axis=0)


@pytest.mark.parametrize("classes", [2, 5])
def test_accuracy_of_judges_who_share_difficulty(classes: int) -> None:
    data, truth = made(classes=classes)
    ours = Answers().fit(data, np.random.default_rng(0)).estimate([ACCURACY], [None])[0][0]
    low, high = ours.interval()
    assert np.abs(ours.value - truth).mean() < 0.05
    assert ((low <= ours.value) & (ours.value <= high)).all()


def test_no_label_at_all() -> None:
    data, truth = made(labels=0)
    belief = Answers().fit(data, np.random.default_rng(0))
    ours = belief.estimate([ACCURACY], [None])[0][0]
    assert belief.facts.label_free
    assert np.corrcoef(ours.value, truth)[0, 1] > 0.9


def test_sparse_answers_and_the_order_of_judges() -> None:
    data, _ = made(judges=8)
    holes = np.random.default_rng(1).random(data.scores.shape[:2]) < 0.6
    holes[np.arange(data.n_rows), np.arange(data.n_rows) % 8] = False
    sparse = data.replace(scores=np.where(holes[:, :, None], np.nan, data.scores))
    turned = sparse.select(sparse.models[::-1])
    ours = Answers().fit(sparse, np.random.default_rng(0))
    other = Answers().fit(turned, np.random.default_rng(0))
    np.testing.assert_allclose(ours.posterior, other.posterior, atol=1e-6)
    value = ours.estimate([ACCURACY], [None])[0][0].value
    assert np.isfinite(value).all()


def test_any_monotone_use_of_the_scale_gives_the_same_posterior() -> None:
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, 400)
    rated = np.clip(np.round(2.5 + truth[:, None] + rng.normal(size=(400, 4))), 1, 5).astype(int)
    labels = [*truth[:40].tolist(), *[None] * 360]
    names = [f"r{m}" for m in range(4)]
    plain = {name: rated[:, m] for m, name in enumerate(names)}
    stretched = {name: values**3 for name, values in plain.items()}
    one = ScoreSet.from_answers(None, labels, ratings=plain, cut=3)
    two = ScoreSet.from_answers(None, labels, ratings=stretched, grades=[1, 8, 27, 64, 125], cut=27)
    fits = [Answers().fit(data, np.random.default_rng(0)) for data in (one, two)]
    np.testing.assert_allclose(fits[0].posterior, fits[1].posterior, atol=1e-9)
    auc = get_metric("roc_auc")
    values = [fit.estimate([auc], [None])[0][0].value for fit in fits]
    np.testing.assert_allclose(values[0], values[1], atol=1e-9)


def test_answers_beside_probabilities() -> None:
    data, truth = made()
    rng = np.random.default_rng(5)
    positive = np.clip(data.scores[:, 0, 1] * 0.6 + 0.2 + rng.normal(0, 0.05, data.n_rows), 0, 1)
    scores = np.concatenate(
        [np.stack([1 - positive, positive], axis=1)[:, None], data.scores[:, 1:]], axis=1
    )
    mixed = data.replace(
        scores=scores, judges={name: data.judges[name] for name in data.models[1:]}
    )
    kinds = [encoder.kind for encoder in EvidenceEncoders.fit(mixed, AnswerConstants()).each]
    assert kinds == ["probabilities", *["answers"] * 6]
    ours = Answers().fit(mixed, np.random.default_rng(0)).estimate([ACCURACY], [None])[0][0]
    assert np.abs(ours.value - truth).mean() < 0.06


def test_metrics_of_probabilities_are_refused_or_marked() -> None:
    data, _ = made()
    with pytest.raises(UnsupportedError, match="give answers"):
        ssme.evaluate(data, method="answers", metrics="ece")
    usual = ssme.evaluate(data, method="answers")
    assert {metric.name for metric in usual.metrics} == {"accuracy", "cohen_kappa"}
    mixed = data.replace(judges={name: data.judges[name] for name in data.models[1:]})
    result = ssme.evaluate(mixed, method="answers", metrics=["accuracy", "ece", "log_loss"])
    table = {(row["model"], row["metric"]): row["estimate"] for row in result.rows()}
    for name in data.models:
        assert np.isfinite(table[name, "accuracy"])
        assert np.isnan(table[name, "ece"]) == (name in mixed.judges)
        assert np.isnan(table[name, "log_loss"]) == (name in mixed.judges)


def test_auto_takes_this_method_for_judges() -> None:
    data, _ = made(n=200)
    auto = ssme.evaluate(data, metrics="accuracy")
    own = ssme.evaluate(data, method="answers", metrics="accuracy")
    assert auto.method == "auto"
    for one, other in zip(auto.rows(), own.rows(), strict=True):
        assert (one["estimate"], one["low"], one["high"]) == (
            other["estimate"], other["low"], other["high"]
        )  # fmt: skip
