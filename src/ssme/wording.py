"""Words for messages: short lists, what was probably meant, and text safe for a terminal."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from difflib import get_close_matches

__all__ = ["did_you_mean", "listing", "printable"]

UNSAFE = frozenset(("Cc", "Cs", "Cn", "Zl", "Zp"))
"""Unicode categories that can move a cursor, change colors, or cannot be encoded."""

DIRECTION = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c")
"""Marks that change the direction of the text after them."""


def listing(items: Iterable[object], limit: int = 8) -> str:
    """``'a', 'b', 'c' and 4 more``."""
    names = [repr(item) for item in items]
    if not names:
        return "none"
    shown = ", ".join(names[:limit])
    return shown if len(names) <= limit else f"{shown} and {len(names) - limit} more"


def did_you_mean(name: object, choices: Iterable[object]) -> str:
    """A hint such as "did you mean 'bert'? " or nothing."""
    close = get_close_matches(str(name), [str(choice) for choice in choices], n=3, cutoff=0.6)
    return f"did you mean {' or '.join(repr(match) for match in close)}? " if close else ""


def printable(text: str) -> str:
    """``text`` with every character that a terminal would obey, or cannot encode, escaped.

    Line breaks and tabs stay. A terminal escape sequence becomes visible: ``\\x1b[31m``.
    """
    if text.isprintable():
        return text
    return "".join(_escaped(c) if _is_unsafe(c) else c for c in text)


def _is_unsafe(character: str) -> bool:
    if character in "\n\t":
        return False
    return unicodedata.category(character) in UNSAFE or character in DIRECTION


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
