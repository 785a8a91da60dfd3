"""Errors and warnings: what we got, what is allowed, what to do.

A message may name an argument with `argument`. It is spelled when the message is shown, in the
words of whoever asked: ``n_draws=5`` to a caller of Python, ``--draws 5`` on the command line.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import Any

from ssme.wording import make_printable, suggest_nearest

__all__ = [
    "ConvergenceWarning",
    "InputError",
    "MissingExtraError",
    "SsmeWarning",
    "UndefinedMetricWarning",
    "UnsupportedError",
    "argument",
    "make_unknown_name_error",
    "name_argument",
    "translate_foreign_errors",
]

Spelling = Callable[[str, str | None], str]
"""How an argument and its value (None: the argument alone) are written."""

LONGEST_PART = 2_000
"""Characters of a part of a message that are shown; what follows is left out, openly."""

_OPEN, _VALUE, _CLOSE = "\ufdd0", "\ufdd1", "\ufdd2"
"""Unicode noncharacters, which no text that people exchange may hold."""

_ARGUMENT = re.compile(f"{_OPEN}([^{_VALUE}{_CLOSE}]*)(?:{_VALUE}([^{_CLOSE}]*))?{_CLOSE}")


def argument(name: str, value: object = None) -> str:
    """Name an argument in a message, in the words of whoever will read the message.

    Parameters
    ----------
    name : str
        The name in Python, such as ``"n_draws"``.
    value : object, optional
        A value to show with it; text is shown as it is.

    Returns
    -------
    str
        Text to put into the parts of an `InputError`.

    Examples
    --------
    >>> print(InputError(f"{argument('n_draws', 0)} is too small"))
    n_draws=0 is too small.
    """
    shown = "" if value is None else _VALUE + (value if isinstance(value, str) else repr(value))
    return f"{_OPEN}{name}{shown}{_CLOSE}"


def spell_in_python(name: str, value: str | None) -> str:
    """``name=value``, or the name alone."""
    return name if value is None else f"{name}={value}"


class InputError(ValueError):
    """Bad input, described in three parts: what was found, what is allowed, what to do.

    Parameters
    ----------
    got : str
        What was found.
    allowed : str, optional
        What would have been accepted.
    fix : str, optional
        What to do about it.

    Examples
    --------
    >>> print(InputError("there are 3 rows", allowed="at least 10 rows", fix="add rows"))
    there are 3 rows. Allowed: at least 10 rows. Fix: add rows.
    """

    def __init__(self, got: str, *, allowed: str | None = None, fix: str | None = None) -> None:
        self.got, self.allowed, self.fix = got, allowed, fix
        super().__init__(self.spell(spell_in_python))

    def spell(self, spelling: Spelling) -> str:
        """Write the message for a reader.

        Parameters
        ----------
        spelling : callable
            ``spelling(name, value)`` writes an argument: as ``n_draws=5`` in Python, or as
            ``--draws 5`` on the command line. The value is None where it is named alone.

        Returns
        -------
        str
            The message.
        """
        parts = [self.got]
        if self.allowed:
            parts.append(f"Allowed: {self.allowed}")
        if self.fix:
            parts.append(f"Fix: {self.fix}")
        return " ".join(_end_sentence(_spell(part, spelling)) for part in parts)

    def __reduce__(self) -> tuple[Any, ...]:
        return _make_again, (type(self), self.got, self.allowed, self.fix)


def _make_again(
    kind: type[InputError], got: str, allowed: str | None, fix: str | None
) -> InputError:
    return kind(got, allowed=allowed, fix=fix)


@contextmanager
def name_argument(name: str) -> Iterator[None]:
    """Let an `InputError` that is raised in the block name an argument, unless it already does.

    What refuses a value often does not know who asked for it: a metric is unknown whether it was
    named by ``metrics``, ``--metric`` or ``--fail-under``.

    Parameters
    ----------
    name : str
        The name of the argument in Python.

    Examples
    --------
    >>> with name_argument("metrics"):
    ...     raise InputError("unknown metric 'acuracy'")
    Traceback (most recent call last):
    ssme.errors.InputError: metrics: unknown metric 'acuracy'.
    """
    try:
        yield
    except InputError as error:
        told = (error.got, error.allowed or "", error.fix or "")
        if any(found[1] == name for part in told for found in _ARGUMENT.finditer(part)):
            raise
        got = f"{argument(name)}: {error.got}"
        raise _make_again(type(error), got, error.allowed, error.fix) from error.__cause__


def make_unknown_name_error(
    what: str, name: object, known: Collection[str], fix: str = "name one of these"
) -> InputError:
    """The error for a name that is none of those ``known``, with the nearest of them.

    Parameters
    ----------
    what : str
        What it names, such as ``"method"``.
    name : object
        The name that was given.
    known : collection of str
        The names there are.
    fix : str
        What to do, beside taking the nearest name.

    Returns
    -------
    InputError

    Examples
    --------
    >>> print(make_unknown_name_error("mode", "fasst", ("fast", "slow")))
    unknown mode 'fasst'. Allowed: fast, slow. Fix: did you mean 'fast'? name one of these.
    """
    near = suggest_nearest(name, known)
    return InputError(f"unknown {what} {name!r}", allowed=", ".join(known), fix=near + fix)


class UnsupportedError(InputError):
    """A method or metric was asked for something it declares it cannot do."""


class MissingExtraError(ImportError):
    """An optional dependency is missing; the message names the extra to install.

    Parameters
    ----------
    what : str
        What needs the dependency, such as ``"reading Excel files"``.
    extra : str
        Name of the extra of ssme that installs it.

    Examples
    --------
    >>> print(MissingExtraError("reading Excel files", "excel"))
    reading Excel files needs the extra `excel`: pip install 'ssme[excel]'
    """

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs the extra `{extra}`: pip install 'ssme[{extra}]'")
        self.what, self.extra = what, extra

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.what, self.extra)


class SsmeWarning(UserWarning):
    """Base of every warning this package gives; its text is safe for a terminal."""

    def __init__(self, message: str = "") -> None:
        self._message = message
        super().__init__(self.spell(spell_in_python))

    def spell(self, spelling: Spelling) -> str:
        """Write the message for a reader, as `InputError.spell` does.

        Parameters
        ----------
        spelling : callable
            ``spelling(name, value)`` writes an argument.

        Returns
        -------
        str
            The message.
        """
        return _spell(self._message, spelling)


class UndefinedMetricWarning(SsmeWarning):
    """A metric is undefined on these rows (one class only, no rows) and is NaN."""


class ConvergenceWarning(SsmeWarning):
    """An iterative fit stopped before it converged."""


@contextmanager
def translate_foreign_errors(
    doing: str, *, allowed: str | None = None, fix: str | None = None
) -> Iterator[None]:
    """Turn an exception of another library, raised in the block, into an `InputError`.

    This is the one place where that happens. Exceptions and warnings of ssme, a missing extra, a
    missing file or permission (an `OSError` names its file by itself, unless a library asked the
    system for what is no place in the file) and what is not the fault of the input (`MemoryError`,
    an interrupt) pass through unchanged.

    Parameters
    ----------
    doing : str
        What was attempted, with the name of the file: ``"reading scores.npz"``.
    allowed : str, optional
        What would have been accepted.
    fix : str, optional
        What to do about it.

    Examples
    --------
    >>> with translate_foreign_errors("reading scores.json"):
    ...     raise ValueError("no number")
    Traceback (most recent call last):
    ssme.errors.InputError: reading scores.json failed: ValueError: no number.
    """
    try:
        yield
    except (InputError, MissingExtraError, SsmeWarning, MemoryError):
        raise
    except OSError as error:
        if error.errno not in (None, errno.EINVAL):
            raise
        raise _translate(error, doing, allowed, fix) from error
    except Exception as error:
        raise _translate(error, doing, allowed, fix) from error


def _translate(error: Exception, doing: str, allowed: str | None, fix: str | None) -> InputError:
    return InputError(f"{doing} failed: {_find_reason(error)}", allowed=allowed, fix=fix)


def _find_reason(error: Exception) -> str:
    text = str(error).strip()
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _spell(part: str, spelling: Spelling) -> str:
    text = _ARGUMENT.sub(lambda found: spelling(found[1], found[2]), part)
    text = make_printable(text)
    if len(text) > LONGEST_PART:
        left = len(text) - LONGEST_PART
        text = f"{text[:LONGEST_PART]}... ({left:,} more characters)"
    return text


def _end_sentence(text: str) -> str:
    text = text.strip()
    return text if text.endswith((".", "!", "?", ":")) else text + "."
