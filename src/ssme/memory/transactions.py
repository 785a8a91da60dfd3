"""Transactions of a SQLite file, whole or not at all, and errors that name the file."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ssme.errors import InputError

__all__ = ["name_file_in_errors", "read_records", "write_whole"]


@contextmanager
def write_whole(connection: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """One transaction: committed whole, or rolled back."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield connection
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # a full disk has ended it already
            connection.execute("ROLLBACK")
        raise


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
