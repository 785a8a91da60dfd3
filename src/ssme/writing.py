"""The one place where files are written: whole or not at all, never over another unasked.

Content goes to a new file in the target's folder, is flushed to the disk and takes the target's
name in one step. A full disk, a kill or an exception leaves the target as it was; what had been
written of the new file is removed (a kill may leave it, under a name that ends in ``.unfinished``).
"""

from __future__ import annotations

import errno
import os
import re
import stat
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from ssme.errors import InputError

_FORMULA = re.compile(r"'*(\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r])")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EMFILE, errno.ENFILE)
"""Errors that no other name would avoid."""

UNFINISHED = ".unfinished"
"""How the name of a file ends while it is being written."""


@contextmanager
def open_whole(path: str | Path) -> Iterator[IO[bytes]]:
    """A binary file that appears under the name ``path`` when the block ends without an error."""
    target = Path(path)
    if _is_special(target):
        with _name_in_errors(target), target.open("wb") as file:
            yield file
        return
    try:
        target = target.resolve()
        _check_place(target)
        handle, name = tempfile.mkstemp(
            prefix=f".{target.name[:80]}.", suffix=UNFINISHED, dir=target.parent
        )
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        if isinstance(error, OSError) and error.errno in _FULL:
            raise _name_path(error, target) from error
        raise _explain_unwritable(target, error) from None
    unfinished = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            with _name_in_errors(target):
                file.flush()
                os.fsync(file.fileno())
        with _name_in_errors(target):
            unfinished.chmod(_find_mode(target))
            os.replace(unfinished, target)
    except BaseException as error:
        with suppress(OSError):
            unfinished.unlink()
        if isinstance(error, OSError) and error.filename in (None, name):
            raise _name_path(error, target) from error
        raise


def write_bytes(path: str | Path, content: bytes) -> None:
    """Write ``content`` to ``path``, whole or not at all."""
    with open_whole(path) as file:
        file.write(content)


def write_text(path: str | Path, text: str) -> None:
    """Write ``text`` as UTF-8, lone surrogates escaped (``\\udc80``), whole or not at all."""
    write_bytes(path, encode_text(text))


def encode_text(text: str) -> bytes:
    """``text`` in UTF-8; a lone surrogate becomes its escape."""
    return text.encode("utf-8", errors="backslashreplace")


def format_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows with the same keys as CSV with a header; None and NaN are empty cells.

    Text that a spreadsheet would run as a formula (it begins with ``=``, ``+``, ``-`` or ``@`` and
    is not a number) gets an apostrophe before it, which spreadsheets show as text.

    Examples
    --------
    >>> print(format_csv([{"model": "=1+1", "accuracy": 0.5}, {"model": "-1", "accuracy": None}]))
    model,accuracy
    '=1+1,0.5
    -1,
    <BLANKLINE>
    """
    if not rows:
        return ""
    lines = [list(rows[0]), *(row.values() for row in rows)]
    return "".join(",".join(map(_format_cell, line)) + "\n" for line in lines)


def protect_formula(text: str) -> str:
    """``text`` with an apostrophe before it where a spreadsheet would run it as a formula.

    So does text that already has apostrophes before a formula, so that nothing is lost when one is
    taken off again (`restore_formula`).
    """
    return "'" + text if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text


def restore_formula(text: str) -> str:
    """``text`` without the apostrophe of `protect_formula`; other apostrophes stay."""
    bare = text.removeprefix("'")
    return bare if bare != text and protect_formula(bare) == text else text


def _format_cell(value: Any) -> str:
    if value is None or value != value:
        return ""
    text = str(value)
    if isinstance(value, str):
        text = protect_formula(text)
    if any(mark in text for mark in ',"\r\n') or text != text.strip():
        return '"' + text.replace('"', '""') + '"'
    return text


def refuse_existing(path: str | Path, *, force: bool = False) -> None:
    """Refuse to overwrite ``path`` unless ``force`` is set, or to write to a missing folder."""
    target = Path(path)
    _check_place(target)
    if target.exists() and not force and not _is_special(target):
        raise InputError(f"{target} exists", hint="name another file, or add --force")
    if not os.access(target if _is_special(target) else target.parent, os.W_OK):
        raise _explain_unwritable(target, PermissionError(errno.EACCES, os.strerror(errno.EACCES)))


def _check_place(target: Path) -> None:
    """Refuse a name that is a folder's, or in no folder."""
    try:
        target.parent.stat(), os.lstat(target)
    except FileNotFoundError:
        pass
    except (OSError, ValueError) as error:
        raise _explain_unwritable(target, error) from None
    if target.is_dir():
        raise InputError(f"{target} is a folder", hint="name a file")
    if not target.parent.is_dir():
        problem = f"{target}: there is no folder {target.parent}"
        raise InputError(problem, hint="make the folder first, or name another one")


def _explain_unwritable(target: Path, error: OSError | ValueError) -> InputError:
    reason = error.strerror if isinstance(error, OSError) else str(error)
    return InputError(f"{target} cannot be written: {reason}", hint="name a file elsewhere")


def _is_special(path: Path) -> bool:
    """Whether ``path`` is a device or pipe, such as /dev/stdout, which cannot be replaced."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _find_mode(path: Path) -> int:
    """The permissions of ``path``, or those that a new file gets."""
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except OSError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask


@contextmanager
def _name_in_errors(path: Path) -> Iterator[None]:
    """Let an operating system's error name ``path``."""
    try:
        yield
    except OSError as error:
        raise _name_path(error, path) from error


def _name_path(error: OSError, path: Path) -> OSError:
    return type(error)(error.errno, error.strerror or str(error), str(path))
