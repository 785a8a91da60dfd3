"""What the server keeps over a restart: people, files, the queue, rows to label; and its thread.

Labels and evaluations are in `ssme.memory` (`Store.memory`). Only the thread of `DbThread` uses the
databases: ``await db.run(Store.find_job, 3)``.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Concatenate, ParamSpec, TypeVar

from ssme.errors import InputError
from ssme.memory import Memory
from ssme.memory.database import SqliteFile, list_columns, utc_now
from ssme.serve.settings import ServeSettings

P = ParamSpec("P")
T = TypeVar("T")

SESSION_LIFETIME, SESSION_IDLE = timedelta(days=30), timedelta(days=7)
"""A session ends so long after it began, or after its last request."""
LINK_LIFETIME = timedelta(days=7)
"""How long a link that lets somebody in can be used."""
SEEN_PRECISION = timedelta(minutes=10)
"""How exactly the time of the last request is kept."""
AT_RANDOM = "drawn at random"
"""How the reason of rows begins that were drawn with the same probability as all others."""
ACTIVE = "ended_at IS NULL AND made_at > ? AND seen_at > ?"


@dataclass(frozen=True)
class Session:
    """A browser that was let in, the person who uses it, and their role: "owner" or "guest"."""

    id: str
    csrf: str
    annotator: str
    role: str


@dataclass(frozen=True)
class Entry:
    """A session, or a link that nobody has used yet, whose ``seen_at`` (last request) is empty."""

    id: str
    annotator: str
    role: str
    made_at: str
    seen_at: str


@dataclass(frozen=True)
class FileRecord:
    """A file of scores: where it is, what it held when it was opened, how it is to be read.

    ``read``, ``run`` and ``shown`` are the mapping: options of reading, options of the run and the
    columns that annotators see. ``design`` says how rows are chosen for labeling: "goal" or
    "random". ``look`` is the job that found that the file can be read with this mapping, ``tried``
    the newest job that looked at the file, maybe with a mapping that does not work. ``names`` are
    what pages call the classes, which are written as JSON; None where nobody was asked yet.
    """

    id: int
    path: str
    name: str
    sha256: str
    size: int
    changed_ns: int
    read: Mapping[str, Any]
    run: Mapping[str, Any]
    shown: list[str] | None
    design: str
    look: int | None
    opened_at: str
    tried: int | None
    names: Mapping[str, str] | None


@dataclass(frozen=True)
class JobRecord:
    """A job of the queue; ``state`` is waiting, running, done, failed or cancelled."""

    id: int
    file: int
    kind: str
    key: str
    request: Mapping[str, Any]
    state: str
    tries: int
    message: str
    made_at: str
    ended_at: str | None

    @property
    def is_active(self) -> bool:
        return self.state in ("waiting", "running")


@dataclass(frozen=True)
class StoredSuggestion:
    """A row to be labeled, as annotators see it: its ``cells`` are (column, kind, text).

    ``round`` is the number of the draw, from 1 on, ``place`` the row's place in it, and
    ``probability`` that of being drawn in it.
    """

    row: Any
    round: int
    place: int
    cells: Iterable[tuple[str, str, str]]
    probability: float | None
    reason: str


class Store(SqliteFile):
    """The tables of ``serve.sqlite``, and the memory of each file."""

    advice = (
        "check that the disk has room and that no other program holds the file; nothing that was "
        "stored before is lost"
    )
    json_columns = frozenset({"read", "run", "shown", "names", "request", "row", "cells"})
    migrations = (
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
        # Version 2: tokens and sessions have a role and an end; those from before have ended.
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
        # Version 3: the job that looked at a file with its newest settings, which may not work.
        "ALTER TABLE file ADD COLUMN tried INTEGER; UPDATE file SET tried = look",
        # Version 4: names of classes, to be shown.
        "ALTER TABLE file ADD COLUMN names TEXT",
    )

    def __init__(self, settings: ServeSettings) -> None:
        super().__init__(settings.store_file)
        self._memory_file = settings.memory_file
        self._memories: dict[str, Memory] = {}

    def memory(self, data: str) -> Memory:
        """The memory of the data of that name."""
        if data not in self._memories:
            self._memories[data] = Memory(self._memory_file, data)
        return self._memories[data]

    def list_data(self, file: int) -> list[str]:
        """Names of all data of a file that the memory holds something about."""
        known = self.memory(f"file {file}").list_data()
        return [name for name in known if f"{name} ".startswith(f"file {file} ")]

    def close(self) -> None:
        for memory in self._memories.values():
            memory.close()
        super().close()

    # people

    def add_token(self, token: str, role: str, annotator: str = "") -> None:
        """A token that lets one browser in, once, in this role and under this name."""
        row = {"id": _hash(token), "role": role, "annotator": annotator, "made_at": utc_now()}
        with self._write() as connection:
            self._insert(connection, "token", [row])

    def renew_owner_token(self, token: str) -> None:
        """Let the owner in with this token, and not with that of an earlier start."""
        self._execute("DELETE FROM token WHERE role = 'owner'")
        self.add_token(token, "owner")

    def use_token(self, token: str) -> tuple[str, str] | None:
        """Role and name of a valid token, which works once."""
        with self._write() as connection:
            found: tuple[str, str] | None = connection.execute(
                "DELETE FROM token WHERE id = ? AND made_at > ? RETURNING role, annotator",
                (_hash(token), _time_ago(LINK_LIFETIME)),
            ).fetchone()
            return found

    def add_session(self, cookie: str, csrf: str, role: str, annotator: str) -> None:
        session, now = Session(_hash(cookie), csrf, annotator, role), utc_now()
        with self._write() as connection:
            row = {**vars(session), "made_at": now, "seen_at": now}
            self._insert(connection, "session", [row])

    def find_session(self, cookie: str) -> Session | None:
        """The session of a cookie; None where there is none or it has ended."""
        found = self._select(
            [*list_columns(Session), "seen_at"],
            "session",
            f"WHERE id = ? AND {ACTIVE}",
            _hash(cookie),
            *_active_since(),
        )
        if not found:
            return None
        if found[0].pop("seen_at") < _time_ago(SEEN_PRECISION):
            self._execute("UPDATE session SET seen_at = ? WHERE id = ?", utc_now(), found[0]["id"])
        return Session(**found[0])

    def name_session(self, session: str, annotator: str) -> None:
        self._execute("UPDATE session SET annotator = ? WHERE id = ?", annotator, session)

    def list_entries(self) -> list[Entry]:
        """Sessions that have not ended, and links of guests that nobody has used, newest first."""
        rows = self._fetch(
            f"SELECT id, annotator, role, made_at, seen_at FROM session WHERE {ACTIVE}"
            " UNION ALL SELECT id, annotator, role, made_at, '' FROM token"
            " WHERE role = 'guest' AND made_at > ? ORDER BY made_at DESC",
            *_active_since(),
            _time_ago(LINK_LIFETIME),
        )
        return [Entry(*row) for row in rows]

    def list_names(self) -> set[str]:
        """Names that anybody has or ever had."""
        rows = self._fetch("SELECT annotator FROM session UNION SELECT annotator FROM token")
        return {row[0] for row in rows if row[0]}

    def end_entry(self, entry: str) -> None:
        """End a session, or take a link back; its name stays known."""
        with self._write() as connection:
            connection.execute(
                "UPDATE session SET ended_at = ? WHERE id = ? AND ended_at IS NULL",
                (utc_now(), entry),
            )
            connection.execute("DELETE FROM token WHERE id = ?", (entry,))

    # files

    def add_file(self, path: str, name: str, sha256: str, size: int, changed_ns: int) -> int:
        """The number of a file; one that was opened before keeps its number and its mapping."""
        with self._write() as connection:
            (number,) = connection.execute(
                "INSERT INTO file (path, name, sha256, size, changed_ns, opened_at)"
                " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (path) DO UPDATE SET sha256 ="
                " excluded.sha256, size = excluded.size, changed_ns = excluded.changed_ns"
                " RETURNING id",
                (path, name, sha256, size, changed_ns, utc_now()),
            ).fetchone()
            return int(number)

    def find_file(self, number: int) -> FileRecord:
        return FileRecord(**self._find("file", FileRecord, number))

    def list_files(self) -> list[FileRecord]:
        rows = self._select(list_columns(FileRecord), "file", "ORDER BY id DESC")
        return [FileRecord(**row) for row in rows]

    def update_file(self, number: int, /, **values: Any) -> None:
        """Set columns of a file."""
        columns = ", ".join(f"[{name}] = ?" for name in values)
        written = [self._dump(name, value) for name, value in values.items()]
        self._execute(f"UPDATE file SET {columns} WHERE id = ?", *written, number)

    def _find(self, table: str, record: type[Any], number: int) -> dict[str, Any]:
        found = self._select(list_columns(record), table, "WHERE id = ?", number)
        if not found:
            raise InputError(f"there is no {table} {number} here", hint="go to the first page")
        return found[0]

    # jobs

    def add_job(self, file: int, kind: str, key: str, request: Mapping[str, Any]) -> JobRecord:
        """Put a job into the queue; one of that kind and file that still waits is replaced."""
        job = {"file": file, "kind": kind, "key": key, "request": request, "state": "waiting"}
        with self._write() as connection:
            connection.execute(
                "UPDATE job SET state = 'cancelled', message = 'A newer one took its place.',"
                " ended_at = ? WHERE file = ? AND kind = ? AND state = 'waiting' AND key != ?",
                (utc_now(), file, kind, key),
            )
            same = self._select(
                list_columns(JobRecord),
                "job",
                "WHERE key = ? AND state IN ('waiting', 'running', 'done')"
                " ORDER BY id DESC LIMIT 1",
                key,
            )
            if same:
                return JobRecord(**same[0])
            self._insert(connection, "job", [{**job, "made_at": utc_now()}])
            (number,) = connection.execute("SELECT last_insert_rowid()").fetchone()
            return self.find_job(number)

    def find_job(self, number: int) -> JobRecord:
        return JobRecord(**self._find("job", JobRecord, number))

    def list_jobs(self, file: int | None = None, kind: str | None = None) -> list[JobRecord]:
        """The newest jobs first, of one file or kind or of all."""
        rows = self._select(
            list_columns(JobRecord),
            "job",
            "WHERE ? IN (-1, file) AND ? IN ('', kind) ORDER BY id DESC LIMIT 100",
            file or -1,
            kind or "",
        )
        return [JobRecord(**row) for row in rows]

    def take_next_job(self, kinds: Iterable[str]) -> JobRecord | None:
        """The oldest job that waits, from now on running."""
        with self._write() as connection:
            found = connection.execute(
                "UPDATE job SET state = 'running', tries = tries + 1 WHERE id = (SELECT min(id)"
                " FROM job WHERE state = 'waiting' AND kind IN (SELECT value FROM json_each(?)))"
                " RETURNING id",
                (json.dumps(list(kinds)),),
            ).fetchone()
            return None if found is None else self.find_job(found[0])

    def end_job(self, number: int, state: str, message: str = "") -> None:
        """A job that has ended stays as it ended."""
        self._execute(
            "UPDATE job SET state = ?, message = ?, ended_at = ?"
            " WHERE id = ? AND state IN ('waiting', 'running')",
            *(state, message, utc_now(), number),
        )

    def forget_job(self, number: int) -> None:
        """A job whose results are gone has not been done."""
        self._execute(
            "UPDATE job SET state = 'failed', message = 'Its results were deleted.'"
            " WHERE id = ? AND state = 'done'",
            number,
        )

    def resume_jobs(self, tries: int) -> None:
        """Jobs that were cut off wait again; those cut off too often have failed."""
        with self._write() as connection:
            connection.execute(
                "UPDATE job SET state = 'failed', message = ?, ended_at = ?"
                " WHERE state = 'running' AND tries >= ?",
                (f"The server was stopped {tries} times while it ran.", utc_now(), tries),
            )
            connection.execute("UPDATE job SET state = 'waiting' WHERE state = 'running'")

    # rows to label

    def add_suggestions(self, data: str, rows: Iterable[StoredSuggestion]) -> None:
        """Rows of a round; one that is there stays as it is."""
        with self._write() as connection:
            self._insert(connection, "suggestion", [{"data": data, **vars(row)} for row in rows])

    def list_suggestions(self, data: str) -> list[StoredSuggestion]:
        """All rows that were drawn, round by round; a row may be in several."""
        rows = self._select(
            list_columns(StoredSuggestion),
            "suggestion",
            "WHERE data = ? ORDER BY round, place",
            data,
        )
        return [StoredSuggestion(**row) for row in rows]

    def claim(self, data: str, row: Any, annotator: str, *, skipped: bool = False) -> None:
        """Note that somebody has the row before them, or put it off."""
        self._execute(
            "INSERT INTO claim (data, row, annotator, at, skipped) VALUES (?, ?, ?, ?, ?)"
            " ON CONFLICT DO UPDATE SET at = excluded.at, skipped = excluded.skipped",
            *(data, json.dumps(row), annotator, utc_now(), int(skipped)),
        )

    def list_claims(self, data: str) -> list[tuple[Any, str, str, bool]]:
        """(row, annotator, when, skipped), the oldest first."""
        rows = self._fetch(
            "SELECT row, annotator, at, skipped FROM claim WHERE data = ? ORDER BY at", data
        )
        return [(json.loads(row), who, at, bool(skipped)) for row, who, at, skipped in rows]


def _time_ago(age: timedelta) -> str:
    return (datetime.now(UTC) - age).isoformat(timespec="microseconds")


def _active_since() -> tuple[str, str]:
    """Values of `ACTIVE`: sessions that began, or were seen last, before these times have ended."""
    return _time_ago(SESSION_LIFETIME), _time_ago(SESSION_IDLE)


def _hash(secret: str) -> str:
    """Secrets are kept as their hash: who reads the file cannot use them."""
    return hashlib.sha256(secret.encode()).hexdigest()


class DbThread:
    """Runs functions of the `Store` in one thread, so that no page waits for another's disk."""

    def __init__(self, settings: ServeSettings) -> None:
        self.settings = settings
        self._thread = ThreadPoolExecutor(1, "ssme-db")
        self._is_closed = False
        self._store = self._thread.submit(Store, settings).result()

    async def run(
        self, function: Callable[Concatenate[Store, P], T], *args: P.args, **named: P.kwargs
    ) -> T:
        """``function(store, ...)``, run in the thread."""
        return await asyncio.wrap_future(self._thread.submit(function, self._store, *args, **named))

    def run_now(
        self, function: Callable[Concatenate[Store, P], T], *args: P.args, **named: P.kwargs
    ) -> T:
        """The same for a caller that is not asynchronous."""
        return self._thread.submit(function, self._store, *args, **named).result()

    def close(self) -> None:
        if not self._is_closed:
            self._is_closed = True
            self._thread.submit(self._store.close).result()
            self._thread.shutdown()

    def __enter__(self) -> DbThread:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
