"""The tables of ``serve.sqlite``, and the way from every older version to the present one.

``PRAGMA user_version`` holds the version; migration k (from 0) leads from version k to k + 1.
"""

from __future__ import annotations

import sqlite3

from ssme.errors import InputError

__all__ = ["VERSION", "prepare"]

MIGRATIONS: tuple[str, ...] = (
    """
CREATE TABLE token (id TEXT PRIMARY KEY, made_at TEXT NOT NULL, used_at TEXT) STRICT;
CREATE TABLE session (
    id TEXT PRIMARY KEY, csrf TEXT NOT NULL, annotator TEXT NOT NULL, made_at TEXT NOT NULL
) STRICT;
CREATE TABLE file (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    size INTEGER NOT NULL,
    changed_ns INTEGER NOT NULL,
    read TEXT NOT NULL DEFAULT '{}',
    run TEXT NOT NULL DEFAULT '{}',
    shown TEXT,
    design TEXT NOT NULL DEFAULT 'goal',
    look INTEGER,
    opened_at TEXT NOT NULL
) STRICT;
CREATE TABLE job (
    id INTEGER PRIMARY KEY,
    file INTEGER NOT NULL REFERENCES file (id),
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    request TEXT NOT NULL,
    state TEXT NOT NULL,
    tries INTEGER NOT NULL DEFAULT 0,
    message TEXT NOT NULL DEFAULT '',
    made_at TEXT NOT NULL,
    ended_at TEXT
) STRICT;
CREATE INDEX job_state ON job (state, kind);
CREATE INDEX job_key ON job (key);
CREATE TABLE suggestion (
    data TEXT NOT NULL,
    row TEXT NOT NULL,
    round INTEGER NOT NULL,
    place INTEGER NOT NULL,
    cells TEXT NOT NULL,
    probability REAL,
    reason TEXT NOT NULL,
    PRIMARY KEY (data, row, round)
) STRICT;
CREATE TABLE claim (
    data TEXT NOT NULL,
    row TEXT NOT NULL,
    annotator TEXT NOT NULL,
    at TEXT NOT NULL,
    skipped INTEGER NOT NULL,
    PRIMARY KEY (data, row, annotator)
) STRICT
""",
    """
DROP TABLE token;
CREATE TABLE token (
    id TEXT PRIMARY KEY, role TEXT NOT NULL, annotator TEXT NOT NULL, made_at TEXT NOT NULL
) STRICT;
ALTER TABLE session ADD COLUMN role TEXT NOT NULL DEFAULT 'owner';
ALTER TABLE session ADD COLUMN seen_at TEXT NOT NULL DEFAULT '';
ALTER TABLE session ADD COLUMN ended_at TEXT;
UPDATE session SET ended_at = made_at
""",
    """
ALTER TABLE file ADD COLUMN tried INTEGER;
UPDATE file SET tried = look
""",
    """
ALTER TABLE file ADD COLUMN names TEXT
""",
)
"""Version 2: tokens and sessions have a role and an end; those from before have ended. Version 3:
the job that looked at a file with its newest settings, which may not work. Version 4: names of
classes, to be shown."""

VERSION = len(MIGRATIONS)


def prepare(connection: sqlite3.Connection, name: str) -> None:
    """Bring the file to the present version; one of a newer version is refused."""
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version > VERSION:
            raise InputError(
                f"{name} was written by a newer ssme",
                fix="install a newer ssme, or name another project folder",
            )
        for step in MIGRATIONS[version:]:
            for statement in step.split(";"):
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
