"""CSV as people and machines write it: read exactly, or refused with the line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from ssme.data import ScoreSet
from ssme.data.readers import csv_files
from ssme.data.readers.csv_files import NumberStyle, open_csv
from ssme.data.readers.tables import Table
from ssme.data.values import is_missing
from ssme.errors import InputError


def written(folder: Path, content: str | bytes, name: str = "s.csv") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_cells_of_any_length_are_read(tmp_path: Path) -> None:
    long = "x" * 140_000
    for cell in (long, f'"{long}"'):
        data = ScoreSet.read(written(tmp_path, f"bert,note,label\n0.5,{cell},1\n0.2,y,0\n"))
        assert data.models == ("bert",)
    assert ScoreSet.read(written(tmp_path, f"{long},label\n0.5,1\n")).models == (long,)


@pytest.mark.parametrize("encoding", ["cp1252", "latin1", "utf-16", "utf-16-le", "cp850"])
def test_another_encoding_is_declared(tmp_path: Path, encoding: str) -> None:
    text = "id;größe;label\nä;0,25;1\nß;0,75;0\n"
    path = written(tmp_path, text.encode(encoding))
    told = {"delimiter": ";", "decimal": ","}
    with pytest.raises(InputError, match="encoding"):
        ScoreSet.read(path, **told)
    data = ScoreSet.read(path, **told, encoding=encoding)
    plain = ScoreSet.read(written(tmp_path, text, "utf8.csv"), **told)
    assert data.models == plain.models == ("größe",)
    assert data.ids.tolist() == ["ä", "ß"]
    assert_array_equal(data.scores, plain.scores)


@pytest.mark.parametrize("encoding", ["cp1252", "utf-8"])
def test_a_file_of_labels_is_in_the_encoding_of_the_scores_or_in_utf8(
    tmp_path: Path, encoding: str
) -> None:
    scores = written(tmp_path, "id;m\nä;0.25\nß;0.75\nc;0.5\n".encode("cp1252"))
    labels = written(tmp_path, "id,label\nä,1\nß,0\n".encode(encoding), "labels.csv")
    data = ScoreSet.read(scores, labels, delimiter=";", encoding="cp1252")
    assert data.labels.tolist() == [1, 0, -1]


def test_numbers_are_read_to_the_last_bit(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    scores = np.concatenate([rng.random(3000), 10.0 ** -rng.uniform(0, 300, 500)])
    lines = [f"{score!r},{score:.25f},1" for score in scores.tolist()]
    data = ScoreSet.read(written(tmp_path, "short,long,label\n" + "\n".join(lines)))
    assert_array_equal(data.scores[:, 0, 1], scores)
    assert_array_equal(data.scores[:, 1, 1], [float(f"{score:.25f}") for score in scores])


def test_a_short_row_far_from_the_end_is_refused_with_its_line(tmp_path: Path) -> None:
    text = "m,note,label\r\n0.5,a\r\n" + "0.5,a,1\r\n" * 150_000
    with pytest.raises(InputError, match="line 2 has 2"):
        ScoreSet.read(written(tmp_path, text))


def test_a_float_column_keeps_its_large_numbers(tmp_path: Path) -> None:
    frame = open_csv(written(tmp_path, "a,b\n1e300,1\n,2\n0.5,3\n"), ",")
    assert frame["a"].tolist()[::2] == [1e300, 0.5]
    assert pd.isna(frame["a"][1])


def test_a_score_that_rounds_to_one_is_accepted_and_others_are_shown_in_full(
    tmp_path: Path,
) -> None:
    data = ScoreSet.read(written(tmp_path, "bert,label\n1.0000001,1\n0.3,0\n"))
    assert_array_equal(data.scores[:, 0, 1], [1.0, 0.3])
    for options in ({}, {"models": ["bert"]}):
        with pytest.raises(InputError, match=r"1\.000002 at row 0"):
            ScoreSet.read(written(tmp_path, "bert,label\n1.000002,1\n0.3,0\n"), **options)


def test_the_limit_of_pythons_parser_is_left_as_it_was(tmp_path: Path) -> None:
    import csv

    before = csv.field_size_limit()
    ScoreSet.read(written(tmp_path, 'bert,label\n"0.5",1\n'))
    with pytest.raises(InputError):
        ScoreSet.read(written(tmp_path, 'bert,label\n"0.5"\n'))
    assert csv.field_size_limit() == before


# -------------------- decimal commas and marks between thousands: declared, never guessed


def test_text_that_looks_like_numbers_can_be_declared_as_text(tmp_path: Path) -> None:
    path = written(tmp_path, "bert;group;label\n0.25;1,5;1\n0.5;2,5;\n")
    with pytest.raises(InputError, match="decimal"):
        ScoreSet.read(path, delimiter=";")
    for said in ({"decimal": "."}, {"ignore": ["group"]}):
        data = ScoreSet.read(path, delimiter=";", **said)
        assert data.n_rows == 2
    assert ScoreSet.read(path, delimiter=";", decimal=".").groups["group"].tolist() == [
        "1,5",
        "2,5",
    ]


@pytest.mark.parametrize(
    "cell", ["12.34,5", "1.2345", ".5", "1..000", "1.00", ",", "", "1,5e", "0x1", "1 000", "١"]
)
def test_what_is_not_in_the_style_to_the_last_character_is_no_number(cell: str) -> None:
    assert NumberStyle(",", ".").to_plain(cell) is None


@given(
    value=st.floats(min_value=-1e15, max_value=1e15, allow_subnormal=False),
    marks=st.sampled_from([(",", "."), (",", None), (".", ","), (",", " "), (".", "'")]),
)
def test_written_in_a_style_and_read_again(value: float, marks: tuple[str, str | None]) -> None:
    decimal, thousands = marks
    text = f"{value:{',' if thousands else ''}.6f}"
    swapped = text.translate(str.maketrans({".": decimal, ",": thousands or ","}))
    found = NumberStyle(decimal, thousands).to_plain(swapped)
    assert float(found) == float(text.replace(",", ""))


def test_the_file_of_labels_is_written_like_that_of_the_scores(tmp_path: Path) -> None:
    scores = written(tmp_path, "id;bert\n1;0,5\n2;0,25\n")
    labels = written(tmp_path, "id;label;label_weight\n2;1;1,5\n", "labels.csv")
    data = ScoreSet.read(scores, labels, delimiter=";", decimal=",")
    assert data.label_values.tolist() == [None, 1]


CELLS = ["", "NA", "a", " b", "1", "-2", "007", "0.5", ".5", "1e3", "-Inf", "true", "fALSE", '" 1"']
CELLS += ['"x,y"', "9007199254740993", "18446744073709551615", "36893488147419103232", "1_0", "'=1"]


@settings(deadline=None)
@given(
    columns=st.lists(
        st.lists(st.sampled_from(CELLS), min_size=1, max_size=3), min_size=2, max_size=4
    ),
    n=st.integers(1, 6),
)
def test_pandas_reads_large_files_as_small_ones_are_read(
    tmp_path_factory: pytest.TempPathFactory, columns: list[list[str]], n: int
) -> None:
    rows = [",".join(cells[row % len(cells)] for cells in columns) for row in range(n)]
    text = "\n".join([",".join("bcde"[: len(columns)]), *rows, ""])
    path = written(tmp_path_factory.mktemp("csv"), text)
    small = Table(open_csv(path, ","))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_files, "SMALL", 0)
        large = Table(open_csv(path, ","))
    for name in small.columns:
        one, other = small.read_values(name), large.read_values(name)
        assert one.dtype == other.dtype
        assert small.find_kind(name) == large.find_kind(name)
        assert_array_equal(is_missing(one), is_missing(other))
        assert_array_equal(one[~is_missing(one)], other[~is_missing(other)])


@pytest.fixture(params=[0, csv_files.SMALL], ids=["pandas", "csv"])
def both_parsers(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test runs as if its file were large, and as it is."""
    monkeypatch.setattr(csv_files, "SMALL", request.param)


@pytest.mark.usefixtures("both_parsers")
def test_several_spaces_are_no_missing_cell(tmp_path: Path) -> None:
    path = written(tmp_path, "a b label\n.1 .2 1\n.3  0\n")
    with pytest.raises(InputError, match="header has 3 fields, but line 3 has 2"):
        open_csv(path, " ")


@pytest.mark.usefixtures("both_parsers")
def test_only_lines_of_spaces_and_tabs_are_blank(tmp_path: Path) -> None:
    path = written(tmp_path, "name\na\n \t\n\u2003\nb\n")
    assert Table(open_csv(path, ",")).read_values("name").tolist() == ["a", "\u2003", "b"]


def test_a_first_row_of_scores_is_no_header(tmp_path: Path) -> None:
    scores = "7,.1,0.2\n8,.3,0.4\n9,.5,0.6\n"
    with pytest.raises(InputError, match=r"the first row of .* contains numbers"):
        ScoreSet.read(written(tmp_path, scores), labels=False)
    data = ScoreSet.read(written(tmp_path, f"id,3.5,4.0\n{scores}"), labels=False)
    assert data.models == ("3.5", "4.0")


@pytest.mark.parametrize("stray", ["N/A", "1_000", "0.5%", "$0.5", "٣"])
def test_scores_with_one_text_do_not_name_the_rows(tmp_path: Path, stray: str) -> None:
    rows = [f".{row}1,.{row}2,{row % 2}" for row in range(12)]
    path = written(tmp_path, "\n".join(["a,b,label", *rows, f"{stray},.5,1"]))
    with pytest.raises(InputError, match=r"'a' contains .* at row 12, text among numbers"):
        ScoreSet.read(path)
