"""Words for error messages: short lists, and what was probably meant."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

__all__ = ["did_you_mean", "listing"]


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
