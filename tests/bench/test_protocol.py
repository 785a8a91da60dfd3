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


def test_runs_differ_and_repeat():
    first = split_rows(LABELS, 20, 100, 0, seed=0, dataset="x")
    again = split_rows(LABELS, 20, 100, 0, seed=0, dataset="x")
    other = split_rows(LABELS, 20, 100, 1, seed=0, dataset="x")
    assert np.array_equal(first.labeled, again.labeled)
    assert not np.array_equal(first.labeled, other.labeled)


def test_more_labels_hold_the_fewer_and_the_truth_stays():
    few = split_rows(LABELS, 20, 100, 0, seed=0, dataset="x")
    many = split_rows(LABELS, 50, 100, 0, seed=0, dataset="x")
    assert set(few.labeled) <= set(many.labeled)
    assert np.array_equal(few.truth, many.truth)


def test_too_many_rows_asked_for():
    with pytest.raises(InputError, match=r"has 200 rows in its half.*at most 180 unlabeled"):
        split_rows(LABELS, 20, 1000, 0, seed=0, dataset="x")


def test_too_many_labels_asked_for():
    for n_unlabeled, most in ((0, 200), (10, 199)):
        with pytest.raises(InputError, match=f"at most {most} labels"):
            split_rows(LABELS, 5000, n_unlabeled, 0, seed=0, dataset="x")


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


def test_too_few_labels_for_the_classes():
    with pytest.raises(InputError, match="3 classes in the half, n_labeled=2"):
        split_rows(LABELS, 2, 100, 0, seed=0, dataset="x")


def test_cells_are_every_combination():
    protocol = Protocol(["ensemble", "labeled"], n_labeled=(10, 20), n_unlabeled=(50, 100), runs=3)
    cells = list(list_cells(protocol, ["a", "b"]))
    assert len(cells) == 2 * 2 * 2 * 2 * 3
    assert len({cell.key for cell in cells}) == len(cells)


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


def test_cells_come_run_by_run():
    runs = [cell.run for cell in list_cells(Protocol(["labeled"], runs=3), ["a", "b"])]
    assert runs == sorted(runs)


SETTINGS = """
from ssme.bench import Protocol
from ssme.bench.protocol import list_cells
from ssme.bench.runner import Runner
from ssme.methods.registry import method_names
protocol = Protocol(list(method_names()), runs=1)
for cell in list_cells(protocol, ["a"]):
    print(Runner(protocol, None).name(cell, "0f")[1])
"""


def test_settings_are_the_same_in_every_process():
    """They are what a finished cell is found by, whoever computed it."""
    told = [
        subprocess.run(
            [sys.executable, "-c", SETTINGS],
            capture_output=True,
            check=True,
            text=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    ]
    assert told[0] == told[1]
    assert "0x" not in told[0]


def test_settings_tell_changed_constants_apart():
    from ssme.methods.auto.constants import Constants

    texts = set()
    for constants in (Constants(), replace(Constants(), fit_rows=10_000)):
        protocol = Protocol({"auto": ("auto", {"constants": constants})}, runs=1)
        texts.add(Runner(protocol, None).name(next(list_cells(protocol, ["a"])), "0f")[1])
    assert len(texts) == 2


def test_keys_of_records_of_constants_name_no_address():
    from dataclasses import replace

    from ssme.methods.auto.constants import Constants

    def key(constants: Constants) -> str:
        options = {"constants": constants, "n_draws": 50}
        protocol = Protocol({"a": ("auto", options)}, n_labeled=(20,), n_unlabeled=(80,), runs=1)
        return next(list_cells(protocol, ["d"])).key

    assert " at 0x" not in key(Constants())
    assert key(Constants()) == key(Constants()) != key(replace(Constants(), fit_rows=10))
    assert key(Constants()).endswith(",n_draws=50")
