"""Which label counts, how far people agree, and files of older versions."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from ssme.memory import LabelEvent, Memory
from ssme.memory.database import APPLICATION_ID
from ssme.memory.tables import MIGRATIONS
from ssme.serve.labels import ADJUDICATED, MOST_COUNTED, TAKEN_BACK, UNSURE, StoredSuggestion
from ssme.serve.settings import ServeSettings
from ssme.serve.store import Store


@pytest.fixture
def store(settings: ServeSettings) -> Iterator[Store]:
    settings.make_folders()
    with Store(settings) as found:
        yield found


def add(store: Store, *events: tuple[Any, ...], **more: Any) -> dict[Any, Any]:
    """Store events of the data "d"; the rows that count, with their labels."""
    store.memory("d").add_labels(LabelEvent(*event, **more) for event in events)
    return {row: label for row, label, *_ in store.list_settled_labels("d")}


def test_the_newest_label_of_each_person_counts(store: Store) -> None:
    assert add(store, ("a", 0, "ada"), ("a", 1, "ada"), ("a", 1, "bob")) == {"a": 1}
    assert add(store, ("b", 0, "ada"), ("c", False, "ada")) == {"a": 1, "b": 0, "c": False}


def test_a_label_taken_back_is_gone_and_an_unsure_one_stays_without_a_class(store: Store) -> None:
    add(store, ("a", 1, "ada"))
    assert add(store, ("a", None, "ada"), reason=TAKEN_BACK) == {}
    assert add(store, ("b", None, "ada"), reason=UNSURE) == {}
    assert store.read_totals("d") == {"rows": 2, "settled": 0, "by ada": 1}
    people = store.list_people(["d"])
    assert (people["ada"]["labels"], people["ada"]["unsure"]) == (0, 1)


def test_rows_in_conflict_count_for_nothing_until_adjudicated(store: Store) -> None:
    assert add(store, ("a", 0, "ada"), ("a", 1, "bob")) == {}
    assert [each["given"] for each in store.list_conflicts("d")] == [{"ada": 0, "bob": 1}]
    assert add(store, ("a", 0, "eve"), reason=ADJUDICATED) == {"a": 0}
    assert store.list_conflicts("d") == []
    assert store.read_totals("d")["conflicts"] == 0
    assert [each["counts"] for each in store.list_all_labels(["d"])] == [True, False, True]


def test_kappa_is_that_of_scikit_learn(store: Store) -> None:
    from sklearn.metrics import cohen_kappa_score

    rng = np.random.default_rng(0)
    first = rng.integers(0, 3, 60).tolist()
    second = [a if rng.random() < 0.7 else int(rng.integers(0, 3)) for a in first]
    add(store, *((i, a, "ada") for i, a in enumerate(first)))
    add(store, *((i, b, "bob") for i, b in enumerate(second)), (99, None, "bob"))
    (found,) = store.measure_agreement(["d"])
    assert found.rows == 60
    assert found.kappa == pytest.approx(cohen_kappa_score(first, second))


def test_kappa_is_undefined_where_chance_always_agrees(store: Store) -> None:
    add(store, *((i, 1, who) for i in range(5) for who in ("ada", "bob")))
    (found,) = store.measure_agreement(["d"])
    assert (found.share, found.kappa) == (1.0, None)


def test_labels_that_another_program_added_count_at_the_next_label(store: Store) -> None:
    with Memory(store.path, "d") as other:
        other.add_labels([LabelEvent("a", 1, "ada")])
    assert add(store, ("b", 0, "ada")) == {"a": 1, "b": 0}


OLD = """
CREATE TABLE token (id TEXT PRIMARY KEY, made_at TEXT NOT NULL, used_at TEXT) STRICT;
CREATE TABLE session (
    id TEXT PRIMARY KEY, csrf TEXT NOT NULL, annotator TEXT NOT NULL, made_at TEXT NOT NULL
) STRICT;
CREATE TABLE file (
    id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, name TEXT NOT NULL, sha256 TEXT NOT NULL,
    size INTEGER NOT NULL, changed_ns INTEGER NOT NULL, read TEXT NOT NULL DEFAULT '{}',
    run TEXT NOT NULL DEFAULT '{}', shown TEXT, design TEXT NOT NULL DEFAULT 'goal', look INTEGER,
    opened_at TEXT NOT NULL
) STRICT;
CREATE TABLE job (
    id INTEGER PRIMARY KEY, file INTEGER NOT NULL REFERENCES file (id), kind TEXT NOT NULL,
    key TEXT NOT NULL, request TEXT NOT NULL, state TEXT NOT NULL,
    tries INTEGER NOT NULL DEFAULT 0, message TEXT NOT NULL DEFAULT '', made_at TEXT NOT NULL,
    ended_at TEXT
) STRICT;
CREATE TABLE suggestion (
    data TEXT NOT NULL, row TEXT NOT NULL, round INTEGER NOT NULL, place INTEGER NOT NULL,
    cells TEXT NOT NULL, probability REAL, reason TEXT NOT NULL, PRIMARY KEY (data, row, round)
) STRICT;
CREATE TABLE claim (
    data TEXT NOT NULL, row TEXT NOT NULL, annotator TEXT NOT NULL, at TEXT NOT NULL,
    skipped INTEGER NOT NULL, PRIMARY KEY (data, row, annotator)
) STRICT;
INSERT INTO token VALUES ('t', '2999-01-01T00:00:00.000000+00:00', NULL);
INSERT INTO session VALUES ('x', 'c', 'Ada', '2999-01-01T00:00:00.000000+00:00');
INSERT INTO file VALUES (1, '/a.csv', 'a.csv', '0', 1, 1,
    '{"group": ["g"], "no_labels": true}', '{"metric": ["ece"]}', NULL, 'goal', 1, '2026-01-01');
INSERT INTO job VALUES (1, 1, 'look', 'k', '{"labels": [1, 2]}', 'done', 1, '', '2026-01-01', NULL);
INSERT INTO suggestion VALUES ('file 1', '"old"', 1, 1, '[]', 0.5, 'why');
INSERT INTO suggestion VALUES ('file 1', '"a"', 2, 0, '[]', 0.5, 'why');
INSERT INTO suggestion VALUES ('file 1', '"b"', 2, 1, '[]', 0.5, 'why');
INSERT INTO suggestion VALUES ('file 1', '"c"', 2, 2, '[]', 0.5, 'why');
INSERT INTO claim VALUES ('file 1', '"c"', 'Ada', '2026-01-01T00:00:00.000000+00:00', 0);
PRAGMA user_version = 1
"""
"""The page's own file, as the first version had it; later ones only added columns."""


def test_a_project_with_two_files_opens_with_every_label_and_row(settings: ServeSettings) -> None:
    settings.make_folders()
    memory = sqlite3.connect(settings.memory_file)
    memory.executescript("".join(MIGRATIONS[:3]))
    memory.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    memory.execute("PRAGMA user_version = 3")
    for number, (row, label) in enumerate((("a", 1), ("b", 0), ("b", 1))):
        memory.execute(
            "INSERT INTO label_event (key, data, row, label, annotator, given_at, probability)"
            " VALUES (?, 'file 1', ?, ?, 'Ada', '2026-01-01T00:00:00.000000+00:00', 0.5)",
            (f"k{number}", f'"{row}"', str(label)),
        )
    memory.commit()
    memory.close()
    old = sqlite3.connect(settings.old_store_file)
    old.execute("PRAGMA journal_mode = WAL")
    old.executescript(OLD)
    old.close()
    for _ in range(2):
        with Store(settings) as store:
            assert len(store.memory("file 1").label_events()) == 3
            assert [each[:2] for each in store.list_settled_labels("file 1")] == [
                ["a", 1],
                ["b", 1],
            ]
            assert store.list_entries() == []  # from before there were roles
            assert store.list_names() == {"Ada"}
            file, job = store.find_file(1), store.find_job(1)
            assert file.read == {"groups": ["g"], "labels_file": False}
            assert (file.run, file.look, file.tried) == ({"metrics": ["ece"]}, 1, 1)
            assert job.labels == 2
            views = [store.next_row("file 1", who) for who in ("Ada", "Bob")]
            assert [view.row and view.row.row for view in views] == ["c", "a"]
            assert (views[0].mine, views[0].settled, views[0].left) == (2, 2, 1)
    assert [path.name for path in sorted(settings.project.glob("serve*"))] == ["serve.sqlite.old"]


@pytest.mark.parametrize(("who", "left"), [("ada", 9), ("bob", MOST_COUNTED)])
def test_a_click_reads_as_much_however_many_labels_there_are(
    store: Store, who: str, left: int
) -> None:
    """Steps of SQLite's machine for the next row, after 400 and after 4,000 labels of Ada."""
    steps: list[int] = []
    counts: list[int] = []
    for n in (400, 4_000):
        data = f"d{n}"
        rows = [StoredSuggestion(f"r{i}", 1, 5 * i, (), 0.5, "") for i in range(n)]
        store.add_suggestions(data, rows)
        store.memory(data).add_labels(LabelEvent(row.row, 1, "ada") for row in rows)
        store.add_suggestions(
            data, [StoredSuggestion(f"s{i}", 2, i, (), 0.5, "") for i in range(9)]
        )
        for _ in range(2):
            store._connection.set_progress_handler(lambda: steps.append(1), 10)
            steps.clear()
            view = store.next_row(data, who)
            counts.append(len(steps))
            assert view.left == left
    assert max(counts[2:]) < 1.3 * max(counts[:2])


def test_who_labels_what_next(store: Store) -> None:
    """Every fifth row is for two people; what is left of a round is for nobody."""
    rows = [StoredSuggestion(f"r{i}", 1, i, (), 0.5, "") for i in range(4)]
    store.add_suggestions("d", rows)

    def next_row(who: str) -> Any:
        view = store.next_row("d", who)
        return view.row.row if view.row else None

    assert [next_row(who) for who in ("ada", "bob", "eve", "dan", "ian")] == [
        *("r0", "r0", "r1", "r2", "r3")
    ]
    assert next_row("lin") is None
    store.give_label("d", "ada", "r0", 1, "k0")
    store.skip_row("d", "bob", "r0")
    assert [next_row(who) for who in ("bob", "ada", "lin", "bob")] == ["r0", None, "r0", None]
    store.add_suggestions("d", [StoredSuggestion("r9", 2, 9, (), 0.5, "")])
    assert [next_row(who) for who in ("eve", "ada", "lin")] == ["r1", "r9", "r0"]
    store.give_label("d", "eve", "r1", 1, "k1")
    assert store.undo_label("d", "eve", "k2") == "r1"
    assert store.undo_label("d", "eve", "k2") is None, "the same button pressed twice"
    assert [next_row(who) for who in ("eve", "zoe")] == ["r1", None]
