"""Excel files: values as Excel holds them, and refusals that name the sheet, cell and option."""

from __future__ import annotations

import contextlib
import datetime
import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from ssme.data import ScoreSet
from ssme.errors import InputError

openpyxl = pytest.importorskip("openpyxl", reason="openpyxl is not installed (extra `excel`)")

ROWS: list[list[Any]] = [
    ["id", "bert", "label", "group_site", "day"],
    [2**53 - 1, 0.25, "spam", "a", datetime.date(2026, 1, 2)],
    [2, 1, "ham", None, None],
    [None] * 5,
    [3, 0, None, "NA", None],
]


def book(path: Path, **sheets: list[list[Any]]) -> Path:
    made = openpyxl.Workbook()
    made.remove(made.active)
    for name, rows in sheets.items():
        sheet = made.create_sheet(name)
        for row in rows:
            sheet.append(row)
    made.save(path)
    return path


def test_values_are_read_as_excel_holds_them(tmp_path: Path) -> None:
    data = ScoreSet.read(book(tmp_path / "s.xlsx", scores=ROWS, empty=[]), positive="spam")
    assert_array_equal(data.scores[:, 0, 1], [0.25, 1.0, 0.0])
    assert data.ids.tolist() == [2**53 - 1, 2, 3]
    assert data.label_values.tolist() == ["spam", "ham", None]
    assert data.groups["site"].tolist() == ["a", None, None]
    assert data.layout.ignored == ("day",)


def test_ids_that_excel_has_rounded_are_refused(tmp_path: Path) -> None:
    """The label of one row was put on the row before it."""
    table = pd.DataFrame({"id": 2**53 + np.arange(8), "bert": np.linspace(0.1, 0.9, 8)})
    table.to_csv(tmp_path / "scores.csv", index=False)
    pd.DataFrame({"id": [2**53 + 5], "label": [1]}).to_excel(tmp_path / "y.xlsx", index=False)
    with pytest.raises(InputError, match="rounded"):
        ScoreSet.read(tmp_path / "scores.csv", tmp_path / "y.xlsx")


def test_of_several_sheets_one_must_be_named(tmp_path: Path) -> None:
    path = book(tmp_path / "s.xlsx", first=ROWS, second=ROWS[:2])
    with pytest.raises(InputError, match=r"2 filled sheets.*sheet='first'"):
        ScoreSet.read(path)
    assert ScoreSet.read(path, sheet="second", classes=["ham", "spam"]).n_rows == 1
    with pytest.raises(InputError, match=r"no sheet 'secnd'.*Did you mean 'second'"):
        ScoreSet.read(path, sheet="secnd")


def test_a_formula_without_a_value_is_refused_and_one_with_a_value_is_read(tmp_path: Path) -> None:
    path = book(tmp_path / "s.xlsx", a=[["bert", "label"], [0.5, 1], ["=1/4", 0]])
    with pytest.raises(InputError, match=r"cell A3 is a formula that was never computed"):
        ScoreSet.read(path)
    computed = edited(path, b"<f>1/4</f><v></v>", b"<f>1/4</f><v>0.25</v>")
    assert_array_equal(ScoreSet.read(computed).scores[:, 0, 1], [0.5, 0.25])


def edited(path: Path, before: bytes, after: bytes, member: str = "xl/worksheets/sheet1.xml"):
    """The file with a part of one member replaced."""
    stream = io.BytesIO()
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            content = old.read(name)
            if name == member:
                content = content.replace(b"<v />", b"<v></v>").replace(b"<v/>", b"<v></v>")
                assert before in content, content
                content = content.replace(before, after)
            new.writestr(name, content)
    other = path.with_name(f"edited-{path.name}")
    other.write_bytes(stream.getvalue())
    return other


def test_an_error_among_numbers_is_no_number(tmp_path: Path) -> None:
    path = book(
        tmp_path / "s.xlsx", a=[["bert", "label"], [0.5, 1], ["#DIV/0!", 0], [0.25, 1], [0.125, 0]]
    )
    with pytest.raises(InputError, match=r"'#DIV/0!' at row 1, text among numbers"):
        ScoreSet.read(path)


def test_columns_without_a_name_or_with_the_same_name(tmp_path: Path) -> None:
    path = book(tmp_path / "s.xlsx", a=[["bert", None, "label", None], [0.5, 7, 1], [0.2, 8, 0]])
    assert ScoreSet.read(path).models == ("bert",)
    path = book(tmp_path / "t.xlsx", a=[["bert", "bert", "label"], [0.5, 7, 1]])
    with pytest.raises(InputError, match=r"sheet 'a', has two columns named 'bert'"):
        ScoreSet.read(path)


@pytest.mark.parametrize(
    ("before", "after"),
    [(b'<row r="2"', b'<row r="99999999999"'), (b'r="A2"', b'r="ZZZ2"')],
    ids=["a row far below", "a column far right"],
)
def test_a_sheet_of_holes_ends(tmp_path: Path, before: bytes, after: bytes) -> None:
    path = book(tmp_path / "s.xlsx", a=[["bert", "label"], [0.5, 1]])
    with contextlib.suppress(InputError):
        ScoreSet.read(edited(path, before, after))


def test_a_file_that_unpacks_to_far_more_is_refused(tmp_path: Path) -> None:
    path = book(tmp_path / "s.xlsx", a=[["bert", "label"], [0.5, 1]])
    bomb = edited(path, b"</worksheet>", b"</worksheet>" + b" " * (80 << 20))
    assert bomb.stat().st_size < 1 << 20
    with pytest.raises(InputError, match=r"unpacks to .* bytes.*Save the sheet as CSV"):
        ScoreSet.read(bomb)


def test_entities_are_not_blown_up(tmp_path: Path) -> None:
    path = book(tmp_path / "s.xlsx", a=[["bert", "label"], [0.5, 1]])
    laughs = b"".join(
        b'<!ENTITY l%d "%s">' % (i, b"&l%d;" % (i - 1) * 10 if i else b"ha") for i in range(12)
    )
    head = b"<!DOCTYPE worksheet [" + laughs + b"]><worksheet "
    hostile = edited(path, b"<worksheet ", head)
    hostile = edited(hostile, b"<v>1</v>", b"<v>&l11;</v>")
    with pytest.raises(InputError):
        ScoreSet.read(hostile)


@pytest.mark.parametrize("content", [b"", b"PK", b"no zip at all", b"\xd0\xcf\x11\xe0" * 10])
def test_what_is_no_excel_file_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "s.xlsx"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"s\.xlsx.*Save it as \.xlsx again, or as CSV"):
        ScoreSet.read(path)


def test_without_the_library_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = book(tmp_path / "s.xlsx", a=ROWS)
    monkeypatch.setitem(__import__("sys").modules, "openpyxl", None)
    with pytest.raises(ImportError, match=r"reading Excel files needs the extra `excel`"):
        ScoreSet.read(path)


def test_a_first_row_of_scores_is_no_header(tmp_path: Path) -> None:
    rows = [[row, row / 10 + 0.05, 0.5 - row / 20] for row in range(5)]
    path = book(tmp_path / "book.xlsx", scores=rows)
    with pytest.raises(InputError, match=r"first row of .* contains numbers"):
        ScoreSet.read(path, labels=False)
    found = ScoreSet.read(path, labels=False, no_header=True, id="column_1")
    assert found.n_rows == 5
