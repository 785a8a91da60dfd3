"""Gaps between groups: they hold for all pairs at once, and the worst group comes first."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import ssme
from ssme.errors import InputError
from ssme.methods.base import Estimate
from ssme.metrics import get_metric, one_hot_mass
from ssme.results.groups import (
    compute_joint_reach,
    compute_p_worst,
    compute_pair_reach,
    make_mean_bias,
)


def grouped(n: int = 400, **asked: Any) -> ssme.Evaluation:
    rng = np.random.default_rng(0)
    site = np.array(["a", "b", "c", "d"], dtype=object)[np.arange(n) % 4]
    truth = rng.integers(0, 2, n)
    noise = np.where(site == "d", 2.5, 0.5)
    z = (2 * truth - 1)[:, None] + noise[:, None] * rng.normal(size=(n, 2))
    labels = np.where(rng.random(n) < 0.25, truth, -1)
    data = ssme.ScoreSet.from_arrays(
        1.0 / (1.0 + np.exp(-z)), labels, groups={"site": site}, unlabeled=-1
    )
    chosen = {"metrics": ["accuracy", "ece"], "method": "ensemble", "n_draws": 100, **asked}
    return ssme.evaluate(data, **chosen)


@pytest.fixture(scope="module")
def result() -> ssme.Evaluation:
    return grouped()


def test_the_gap_is_that_of_the_table_and_inside_its_interval(result: ssme.Evaluation) -> None:
    table = result.frame("pandas").query("metric == 'accuracy' and group != 'all'")
    for gap in result.gaps("accuracy").rows:
        values = table[table["model"] == gap.model].set_index("group")["estimate"]
        low, high = values.min(), values.max()
        assert gap.estimate == pytest.approx(high - low if gap.gap == "difference" else low / high)
        assert gap.low <= gap.estimate <= gap.high
        assert (gap.worst, gap.best) == (values.idxmin(), values.idxmax())
        assert gap.n_groups == 4


def test_worst_group_first_whichever_way_is_better(result: ssme.Evaluation) -> None:
    assert result.worst_groups("accuracy").rows[0].group == "site=d"
    values = [rank.estimate for rank in result.worst_groups("ece").rows]
    assert values == sorted(values, reverse=True)
    rank = result.worst_groups("accuracy").rows[0]
    assert rank.difference_low <= rank.difference <= rank.difference_high
    assert rank.difference < 0.0
    assert sum(each.p_worst for each in result.worst_groups("accuracy").rows) == pytest.approx(1.0)
    assert rank.effective_labels > 0.0


def test_a_worst_group_among_several_is_less_sure_than_its_share_of_draws() -> None:
    rng = np.random.default_rng(2)
    draws = rng.normal([0.5, 0.6, 0.7], 0.1, (4000, 3))
    one, half = (
        [Estimate(np.zeros(1), worst_exponent=exponent) for _ in range(3)]
        for exponent in (1.0, 0.5)
    )
    accuracy = get_metric("accuracy")
    plain, careful = (compute_p_worst(draws, accuracy, each) for each in (one, half))
    assert plain == pytest.approx((draws.argmin(axis=1)[:, None] == range(3)).mean(axis=0))
    assert careful == pytest.approx(np.sqrt(plain) / np.sqrt(plain).sum())
    two = compute_p_worst(draws[:, :2], accuracy, half[:2])
    assert two == pytest.approx(compute_p_worst(draws[:, :2], accuracy, one[:2]))
    flipped = compute_p_worst(-draws, get_metric("ece"), one)
    assert flipped == pytest.approx(plain)


def test_intervals_hold_for_all_pairs_at_once() -> None:
    """Twelve groups without any difference: a gap is found in about one of twenty worlds."""
    rng = np.random.default_rng(1)
    found, each_by_itself = [], []
    for _ in range(300):
        off = rng.normal(size=(200, 12))
        values = rng.normal(size=12)
        (reach,) = compute_pair_reach([off], 0.95)
        apart = values[:, None] - values[None, :]
        found.append((apart - reach).max() > 0.0)
        each_by_itself.append(np.ptp(values) > 1.96 * np.sqrt(2.0))
    assert np.mean(found) <= 0.09
    assert np.mean(each_by_itself) > 0.4


def test_many_groups_and_groups_against_all() -> None:
    rng = np.random.default_rng(2)
    off = rng.normal(size=(100, 101))
    (reach,) = compute_pair_reach([off], 0.95)
    assert reach.shape == (101, 101)
    assert (reach > 2.0).all()
    assert compute_joint_reach(off, 0.95).min() > 2.5
    assert np.isnan(compute_pair_reach([np.full((1, 3), np.nan)], 0.95)[0]).all()


def test_gaps_of_fairness_are_estimated_without_being_asked_for(result: ssme.Evaluation) -> None:
    kinds = ["equal_opportunity", "equalized_odds", "calibration"]
    gaps = result.gaps(kinds=kinds).rows
    assert [gap.gap for gap in gaps] == [kind for kind in kinds for _ in range(2)]
    by = {(gap.gap, gap.model): gap for gap in gaps}
    for model in result.data.models:
        recall = by["equal_opportunity", model]
        assert by["equalized_odds", model].estimate >= recall.estimate
    asked = grouped(metrics=["recall", "specificity"])
    again = {(g.gap, g.model): g.estimate for g in asked.gaps(kinds=kinds[:2]).rows}
    for key, value in again.items():
        assert by[key].estimate == pytest.approx(value)


def test_mean_bias_is_outcome_minus_score() -> None:
    scores = np.array([[[0.3, 0.7]], [[0.9, 0.1]]])
    mass = one_hot_mass(np.array([1, 1]), 2)
    assert make_mean_bias(2)(scores, mass)[0, 0] == pytest.approx(0.6)
    three = np.array([[[0.5, 0.3, 0.2]], [[0.1, 0.2, 0.7]]])
    assert make_mean_bias(3)(three, one_hot_mass(np.array([0, 1]), 3))[0, 0] == pytest.approx(-0.1)


def test_without_draws_there_is_a_gap_and_no_interval(result: ssme.Evaluation) -> None:
    bare = tuple(tuple(Estimate(e.value) for e in of) for of in result.estimates)
    gap = dataclasses.replace(result, estimates=bare).gaps("accuracy").rows[0]
    assert gap.estimate > 0.0
    assert np.isnan([gap.low, gap.high, gap.p_worst]).all()


def test_groups_that_were_put_together_are_not_compared() -> None:
    gap = grouped(min_group_rows=100, max_groups=2).gaps("accuracy").rows[0]
    assert gap.n_groups == 2


def test_what_cannot_be_asked_is_refused(result: ssme.Evaluation) -> None:
    with pytest.raises(InputError, match="difference, ratio"):
        result.gaps(kinds=["parity"])
    with pytest.raises(InputError, match="by must be one of"):
        result.gaps(by="town")
    with pytest.raises(InputError, match="no groups were evaluated"):
        grouped(by=[]).gaps()


def test_a_rate_that_was_never_seen_is_not_taken_for_none() -> None:
    rng = np.random.default_rng(0)
    n = 400
    truth = (rng.random(n) < 0.2).astype(int)
    never = 0.1 + 0.3 * rng.random(n)
    good = np.clip(0.2 + 0.6 * truth + 0.2 * rng.normal(size=n), 0.01, 0.99)
    site = np.where(np.arange(n) % 2 == 0, "a", "b").astype(object)
    labels = np.where(np.arange(n) < 60, truth, -1)
    data = ssme.ScoreSet.from_arrays(
        np.stack([never, good], axis=1),
        labels,
        models=("never", "good"),
        groups={"site": site},
        unlabeled=-1,
    )
    asked = {"metrics": "accuracy", "method": "ensemble", "n_draws": 50}
    kinds = ["equal_opportunity"]
    seen = ssme.evaluate(data, **asked).gaps(kinds=kinds).rows[0]
    assert seen.model == "never"
    assert (seen.estimate, seen.low) == (0.0, 0.0)
    # about 50 positives a group, none of which it finds: three in fifty
    assert 0.02 < seen.high < 0.15
    at_hand = ssme.evaluate(data, group_target="rows", **asked).gaps(kinds=kinds).rows[0]
    assert at_hand.high == 0.0
