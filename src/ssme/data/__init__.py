"""The one door in: `ScoreSet` from arrays, frames and files."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

from ssme.data.layout import Layout
from ssme.data.scoreset import UNLABELED, ScoreSet
from ssme.errors import InputError

__all__ = ["UNLABELED", "Layout", "ScoreSet", "as_score_set", "read_scores", "reading_options"]

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
    from ssme.data.readers.tables import is_frame

    if is_frame(source):
        return ScoreSet.from_frame(source, labels, **options)
    return ScoreSet.from_arrays(source, labels, **options)


def reading_options(source: Any) -> list[str]:
    """Names of the options that `as_score_set` may take for ``source``.

    A set already made stands for whatever it was made from; which options fit a file is left to
    its reader.
    """
    from ssme.data.readers.tables import is_frame

    doors: list[Any] = [ScoreSet.from_frame, ScoreSet.from_arrays]
    if isinstance(source, str | Path):
        doors.append(ScoreSet.read)
    elif not isinstance(source, ScoreSet):
        doors = doors[:1] if is_frame(source) else doors[1:]
    return list(
        dict.fromkeys(
            parameter.name
            for door in doors
            for parameter in inspect.signature(door).parameters.values()
            if parameter.kind == parameter.KEYWORD_ONLY
        )
    )
