"""A second reader of CSV, written apart from ssme's: Python's ``csv`` and rules in plain Python.

A row with another number of cells than the header is refused. A column whose cells are all whole
numbers, numbers or booleans (or missing) holds these, any other column holds text.
"""

from __future__ import annotations

import csv
import io
import math
import re

MISSING = {"", "NA", "NaN", "nan", "None", "null", "<NA>"}
WHOLE = re.compile(r"[+-]?[0-9]+")
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|[+-]?(inf|infinity)", re.I)
BLANKS = " \t\n\v\f\r"
TRUTH = {"True": True, "TRUE": True, "true": True, "False": False, "FALSE": False, "false": False}


class Refused(Exception):
    """The text is no regular table."""


def parse(content: bytes, delimiter: str) -> dict[str, list[object]]:
    """Column -> values, None where missing."""
    if b"\0" in content:
        raise Refused("NUL")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Refused(str(error)) from None
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True)
    try:
        lines = [row for row in rows if len(row) > 1 or (row and row[0].strip())]
    except csv.Error as error:
        raise Refused(str(error)) from None
    if len(lines) < 2:
        raise Refused("no rows")
    width = len(lines[0])
    if len({len(line) for line in lines[1:]}) > 1 or len(lines[1]) < width:
        raise Refused("no regular table")
    if any(any(line[width:]) for line in lines[1:]):
        raise Refused("cells without a column")
    named = [name for name in lines[0] if name.strip()]
    if len(set(named)) < len(named):
        raise Refused("duplicate columns")
    return {
        name: _parse_cells([line[place] for line in lines[1:]])
        for place, name in enumerate(lines[0])
    }


def _parse_cells(cells: list[str]) -> list[object]:
    known = [cell.strip(BLANKS) for cell in cells if cell not in MISSING]
    if known and all(WHOLE.fullmatch(cell) for cell in known):
        return [None if cell in MISSING else int(cell) for cell in cells]
    if known and all(NUMBER.fullmatch(cell) for cell in known):
        return [None if cell in MISSING else _make_plain(float(cell)) for cell in cells]
    if known and all(cell in TRUTH for cell in known):
        return [None if cell in MISSING else TRUTH[cell.strip(BLANKS)] for cell in cells]
    return [None if cell in MISSING or not cell.strip() else cell for cell in cells]


def _make_plain(number: float) -> float | int:
    return int(number) if math.isfinite(number) and number.is_integer() else number
