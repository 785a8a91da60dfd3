"""CSV and TSV files: a header, and rows as long as the header; UTF-8 unless declared.

A cell is missing if it is empty or in `MISSING_TEXT`. A column has whole numbers, numbers or
booleans if all its other cells are such, else text. Numbers are exact, and have a decimal point or
the declared marks. Python's ``csv`` parses small files, since importing pandas takes longer, and
what pandas would misread: other encodings, other marks, lone carriage returns. pandas, which is ten
times as fast, parses other files, and ``csv`` finds the line of a bad row.
"""

from __future__ import annotations

import csv
import gzip
import io
import re
import sys
import threading
import warnings
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, TextIO, cast

import numpy as np
from numpy.typing import NDArray

from ssme.data.readers.tables import ArrayFrame, from_pandas
from ssme.data.values import EXACT_INTEGER, to_objects
from ssme.errors import InputError, translate_foreign_errors
from ssme.writing import restore_formula

MISSING_TEXT = ("", "NA", "NaN", "nan", "None", "null", "<NA>")
DELIMITERS = (";", "\t", "|", ",")
UTF8 = (None, "utf-8", "utf-8-sig")
GZIP = b"\x1f\x8b"
BLOCK = 1 << 20
"""Bytes scanned at once."""
SMALL = 1 << 20
"""Bytes of the largest file that is parsed without pandas."""
MOST_LINES = 5
"""Lines of another length that an error lists."""
WHOLE = re.compile(r"\s*[+-]?\d+\s*", re.ASCII)
WITH_COMMA = re.compile(r"\s*[+-]?\d*,\d+\s*", re.ASCII)
SPLIT_AT_DECIMALS = re.compile(r"\d+;-?\d*", re.ASCII)
PLAIN = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", re.ASCII)
NUMBER = re.compile(rf"{PLAIN.pattern}|\s*[+-]?inf(inity)?\s*", re.ASCII | re.IGNORECASE)
BOOLEANS = {"true": True, "false": False}
_limit_lock = threading.Lock()


def open_csv(
    file: Path,
    delimiter: str,
    classes: Sequence[object] | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    encoding: str | None = None,
    skip_rows: int | None = None,
    no_header: bool = False,
    ignore: Sequence[str] | None = None,
) -> Any:
    """The frame in a CSV file, of pandas if it is large; text that names a class is never missing.

    Columns of numbers with an undeclared comma are refused unless they are in ``ignore``.
    """
    ignored = ignore or ()
    missing = [text for text in MISSING_TEXT if text not in (classes or ())]
    plain = decimal in (None, ".") and thousands is None
    style = None if plain else NumberStyle(decimal or ".", thousands)
    table = _CsvFile(file, delimiter, encoding, skip_rows or 0)
    header = table.read_header()
    other = _find_delimiter(table, header[0]) if len(header) == 1 else None
    if other is not None:
        problem = f"{file} has one column {header[0][:60]!r} when split at {delimiter!r}"
        raise InputError(problem, hint=f"pass `delimiter={other!r}`")
    halves = [cell for cell in header if SPLIT_AT_DECIMALS.fullmatch(cell)]
    if delimiter == "," and 2 * len(halves) >= len(header):
        problem = f"{file} has cells such as {halves[0]!r} when split at ','"
        raise InputError(problem, hint="pass `delimiter=';'`")
    names = [name or f"Unnamed: {place}" for place, name in enumerate(header)]
    if no_header:
        names = number_columns(len(header))
    else:
        refuse_data(file, header)
    for name, count in Counter(names).items():
        if count > 1:
            problem = f"{file} has {count} columns named {name!r}"
            hint = "rename or remove the repeated columns"
            if not any(re.search("[^\\W\\d]", each) for each in header):
                raise explain_no_header(file)
            raise InputError(problem, hint=hint)
    width = len(header)
    size, n_delimiters, marks = (0, 0, {"'"}) if encoding not in UTF8 else _scan(file, delimiter)
    fast = not (skip_rows or no_header or style or encoding not in UTF8 or marks & {"\0", "\r"})
    frame = _parse(table, missing) if fast and size > SMALL else None
    n_found = 0 if frame is None else len(frame)
    # without quotes, the number of delimiters says whether every row is as long as the header;
    # pandas takes several spaces for one
    regular = '"' not in marks and n_delimiters == (width - 1) * (n_found + 1) and delimiter != " "
    if frame is None or not regular:
        n_rows, wrong, before, filled = 0, [], 0, False
        lengths, above = Counter[int](), dict[int, int]()  # lines above the first row of a length
        for line, row in table.read_rows():
            n_rows += 1
            if len(row) != width:
                wrong.append(f"line {line} has {len(row)}")
                filled = filled or any(map(str.strip, row[width:]))
            above.setdefault(len(row), before)
            lengths[len(row)] += 1
            before = line
        same = len(wrong) == n_rows - 1 and len(lengths) == 2 and max(lengths) > width
        if wrong and (filled or not same):  # every row but the header may end with a delimiter
            listed = ", ".join(wrong[:MOST_LINES])
            more = f", and {len(wrong) - MOST_LINES} more do not" if len(wrong) > MOST_LINES else ""
            fields = "1 field" if width == 1 else f"{width} fields"
            problem = f"{file}: the header has {fields}, but {listed}{more}"
            hint = "write an empty field for a missing value; check quoting and `delimiter`"
            usual, count = lengths.most_common(1)[0]
            if usual > width and 2 * count > n_rows:
                skipped = f"pass `skip_rows={above[usual]}`"
                hint = f"if {header[0][:60]!r} is above the header, {skipped}"
            raise InputError(problem, hint=hint)
        if frame is None or frame.shape != (n_rows - 1, width):
            at = 0 if no_header else 1
            frame = table.read_columns(names, style, missing, ignored, at)
    if decimal is None and thousands is None:
        _refuse_commas(file, frame, ignored)
    return _restore_formulas(frame) if "'" in marks else frame


def number_columns(count: int) -> list[str]:
    """Names for the columns of a file without a header."""
    return [f"column_{place}" for place in range(1, count + 1)]


def refuse_data(file: object, header: Sequence[str]) -> None:
    """Refuse numbers with decimals, and no other text, as names of columns."""
    if any("." in name for name in header) and all(map(PLAIN.fullmatch, filter(None, header))):
        raise explain_no_header(file)


def explain_no_header(file: object) -> InputError:
    """The error of a table whose first row is data."""
    problem = f"the first row of {file} contains numbers, not the names of columns"
    hint = "pass `no_header=True` to number the columns, or add a first row with their names"
    return InputError(problem, hint=hint)


def open_content(file: Path) -> BinaryIO:
    """The bytes of a file, without the compression of gzip."""
    content = file.open("rb")
    if content.peek(2)[:2] != GZIP:
        return content
    content.close()
    return cast(BinaryIO, gzip.open(file))


def _open_text(file: Path, encoding: str | None) -> TextIO:
    """The text of a file, its line ends as they are."""
    return io.TextIOWrapper(open_content(file), encoding=encoding, newline="")


def is_encoded(file: Path, encoding: str) -> bool:
    """Whether the whole file is text in ``encoding``."""
    try:
        with _open_text(file, encoding) as content:
            while content.read(BLOCK):
                pass
    except UnicodeError:
        return False
    return True


def find_other_delimiter(file: Path, delimiter: str, encoding: str | None = None) -> str | None:
    """What splits the header of ``file`` where ``delimiter`` leaves it in one piece; else None."""
    header = _CsvFile(file, delimiter, encoding).read_header()
    found = [mark for mark in DELIMITERS if mark in header[0]] if len(header) == 1 else []
    return found[0] if len(found) == 1 else None


def _find_delimiter(table: _CsvFile, cell: str) -> str | None:
    """What splits a header in one piece; spaces if they split the next rows into as many parts."""
    for mark in DELIMITERS:
        if mark in cell and mark != table.delimiter:
            return mark
    with closing(table.read_rows()) as rows:  # type: ignore[type-var]
        texts = [table.delimiter.join(row) for _, (_, row) in zip(range(100), rows, strict=False)]
    for by in (" ", None):  # one space, which may be before an empty cell, or several
        counts = {len(text.split(by)) for text in texts}
        if len(counts) == 1 and min(counts) > 1 and table.delimiter != " ":
            return " "
    return None


class NumberStyle:
    """A decimal mark and, if there is one, the mark between thousands."""

    def __init__(self, decimal: str, thousands: str | None) -> None:
        if decimal == thousands:
            problem = f"{decimal!r} is given both as `decimal` and as `thousands`"
            raise InputError(problem, hint="use two different marks, or leave one out")
        whole = r"\d+"
        if thousands is not None:
            whole = rf"(?:\d{{1,3}}(?:{re.escape(thousands)}\d{{3}})+|\d+)"
        number = rf"\s*([+-]?)({whole})?(?:{re.escape(decimal)}(\d*))?([eE][+-]?\d+)?\s*"
        self.decimal, self.thousands = decimal, thousands
        self.number = re.compile(number, re.ASCII)

    def to_plain(self, cell: str) -> str | None:
        """The number in ``cell`` as Python writes it; None for anything else."""
        found = self.number.fullmatch(cell)
        if found is None or not (found[2] or found[3]):
            return None
        whole = (found[2] or "0").replace(self.thousands or "", "")
        fraction = f".{found[3]}" if found[3] else ""
        return f"{found[1]}{whole}{fraction}{found[4] or ''}"

    def rewrite_column(
        self, name: str, place: int, rows: list[tuple[int, list[str]]], missing: Collection[str]
    ) -> None:
        """Write numbers as Python does where all cells are numbers or missing; else it is text.

        A column that is mostly numbers is refused with its first other cell, and so is one whose
        numbers all have a point where another mark is declared.
        """
        counts = Counter(row[place] for _, row in rows)
        plain = {cell: self.to_plain(cell) for cell in counts if cell.strip() not in missing}
        others = {cell for cell, number in plain.items() if number is None}
        if not others:
            for _, row in rows:
                row[place] = plain.get(row[place]) or row[place]
            return
        n_others = sum(counts[cell] for cell in others)
        if 2 * n_others < sum(counts[cell] for cell in plain) or all(map(PLAIN.fullmatch, others)):
            line, cell = next((line, row[place]) for line, row in rows if row[place] in others)
            marks = f"`decimal={self.decimal!r}`"
            if self.thousands is not None:
                marks += f" and `thousands={self.thousands!r}`"
            problem = f"column {name!r} contains {cell!r} in line {line}, not a number with {marks}"
            hint = f"correct the option or the cell, or pass `ignore={name!r}`"
            raise InputError(problem, hint=hint)


@dataclass(frozen=True)
class _CsvFile:
    """A file as Python's ``csv`` reads it."""

    file: Path
    delimiter: str
    encoding: str | None
    skip_rows: int = 0

    def read_rows(self) -> Iterator[tuple[int, list[str]]]:
        """Line number and cells, which may be of any length, of each row that is not blank."""
        encoding = "utf-8-sig" if self.encoding in UTF8 else self.encoding
        with _open_text(self.file, encoding) as lines, _limit_lock:
            limit = csv.field_size_limit(sys.maxsize)
            rows = csv.reader(lines, delimiter=self.delimiter, skipinitialspace=True)
            try:
                for _ in zip(range(self.skip_rows), lines, strict=False):
                    pass
                for row in rows:
                    if "\0" in "".join(row):
                        raise self._explain_bytes()
                    if len(row) > 1 or (row and row[0].strip(" \t")):
                        yield self.skip_rows + rows.line_num, row
            except csv.Error as error:
                line = self.skip_rows + rows.line_num
                problem = f"{self.file}, line {line}, is not a row of cells: {error}"
                raise InputError(problem, hint="check quoting and `delimiter`") from None
            except UnicodeError:
                raise self._explain_bytes() from None
            finally:
                csv.field_size_limit(limit)

    def _explain_bytes(self) -> InputError:
        """The error that names the first byte that is not text."""
        with open_content(self.file) as file:
            content = file.read()
        place = content.find(b"\0")
        try:
            content.decode(self.encoding or "utf-8")
        except UnicodeDecodeError as error:
            place = error.start if place < 0 else place
        except UnicodeError:
            pass
        where = f": byte 0x{content[place]:02x} at position {place}" if place >= 0 else ""
        if self.encoding not in UTF8:
            problem = f"{self.file} cannot be read with `encoding={self.encoding!r}`{where}"
            return InputError(problem, hint="name another encoding, or save it as UTF-8")
        other = "utf-16" if b"\0" in content else "cp1252"
        windows = " (Excel on Windows)" if other == "cp1252" else ""
        return InputError(
            f"{self.file} is not UTF-8 text{where}",
            hint=f"pass `encoding={other!r}` if that is its encoding{windows}, or save it as UTF-8",
        )

    def read_header(self) -> list[str]:
        declared = self.encoding not in UTF8
        if declared and is_encoded(self.file, "utf-8") and not is_encoded(self.file, "ascii"):
            raise InputError(f"{self.file} is UTF-8 text", hint="leave `encoding` out")
        with closing(self.read_rows()) as rows:  # type: ignore[type-var]
            _, header = next(rows, (0, []))
        if not header and self.skip_rows:
            must = f"leave a header and at least one row of {self.file}"
            raise InputError(option="skip_rows", value=self.skip_rows, must=must)
        if not header:
            raise InputError(f"{self.file} is empty", hint="it needs a header and at least one row")
        return header

    def read_columns(
        self,
        names: Sequence[str],
        style: NumberStyle | None,
        missing: Sequence[str],
        ignored: Sequence[str],
        at: int,
    ) -> ArrayFrame:
        rows = [*self.read_rows()][at:]
        for place, name in enumerate(names):
            if style is not None and name not in ignored:
                style.rewrite_column(name, place, rows, missing)
        by_column = (
            zip(*[row[: len(names)] for _, row in rows], strict=True) if rows else [()] * len(names)
        )
        return ArrayFrame(
            (name, _read_cells(cells, missing))
            for name, cells in zip(names, by_column, strict=True)
        )


def _read_cells(cells: Sequence[str], missing: Collection[str]) -> NDArray[Any]:
    """A column of whole numbers, numbers (NaN where missing), booleans or text (else None)."""
    known = set(cells).difference(missing)
    has_holes = not known.issuperset(cells)
    whole = all(map(WHOLE.fullmatch, known))
    if whole or all(map(NUMBER.fullmatch, known)):
        numbers = {cell: int(cell) if whole else float(cell) for cell in known}
        low, high = min(numbers.values(), default=0), max(numbers.values(), default=0)
        if whole and not has_holes and low >= -(2**63) and high < (2**64 if low >= 0 else 2**63):
            kind = np.int64 if high < 2**63 else np.uint64
            return np.array([numbers[cell] for cell in cells], dtype=kind)
        if whole and (not has_holes or low <= -EXACT_INTEGER or high >= EXACT_INTEGER):
            return to_objects([numbers.get(cell) for cell in cells])
        return np.array([numbers.get(cell, np.nan) for cell in cells], dtype=np.float64)
    if all(cell.lower() in BOOLEANS for cell in known):
        values = [BOOLEANS.get(cell.lower()) for cell in cells]
        return to_objects(values) if has_holes else np.array(values)
    return to_objects([cell if cell in known else None for cell in cells])


def _scan(file: Path, delimiter: str) -> tuple[int, int, set[str]]:
    """Bytes and delimiters of a file, and which marks it has that need a second look.

    These are quotes, apostrophes, NUL and lone carriage returns, which pandas misreads.
    """
    size, count, marks = 0, 0, set()
    with open_content(file) as content:
        while block := content.read(BLOCK):
            if block.endswith(b"\r"):
                block += content.read(1)
            size += len(block)
            marks |= {mark for mark in "\"'\0" if mark.encode() in block}
            if b"\r" in block and re.search(rb"\r(?!\n)", block):
                marks.add("\r")
            # numpy counts frequent bytes several times faster than bytes.count
            count += int(np.count_nonzero(np.frombuffer(block, np.uint8) == ord(delimiter)))
    return size, count, marks


def _parse(table: _CsvFile, missing: Sequence[str]) -> Any:
    """The pandas frame in the file; None where pandas finds rows that are too long."""
    import pandas

    exact: dict[str, Any] = {}
    if tuple(map(int, pandas.__version__.split(".")[:2])) < (3, 1):
        exact["float_precision"] = "round_trip"  # later versions are always exact

    def read(**options: Any) -> Any:
        with open_content(table.file) as content:
            return pandas.read_csv(
                content,
                sep=table.delimiter,
                encoding="utf-8-sig",
                keep_default_na=False,
                na_values=list(missing),
                low_memory=False,
                skipinitialspace=True,
                index_col=False,
                **exact,
                **options,
            )

    with warnings.catch_warnings(), translate_foreign_errors(f"reading {table.file}"):
        warnings.simplefilter("error", pandas.errors.ParserWarning)
        try:
            frame = read()
        except (pandas.errors.ParserError, pandas.errors.ParserWarning, UnicodeDecodeError):
            return None
        for place, name in enumerate(frame.columns):
            values = frame[name]
            # pandas rounds large whole numbers in columns with holes; in columns with one beyond 64
            # bits it takes 1_0 for a number, and leaves numbers and what is missing as text
            rounded = (
                values.dtype == float and values.hasnans and values.abs().max() >= EXACT_INTEGER
            )
            if rounded or (values.dtype.kind == "O" and _is_misread(values, missing)):
                text = read(usecols=[place], dtype=str, na_filter=False).iloc[:, 0]
                frame[name] = _read_cells(text.tolist(), missing)
        return frame


def _is_misread(cells: Any, missing: Sequence[str]) -> bool:
    return bool(cells.isin(missing).any()) or all(
        cell != cell or isinstance(cell, int) or NUMBER.fullmatch(cell) for cell in cells
    )


def _refuse_commas(file: Path, frame: Any, ignored: Collection[str]) -> None:
    """Refuse a column of text whose cells all read like numbers with a comma."""

    def has_comma(cell: Any) -> bool:
        return isinstance(cell, str) and bool(WITH_COMMA.fullmatch(cell))

    for name, values in frame.items():
        if values.dtype.kind in "fiub" or str(name) in ignored:
            continue
        known = (cell for cell in values if cell is not None and cell == cell)
        first = next(known, None)
        if has_comma(first) and all(map(has_comma, known)):
            where = f"column {str(name)!r} of {file} contains {first!r}"
            problem = f"{where}; is the comma a decimal or a thousands separator?"
            hint = "pass `decimal=','` or `thousands=','`; for text pass `decimal='.'`"
            raise InputError(problem, hint=hint)


def _restore_formulas(frame: Any) -> Any:
    """``frame`` without the apostrophes that exports put before ``=``, ``+``, ``-`` and ``@``."""

    def is_marked(cell: Any) -> bool:
        return isinstance(cell, str) and restore_formula(cell) != cell

    marked = [n for n, v in frame.items() if v.dtype.kind == "O" and any(map(is_marked, v))]
    if not marked and not any(map(is_marked, frame)):
        return frame
    plain = ArrayFrame()
    for name, values in frame.items():
        cells = values if isinstance(values, np.ndarray) else from_pandas(values)
        if name in marked:
            cells = to_objects([restore_formula(c) if isinstance(c, str) else c for c in cells])
        plain[restore_formula(name)] = cells
    return plain
