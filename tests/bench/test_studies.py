from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import pytest

from ssme.bench import (
    CellStore,
    Protocol,
    Runner,
    Scene,
    Study,
    run_protocol,
    run_studies,
    split_rows,
)
from ssme.data.scoreset import UNLABELED
from ssme.datasets.synthetic import gaussian_set
from ssme.errors import InputError, SsmeWarning
from ssme.metrics import get_metric
from ssme.metrics.base import one_hot_mass

PROTOCOL = Protocol.of(
    ["labeled"], metrics=("accuracy",), n_labeled=(20,), n_unlabeled=(80,), runs=2
)


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
    plain, inverted = run_studies(
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
    pd.testing.assert_frame_equal(run_studies([study])[0], run_protocol(PROTOCOL, ["one"], load))


def test_runs_are_numbered_from_the_first_run_on():
    later = replace(PROTOCOL, runs=1, first_run=1)
    whole = run_protocol(PROTOCOL, ["one"], load)
    part = run_protocol(later, ["one"], load)
    pd.testing.assert_frame_equal(whole[whole["run"] == 1].reset_index(drop=True), part)


def test_the_truth_may_be_that_of_fewer_rows():
    few = run_protocol(replace(PROTOCOL, truth_rows=50), ["one"], load)
    data = load("one")
    held = data.take(split_rows(data.labels, 20, 80, 0, seed=0, dataset="one").truth[:50])
    exact = get_metric("accuracy")(held.scores, one_hot_mass(held.labels, 2))[0]
    np.testing.assert_array_equal(few["truth"][few["run"] == 0], exact)


def test_a_small_set_gives_as_many_unlabeled_rows_as_it_has():
    large = replace(PROTOCOL, n_unlabeled=(1000,))
    study = Study(Runner(replace(large, fewer_unlabeled=True), load, count_labels), ("one",))
    assert run_studies([study])[0]["rows"].eq(200).all()
    with pytest.raises(InputError, match="200 rows in its half"):
        run_protocol(large, ["one"], load)


def test_studies_share_a_file_of_cells_and_go_on_from_it(tmp_path):
    file = tmp_path / "cells.jsonl"
    first = Study(Runner(PROTOCOL, load), ("one",))
    second = Study(Runner(PROTOCOL, load, scene=Inverted("inverted")), ("one", "three"))
    alone = run_studies([second])[0]
    run_studies([first], cells=file)
    tables = run_studies([first, second], cells=file)
    assert len(CellStore(file).done) == 2 + 4
    pd.testing.assert_frame_equal(tables[1], alone)


def test_what_cannot_be_split_is_left_out_where_asked():
    studies = [
        Study(Runner(PROTOCOL, load), ("one",)),
        Study(Runner(replace(PROTOCOL, n_unlabeled=(1000,)), load), ("one",)),
    ]
    with pytest.raises(InputError, match="200 rows in its half"):
        run_studies(studies)
    with pytest.warns(SsmeWarning, match="2 of 4 cells are left out"):
        whole, nothing = run_studies(studies, leave_out=True)
    assert len(whole) == 4
    assert nothing.empty


def test_first_runs_come_first_in_every_study(tmp_path):
    file = tmp_path / "cells.jsonl"
    run_studies(
        [Study(Runner(PROTOCOL, load, scene=Inverted(name)), ("one",)) for name in "ab"],
        cells=file,
    )
    runs = [int(key.split("|")[4]) for key, _ in CellStore(file).done]
    assert runs == [0, 0, 1, 1]
