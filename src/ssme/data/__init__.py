"""The one door in: `ScoreSet` from arrays, frames and files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ssme.data.layout import Layout
from ssme.data.scoreset import UNLABELED, ScoreSet
from ssme.errors import InputError

__all__ = ["UNLABELED", "Layout", "ScoreSet", "as_score_set", "read_scores"]

read_scores = ScoreSet.read


def as_score_set(source: Any, labels: object | None = None, **options: Any) -> ScoreSet:
    """A `ScoreSet` from whatever holds scores: a path, a frame, arrays, or a set already made.

    ``options`` are those of `ScoreSet.read`, `ScoreSet.from_frame` or `ScoreSet.from_arrays`.
    A set already made takes new ``labels`` and the option ``unlabeled`` only.
    """
    if isinstance(source, ScoreSet):
        if set(options) - {"unlabeled"} or (options and labels is None):
            raise InputError(
                f"options {', '.join(options)} for a ScoreSet that is already made",
                allowed="new labels, with unlabeled",
                fix="give the options where the ScoreSet is made",
            )
        return source if labels is None else source.with_labels(labels, **options)
    if isinstance(source, str | Path):
        return ScoreSet.read(source, labels, **options)
    from ssme.data.tables import is_frame

    if is_frame(source):
        return ScoreSet.from_frame(source, labels, **options)
    return ScoreSet.from_arrays(source, labels, **options)
