"""Agreement by hand, against its two formulas, and on real classifiers."""

from __future__ import annotations

import numpy as np
import pytest
from tests.shared_data import load_set, set_names

from ssme.data.scoreset import ScoreSet
from ssme.diagnostics import Case, check_all
from ssme.diagnostics.classifier_checks import measure_agreement


def test_of_votes_is_the_numerator_of_cohens_kappa():
    from sklearn.metrics import cohen_kappa_score

    rng = np.random.default_rng(0)
    first = rng.integers(0, 3, 400)
    second = np.where(rng.random(400) < 0.4, first, rng.integers(0, 3, 400))
    found = measure_agreement(np.stack([np.eye(3)[first], np.eye(3)[second]], axis=1))
    assert found.seen == pytest.approx((first == second).mean())
    kappa = (found.seen - found.by_chance) / (1.0 - found.by_chance)
    assert kappa == pytest.approx(cohen_kappa_score(first, second))


@pytest.mark.parametrize("classes", [2, 4])
def test_independent_classifiers_have_a_standard_normal_z(classes: int):
    rng = np.random.default_rng(1)
    z = [
        measure_agreement(rng.dirichlet(np.full(classes, 0.6), size=(300, 4))).z_seen
        for _ in range(400)
    ]
    assert abs(np.mean(z)) < 0.15
    assert np.std(z) == pytest.approx(1.0, abs=0.1)


@pytest.mark.parametrize("classes", [2, 4])
def test_calibrated_classifiers_that_err_independently_agree_as_claimed(classes: int):
    rng = np.random.default_rng(2)
    prior = np.arange(1.0, classes + 1.0) / np.arange(1.0, classes + 1.0).sum()
    y = rng.choice(classes, 40_000, p=prior)
    view = rng.normal(size=(y.size, 3, classes))
    view[np.arange(y.size), :, y] += 1.2
    scores = prior * np.exp(1.2 * view)  # the posterior given that view
    found = measure_agreement(scores / scores.sum(axis=2, keepdims=True))
    assert found.seen == pytest.approx(found.claimed, abs=0.01)
    assert found.seen > found.by_chance + 0.05


def test_missing_scores_neither_agree_nor_count():
    rng = np.random.default_rng(3)
    scores = rng.dirichlet([1.0, 1.0], size=(500, 2))
    scores[:, 1] = scores[:, 0]
    whole = measure_agreement(scores[:250])
    scores[250:, 1] = np.nan
    part = measure_agreement(scores)
    assert part.seen == pytest.approx(whole.seen, abs=0.02)
    assert part.z_seen == pytest.approx(whole.z_seen, rel=0.1)


def as_data(scores: np.ndarray) -> ScoreSet:
    n, models, classes = scores.shape
    names = tuple(f"m{j}" for j in range(models))
    return ScoreSet(scores, np.full(n, -1), names, tuple(range(classes)))


def codes(scores: np.ndarray) -> set[str]:
    return {warning.code for warning in check_all(Case(as_data(scores)))}


@pytest.mark.data
def test_real_classifiers_agree_and_shuffled_ones_do_not():
    for name in set_names():
        scores, _, _ = load_set(name)
        rng = np.random.default_rng(4)
        some = scores[rng.permutation(len(scores))[:2_000]]
        assert "D207" not in codes(some), name
        shuffled = np.stack([rng.permutation(model) for model in some.transpose(1, 0, 2)], axis=1)
        claims = measure_agreement(some).z_claimed > 5.0
        assert ("D207" in codes(shuffled)) == claims, name
