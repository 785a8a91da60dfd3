"""Excel files (.xlsx, .xlsm): the sheet's first row names the columns.

Values are taken as Excel last computed them; nothing is computed and no macro runs. A formula that
was never computed is refused, and so is a file that unpacks to far more than its size. Cells are
text, numbers, booleans or dates as Excel holds them: a number stored as text stays text.
"""

from __future__ import annotations

import warnings
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ssme.data.readers.csv_files import MISSING_TEXT
from ssme.data.readers.records import make_frame
from ssme.errors import InputError, MissingExtraError, argument, translate_foreign_errors
from ssme.wording import quote, suggest_nearest

__all__ = ["open_excel"]

Row = list[Any]

UNPACKED_BYTES = 1 << 26
UNPACKED_TIMES = 100
"""A file may unpack to the larger of this many bytes and this many times its size."""
MOST_ROWS = 1 << 20
LEAST_CELLS = 10_000_000
HOLES = 100
"""A sheet of more cells than both allow, per value that it holds, is no table."""


def open_excel(
    file: Path, sheet: str | None = None, classes: Sequence[object] | None = None
) -> Any:
    """The pandas frame in a sheet of an Excel file; a text that names a class is never missing."""
    try:
        import openpyxl
    except ImportError:
        raise MissingExtraError("reading Excel files", "excel") from None
    cure = "save it as .xlsx again, or as CSV"
    with translate_foreign_errors(
        f"reading {file}", allowed="Excel files (.xlsx, .xlsm)", fix=cure
    ):
        _refuse_bomb(file)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            book = openpyxl.load_workbook(file, read_only=True, data_only=False)
            try:
                chosen = _find_sheet(file, book, sheet)
                header, rows, has_formulas = _read_sheet(book[chosen])
            finally:
                book.close()
            if has_formulas:
                rows = _take_computed(file, chosen, rows)
    missing = {text for text in MISSING_TEXT if text not in (classes or ())}
    return make_frame(_gather_columns(file, chosen, header, rows, missing))


def _find_sheet(file: Path, book: Any, sheet: str | None) -> str:
    names: list[str] = [each.title for each in book.worksheets]
    if sheet is not None:
        if sheet in names:
            return sheet
        raise InputError(
            f"{file} has no sheet {sheet!r}",
            allowed=f"the sheets {quote(names, limit=20)}",
            fix=f"{suggest_nearest(sheet, names)}name one with {argument('sheet')}",
        )
    filled = [name for name in names if next(_read_rows(book[name]), None) is not None]
    if len(filled) == 1:
        return filled[0]
    if not filled:
        raise InputError(
            f"{file} is empty", allowed="a header and at least one row", fix="check how it was made"
        )
    raise InputError(
        f"{file} has {len(filled)} sheets that hold something: {quote(filled, limit=20)}",
        allowed="one sheet",
        fix=f"name it: {argument('sheet', repr(filled[0]))}",
    )


def _refuse_bomb(file: Path) -> None:
    with zipfile.ZipFile(file) as archive:
        unpacked = sum(member.file_size for member in archive.infolist())
    if unpacked > max(UNPACKED_BYTES, UNPACKED_TIMES * file.stat().st_size):
        raise InputError(
            f"{file} unpacks to {unpacked:,} bytes",
            allowed=f"files that unpack to at most {UNPACKED_BYTES:,} bytes, or {UNPACKED_TIMES} "
            "times their size",
            fix="save the sheet as CSV or Parquet",
        )


def _read_rows(sheet: Any) -> Iterator[Row]:
    """Cells of each row that is not blank; a row ends where its last cell does."""
    sheet.reset_dimensions()
    cells = filled = 0
    for number, row in enumerate(sheet.iter_rows(), start=1):
        here = sum(cell.value is not None for cell in row)
        cells, filled = cells + len(row), filled + here
        if number > MOST_ROWS or cells > max(LEAST_CELLS, HOLES * filled):
            raise InputError(
                f"sheet {sheet.title!r} has {filled:,} values in more than {number - 1:,} rows and "
                f"{cells:,} cells",
                allowed=f"at most {MOST_ROWS:,} rows, most of whose cells hold something",
                fix="save the filled part of the sheet as CSV or Parquet",
            )
        if here:
            yield list(row)


def _read_sheet(sheet: Any) -> tuple[Row, list[Row], bool]:
    """Values of the header and of the rows, and whether some of them are formulas.

    A formula is kept as its cell, so that `_take_computed` finds its place.
    """
    found = _read_rows(sheet)
    header = [cell.value for cell in next(found, [])]
    rows, has_formulas = [], False
    for row in found:
        has_formulas |= any(cell.data_type == "f" for cell in row)
        rows.append([cell if cell.data_type == "f" else cell.value for cell in row])
    return header, rows, has_formulas


def _take_computed(file: Path, sheet: str, rows: list[Row]) -> list[Row]:
    """The rows with the values that Excel kept beside its formulas."""
    import openpyxl

    book = openpyxl.load_workbook(file, read_only=True, data_only=True)
    try:
        places = book[sheet]
        places.reset_dimensions()
        kept = {
            (cell.row, cell.column): cell.value
            for row in places.iter_rows()
            for cell in row
            if cell.value is not None
        }
    finally:
        book.close()
    return [[_read_value(file, sheet, each, kept) for each in row] for row in rows]


def _read_value(file: Path, sheet: str, cell: Any, kept: dict[tuple[int, int], Any]) -> Any:
    if getattr(cell, "data_type", None) != "f":
        return cell
    if (cell.row, cell.column) in kept:
        return kept[cell.row, cell.column]
    raise InputError(
        f"{file}, sheet {sheet!r}: cell {cell.coordinate} holds a formula that was never computed",
        allowed="values, or formulas that Excel has computed",
        fix="open the file in a spreadsheet program and save it, or save the values",
    )


def _gather_columns(
    file: Path, sheet: str, header: Row, rows: list[Row], missing: set[str]
) -> dict[str, Row]:
    """Name -> values; a column without a name is kept under its place if it holds something."""
    width = max([len(header), *map(len, rows)])
    names = [None if k >= len(header) else header[k] for k in range(width)]
    found: dict[str, Row] = {}
    for place, given in enumerate(names):
        values = [_to_value(row[place], missing) if place < len(row) else None for row in rows]
        name = "" if given is None else str(given)
        if not name.strip():
            if all(value is None for value in values):
                continue
            name = f"Unnamed: {place}"
        if name in found:
            raise InputError(
                f"{file}, sheet {sheet!r}, has two columns named {name!r}",
                allowed="unique column names in the first row",
                fix="rename or remove the repeated columns",
            )
        found[name] = values
    return found


def _to_value(value: Any, missing: set[str]) -> Any:
    """None for an empty cell; a whole number as one, as Excel knows no other kind of number."""
    if isinstance(value, str) and value.strip() in missing:
        return None
    if isinstance(value, float) and value.is_integer() and abs(value) <= 2**53:
        return int(value)
    return value
