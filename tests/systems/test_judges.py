"""Judges: exact against scikit-learn where it has the number, and as often right as they say."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score, cohen_kappa_score, recall_score

import ssme
from ssme.methods.label_draws import wilson
from ssme.systems.judges import _find_kappa, _jackknife
from tests.systems.made import make_table


def evaluate(table: pd.DataFrame):
    return ssme.evaluate_systems(table, "human", judges="judge_*")


def test_numbers_are_those_of_scikit_learn():
    table, _ = make_table(1, items=400, labels=300)
    known = table["human"].notna()
    y = table.loc[known, "human"]
    for row in evaluate(table).judges():
        said = table.loc[known, row["judge"]]
        assert row["n_labels"] == 300
        assert row["accuracy"] == pytest.approx(accuracy_score(y, said))
        assert row["kappa"] == pytest.approx(cohen_kappa_score(y, said))
        assert row["sensitivity"] == pytest.approx(recall_score(y, said))
        assert row["specificity"] == pytest.approx(recall_score(y, said, pos_label=0))
        assert row["bias"] == pytest.approx((said - y).mean())
        for name in ("accuracy", "kappa", "sensitivity", "specificity"):
            assert row[f"{name}_low"] < row[name] < row[f"{name}_high"]


def test_the_interval_of_accuracy_is_wilsons_where_items_are_judged_once():
    table, _ = make_table(2, levels=(0.3,), labels=50)
    row = evaluate(table).judges()[0]
    low, high = wilson(np.array([row["accuracy"]]), np.array([50.0]))
    assert (row["accuracy_low"], row["accuracy_high"]) == pytest.approx((low[0], high[0]))


def test_intervals_of_kappa_hold():
    # 300 worlds: the standard error of a coverage of 0.95 is 0.013
    rng = np.random.default_rng(0)
    truth = 0.7  # accuracy 0.85 in both classes of equal size
    held = []
    for _ in range(300):
        y = rng.integers(0, 2, 60).astype(float)
        said = np.where(rng.random(60) < 0.85, y, 1.0 - y)
        _, low, high = _jackknife(_find_kappa, y, said, np.arange(60), 0.95)
        held.append(low <= truth <= high)
    assert 0.91 <= np.mean(held) <= 0.99


def test_effective_number_of_judges():
    table, _ = make_table(3, items=800, labels=2000, accuracies=(0.8, 0.8, 0.8))
    assert evaluate(table).n_effective_judges == pytest.approx(3.0, abs=0.4)
    table["judge_1"] = table["judge_2"] = table["judge_0"]
    assert evaluate(table).n_effective_judges == pytest.approx(1.0)


def test_errors_of_judges_come_first_and_errors_of_labels_last():
    table, _ = make_table(4, items=200, labels=600, accuracies=(0.9,) * 5)
    rng = np.random.default_rng(0)
    wrong = rng.choice(len(table), 30, replace=False)
    table.loc[wrong, "human"] = 1.0 - table.loc[wrong, "human"]
    found = pd.DataFrame(evaluate(table).disagreements())
    assert found["p_judge_wrong"].is_monotonic_decreasing
    mislabeled = found["row"].isin(wrong)
    assert not mislabeled[: len(found) // 2].any()
    assert found.loc[mislabeled, "p_judge_wrong"].median() < 0.1
    judged = {column: table[column] for column in table.columns if column.startswith("judge_")}
    for row in found.head(20).to_dict("records"):
        assert judged[row["judge"]][row["row"]] != table["human"][row["row"]]


def test_judges_of_numbers():
    table, _ = make_table(5, labels=200)
    for name in ("human", "judge_0", "judge_1", "judge_2"):
        table[name] = 10.0 * table[name] + (0 if name == "human" else 5)
    result = ssme.evaluate_systems(table, "human", bounds=[0, 20])
    row = result.judges()[0]
    known = table["human"].notna()
    expected = np.corrcoef(table.loc[known, "human"], table.loc[known, "judge_0"])[0, 1]
    assert row["correlation"] == pytest.approx(expected)
    assert row["correlation_low"] < expected < row["correlation_high"]
    with pytest.raises(ssme.InputError):
        result.disagreements()
    assert "correlation" in str(result)


def test_the_document_lists_judges_and_disagreements():
    table, _ = make_table(6, labels=100)
    text = str(evaluate(table))
    assert "effective number of judges" in text
    assert "Where judges and people differ" in text


def test_a_judge_without_labels_has_no_numbers():
    table, _ = make_table(7, labels=60)
    table.loc[table["human"].notna(), "judge_0"] = np.nan
    row = evaluate(table).judges()[0]
    assert row["n_labels"] == 0
    assert np.isnan(row["accuracy"])
