"""Errors and warnings.

A message names options as Markdown code in the spelling of Python: "Pass `decimal=','`." The
command line and the page spell them in their own way when they show it (`spell_options`).
"""

from __future__ import annotations

import copy
import errno
import re
import sys
import warnings
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import Any, Self

from ssme.wording import cut_end, make_printable, suggest_nearest

__all__ = [
    "ConvergenceWarning",
    "InputError",
    "MissingExtraError",
    "SsmeWarning",
    "UndefinedMetricWarning",
    "UnsupportedError",
]

Spelling = Callable[[str, str | None], str | None]
"""Spells an option with its value (None: the name alone); None for a name it does not know."""

LONGEST_PART = 2_000
"""Characters of a sentence that are shown; it says how many more there are."""

MISSING: Any = object()

_OPTION = re.compile(r"`(\w+)(?:=([^`]*))?`")
_START = re.compile(r"^[a-z]|(?<=\? )[a-z]")


def spell_options(text: str, spelling: Spelling) -> str:
    """``text`` with every option in it spelled by ``spelling``.

    Examples
    --------
    >>> spell_options("Pass `decimal=','`.", lambda name, value: f"--{name} {value}")
    "Pass --decimal ','."
    """
    return _limit(_OPTION.sub(lambda found: spelling(found[1], found[2]) or found[0], text))


class InputError(ValueError):
    """Bad input: what is wrong with it, and what to do.

    Parameters
    ----------
    problem : str, optional
        What is wrong, where it is not the value of an option.
    option : str, optional
        Name of the option, in Python.
    value : object, optional
        The value that was given.
    must : str, optional
        What the option must be or do: ``"be between 0 and 1"``.
    hint : str, optional
        What to do.

    Examples
    --------
    >>> print(InputError(option="level", value=2, must="be between 0 and 1"))
    level must be between 0 and 1, got 2.
    >>> print(InputError("there are 3 rows", hint="add rows"))
    there are 3 rows. Add rows.
    """

    def __init__(
        self,
        problem: str | None = None,
        *,
        option: str | None = None,
        value: object = MISSING,
        must: str | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(problem)
        self.problem = problem
        self.option = option
        self.value = None if value is MISSING else cut_end(_show_value(value), 80)
        self.must = must
        self.hint = hint
        self.place: str | None = None

    def __str__(self) -> str:
        return self.spell()

    def spell(self, spelling: Spelling | None = None) -> str:
        """The message with its options as a command line or a form spells them.

        Parameters
        ----------
        spelling : callable, optional
            ``spelling(name, value)`` spells an option and its value (None: the name alone), or
            gives None for a name it does not know. In Python it is ``name=value``.
        """
        return " ".join(self.list_sentences(spelling))

    def list_sentences(self, spelling: Spelling | None = None) -> list[str]:
        """The sentences of the message: what is wrong, then what to do.

        Parameters
        ----------
        spelling : callable, optional
            As in `spell`.
        """
        told = self.problem or ""
        if self.option is not None:
            option = (spelling(self.option, None) if spelling else None) or self.option
            if self.must is not None:
                told = f"{option} must {self.must}"
                told += "" if self.value is None else f", got {self.value}"
                told += f": {self.problem}" if self.problem else ""
            else:
                told = f"{option}: {told}"
        if self.place is not None:
            told = f"{self.place}: {told}"
        sentences = [told]
        if self.hint:
            sentences.append(_START.sub(lambda found: found[0].upper(), self.hint))
        spell = spelling or _spell_in_python
        return [_end_sentence(spell_options(each, spell)) for each in sentences]

    def at(self, place: str) -> Self:
        """The same error, which says where it is.

        Parameters
        ----------
        place : str
            What the message starts with, such as ``"part-3.csv, rows from 10 on"``.
        """
        found = copy.copy(self)
        found.place = place if self.place is None else f"{place}: {self.place}"
        return found

    def _names(self, option: str) -> bool:
        """Whether the message names this option."""
        return self.option == option or any(
            found[1] == option
            for part in (self.problem, self.must, self.hint)
            for found in _OPTION.finditer(part or "")
        )


def _show_value(value: object) -> str:
    """2 rather than 2.0: the command line reads a float where 2 was written."""
    shown = repr(float(value)).removesuffix(".0") if isinstance(value, float) else repr(value)
    return f"a {type(value).__name__}" if "\n" in shown else shown  # a table is no line of text


def _spell_in_python(name: str, value: str | None) -> str:
    return name if value is None else f"{name}={value}"


@contextmanager
def name_argument(name: str) -> Iterator[None]:
    """Let an `InputError` that is raised in the block name an option, unless it already does.

    What refuses a value often does not know who asked for it: a metric is unknown whether it was
    named by ``metrics``, ``--metrics`` or ``--fail-under``.

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
        if error._names(name) or error.option is not None:
            raise
        named = copy.copy(error)
        named.option = name
        raise named from error.__cause__


def make_unknown_name_error(
    what: str, name: object, known: Collection[str], hint: str = ""
) -> InputError:
    """The error for a name that is not among those ``known``, with the nearest of them.

    Examples
    --------
    >>> print(make_unknown_name_error("mode", "fasst", ("fast", "slow")))
    unknown mode 'fasst'. Did you mean 'fast'? Choose one of: fast, slow.
    """
    choose = f"{suggest_nearest(name, known)}choose one of: {', '.join(known)}"
    return InputError(f"unknown {what} {name!r}", hint=f"{choose}. {hint}" if hint else choose)


class UnsupportedError(InputError):
    """A method or metric was asked for something it declares it cannot do."""


class MissingExtraError(ImportError):
    """An optional dependency is missing; the message names the extra to install.

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
        super().__init__(spell_options(message, _spell_in_python))
        self.text = message


class UndefinedMetricWarning(SsmeWarning):
    """A metric is undefined on these rows (one class only, no rows) and is NaN."""


class ConvergenceWarning(SsmeWarning):
    """An iterative fit stopped before it converged."""


def warn(message: str, kind: type[SsmeWarning] = SsmeWarning) -> None:
    """Give a warning, at the line outside of this package that led to it."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and f"{frame.f_globals.get('__name__')}.".startswith("ssme."):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, kind, stacklevel=level)


@contextmanager
def translate_foreign_errors(doing: str, *, hint: str | None = None) -> Iterator[None]:
    """Turn an exception of another library, raised in the block, into an `InputError`.

    Exceptions and warnings of ssme, a missing extra, a missing file or permission (an `OSError`
    names its file by itself, unless a library asked the system for a place that is not in the
    file) and what is not the fault of the input (`MemoryError`, an interrupt) pass unchanged.

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
    except Exception as error:
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
            raise
        reason = ": ".join(filter(None, (type(error).__name__, str(error).strip())))
        raise InputError(f"{doing} failed: {reason}", hint=hint) from error


def _limit(text: str) -> str:
    text = make_printable(text)
    if len(text) > LONGEST_PART:
        text = f"{text[:LONGEST_PART]}... ({len(text) - LONGEST_PART:,} more characters)"
    return text


def _end_sentence(text: str) -> str:
    text = text.strip()
    return text if text.endswith((".", "!", "?", ":")) else text + "."
