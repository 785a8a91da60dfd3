"""The one place where names become safe for a chart.

The drawing library aborts the whole process on a control character and fails on half an emoji,
which its own shortening of labels produces. So every text of a specification is made printable
here, labels are cut here (and the library's own cutting is switched off), and labels that would
read the same are numbered, so that two models never share a place on an axis.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ssme.wording import make_distinct, make_printable, shorten

__all__ = ["LABEL_WIDTH", "cut_name", "make_names_safe"]

LABEL_WIDTH = 26
"""Columns of a name on an axis or above a panel."""
TITLE_WIDTH = 90
NAME_WIDTH = 60
WORDS = "words"
"""Key of a data row under which the description of its mark is kept."""
LONGEST = 2_000
"""Characters of a description."""


def cut_name(name: object) -> str:
    """A name inside a sentence about a chart."""
    return shorten(str(name), NAME_WIDTH)


def make_names_safe(spec: dict[str, Any]) -> dict[str, Any]:
    """``spec`` with every name printable, of bounded length and different from all others."""
    labels = make_distinct(_list_labels(spec), LABEL_WIDTH)
    safe: dict[str, Any] = _rewrite(spec, "", labels.__getitem__)
    return safe


def _list_labels(part: Any, key: str = "") -> Iterator[str]:
    """The texts of ``part`` that the chart uses as names: cells of data, sort orders, domains."""
    if isinstance(part, dict):
        for name, value in part.items():
            yield from _list_labels(value, name)
    elif isinstance(part, list):
        if key in ("sort", "domain"):
            yield from (item for item in part if isinstance(item, str))
        elif key == "values":
            for row in part:
                yield from (v for k, v in row.items() if isinstance(v, str) and k != WORDS)
        else:
            for item in part:
                yield from _list_labels(item)


def _rewrite(part: Any, key: str, label: Callable[[str], str]) -> Any:
    if isinstance(part, dict):
        return {name: _rewrite(value, name, label) for name, value in part.items()}
    if isinstance(part, list):
        if key in ("sort", "domain"):
            return [label(item) if isinstance(item, str) else item for item in part]
        if key == "values":
            return [_rewrite_row(row, label) for row in part]
        return [_rewrite(item, "", label) for item in part]
    if isinstance(part, str):
        if key in ("title", "text"):
            return shorten(part, TITLE_WIDTH)
        if key == "description":
            return make_printable(part)[:LONGEST]
    return part


def _rewrite_row(row: dict[str, Any], label: Callable[[str], str]) -> dict[str, Any]:
    return {
        key: value
        if not isinstance(value, str)
        else make_printable(value)[:LONGEST]
        if key == WORDS
        else label(value)
        for key, value in row.items()
    }
