"""Shifts are found, told apart and corrected; without one there is hardly an alarm."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tests.made_sets import binary_set

import ssme
from ssme.data.scoreset import ScoreSet
from ssme.diagnostics.significance import make_score_features, run_class_test, run_classifier_test
from ssme.errors import InputError
from ssme.metrics import get_metric, one_hot_mass
from ssme.results.shift import Shift, correct_shift, find_shift


def rows(rng: np.random.Generator, n: int, share: float) -> tuple[np.ndarray, np.ndarray]:
    """Scores (n, 3, 2) of three fair classifiers and classes (n,)."""
    y = (rng.random(n) < share).astype(np.int64)
    logit = 2.0 * (2 * y - 1)[:, None] + 1.5 * rng.normal(size=(n, 3))
    p = 1.0 / (1.0 + np.exp(-logit))
    return np.stack([1 - p, p], axis=2), y


def shifted(seed: int, labeled_share: float, share: float, n_labeled: int = 60, n: int = 600):
    """Labels of one prevalence, rows of another; the truth beside."""
    rng = np.random.default_rng(seed)
    first, y_first = rows(rng, n_labeled, labeled_share)
    second, y_second = rows(rng, n, share)
    labels = np.concatenate([y_first, np.full(n, -1)])
    data = ScoreSet(np.concatenate([first, second]), labels, ("a", "b", "c"), (0, 1))
    return data, second, y_second


def test_without_a_shift_there_is_hardly_an_alarm() -> None:
    alarms = [find_shift(shifted(seed, 0.4, 0.4, n=300)[0]).found for seed in range(40)]
    assert np.mean(alarms) <= 0.1


@pytest.mark.parametrize("test", [run_class_test, run_classifier_test])
def test_p_values_are_even_without_a_shift(test) -> None:
    found = []
    for seed in range(120):
        rng = np.random.default_rng(seed)
        scores, _ = rows(rng, 120, 0.3)
        member = np.arange(120) < 30
        view = scores.mean(axis=1)
        seen = view if test is run_class_test else make_score_features(view, scores)
        found.append(test(seen, member, rng, 99)[1])
    assert np.mean(np.array(found) <= 0.2) == pytest.approx(0.2, abs=0.11)


def test_label_shift_is_found_named_and_corrected() -> None:
    data, scores, y = shifted(1, 0.6, 0.2)
    shift = find_shift(data)
    assert shift.found
    assert "label" in shift.not_refuted
    assert shift.unlabeled_shares[1] == pytest.approx(y.mean(), abs=0.06)
    assert json.loads(json.dumps(shift.to_dict()))["found"]
    plain = ssme.evaluate(data, method="labeled", metrics="precision")
    fixed = ssme.evaluate(correct_shift(data, "label"), method="labeled", metrics="precision")
    truth = get_metric("precision")(scores, one_hot_mass(y, 2))[0]
    errors = [np.abs(r.estimate().value - truth).mean() for r in (plain, fixed)]
    assert errors[1] < 0.5 * errors[0]


@pytest.mark.parametrize("kind", ["label", "covariate"])
@pytest.mark.parametrize("method", ["labeled", "auto"])
def test_a_correction_leaves_a_warning(kind: str, method: str) -> None:
    """Under label shift a correction for covariate shift is not refuted, and corrects little."""
    data, _, _ = shifted(1, 0.6, 0.2)
    assert "covariate" in find_shift(data).not_refuted
    plain, fixed = (
        {d.code: d.severity for d in ssme.evaluate(each, method=method, n_draws=50).warnings}
        for each in (data, correct_shift(data, kind))
    )
    assert {"D104", "D108"} & plain.keys()
    assert fixed["D109"] == "warning"
    assert "D109" not in plain
    part = correct_shift(data, kind).take(np.arange(data.n_rows) % 2 == 0)
    assert part.design.assumed == kind


def test_covariate_shift_is_found_and_label_shift_refuted() -> None:
    rng = np.random.default_rng(2)
    scores, y = rows(rng, 4000, 0.5)
    sure = scores.max(axis=2).mean(axis=1)
    easy = np.flatnonzero(sure > 0.9)[:80]
    rest = np.setdiff1d(np.arange(4000), easy)[:800]
    labels = np.concatenate([y[easy], np.full(rest.size, -1)])
    data = ScoreSet(scores[np.concatenate([easy, rest])], labels, ("a", "b", "c"), (0, 1))
    shift = find_shift(data)
    assert shift.found
    assert "label" not in shift.not_refuted
    assert shift.p_label < 0.05


def test_weights_by_score_bring_labels_to_the_rows() -> None:
    """Labels on rows that look easy: five seeds, 100 labels or so each."""
    plain, fixed = [], []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        scores, y = rows(rng, 2500, 0.5)
        chance = scores.max(axis=2).mean(axis=1) ** 8
        labels = np.where(rng.random(2500) < 0.12 * chance, y, -1)
        data = ScoreSet(scores, labels, ("a", "b", "c"), (0, 1))
        truth = get_metric("accuracy")(scores, one_hot_mass(y, 2))[0]
        for found, of in ((plain, data), (fixed, correct_shift(data, "covariate"))):
            r = ssme.evaluate(of, method="labeled", metrics="accuracy", n_draws=20)
            found.append((r.estimate().value - truth).mean())
    assert np.mean(plain) > 0.03
    assert abs(np.mean(fixed)) < 0.6 * np.mean(plain)


def test_bad_input_is_refused() -> None:
    data = binary_set(n=60, n_labeled=30)
    with pytest.raises(InputError, match="kind"):
        correct_shift(data, "concept")
    with pytest.raises(InputError, match="weights already"):
        correct_shift(correct_shift(data, "label"), "label")
    with pytest.raises(InputError, match="At least 10"):
        find_shift(binary_set(n=60, n_labeled=5))


@pytest.mark.parametrize(
    ("found", "kept", "told"),
    [
        (False, (), "No shift between labeled and unlabeled rows was found"),
        (True, (), "correct neither"),
        (True, ("label", "covariate"), "scores cannot show which"),
        (True, ("label",), "correct for label shift"),
        (True, ("covariate",), "scores cannot refute it"),
    ],
)
def test_each_finding_has_its_sentence(found: bool, kept: tuple[str, ...], told: str) -> None:
    shares = (0.5, 0.5)
    shift = Shift(0.01, 0.02, ("0", "1"), shares, shares, 0.03, 40.0, 30.0, 5.0, found, kept)
    assert told in shift.sentence()
    assert "p = 0.010 by scores, 0.020 by classes" in shift.sentence()
