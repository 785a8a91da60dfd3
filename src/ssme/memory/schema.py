"""The tables of a project's memory, and the way from every older version to the present one.

``PRAGMA user_version`` holds the version. Migration k (counted from 0) leads from version k to
k + 1; a file of a newer version than this program knows is refused, never touched. Rows of
``label_event``, ``evaluation``, ``estimate`` and ``decision`` are only ever added.
"""

from __future__ import annotations

import sqlite3

from ssme.errors import InputError

__all__ = ["APPLICATION", "VERSION", "migrate"]

APPLICATION = 0x53534D45
"""``PRAGMA application_id`` of our files: the letters SSME."""

MIGRATIONS: tuple[str, ...] = (
    """
    CREATE TABLE label_event (
        id INTEGER PRIMARY KEY,
        key TEXT NOT NULL UNIQUE,
        data TEXT NOT NULL,
        row TEXT NOT NULL,
        label TEXT,
        annotator TEXT NOT NULL,
        given_at TEXT NOT NULL
    ) STRICT;
    CREATE INDEX label_event_row ON label_event (data, row);
    CREATE TABLE evaluation (
        id INTEGER PRIMARY KEY,
        key TEXT NOT NULL UNIQUE,
        data TEXT NOT NULL,
        spec TEXT NOT NULL,
        method TEXT NOT NULL,
        n_rows INTEGER NOT NULL,
        n_labeled INTEGER NOT NULL,
        version TEXT NOT NULL,
        made_at TEXT NOT NULL
    ) STRICT;
    CREATE TABLE estimate (
        evaluation INTEGER NOT NULL REFERENCES evaluation (id),
        model TEXT NOT NULL,
        metric TEXT NOT NULL,
        "group" TEXT NOT NULL,
        estimate REAL, low REAL, high REAL, labels_only REAL,
        PRIMARY KEY (evaluation, model, metric, "group")
    ) STRICT;
    CREATE TABLE decision (
        evaluation INTEGER NOT NULL REFERENCES evaluation (id),
        metric TEXT NOT NULL,
        pick TEXT NOT NULL,
        p_best REAL, regret REAL,
        possible_best TEXT NOT NULL,
        PRIMARY KEY (evaluation, metric)
    ) STRICT;
    """,
    """
    ALTER TABLE label_event ADD COLUMN probability REAL;
    ALTER TABLE label_event ADD COLUMN reason TEXT NOT NULL DEFAULT '';
    ALTER TABLE evaluation ADD COLUMN scores TEXT NOT NULL DEFAULT '{}';
    """,
    """
    ALTER TABLE decision ADD COLUMN sureness TEXT NOT NULL DEFAULT '';
    ALTER TABLE evaluation ADD COLUMN scored TEXT NOT NULL DEFAULT '{}';
    """,
)
"""Version 1: labels, evaluations and decisions. Version 2: how a row was chosen for its label, and
the distribution of scores that drift is told by. Version 3: how sure a decision was, in
words, and how many rows each model has scored."""

VERSION = len(MIGRATIONS)


def migrate(connection: sqlite3.Connection, name: str) -> None:
    """Bring the file to the present version, in one transaction."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        application = connection.execute("PRAGMA application_id").fetchone()[0]
        _refuse_foreign(connection, name, version, application)
        for step in MIGRATIONS[version:]:
            for statement in filter(str.strip, step.split(";")):
                connection.execute(statement)
        if version < VERSION:
            connection.execute(f"PRAGMA application_id = {APPLICATION}")
            connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def _refuse_foreign(
    connection: sqlite3.Connection, name: str, version: int, application: int
) -> None:
    tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if application != APPLICATION and (tables or version or application):
        raise InputError(
            f"{name} is a database of another program",
            allowed="a file that ssme made, or a new name",
            fix="name another file",
        )
    active = connection.execute(
        "SELECT type, name FROM sqlite_master WHERE type IN ('view', 'trigger')"
    ).fetchone()
    if active is not None:
        raise InputError(
            f"{name} holds a {active[0]} {active[1]!r}, which ssme never makes",
            allowed="the tables that ssme makes, which run nothing by themselves",
            fix="take a copy from before it was put in, or name another file",
        )
    if version > VERSION:
        raise InputError(
            f"{name} has version {version} of the memory's tables; this ssme knows {VERSION}",
            fix="install a newer ssme, or name another file",
        )
