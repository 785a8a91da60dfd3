"""CSV and TSV files: a header, and rows as long as the header; UTF-8 unless declared.

A cell is missing if it is empty or in `MISSING_TEXT`. A column has whole numbers, numbers or
booleans if all its other cells are such, else text. Numbers are exact, and have a decimal point or
the declared marks. pandas parses the file; Python's ``csv`` finds the line of a bad row, and
rewrites for pandas what pandas would misread: other encodings, other marks, lone carriage returns.
"""

from __future__ import annotations

import csv
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
from typing import Any

import numpy as np

from ssme.data.values import EXACT_INTEGER, to_objects
from ssme.errors import InputError, translate_foreign_errors
from ssme.writing import restore_formula

MISSING_TEXT = ("", "NA", "NaN", "nan", "None", "null", "<NA>")
DELIMITERS = (";", "\t", "|", ",")
UTF8 = (None, "utf-8", "utf-8-sig")
BLOCK = 1 << 20
"""Bytes scanned at once."""
MOST_LINES = 5
"""Lines of another length that an error lists."""
WHOLE = re.compile(r"\s*[+-]?\d+\s*", re.ASCII)
WITH_COMMA = re.compile(r"\s*[+-]?\d*,\d+\s*", re.ASCII)
PLAIN = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", re.ASCII)
_limit_lock = threading.Lock()


def open_csv(
    file: Path,
    delimiter: str,
    classes: Sequence[object] | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    encoding: str | None = None,
    skip_rows: int | None = None,
    ignore: Sequence[str] | None = None,
) -> Any:
    """The pandas frame in a CSV file; text that names a class is never missing.

    Columns of numbers with an undeclared comma are refused unless they are in ``ignore``.
    """
    ignored = ignore or ()
    missing = [text for text in MISSING_TEXT if text not in (classes or ())]
    plain = decimal in (None, ".") and thousands is None
    style = None if plain else NumberStyle(decimal or ".", thousands)
    table = _CsvFile(file, delimiter, encoding, skip_rows or 0)
    header = table.read_header()
    other = next((mark for mark in DELIMITERS if mark in header[0] and mark != delimiter), None)
    if len(header) == 1 and other is not None:
        problem = f"{file} has one column {header[0][:60]!r} when split at {delimiter!r}"
        raise InputError(problem, hint=f"pass `delimiter={other!r}`")
    for name, count in Counter(header).items():
        if name and count > 1:
            problem = f"{file} has {count} columns named {name!r}"
            hint = "rename or remove the repeated columns"
            if not any(re.search("[^\\W\\d]", each) for each in header):
                problem = f"the first row of {file} contains numbers, not the names of columns"
                hint = "add a first row with a name for each column"
            raise InputError(problem, hint=hint)
    frame, text, width, regular = None, None, len(header), False
    n_delimiters, marks = (0, {"'"}) if encoding not in UTF8 else _scan(file, delimiter)
    if encoding in UTF8 and style is None and not skip_rows and not marks & {"\0", "\r"}:
        frame = _parse(table, missing)
    # without quotes, the number of delimiters says whether every row is as long as the header
    if frame is not None and '"' not in marks:
        regular = n_delimiters == (width - 1) * (len(frame) + 1)
    if not regular:
        n_rows, wrong, before = 0, [], 0
        lengths, above = Counter[int](), dict[int, int]()  # lines above the first row of a length
        for line, row in table.read_rows():
            n_rows += 1
            if len(row) != width:
                wrong.append(f"line {line} has {len(row)}")
            above.setdefault(len(row), before)
            lengths[len(row)] += 1
            before = line
        if wrong:
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
            text = table.rewrite(header, style, missing, ignored)
            frame = _parse(table, missing, text)
    if decimal is None and thousands is None:
        _refuse_commas(file, frame, ignored)
    if "'" in marks:
        frame = _restore_formulas(frame)
    return _restore_integers(table, missing, text, frame)


def is_encoded(file: Path, encoding: str) -> bool:
    """Whether the whole file is text in ``encoding``."""
    try:
        with file.open(encoding=encoding) as content:
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
        with self.file.open(encoding=encoding, newline="") as lines, _limit_lock:
            limit = csv.field_size_limit(sys.maxsize)
            rows = csv.reader(lines, delimiter=self.delimiter, skipinitialspace=True)
            try:
                for _ in zip(range(self.skip_rows), lines, strict=False):
                    pass
                for row in rows:
                    if "\0" in "".join(row):
                        raise self._explain_bytes()
                    if len(row) > 1 or (row and row[0].strip()):
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
        content = self.file.read_bytes()
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

    def rewrite(
        self,
        header: Sequence[str],
        style: NumberStyle | None,
        missing: Sequence[str],
        ignored: Sequence[str],
    ) -> str:
        """The rows with all cells quoted and numbers as Python writes them."""
        head, *rows = self.read_rows()
        for place, name in enumerate(header):
            if style is not None and name not in ignored:
                style.rewrite_column(name, place, rows, missing)
        text = io.StringIO(newline="")
        writer = csv.writer(
            text, delimiter=self.delimiter, lineterminator="\n", quoting=csv.QUOTE_ALL
        )
        writer.writerows(row for _, row in (head, *rows))
        return text.getvalue()


def _scan(file: Path, delimiter: str) -> tuple[int, set[str]]:
    """The number of delimiters in a file, and which marks it has that need a second look.

    These are quotes, apostrophes, NUL and lone carriage returns, which pandas misreads.
    """
    count, marks = 0, set()
    with file.open("rb") as content:
        while block := content.read(BLOCK):
            if block.endswith(b"\r"):
                block += content.read(1)
            marks |= {mark for mark in "\"'\0" if mark.encode() in block}
            if b"\r" in block and re.search(rb"\r(?!\n)", block):
                marks.add("\r")
            # numpy counts frequent bytes several times faster than bytes.count
            count += int(np.count_nonzero(np.frombuffer(block, np.uint8) == ord(delimiter)))
    return count, marks


def _parse(table: _CsvFile, missing: Sequence[str], text: str | None = None, **options: Any) -> Any:
    """The frame in the file, or in ``text``; None where pandas finds rows that are too long."""
    import pandas

    if tuple(map(int, pandas.__version__.split(".")[:2])) < (3, 1):
        options["float_precision"] = "round_trip"  # later versions are always exact
    with warnings.catch_warnings(), translate_foreign_errors(f"reading {table.file}"):
        warnings.simplefilter("error", pandas.errors.ParserWarning)
        try:
            return pandas.read_csv(
                table.file if text is None else io.StringIO(text),
                sep=table.delimiter,
                encoding="utf-8-sig",
                keep_default_na=False,
                na_values=list(missing),
                low_memory=False,
                skipinitialspace=True,
                index_col=False,
                **options,
            )
        except (pandas.errors.ParserError, pandas.errors.ParserWarning, UnicodeDecodeError):
            if text is not None:
                raise
            return None


def _refuse_commas(file: Path, frame: Any, ignored: Collection[str]) -> None:
    """Refuse a column of text whose cells all read like numbers with a comma."""
    for name, kind in zip(frame.columns, frame.dtypes, strict=True):
        if kind.kind in "fiub" or str(name) in ignored:
            continue
        cells = frame[name].dropna()
        if len(cells) and all(isinstance(c, str) and WITH_COMMA.fullmatch(c) for c in cells):
            where = f"column {str(name)!r} of {file} contains {cells.iloc[0]!r}"
            problem = f"{where}; is the comma a decimal or a thousands separator?"
            hint = "pass `decimal=','` or `thousands=','`; for text pass `decimal='.'`"
            raise InputError(problem, hint=hint)


def _restore_formulas(frame: Any) -> Any:
    """``frame`` without the apostrophes that exports put before ``=``, ``+``, ``-`` and ``@``."""
    frame = frame.rename(columns=restore_formula)
    for name in frame.columns:
        cells = frame[name].to_numpy(dtype=object)
        if any(isinstance(cell, str) and cell.startswith("'") for cell in cells):
            plain = [restore_formula(cell) if isinstance(cell, str) else cell for cell in cells]
            frame = frame.assign(**{name: to_objects(plain)})
    return frame


def _restore_integers(table: _CsvFile, missing: Sequence[str], text: str | None, frame: Any) -> Any:
    """Whole numbers as they are written.

    pandas rounds large ones in columns with holes, and before 3.0 leaves those beyond 64 bits as
    text.
    """
    for place, (name, kind) in enumerate(zip(frame.columns, frame.dtypes, strict=True)):
        column = frame.iloc[:, place]
        if kind == np.float64 and column.hasnans and (column.abs() >= EXACT_INTEGER).any():
            column = _parse(table, missing, text, usecols=[place], dtype=str).iloc[:, 0]
        elif kind != np.object_:
            continue
        cells = column.to_numpy(dtype=object, na_value=None)
        known = [cell for cell in cells if cell is not None]
        if known and all(isinstance(cell, str) and WHOLE.fullmatch(cell) for cell in known):
            exact = to_objects([None if cell is None else int(cell) for cell in cells])
            frame = frame.assign(**{name: exact})
    return frame
