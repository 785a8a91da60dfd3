"""The one door in: `ScoreSet` from arrays, frames and files.

Names are imported when they are first used, so that the set itself brings no reader along.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ssme.data.arrays import Layout
    from ssme.data.readers.reading import as_score_set
    from ssme.data.scoreset import UNLABELED, ScoreSet
    from ssme.schema import ReadOptions

__all__ = ["UNLABELED", "Layout", "ReadOptions", "ScoreSet", "as_score_set"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'ssme.data' has no attribute {name!r}")
    rooms = {
        "Layout": "data.arrays",
        "ReadOptions": "schema",
        "as_score_set": "data.readers.reading",
    }
    return getattr(import_module(f"ssme.{rooms.get(name, 'data.scoreset')}"), name)
