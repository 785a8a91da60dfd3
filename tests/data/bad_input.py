"""A table of calls that must fail, and what their errors must say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ssme.errors import InputError

__all__ = ["Bad", "check"]


@dataclass(frozen=True)
class Bad:
    """A call that must fail; ``got``, ``allowed`` and ``fix`` are parts of the message."""

    kind: str
    call: Callable[..., Any]
    got: str
    allowed: str
    fix: str


def check(error: InputError, case: Any) -> None:
    """What was found and where, what is allowed and what to do, in this order."""
    for expected in (case.got, case.allowed, case.fix):
        assert expected.lower() in str(error).lower().replace("`", ""), str(error)
