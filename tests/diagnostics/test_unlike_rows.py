"""Do labeled rows look like the others? With weights, with random labels, and of judges."""

from __future__ import annotations

import numpy as np
import pytest

import ssme
from ssme.data.design import LabelRounds, make_design
from ssme.data.scoreset import ScoreSet
from ssme.diagnostics import CHECKS, Case, ask_all

SETS = 150


def made_set(seed: int, labeled: int = 40, n: int = 160) -> tuple[ScoreSet, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    logits = 1.5 * (2 * y - 1)[:, None] + rng.normal(0, 1.5, (n, 3))
    labels = np.where(np.arange(n) < labeled, y, np.nan)
    return ScoreSet.from_arrays(1 / (1 + np.exp(-logits)), labels), y


def outcome(data: ScoreSet, code: str) -> str:
    (check,) = (each for each in CHECKS if each.code == code)
    return check.ask(Case(data)).outcome


def chosen_by_class(seed: int) -> ScoreSet:
    """Five labels in six are of the positive class, which is half of the rows."""
    rng = np.random.default_rng(seed)
    data, y = made_set(seed, 0, 1200)
    chance = np.where(y == 1, 0.25, 0.05)
    return data.with_labels(np.where(rng.random(y.size) < chance, y, np.nan))


def test_weights_that_undo_the_choice_silence_the_warning() -> None:
    plain, undone = [], []
    for seed in range(12):
        data = chosen_by_class(seed)
        weights = np.where(data.labeled, np.where(data.labels == 1, 4.0, 20.0), 1.0)
        weighted = ScoreSet.from_arrays(data.scores, data.label_values, weights=weights)
        plain.append(outcome(data, "D104") == "warning")
        undone.append(outcome(weighted, "D104") == "warning")
    assert sum(plain) >= 11
    assert sum(undone) <= 1


def test_labels_drawn_at_random_hardly_ever_raise_it() -> None:
    """The stated chance is 0.01; six or more of 150 would have a chance of 0.005."""
    rng, raised, raised_with_weights = np.random.default_rng(5), 0, 0
    for seed in range(SETS):
        data, _ = made_set(seed)
        raised += outcome(data, "D104") == "warning"
        weights = rng.uniform(0.3, 1.0, data.n_rows)
        weighted = ScoreSet.from_arrays(data.scores, data.label_values, weights=weights)
        raised_with_weights += outcome(weighted, "D104") == "warning"
    assert raised < 6
    assert raised_with_weights < 6


def test_weights_that_leave_few_rows_are_told() -> None:
    data, _ = made_set(0)
    weights = np.where(np.arange(data.n_rows) < 3, 1.0, 1e-6)
    weighted = ScoreSet.from_arrays(data.scores, data.label_values, weights=weights)
    (found,) = (each for each in ask_all(Case(weighted)) if each.check.code == "D104")
    assert found.outcome == "not applicable"
    assert "after thinning by weight" in found.reason


def test_answers_of_judges_promise_nothing() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    said = {f"judge {j}": np.where(rng.random(400) < 0.8, y, 1 - y) for j in range(4)}
    labels = np.where(np.arange(400) < 60, y, np.nan)
    result = ssme.evaluate(ScoreSet.from_answers(said, labels), method="answers")
    assert not {"D201", "D209", "D210", "D301", "D302"} & {
        warning.code for warning in result.warnings
    }


def add_round(first: ScoreSet, drawn: np.ndarray, values: np.ndarray) -> ScoreSet:
    """``first`` with labels ``values`` of rows ``drawn`` in a round of suggestions."""
    labels = first.labels.astype(float)
    labels[labels < 0] = np.nan
    labels[drawn] = values
    chosen = np.isin(np.arange(first.n_rows), drawn)
    rounds = LabelRounds(np.where(chosen, 0.02, np.nan), chosen.astype(np.int64))
    data = first.with_labels(labels)
    return data.replace(design=make_design(rounds, data.labels))


def test_labels_chosen_by_class_before_a_round_of_suggestions_are_doubted() -> None:
    """Rows drawn with known probabilities do not hide how the labels before them were chosen."""
    for first, expected in ((chosen_by_class(0), "warning"), (made_set(0, 120, 1200)[0], "fine")):
        rng = np.random.default_rng(3)
        drawn = rng.permutation(np.flatnonzero(~first.labeled))[:20]
        data = add_round(first, drawn, rng.integers(0, 2, 20))
        (answer,) = (o for o in ask_all(Case(data)) if o.check.code == "D104")
        assert answer.outcome == expected


@pytest.mark.parametrize("sharper", [1.0, 8.0])
def test_suggested_rows_neither_hide_nor_raise_warnings_about_classifiers(sharper: float) -> None:
    """Labels from before the rounds judge; suggested rows, all wrong here, do not."""
    sound, y = made_set(0, 120, 1200)
    odds = sound.scores**sharper
    first = ScoreSet.from_arrays(odds / odds.sum(axis=2, keepdims=True), sound.label_values)
    votes = first.scores.argmax(axis=2)
    wrong = (votes != y[:, None]).all(axis=1) & ~first.labeled
    data = add_round(first, np.flatnonzero(wrong)[:20], y[wrong][:20])
    for code in ("D201", "D301", "D302"):
        alone, later = (
            next(o for o in ask_all(Case(each)) if o.check.code == code) for each in (first, data)
        )
        assert (later.outcome, later.reason) == (alone.outcome, alone.reason)
        if code == "D201":
            assert later.outcome == ("fine" if sharper == 1.0 else "warning")
