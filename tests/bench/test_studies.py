import sys
import time
from concurrent.futures import Executor, Future
from dataclasses import dataclass, replace
from threading import Timer
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from benchmarks.datasets.synthetic import gaussian_set
from benchmarks.studies import (
    Protocol,
    Runner,
    Scene,
    Study,
    Trial,
    UnfinishedError,
    name_function,
    run_studies,
    seen_rows,
)

from ssme.bench import run_protocol
from ssme.bench.protocol import Split, split_rows
from ssme.bench.store import CellStore
from ssme.data.scoreset import UNLABELED
from ssme.errors import InputError, SsmeWarning
from ssme.executors import SerialExecutor
from ssme.metrics import get_metric
from ssme.metrics.base import one_hot_mass

PROTOCOL = Protocol(["labeled"], metrics=("accuracy",), n_labeled=(20,), n_unlabeled=(80,), runs=2)


def load(name):
    return gaussian_set(400, np.array([1.0, 2.0]), rng=np.random.default_rng(len(name)))


@dataclass(frozen=True)
class Inverted(Scene):
    """Every other run has its classes in the wrong order; the last rows have the labels."""

    def change(self, data, run):
        return data.replace(scores=data.scores[:, :, ::-1]) if run % 2 else data

    def label(self, rows, n_labeled, run):
        labels = rows.labels.copy()
        labels[:-n_labeled] = UNLABELED
        return rows.replace(labels=labels)


def count_labels(result, truth):
    where = np.flatnonzero(result.data.labeled)
    shown = {"first": int(where[0]), "rows": result.data.n_rows, "models": result.data.n_models}
    return [shown | {"truth": truth["all", "accuracy", model]} for model in result.data.models]


def test_a_scene_changes_the_data_and_chooses_the_labels():
    (plain, _), (inverted, _) = run_studies(
        [
            Study(Runner(PROTOCOL, load, count_labels), ("one",)),
            Study(Runner(PROTOCOL, load, count_labels, Inverted("inverted")), ("one",)),
        ]
    )
    assert plain["first"].eq(0).all()
    assert inverted["first"].eq(80).all()
    even, odd = plain["run"] == 0, plain["run"] == 1
    pd.testing.assert_series_equal(plain["truth"][even], inverted["truth"][even])
    np.testing.assert_allclose(plain["truth"][odd], 1.0 - inverted["truth"][odd])


def test_the_plain_scene_is_the_protocol():
    study = Study(Runner(PROTOCOL, load), ("one",))
    pd.testing.assert_frame_equal(
        run_studies([study])[0].rows, run_protocol(PROTOCOL, ["one"], load)
    )


def test_the_truth_may_be_that_of_fewer_rows():
    few = run_studies([Study(Runner(replace(PROTOCOL, truth_rows=50), load), ("one",))])[0].rows
    data = load("one")
    held = data.take(split_rows(data.labels, 20, 80, 0, seed=0, dataset="one").truth[:50])
    exact = get_metric("accuracy")(held.scores, one_hot_mass(held.labels, 2))[0]
    np.testing.assert_array_equal(few["truth"][few["run"] == 0], exact)


def test_a_small_set_gives_as_many_unlabeled_rows_as_it_has():
    large = replace(PROTOCOL, n_unlabeled=(1000,))
    study = Study(Runner(replace(large, fewer_unlabeled=True), load, count_labels), ("one",))
    assert run_studies([study])[0].rows["rows"].eq(200).all()
    with pytest.raises(InputError, match="200 rows in its half"):
        run_protocol(large, ["one"], load)


def test_studies_share_a_file_of_cells_and_go_on_from_it(tmp_path):
    file = tmp_path / "cells.jsonl"
    first = Study(Runner(PROTOCOL, load), ("one",))
    second = Study(Runner(PROTOCOL, load, scene=Inverted("inverted")), ("one", "three"))
    alone = run_studies([second])[0].rows
    run_studies([first], cells=file)
    tables = run_studies([first, second], cells=file)
    assert len(CellStore(file).done) == 2 + 4
    pd.testing.assert_frame_equal(tables[1].rows, alone)


def test_what_cannot_be_split_is_left_out_where_asked():
    studies = [
        Study(Runner(PROTOCOL, load), ("one",)),
        Study(Runner(replace(PROTOCOL, n_unlabeled=(1000,)), load), ("one",)),
    ]
    with pytest.raises(InputError, match="200 rows in its half"):
        run_studies(studies)
    with pytest.warns(SsmeWarning, match="2 of 4 cells are left out"):
        whole, nothing = run_studies(studies, leave_out="cells")
    assert len(whole.rows) == 4
    assert nothing.rows.empty


def test_first_runs_come_first_in_every_study(tmp_path):
    file = tmp_path / "cells.jsonl"
    run_studies(
        [Study(Runner(PROTOCOL, load, scene=Inverted(name)), ("one",)) for name in "ab"],
        cells=file,
    )
    runs = [int(key.split("|")[4]) for key, _ in CellStore(file).done]
    assert runs == [0, 0, 1, 1]


def describe_rows(trial, factor=1):
    """What a function of a trial may look at, in numpy's numbers."""
    shown = {"dataset": trial.dataset, "total": trial.seen.scores.sum() * factor}
    return [shown | {"labels": np.int64(trial.seen.n_labeled), "held": trial.held.labels.sum()}]


def refuse_odd_runs(trial):
    if trial.run % 2:
        raise InputError("an odd run")
    return [{"run": trial.run}]


FUNCTION = Protocol(
    {"plain": (describe_rows, {}), "twice": (describe_rows, {"factor": 2})},
    n_labeled=(0, 20),
    n_unlabeled=(80,),
    runs=2,
)


@dataclass(frozen=True)
class EveryRow(Scene):
    """All rows are seen, the truth is that of all rows, the last ones have their labels."""

    def split(self, labels, n_labeled, n_unlabeled, run, *, seed, dataset):
        every = np.arange(len(labels))
        return Split(every[:0], every, every)

    label = Inverted.label


def test_a_function_makes_the_rows_of_a_cell_from_its_trial():
    ((table, times),) = run_studies([Study(Runner(FUNCTION, load), ("one", "three"))])
    assert len(table) == len(times) == 2 * 2 * 2 * 2
    for row in table.itertuples():
        data = load(row.dataset)
        split = split_rows(data.labels, row.labels, 80, row.run, seed=0, dataset=row.dataset)
        factor = 2 if row.method == "twice" else 1
        assert row.total == seen_rows(data, split).scores.sum() * factor
        assert row.labels == row.n_labeled
        assert row.held == data.labels[split.truth].sum()


def test_what_a_function_made_is_found_again_until_it_changes(tmp_path, monkeypatch):
    file, study = tmp_path / "cells.jsonl", Study(Runner(FUNCTION, load), ("one",))
    first = run_studies([study], cells=file)
    again = run_studies([study], cells=file, seconds=0.0)
    pd.testing.assert_frame_equal(first[0].rows, again[0].rows)
    pd.testing.assert_frame_equal(first[0].times, again[0].times)
    monkeypatch.setattr("benchmarks.studies.compute_code_checksum", lambda work: "other")
    run_studies([study], cells=file)
    assert len(CellStore(file).done) == 2 * len(first[0].times)


def test_a_function_that_no_file_holds_is_refused():
    made = {}
    exec("def made(trial):\n    return []", made)
    protocol = Protocol({"made": (made["made"], {})})
    with pytest.raises(InputError, match="is in no file"):
        run_studies([Study(Runner(protocol, load), ("one",))])


def test_a_scene_may_show_all_rows_and_take_the_truth_of_all():
    runner = Runner(FUNCTION, load, scene=EveryRow("every row"))
    cell = next(cell for cell in FUNCTION.list_cells(["one"]) if cell.n_labeled == 20)
    trial = runner.make_trial(cell)
    assert isinstance(trial, Trial)
    assert trial.seen.n_rows == trial.held.n_rows == 400
    assert np.flatnonzero(trial.seen.labeled).tolist() == list(range(380, 400))
    truth = run_studies([Study(Runner(PROTOCOL, load, scene=EveryRow("every row")), ("one",))])
    data = load("one")
    exact = get_metric("accuracy")(data.scores, one_hot_mass(data.labels, 2))[0]
    assert truth[0].rows["truth"].tolist() == [*exact, *exact]


def test_runs_that_are_not_whole_are_left_out_of_all_studies(tmp_path):
    file = tmp_path / "cells.jsonl"
    more = replace(FUNCTION, runs=3)
    one, three = (Study(Runner(more, load), (name,)) for name in ("one", "three"))
    run_studies([one], cells=file)
    run_studies([Study(Runner(FUNCTION, load), ("three",))], cells=file)
    with pytest.warns(SsmeWarning, match="8 of 24 cells are left out"):
        found = run_studies([one, three], cells=file, seconds=0.0, leave_out="runs")
    assert [sorted(set(tables.rows["run"])) for tables in found] == [[0, 1], [0, 1]]
    assert [len(tables.times) for tables in found] == [8, 8]
    with pytest.warns(SsmeWarning, match="4 of 24 cells are left out"):
        found = run_studies([one, three], cells=file, seconds=0.0, leave_out="cells")
    assert [len(tables.times) for tables in found] == [12, 8]
    third = Study(Runner(more, load), ("thirteen",))
    with pytest.warns(SsmeWarning, match="28 of 36 cells are left out"):
        found = run_studies([one, three, third], cells=file, seconds=0.0, leave_out="runs")
    assert [sorted(set(tables.times.get("run", []))) for tables in found] == [[0], [0], []]


def test_a_cell_that_is_refused_breaks_no_run():
    protocol = Protocol({"even": (refuse_odd_runs, {})}, n_labeled=(20,), n_unlabeled=(80,), runs=3)
    with pytest.warns(SsmeWarning, match="1 of 3 cells are left out: an odd run"):
        ((table, _),) = run_studies([Study(Runner(protocol, load), ("one",))], leave_out="runs")
    assert table["run"].tolist() == [0, 2]


class OneWorker(Executor):
    """The first cell is under way, all others wait; what is no cell is done at once."""

    def __init__(self):
        self.first = None

    def submit(self, work, *arguments):
        if not isinstance(work, Runner):
            return SerialExecutor().submit(work, *arguments)
        future = Future()
        if self.first is None:
            self.first = future
            future.set_running_or_notify_cancel()
            Timer(0.05, lambda: future.set_result(work(*arguments))).start()
        return future


def test_time_up_keeps_what_is_under_way_and_drops_the_rest(tmp_path, monkeypatch):
    ticks = iter([0, 0, 0, 0, 0])
    clock = SimpleNamespace(monotonic=lambda: next(ticks, 99), perf_counter=time.perf_counter)
    monkeypatch.setattr("ssme.bench.runner.time", clock)
    monkeypatch.setattr("benchmarks.studies.time", clock)
    study, file = Study(Runner(replace(PROTOCOL, runs=8), load), ("one",)), tmp_path / "cells.jsonl"
    with pytest.raises(UnfinishedError, match="1 of 8 cells are finished"):
        run_studies([study], executor=OneWorker(), cells=file, seconds=1)
    assert len(file.read_text().splitlines()) == 1


def test_a_measure_of_a_program_has_the_same_name_in_its_workers(monkeypatch):
    def measure(result, truth):
        return []

    program = SimpleNamespace(__spec__=SimpleNamespace(name="studies.mine"))
    names = set()
    for module in ("__main__", "__mp_main__", "studies.mine"):
        monkeypatch.setitem(sys.modules, module, program)
        measure.__module__ = module
        names.add(name_function(measure))
    assert names == {"studies.mine.measure"}
