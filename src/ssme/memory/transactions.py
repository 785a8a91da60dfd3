"""Transactions of a SQLite file, whole or not at all, and errors that name the file."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ssme.errors import InputError

__all__ = ["name_file_in_errors", "write_whole"]


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
    except sqlite3.Error as error:
        raise InputError(f"{path}: {error}", fix=fix) from error
