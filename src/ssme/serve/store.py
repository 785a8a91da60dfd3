"""What the server keeps over a restart: people, files and the queue; and the thread that uses it.

It is all in the project's memory. Only the thread of `DbThread` uses the database: ``await
db.run(Store.find_job, 3)``.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from ssme.errors import InputError
from ssme.memory.database import utc_now
from ssme.serve.labels import LabelStore
from ssme.serve.settings import ServeSettings

P = ParamSpec("P")
T = TypeVar("T")

SESSION_LIFETIME, SESSION_IDLE = timedelta(days=30), timedelta(days=7)
"""A session ends so long after it began, or after its last request."""
LINK_LIFETIME = timedelta(days=7)
"""How long a link that lets somebody in can be used."""
SEEN_PRECISION = timedelta(minutes=10)
"""How exactly the time of the last request is kept."""
RENAMED = {
    **{"group": "groups", "metric": "metrics", "option": "options"},
    **{"draws": "n_draws", "seed": "random_state"},
}
"""Options that had another name in mappings of ssme 0.4."""
ACTIVE = "ended_at IS NULL AND made_at > ? AND seen_at > ?"


@dataclass(frozen=True)
class Session:
    """A browser that was let in, the person who uses it, and their role: "owner" or "guest".

    The ``csrf`` of a link that nobody has used, and when it was seen last, are empty.
    """

    id: str
    csrf: str
    annotator: str
    role: str
    made_at: str
    seen_at: str


@dataclass(frozen=True)
class FileRecord:
    """A file of scores: where it is, what it held when it was opened, how it is to be read.

    ``read``, ``run`` and ``shown`` are the mapping: options of reading, options of the run and the
    columns that annotators see. ``design`` says how rows are chosen for labeling: "goal" or
    "random"; one row of ``double_every`` goes to ``people`` (0: none), and with ``third`` a row on
    which they differ to one more. ``guide`` is what annotators should know: Markdown under
    ``text``, and a description of each class under ``classes``.
    ``shared`` says whether guests see results, ``proposed`` whether annotators see what a file
    proposes. ``look`` is the job that found that the file can be
    read with this mapping, ``tried`` the newest job that looked at the file, maybe with a mapping
    that does not work. ``names`` are what pages call the classes, which are written as JSON; None
    where nobody was asked yet.
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
    guide: Mapping[str, Any]
    double_every: int
    people: int
    third: bool
    shared: bool
    proposed: bool


@dataclass(frozen=True)
class JobRecord:
    """A job of the queue; ``state`` is waiting, running, done, failed or cancelled.

    ``labels`` is how many labels are in its request.
    """

    id: int
    file: int
    kind: str
    key: str
    request: Mapping[str, Any]
    state: str
    tries: int
    message: str
    labels: int
    made_at: str
    ended_at: str | None

    @property
    def is_active(self) -> bool:
        return self.state in ("waiting", "running")


class Store(LabelStore):
    """All that a project keeps: labels, people, files and jobs."""

    def __init__(self, settings: ServeSettings) -> None:
        super().__init__(settings.memory_file)
        with self._write():
            self._catch_up()
        if settings.old_store_file.exists():
            self._import(settings.old_store_file)

    def _import(self, old: Path) -> None:
        """Take over the page's own file of ssme 0.4 and before; it is kept under another name."""
        with self._name_file_in_errors():
            self._connection.execute("ATTACH ? AS old", (str(old),))
        with self._write():
            for table in ("token", "session", "file", "job", "suggestion", "claim"):
                found = self._fetch(
                    "SELECT name FROM pragma_table_info(?1, 'old') WHERE name IN"
                    " (SELECT name FROM pragma_table_info(?1, 'main'))",
                    table,
                )
                columns = ", ".join(f"[{name}]" for (name,) in found)
                self._execute(  # rows that lack what is needed today, such as a role, stay
                    f"INSERT OR IGNORE INTO main.{table} ({columns})"
                    f" SELECT {columns} FROM old.{table}"
                )
            self._execute("UPDATE file SET tried = look WHERE tried IS NULL")
            self._execute("UPDATE suggestion SET people = iif(place % 5, 1, 2)")
            for file in self.list_files():
                mapping = {"read": _rename_keys(file.read), "run": _rename_keys(file.run)}
                self.update_file(file.id, **mapping)
            self._execute(
                "UPDATE job SET labels = coalesce(json_array_length(request, '$.labels'), 0)"
            )
            for place in self._fetch(
                "SELECT DISTINCT data, row FROM suggestion AS s WHERE round ="
                " (SELECT max(round) FROM suggestion WHERE data = s.data)"
                " UNION SELECT data, row FROM given"
            ):
                self._update_needs(*place)
        self._execute("DETACH old")
        old.replace(old.with_name(f"{old.name}.old"))

    def list_data(self, file: int | None = None) -> tuple[str, ...]:
        """Names of all data, or of those of a file, that have records in the memory."""
        named = ["file", str(file)]
        return tuple(n for n in super().list_data() if file is None or n.split()[:2] == named)

    # people

    def add_token(self, token: str, role: str, annotator: str = "") -> None:
        """A token that lets one browser in, once, in this role and under this name."""
        row = {"id": _hash(token), "role": role, "annotator": annotator, "made_at": utc_now()}
        self._insert("token", [row])

    def renew_owner_token(self, token: str) -> None:
        """Let the owner in with this token, and not with that of an earlier start."""
        self._execute("DELETE FROM token WHERE role = 'owner'")
        self.add_token(token, "owner")

    def use_token(self, token: str) -> tuple[str, str] | None:
        """Role and name of a valid token, which works once."""
        found = self._execute(
            "DELETE FROM token WHERE id = ? AND made_at > ? RETURNING role, annotator",
            *(_hash(token), _time_ago(LINK_LIFETIME)),
        )
        return found[0] if found else None

    def add_session(self, cookie: str, csrf: str, role: str, annotator: str) -> None:
        session = Session(_hash(cookie), csrf, annotator, role, utc_now(), utc_now())
        self._insert("session", [vars(session)])

    def find_session(self, cookie: str) -> Session | None:
        """The session of a cookie; None if it does not exist or has ended."""
        rest = f"FROM session WHERE id = ? AND {ACTIVE}"
        found = self._load(Session, rest, _hash(cookie), *_active_since())
        if not found:
            return None
        if found[0].seen_at < _time_ago(SEEN_PRECISION):
            self._execute("UPDATE session SET seen_at = ? WHERE id = ?", utc_now(), found[0].id)
        return found[0]

    def name_session(self, session: str, annotator: str) -> None:
        self._execute("UPDATE session SET annotator = ? WHERE id = ?", annotator, session)

    def list_entries(self) -> list[Session]:
        """Sessions that have not ended, and links of guests that nobody has used, newest first."""
        return self._load(
            Session,
            "FROM (SELECT id, csrf, annotator, role, made_at, seen_at FROM session WHERE"
            f" {ACTIVE} UNION ALL SELECT id, '', annotator, role, made_at, '' FROM token"
            " WHERE role = 'guest' AND made_at > ?) ORDER BY made_at DESC",
            *_active_since(),
            _time_ago(LINK_LIFETIME),
        )

    def list_names(self) -> set[str]:
        """Names that anybody has or ever had."""
        rows = self._fetch("SELECT annotator FROM session UNION SELECT annotator FROM token")
        return {row[0] for row in rows if row[0]}

    def end_entry(self, entry: str) -> None:
        """End a session, or take a link back; its name stays known."""
        ended = "UPDATE session SET ended_at = ? WHERE id = ? AND ended_at IS NULL"
        with self._write():
            self._execute(ended, utc_now(), entry)
            self._execute("DELETE FROM token WHERE id = ?", entry)

    # files

    def add_file(self, path: str, name: str, sha256: str, size: int, changed_ns: int) -> int:
        """The number of a file; one that was opened before keeps its number and its mapping."""
        ((number,),) = self._execute(
            "INSERT INTO file (path, name, sha256, size, changed_ns, opened_at)"
            " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (path) DO UPDATE SET (sha256, size, changed_ns)"
            " = (excluded.sha256, excluded.size, excluded.changed_ns) RETURNING id",
            *(path, name, sha256, size, changed_ns, utc_now()),
        )
        return int(number)

    def find_file(self, number: int) -> FileRecord:
        return self._find(FileRecord, "file", number)

    def list_files(self) -> list[FileRecord]:
        return self._load(FileRecord, "FROM file ORDER BY id DESC")

    def shares_results(self, file: int | None = None, job: int | None = None) -> bool:
        """Whether guests see the results of a file, or of that of a job."""
        query = "SELECT shared FROM file WHERE id IN (?, (SELECT file FROM job WHERE id = ?))"
        return any(row[0] for row in self._fetch(query, file, job))

    def update_file(self, number: int, /, **values: Any) -> None:
        columns = ", ".join(f"[{name}] = ?" for name in values)
        written = [self._dump(name, value) for name, value in values.items()]
        self._execute(f"UPDATE file SET {columns} WHERE id = ?", *written, number)

    def read_keys(self, file: int, annotator: str) -> dict[str, str]:
        query = "SELECT keys FROM person WHERE file = ? AND annotator = ?"
        found = self._read(query, file, annotator)
        return found[0]["keys"] if found else {}

    def update_person(self, file: int, annotator: str, /, **values: Any) -> None:
        """Set the keys of a person, or the share and group of rows that they label."""
        where = "WHERE file = ? AND annotator = ?"
        with self._write():
            self._insert("person", [{"file": file, "annotator": annotator}])
            for name, value in values.items():
                told = self._dump(name, value)
                self._execute(f"UPDATE person SET [{name}] = ? {where}", told, file, annotator)

    def _find(self, record: type[T], table: str, number: int) -> T:
        found = self._load(record, f"FROM {table} WHERE id = ?", number)
        if not found:
            raise InputError(f"there is no {table} {number} here", hint="go to the first page")
        return found[0]

    # jobs

    def add_job(self, file: int, kind: str, key: str, request: Mapping[str, Any]) -> JobRecord:
        """Put a job into the queue; one of that kind and file that still waits is replaced."""
        job = {"file": file, "kind": kind, "key": key, "request": request, "state": "waiting"}
        job["labels"] = request.get("settled", 0)
        with self._write():
            self._execute(
                "UPDATE job SET state = 'cancelled', message = 'A newer one took its place.',"
                " ended_at = ? WHERE file = ? AND kind = ? AND state = 'waiting' AND key != ?",
                *(utc_now(), file, kind, key),
            )
            same = self._load(
                JobRecord,
                "FROM job WHERE key = ? AND state IN ('waiting', 'running', 'done')"
                " ORDER BY id DESC LIMIT 1",
                key,
            )
            newest = "SELECT 1 FROM job WHERE file = ? AND kind = ? AND id > ?"
            is_past = (
                same
                and (kind, same[0].state) == ("evaluate", "done")
                and self._fetch(newest, file, kind, same[0].id)
            )
            if same and not is_past:
                return same[0]
            if is_past:  # settings of before: their result is the newest one again
                job |= {"state": "done", "labels": same[0].labels, "ended_at": utc_now()}
            self._insert("job", [{**job, "made_at": utc_now()}])
            ((number,),) = self._fetch("SELECT last_insert_rowid()")
            return self.find_job(number)

    def find_job(self, number: int) -> JobRecord:
        return self._find(JobRecord, "job", number)

    def list_jobs(self, file: int | None = None, kind: str | None = None) -> list[JobRecord]:
        """The newest jobs first, of one file or kind or of all, without their requests."""
        return self._load(
            JobRecord,
            "FROM (SELECT id, file, kind, key, labels, state, tries, message, made_at, ended_at,"
            " '{}' AS request FROM job) WHERE ? IN (-1, file) AND ? IN ('', kind)"
            " ORDER BY id DESC LIMIT 100",
            *(file or -1, kind or ""),
        )

    def find_newest_job(self, file: int, kind: str, condition: str) -> JobRecord | None:
        rest = f"FROM job WHERE file = ? AND kind = ? AND {condition} ORDER BY id DESC LIMIT 1"
        found = self._load(JobRecord, rest, file, kind)
        return found[0] if found else None

    def count_labels_asked(self, file: int, kind: str) -> int:
        """How many labels the newest job of that kind knows, unless it failed."""
        found = self._fetch(
            "SELECT labels FROM job WHERE file = ? AND kind = ?"
            " AND state IN ('waiting', 'running', 'done') ORDER BY id DESC LIMIT 1",
            *(file, kind),
        )
        return found[0][0] if found else 0

    def note_labels(self, number: int, labels: int) -> None:
        """A job reads the labels when it begins, which may be more than when it was asked for."""
        self._execute("UPDATE job SET labels = ? WHERE id = ?", labels, number)

    def drop_old_jobs(self, file: int, kept: int) -> list[str]:
        """Delete jobs from before the newest evaluations of a file; the keys of their results."""
        old = (
            "file = :file AND kind IN ('evaluate', 'rows', 'report', 'plan') AND id < (SELECT id"
            " FROM job WHERE file = :file AND kind = 'evaluate' AND state = 'done'"
            " ORDER BY id DESC LIMIT 1 OFFSET :kept - 1)"
        )
        with self._write():
            found = self._execute(
                f"DELETE FROM job WHERE {old} AND state NOT IN ('waiting', 'running')"
                " RETURNING key",
                **{"file": file, "kept": kept},
            )
            keys = {row[0] for row in found}
            return [key for key in keys if not self._fetch("SELECT 1 FROM job WHERE key = ?", key)]

    def take_next_job(self, kinds: Iterable[str]) -> JobRecord | None:
        """The oldest job that waits, from now on running."""
        found = self._execute(
            "UPDATE job SET state = 'running', tries = tries + 1 WHERE id = (SELECT min(id)"
            " FROM job WHERE state = 'waiting' AND kind IN (SELECT value FROM json_each(?)))"
            " RETURNING id",
            json.dumps(list(kinds)),
        )
        return self.find_job(found[0][0]) if found else None

    def end_job(self, number: int, state: str, message: str = "") -> None:
        """A job that has ended stays as it ended."""
        self._execute(
            "UPDATE job SET state = ?, message = ?, ended_at = ?"
            " WHERE id = ? AND state IN ('waiting', 'running')",
            *(state, message, utc_now(), number),
        )

    def forget_job(self, key: str) -> None:
        """A job whose results are gone has not been done."""
        self._execute(
            "UPDATE job SET state = 'failed', message = 'Its results were deleted.'"
            " WHERE key = ? AND state = 'done'",
            key,
        )

    def resume_jobs(self, tries: int) -> None:
        """Jobs that were cut off wait again; those cut off too often have failed."""
        self._execute(
            "UPDATE job SET state = iif(tries < :tries, 'waiting', 'failed'), message ="
            " iif(tries < :tries, message, :message), ended_at = iif(tries < :tries, NULL, :now)"
            " WHERE state = 'running'",
            **{"message": f"The server was stopped {tries} times while it ran."},
            **{"tries": tries, "now": utc_now()},
        )


def _rename_keys(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options of ssme 0.4 and before under the names of today."""
    found = {RENAMED.get(name, name): value for name, value in options.items()}
    if found.pop("no_labels", False):
        found["labels_file"] = False
    return found


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
