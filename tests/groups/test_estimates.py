"""Estimates of groups: shrinkage, both targets, many groups, and what is said about them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ssme
from ssme.errors import InputError
from ssme.results.group_estimates import GroupConstants, ShiftDirections, fit_group_shifts


def world(seed: int, n: int = 1200, n_labeled: int = 60, off: float = 0.0) -> tuple[Any, Any]:
    """Three calibrated classifiers; in group b the log-odds of the truth are off by ``off``."""
    rng = np.random.default_rng(seed)
    site = np.where(np.arange(n) % 4 == 0, "b", "a").astype(object)
    z = rng.normal(0.0, 2.0, n)
    truth = (rng.random(n) < 1.0 / (1.0 + np.exp(-z - off * (site == "b")))).astype(int)
    noisy = z[:, None] + rng.normal(0.0, 0.5, (n, 3))
    labels = np.full(n, -1)
    chosen = rng.choice(n, n_labeled, replace=False)
    labels[chosen] = truth[chosen]
    scores = 1.0 / (1.0 + np.exp(-noisy))
    data = ssme.ScoreSet.from_arrays(
        scores, labels, groups={"site": site, "size": rng.normal(0.0, 1.0, n)}, unlabeled=-1
    )
    return data, truth


def test_without_labels_a_group_is_that_of_the_prior_and_with_many_its_own() -> None:
    constants = GroupConstants()
    score = np.array([[0.0, 0.0], [3.0, 0.0], [300.0, 0.0]])
    information = np.array([[0.0, 0.0], [5.0, 5.0], [500.0, 500.0]])
    found = fit_group_shifts(score, information, constants)
    assert found.own[0] == 0.0
    assert found.own[0] < found.own[1] < found.own[2]
    assert found.point[0, 0] == 0.0
    assert 0.0 < found.point[1, 0] < 0.6
    assert found.point[2, 0] == pytest.approx(0.6, abs=0.1)


def test_a_shift_moves_the_odds_and_nothing_else() -> None:
    soft = np.array([[0.9, 0.1], [0.4, 0.6]])
    directions = ShiftDirections.of(soft)
    moved = directions.shift(soft, np.array([[0.7, 0.0], [0.7, 0.0]]))
    odds = np.log(moved[:, 1] / moved[:, 0]) - np.log(soft[:, 1] / soft[:, 0])
    np.testing.assert_allclose(odds, 0.7)
    np.testing.assert_allclose(directions.shift(soft, np.zeros((2, 2))), soft)
    three = np.array([[0.2, 0.3, 0.5]])
    assert ShiftDirections.of(three).size == 4


def test_groups_say_how_much_they_borrow() -> None:
    data, _ = world(0)
    labels = data.labels.copy()
    labels[data.groups["site"] == "b"] = -1
    found = ssme.evaluate(data.replace(labels=labels), metrics="accuracy", by="site", n_draws=50)
    table = found.frame("pandas").set_index("group")
    assert set(table.loc["site=b", "shrinkage"]) == {1.0}
    assert (table.loc["site=a", "shrinkage"] < 1.0).all()
    assert table.loc["all", "shrinkage"].isna().all()
    assert (table["effective_labels"] > 0.0).all()


def test_a_group_that_is_off_is_estimated_from_its_own_labels() -> None:
    """With 150 labels the group's own calibration is found; that of the whole is 0.15 off."""
    data, truth = world(1, n=2000, n_labeled=600, off=2.0)
    inside = data.groups["site"] == "b"
    right = ((data.scores[inside, :, 1] > 0.5) == (truth[inside, None] == 1)).mean(axis=0)
    found = ssme.evaluate(data, metrics="accuracy", by="site")
    np.testing.assert_allclose(found.estimate("accuracy", "site=b").value, right, atol=0.04)
    assert (found.groups[2].name, found.groups[2].shrinkage < 0.3) == ("site=b", True)


@pytest.mark.parametrize("target", ["population", "rows"])
def test_intervals_of_groups_of_thirty_rows_hold(target: str) -> None:
    """Forty groups of 30 rows in each of three worlds; the truth of the rows is known."""
    held = []
    for seed in range(3):
        data, truth = world(seed)
        groups = {"site": np.arange(1200) % 40}
        asked: dict[str, Any] = {"metrics": "accuracy", "group_target": target, "n_draws": 100}
        found = ssme.evaluate(data.replace(groups=_as_objects(groups)), **asked)
        right = (data.scores[:, :, 1] > 0.5) == (truth[:, None] == 1)
        whole = right.mean(axis=0)
        for group in found.groups[1:]:
            low, high = found.estimate("accuracy", group.name).interval(0.95)
            known = whole if target == "population" else right[group.rows].mean(axis=0)
            held.append((low <= known) & (known <= high))
    assert np.mean(held) >= 0.9


def test_rows_that_are_all_labeled_leave_nothing_open() -> None:
    data, truth = world(2)
    labels = data.labels.copy()
    inside = data.groups["site"] == "b"
    labels[inside] = truth[inside]
    data = data.replace(labels=labels)
    found = ssme.evaluate(data, metrics=["accuracy", "ece"], by="site", group_target="rows")
    estimate = found.estimate("accuracy", "site=b")
    right = ((data.scores[inside, :, 1] > 0.5) == (truth[inside, None] == 1)).mean(axis=0)
    np.testing.assert_allclose(estimate.value, right)
    low, high = estimate.interval(0.95)
    np.testing.assert_allclose(low, high)


def test_bins_intersections_and_pooling_reach_the_table_and_the_spec() -> None:
    data, _ = world(3)
    by = ["site+size:quantiles=3", "size:edges=-1/1"]
    found = ssme.evaluate(data, metrics="accuracy", by=by, max_groups=4, n_draws=20)
    names = [group.name for group in found.groups]
    assert "site+size:quantiles=3: 2 smaller groups together" in names
    assert [group.pooled for group in found.groups if group.pooled] == [2]
    assert {"size<-1", "-1<=size<1", "size>=1"} <= set(names)
    again = ssme.rerun(found.settings["config"], data)
    assert found.frame("pandas").equals(again.frame("pandas"))
    assert found.settings["config"]["run"]["max_groups"] == 4


def test_groups_of_one_row_have_estimates() -> None:
    data, _ = world(4, n=300)
    data = data.replace(groups=_as_objects({"id": np.arange(300)}))
    found = ssme.evaluate(data, metrics=["accuracy"], n_draws=20, max_groups=300)
    assert len(found.groups) == 301
    assert np.isfinite([each[0].value for each in found.estimates]).all()


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"by": "town"}, "there is no group column 'town'"),
        ({"by": "site:quantiles=4"}, "needs numbers, but row 0"),
        ({"by": "size:edges=2/1"}, "do not increase"),
        ({"by": "site", "min_group_rows": 5000}, "no group of 'site' has 5,000 rows"),
        ({"by": "site", "max_groups": 20_001}, "max_groups"),
        ({"by": "site", "group_target": "people"}, '"population" or "rows"'),
    ],
)
def test_bad_groups_are_refused(asked: dict[str, Any], words: str) -> None:
    data, _ = world(5)
    with pytest.raises(InputError, match=words):
        ssme.evaluate(data, metrics="accuracy", **asked)


def _as_objects(groups: dict[str, Any]) -> dict[str, Any]:
    return {name: np.array(values.tolist(), dtype=object) for name, values in groups.items()}


@pytest.mark.parametrize("name", ["recall", "specificity"])
def test_a_rate_without_a_case_seen_may_be_three_in_n(name: str) -> None:
    rng = np.random.default_rng(3)
    n, site = 1200, np.where(np.arange(1200) % 10 == 0, "b", "a").astype(object)
    z = rng.normal(0.0, 2.0, n)
    truth = (rng.random(n) < 1.0 / (1.0 + np.exp(-z))).astype(int)
    scores = 1.0 / (1.0 + np.exp(-(z[:, None] + rng.normal(0.0, 0.5, (n, 3)))))
    scores[site == "b", 0] = 0.4 * scores[site == "b", 0]  # never says 1 in group b
    labels = np.where(rng.random(n) < 0.05, truth, -1)
    data = ssme.ScoreSet.from_arrays(scores, labels, groups={"site": site}, unlabeled=-1)
    found = ssme.evaluate(data, metrics=name, by="site")
    place = [group.name for group in found.groups].index("site=b")
    estimate = found.estimates[place][0]
    low, high = (end[0] for end in estimate.interval(0.95))
    soft = found.posterior
    assert soft is not None
    cases = float(soft[site == "b", 1 if name == "recall" else 0].sum())
    reach = high if name == "recall" else 1.0 - low
    assert 3.0 / (cases + 3.0) < reach < 6.0 / cases
    assert (low if name == "recall" else 1.0 - high) < 0.01
    rows = ssme.evaluate(data, metrics=name, by="site", group_target="rows")
    low, high = (end[0] for end in rows.estimates[place][0].interval(0.95))
    assert high - low < 0.02
