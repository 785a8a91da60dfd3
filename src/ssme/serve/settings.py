"""What the server may do, declared once and checked: where it listens, what it may read and write.

Everything that has to survive a restart lies in the project folder:

    memory.sqlite   labels and evaluations (`ssme.memory`)
    serve.sqlite    files, mappings, queue, sessions (`ssme.serve.store`)
    uploads/        files that were given through the page
    results/        one folder per finished job, published whole
"""

from __future__ import annotations

import ipaddress
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ssme.errors import InputError, argument
from ssme.options import Declared, Flag, Instance, Nothing, OneOf, Text, Whole, option

__all__ = ["SUFFIXES", "ServeSettings", "is_loopback"]

SUFFIXES = (
    ".csv",
    ".tsv",
    ".parquet",
    ".xlsx",
    ".xlsm",
    ".jsonl",
    ".ndjson",
    ".npz",
    ".npy",
)
"""Files that can be opened: those of the readers, which the server itself does not import."""


@dataclass(frozen=True)
class ServeSettings(Declared):
    """How ``ssme serve`` runs.

    Parameters
    ----------
    project : Path
        Folder that keeps labels, settings and results; it is made where there is none.
    root : Path or None
        Files may be opened by path inside this folder only; None allows no paths.
    host : str
        Address to listen at; one that other machines can reach needs a password.
    port : int
        Port to listen at; 0 takes a free one.
    password : str or None
        What people have to type before they see anything.
    read_only : bool
        Whether everything can be looked at and nothing changed.
    upload_mb : int
        Largest file that can be given through the page, in MB.
    job_seconds : int
        Longest time that a job may take.
    job_mb : int
        Most memory that a job may take, in MB.
    batch : int
        Number of labels after which the estimates are made anew.

    Examples
    --------
    >>> from pathlib import Path
    >>> ServeSettings(Path("project")).host
    '127.0.0.1'
    >>> ServeSettings(Path("project"), host="0.0.0.0")
    Traceback (most recent call last):
        ...
    ssme.errors.InputError: host=0.0.0.0 can be reached from other machines, and no password was \
given. Allowed: 127.0.0.1 without a password. Write a password into a file and give it with \
password_file.
    """

    project: Path = option(Path("ssme-project"), "Folder of the project.", Instance(Path))
    root: Path | None = option(
        None,
        "Folder in which files may be opened by path.",
        OneOf(Nothing("none: files are given through the page"), Instance(Path)),
    )
    host: str = option("127.0.0.1", "Address to listen at.", Text())
    port: int = option(8477, "Port to listen at; 0 takes a free one.", Whole(0, 65535))
    password: str | None = option(
        None, "What people have to type first.", OneOf(Nothing("none"), Text())
    )
    read_only: bool = option(False, "Show everything and change nothing.", Flag())
    upload_mb: int = option(200, "Largest upload, in MB.", Whole(least=1))
    job_seconds: int = option(600, "Longest time that a job may take, in seconds.", Whole(least=1))
    job_mb: int = option(8_000, "Most memory that a job may take, in MB.", Whole(least=100))
    batch: int = option(
        10, "Number of labels after which the estimates are made anew.", Whole(least=1)
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not is_loopback(self.host) and self.password is None:
            raise InputError(
                f"{argument('host', self.host)} can be reached from other machines, and no "
                "password was given",
                allowed="127.0.0.1 without a password",
                fix=f"write a password into a file and give it with {argument('password_file')}",
            )

    @property
    def memory_file(self) -> Path:
        return self.project / "memory.sqlite"

    @property
    def store_file(self) -> Path:
        return self.project / "serve.sqlite"

    @property
    def uploads(self) -> Path:
        return self.project / "uploads"

    @property
    def results(self) -> Path:
        return self.project / "results"

    def make_folders(self) -> list[str]:
        """Make the project folder with what it holds, which only its owner may look into.

        Returns
        -------
        list of str
            What others can read nevertheless, in sentences.
        """
        for folder in (self.project, self.uploads, self.results):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        databases = (self.memory_file, self.store_file)
        for path in databases:
            if not path.exists():
                path.touch(mode=0o600)  # SQLite gives its other files the same
        beside = [path.with_name(path.name + end) for path in databases for end in ("-wal", "-shm")]
        return [
            f"Other users of this machine can read {path}."
            for path in (self.uploads, self.results, *databases, *beside)
            if path.exists() and not _close_to_others(path)
        ]


def _close_to_others(path: Path) -> bool:
    """Take what others may do with a file or folder from them; whether they may do nothing now."""
    if os.name != "posix" or not path.stat().st_mode & 0o077:
        return True
    with suppress(OSError):
        path.chmod(path.stat().st_mode & 0o700)
    return not path.stat().st_mode & 0o077


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach ``host``."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
