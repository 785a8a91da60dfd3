"""The study of picks: what it adds up, and one run from start to end."""

import numpy as np
import pandas as pd
import pytest
from benchmarks.decide import picking
from benchmarks.studies import Scene
from tests.bench.test_trials import make_trial


def test_regret_is_added_up_as_steps_or_on_the_line_between_looks():
    labels, regret = np.array([0, 10, 25]), np.array([0.04, 0.01, 0.0])
    assert picking.accumulate(labels, regret, 25, steps=True) == pytest.approx(40 + 15)
    line = 100 * np.interp(np.arange(25), labels, regret).sum()
    assert picking.accumulate(labels, regret, 25, steps=False) == pytest.approx(line)
    assert picking.accumulate(labels, regret, 100, steps=True) == pytest.approx(55)


def test_the_number_of_labels_is_that_from_which_on_the_pick_stays_right():
    run = pd.DataFrame({"labels": [0, 1, 2, 4], "regret": [0.0, 0.02, 0.01, 0.0]})
    out = picking.summarize_run(run)
    assert out["labels_to_pick"] == 2.0
    assert (out["right_0"], out["right_10"]) == (1.0, 1.0)
    never = picking.summarize_run(run.assign(regret=0.02))
    assert never["labels_to_pick"] == 2.0 * picking.TOTAL


@pytest.mark.parametrize("way", ["goal", "coda", "random"])
def test_a_run_picks_after_every_batch_and_knows_all_labels_of_its_rows(way, monkeypatch):
    monkeypatch.setattr(picking, "TOTAL", 10)
    trial = make_trial(Scene(), n_labeled=0, n_unlabeled=120)
    rows = pd.DataFrame(picking.compute(trial, way, "10"))
    assert set(rows["labels"]) == {0, 10}
    of_auto = {"auto", "answers", "sure", "both"}
    assert set(rows["estimator"]) == {"count", "coda", "consensus"} | of_auto
    right = (trial.rows.scores.argmax(axis=2) == trial.rows.labels[:, None]).mean(axis=0)
    behind = right.max() - right
    assert rows["regret"].map(lambda x: np.abs(behind - x).min() < 1e-12).all()


def test_ours_is_compared_with_the_best_rival_on_the_runs_that_all_have(monkeypatch):
    monkeypatch.setattr(picking, "LEAST_RUNS", 2)
    regret = {
        ("goal", "growing", "auto"): {0: 3.0, 1: 5.0, 2: 100.0},
        ("coda", "1", "coda"): {0: 1.0, 1: 2.0},
        ("selector", "1", "count"): {0: 8.0, 1: 0.0},
        ("random", "1", "count"): {0: 9.0, 1: 9.0},
    }
    runs = pd.DataFrame(
        dict(zip(picking.KEYS, ("one", *way), strict=True)) | {"run": run, "regret_100": value}
        for way, values in regret.items()
        for run, value in values.items()
    )
    (line,) = picking.compare_runs(runs).to_dict("records")
    assert (line["runs"], line["rival"]) == (2, "coda")
    assert (line["regret"], line["rival_regret"]) == (4.0, 1.5)
    assert (line["difference"], line["verdict"]) == (2.5, "worse")
    assert line["error"] == pytest.approx(0.5)


def test_stops_count_the_first_look_of_every_run():
    runs = pd.DataFrame(
        {
            "dataset": "one",
            "way": "goal",
            "batch": "10",
            "run": [0, 0, 0, 1, 1],
            "labels": [0, 20, 30, 0, 20],
            "within": [0.99, 0.92, 0.97, 0.85, 0.8],
            "regret": [0.03, 0.02, 0.0, 0.0, 0.0],
            "held": [1.0, 0.5, 1.0, 1.0, 1.0],
            "held_outside": 1.0,
        }
    )
    table = picking.summarize_stops(runs)
    assert list(table["batch"]) == ["all"] * 3 + ["10"] * 3
    table = table[table["batch"] == "10"].set_index("sure")
    assert table.loc[0.9, "stopped"] == 0.5
    assert table.loc[0.9, "labels"] == 20.0
    assert table.loc[0.9, "kept"] == 0.0
    assert table.loc[0.9, "held"] == 0.5
    assert table.loc[0.95, "kept"] == 1.0
    assert table.loc[0.8, "kept"] == 0.5
