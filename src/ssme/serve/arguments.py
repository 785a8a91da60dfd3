"""What ``ssme serve`` can be told on the command line, declared once.

`ssme.cli.serve` makes the command and its help of it. A command line that is plainly right is read
here (`read_plainly`), before anything large is imported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ssme.errors import InputError
from ssme.serve.settings import ServeSettings

__all__ = ["ARGUMENTS", "Argument", "make_settings", "read_plainly"]

WHERE = "Where it listens"
LIMITS = "Limits"
SHORTEST_PASSWORD = 8


@dataclass(frozen=True)
class Argument:
    """One argument: ``--name VALUE``, a flag without a value, or the file."""

    name: str
    kind: type
    help: str
    default: Any = None
    short: str = ""
    panel: str | None = None

    @property
    def flag(self) -> str:
        return f"--{self.name.replace('_', '-')}"


_DEFAULT = ServeSettings()

FILE = Argument("file", Path, "File of scores to open at once.")
ARGUMENTS = (
    FILE,
    Argument("project", Path, "Folder that keeps labels and results.", _DEFAULT.project, "-p"),
    Argument("root", Path, "Folder in which files may be opened by path."),
    Argument("no_browser", bool, "Do not open the page in a browser.", False),
    Argument("read_only", bool, "Show everything and change nothing.", False),
    Argument("batch", int, "Number of labels between updates of the estimates.", _DEFAULT.batch),
    Argument("host", str, "Address to listen at.", _DEFAULT.host, panel=WHERE),
    Argument("port", int, "Port to listen at; 0 takes a free one.", _DEFAULT.port, panel=WHERE),
    Argument(
        "password_file",
        Path,
        "File whose first line is the password; needed where others can reach --host.",
        panel=WHERE,
    ),
    Argument(
        "upload_mb", int, "Largest size of an upload in MB.", _DEFAULT.upload_mb, panel=LIMITS
    ),
    Argument(
        "job_seconds", int, "Longest time of a job in seconds.", _DEFAULT.job_seconds, panel=LIMITS
    ),
    Argument("job_mb", int, "Largest memory of a job in MB.", _DEFAULT.job_mb, panel=LIMITS),
)


def read_plainly(words: Sequence[str]) -> dict[str, Any] | None:
    """The arguments that ``words`` give; None where a parser has to read, help or refuse.

    Examples
    --------
    >>> read_plainly(["scores.csv", "--port", "0"])["port"]
    0
    >>> read_plainly(["--help"]) is None
    True
    """
    named = {flag: each for each in ARGUMENTS[1:] for flag in (each.flag, each.short) if flag}
    given: dict[str, Any] = {}
    left = list(words)
    while left:
        word = left.pop(0)
        if not word.startswith("-"):
            argument, text = FILE, word
        else:
            flag, equals, text = word.partition("=")
            if flag not in named or (equals and not flag.startswith("--")):
                return None
            argument = named[flag]
            if argument.kind is bool:
                text = "" if equals else "yes"
            elif not equals:
                text = left.pop(0) if left else ""
        if argument.name in given or not _is_plain(argument, text):
            return None
        given[argument.name] = True if argument.kind is bool else argument.kind(text)
    return {each.name: given.get(each.name, each.default) for each in ARGUMENTS}


def _is_plain(argument: Argument, text: str) -> bool:
    """Whether a value can be nothing else than what it seems."""
    if not text or text.startswith("-"):
        return False
    return argument.kind is not int or (text.isascii() and text.isdigit())


def make_settings(given: Mapping[str, Any]) -> ServeSettings:
    """The settings that the arguments ask for; what cannot be served is refused."""
    root, password = given["root"], given["password_file"]
    if root is not None and not root.is_dir():
        raise InputError(f"--root {root} is not a folder", fix="name a folder that is there")
    told = {name: given[name] for name in ServeSettings.__dataclass_fields__ if name in given}
    return ServeSettings(**told, password=None if password is None else _read_password(password))


def _read_password(path: Path) -> str:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise InputError(
            f"--password-file {path} cannot be read: {error}", fix="name a file of text"
        ) from None
    password = lines[0].strip() if lines else ""
    if len(password) < SHORTEST_PASSWORD:
        raise InputError(
            f"--password-file: the password in {path} has {len(password)} characters",
            allowed=f"{SHORTEST_PASSWORD} or more in the first line",
            fix="write a longer one",
        )
    return password
