"""Differences, P(better), P(best) and ranks from joint draws; and the Evaluation's two doors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import ssme
from ssme.errors import InputError
from ssme.methods.base import Estimate
from ssme.metrics import get_metric
from ssme.results.comparison import (
    Difference,
    compare_estimates,
    compute_probability_best,
    compute_probability_better,
    compute_ranks,
    compute_share_best,
    rank_models,
)

DRAWS = np.array([[0.9, 0.8, 0.8], [0.7, 0.8, 0.8], [0.9, 0.9, 0.1], [0.6, 0.5, 0.5]])


def test_probability_better_splits_ties_and_respects_direction():
    estimate = Estimate(DRAWS.mean(axis=0), DRAWS)
    up = compute_probability_better(estimate, True)
    assert up[0, 1] == pytest.approx((1 + 0 + 0.5 + 1) / 4)
    assert np.allclose(up + up.T, 1.0)
    assert np.allclose(np.diag(up), 0.5)
    assert np.allclose(compute_probability_better(estimate, False), up.T)


UPWARDS, DOWNWARDS = get_metric("accuracy"), get_metric("ece")
UNDIRECTED = replace(UPWARDS, greater_is_better=None)


def make(values, draws=(None, None), metric=UPWARDS, reach=np.nan, factor=1.0, same_rows=True):
    """The first of two classifiers minus the second."""
    bounds = [lambda level, v=v: (np.array([v - reach]), np.array([v + reach])) for v in values]
    one, two = (
        Estimate(np.array([v]), bounds=b, pair_factor=factor)
        if d is None
        else Estimate(np.array([v]), d[:, None], pair_factor=factor)
        for v, d, b in zip(values, draws, bounds, strict=True)
    )
    first = np.zeros(1, dtype=int)
    numbers = compare_estimates(one, two, first, first, metric, 0.9, same_rows=same_rows)
    return Difference("m", "a", "b", "all", *numbers[:, 0].tolist())


def test_the_factor_is_for_two_classifiers_and_not_for_two_groups():
    draws = ((np.arange(300) - 99.5) / 1000, np.zeros(300))
    models, groups = (make((0.05, 0.0), draws, factor=0.5, same_rows=s) for s in (True, False))
    assert models.p_better == pytest.approx(250 / 300)
    assert groups.p_better == pytest.approx(200 / 300)
    assert (models.low, models.high) == (groups.low, groups.high)


def test_the_share_of_the_best_shares_ties():
    shares = [(1 + 0 + 0.5 + 1) / 4, (0.5 + 0.5) / 4, 0.5 / 4]
    assert compute_share_best(DRAWS, True) == pytest.approx(shares)
    plain = compute_probability_best(Estimate(DRAWS.mean(axis=0), DRAWS), True)
    assert plain == pytest.approx(shares)


def test_an_exponent_makes_the_favorite_less_sure_and_keeps_the_order_and_the_sum():
    shares = np.array([0.625, 0.25, 0.125])
    tempered = Estimate(DRAWS.mean(axis=0), DRAWS, best_exponent=0.5)
    said = compute_probability_best(tempered, True)
    assert said == pytest.approx(np.sqrt(shares) / np.sqrt(shares).sum())
    assert said.sum() == pytest.approx(1.0)


def test_the_best_is_counted_in_the_draws_that_count_for_pairs():
    rng = np.random.default_rng(0)
    value = np.array([0.5, 0.45, 0.4, np.nan])
    draws = value + rng.normal(0.0, 0.1, (500, 4))
    estimate = Estimate(value, draws, pair_factor=0.5)
    said = compute_probability_best(estimate, True)
    near = value[:3] + 0.5 * (draws[:, :3] - value[:3])
    assert said[:3] == pytest.approx(np.bincount(near.argmax(axis=1), minlength=3) / 500)
    assert np.isnan(said[3])
    against = compute_probability_better(Estimate(value[:3], draws[:, :3], pair_factor=0.5), True)
    np.fill_diagonal(against, 1.0)
    assert (said[:3] <= against.min(axis=1) + 1e-12).all()
    lower = compute_probability_best(estimate, False)
    assert lower[2] > lower[1] > lower[0]


def test_ranks_equal_scipys():
    from scipy.stats import rankdata

    draws = np.random.default_rng(0).integers(0, 4, size=(50, 6)) / 4
    assert np.array_equal(compute_ranks(draws, False), rankdata(draws, axis=1))
    assert np.array_equal(compute_ranks(draws, True), rankdata(-draws, axis=1))


def test_without_draws_intervals_are_combined_as_if_independent():
    got = make((0.9, 0.8), reach=0.03)
    assert got.low == pytest.approx(0.1 - np.hypot(0.03, 0.03))
    assert got.high == pytest.approx(0.1 + np.hypot(0.03, 0.03))
    assert np.isnan(got.p_better)


def test_difference_is_that_of_the_estimates_and_inside_its_interval():
    draws = (np.linspace(0.0, 0.1, 101), np.zeros(101))
    inside = make((0.85, 0.8), draws)
    assert inside.difference == pytest.approx(0.05)
    assert (inside.low, inside.high) == (pytest.approx(0.005), pytest.approx(0.095))
    outside = make((0.95, 0.8), draws)
    assert outside.high == outside.difference


def test_no_direction_no_probability_and_no_draws_no_interval():
    draws = (np.ones(10), np.zeros(10))
    assert make((1.0, 0.0), draws).p_better == 1.0
    assert make((1.0, 0.0), draws, DOWNWARDS).p_better == 0.0
    assert np.isnan(make((1.0, 0.0), draws, UNDIRECTED).p_better)
    assert np.isnan(make((1.0, 0.0)).low)
    assert np.isnan(make((1.0, 0.0), (np.full(10, np.nan), np.zeros(10))).high)


def test_ranking_puts_undefined_models_last_without_a_rank():
    draws = np.column_stack([DRAWS, np.full(4, np.nan)])
    estimate = Estimate(value=np.array([0.7, 0.8, 0.5, np.nan]), draws=draws)
    got = rank_models(["a", "b", "c", "d"], UPWARDS, estimate, where="all", level=0.95)
    assert [row.model for row in got.rows] == ["b", "a", "c", "d"]
    assert np.isnan(got.rows[3].expected_rank)
    assert sum(row.expected_rank for row in got.rows[:3]) == pytest.approx(6.0)
    assert sum(row.p_best for row in got.rows[:3]) == pytest.approx(1.0)
    for row in got.rows[:3]:
        assert row.rank_low <= row.expected_rank <= row.rank_high


@pytest.fixture(scope="module")
def evaluation():
    rng = np.random.default_rng(1)
    n = 200
    y = rng.integers(0, 2, n)
    scores = 1 / (1 + np.exp(-(2 * y[:, None] - 1) * [0.2, 1.0, 1.5] - rng.normal(size=(n, 3))))
    labels = np.where(np.arange(n) < 60, y, np.nan)
    groups = {"site": np.array(["x", "y"], dtype=object)[np.arange(n) % 2]}
    return ssme.evaluate(
        scores, labels, method="labeled", metrics=["accuracy", "brier_score"], groups=groups
    )


def test_compare_agrees_with_the_table(evaluation):
    table = evaluation.frame("pandas").set_index(["group", "metric", "model"])["estimate"]
    compared = evaluation.compare().frame()
    assert len(compared) == 2 * 3
    for row in compared.itertuples():
        expected = table["all", row.metric, row.a] - table["all", row.metric, row.b]
        assert row.difference == pytest.approx(expected)
        assert row.low <= row.difference <= row.high


def test_compare_one_pair_one_against_all_and_groups(evaluation):
    first, second, third = evaluation.data.models
    pair = evaluation.compare("accuracy", third, first)
    swapped = evaluation.compare("accuracy", first, third)
    assert pair.rows[0].difference == -swapped.rows[0].difference
    assert pair.rows[0].p_better == pytest.approx(1 - swapped.rows[0].p_better)
    assert pair.rows[0].p_better > 0.9
    assert [row.b for row in evaluation.compare("accuracy", second).rows] == [first, third]
    by_group = evaluation.compare("accuracy", groups=("site=x", "site=y"))
    table = evaluation.frame("pandas").set_index(["group", "metric", "model"])["estimate"]
    for row in by_group.rows:
        gap = table["site=x", "accuracy", row.where] - table["site=y", "accuracy", row.where]
        assert row.difference == pytest.approx(gap)
        assert row.low <= row.difference <= row.high


def test_lower_is_better_ranks_the_smallest_first(evaluation):
    ranking = evaluation.ranking("brier_score")
    estimates = [row.estimate for row in ranking.rows]
    assert estimates == sorted(estimates)
    assert ranking.rows[0].p_best == max(row.p_best for row in ranking.rows)


def test_bad_questions_are_answered_with_what_is_allowed(evaluation):
    with pytest.raises(InputError, match="was not evaluated"):
        evaluation.compare("roc_auc")
    with pytest.raises(InputError, match="there is no model 'zed'"):
        evaluation.compare("accuracy", "zed")
    with pytest.raises(InputError, match="a was not given"):
        evaluation.compare("accuracy", b="zed")
    with pytest.raises(InputError, match=r"no metric was named"):
        evaluation.ranking()
    model = evaluation.data.models[0]
    with pytest.raises(InputError, match=f"a and b are both '{model}'"):
        evaluation.compare("accuracy", model, model)
    for level in (0, 1, 95, "0.9", float("nan"), True):
        with pytest.raises(InputError, match="level must be"):
            evaluation.frame(level=level)


def test_ranking_needs_a_direction():
    def mean_score(y_true, y_score):
        return float(np.mean(y_score))

    scores = np.random.default_rng(0).random((30, 2))
    labels = np.array([0.0, 1.0] * 15)
    got = ssme.evaluate(scores, labels, method="labeled", metrics=mean_score)
    with pytest.raises(InputError, match="greater is better"):
        got.ranking()
