"""A `ScoreSet` from whatever holds scores: the kind of the source chooses the reader."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

from ssme.data.readers.huggingface import is_dataset
from ssme.data.readers.options import ReadOptions
from ssme.data.readers.sources import FILE_OPTIONS
from ssme.data.readers.tables import is_frame
from ssme.data.scoreset import ScoreSet
from ssme.errors import InputError
from ssme.options import list_declared

__all__ = ["as_score_set", "read_scores", "reading_options"]

read_scores = ScoreSet.read


def as_score_set(source: Any, labels: object | None = None, **options: Any) -> ScoreSet:
    """Make a `ScoreSet` of whatever holds scores.

    Parameters
    ----------
    source : ScoreSet, str, pathlib.Path, data frame, Hugging Face dataset, array or dict
        A set already made, the path of a file, a frame, a ``datasets.Dataset``, or arrays.
    labels : optional
        As in `ScoreSet.read`, `ScoreSet.from_frame` or `ScoreSet.from_arrays`.
    **options
        Those of the same three. A set already made takes new ``labels`` and the option
        ``unlabeled`` only.

    Returns
    -------
    ScoreSet

    Examples
    --------
    >>> from ssme.data import as_score_set
    >>> as_score_set({"bert": [0.9, 0.2], "gpt": [0.6, 0.4]}, [1, None])
    ScoreSet(rows: 2, labeled: 1 (0: 0, 1: 1), 2 models: bert, gpt)
    """
    if isinstance(source, ScoreSet):
        if set(options) - {"unlabeled"} or (options and labels is None):
            raise InputError(
                f"{', '.join(options)} cannot be given for a ScoreSet that is already made",
                allowed="new labels, with unlabeled",
                fix="give the options where the ScoreSet is made",
            )
        return source if labels is None else source.with_labels(labels, **options)
    if isinstance(source, str | Path):
        return ScoreSet.read(source, labels, **options)
    if is_frame(source):
        return ScoreSet.from_frame(source, labels, **options)
    if is_dataset(source):
        return ScoreSet.from_huggingface(source, labels, **options)
    return ScoreSet.from_arrays(source, labels, **options)


def reading_options(source: Any) -> list[str]:
    """Names of the options that `as_score_set` may take for ``source``.

    A set already made stands for whatever it was made from; which options fit a file is left to
    its reader.
    """
    of_tables = [each.name for each in list_declared(ReadOptions)]
    parameters = inspect.signature(ScoreSet.from_arrays).parameters.values()
    of_arrays = [each.name for each in parameters if each.kind == each.KEYWORD_ONLY]
    if isinstance(source, ScoreSet | str | Path):
        return list(dict.fromkeys([*of_tables, *of_arrays]))
    if not is_frame(source) and not is_dataset(source):
        return of_arrays
    return [name for name in of_tables if name not in (*FILE_OPTIONS, "labels")]
