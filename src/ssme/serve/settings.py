"""What follows from the options of ``ssme serve``: the password, and the folders of the project.

Everything that has to survive a restart lies in the project folder:

    memory.sqlite   labels and evaluations (`ssme.memory`), files, queue, sessions
    uploads/        files that were given through the page
    results/        one folder per finished job, published whole
"""

from __future__ import annotations

import ipaddress
import os
import re
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from ssme.errors import InputError
from ssme.schema import FORMATS, ServeOptions

SUFFIXES = tuple(FORMATS)
"""Files that can be opened."""
LABEL_SUFFIXES = (".csv", ".tsv", ".json", ".jsonl", ".xlsx", ".parquet")
"""Files of labels that can be imported."""
SHORTEST_PASSWORD = 8
MEMORY_FILE = "memory.sqlite"


@dataclass(frozen=True)
class ServeSettings(ServeOptions):
    """Options that can be served, with the password that people have to type first.

    >>> ServeSettings().host
    '127.0.0.1'
    >>> ServeSettings(host="0.0.0.0")
    Traceback (most recent call last):
        ...
    ssme.errors.InputError: host=0.0.0.0 can be reached from other machines, and no password was \
given. Write a password into a file and give it with password_file.
    """

    password: str | None = field(init=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.root is not None and not self.root.is_dir():
            raise InputError(option="root", value=str(self.root), must="be a folder that exists")
        if not is_loopback(self.host) and self.password_file is None:
            raise InputError(
                f"`host={self.host}` can be reached from other machines, and no password was given",
                hint="write a password into a file and give it with `password_file`",
            )
        if self.address is not None and not re.fullmatch(r"https?://[^/?#@\s]+", self.address):
            raise InputError(
                option="address",
                value=self.address,
                must="be http:// or https:// and a host, as in https://labels.example.org",
            )
        if self.certificate is not None:
            self._check_certificate()
        elif self.certificate_key is not None:
            raise InputError(
                "`certificate_key` is of no use without `certificate`", hint="give both, or none"
            )
        password = None if self.password_file is None else _read_password(self.password_file)
        object.__setattr__(self, "password", password)

    def _check_certificate(self) -> None:
        import ssl

        try:
            assert self.certificate is not None
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(self.certificate, self.certificate_key)
        except (OSError, ValueError) as error:  # an SSLError is an OSError
            raise InputError(
                f"the certificate cannot be used: {error}",
                option="certificate",
                hint="give a certificate and its private key without a passphrase, in PEM format",
            ) from None

    @property
    def public_host(self) -> str:
        return (self.address or "").partition("://")[2].lower()

    @property
    def memory_file(self) -> Path:
        return self.project / MEMORY_FILE

    @property
    def old_store_file(self) -> Path:
        """Where ssme 0.4 and before kept all but labels and evaluations."""
        return self.project / "serve.sqlite"

    @property
    def uploads(self) -> Path:
        return self.project / "uploads"

    @property
    def results(self) -> Path:
        return self.project / "results"

    def make_folders(self) -> list[str]:
        """Make the project folder, which only its owner may read; what others can read anyway."""
        for folder in (self.project, self.uploads, self.results):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not self.memory_file.exists():
            self.memory_file.touch(mode=0o600)  # SQLite gives its other files the same
        databases = sorted(self.project.glob("*.sqlite*"))
        return [
            f"Other users of this machine can read {path}."
            for path in (self.uploads, self.results, *databases)
            if not _close_to_others(path)
        ]


def _read_password(path: Path) -> str:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise InputError(
            f"the file cannot be read: {error}", option="password_file", hint="name a file of text"
        ) from None
    password = lines[0].strip() if lines else ""
    if len(password) < SHORTEST_PASSWORD:
        raise InputError(
            f"the password in {path} has {len(password)} characters",
            option="password_file",
            hint=f"write {SHORTEST_PASSWORD} or more into the first line",
        )
    return password


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
