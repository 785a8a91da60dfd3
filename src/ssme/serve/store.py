"""What the server itself has to remember over a restart: people, files, the queue, rows to label.

Labels and evaluations are not here but in `ssme.memory`. One thread uses it (`ssme.serve.desk`).
Every write is one transaction that is on the disk when the method returns.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, ClassVar

from ssme.errors import InputError
from ssme.memory.database import SqliteFile
from ssme.memory.records import tell_time
from ssme.serve.schema import prepare

__all__ = ["LIFE", "Entry", "FileRecord", "JobRecord", "Session", "Store", "StoredSuggestion"]

LIFE, IDLE = timedelta(days=30), timedelta(days=7)
"""A session ends so long after it began, or after its last request."""
LINK = timedelta(days=7)
"""How long a link that lets somebody in can be used."""
SEEN = timedelta(minutes=10)
"""How exactly the time of the last request is kept."""


@dataclass(frozen=True)
class Session:
    """A browser that was let in, the person who uses it, and their role: "owner" or "guest"."""

    id: str
    csrf: str
    annotator: str
    role: str


@dataclass(frozen=True)
class Entry:
    """A way in as the page "People" lists it: a session, or a link that nobody has used yet.

    ``seen_at`` is the time of the last request; it is empty for a link.
    """

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
    shown: tuple[str, ...] | None
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


@dataclass(frozen=True)
class StoredSuggestion:
    """A row to be labeled, as annotators see it, with how it came to be chosen.

    ``round`` is the number of the draw, from 1 on, ``place`` the row's place in it, and
    ``probability`` that of being drawn in it.
    """

    row: Any
    round: int
    place: int
    cells: tuple[tuple[str, str, str], ...]
    probability: float | None
    reason: str


FILE = (
    "id, path, name, sha256, size, changed_ns, read, run, shown, design, look, opened_at, tried,"
    " names"
)
ALIVE = "ended_at IS NULL AND made_at > ? AND seen_at > ?"
JOB = "id, file, kind, key, request, state, tries, message, made_at, ended_at"


class Store(SqliteFile):
    """The tables of ``serve.sqlite``.

    Parameters
    ----------
    path : Path
        The file; it is made where there is none.
    """

    advice: ClassVar[str] = (
        "check that the disk has room and that no other program holds the file; nothing that was "
        "stored before is lost"
    )

    def __init__(self, path: Path) -> None:
        self.path = path
        with self._name_errors():
            self._connection = sqlite3.connect(path, timeout=30.0, isolation_level=None)
            prepare(self._connection, str(path))

    def close(self) -> None:
        self._connection.close()

    # people

    def add_token(self, token: str, role: str, annotator: str = "") -> None:
        """A token that lets one browser in, once, in this role and under this name."""
        with self._begin_writing() as on:
            on.execute(
                "INSERT INTO token (id, role, annotator, made_at) VALUES (?, ?, ?, ?)",
                (_hash(token), role, annotator, tell_time()),
            )

    def end_owner_tokens(self) -> None:
        """Make useless the addresses that earlier starts of the server printed."""
        with self._begin_writing() as on:
            on.execute("DELETE FROM token WHERE role = 'owner'")

    def use_token(self, token: str) -> tuple[str, str] | None:
        """Role and name of a good token, which is none from now on."""
        with self._begin_writing() as on:
            found: tuple[str, str] | None = on.execute(
                "DELETE FROM token WHERE id = ? AND made_at > ? RETURNING role, annotator",
                (_hash(token), _tell_time_before(LINK)),
            ).fetchone()
            return found

    def add_session(self, cookie: str, csrf: str, role: str, annotator: str) -> None:
        now = tell_time()
        with self._begin_writing() as on:
            on.execute(
                "INSERT INTO session (id, csrf, annotator, made_at, role, seen_at)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                (_hash(cookie), csrf, annotator, now, role, now),
            )

    def find_session(self, cookie: str) -> Session | None:
        """The session of a cookie; None where there is none or it has ended."""
        found = self._fetch_one(
            f"SELECT id, csrf, annotator, role, seen_at FROM session WHERE id = ? AND {ALIVE}",
            _hash(cookie),
            *_tell_limits(),
        )
        if found is None:
            return None
        *facts, seen = found
        if seen < _tell_time_before(SEEN):
            with self._begin_writing() as on:
                on.execute("UPDATE session SET seen_at = ? WHERE id = ?", (tell_time(), facts[0]))
        return Session(*facts)

    def name_session(self, session: str, annotator: str) -> None:
        with self._begin_writing() as on:
            on.execute("UPDATE session SET annotator = ? WHERE id = ?", (annotator, session))

    def list_entries(self) -> list[Entry]:
        """Sessions that have not ended, and links of guests that nobody has used, newest first."""
        rows = self._fetch_all(
            f"SELECT id, annotator, role, made_at, seen_at FROM session WHERE {ALIVE}"
            " UNION ALL SELECT id, annotator, role, made_at, '' FROM token"
            " WHERE role = 'guest' AND made_at > ? ORDER BY made_at DESC",
            *_tell_limits(),
            _tell_time_before(LINK),
        )
        return [Entry(*row) for row in rows]

    def list_names(self) -> set[str]:
        """Names that anybody has or ever had."""
        rows = self._fetch_all("SELECT annotator FROM session UNION SELECT annotator FROM token")
        return {row[0] for row in rows if row[0]}

    def end_entry(self, entry: str) -> None:
        """End a session, or take a link back; its name stays known."""
        with self._begin_writing() as on:
            on.execute(
                "UPDATE session SET ended_at = ? WHERE id = ? AND ended_at IS NULL",
                (tell_time(), entry),
            )
            on.execute("DELETE FROM token WHERE id = ?", (entry,))

    # files

    def add_file(self, path: str, name: str, sha256: str, size: int, changed_ns: int) -> int:
        """The number of a file; one that was opened before keeps its number and its mapping."""
        with self._begin_writing() as on:
            on.execute(
                "INSERT INTO file (path, name, sha256, size, changed_ns, opened_at)"
                " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (path) DO UPDATE SET sha256 ="
                " excluded.sha256, size = excluded.size, changed_ns = excluded.changed_ns",
                (path, name, sha256, size, changed_ns, tell_time()),
            )
            found = on.execute("SELECT id FROM file WHERE path = ?", (path,)).fetchone()
            return int(found[0])

    def find_file(self, number: int) -> FileRecord:
        found = self._fetch_one(f"SELECT {FILE} FROM file WHERE id = ?", number)
        if found is None:
            raise InputError(f"there is no file {number} here", fix="choose one on the first page")
        return _make_file(found)

    def list_files(self) -> list[FileRecord]:
        return [
            _make_file(row) for row in self._fetch_all(f"SELECT {FILE} FROM file ORDER BY id DESC")
        ]

    def set_mapping(
        self,
        number: int,
        read: Mapping[str, Any],
        run: Mapping[str, Any],
        shown: Iterable[str] | None,
        look: int,
    ) -> None:
        """Take a mapping with which the job ``look`` could read the file."""
        columns = None if shown is None else json.dumps(list(shown))
        with self._begin_writing() as on:
            on.execute(
                "UPDATE file SET read = ?, run = ?, shown = ?, look = ? WHERE id = ?",
                (json.dumps(dict(read)), json.dumps(dict(run)), columns, look, number),
            )

    def set_design(self, number: int, design: str) -> None:
        with self._begin_writing() as on:
            on.execute("UPDATE file SET design = ? WHERE id = ?", (design, number))

    def set_names(self, number: int, names: Mapping[str, str]) -> None:
        with self._begin_writing() as on:
            on.execute("UPDATE file SET names = ? WHERE id = ?", (json.dumps(names), number))

    def set_tried(self, number: int, job: int) -> None:
        with self._begin_writing() as on:
            on.execute("UPDATE file SET tried = ? WHERE id = ?", (job, number))

    # jobs

    def add_job(self, file: int, kind: str, key: str, request: Mapping[str, Any]) -> JobRecord:
        """Put a job into the queue; one of that kind and file that still waits is replaced."""
        with self._begin_writing() as on:
            on.execute(
                "UPDATE job SET state = 'cancelled', message = 'A newer one took its place.',"
                " ended_at = ? WHERE file = ? AND kind = ? AND state = 'waiting' AND key != ?",
                (tell_time(), file, kind, key),
            )
            same = on.execute(
                f"SELECT {JOB} FROM job WHERE key = ? AND state IN ('waiting', 'running', 'done')"
                " ORDER BY id DESC LIMIT 1",
                (key,),
            ).fetchone()
            if same is not None:
                return _make_job(same)
            made = on.execute(
                "INSERT INTO job (file, kind, key, request, state, made_at)"
                " VALUES (?, ?, ?, ?, 'waiting', ?)",
                (file, kind, key, json.dumps(dict(request)), tell_time()),
            )
            number = made.lastrowid
            return _make_job(
                on.execute(f"SELECT {JOB} FROM job WHERE id = ?", (number,)).fetchone()
            )

    def find_job(self, number: int) -> JobRecord:
        found = self._fetch_one(f"SELECT {JOB} FROM job WHERE id = ?", number)
        if found is None:
            raise InputError(f"there is no job {number} here", fix="look at the list of jobs")
        return _make_job(found)

    def list_jobs(self, file: int | None = None, kind: str | None = None) -> list[JobRecord]:
        """The newest jobs first, of one file or kind or of all."""
        query = f"SELECT {JOB} FROM job WHERE ? IN (-1, file) AND ? IN ('', kind)"
        rows = self._fetch_all(f"{query} ORDER BY id DESC LIMIT 100", file or -1, kind or "")
        return [_make_job(row) for row in rows]

    def take_next_job(self, kinds: Iterable[str]) -> JobRecord | None:
        """The oldest job that waits, from now on running."""
        names = json.dumps(list(kinds))
        with self._begin_writing() as on:
            found = on.execute(
                f"SELECT {JOB} FROM job WHERE state = 'waiting' AND kind IN"
                " (SELECT value FROM json_each(?)) ORDER BY id LIMIT 1",
                (names,),
            ).fetchone()
            if found is None:
                return None
            on.execute(
                "UPDATE job SET state = 'running', tries = tries + 1 WHERE id = ?", (found[0],)
            )
            return _make_job(found)

    def end_job(self, number: int, state: str, message: str = "") -> None:
        """A job that has ended stays as it ended."""
        with self._begin_writing() as on:
            on.execute(
                "UPDATE job SET state = ?, message = ?, ended_at = ?"
                " WHERE id = ? AND state IN ('waiting', 'running')",
                (state, message, tell_time(), number),
            )

    def forget_job(self, number: int) -> None:
        """A job whose results are gone has not been done."""
        with self._begin_writing() as on:
            on.execute(
                "UPDATE job SET state = 'failed', message = 'Its results were deleted.'"
                " WHERE id = ? AND state = 'done'",
                (number,),
            )

    def resume_jobs(self, tries: int) -> None:
        """Jobs that were cut off wait again; those cut off too often have failed."""
        with self._begin_writing() as on:
            on.execute(
                "UPDATE job SET state = 'failed', message = ?, ended_at = ?"
                " WHERE state = 'running' AND tries >= ?",
                (f"The server was stopped {tries} times while it ran.", tell_time(), tries),
            )
            on.execute("UPDATE job SET state = 'waiting' WHERE state = 'running'")

    # rows to label

    def add_suggestions(self, data: str, rows: Iterable[StoredSuggestion]) -> int:
        """Rows of a round; one that is there stays as it is."""
        with self._begin_writing() as on:
            before = on.total_changes
            on.executemany(
                "INSERT INTO suggestion (data, row, round, place, cells, probability, reason)"
                " VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                [
                    (
                        data,
                        json.dumps(s.row),
                        s.round,
                        s.place,
                        json.dumps(s.cells),
                        s.probability,
                        s.reason,
                    )
                    for s in rows
                ],
            )
            return on.total_changes - before

    def list_suggestions(self, data: str) -> list[StoredSuggestion]:
        """All rows that were drawn, round by round; a row may be in several."""
        rows = self._fetch_all(
            "SELECT row, round, place, cells, probability, reason FROM suggestion"
            " WHERE data = ? ORDER BY round, place",
            data,
        )
        return [
            StoredSuggestion(
                json.loads(row), number, place, tuple(map(tuple, json.loads(cells))), *rest
            )
            for row, number, place, cells, *rest in rows
        ]

    def claim(self, data: str, row: Any, annotator: str, *, skipped: bool = False) -> None:
        """Note that somebody has the row before them, or put it off."""
        with self._begin_writing() as on:
            on.execute(
                "INSERT INTO claim (data, row, annotator, at, skipped) VALUES (?, ?, ?, ?, ?)"
                " ON CONFLICT DO UPDATE SET at = excluded.at, skipped = excluded.skipped",
                (data, json.dumps(row), annotator, tell_time(), int(skipped)),
            )

    def list_claims(self, data: str) -> list[tuple[Any, str, str, bool]]:
        """(row, annotator, when, skipped), the oldest first."""
        rows = self._fetch_all(
            "SELECT row, annotator, at, skipped FROM claim WHERE data = ? ORDER BY at", data
        )
        return [(json.loads(row), who, at, bool(skipped)) for row, who, at, skipped in rows]


def _tell_time_before(age: timedelta) -> str:
    """The time that was so long ago, as `tell_time` writes it."""
    return (datetime.now(UTC) - age).isoformat(timespec="microseconds")


def _tell_limits() -> tuple[str, str]:
    """Values of `ALIVE`: sessions that began, or were seen last, before these times have ended."""
    return _tell_time_before(LIFE), _tell_time_before(IDLE)


def _hash(secret: str) -> str:
    """Secrets are kept as their hash: who reads the file cannot use them."""
    return hashlib.sha256(secret.encode()).hexdigest()


def _make_file(row: tuple[Any, ...]) -> FileRecord:
    *head, read, run, shown, design, look, opened, tried, names = row
    columns = None if shown is None else tuple(json.loads(shown))
    mapping = (json.loads(read), json.loads(run), columns)
    called = None if names is None else json.loads(names)
    found: tuple[Any, ...] = (*head, *mapping, design, look, opened, tried, called)
    return FileRecord(*found)


def _make_job(row: tuple[Any, ...]) -> JobRecord:
    number, file, kind, key, request, *rest = row
    return JobRecord(number, file, kind, key, json.loads(request), *rest)
