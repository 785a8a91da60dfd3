"""A memory keeps every label once, whoever writes and whatever is killed."""

from __future__ import annotations

import os
import sqlite3

import pytest
from benchmarks.decide import memory as writers

from ssme.errors import InputError
from ssme.memory import (
    DecisionRecord,
    EstimateRecord,
    EvaluationRecord,
    LabelEvent,
    Memory,
    refuse_no_memory,
)
from ssme.memory.database import APPLICATION_ID
from ssme.memory.tables import MIGRATIONS

VERSION = len(MIGRATIONS)


def record(**changes) -> EvaluationRecord:
    estimates = (
        EstimateRecord("a", "accuracy", "all", 0.8, 0.7, 0.9, 0.75),
        EstimateRecord("b", "accuracy", "all", None, None, None, None),
    )
    decisions = (DecisionRecord("accuracy", "a", 0.9, 0.01, ("a", "b")),)
    facts = {
        "spec": {"method": "auto", "by": None, "level": 0.95},
        "method": "auto",
        "n_rows": 100,
        "n_labeled": 20,
        "version": "0.2.0",
        "estimates": estimates,
        "decisions": decisions,
        "scores": {"a": (0.5, 0.5)},
    }
    return EvaluationRecord(**{**facts, **changes})


def test_labels_come_back_as_they_were_given(tmp_path):
    events = [
        LabelEvent("x", "spam", annotator="ada", probability=0.25, reason="uncertain"),
        LabelEvent(7, 1),
        LabelEvent("7", True),
        LabelEvent("unsure", None, annotator="bob"),
    ]
    with Memory(tmp_path / "m.sqlite") as memory:
        assert memory.add_labels(events) == 4
    with Memory(tmp_path / "m.sqlite") as memory:
        assert memory.label_events() == tuple(events)
        assert memory.labels() == {"x": "spam", 7: 1, "7": True}
        assert memory.labels("ada") == {"x": "spam"}


def test_the_newest_label_counts_and_all_are_kept(tmp_path):
    with Memory(tmp_path / "m.sqlite") as memory:
        memory.add_labels([LabelEvent("x", 0), LabelEvent("x", 1), LabelEvent("y", 1)])
        memory.add_labels([LabelEvent("y", None)])
        assert memory.labels() == {"x": 1}
        assert len(memory.label_events()) == 4


def test_an_event_sent_twice_is_kept_once(tmp_path):
    event = LabelEvent("x", 1)
    with Memory(tmp_path / "m.sqlite") as memory:
        assert memory.add_labels([event, event]) == 1
        assert memory.add_labels([event]) == 0
        assert memory.label_events() == (event,)


def test_annotators_that_disagree_are_told(tmp_path):
    with Memory(tmp_path / "m.sqlite") as memory:
        memory.add_labels([LabelEvent("x", 1, "ada"), LabelEvent("x", 0, "bob")])
        memory.add_labels([LabelEvent("y", 1, "ada"), LabelEvent("y", 1, "bob")])
        assert memory.conflicts() == {"x": {"ada": 1, "bob": 0}}


def test_evaluations_come_back_as_they_were(tmp_path):
    with Memory(tmp_path / "m.sqlite") as memory:
        first, second = record(), record(n_labeled=40)
        numbers = [memory.add_evaluation(each) for each in (first, second, first)]
        assert numbers == [1, 2, 1]
        assert memory.evaluations() == {1: first, 2: second}
        assert memory.evaluation(-1) == second
        with pytest.raises(InputError, match="no evaluation 9"):
            memory.evaluation(9)


def test_data_sets_in_one_file_are_kept_apart(tmp_path):
    with Memory(tmp_path / "m.sqlite", "one") as one, Memory(tmp_path / "m.sqlite", "two") as two:
        one.add_labels([LabelEvent("x", 1)])
        two.add_labels([LabelEvent("x", 0)])
        assert (one.labels(), two.labels()) == ({"x": 1}, {"x": 0})


@pytest.mark.parametrize("version", range(1, VERSION + 1))
def test_a_file_of_every_older_version_opens_with_its_labels(tmp_path, version):
    path = tmp_path / "old.sqlite"
    old = sqlite3.connect(path)
    for step in MIGRATIONS[:version]:
        old.executescript(step)
    old.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    old.execute(f"PRAGMA user_version = {version}")
    old.execute(
        "INSERT INTO label_event (key, data, row, label, annotator, given_at)"
        " VALUES ('k', 'default', '\"x\"', '1', 'ada', '2026-01-01T00:00:00+00:00')"
    )
    old.commit()
    old.close()
    with Memory(path) as memory:
        assert memory.labels() == {"x": 1}
        memory.add_labels([LabelEvent("y", 0, probability=0.5)])
        assert memory.labels() == {"x": 1, "y": 0}


def test_a_newer_version_and_a_foreign_database_are_refused_untouched(tmp_path):
    newer, foreign, garbage = (tmp_path / name for name in ("newer", "foreign", "garbage"))
    Memory(newer).close()
    with sqlite3.connect(newer) as connection:
        connection.execute(f"PRAGMA user_version = {VERSION + 1}")
    with sqlite3.connect(foreign) as connection:
        connection.execute("CREATE TABLE mine (x)")
    garbage.write_bytes(b"no database at all" * 100)
    for path, words in ((newer, "newer ssme"), (foreign, "another program"), (garbage, "garbage")):
        with pytest.raises(InputError, match=words):
            Memory(path)
    with sqlite3.connect(foreign) as connection:
        names = connection.execute("SELECT name FROM sqlite_master").fetchall()
    assert names == [("mine",)]


@pytest.mark.parametrize("bad", [0.0, 1.5, -1, float("nan"), "0.5", True])
def test_probabilities_outside_their_range_are_refused(bad):
    with pytest.raises(InputError, match="probability"):
        LabelEvent("x", 1, probability=bad)


def test_rows_and_labels_of_odd_types_are_refused():
    with pytest.raises(InputError, match="label"):
        LabelEvent("x", [1])
    with pytest.raises(InputError, match="row"):
        LabelEvent(None, 1)


def test_two_writers_killed_at_random_moments_lose_and_double_nothing(monkeypatch):
    for name, value in (("EVENTS", 40), ("SHORTEST", 0.2), ("LONGEST", 0.8)):
        monkeypatch.setattr(writers, name, value)
    row = writers.run_round(0)
    assert (row["events"], row["lost"], row["doubled"]) == (80, 0, 0)
    assert row["kills"] > 0


def test_a_closed_file_is_read_and_left_alone(tmp_path, monkeypatch):
    path = tmp_path / "m.sqlite"
    with Memory(path) as memory:
        memory.add_labels([LabelEvent("x", 1)])
        memory.add_evaluation(record())
    before = path.read_bytes()
    monkeypatch.setattr(os, "access", lambda *_: False)
    with Memory(path, new=False) as memory:
        assert memory.labels() == {"x": 1}
        assert list(memory.evaluations()) == [1]
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(InputError, match="cannot be written"):
        refuse_no_memory(path)


def test_a_memory_is_refused_before_it_is_made(tmp_path, monkeypatch):
    target = tmp_path / "m.sqlite"
    refuse_no_memory(target)
    for call in (lambda: refuse_no_memory(target, new=False), lambda: Memory(target, new=False)):
        with pytest.raises(InputError, match="there is no such file"):
            call()
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(InputError, match="cannot be written"):
        refuse_no_memory(target)
    assert list(tmp_path.iterdir()) == []
