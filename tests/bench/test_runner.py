import json
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, replace
from multiprocessing import get_context

import numpy as np
import pandas as pd
import pytest
from benchmarks.datasets.synthetic import gaussian_set

import ssme
from ssme.bench import Protocol, run_protocol, runner
from ssme.bench.store import CellStore
from ssme.errors import InputError, SsmeWarning
from ssme.executors import SerialExecutor
from ssme.methods.registry import get_method

PROTOCOL = Protocol(
    ["labeled", "ensemble"],
    metrics=("accuracy", "roc_auc"),
    n_labeled=(20,),
    n_unlabeled=(80,),
    runs=4,
)


def load(name):
    return gaussian_set(400, np.array([1.0, 1.5, 2.0]), rng=np.random.default_rng(len(name)))


def comparable(table):
    return table.to_csv(index=False)


def test_table_has_truth_and_estimates():
    table = run_protocol(PROTOCOL, ["one"], load)
    assert len(table) == 2 * 4 * 3 * 2
    assert table["truth"].between(0, 1).all()
    assert set(table["method"]) == {"labeled", "ensemble"}
    alone = table[table["method"] == "labeled"]
    assert np.allclose(alone["estimate"], alone["labels_only"])


def test_resumed_run_gives_the_same_table(tmp_path):
    whole = run_protocol(PROTOCOL, ["one"], load)
    run_protocol(PROTOCOL, ["one"], load, folder=tmp_path)
    lines = (tmp_path / "cells.jsonl").read_text().splitlines(keepends=True)
    torn = "".join(lines[:3]) + lines[3][: len(lines[3]) // 2]
    (tmp_path / "cells.jsonl").write_text(torn)
    again = run_protocol(PROTOCOL, ["one"], load, folder=tmp_path)
    assert comparable(again) == comparable(whole)
    assert len((tmp_path / "cells.jsonl").read_text().splitlines()) == 8


def test_a_long_table_is_parquet_too(tmp_path, monkeypatch):
    run_protocol(PROTOCOL, ["one"], load, folder=tmp_path / "short")
    assert not (tmp_path / "short" / "results.parquet").exists()
    monkeypatch.setattr("ssme.bench.store.PARQUET_ROWS", 10)
    table = run_protocol(PROTOCOL, ["one"], load, folder=tmp_path / "long")
    written = pd.read_parquet(tmp_path / "long" / "results.parquet")
    pd.testing.assert_frame_equal(written, table)


def shifted(name):
    """Another data set of the same name."""
    data = load(name)
    return data.replace(labels=1 - data.labels)


@pytest.mark.parametrize(
    ("change", "reload"),
    [({}, shifted), ({"level": 0.5}, load), ({"metrics": ("ece",)}, load), ({"seed": 1}, load)],
)
def test_other_data_and_settings_in_the_same_folder_get_their_own_numbers(tmp_path, change, reload):
    first = run_protocol(PROTOCOL, ["one"], load, folder=tmp_path)
    other = replace(PROTOCOL, **change)
    kept = run_protocol(other, ["one"], reload, folder=tmp_path, overwrite=True)
    assert comparable(kept) == comparable(run_protocol(other, ["one"], reload))
    again = run_protocol(PROTOCOL, ["one"], load, folder=tmp_path, overwrite=True)
    assert comparable(again) == comparable(first)
    assert len((tmp_path / "cells.jsonl").read_text().splitlines()) == 16


def test_data_that_change_during_the_run_are_refused(tmp_path):
    calls = []

    def changing(name):
        calls.append(name)
        return load(name) if len(calls) == 1 else shifted(name)

    class Forgetful(SerialExecutor):
        """As a worker process that is started later: it loads the data anew."""

        def submit(self, work, *arguments):
            runner.forget_data()
            return super().submit(work, *arguments)

    with pytest.raises(InputError, match="data set 'one' changed during the run"):
        run_protocol(PROTOCOL, ["one"], changing, executor=Forgetful(), folder=tmp_path)


def test_the_table_of_another_run_is_kept_aside(tmp_path):
    run_protocol(PROTOCOL, ["one"], load, folder=tmp_path)
    before = (tmp_path / "results.csv").read_text()
    run_protocol(PROTOCOL, ["one"], load, folder=tmp_path)
    assert not (tmp_path / "results.1.csv").exists()
    for seed in (1, 2):
        with pytest.warns(SsmeWarning, match=rf"another run, which is now .*results.{seed}.csv"):
            run_protocol(replace(PROTOCOL, seed=seed), ["one"], load, folder=tmp_path)
    assert (tmp_path / "results.1.csv").read_text() == before
    assert (tmp_path / "results.2.csv").exists()
    assert (tmp_path / "times.2.csv").exists()
    run_protocol(PROTOCOL, ["one"], load, folder=tmp_path, overwrite=True)
    assert (tmp_path / "results.csv").read_text() == before
    assert not (tmp_path / "results.3.csv").exists()


def test_every_row_tells_how_it_was_made():
    row = run_protocol(PROTOCOL, ["one"], load).iloc[-1]
    assert (row["seed"], row["random_state"], row["run"]) == (0, 3, 3)
    assert (row["ssme"], row["numpy"]) == (ssme.__version__, np.__version__)
    assert row["python"] == ".".join(map(str, sys.version_info[:3]))
    assert json.loads(row["settings"])["options"] == asdict(get_method("labeled"))


@pytest.mark.parametrize(
    ("altered", "runs", "problem"),
    [
        (8, 4, None),
        (8, 5, r"8 of ssme .* with numpy 1.0, .* and 2 are missing"),
        (3, 4, r"3 of ssme .* with numpy 1.0, 5 of ssme"),
    ],
)
def test_cells_of_another_version_are_read_and_never_mixed_with_ours(
    tmp_path, altered, runs, problem
):
    """The first cells look as if computed with another numpy."""
    run_protocol(PROTOCOL, ["one"], load, folder=tmp_path)
    path = tmp_path / "cells.jsonl"
    results = list(CellStore(path).done.values())
    path.unlink()
    for number, result in enumerate(results):
        if number < altered:
            result["provenance"]["numpy"] = "1.0"
        CellStore(path).keep(result)
    again = replace(PROTOCOL, runs=runs)
    if problem is None:
        table = run_protocol(again, ["one"], load, folder=tmp_path, overwrite=True)
        assert set(table["numpy"]) == {"1.0"}
        return
    with pytest.raises(InputError, match=problem):
        run_protocol(again, ["one"], load, folder=tmp_path)


def test_more_runs_keep_the_first(tmp_path):
    run_protocol(PROTOCOL, ["one"], load, folder=tmp_path)
    before = (tmp_path / "cells.jsonl").read_text()
    more = replace(PROTOCOL, runs=5)
    table = run_protocol(more, ["one"], load, folder=tmp_path, overwrite=True)
    after = (tmp_path / "cells.jsonl").read_text()
    assert after.startswith(before)
    assert len(after.splitlines()) == 10
    assert comparable(table) == comparable(run_protocol(replace(PROTOCOL, runs=5), ["one"], load))


def test_a_serial_executor_keeps_each_cell_as_it_comes(tmp_path):
    kept = []

    class Spied(SerialExecutor):
        def submit(self, work, *arguments):
            if isinstance(work, runner.Runner):
                path = tmp_path / "cells.jsonl"
                kept.append(len(path.read_text().splitlines()) if path.exists() else 0)
            return super().submit(work, *arguments)

    protocol = replace(PROTOCOL, runs=1)
    run_protocol(protocol, ["one", "two", "three"], load, executor=Spied(), folder=tmp_path)
    assert kept == list(range(6))


def test_two_workers_give_the_same_table_as_one():
    one = run_protocol(PROTOCOL, ["one"], load)
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        two = run_protocol(PROTOCOL, ["one"], load, executor=executor)
    assert comparable(one) == comparable(two)


@pytest.mark.parametrize(
    ("metrics", "some", "others"),
    [
        (None, {"accuracy", "ece", "roc_auc", "average_precision"}, {"accuracy"}),
        (("ece",), {"ece"}, set()),
    ],
)
def test_a_method_runs_on_the_metrics_it_declares(metrics, some, others):
    methods = ["labeled", "autoeval", "active_testing"]
    protocol = Protocol(methods, metrics=metrics, n_labeled=(20,), n_unlabeled=(80,), runs=1)
    table = run_protocol(protocol, ["one"], load)
    found = {name: set(table["metric"][table["method"] == name]) for name in methods}
    assert found == {"labeled": some, "autoeval": others, "active_testing": others}


def test_unlabeled_rows_are_refused():
    def with_holes(name):
        data = load(name)
        labels = data.labels.copy()
        labels[:7] = -1
        return data.replace(labels=labels)

    with pytest.raises(InputError, match="needs the label of every row, and 7 rows"):
        run_protocol(PROTOCOL, ["holes"], with_holes)
