"""Thresholds meet their goals, and what is said of them is not better than the truth."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tests.made_sets import binary_set, many_class_set

import ssme
from ssme.data.scoreset import ScoreSet
from ssme.errors import InputError, UnsupportedError
from ssme.metrics import at_threshold, expected_cost, get_metric, one_hot_mass
from ssme.results.thresholds import read_goal

COST = expected_cost([[0.0, 1.0], [4.0, 0.0]])


def world(seed: int, n: int, n_labeled: int) -> tuple[ScoreSet, np.ndarray]:
    """Two models of moderate skill; the labels of all rows beside."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.4).astype(np.int64)
    logits = 1.4 * (2 * y - 1)[:, None] + 1.6 * rng.normal(size=(n, 2))
    p = 1.0 / (1.0 + np.exp(-logits))
    labels = np.where(np.arange(n) < n_labeled, y, -1)
    return ScoreSet(np.stack([1.0 - p, p], axis=2), labels, ("a", "b"), (0, 1)), y


def test_values_at_a_threshold_are_those_of_the_metric_at_it() -> None:
    data, _ = world(0, 400, 80)
    r = ssme.evaluate(data, method="labeled", metrics="accuracy")
    for pick in r.choose_thresholds(COST).picks:
        at = at_threshold(COST, pick.threshold)
        j = data.models.index(pick.model)
        known = r.belief.estimate([at], [None])[0][0].value[j]
        (found,) = pick.metrics
        assert found.estimate - found.optimism == pytest.approx(known, abs=1e-9)
        assert pick.low <= pick.threshold <= pick.high
        assert found.low <= found.estimate <= found.high


def test_no_other_candidate_costs_less() -> None:
    data, _ = world(1, 300, 300)
    r = ssme.evaluate(data, method="labeled", metrics="accuracy")
    mass = one_hot_mass(data.labels, 2)
    for j, pick in enumerate(r.choose_thresholds(COST).picks):
        said = pick.metrics[0].estimate - pick.metrics[0].optimism
        others = [at_threshold(COST, t)(data.scores, mass)[0, j] for t in np.linspace(0, 1, 41)]
        assert said <= min(others) + 0.02


@pytest.mark.parametrize(("goal", "limit"), [("recall>=0.9", 0.9), ("precision>=0.8", 0.8)])
def test_a_demand_is_met_and_more_surely_where_asked(goal: str, limit: float) -> None:
    data, y = world(2, 3000, 300)
    r = ssme.evaluate(data, method="labeled", metrics="accuracy")
    plain, safe = (r.choose_thresholds(goal, confidence=c) for c in (0.5, 0.95))
    demand = get_metric(goal.split(">")[0])
    for one, other in zip(plain.picks, safe.picks, strict=True):
        at = one.metrics[1]
        assert at.estimate + at.optimism >= limit
        assert other.p_demand > max(one.p_demand, 0.85)
        assert (other.threshold < one.threshold) == (demand.name == "recall")
    mass = one_hot_mass(y, 2)
    truth = [
        at_threshold(demand, pick.threshold)(data.scores, mass)[0, j]
        for j, pick in enumerate(safe.picks)
    ]
    assert min(truth) >= limit


def test_a_demand_that_nothing_meets_is_said() -> None:
    rng = np.random.default_rng(0)
    p = rng.random((200, 1)).round(2)
    data = ScoreSet(np.stack([1 - p, p], axis=2), rng.integers(0, 2, 200), ("coin",), (0, 1))
    found = ssme.evaluate(data, method="labeled", metrics="accuracy").choose_thresholds(
        "precision>=1", confidence=0.99
    )
    assert np.isnan(found.picks[0].threshold)
    assert found.choice is None
    assert json.loads(json.dumps(found.to_dict()))["picks"][0]["threshold"] is None


def test_optimism_of_choosing_is_taken_off() -> None:
    """Over 40 seeded sets of 40 labels the plain estimate is too good, the reported one is not."""
    plain, reported = [], []
    for seed in range(40):
        data, y = world(100 + seed, 2000, 40)
        known = data.replace(scores=data.scores[:40], labels=data.labels[:40])
        r = ssme.evaluate(known, method="labeled", metrics="accuracy", n_draws=200)
        mass = one_hot_mass(y, 2)
        for j, pick in enumerate(r.choose_thresholds(COST).picks):
            truth = at_threshold(COST, pick.threshold)(data.scores, mass)[0, j]
            (at,) = pick.metrics
            plain.append(at.estimate - at.optimism - truth)
            reported.append(at.estimate - truth)
    error = np.std(plain) / np.sqrt(40)
    assert np.mean(plain) < -2.0 * error, "the plain estimate should be too good here"
    assert abs(np.mean(reported)) < 0.5 * abs(np.mean(plain))


def test_the_model_is_chosen_at_its_own_threshold() -> None:
    data, _ = world(3, 300, 100)
    found = ssme.evaluate(data, method="ensemble", metrics="accuracy").choose_thresholds("f1")
    assert found.choice is not None
    best = max(found.picks, key=lambda pick: pick.metrics[0].estimate)
    assert found.choice.pick == best.model
    assert len(found.frame()) == 2
    assert {pick.metrics[0].optimism for pick in found.picks} == {0.0}


@pytest.mark.parametrize(
    "goal", ["recall>0.9", "recall>=2", "recall>=x", "auc>=0.5", "recall>=0", "roc_auc", "nothing"]
)
def test_bad_goals_are_refused(goal: str) -> None:
    with pytest.raises(InputError):
        read_goal(goal)


def test_what_cannot_be_done_is_refused() -> None:
    r = ssme.evaluate(many_class_set(), method="ensemble", metrics="accuracy", n_draws=20)
    with pytest.raises(UnsupportedError, match="among 10 classes"):
        r.choose_thresholds("f1")
    r = ssme.evaluate(binary_set(n=60, n_labeled=30), method="atc", metrics="accuracy")
    with pytest.raises(UnsupportedError, match="many thresholds"):
        r.choose_thresholds("f1")


def test_costs_and_utilities_decide() -> None:
    data, _ = world(4, 300, 100)
    r = ssme.evaluate(data, method="labeled", metrics="accuracy")
    cost = r.choose({"name": "expected_cost", "matrix": [[0, 1], [4, 0]]})
    gain = r.choose({"name": "expected_utility", "matrix": [[0, -1], [-4, 0]]})
    assert (cost.pick, cost.metric, gain.metric) == (gain.pick, "expected_cost", "expected_utility")
    assert cost.regret == pytest.approx(gain.regret)
    assert "points" not in cost.sentence()
    with pytest.raises(InputError, match="every entry of the cost matrix"):
        expected_cost([[1, 1], [1, 1]])
    with pytest.raises(InputError, match="matrix"):
        expected_cost([["a", 1], [1, 1]])  # type: ignore[list-item]


@pytest.fixture(scope="module")
def rare() -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Scores of a model for 20,000 rows, 3 % of which are positive, and their labels."""
    rng = np.random.default_rng(0)
    y = (rng.random(20_000) < 0.03).astype(int)
    logits = 1.5 * (rng.normal(size=(2, y.size)) + np.array([[3.3], [2.9]]) * y - 2.6)
    return dict(zip("ab", 1.0 / (1.0 + np.exp(-logits)), strict=True)), y


def test_a_rare_class_has_the_threshold_with_the_greatest_recall(
    rare: tuple[dict[str, np.ndarray], np.ndarray],
) -> None:
    """Of the 1 % quantiles of scores, one was left for model b: .746 with a recall of .324."""
    scores, y = rare
    data = ScoreSet.from_arrays(scores, y)
    result = ssme.evaluate(data, method="labeled", metrics="accuracy", n_draws=100)
    for pick in result.choose_thresholds("precision>=0.9").picks:
        order = np.argsort(-scores[pick.model])
        found = np.cumsum(y[order])
        last = np.flatnonzero(found / np.arange(1, y.size + 1) >= 0.9)[-1]
        assert pick.threshold == scores[pick.model][order[last]]
        recall = pick.metrics[0].estimate + pick.metrics[0].optimism
        assert recall == pytest.approx(found[last] / y.sum(), abs=1e-9)


def test_a_rare_class_has_a_threshold_that_surely_meets_a_demand(
    rare: tuple[dict[str, np.ndarray], np.ndarray],
) -> None:
    """The model `auto` took had a threshold of .995 and a recall of .002."""
    scores, y = rare
    labels = np.where(np.arange(y.size) < 3000, y, -1)
    data = ScoreSet.from_arrays(scores, labels, unlabeled=-1)
    result = ssme.evaluate(data, metrics="accuracy", random_state=0)
    safe = result.choose_thresholds("precision>=0.9", confidence=0.95)
    for pick in safe.picks:
        positive = scores[pick.model] >= pick.threshold
        assert y[positive].mean() >= 0.9
        assert positive[y == 1].mean() >= 0.2


def test_a_model_is_judged_at_its_own_thresholds_also_where_models_are_judged_alone() -> None:
    data, _ = world(3, 500, 120)
    for method in ("bayesian_calibration", "cbpe", "ssme_m"):
        result = ssme.evaluate(data, method=method, metrics="accuracy", n_draws=50, random_state=0)
        for j, pick in enumerate(result.choose_thresholds("f1").picks):
            there = at_threshold(get_metric("f1"), pick.threshold)
            known = result.belief.estimate([there], [None])[0][0].value[j]
            assert pick.metrics[0].estimate == pytest.approx(known, abs=1e-9)
