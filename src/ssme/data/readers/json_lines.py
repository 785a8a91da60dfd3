"""JSON Lines: one object per line, ``{"id": 7, "bert": 0.9, "label": "spam"}``.

A key is a column; a line without it, or with null, has no value there. The scores of a model for
every class may be an object, ``{"bert": {"ham": 0.1, "spam": 0.9}}``, which is read as the columns
``bert:ham`` and ``bert:spam``, or a list in the order of the classes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ssme.data.readers.records import make_frame
from ssme.errors import InputError

__all__ = ["open_json_lines"]

SEPARATOR = ":"
"""Between the key of an object and the keys inside it."""
LEAST_CELLS = 10_000_000
HOLES = 100
"""A table of more cells than both allow, per value that the file holds, is no table."""


def open_json_lines(file: Path) -> Any:
    """The pandas frame in a file of JSON Lines."""
    columns: dict[str, dict[int, Any]] = {}
    n_rows = n_cells = 0
    for line, record in _read_records(file):
        for name, value in _read_cells(file, line, record):
            column = columns.setdefault(name, {})
            if n_rows in column:
                raise InputError(
                    f"{file}, line {line}, has the key {name!r} twice",
                    allowed="every key once in an object",
                    fix="rename or remove one of them",
                )
            column[n_rows] = value
            n_cells += 1
        n_rows += 1
    if not columns:
        raise InputError(
            f"{file} is empty",
            allowed="at least one line with an object that has a key",
            fix="check how it was made",
        )
    if n_rows * len(columns) > max(LEAST_CELLS, HOLES * n_cells):
        raise InputError(
            f"{file} has {len(columns):,} different keys in {n_rows:,} lines, nearly all of them "
            "missing on nearly all lines",
            allowed="objects with much the same keys, which are the columns",
            fix="write one object per row, with a key for every column",
        )
    return make_frame(
        {name: [of.get(row) for row in range(n_rows)] for name, of in columns.items()}
    )


def _read_records(file: Path) -> Iterator[tuple[int, list[tuple[str, Any]]]]:
    """Line number and the pairs of the object of each line that is not blank."""
    with file.open("rb") as lines:
        for number, content in enumerate(lines, start=1):
            if not content.strip():
                continue
            try:
                text = content.decode("utf-8-sig" if number == 1 else "utf-8")
                record = json.loads(text, object_pairs_hook=_ObjectPairs)
            except UnicodeDecodeError as error:
                raise InputError(
                    f"{file}, line {number}, is not UTF-8: byte 0x{content[error.start]:02x}",
                    allowed="UTF-8 text",
                    fix="save it as UTF-8, for example: iconv -f latin1 -t utf-8",
                ) from None
            except (ValueError, RecursionError) as error:
                raise InputError(
                    f"{file}, line {number}, is not JSON: {_find_reason(error)}",
                    allowed='an object on every line, such as {"bert": 0.9, "label": 1}',
                    fix="write one object per line, without commas or brackets between lines",
                ) from None
            if not isinstance(record, _ObjectPairs):
                raise InputError(
                    f"{file}, line {number}, holds {_show(record)}, not an object",
                    allowed='an object on every line, such as {"bert": 0.9, "label": 1}',
                    fix="write the names of the columns as keys on every line",
                )
            yield number, record


class _ObjectPairs(list[tuple[str, Any]]):
    """The pairs of an object in their order, of which no repeated key is lost."""


def _read_cells(file: Path, line: int, record: list[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
    """Column and value of each cell of a line."""
    for name, value in record:
        if not isinstance(value, _ObjectPairs):
            yield name, _check_cell(file, line, name, value)
            continue
        for inner, cell in value:
            if isinstance(cell, _ObjectPairs | list):
                raise _tell_too_deep(file, line, name)
            yield f"{name}{SEPARATOR}{inner}", cell


def _check_cell(file: Path, line: int, name: str, value: Any) -> Any:
    if isinstance(value, list) and any(isinstance(each, _ObjectPairs | list) for each in value):
        raise _tell_too_deep(file, line, name)
    return value


def _tell_too_deep(file: Path, line: int, name: str) -> InputError:
    return InputError(
        f"{file}, line {line}: {name!r} holds objects or lists inside one another",
        allowed="a value, a list of class scores, or an object from class to score",
        fix=f"write what is inside {name!r} as keys of their own, or leave it out of the file",
    )


def _find_reason(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    return str(error)


def _show(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 40 else f"{text[:40]}..."
