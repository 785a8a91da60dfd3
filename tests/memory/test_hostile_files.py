"""A memory that someone else has written into: refused by name, never run, never hanging."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest
from benchmarks.fuzz import memory as fuzzer

from ssme.errors import InputError
from ssme.memory import LabelEvent, Memory

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"


def changed(folder: Path, *statements: str) -> Path:
    path = folder / "project.sqlite"
    fuzzer.fill(path, 0)
    with sqlite3.connect(path) as connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()
    return path


@pytest.mark.parametrize(
    "statements",
    [
        (
            "ALTER TABLE label_event RENAME TO old",
            f"CREATE VIEW label_event AS {ENDLESS} SELECT i AS id, 'k' AS key, 'default' AS data,"
            " '1' AS row, '1' AS label, '' AS annotator, '' AS given_at, 1.0 AS probability,"
            " '' AS reason FROM n",
        ),
        (
            "CREATE TRIGGER lose AFTER INSERT ON label_event"
            " BEGIN DELETE FROM evaluation; DELETE FROM label_event; END",
        ),
    ],
    ids=["an endless view", "a trigger that deletes"],
)
def test_what_would_run_by_itself_is_refused(tmp_path: Path, statements: tuple[str, ...]) -> None:
    path = changed(tmp_path, *statements)
    with pytest.raises(InputError, match=r"project\.sqlite contains a (view|trigger)"):
        fuzzer.read_all(path)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE label_event SET row = '[1, 2]' WHERE id = 3",
        "UPDATE label_event SET row = '{' WHERE id = 3",
        "UPDATE label_event SET label = 'no json' WHERE id = 3",
        "UPDATE label_event SET label = '[1]' WHERE id = 3",
        "UPDATE label_event SET row = '" + "[" * 20_000 + "' WHERE id = 3",
        "UPDATE evaluation SET spec = '' WHERE id = 1",
        "UPDATE evaluation SET scores = '[]' WHERE id = 1",
        "UPDATE decision SET possible_best = 'null'",
        "DROP TABLE estimate",
        "ALTER TABLE label_event DROP COLUMN reason",
    ],
)
def test_records_that_are_none_are_refused_with_the_file(tmp_path: Path, statement: str) -> None:
    path = changed(tmp_path, statement)
    with pytest.raises(InputError, match=r"project\.sqlite"):
        fuzzer.read_all(path)


def test_a_pipe_or_a_folder_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.sqlite")
    for path in (tmp_path / "pipe.sqlite", tmp_path):
        with pytest.raises(InputError, match=path.name):
            Memory(path)


def test_a_link_leads_to_the_file(tmp_path: Path) -> None:
    path = changed(tmp_path)
    link = tmp_path / "link.sqlite"
    link.symlink_to(path)
    with Memory(link) as memory:
        memory.add_labels([LabelEvent("by link", 1)])
    with Memory(path) as memory:
        assert memory.labels()["by link"] == 1


def test_a_sample_of_damaged_files() -> None:
    outcomes = fuzzer.attack(150, seed=7)
    assert outcomes.count_bad() == 0, outcomes.failures[:3]
    assert sum(outcomes.counts.values()) == 150
