"""Tables of Python values: Excel sheets (.xlsx, .xlsm), JSON Lines and JSON.

Excel: the first row names the columns. Values are taken as Excel last computed them; nothing is
computed and no macro runs. A number stored as text stays text.

JSON Lines: one object per line, ``{"id": 7, "bert": 0.9, "label": "spam"}``; a JSON file has a list
of them. An object without a key, or with null, has no value there. The scores of a model for every
class may be an object, ``{"bert": {"ham": 0.1, "spam": 0.9}}``, which is read as the columns
``bert:ham`` and ``bert:spam``, or a list in the order of the classes. Objects inside objects are
joined in the same way, and of a list of objects each is called by the name in it:
``[{"judge": "ann", "answer": 1}]`` is the column ``ann``.
"""

from __future__ import annotations

import codecs
import json
import warnings
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from ssme.data.readers.csv_files import MISSING_TEXT, number_columns, open_content, refuse_data
from ssme.data.values import EXACT_INTEGER, to_objects
from ssme.data.writing import make_frame
from ssme.errors import InputError, MissingExtraError, translate_foreign_errors
from ssme.wording import cut_end, quote, suggest_nearest

Row = list[Any]

UNPACKED_BYTES = 1 << 26
UNPACKED_TIMES = 100
"""An Excel file may unpack to the larger of this many bytes and this many times its size."""
MOST_ROWS = 1 << 20
LEAST_CELLS = 10_000_000
NAMING = ("model", "judge", "name", "annotator", "rater", "worker", "classifier", "labeler")
"""Keys of an object in a list that say whose it is."""
DEEPEST = 5
"""How deep objects may be inside one another."""
HOLES = 100
"""More cells than `LEAST_CELLS` and than `HOLES` per value are not a table."""


# -------------------------------------------------------------------------------------------------
# Excel


def open_excel(
    file: Path,
    sheet: str | None = None,
    classes: Sequence[object] | None = None,
    no_header: bool = False,
) -> Any:
    """The pandas frame in a sheet of an Excel file; text that names a class is never missing."""
    try:
        import openpyxl
    except ImportError:
        raise MissingExtraError("reading Excel files", "excel") from None
    cure = "save it as .xlsx again, or as CSV"
    with (
        translate_foreign_errors(f"reading {file}", hint=cure),
        warnings.catch_warnings(),
        file.open("rb") as content,
    ):
        warnings.simplefilter("ignore")
        with zipfile.ZipFile(content) as archive:
            unpacked = sum(member.file_size for member in archive.infolist())
        if unpacked > max(UNPACKED_BYTES, UNPACKED_TIMES * file.stat().st_size):
            problem = f"{file} unpacks to {unpacked:,} bytes"
            raise InputError(problem, hint="save the sheet as CSV or Parquet")
        book = openpyxl.load_workbook(content, read_only=True, data_only=False)
        try:
            names = [each.title for each in book.worksheets]
            if sheet is not None and sheet not in names:
                problem = f"{file} has no sheet {sheet!r}, only {quote(names, limit=20)}"
                hint = f"{suggest_nearest(sheet, names)}name one with `sheet`"
                raise InputError(problem, hint=hint)
            filled = [sheet] if sheet else [n for n in names if any(_read_rows(book[n]))]
            if not filled:
                raise InputError(f"{file} is empty", hint="it needs a header and at least one row")
            if len(filled) > 1:
                problem = f"{file} has {len(filled)} filled sheets: {quote(filled, limit=20)}"
                largest = max(filled, key=lambda name: sum(map(len, _read_rows(book[name]))))
                raise InputError(problem, hint=f"name one: `sheet={largest!r}`")
            chosen = filled[0]
            header, *rows = [
                [cell if cell.data_type == "f" else cell.value for cell in row]
                for row in _read_rows(book[chosen])
            ] or [[]]
            if no_header:
                header, rows = number_columns(max(map(len, [header, *rows]))), [header, *rows]
            refuse_data(file, ["" if cell is None else str(cell) for cell in header])
        finally:
            book.close()
        if any(_is_formula(cell) for row in rows for cell in row):
            rows = _take_computed(file, content, chosen, rows)
    missing = {text for text in MISSING_TEXT if text not in (classes or ())}
    return make_frame(_gather_columns(file, chosen, header, rows, missing))


def _is_formula(cell: Any) -> bool:
    return getattr(cell, "data_type", None) == "f"


def _read_rows(sheet: Any) -> Iterator[Row]:
    """Cells of each row that is not blank; a row ends where its last cell does."""
    sheet.reset_dimensions()
    cells = filled = 0
    for number, row in enumerate(sheet.iter_rows(), start=1):
        here = sum(cell.value is not None for cell in row)
        cells, filled = cells + len(row), filled + here
        if number > MOST_ROWS or cells > max(LEAST_CELLS, HOLES * filled):
            problem = f"sheet {sheet.title!r} has {filled:,} values in {cells:,} cells or more"
            raise InputError(problem, hint="save the filled part of the sheet as CSV or Parquet")
        if here:
            yield list(row)


def _take_computed(file: Path, content: BinaryIO, sheet: str, rows: list[Row]) -> list[Row]:
    """The rows with the values that Excel stored with its formulas."""
    import openpyxl

    with closing(openpyxl.load_workbook(content, read_only=True, data_only=True)) as book:
        book[sheet].reset_dimensions()
        cells = [cell for row in book[sheet].iter_rows() for cell in row]
        kept = {(each.row, each.column): each.value for each in cells if each.value is not None}
    for cell in (cell for row in rows for cell in row if _is_formula(cell)):
        if (cell.row, cell.column) not in kept:
            problem = f"{file}: cell {cell.coordinate} is a formula that was never computed"
            hint = "open the file in a spreadsheet program and save it, or save the values"
            raise InputError(problem, hint=hint)
    return [
        [kept[cell.row, cell.column] if _is_formula(cell) else cell for cell in row] for row in rows
    ]


def _gather_columns(
    file: Path, sheet: str, header: Row, rows: list[Row], missing: set[str]
) -> dict[str, np.typing.NDArray[np.object_]]:
    """Name -> values; a column without a name is kept under its place if it is not empty."""
    header = [cell.value if _is_formula(cell) else cell for cell in header]
    width = max([len(header), *map(len, rows)])
    found: dict[str, np.typing.NDArray[np.object_]] = {}
    for place in range(width):
        given = header[place] if place < len(header) else None
        values = [_to_value(row[place], missing) if place < len(row) else None for row in rows]
        name = "" if given is None else str(given)
        if not name.strip():
            if all(value is None for value in values):
                continue
            name = f"Unnamed: {place}"
        if name in found:
            problem = f"{file}, sheet {sheet!r}, has two columns named {name!r}"
            raise InputError(problem, hint="rename or remove the repeated columns")
        found[name] = to_objects(values)
    return found


def _to_value(value: Any, missing: set[str]) -> Any:
    """None for an empty cell; a whole number as one, as Excel knows no other kind of number.

    Excel has no exact numbers from 2^53 on: they stay floats, which are refused as ids.
    """
    if isinstance(value, str) and value.strip() in missing:
        return None
    if isinstance(value, float) and value.is_integer() and abs(value) < EXACT_INTEGER:
        return int(value)
    if isinstance(value, int) and abs(value) >= EXACT_INTEGER:
        return float(str(value))  # not float(value), which overflows
    return value


# -------------------------------------------------------------------------------------------------
# JSON Lines


class _ObjectPairs(list[tuple[str, Any]]):
    """The pairs of an object in their order, so that a repeated key is not lost."""


def open_json_lines(file: Path) -> Any:
    """The pandas frame in a file of JSON Lines."""
    columns: dict[str, dict[int, Any]] = {}
    n_rows = n_cells = 0
    for line, record in _read_records(file):
        for name, value in _read_cells(file, line, record):
            column = columns.setdefault(name, {})
            if n_rows in column:
                problem = f"{file}, {line}, has the key {name!r} twice"
                raise InputError(problem, hint="rename or remove one of them")
            column[n_rows] = value
            n_cells += 1
        n_rows += 1
    if not columns:
        raise InputError(f"{file} is empty", hint="it needs a line with an object that has a key")
    if n_rows * len(columns) > max(LEAST_CELLS, HOLES * n_cells):
        problem = f"{file} has {len(columns):,} keys in {n_rows:,} lines, nearly all missing"
        raise InputError(problem, hint="write one object per row, with a key for every column")
    rows = range(n_rows)
    return make_frame({name: to_objects([*map(of.get, rows)]) for name, of in columns.items()})


def _read_records(file: Path) -> Iterator[tuple[str, _ObjectPairs]]:
    """Each object and where it is: on a line that is not blank, or in the list of a JSON file."""
    with open_content(file) as lines:
        start = lines.read(1 << 10).removeprefix(codecs.BOM_UTF8).lstrip()
        lines.seek(0)
        if start.startswith(b"["):
            text = _decode(file, "the file", lines.read())
            for number, record in enumerate(_parse(file, "the file", text), start=1):
                yield f"item {number}", _take_object(file, f"item {number}", record)
            return
        for number, content in enumerate(lines, start=1):
            if content.strip():
                line = f"line {number}"
                text = _decode(file, line, content)
                yield line, _take_object(file, line, _parse(file, line, text))


def _decode(file: Path, place: str, content: bytes) -> str:
    try:
        return content.decode("utf-8-sig" if place in ("line 1", "the file") else "utf-8")
    except UnicodeDecodeError as error:
        problem = f"is not UTF-8: byte 0x{content[error.start]:02x}"
        raise _explain_record(file, place, problem) from None


def _parse(file: Path, place: str, text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_ObjectPairs)
    except RecursionError:
        raise _explain_record(file, place, "is not JSON: it is nested too deeply") from None
    except ValueError as error:
        raise _explain_record(file, place, f"is not JSON: {error}") from None


def _take_object(file: Path, place: str, record: Any) -> _ObjectPairs:
    if not isinstance(record, _ObjectPairs):
        problem = f"is {cut_end(json.dumps(record), 40)}, not an object"
        raise _explain_record(file, place, problem)
    return record


def _explain_record(file: Path, place: str, problem: str) -> InputError:
    hint = 'write one object per line in UTF-8, such as {"bert": 0.9, "label": 1}'
    return InputError(f"{file}, {place}, {problem}", hint=hint)


def _read_cells(
    file: Path, line: str, record: _ObjectPairs, depth: int = 0
) -> Iterator[tuple[str, Any]]:
    """Column and value of each cell of a line."""
    if depth > DEEPEST:
        problem = f"{file}, {line}, has objects inside one another, more than {DEEPEST} deep"
        hint = "write what is inside them as separate keys, or leave it out"
        raise InputError(problem, hint=hint)
    for name, value in record:
        if isinstance(value, _ObjectPairs):
            inside = _ObjectPairs((f"{name}:{key}", cell) for key, cell in value)
            yield from _read_cells(file, line, inside, depth + 1)
        elif isinstance(value, list) and any(isinstance(each, list) for each in value):
            if not all(isinstance(each, _ObjectPairs) for each in value):
                problem = f"{file}, {line}: {name!r} contains lists inside a list"
                hint = f"write what is inside {name!r} as separate keys, or leave it out"
                raise InputError(problem, hint=hint)
            inside = _ObjectPairs(_name_items(file, line, name, value))
            yield from _read_cells(file, line, inside, depth + 1)
        else:
            yield name, value


def _name_items(
    file: Path, line: str, name: str, items: Sequence[_ObjectPairs]
) -> Iterator[tuple[str, Any]]:
    """A list of objects as one: each is named by the text in it that says whose it is."""
    for item in items:
        key = next((key for key, cell in item if key.lower() in NAMING), None)
        if key is None or not isinstance(dict(item)[key], str):
            problem = f"{file}, {line}: the objects in {name!r} have no name"
            hint = f"give each a key such as {NAMING[0]!r}, or write them as separate keys"
            raise InputError(problem, hint=hint)
        rest = _ObjectPairs(pair for pair in item if pair[0] != key)
        yield dict(item)[key], rest[0][1] if len(rest) == 1 else rest
