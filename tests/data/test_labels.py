"""Labels as people write them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from ssme.data import UNLABELED, ScoreSet
from ssme.errors import InputError

P = np.full((4, 2), 0.5)
U = UNLABELED


@pytest.mark.parametrize(
    ("labels", "classes", "codes"),
    [
        ([0, 1, 1, 0], (0, 1), [0, 1, 1, 0]),
        ([0, 1, None, 0], (0, 1), [0, 1, U, 0]),
        ([0.0, 1.0, np.nan, 0.0], (0, 1), [0, 1, U, 0]),
        ([1, 1, 1, 1], (0, 1), [1, 1, 1, 1]),
        ([2, 1, 1, None], (1, 2), [1, 0, 0, U]),
        ([True, False, True, True], (False, True), [1, 0, 1, 1]),
        ([True, None, False, None], (False, True), [1, U, 0, U]),
        (np.array([1, 0, 1, 0], dtype=np.uint8), (0, 1), [1, 0, 1, 0]),
        (pd.Series([1, None, 0, 1], dtype="Int64"), (0, 1), [1, U, 0, 1]),
        (pd.Series([True, None, False, True], dtype="boolean"), (False, True), [1, U, 0, 1]),
        (pl.Series([1, None, 0, 1]), (0, 1), [1, U, 0, 1]),
        (pa.chunked_array([[1, None, 0, 1]]), (0, 1), [1, U, 0, 1]),
        (np.ma.array([1, 0, 0, 1], mask=[0, 1, 0, 0]), (0, 1), [1, U, 0, 1]),
        (None, (0, 1), [U] * 4),
    ],
)
def test_numbers_and_booleans_order_themselves(
    labels: Any, classes: tuple[Any, ...], codes: list[int]
) -> None:
    data = ScoreSet.from_arrays(P, labels)
    assert data.classes == classes
    assert [type(name) for name in data.classes] == [type(name) for name in classes]
    assert_array_equal(data.labels, codes)


@pytest.mark.parametrize("missing", [None, np.nan, "", "  ", pd.NA])
def test_text_needs_an_order_and_knows_missing(missing: Any) -> None:
    labels = np.array(["spam", missing, "ham", "spam"], dtype=object)
    for options in ({"classes": ["ham", "spam"]}, {"positive": "spam"}):
        data = ScoreSet.from_arrays(P, labels, **options)
        assert data.classes == ("ham", "spam")
        assert_array_equal(data.labels, [1, U, 0, 1])


@pytest.mark.parametrize("pair", [("no", "yes"), ("Negative", "Positive"), ("false", "true")])
def test_of_a_known_pair_the_scores_are_those_of_the_affirmative_one(pair: tuple[str, str]) -> None:
    for labels in ([pair[0], pair[1], None], [pair[1], pair[0], None]):
        data = ScoreSet.from_arrays({"a": [0.2, 0.7, 0.9]}, labels)
        assert data.classes == pair
        assert data.label_values.tolist() == labels
    with pytest.raises(InputError, match="positive='cat'"):
        ScoreSet.from_arrays({"a": [0.2, 0.7, 0.9]}, ["cat", "dog", None])


def test_layout_tells_the_encoding() -> None:
    data = ScoreSet.from_arrays(P, ["a", "b", None, "a"], classes=["b", "a"], unlabeled="?")
    assert data.layout.encoding == {"b": 0, "a": 1}
    assert "classes: 'b' = 0, 'a' = 1 (positive)" in str(data.layout)
    assert "empty, '?'" in str(data.layout)


@pytest.mark.parametrize("kind", [pl.Int128, pl.UInt128, pl.Decimal(20, 2)])
def test_whole_numbers_that_numpy_has_no_type_for(kind: Any) -> None:
    labels = pl.Series("label", [1, None, 0, 1]).cast(kind)
    frame = pl.DataFrame({"a": [0.1, 0.2, 0.3, 0.4], "label": labels, "w": [1, 2, 3, 4]})
    for data in (
        ScoreSet.from_frame(frame.with_columns(pl.col("w").cast(kind)), weight="w"),
        ScoreSet.from_frame(frame.drop("label", "w"), labels),
        ScoreSet.from_arrays(P, labels, ids=pl.Series([5, 6, 7, 8]).cast(kind)),
    ):
        assert data.classes == (0, 1)
        assert_array_equal(data.labels, [1, U, 0, 1])


@pytest.mark.parametrize(
    ("labels", "unlabeled", "other"),
    [([True, False, None, True], 0, False), ([1, 0, None, 1], True, 1)],
)
def test_a_boolean_is_no_number(labels: list[Any], unlabeled: Any, other: Any) -> None:
    """unlabeled=0 dropped every False without a word."""
    with pytest.raises(InputError, match=f"unlabeled={unlabeled}.*Pass unlabeled={other}"):
        ScoreSet.from_arrays(P, labels, unlabeled=unlabeled)
    assert ScoreSet.from_arrays(P, labels, unlabeled=other).n_labeled in (1, 2)


@pytest.mark.parametrize("labels", [[0, 1, 1, 0], [0.0, 1.0, 1.0, 0.0], [False, True, True, False]])
def test_a_code_of_another_type_than_the_labels_is_refused(labels: list[object]):
    """A text that spells a number or a truth value dropped nothing, without a word."""
    for code in ("0", "1") if labels[0] is not False else ("False", "True"):
        with pytest.raises(InputError, match="of another type"):
            ScoreSet.from_arrays(P, labels, unlabeled=code)
    assert ScoreSet.from_arrays(P, labels, unlabeled="?").n_labeled == 4


def test_numbers_among_booleans_are_dropped_alone() -> None:
    labels = np.array([True, False, 0, None], dtype=object)
    data = ScoreSet.from_arrays(P, labels, unlabeled=0)
    assert_array_equal(data.labels, [1, 0, U, U])
    with pytest.raises(InputError, match="mixed types"):
        ScoreSet.from_arrays(P, labels)


TEXTS = {
    "list": list,
    "numpy": lambda labels: np.array([label or "" for label in labels]),
    "pandas": pd.Series,
    "string": lambda labels: pd.Series(labels, dtype="string"),
    "category": lambda labels: pd.Series(labels, dtype="category"),
    "polars": pl.Series,
    "arrow": lambda labels: pa.chunked_array([labels]),
}


@pytest.mark.parametrize("make", TEXTS.values(), ids=TEXTS)
def test_text_that_is_a_number_is_ordered_as_one(make: Any) -> None:
    for labels, codes in ((["1", "0", None, "0"], [1, 0, U, 0]), ([None, "1", None, "1"], None)):
        data = ScoreSet.from_arrays(P, make(labels))
        assert data.classes == ("0", "1")
        assert_array_equal(data.labels, codes or [U, 1, U, 1])
    assert_array_equal(data.with_labels([1, 0, None, 0]).labels, [1, 0, U, 0])
    with pytest.raises(InputError, match="label -1 at row 0"):
        ScoreSet.from_arrays(P, make(["-1", "0", "1", None]))
    with pytest.raises(InputError, match=r"which of the labels .* is the positive class"):
        ScoreSet.from_arrays(P, make(["v1", "v0", None, None]))


def test_text_labels_of_many_classes_are_positions() -> None:
    scores = np.full((12, 1, 11), 1 / 11)
    data = ScoreSet.from_arrays(scores, ["10", "9", "2", *[None] * 9])
    assert data.classes == tuple(map(str, range(11)))
    assert_array_equal(data.labels[:3], [10, 9, 2])
