"""Series that name the same rows in another order are refused; others are taken row by row."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from ssme import InputError, ScoreSet

ROWS = ["a", "b", "c", "d"]
FIRST = pd.Series([0.9, 0.2, 0.7, 0.4], index=ROWS)
SECOND = pd.Series([0.8, 0.3, 0.6, 0.1], index=ROWS)
LABELS = pd.Series([1, 0, 1, 0], index=ROWS)
TURNED = ROWS[::-1]


@pytest.mark.parametrize(
    ("scores", "rest", "what"),
    [
        ({"one": FIRST, "two": SECOND[TURNED]}, {"labels": LABELS}, "the scores of model 'two'"),
        ({"one": FIRST, "two": SECOND}, {"labels": LABELS[TURNED]}, "the labels"),
        ({"one": FIRST}, {"labels": LABELS, "weights": FIRST[TURNED]}, "the weights"),
        ({"one": FIRST}, {"labels": LABELS, "groups": {"site": LABELS[TURNED]}}, "'site'"),
    ],
)
def test_another_order_is_refused_and_named(scores, rest, what):
    with pytest.raises(InputError, match="in another order") as told:
        ScoreSet.from_arrays(scores, **rest)
    assert what in str(told.value)
    assert "reindex" in str(told.value)


def test_answers_in_another_order_are_refused():
    said = pd.Series(["yes", "no", "yes", "no"], index=ROWS)
    with pytest.raises(InputError, match="the answers of 'second'"):
        ScoreSet.from_answers({"first": said, "second": said[TURNED]}, said)
    with pytest.raises(InputError, match="the labels"):
        ScoreSet.from_answers({"first": said, "second": said}, said[TURNED])


def test_series_in_one_order_arrays_and_other_indexes_are_taken_row_by_row():
    expected = ScoreSet.from_arrays({"one": FIRST.to_numpy(), "two": SECOND.to_numpy()}, LABELS)
    for labels in (LABELS, LABELS.to_numpy(), LABELS.set_axis(range(4))):
        got = ScoreSet.from_arrays({"one": FIRST, "two": SECOND}, labels)
        assert np.array_equal(got.scores, expected.scores)
        assert np.array_equal(got.labels, expected.labels)


def test_an_index_with_repeated_or_other_names_tells_no_order():
    twice = pd.Series([0.9, 0.2, 0.7], index=["a", "a", "b"])
    ScoreSet.from_arrays({"one": twice, "two": twice[::-1]})
    ScoreSet.from_arrays({"one": twice, "two": twice.set_axis(["a", "c", "b"])})
