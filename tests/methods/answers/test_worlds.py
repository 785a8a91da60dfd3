"""Worlds of judges: usual sets look usual, and designs of the labels are used."""

from __future__ import annotations

import numpy as np
import pytest
from tests.methods.answers.test_answers import ACCURACY, made

import ssme
from ssme import ScoreSet
from ssme.arrays import FloatArray
from ssme.data.design import as_design
from ssme.methods.answers.method import (
    Answers,
    AnswersBelief,
)


def rare(labels: int = 60, *, balanced: bool, seed: int = 0) -> tuple[ScoreSet, FloatArray]:
    """Seven judges who miss positives; rows labeled at random, or as many of each class."""
    rng = np.random.default_rng(seed)
    truth = (rng.random(1500) < 0.08).astype(int)
    hard = rng.normal(size=truth.size)
    skill = np.where(truth[:, None] == 1, np.linspace(0.6, 1.6, 7), np.linspace(2.2, 3.0, 7))
    right = rng.normal(size=(truth.size, 7)) < skill - 0.8 * hard[:, None]
    said = np.where(right, truth[:, None], 1 - truth[:, None])
    order = rng.permutation(truth.size)
    if balanced:
        order = np.concatenate([order[truth[order] == k][: labels // 2] for k in (0, 1)])
    known: list[int | None] = [None] * truth.size
    for row in order[:labels]:
        known[row] = int(truth[row])
    data = ScoreSet.from_answers(said, known, classes=[0, 1])
    return data, (said == truth[:, None]).mean(axis=0)


def fit(data: ScoreSet) -> AnswersBelief:
    return Answers(n_draws=100).fit(data, np.random.default_rng(0))


@pytest.mark.parametrize("seed", range(3))
def test_a_usual_set_looks_usual(seed: int) -> None:
    worlds = fit(made(seed=seed)[0]).facts.worlds
    assert worlds["usual"] > 0.5
    assert sum(worlds.values()) == pytest.approx(1.0, abs=1e-3)


def test_labels_chosen_by_class_are_found_out_and_doubted() -> None:
    data, truth = rare(balanced=True)
    belief = fit(data)
    assert belief.facts.worlds["selected"] > 0.9
    assert abs(belief.soft[:, 1].mean() - 0.08) < 0.06
    value = belief.estimate([ACCURACY], [None])[0][0].value
    assert np.abs(value - truth).mean() < 0.03
    assert "D306" in {warning.code for warning in ssme.evaluate(data, n_draws=20).warnings}
    assert fit(rare(balanced=False)[0]).facts.worlds["selected"] < 0.5


@pytest.mark.parametrize("design", ["by_class", "by_score", "weights"])
def test_a_design_is_used(design: str) -> None:
    data, truth = rare(labels=60, balanced=True)
    share = np.array([(data.labels == k).sum() for k in (0, 1)])
    weights = (np.array([0.92, 0.08]) * 1500 / share)[data.labels]
    said = weights if design == "weights" else design
    told = data.replace(design=as_design(said, data.labels))
    random = data.replace(design=as_design("random", data.labels))
    one, other = (fit(each).estimate([ACCURACY], [None])[0][0].value for each in (told, random))
    assert "selected" not in fit(told).facts.worlds
    assert np.abs(one - truth).mean() < 0.025
    assert (np.abs(one - other) > 0.0).all() == (design != "by_score")


def test_judges_who_share_an_error_are_corrected_by_labels() -> None:
    """All copy one source that is often wrong: they agree, and the labels contradict them."""
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 800)
    source = np.where(rng.random(800) < 0.65, truth, 1 - truth)
    said = np.where(rng.random((800, 6)) < 0.97, source[:, None], 1 - source[:, None])
    known = [int(t) if i < 100 else None for i, t in enumerate(truth)]
    belief = fit(ScoreSet.from_answers(said, known, classes=[0, 1]))
    value = belief.estimate([ACCURACY], [None])[0][0].value
    assert np.abs(value - (said == truth[:, None]).mean(axis=0)).mean() < 0.04
