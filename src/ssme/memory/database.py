"""One SQLite file per project: added to, never overwritten, safe with several writers.

Every record has a key. Writing a record whose key is there already changes nothing, so a caller
that does not know whether a write arrived sends it again: nothing is lost and nothing is doubled.
A write returns once it is on the disk (write-ahead log, synchronous FULL). The label of a row is
that of its newest event; all events stay.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar

from ssme.errors import InputError
from ssme.memory.records import DecisionRecord, EstimateRecord, EvaluationRecord, LabelEvent
from ssme.wording import quote

# -------------------------------------------------------------------------------------------------
# A SQLite file: transactions, whole or not at all, and errors that name the file.


class SqliteFile:
    """What databases in one file have in common; ``advice`` says what to do when SQLite fails."""

    path: Path
    advice: ClassVar[str]
    _connection: sqlite3.Connection

    def _fetch_one(self, query: str, *values: Any) -> Any:
        with self._name_errors():
            return self._connection.execute(query, values).fetchone()

    def _fetch_all(self, query: str, *values: Any) -> list[Any]:
        with self._name_errors():
            return self._connection.execute(query, values).fetchall()

    @contextmanager
    def _begin_writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction: committed whole, or rolled back."""
        on = self._connection
        with self._name_errors():
            on.execute("BEGIN IMMEDIATE")
            try:
                yield on
                on.execute("COMMIT")
            except BaseException:
                if on.in_transaction:  # a full disk has ended it already
                    on.execute("ROLLBACK")
                raise

    def _name_errors(self) -> AbstractContextManager[None]:
        return name_file_in_errors(self.path, self.advice)


@contextmanager
def name_file_in_errors(path: Path, fix: str) -> Iterator[None]:
    """Turn what SQLite complains about into an error that names the file and says what to do."""
    try:
        yield
    except (sqlite3.Error, UnicodeDecodeError) as error:  # the latter in SQLite's own messages
        raise InputError(f"{path}: {error}", fix=fix) from error


@contextmanager
def read_records(path: Path) -> Iterator[None]:
    """Turn a record that is none (text that is no JSON, a list for a name) into such an error."""
    try:
        yield
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        if str(path) in str(error):
            raise
        raise InputError(
            f"{path} holds a record that cannot be read: {error}",
            allowed="records as ssme writes them",
            fix="take a copy from before it was changed, or name another file",
        ) from error


# -------------------------------------------------------------------------------------------------
# The tables of a project's memory, and the way from every older version to the present one.
#
# ``PRAGMA user_version`` holds the version. Migration k (counted from 0) leads from version k to
# k + 1; a file of a newer version than this program knows is refused, never touched. Rows of
# ``label_event``, ``evaluation``, ``estimate`` and ``decision`` are only ever added.


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


SECONDS_TO_WAIT = 30.0
"""How long a writer waits for another one to finish."""


class Memory(SqliteFile):
    """Labels, evaluations and decisions of one project.

    Parameters
    ----------
    path : str or Path
        The file; it is made where there is none.
    data : str, default "default"
        Name of the data that the records belong to; one file may hold several.
    new : bool, default True
        Whether the file is made where there is none. With False, a file that cannot be written to
        is read from a copy, which keeps nothing that is added.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from ssme.memory import LabelEvent, Memory
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "project.sqlite"
    >>> with Memory(path) as memory:
    ...     memory.add_labels([LabelEvent("row-1", "spam", annotator="ada", probability=0.25)])
    ...     memory.labels()
    1
    {'row-1': 'spam'}
    """

    advice: ClassVar[str] = (
        "check that it is a memory made by ssme, that the disk has room and that no other program "
        "holds it"
    )

    def __init__(self, path: str | Path, data: str = "default", *, new: bool = True) -> None:
        self.path, self.data = Path(path), data
        if not new:
            _refuse_missing(self.path)
        _refuse_no_file(self.path)
        with self._name_errors():
            closed = not new and _is_closed(self.path)
            self._connection = _read_copy(self.path) if closed else _open_file(self.path)
            try:
                self._connection.execute("PRAGMA trusted_schema = OFF")
                self._connection.execute("PRAGMA journal_mode = WAL")
                self._connection.execute("PRAGMA synchronous = FULL")
                self._connection.execute("PRAGMA foreign_keys = ON")
                migrate(self._connection, str(self.path))
            except BaseException:
                self._connection.close()
                raise

    def __enter__(self) -> Memory:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def add_labels(self, events: Iterable[LabelEvent]) -> int:
        """Store label events, all of them or none.

        Parameters
        ----------
        events : iterable of LabelEvent
            Who gave which label to which row.

        Returns
        -------
        int
            Number of events that were not in the memory yet.
        """
        rows = [
            (
                event.key,
                self.data,
                json.dumps(event.row),
                None if event.label is None else json.dumps(event.label),
                event.annotator,
                event.given_at,
                event.probability,
                event.reason,
            )
            for event in events
        ]
        with self._begin_writing() as connection:
            before = connection.total_changes
            connection.executemany(
                "INSERT INTO label_event (key, data, row, label, annotator, given_at, probability,"
                " reason) VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO NOTHING",
                rows,
            )
            return connection.total_changes - before

    def list_data(self) -> tuple[str, ...]:
        """Return the names of all data that the file holds something about.

        Returns
        -------
        tuple of str
            The names, sorted.
        """
        rows = self._fetch_all("SELECT data FROM label_event UNION SELECT data FROM evaluation")
        return tuple(sorted(row[0] for row in rows))

    def list_annotators(self) -> tuple[str, ...]:
        """Return the names of all who gave a label to any data in the file.

        Returns
        -------
        tuple of str
            The names, sorted.
        """
        rows = self._fetch_all("SELECT DISTINCT annotator FROM label_event ORDER BY annotator")
        return tuple(row[0] for row in rows)

    def label_events(self) -> tuple[LabelEvent, ...]:
        """Return all label events of the data.

        Returns
        -------
        tuple of LabelEvent
            The oldest event first.
        """
        rows = self._fetch_all(
            "SELECT row, label, annotator, probability, reason, key, given_at FROM label_event"
            " WHERE data = ? ORDER BY id",
            self.data,
        )
        with read_records(self.path):
            return tuple(
                LabelEvent(json.loads(row), None if label is None else json.loads(label), *rest)
                for row, label, *rest in rows
            )

    def labels(self, annotator: str | None = None) -> dict[Any, Any]:
        """Return the newest label of each row; labels that were taken back are left out.

        Parameters
        ----------
        annotator : str, optional
            Only the labels of this person (default: those of all).

        Returns
        -------
        dict
            From the name of a row to its label.
        """
        newest = {
            event.row: event.label
            for event in self.label_events()
            if annotator in (None, event.annotator)
        }
        return {row: label for row, label in newest.items() if label is not None}

    def conflicts(self) -> dict[Any, dict[str, Any]]:
        """Find the rows to which annotators gave different labels.

        Returns
        -------
        dict
            From the name of a row to the label of each annotator.
        """
        given: dict[Any, dict[str, Any]] = {}
        for event in self.label_events():
            given.setdefault(event.row, {})[event.annotator] = event.label
        told = {
            row: {who: label for who, label in labels.items() if label is not None}
            for row, labels in given.items()
        }
        return {row: labels for row, labels in told.items() if len(set(labels.values())) > 1}

    def add_evaluation(self, record: EvaluationRecord) -> int:
        """Store an evaluation with its estimates and decisions.

        Parameters
        ----------
        record : EvaluationRecord
            As `ssme.tracking.record_evaluation` makes it.

        Returns
        -------
        int
            Number of the evaluation in the file.
        """
        with self._begin_writing() as connection:
            connection.execute(
                "INSERT INTO evaluation (key, data, spec, method, n_rows, n_labeled, version,"
                " made_at, scores, scored) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
                " ON CONFLICT (key) DO NOTHING",
                (
                    self._find_key(connection, record.key),
                    self.data,
                    json.dumps(record.spec),
                    record.method,
                    record.n_rows,
                    record.n_labeled,
                    record.version,
                    record.made_at,
                    json.dumps(record.scores),
                    json.dumps(record.scored),
                ),
            )
            found = connection.execute(
                "SELECT id FROM evaluation WHERE data = ? AND key IN (?, ?)",
                (self.data, record.key, self._name_key(record.key)),
            )
            number = int(found.fetchone()[0])
            connection.executemany(
                "INSERT INTO estimate VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                [
                    (number, e.model, e.metric, e.group, e.estimate, e.low, e.high, e.labels_only)
                    for e in record.estimates
                ],
            )
            connection.executemany(
                "INSERT INTO decision VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                [
                    (
                        number,
                        d.metric,
                        d.pick,
                        d.p_best,
                        d.regret,
                        json.dumps(d.possible_best),
                        d.sureness,
                    )
                    for d in record.decisions
                ],
            )
            return number

    def _name_key(self, key: str) -> str:
        """The key of an evaluation that other data has too."""
        return f"{key} {self.data}"

    def _find_key(self, connection: sqlite3.Connection, key: str) -> str:
        """The key as it is stored, which no other data in the file has."""
        found = connection.execute("SELECT data FROM evaluation WHERE key = ?", (key,)).fetchone()
        return key if found is None or found[0] == self.data else self._name_key(key)

    def evaluations(self) -> dict[int, EvaluationRecord]:
        """Return all evaluations of the data.

        Returns
        -------
        dict
            From the number of an evaluation to its `EvaluationRecord`, the oldest first.
        """
        rows = self._fetch_all(
            "SELECT id, spec, method, n_rows, n_labeled, version, scores, key, made_at,"
            " scored"
            " FROM evaluation WHERE data = ? ORDER BY id",
            self.data,
        )
        with read_records(self.path):
            return {
                number: EvaluationRecord(
                    json.loads(spec),
                    method,
                    n_rows,
                    n_labeled,
                    version,
                    self._read_estimates(number),
                    self._read_decisions(number),
                    {model: tuple(shares) for model, shares in json.loads(scores).items()},
                    key.removesuffix(f" {self.data}"),
                    made_at,
                    {model: int(count) for model, count in json.loads(scored).items()},
                )
                for (
                    number,
                    spec,
                    method,
                    n_rows,
                    n_labeled,
                    version,
                    scores,
                    key,
                    made_at,
                    scored,
                ) in rows
            }

    def evaluation(self, number: int) -> EvaluationRecord:
        """Return one evaluation.

        Parameters
        ----------
        number : int
            Its number; negative numbers count from the newest, which is -1.

        Returns
        -------
        EvaluationRecord
        """
        found = self.evaluations()
        numbers = list(found)
        chosen = numbers[number] if number < 0 and len(numbers) >= -number else number
        if chosen not in found:
            raise InputError(
                f"there is no evaluation {number} in {self.path}",
                allowed=quote(numbers) if numbers else "none: nothing was stored yet",
                fix="`ssme track show` lists them",
            )
        return found[chosen]

    def _read_estimates(self, number: int) -> tuple[EstimateRecord, ...]:
        rows = self._fetch_all(
            'SELECT model, metric, "group", estimate, low, high, labels_only FROM estimate'
            " WHERE evaluation = ? ORDER BY rowid",
            number,
        )
        return tuple(EstimateRecord(*row) for row in rows)

    def _read_decisions(self, number: int) -> tuple[DecisionRecord, ...]:
        rows = self._fetch_all(
            "SELECT metric, pick, p_best, regret, possible_best, sureness FROM decision"
            " WHERE evaluation = ? ORDER BY rowid",
            number,
        )
        return tuple(
            DecisionRecord(metric, pick, p_best, regret, tuple(json.loads(names)), sureness)
            for metric, pick, p_best, regret, names, sureness in rows
        )


def refuse_no_memory(path: str | Path, *, new: bool = True) -> None:
    """Refuse a path at which no memory can be kept; nothing is made.

    Parameters
    ----------
    path : str or Path
        Where the memory is, or is to be.
    new : bool, default True
        Whether a file may be made there; with False it has to be there already.

    Examples
    --------
    >>> refuse_no_memory("no/such/folder/project.sqlite")
    Traceback (most recent call last):
    ssme.errors.InputError: no/such/folder/project.sqlite: there is no folder no/such/folder. Fix: \
make the folder first.
    """
    path = Path(path)
    if not new or os.path.exists(path):
        Memory(path, new=False).close()
    _refuse_no_file(path)
    if new and _is_closed(path):
        raise InputError(
            f"{path} cannot be written",
            allowed="a file that can be written to, in a folder that can be written to",
            fix="name a file elsewhere",
        )


def _open_file(source: str | Path, *, uri: bool = False) -> sqlite3.Connection:
    return sqlite3.connect(source, timeout=SECONDS_TO_WAIT, isolation_level=None, uri=uri)


def _read_copy(path: Path) -> sqlite3.Connection:
    """The file's content, in a database that is gone when it is closed."""
    # Without a write-ahead log nothing beside the file is needed, nor could it be made.
    log = path.with_name(path.name + "-wal")
    how = "mode=ro" if log.exists() else "immutable=1"
    with closing(_open_file(f"{path.resolve().as_uri()}?{how}", uri=True)) as kept:
        copy = _open_file(":memory:")
        kept.backup(copy)
    return copy


def _is_closed(path: Path) -> bool:
    """Whether the file, or the folder in which it keeps its log, cannot be written to."""
    return not all(os.access(each, os.W_OK) for each in (path.parent, path) if each.exists())


def _refuse_missing(path: Path) -> None:
    if not os.path.exists(path):  # false for a name that is too long, too
        raise InputError(
            f"{str(path)[:200]}: there is no such file",
            allowed="an existing file",
            fix="make it with `ssme track add`",
        )


def _refuse_no_file(path: Path) -> None:
    """Refuse a path at which no memory can be."""
    try:
        folder, other = path.parent.is_dir(), path.exists() and not path.is_file()
    except OSError as error:  # such as a name that is too long
        raise InputError(
            f"{str(path)[:80]}: {error.strerror}",
            allowed="a file that ssme made, or a new name",
            fix="name another file",
        ) from None
    if not folder:
        raise InputError(f"{path}: there is no folder {path.parent}", fix="make the folder first")
    if other:
        raise InputError(
            f"{path} is not a regular file",
            allowed="a file that ssme made, or a new name",
            fix="name another file",
        )
