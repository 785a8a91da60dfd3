"""Readers by what they read.

`ssme.ScoreSet` knows no reader: a reader registers here, and ``ScoreSet.read`` and its sisters look
it up. Readers are imported when the first of them is asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeVar

__all__ = ["find_reader", "register_reader"]

ReadFunction = TypeVar("ReadFunction", bound=Callable[..., Any])
_readers: dict[str, Callable[..., Any]] = {}


def register_reader(source: str) -> Callable[[ReadFunction], ReadFunction]:
    """Register a function as the reader of a kind of ``source``: "file", "frame", "huggingface"."""

    def register(reader: ReadFunction) -> ReadFunction:
        _readers[source] = reader
        return reader

    return register


def find_reader(source: str) -> Callable[..., Any]:
    """The reader of a kind of ``source``."""
    import_module("ssme.data.readers")
    return _readers[source]
