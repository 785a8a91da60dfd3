import json
import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from ssme.bench import Protocol
from ssme.bench.protocol import list_cells, split_rows
from ssme.bench.runner import Runner
from ssme.errors import InputError
from ssme.methods.auto.constants import Constants

LABELS = np.random.default_rng(0).integers(0, 3, 400)


def test_split_halves_are_disjoint_and_complete():
    split = split_rows(LABELS, 20, 100, 3, seed=0, dataset="x")
    seen = np.concatenate([split.labeled, split.unlabeled])
    assert len(seen) == 120
    assert len(split.truth) == 200
    assert not set(seen) & set(split.truth)
    assert len(set(seen)) == 120


@pytest.mark.parametrize("run", range(10))
def test_every_class_has_a_label(run):
    rare = np.zeros(400, dtype=np.int64)
    rare[:8] = 1
    split = split_rows(rare, 5, 50, run, seed=0, dataset="x")
    assert set(rare[split.labeled]) == {0, 1}


def test_runs_differ_and_repeat_and_more_labels_hold_the_fewer():
    few, again, other, many = (
        split_rows(LABELS, n, 100, run, seed=0, dataset="x")
        for n, run in ((20, 0), (20, 0), (20, 1), (50, 0))
    )
    assert np.array_equal(few.labeled, again.labeled)
    assert not np.array_equal(few.labeled, other.labeled)
    assert set(few.labeled) <= set(many.labeled)
    assert np.array_equal(few.truth, many.truth)


@pytest.mark.parametrize(
    ("n_labeled", "n_unlabeled", "problem"),
    [
        (20, 1000, r"has 200 rows in its half.*at most 180 unlabeled"),
        (5000, 0, "at most 200 labels"),
        (5000, 10, "at most 199 labels"),
        (2, 100, "3 classes in the half, n_labeled=2"),
    ],
)
def test_a_split_that_cannot_be_is_refused(n_labeled, n_unlabeled, problem):
    with pytest.raises(InputError, match=problem):
        split_rows(LABELS, n_labeled, n_unlabeled, 0, seed=0, dataset="x")


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("runs", 0),
        ("runs", 10**9),
        ("n_labeled", (20, 0)),
        ("n_unlabeled", (-5,)),
        ("n_unlabeled", ()),
        ("seed", -1),
    ],
)
def test_a_protocol_that_cannot_run_is_refused(option, value):
    with pytest.raises(InputError) as caught:
        Protocol(["labeled"], **{option: value})
    assert caught.value.option == option


def test_cells_are_every_combination():
    protocol = Protocol(["ensemble", "labeled"], n_labeled=(10, 20), n_unlabeled=(50, 100), runs=3)
    cells = list(list_cells(protocol, ["a", "b"]))
    assert len(cells) == 2 * 2 * 2 * 2 * 3
    assert len({cell.key for cell in cells}) == len(cells)
    assert [cell.run for cell in cells] == sorted(cell.run for cell in cells)


def test_settings_tell_the_options_that_ran():
    protocol = Protocol({"kernel": ("ssme", {"kernel": "exponential"})}, runs=3, seed=5)
    *_, last = list_cells(protocol, ["a"])
    told = json.loads(Runner(protocol, None).name(last, "0f")[1])
    assert (told["method"], told["seed"], told["random_state"]) == ("ssme", 5, 2)
    assert told["options"]["kernel"] == "exponential"
    assert told["options"]["preset"] == "paper"


def test_settings_of_active_testing_leave_its_labels_out():
    (cell,) = list_cells(Protocol(["active_testing"], n_labeled=(30,), runs=1), ["a"])
    options = json.loads(Runner(Protocol(["active_testing"]), None).name(cell, "0f")[1])["options"]
    assert options["budget"] == 30
    assert "oracle" not in options


def test_two_names_of_the_same_work_have_one_key():
    protocol = Protocol({"isj": ("ssme", {}), "gaussian": ("ssme", {})}, n_labeled=(20,), runs=1)
    one, other = list_cells(protocol, ["a"])
    assert one.key == other.key
    assert one.place != other.place


SETTINGS = """
from ssme.bench import Protocol
from ssme.bench.protocol import list_cells
from ssme.bench.runner import Runner
from ssme.methods.registry import method_names
protocol = Protocol(list(method_names()), runs=1)
for cell in list_cells(protocol, ["a"]):
    print(Runner(protocol, None).name(cell, "0f")[1])
"""


def test_settings_are_the_same_in_every_process(capsys):
    """They are what a finished cell is found by, whoever computed it."""
    exec(SETTINGS, {})
    here = capsys.readouterr().out
    elsewhere = subprocess.run(
        [sys.executable, "-c", SETTINGS],
        capture_output=True,
        check=True,
        text=True,
        env={**os.environ, "PYTHONHASHSEED": "2"},
    )
    assert elsewhere.stdout == here
    assert "0x" not in here


def test_settings_and_keys_tell_changed_constants_apart_and_name_no_address():
    keys, texts = [], []
    for constants in (Constants(), Constants(), replace(Constants(), fit_rows=10_000)):
        options = {"constants": constants, "n_draws": 50}
        cell = next(list_cells(protocol := Protocol({"auto": ("auto", options)}, runs=1), ["a"]))
        keys.append(cell.key)
        texts.append(Runner(protocol, None).name(cell, "0f")[1])
    for one, same, other in (keys, texts):
        assert one == same != other
        assert " at 0x" not in one
    assert keys[0].endswith(",n_draws=50")
