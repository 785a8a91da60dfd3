"""People err: several labels per row, their agreement, and the rate of errors that rates allow for.

The coverage of each case is that of 3 systems in 100 worlds, with a standard error of 0.015 or so.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import cohen_kappa_score

import ssme
from tests.systems.made import make_table


def mislabel(table: pd.DataFrame, error: float, seed: int, people: int = 1) -> pd.DataFrame:
    """Labels of people who are wrong with probability ``error``, each for themselves."""
    rng = np.random.default_rng(seed)
    truth = table.pop("human")
    for at in range(people):
        wrong = rng.random(len(table)) < error
        table[f"human_{at}"] = np.where(truth.notna(), np.where(wrong, 1.0 - truth, truth), np.nan)
    return table


@pytest.mark.parametrize(
    ("error", "people", "least"), [(0.1, 1, 0.9), (0.2, 1, 0.9), (0.1, 2, 0.85), (0.2, 2, 0.85)]
)
def test_intervals_hold_where_people_err(error: float, people: int, least: float):
    held, ignored = [], []
    for seed in range(100):
        table, truth = make_table(seed, levels=(0.4, 0.9, 1.3), labels=120)
        table = mislabel(table, error, seed, people)
        asked = error if people == 1 else "estimated"
        found = ssme.evaluate_systems(table, label_error=asked, n_draws=1000).frame()
        held.append(((found["low"] <= truth) & (truth <= found["high"])).mean())
        if seed < 40:
            found = ssme.evaluate_systems(table, n_draws=1000).frame()
            ignored.append(((found["low"] <= truth) & (truth <= found["high"])).mean())
    assert np.mean(held) >= least
    assert np.mean(ignored) < np.mean(held)


def test_labels_only_are_corrected_by_the_formula():
    table, _ = make_table(1, labels=200)
    plain = ssme.evaluate_systems(table, "human").frame()
    found = ssme.evaluate_systems(table, "human", label_error=0.05).frame()
    np.testing.assert_allclose(found["labels_only"], (plain["labels_only"] - 0.05) / 0.9)


def test_several_people_are_averaged_and_their_agreement_is_told():
    table, _ = make_table(2, labels=200)
    table = mislabel(table, 0.1, 0, people=3)
    result = ssme.evaluate_systems(table)
    people = table[["human_0", "human_1", "human_2"]]
    mean = people.mean(axis=1).groupby(table["system"]).mean()
    np.testing.assert_allclose(result.frame()["labels_only"], mean)
    pairs = result.people()
    assert [(row["first"], row["second"]) for row in pairs] == [
        ("human_0", "human_1"),
        ("human_0", "human_2"),
        ("human_1", "human_2"),
    ]
    known = people.dropna()
    for row in pairs:
        a, b = known[row["first"]], known[row["second"]]
        assert row["agreement"] == pytest.approx((a == b).mean())
        assert row["kappa"] == pytest.approx(cohen_kappa_score(a, b))
        assert row["agreement_low"] < row["agreement"] < row["agreement_high"]
    assert "Agreement of people" in str(result)
    estimated = ssme.evaluate_systems(table, label_error="estimated").label_error
    assert estimated == pytest.approx(0.1, abs=0.04)


@pytest.mark.parametrize(
    "options",
    [
        {"label_error": "estimated"},
        {"label_error": 0.5},
        {"label_error": 0.1, "bounds": [0, 2]},
        {"label_error": 0.1, "pass_k": [2]},
    ],
)
def test_what_cannot_be_allowed_for_is_refused(options: dict[str, object]):
    table, _ = make_table(3)
    with pytest.raises(ssme.InputError):
        ssme.evaluate_systems(table, "human", **options).rows()
