"""Numbers with a decimal comma and marks between thousands: declared, never guessed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from ssme.data import ScoreSet
from ssme.data.readers.number_style import NumberStyle
from ssme.errors import InputError


def written(folder: Path, content: str, name: str = "s.csv") -> Path:
    path = folder / name
    path.write_text(content)
    return path


GERMAN = "id;bert;weight;note;label\n7;0,25;1.234,5;a,b;1\n8;1;12;1,5;0\n9;0;1.000.000;x;\n"


def test_a_declared_style_is_read_exactly(tmp_path: Path) -> None:
    path = written(tmp_path, GERMAN)
    data = ScoreSet.read(path, delimiter=";", decimal=",", thousands=".")
    assert_array_equal(data.scores[:, 0, 1], [0.25, 1.0, 0.0])
    assert data.weights is not None
    assert_array_equal(data.weights, [1234.5, 12.0, 1_000_000.0])
    assert data.ids is not None
    assert data.ids.tolist() == [7, 8, 9]
    assert data.label_values.tolist() == [1, 0, None]
    assert data.layout is not None
    assert data.layout.ignored == ("note",)


def test_text_with_commas_stays_text(tmp_path: Path) -> None:
    data = ScoreSet.read(
        written(tmp_path, GERMAN), delimiter=";", decimal=",", thousands=".", groups=["note"]
    )
    assert data.groups["note"].tolist() == ["a,b", "1,5", "x"]


def test_a_comma_that_nobody_declared_is_refused_with_the_option(tmp_path: Path) -> None:
    path = written(tmp_path, "bert;label\n0,25;1\n0,5;\n")
    with pytest.raises(InputError, match=r"'bert'.*'0,25' at row 0.*decimal=','.*thousands=','"):
        ScoreSet.read(path, delimiter=";")
    assert ScoreSet.read(path, delimiter=";", decimal=",").scores[1, 0, 1] == 0.5


def test_text_that_looks_like_numbers_can_be_declared_as_text(tmp_path: Path) -> None:
    path = written(tmp_path, "bert;group;label\n0.25;1,5;1\n0.5;2,5;\n")
    with pytest.raises(InputError, match=r"decimal='\.'"):
        ScoreSet.read(path, delimiter=";")
    for said in ({"decimal": "."}, {"ignore": ["group"]}):
        data = ScoreSet.read(path, delimiter=";", **said)
        assert data.n_rows == 2
    assert ScoreSet.read(path, delimiter=";", decimal=".").groups["group"].tolist() == [
        "1,5",
        "2,5",
    ]


@pytest.mark.parametrize(
    ("cells", "stray", "line"),
    [
        (["0,5", "0,25", "0.75"], "0.75", 4),
        (["0.5", "0.25", "0.75"], "0.5", 2),
        (["0", "1", "1,2,3"], "1,2,3", 4),
        (["0,5", "n/a", "0,5"], "n/a", 3),
    ],
)
def test_a_cell_in_another_style_is_refused_with_its_line(
    tmp_path: Path, cells: list[str], stray: str, line: int
) -> None:
    path = written(tmp_path, "bert;label\n" + "".join(f"{cell};1\n" for cell in cells))
    with pytest.raises(InputError, match=rf"'bert' holds '{stray}' in line {line}.*decimal=','"):
        ScoreSet.read(path, delimiter=";", decimal=",")


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
    assert found is not None
    assert float(found) == float(text.replace(",", ""))


def test_two_marks_that_are_the_same_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path, "bert,label\n0.5,1\n")
    with pytest.raises(InputError, match=r"decimal=','.*thousands=','.*two different marks"):
        ScoreSet.read(path, decimal=",", thousands=",")


@pytest.mark.parametrize(("name", "value"), [("decimal", ","), ("thousands", "."), ("sheet", "a")])
@pytest.mark.parametrize("suffix", ["npz", "jsonl"])
def test_options_of_another_kind_of_file_are_refused(
    tmp_path: Path, name: str, value: str, suffix: str
) -> None:
    path = tmp_path / f"s.{suffix}"
    if suffix == "npz":
        np.savez(path, scores=np.array([[0.5]]))
    else:
        path.write_text('{"bert": 0.5, "label": 1}\n')
    with pytest.raises(InputError, match=rf"{name}=.* Allowed: {name} for .* only"):
        ScoreSet.read(path, False, **{name: value})


def test_the_file_of_labels_is_written_like_that_of_the_scores(tmp_path: Path) -> None:
    scores = written(tmp_path, "id;bert\n1;0,5\n2;0,25\n")
    labels = written(tmp_path, "id;label;label_weight\n2;1;1,5\n", "labels.csv")
    data = ScoreSet.read(scores, labels, delimiter=";", decimal=",")
    assert data.label_values.tolist() == [None, 1]
