"""A project's memory in one SQLite file: added to, never overwritten, safe with several writers.

Every record has a key. Writing a record whose key is there already changes nothing, so a caller
that does not know whether a write arrived sends it again: nothing is lost and nothing is doubled.
The label of a row is that of its newest event; all events stay.
"""

from __future__ import annotations

import json
import math
import os
import sqlite3
import uuid
from collections.abc import Hashable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self, TypeVar

from ssme.errors import InputError
from ssme.memory.tables import MIGRATIONS
from ssme.options import Number, Option, accept
from ssme.wording import quote

R = TypeVar("R")

SECONDS_TO_WAIT = 30.0
"""How long a writer waits for another one to finish."""
APPLICATION_ID = 0x53534D45  # the letters SSME
JSON_COLUMNS = frozenset(
    {"row", "label", "proposal", "spec", "scores", "scored", "possible_best"}
    # of the page
    | {"read", "run", "shown", "names", "guide", "request", "cells", "groups", "keys"}
)
ADVICE = (
    "check that it is a memory made by ssme, that the disk has room and that no other program "
    "has it open"
)
SETTINGS = ("trusted_schema = OFF", "journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON")


def _connect(source: str | Path, *, uri: bool = False) -> sqlite3.Connection:
    return sqlite3.connect(source, timeout=SECONDS_TO_WAIT, isolation_level=None, uri=uri)


def _open_copy(path: Path) -> sqlite3.Connection:
    """The file's content in memory, where the file itself cannot be written."""
    # Without a write-ahead log nothing beside the file is needed, nor could it be made.
    mode = "mode=ro" if path.with_name(path.name + "-wal").exists() else "immutable=1"
    with closing(_connect(f"{path.resolve().as_uri()}?{mode}", uri=True)) as source:
        copy = _connect(":memory:")
        source.backup(copy)
    return copy


# -------------------------------------------------------------------------------------------------
# Records: one field per column.


def make_key() -> str:
    """A key that no other record has, so that a record sent twice is kept once."""
    return uuid.uuid4().hex


def utc_now() -> str:
    """The present time in UTC, to the microsecond, as ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


PROBABILITY = Option(
    "probability",
    Number(0.0, 1.0, open_least=True),
    None,
    "Probability with which the row was chosen for a label.",
)


@dataclass(frozen=True)
class LabelEvent:
    """Somebody gave a row a label, or took it back.

    Parameters
    ----------
    row : str or int
        Name of the row, as in the data's id column.
    label : str, int, bool or None
        The class; None says that the annotator was unsure or took the label back.
    annotator : str
        Who gave it.
    probability : float, optional
        Probability in (0, 1] with which the row was chosen for a label; None where it is unknown.
    reason : str
        Why the row was chosen.
    key : str
        Identifies the event; an event with the same key is stored once.
    given_at : str
        When, in UTC.
    proposal : str, int, bool or None
        The class that was proposed to the annotator; None where nothing was.
    """

    row: Hashable
    label: Hashable | None
    annotator: str = ""
    probability: float | None = None
    reason: str = ""
    key: str = field(default_factory=make_key)
    given_at: str = field(default_factory=utc_now)
    proposal: Hashable | None = None

    def __post_init__(self) -> None:
        for name in ("row", "label", "proposal"):
            value = getattr(self, name)
            is_plain = isinstance(value, (str, int)) or (
                isinstance(value, float) and math.isfinite(value)
            )
            if not (is_plain or (name != "row" and value is None)):
                raise InputError(option=name, value=value, must="be text, a number or a boolean")
        if self.probability is not None:
            object.__setattr__(self, "probability", accept(PROBABILITY, self.probability))


@dataclass(frozen=True)
class EstimateRecord:
    """The metric of one model on one group of rows, as an evaluation gave it.

    Attributes
    ----------
    model, metric, group : str
        What was estimated.
    estimate, low, high : float or None
        The estimate and its interval; None where it is undefined.
    labels_only : float or None
        The same from labels alone.
    """

    model: str
    metric: str
    group: str
    estimate: float | None
    low: float | None
    high: float | None
    labels_only: float | None


@dataclass(frozen=True)
class DecisionRecord:
    """The model that an evaluation picked by one metric.

    Attributes
    ----------
    metric, pick : str
        The metric, and the model with the best estimate of it.
    p_best, regret : float or None
        Probability that the pick is the best, and the expected loss by taking it.
    possible_best : tuple of str
        The smallest set of models that contains the best one with 95% probability.
    sureness : str
        The set and P(best) in words (`Choice.sureness`); empty in memories of older
        versions.
    """

    metric: str
    pick: str
    p_best: float | None
    regret: float | None
    possible_best: tuple[str, ...]
    sureness: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "possible_best", tuple(self.possible_best))

    def describe_sureness(self) -> str:
        """The stored words; a warning where an older version stored a probability without them."""
        if self.sureness or self.p_best is None:
            return self.sureness
        return (
            "An older version of ssme stored this decision without saying whether its probability "
            "is calibrated."
        )


@dataclass(frozen=True)
class EvaluationRecord:
    """One evaluation: what was asked, of which data, and what came out.

    Attributes
    ----------
    spec : mapping
        The `RunSpec` as plain values: enough to run it again.
    method, version : str
        The method and the version of ssme.
    n_rows, n_labeled : int
        Size of the data.
    scores : mapping
        Model -> shares of its scores in fixed bins, by which drift is found.
    scored : mapping
        Model -> number of rows that it has scored; empty in memories of older versions.
    """

    spec: Mapping[str, Any]
    method: str
    n_rows: int
    n_labeled: int
    version: str
    estimates: tuple[EstimateRecord, ...] = ()
    decisions: tuple[DecisionRecord, ...] = ()
    scores: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    key: str = field(default_factory=make_key)
    made_at: str = field(default_factory=utc_now)
    scored: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:  # JSON knows neither records nor tuples
        scores = {model: tuple(shares) for model, shares in self.scores.items()}
        object.__setattr__(self, "scores", scores)
        for name, kind in (("estimates", EstimateRecord), ("decisions", DecisionRecord)):
            made = (kind(**of) if isinstance(of, dict) else of for of in getattr(self, name))
            object.__setattr__(self, name, tuple(made))


# -------------------------------------------------------------------------------------------------
# The memory. Rows of ``label_event``, ``evaluation``, ``estimate`` and ``decision`` are only added.


class Memory:
    """Labels, evaluations and decisions of one project.

    Parameters
    ----------
    path : str or Path
        The file; it is created if it does not exist.
    data : str, default "default"
        Name of the data that the records belong to; one file may contain several.
    new : bool, default True
        Whether a missing file is created. With False, a file that cannot be written to
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

    def __init__(self, path: str | Path, data: str = "default", *, new: bool = True) -> None:
        self.path, self.data = Path(path), data
        if not new and not os.path.exists(path):  # false for a name that is too long, too
            problem = f"{str(path)[:200]}: there is no such file"
            raise InputError(problem, hint="make it with `ssme track add`")
        _check_path(self.path)
        is_copy = not new and not _is_writable(self.path)
        with self._name_file_in_errors():
            self._connection = _open_copy(self.path) if is_copy else _connect(self.path)
            try:
                for setting in SETTINGS:
                    self._connection.execute(f"PRAGMA {setting}")
                with self._write() as connection:
                    self._migrate(connection)
            except BaseException:
                self._connection.close()
                raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def add_labels(self, events: Iterable[LabelEvent]) -> int:
        """Store label events, all or none; returns how many were not in the memory yet.

        Parameters
        ----------
        events : iterable of LabelEvent
            Who gave which label to which row.
        """
        rows = [{"data": self.data, **vars(event)} for event in events]
        return self._insert("label_event", rows)

    def list_data(self) -> tuple[str, ...]:
        """The sorted names of all data with records in the file."""
        rows = self._fetch("SELECT data FROM label_event UNION SELECT data FROM evaluation")
        return tuple(sorted(row[0] for row in rows))

    def list_annotators(self) -> tuple[str, ...]:
        """The sorted names of all who gave a label to any data in the file."""
        rows = self._fetch("SELECT DISTINCT annotator FROM label_event ORDER BY annotator")
        return tuple(row[0] for row in rows)

    def label_events(self) -> tuple[LabelEvent, ...]:
        """All label events of the data, the oldest first."""
        with self.refuse_corrupt():
            found = self._load(LabelEvent, "FROM label_event WHERE data = ? ORDER BY id", self.data)
        return tuple(found)

    def labels(self, annotator: str | None = None) -> dict[Any, Any]:
        """The newest label by the name of a row; labels that were taken back are left out.

        Parameters
        ----------
        annotator : str, optional
            Only the labels of this person (default: those of all).
        """
        newest = {
            event.row: event.label
            for event in self.label_events()
            if annotator in (None, event.annotator)
        }
        return {row: label for row, label in newest.items() if label is not None}

    def conflicts(self) -> dict[Any, dict[str, Any]]:
        """The labels by annotator of the rows to which they gave different ones."""
        given: dict[Any, dict[str, Any]] = {}
        for event in self.label_events():
            given.setdefault(event.row, {})[event.annotator] = event.label
        known = {
            row: {who: label for who, label in labels.items() if label is not None}
            for row, labels in given.items()
        }
        return {row: labels for row, labels in known.items() if len({*labels.values()}) > 1}

    def add_evaluation(self, record: EvaluationRecord) -> int:
        """Store an evaluation with its estimates and decisions; returns its number in the file.

        Parameters
        ----------
        record : EvaluationRecord
            As `ssme.memory.tracking.record_evaluation` makes it.
        """
        row = {**vars(record), "data": self.data}
        parts = {"estimate": row.pop("estimates"), "decision": row.pop("decisions")}
        with self._write():
            query = "SELECT 1 FROM evaluation WHERE key = ? AND data != ?"
            taken = self._fetch(query, record.key, self.data)
            row["key"] = f"{record.key} {self.data}" if taken else record.key
            self._insert("evaluation", [row])
            ((number,),) = self._fetch("SELECT id FROM evaluation WHERE key = ?", row["key"])
            for table, records in parts.items():
                self._insert(table, [{"evaluation": number, **vars(each)} for each in records])
            return int(number)

    def evaluations(self, newest: int | None = None) -> dict[int, EvaluationRecord]:
        """The evaluations of the data by their number, the oldest first.

        Parameters
        ----------
        newest : int, optional
            Only so many, the newest ones (default: all).
        """
        query = "SELECT * FROM evaluation WHERE data = ? ORDER BY id DESC LIMIT ?"
        rows = self._read(query, self.data, -1 if newest is None else newest)
        with self.refuse_corrupt():
            return {row["id"]: self._read_evaluation(**row) for row in reversed(rows)}

    def _read_evaluation(self, id: int, data: str, **row: Any) -> EvaluationRecord:
        row["key"] = row["key"].removesuffix(f" {data}")
        row["scored"] = {model: int(count) for model, count in row["scored"].items()}
        rest = "WHERE evaluation = ? ORDER BY rowid"
        estimates = self._load(EstimateRecord, f"FROM estimate {rest}", id)
        decisions = self._load(DecisionRecord, f"FROM decision {rest}", id)
        return EvaluationRecord(**row, estimates=tuple(estimates), decisions=tuple(decisions))

    def evaluation(self, number: int) -> EvaluationRecord:
        """One evaluation.

        Parameters
        ----------
        number : int
            Its number; negative numbers count from the newest, which is -1.
        """
        found = self.evaluations()
        numbers = list(found)
        chosen = numbers[number] if number < 0 and len(numbers) >= -number else number
        if chosen not in found:
            problem = f"there is no evaluation {number} in {self.path}"
            hint = f"there are {quote(numbers)}" if numbers else "nothing was stored yet"
            raise InputError(problem, hint=hint)
        return found[chosen]

    # the file: versioned tables, each write on the disk when it returns

    def _migrate(self, connection: sqlite3.Connection) -> None:
        version, application, tables = (
            connection.execute(query).fetchone()[0]
            for query in (
                "PRAGMA user_version",
                "PRAGMA application_id",
                "SELECT count(*) FROM sqlite_master",
            )
        )
        if application != APPLICATION_ID and (tables or version or application):
            problem = f"{self.path} is a database of another program"
            raise InputError(problem, hint="name another file")
        active = connection.execute(
            "SELECT type, name FROM sqlite_master WHERE type IN ('view', 'trigger')"
        ).fetchone()
        if active is not None:  # it would run by itself
            problem = f"{self.path} contains a {active[0]} {active[1]!r}, which ssme never creates"
            hint = "take a copy from before it was put in, or name another file"
            raise InputError(problem, hint=hint)
        if version > len(MIGRATIONS):
            problem = f"{self.path} was written by a newer ssme, with tables of version {version}"
            raise InputError(problem, hint="install a newer ssme, or name another file")
        for step in MIGRATIONS[version:]:
            for statement in filter(str.strip, step.split(";")):
                connection.execute(statement)
        if version < len(MIGRATIONS):
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")

    @contextmanager
    def _write(self) -> Iterator[sqlite3.Connection]:
        """One transaction, or a part of the one that is open: committed whole, or rolled back."""
        connection = self._connection
        is_part: bool = connection.in_transaction
        if is_part:
            yield connection
            return
        with self._name_file_in_errors():
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:  # a full disk has ended it already
                    connection.execute("ROLLBACK")
                raise

    def _execute(self, statement: str, *values: Any, **named: Any) -> list[Any]:
        """One statement as one transaction; the rows that it returns."""
        with self._write() as connection:
            return connection.execute(statement, named or values).fetchall()

    def _fetch(self, query: str, *values: Any, **named: Any) -> list[Any]:
        with self._name_file_in_errors():
            return self._connection.execute(query, named or values).fetchall()

    def _read(self, query: str, *values: Any, **named: Any) -> list[dict[str, Any]]:
        """Rows as dicts, JSON parsed."""
        with self._name_file_in_errors():
            found = self._connection.execute(query, named or values)
            names, rows = [each[0] for each in found.description], found.fetchall()
        with self.refuse_corrupt():
            return [
                {
                    name: json.loads(value) if self._is_json(name, value) else value
                    for name, value in zip(names, row, strict=True)
                }
                for row in rows
            ]

    def _load(self, record: type[R], rest: str, *values: Any, **named: Any) -> list[R]:
        """Rows as records, dataclasses whose fields are columns; ``rest`` begins with FROM."""
        columns = ", ".join(f"[{each.name}]" for each in fields(record))  # type: ignore[arg-type]
        return [record(**row) for row in self._read(f"SELECT {columns} {rest}", *values, **named)]

    def _insert(self, table: str, rows: Iterable[Mapping[str, Any]]) -> int:
        """Add rows; those whose key is there already stay as they are. The number of new ones."""
        with self._write() as connection:
            before = connection.total_changes
            for row in rows:
                columns, places = ", ".join(f"[{name}]" for name in row), ", ".join("?" * len(row))
                connection.execute(
                    f"INSERT INTO {table} ({columns}) VALUES ({places}) ON CONFLICT DO NOTHING",
                    [self._dump(name, value) for name, value in row.items()],
                )
            return connection.total_changes - before

    def _is_json(self, column: str, value: Any) -> bool:
        return column in JSON_COLUMNS and value is not None

    def _dump(self, column: str, value: Any) -> Any:
        return json.dumps(value) if self._is_json(column, value) else value

    @contextmanager
    def _name_file_in_errors(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, UnicodeDecodeError) as error:  # the latter in SQLite's own messages
            raise InputError(f"{self.path}: {error}", hint=ADVICE) from error

    @contextmanager
    def refuse_corrupt(self) -> Iterator[None]:
        """Raise `InputError` for a corrupt record."""
        try:
            yield
        except (ValueError, TypeError, AttributeError, RecursionError) as error:
            if str(self.path) in str(error):
                raise
            problem = f"{self.path} contains a corrupt record: {error}"
            hint = "take a copy from before it was changed, or name another file"
            raise InputError(problem, hint=hint) from error


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
    ssme.errors.InputError: no/such/folder/project.sqlite: there is no folder no/such/folder. \
Make the folder first.
    """
    path = Path(path)
    if not new or os.path.exists(path):
        Memory(path, new=False).close()
    _check_path(path)
    if new and not _is_writable(path):
        raise InputError(f"{path} cannot be written", hint="name a file elsewhere")


def _is_writable(path: Path) -> bool:
    """Whether the file, and the folder in which it keeps its log, can be written to."""
    return all(os.access(each, os.W_OK) for each in (path.parent, path) if each.exists())


def _check_path(path: Path) -> None:
    try:
        has_folder, is_other = path.parent.is_dir(), path.exists() and not path.is_file()
    except OSError as error:  # such as a name that is too long
        raise InputError(f"{str(path)[:80]}: {error.strerror}", hint="name another file") from None
    if not has_folder:
        raise InputError(f"{path}: there is no folder {path.parent}", hint="make the folder first")
    if is_other:
        raise InputError(f"{path} is not a regular file", hint="name another file")
