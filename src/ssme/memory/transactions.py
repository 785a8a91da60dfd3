"""A SQLite file: transactions, whole or not at all, and errors that name the file."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, ClassVar

from ssme.errors import InputError

__all__ = ["SqliteFile", "name_file_in_errors", "read_records"]


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
