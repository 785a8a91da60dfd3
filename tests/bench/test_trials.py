"""The rows that studies of decisions and of judges see, told by plain versions; studies from start
to end."""

import sys
from contextlib import nullcontext

import numpy as np
import pandas as pd
import pytest
from benchmarks import experiment
from benchmarks.answers import scenes, study
from benchmarks.datasets.synthetic import gaussian_set
from benchmarks.decide import common, shift, suggestion
from benchmarks.studies import Cell, Protocol, Runner, Trial

from ssme.bench.protocol import split_rows
from ssme.data.design import as_design
from ssme.data.scoreset import UNLABELED, ScoreSet
from ssme.errors import SsmeWarning
from ssme.executors import SerialExecutor


def load(name):
    """400 rows; of "rare", those of class 1 only where they are among the first 200."""
    seed = len(name.rstrip("~"))
    data = gaussian_set(400, np.array([1.0, 1.5, 2.0]), rng=np.random.default_rng(seed))
    kept = (data.labels == 0) | (np.arange(400) < (200 if name == "rare" else 400))
    return data.take(np.flatnonzero(kept))


def make_trial(scene, dataset="one", n_labeled=20, n_unlabeled=100, run=3):
    protocol = Protocol(
        {"made": (make_trial, {})},
        n_labeled=(n_labeled,),
        n_unlabeled=(n_unlabeled,),
        runs=1,
        first_run=run,
    )
    (cell,) = protocol.list_cells([dataset])
    assert isinstance(cell, Cell)
    return Runner(protocol, load, scene=scene).make_trial(cell)


def assert_same_rows(found: ScoreSet, expected: ScoreSet) -> None:
    np.testing.assert_array_equal(found.scores, expected.scores)
    np.testing.assert_array_equal(found.labels, expected.labels)
    assert found.design.kind == expected.design.kind
    np.testing.assert_array_equal(found.design.weights, expected.design.weights)


def split_one(n_labeled=20, n_unlabeled=100):
    data = load("one")
    return data, split_rows(data.labels, n_labeled, n_unlabeled, 3, seed=0, dataset="one")


def test_a_set_with_a_mark_has_the_rows_of_the_plain_one_miscalibrated():
    trial = make_trial(suggestion.find_scene("one~"), "one~", n_labeled=0, n_unlabeled=120)
    data, split = split_one()
    rows = data.take(np.concatenate([split.labeled, split.unlabeled]))
    rng = np.random.default_rng([3, *b"one"])
    sharper = np.exp(rng.normal(0.0, suggestion.SPREAD, data.n_models))
    logs = np.log(np.clip(rows.scores, 1e-6, 1.0)) * sharper[:, None]
    powers = np.exp(logs - logs.max(axis=2, keepdims=True))
    scores = powers / powers.sum(axis=2, keepdims=True)
    assert_same_rows(trial.rows, rows.replace(scores=scores))
    assert trial.seen.n_labeled == 0


def test_real_judges_are_seen_and_judged_on_all_rows():
    trial, data = make_trial(scenes.AllRows("crowd_dog"), n_labeled=7), load("one")
    chosen = np.random.default_rng([3, len("crowd_dog")]).permutation(400)[:7]
    labels = np.full(400, UNLABELED)
    labels[chosen] = data.labels[chosen]
    assert_same_rows(trial.seen, data.replace(labels=labels))
    assert_same_rows(trial.held, data)


@pytest.mark.parametrize(
    ("kind", "design"), [("labels by class", None), ("labels by class, said", "by_class")]
)
def test_labels_by_class_are_as_many_of_each(kind, design):
    trial = make_trial(scenes.Kind(kind))
    order = np.random.default_rng([3, 20]).permutation(trial.rows.n_rows)
    labels = np.full(trial.rows.n_rows, UNLABELED)
    for k in (0, 1):
        chosen = order[trial.rows.labels[order] == k][:10]
        labels[chosen] = k
    plain = trial.rows.replace(labels=labels, design=as_design(design, labels))
    assert_same_rows(trial.seen, plain)
    assert set(np.unique(trial.seen.scores)) == {0.0, 1.0}


@pytest.mark.parametrize("kind", ["fixed grades", "quintile grades", "lenient grades"])
def test_grades_rise_with_the_score(kind):
    graded, plain = make_trial(scenes.Kind(kind)), make_trial(scenes.Kind("scores"))
    np.testing.assert_array_equal(graded.seen.labels, plain.seen.labels)
    for m in range(3):
        order = np.argsort(plain.rows.scores[:, m, 1], kind="stable")
        steps = graded.rows.scores[order, m, 1]
        assert (np.diff(steps) >= 0.0).all()
        assert 2 <= np.unique(steps).size <= 5


def test_shifted_rows_are_drawn_from_halves_in_which_no_class_has_a_label_by_right():
    trial = make_trial(shift.find_scene("rare"), "rare", n_unlabeled=90)
    data, rng = load("rare"), np.random.default_rng([3, 20, 7])
    order = rng.permutation(data.n_rows)
    labeled, rest, other = np.split(order, [20, data.n_rows // 2])
    for kind, (seen, held) in zip(shift.SHIFTS, shift.draw_sets(trial), strict=True):
        weight = shift.weigh_rows(data, kind)
        unlabeled = rng.choice(rest, 90, replace=False, p=weight[rest] / weight[rest].sum())
        judged = rng.choice(other, 5000, p=weight[other] / weight[other].sum())
        rows = data.take(np.concatenate([labeled, unlabeled]))
        known = np.where(np.arange(110) < 20, rows.labels, UNLABELED)
        assert_same_rows(seen, rows.replace(labels=known))
        assert_same_rows(held, data.take(judged))


def count(trial: Trial):
    return [{"labels": trial.seen.n_labeled, "first": float(trial.seen.scores[0, 0, 0])}]


def summarize(frame):
    return {"made": frame[["dataset", "n_labeled", "run", "labels", "first"]]}


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """Results and cells go to a folder of their own; cells are computed in this process."""
    monkeypatch.setattr(experiment, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(experiment, "CACHE", tmp_path / "cache")
    monkeypatch.setattr(
        experiment, "open_executor", lambda kind, workers: nullcontext(SerialExecutor())
    )
    (tmp_path / "extra").mkdir()
    for name in ("one", "three"):
        load(name).save(tmp_path / "extra" / f"{name}.npz")
    return tmp_path


def run_study(monkeypatch, folder, *words):
    monkeypatch.setattr(sys, "argv", ["made", "--extra", str(folder / "extra"), *words])
    common.start_study("made", "A study.", count, summarize, sets=(), labels=(20, 50))
    lines = pd.read_csv(folder / "results" / "runs.csv", dtype=str)
    return pd.read_csv(folder / "results" / "made.csv"), lines.iloc[0]


def test_a_study_goes_on_where_it_was(elsewhere, monkeypatch):
    table, line = run_study(monkeypatch, elsewhere, "--runs", "1", "--first-run", "4")
    assert line["cells"] == "4"
    assert line["command"].endswith("--runs 1 --first-run 4")
    assert table["dataset"].tolist() == ["one", "one", "three", "three"]
    assert table["labels"].tolist() == [20, 50, 20, 50]
    assert table["run"].eq(4).all()
    more, line = run_study(monkeypatch, elsewhere, "--runs", "2", "--first-run", "4")
    assert (line["cells"], more["run"].tolist()) == ("8", [4] * 4 + [5] * 4)
    pd.testing.assert_frame_equal(more[:4], table)
    stopped = ("--runs", "3", "--first-run", "4", "--minutes", "0")
    with pytest.warns(SsmeWarning, match="4 of 12 cells are left out"):
        few, line = run_study(monkeypatch, elsewhere, *stopped)
    pd.testing.assert_frame_equal(few, more)
    assert line["cells"] == "8"


def test_further_sets_have_their_own_number_of_runs(elsewhere, monkeypatch):
    table, _ = run_study(monkeypatch, elsewhere, "--runs", "3", "--extra-runs", "1")
    assert table["run"].tolist() == [0, 0, 0, 0]


@pytest.mark.filterwarnings("ignore::ssme.errors.SsmeWarning")
def test_a_study_without_time_says_so(elsewhere, monkeypatch):
    with pytest.raises(SystemExit, match="no cell was finished in 0 minutes"):
        run_study(monkeypatch, elsewhere, "--runs", "1", "--minutes", "0")


def test_kinds_of_cells_are_planned_on_their_own_sets():
    kinds = {"answers": ("one", "crowd_dog"), "scores": ("one", "two")}
    planned = study.plan_studies(study.measure, kinds, ["one", "crowd_dog"], [20], range(6, 8))
    found = [(each.datasets, each.runner.scene) for each in planned]
    assert found == [
        (("one",), scenes.Kind("answers")),
        (("crowd_dog",), scenes.AllRows("crowd_dog")),
        (("one",), scenes.Kind("scores")),
    ]
    assert {each.runner.protocol.first_run for each in planned} == {6}
