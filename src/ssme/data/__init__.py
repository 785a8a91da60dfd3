"""The one door in: `ScoreSet` from arrays, frames and files.

Names are imported when they are first used, so that the set itself brings no reader along.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ssme.data.layout import Layout
    from ssme.data.readers.reading import as_score_set, read_scores, reading_options
    from ssme.data.scoreset import UNLABELED, ScoreSet
    from ssme.schema import ReadOptions

__all__ = [
    "UNLABELED",
    "Layout",
    "ReadOptions",
    "ScoreSet",
    "as_score_set",
    "read_scores",
    "reading_options",
]

_EXPORTS = {
    "UNLABELED": "ssme.data.scoreset",
    "Layout": "ssme.data.layout",
    "ReadOptions": "ssme.schema",
    "ScoreSet": "ssme.data.scoreset",
    "as_score_set": "ssme.data.readers.reading",
    "read_scores": "ssme.data.readers.reading",
    "reading_options": "ssme.data.readers.reading",
}


def __getattr__(name: str) -> Any:
    if name not in _EXPORTS:
        raise AttributeError(f"module 'ssme.data' has no attribute {name!r}")
    return getattr(import_module(_EXPORTS[name]), name)
