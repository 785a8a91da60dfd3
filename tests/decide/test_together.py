"""What the classifiers get wrong together: right on known labels, honest with few."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tests.made_sets import binary_set, many_class_set

import ssme
from ssme.data.scoreset import ScoreSet
from ssme.errors import InputError
from ssme.methods.beliefs import PerModelPosterior
from ssme.methods.label_draws import wilson
from ssme.methods.registry import find_method_class, method_names
from ssme.results.together import TogetherConstants, profile_set


def set_of(wrong: np.ndarray, labels: np.ndarray | None = None) -> ScoreSet:
    """Scores of two classes that are wrong where ``wrong`` (n, M) says."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, len(wrong))
    said = np.where(wrong, 1 - y[:, None], y[:, None])
    p = np.where(said == 1, 0.8, 0.2)
    names = tuple(f"m{j}" for j in range(wrong.shape[1]))
    shown = y if labels is None else np.where(labels, y, -1)
    return ScoreSet(np.stack([1 - p, p], axis=2), shown, names, (0, 1))


def profile(data: ScoreSet, method: str = "labeled"):
    return ssme.evaluate(data, method=method, metrics="accuracy").set_profile()


def test_every_number_is_the_count_where_all_labels_are_known() -> None:
    wrong = np.random.default_rng(1).random((400, 3)) < [0.2, 0.3, 0.25]
    wrong[:40] = True
    found = profile(set_of(wrong))
    number = wrong.sum(axis=1)
    assert found.all_wrong.estimate == pytest.approx((number == 3).mean())
    assert found.all_right.estimate == pytest.approx((number == 0).mean())
    assert found.vote.estimate == pytest.approx((number <= 1).mean())
    assert found.if_independent.estimate == pytest.approx(wrong.mean(axis=0).prod())
    counts = [figure.estimate for figure in found.wrong_counts]
    assert counts == pytest.approx([(number == w).mean() for w in range(4)])
    related = np.corrcoef(wrong.T)[np.triu_indices(3, 1)]
    assert [pair.correlation.estimate for pair in found.pairs] == pytest.approx(related)
    assert found.pairs[2].both_wrong.estimate == pytest.approx((wrong[:, 1] & wrong[:, 2]).mean())
    assert found.effective_number.estimate == pytest.approx(3 / (1 + 2 * related.mean()))
    for row in found.rows():
        assert row["low"] <= row["estimate"] <= row["high"]
        assert row["labels_only"] == pytest.approx(row["estimate"])


def test_copies_are_one_classifier_and_strangers_are_many() -> None:
    one = np.random.default_rng(2).random((500, 1)) < 0.3
    copies = profile(set_of(np.repeat(one, 4, axis=1)))
    assert copies.effective_number.estimate == pytest.approx(1.0)
    assert copies.with_one_more.estimate == pytest.approx(copies.all_wrong.estimate, rel=1e-6)
    strangers = profile(set_of(np.random.default_rng(3).random((2000, 4)) < 0.3))
    assert strangers.effective_number.estimate > 3.5
    assert strangers.with_one_more.estimate < 0.5 * strangers.all_wrong.estimate


def test_one_more_is_foretold_from_fewer() -> None:
    """Chances of being wrong that vary over rows: five classifiers foretell the sixth."""
    rng = np.random.default_rng(4)
    wrong = rng.random((6_000, 6)) < rng.beta(0.6, 2.0, (6_000, 1))
    five = profile(set_of(wrong[:, :5]))
    assert five.with_one_more.estimate == pytest.approx(wrong.all(axis=1).mean(), abs=0.006)


@pytest.mark.parametrize("method", method_names())
def test_every_method_answers_or_says_why_not(method: str) -> None:
    data = binary_set(n=60, n_labeled=30)
    if "oracle" in {
        field.name for field in find_method_class(method).__dataclass_fields__.values()
    }:
        return
    r = ssme.evaluate(data, method=method, metrics="accuracy")
    alone = find_method_class(method).spec.metrics is not None or isinstance(
        r.belief, PerModelPosterior
    )
    if alone:
        with pytest.raises(InputError, match="each classifier by itself"):
            r.set_profile()
        return
    found = r.set_profile()
    assert 0.0 <= found.all_wrong.low <= found.all_wrong.high <= 1.0
    assert len(found.pairs) == data.n_models * (data.n_models - 1) // 2


def test_more_classes_and_missing_scores() -> None:
    data = many_class_set()
    scores = data.scores.copy()
    scores[0, 0] = np.nan
    with_hole = profile(data.replace(scores=scores), "ensemble")
    assert np.isfinite(with_hole.all_wrong.estimate)
    assert json.dumps(with_hole.to_dict())
    assert len(with_hole.frame()) == 7 + data.n_models + 1


def test_one_classifier_is_no_set() -> None:
    with pytest.raises(InputError, match="one classifier"):
        profile(set_of(np.zeros((20, 1), dtype=bool)))


def test_auto_answers_where_scores_are_believed_each_by_its_own() -> None:
    """Few labels and scores that claim little: `auto` then weighs each classifier's own scores."""
    rng = np.random.default_rng(5)
    scores = rng.dirichlet(np.ones(4) * 2.0, (120, 5))
    labels = np.where(np.arange(120) < 15, rng.integers(0, 4, 120), -1)
    data = ScoreSet(scores, labels, tuple("abcde"), (0, 1, 2, 3))
    found = profile(data, "auto")
    assert 0.0 <= found.all_wrong.low <= found.all_wrong.estimate <= found.all_wrong.high <= 1.0


@pytest.mark.parametrize("method", ["labeled", "auto"])
def test_shares_of_labels_alone_have_the_interval_of_a_proportion(method: str) -> None:
    data = binary_set(n=400, n_labeled=60)
    found = profile(data, method)
    for figure in (found.all_wrong, found.vote, *found.wrong_counts, found.pairs[0].both_wrong):
        low, high = wilson(np.array([figure.labels_only]), np.array([60.0]), 0.95)
        assert (figure.labels_only_low, figure.labels_only_high) == (low.item(), high.item())
        if method == "labeled":
            assert (figure.low, figure.high) == (low.item(), high.item())


def test_estimates_lean_a_little_on_labels_alone() -> None:
    r = ssme.evaluate(binary_set(n=400, n_labeled=60), metrics="accuracy")
    still = profile_set(r, "all", r.level, TogetherConstants(leaning=0.0))
    usual, much = r.set_profile(), profile_set(r, "all", r.level, TogetherConstants(leaning=1e9))
    assert sum(each.estimate for each in usual.wrong_counts) == pytest.approx(1.0)
    for name in ("all_wrong", "vote", "correlation"):
        before, after, alone = (getattr(each, name) for each in (still, usual, much))
        assert alone.estimate == pytest.approx(before.labels_only, abs=1e-6)
        moved = (after.estimate - before.estimate) / (before.labels_only - before.estimate)
        assert 0.0 < moved <= 0.1 / 1.1 + 1e-9
        assert after.low <= after.estimate <= after.high


def test_draws_of_shares_are_spread_and_those_of_labels_alone_are_not() -> None:
    data = binary_set(n=400, n_labeled=60)
    r = ssme.evaluate(data, metrics="accuracy")
    plain, wide = profile_set(r, "all", r.level, TogetherConstants(widening=1.0)), r.set_profile()
    for name in ("all_right", "vote"):
        before, after = getattr(plain, name), getattr(wide, name)
        factor = 1.35 if name == "all_right" else 1.0
        assert after.estimate == before.estimate
        assert after.high - after.low == pytest.approx(
            factor * (before.high - before.low), rel=1e-6
        )
    alone = profile(data)
    assert alone.all_right.high == alone.all_right.labels_only_high
