"""A Hugging Face ``datasets.Dataset`` as a `ScoreSet`, by its own methods; nothing is imported.

A column holds one score per row (P(positive)) or a list of class scores. The names of a
``ClassLabel`` feature name the classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ssme.data.scoreset import ScoreSet
from ssme.errors import InputError
from ssme.wording import listing

__all__ = ["from_huggingface"]

LISTS = (list, tuple, np.ndarray)


def from_huggingface(
    dataset: Any,
    *,
    label: str | None = None,
    models: Sequence[str] | None = None,
    **options: Any,
) -> ScoreSet:
    """Read ``dataset``; ``options`` are those of `ScoreSet.from_frame`."""
    frame = _frame(dataset)
    lists = [name for name in models or frame.columns if _holds_lists(frame, name)]
    if not lists:
        return ScoreSet.from_frame(frame, label=label, models=models, **options)
    if models is not None and len(lists) < len(models):
        single = [name for name in models if name not in lists]
        raise InputError(
            f"{listing(lists)} hold lists of class scores, {listing(single)} single scores",
            allowed="models of one kind",
            fix="give every model a list of class scores",
        )
    names = getattr(dataset.features.get(label), "names", None) if label else None
    labels = None if label is None else _column(frame, label)
    if names is not None:
        options.setdefault("classes", list(names))
        labels = [_class_of(code, names) for code in _column(frame, str(label))]
    for role, key in (("id", "ids"), ("weight", "weights")):
        if role in options:
            options[key] = _column(frame, options.pop(role))
    if "groups" in options:
        options["groups"] = {name: _column(frame, name) for name in options["groups"]}
    scores = {name: _matrix(frame, name) for name in lists}
    return ScoreSet.from_arrays(scores, labels, **options)


def _frame(dataset: Any) -> Any:
    if isinstance(dataset, dict):
        raise InputError(
            f"a dictionary of splits: {listing(list(dataset))}",
            allowed="one split",
            fix=f"pass dataset[{next(iter(dataset), 'train')!r}]",
        )
    if not hasattr(dataset, "to_pandas"):
        raise InputError(
            f"a {type(dataset).__name__}, which cannot be held in memory as it is",
            allowed="a datasets.Dataset",
            fix="load it with streaming=False",
        )
    return dataset.to_pandas()


def _holds_lists(frame: Any, name: str) -> bool:
    filled = _column(frame, name).dropna()
    return len(filled) > 0 and isinstance(filled.iloc[0], LISTS)


def _column(frame: Any, name: str) -> Any:
    if name not in frame.columns:
        raise InputError(f"there is no column {name!r}", allowed=listing(list(frame.columns)))
    return frame[name]


def _matrix(frame: Any, name: str) -> np.ndarray[Any, Any]:
    """(n, K) scores of a column of lists; NaN where a row has none."""
    values = _column(frame, name)
    sizes = {len(value) for value in values.dropna()}
    if len(sizes) != 1:
        raise InputError(
            f"column {name!r} holds lists of lengths {sorted(sizes)}",
            allowed="one score per class in every row",
        )
    (size,) = sizes
    nothing = [np.nan] * size
    rows = [value if isinstance(value, LISTS) else nothing for value in values]
    return np.array(rows, dtype=np.float64)


def _class_of(code: Any, names: Sequence[str]) -> str | None:
    """The name of a ClassLabel's code; -1 is how that feature writes a missing label."""
    return None if code is None or code != code or int(code) < 0 else names[int(code)]
