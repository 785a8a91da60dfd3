"""CSV and TSV files with a header, every row as long as the header; in UTF-8 unless declared.

A cell is missing if it is empty or one of `MISSING_TEXT`. A column holds whole numbers, numbers or
booleans if all its other cells do, else text. Numbers are read exactly: as Python reads them, or in
the style that the caller declares (`number_style`).
"""

from __future__ import annotations

import codecs
import csv
import io
import shutil
import sys
import tempfile
import threading
import warnings
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ssme.data.readers.number_style import NumberStyle, refuse_commas
from ssme.data.values import EXACT_INTEGER, to_objects
from ssme.errors import InputError, argument, translate_foreign_errors
from ssme.writing import restore_formula

__all__ = ["MISSING_TEXT", "find_other_delimiter", "is_utf8", "open_csv"]

MISSING_TEXT = ("", "NA", "NaN", "nan", "None", "null", "<NA>")
DELIMITERS = (";", "\t", "|", ",")
UTF8 = (None, "utf-8", "utf-8-sig")
"""Encodings that need no declaration."""
BLOCK = 1 << 20
"""Bytes looked at together."""
_limit_lock = threading.Lock()


def open_csv(
    file: Path,
    delimiter: str,
    classes: Sequence[object] | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    encoding: str | None = None,
    ignored: Sequence[str] = (),
) -> Any:
    """The pandas frame in a CSV file; a text that names a class is never missing.

    ``decimal`` and ``thousands`` declare how numbers are written. Without them, numbers have a
    point, and a column that reads like numbers with a comma is refused unless it is ``ignored``.
    """
    if encoding not in UTF8:
        with _decode(file, str(encoding)) as copy:
            return open_csv(copy, delimiter, classes, decimal, thousands, ignored=ignored)
    counts = _count(file, delimiter)
    header = _read_header(file, delimiter)
    _refuse_header(file, header, delimiter)
    missing = [text for text in MISSING_TEXT if text not in (classes or ())]
    style = NumberStyle(decimal or ".", thousands)
    if style != NumberStyle():
        text: str | None = _rewrite_numbers(file, delimiter, header, style, missing, ignored)
    else:
        text = _rewrite_returns(file, delimiter) if counts.lone_returns else None
    frame = _parse(file, delimiter, missing, text)
    _refuse_short_rows(file, delimiter, counts, len(header), frame.shape)
    if decimal is None and thousands is None:
        refuse_commas(str(file), frame, ignored)
    if counts.apostrophes:
        frame = _restore_formulas(frame)
    return _restore_exact_integers(file, delimiter, missing, text, frame)


@contextmanager
def _decode(file: Path, encoding: str) -> Iterator[Path]:
    """A copy of the file in UTF-8; messages in the block name the file itself."""
    if is_utf8(file, plain=False):
        raise InputError(
            f"{argument('encoding', repr(encoding))} was given, and {file} is UTF-8 text",
            fix=f"leave {argument('encoding')} out",
        )
    with tempfile.TemporaryDirectory(prefix="ssme-") as folder:
        copy = Path(folder) / "copy.csv"
        try:
            with (
                file.open(encoding=encoding, newline="") as source,
                copy.open("w", encoding="utf-8", newline="") as target,
            ):
                shutil.copyfileobj(source, target)
        except UnicodeError as error:
            raise InputError(
                f"{file} cannot be read with {argument('encoding', repr(encoding))}: "
                f"{getattr(error, 'reason', error)}",
                fix="name another encoding, or save it as UTF-8",
            ) from None
        try:
            yield copy
        except InputError as error:
            parts = (error.got, error.allowed or "", error.fix or "")
            got, allowed, fix = (part.replace(str(copy), str(file)) for part in parts)
            raise InputError(got, allowed=allowed, fix=fix) from None


def is_utf8(file: Path, *, plain: bool = True) -> bool:
    """Whether a file is UTF-8 text; ``plain``: also where it is ASCII, as in other encodings."""
    decoder, is_plain = codecs.getincrementaldecoder("utf-8")(), True
    with file.open("rb") as content:
        try:
            while block := content.read(BLOCK):
                is_plain = is_plain and block.isascii()
                decoder.decode(block)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return False
    return plain or not is_plain


@dataclass
class _Counts:
    delimiters: int = 0
    quotes: int = 0
    apostrophes: int = 0
    lone_returns: int = 0


def _count(file: Path, delimiter: str) -> _Counts:
    """Delimiters, quotation marks and carriage returns that stand alone in the bytes of the file.

    The file must be text.
    """
    counts, mark, position, last = _Counts(), delimiter.encode(), 0, b""
    with file.open("rb") as content:
        while block := content.read(BLOCK):
            counts.delimiters += _count_frequent(block, mark)
            counts.quotes += _count_rare(block, b'"')
            counts.apostrophes += _count_rare(block, b"'")
            split = last == b"\r" and block[:1] == b"\n"
            returns = _count_rare(block, b"\r")
            counts.lone_returns += returns - (block.count(b"\r\n") if returns else 0) - split
            last = block[-1:]
            if b"\0" in block:
                raise InputError(
                    f"{file} is not UTF-8 text: byte 0x00 at position {position + block.index(0)}",
                    allowed="UTF-8 text",
                    fix=f"set {argument('encoding', repr('utf-16'))}, or save it as UTF-8",
                )
            position += len(block)
    return counts


def _count_frequent(block: bytes, mark: bytes) -> int:
    """How often ``mark`` occurs, which is often: one byte is compared with all at once."""
    if len(mark) > 1:
        return block.count(mark)
    return int(np.count_nonzero(np.frombuffer(block, dtype=np.uint8) == mark[0]))


def _count_rare(block: bytes, mark: bytes) -> int:
    """How often ``mark`` occurs, which most often is never: to look for one is quicker."""
    return block.count(mark) if mark in block else 0


@contextmanager
def _allow_long_cells() -> Iterator[None]:
    """Let Python's parser read cells of any length, as pandas does."""
    with _limit_lock:
        before = csv.field_size_limit(sys.maxsize)
        try:
            yield
        finally:
            csv.field_size_limit(before)


def _read_rows(file: Path, delimiter: str) -> Generator[tuple[int, list[str]], None, None]:
    """Line number and cells of each row that is not blank, by Python's own parser."""
    with file.open(encoding="utf-8-sig", newline="") as lines, _allow_long_cells():
        rows = csv.reader(lines, delimiter=delimiter, skipinitialspace=True)
        while True:
            try:
                row = next(rows, None)
            except csv.Error as error:
                raise InputError(
                    f"{file}, line {rows.line_num}, is not a row of cells: {error}",
                    allowed="cells with delimiters between them",
                    fix="check quoting and the delimiter",
                ) from None
            except UnicodeDecodeError:
                raise _tell_not_utf8(file) from None
            if row is None:
                return
            if len(row) > 1 or (row and row[0].strip()):
                yield rows.line_num, row


def find_other_delimiter(file: Path, delimiter: str, encoding: str | None = None) -> str | None:
    """What splits the header of ``file`` where ``delimiter`` leaves it in one piece; else None."""
    if encoding not in UTF8:
        with _decode(file, str(encoding)) as copy:
            return find_other_delimiter(copy, delimiter)
    header = _read_header(file, delimiter)
    found = [mark for mark in DELIMITERS if mark in header[0]] if len(header) == 1 else []
    return found[0] if len(found) == 1 else None


def _read_header(file: Path, delimiter: str) -> list[str]:
    with closing(_read_rows(file, delimiter)) as rows:
        _, header = next(rows, (0, []))
    if not header:
        raise InputError(
            f"{file} is empty", allowed="a header and at least one row", fix="check how it was made"
        )
    return header


def _refuse_header(file: Path, header: list[str], delimiter: str) -> None:
    if len(header) == 1:
        for other in DELIMITERS:
            if other in header[0] and other != delimiter:
                raise InputError(
                    f"{file} has one column {header[0][:60]!r} when split at {delimiter!r}",
                    allowed="one column per model and a label column",
                    fix=f"set {argument('delimiter', repr(other))}",
                )
    for name, count in Counter(header).items():
        if name and count > 1:
            raise InputError(
                f"{file} has {count} columns named {name!r}",
                allowed="unique column names",
                fix="rename or remove the repeated columns",
            )


def _rewrite_returns(
    file: Path, delimiter: str, change: Callable[[list[str]], list[str]] = list
) -> str:
    """The rows as Python's parser reads them, each after a ``change``, written again.

    pandas takes a delimiter for part of a line's end where a carriage return stands alone.
    """
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n", quoting=csv.QUOTE_ALL)
    with closing(_read_rows(file, delimiter)) as rows:
        writer.writerows(change(row) for _, row in rows)
    return text.getvalue()


def _rewrite_numbers(
    file: Path,
    delimiter: str,
    header: Sequence[str],
    style: NumberStyle,
    missing: Sequence[str],
    ignored: Sequence[str],
) -> str:
    """The rows with the numbers of a declared style as Python writes them."""
    with closing(_read_rows(file, delimiter)) as rows:
        next(rows)
        looked_at = [name if name not in ignored else None for name in header]
        places = style.find_columns_of_numbers(looked_at, rows, missing)

    def rewrite_row(row: list[str]) -> list[str]:
        return [
            (style.to_plain(cell) or cell) if place in places else cell
            for place, cell in enumerate(row)
        ]

    return _rewrite_returns(file, delimiter, rewrite_row)


def _parse(
    file: Path, delimiter: str, missing: Sequence[str], text: str | None, **options: Any
) -> Any:
    """The frame in the file, or in ``text`` where its rows had to be written again."""
    import pandas

    cure = "check quoting and stray delimiters"
    try:
        with warnings.catch_warnings(), translate_foreign_errors(f"reading {file}", fix=cure):
            warnings.simplefilter("error", pandas.errors.ParserWarning)
            try:
                return pandas.read_csv(
                    file if text is None else io.StringIO(text),
                    sep=delimiter,
                    encoding="utf-8-sig",
                    keep_default_na=False,
                    na_values=list(missing),
                    low_memory=False,
                    skipinitialspace=True,
                    index_col=False,
                    **_ask_for_exact_numbers(),
                    **options,
                )
            except UnicodeDecodeError:
                raise _tell_not_utf8(file) from None
    except InputError as error:
        if not isinstance(error.__cause__, pandas.errors.ParserError | pandas.errors.ParserWarning):
            raise
        raise InputError(
            f"{file} is not a regular table: {str(error.__cause__).strip()}",
            allowed="rows with as many fields as the header",
            fix=cure,
        ) from None


def _ask_for_exact_numbers() -> dict[str, Any]:
    """The option by which older versions of pandas read numbers exactly; newer ones always do."""
    import pandas

    version = tuple(int(part) for part in pandas.__version__.split(".")[:2])
    return {} if version >= (3, 1) else {"float_precision": "round_trip"}


def _refuse_short_rows(
    file: Path, delimiter: str, counts: _Counts, n_columns: int, shape: tuple[int, int]
) -> None:
    """A row with fewer cells than the header has lost something; no score is missing silently.

    The parser has refused longer rows, so that without quotation marks the number of delimiters
    tells whether all rows are full.
    """
    n_rows, n_parsed = shape
    full = counts.delimiters == (n_columns - 1) * (n_rows + 1)
    if counts.quotes == 0 and full and n_parsed == n_columns:
        return
    with closing(_read_rows(file, delimiter)) as rows:
        odd = next(((line, row) for line, row in rows if len(row) != n_columns), None)
    if odd is not None:
        line, row = odd
        raise InputError(
            f"{file} is not a regular table: line {line} has {len(row)} fields, the header "
            f"{n_columns}",
            allowed="rows with as many fields as the header",
            fix="write an empty field where a value is missing; check quoting, stray delimiters "
            f"and {argument('delimiter')}",
        )
    if n_parsed != n_columns:
        raise InputError(
            f"{file} is not a regular table: its header has {n_columns} fields, its rows "
            f"{n_parsed}",
            allowed="rows with as many fields as the header",
            fix=f"check quoting, stray delimiters and {argument('delimiter')}",
        )


def _restore_formulas(frame: Any) -> Any:
    """``frame`` without the apostrophes that exports put before ``=``, ``+``, ``-`` and ``@``."""
    frame = frame.rename(columns=restore_formula)
    for name in frame.columns:
        cells = frame[name].to_numpy(dtype=object)
        if any(isinstance(cell, str) and cell.startswith("'") for cell in cells):
            plain = [restore_formula(cell) if isinstance(cell, str) else cell for cell in cells]
            frame = frame.assign(**{name: to_objects(plain)})
    return frame


def _restore_exact_integers(
    file: Path, delimiter: str, missing: Sequence[str], text: str | None, frame: Any
) -> Any:
    """Large whole numbers in columns with holes, which pandas rounds, as they are written.

    Older versions of pandas leave numbers beyond 64 bits as text; these are made numbers too.
    """
    rounded = []
    for place, (name, kind) in enumerate(zip(frame.columns, frame.dtypes, strict=True)):
        if kind == np.object_:
            present = frame.iloc[:, place].dropna()
            if len(present) and all(isinstance(c, str) and _is_whole(c) for c in present):
                cells = frame.iloc[:, place].to_numpy(dtype=object, na_value=None)
                exact = to_objects([None if cell is None else int(cell) for cell in cells])
                frame = frame.assign(**{name: exact})
        if kind == np.float64:
            values = frame.iloc[:, place].to_numpy()
            missed = np.isnan(values)
            if missed.any() and (np.abs(values[~missed]) >= EXACT_INTEGER).any():
                rounded.append(place)
    if not rounded:
        return frame
    texts = _parse(file, delimiter, missing, text, usecols=rounded, dtype=str)
    for place, name in zip(rounded, texts.columns, strict=True):
        cells = texts[name].to_numpy(dtype=object, na_value=None)
        if all(cell is None or _is_whole(cell) for cell in cells):
            exact = to_objects([None if cell is None else int(cell) for cell in cells])
            frame = frame.assign(**{frame.columns[place]: exact})
    return frame


def _is_whole(text: str) -> bool:
    digits = text.strip().lstrip("+-")
    return digits.isascii() and digits.isdigit()


def _tell_not_utf8(file: Path) -> InputError:
    """The error that names the first byte which is not UTF-8."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    position, byte = 0, None
    with file.open("rb") as content:
        try:
            while block := content.read(BLOCK):
                held = len(decoder.getstate()[0])
                decoder.decode(block)
                position += len(block)
            held = len(decoder.getstate()[0])
            decoder.decode(b"", final=True)
        except UnicodeDecodeError as error:
            byte = error.object[error.start]
            position += error.start - held
    shown = "" if byte is None else f": byte 0x{byte:02x} at position {position}"
    return InputError(
        f"{file} is not UTF-8{shown}",
        allowed="UTF-8 text",
        fix=f"set {argument('encoding', repr('cp1252'))} if Excel on Windows wrote it, or save it "
        "as UTF-8",
    )
