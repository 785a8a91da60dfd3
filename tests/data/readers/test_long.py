"""Long tables: a row per score."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from ssme.data import UNLABELED, ScoreSet
from ssme.errors import InputError

U = UNLABELED
LONG = {
    "id": ["q", "q", "q", "q", "p", "p"],
    "model": ["gpt", "gpt", "bert", "bert", "gpt", "gpt"],
    "class": ["neg", "pos", "pos", "neg", "neg", "pos"],
    "score": [0.2, 0.8, 0.4, 0.6, 0.5, 0.5],
    "label": ["pos", "pos", "pos", "pos", None, None],
}
BINARY = {"id": [1, 1, 2], "model": ["a", "b", "a"], "score": [0.1, 0.9, 0.3], "y": [0, 0, 1]}


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_rows_become_a_cube_with_holes(make: type) -> None:
    data = ScoreSet.from_frame(make(LONG))
    assert data.ids.tolist() == ["q", "p"], "in the order they first appear"
    assert data.models == ("gpt", "bert")
    assert data.classes == ("neg", "pos")
    assert_array_equal(data.scores[0], [[0.2, 0.8], [0.6, 0.4]])
    assert_array_equal(data.scores[1], [[0.5, 0.5], [np.nan, np.nan]])
    assert_array_equal(data.labels, [1, U])
    assert data.layout.kind == "long"


def test_without_classes_scores_are_of_the_positive() -> None:
    data = ScoreSet.from_frame(pd.DataFrame(BINARY))
    assert data.classes == (0, 1)
    assert_array_equal(data.scores[:, :, 1], [[0.1, 0.9], [0.3, np.nan]])
    assert_array_equal(data.labels, [0, 1])


def test_columns_may_have_other_names() -> None:
    names = {"id": "doc", "model": "clf", "class": "k", "score": "p", "label": "gold"}
    frame = pd.DataFrame(LONG).rename(columns=names)
    data = ScoreSet.from_frame(
        frame, id="doc", model="clf", class_="k", score="p", label="gold", positive="neg"
    )
    assert data.classes == ("pos", "neg")
    assert_array_equal(data.scores[0], [[0.8, 0.2], [0.4, 0.6]])
    assert_array_equal(data.labels, [0, U])


def test_explicit_order_and_choice_of_models() -> None:
    data = ScoreSet.from_frame(
        pd.DataFrame(LONG).iloc[:4], models=["bert"], classes=["pos", "neg"], layout="long"
    )
    assert data.models == ("bert",)
    assert_array_equal(data.scores, [[[0.4, 0.6]]])
    assert_array_equal(data.labels, [0])


def test_integer_classes_are_ascending() -> None:
    frame = pd.DataFrame(LONG)
    frame["class"] = frame["class"].map({"pos": 1, "neg": 0})
    frame["label"] = [1.0, 1.0, 1.0, 1.0, None, None]
    data = ScoreSet.from_frame(frame)
    assert data.classes == (0, 1)
    assert_array_equal(data.labels, [1, U])


def test_a_label_on_one_row_of_an_id_is_enough() -> None:
    frame = pd.DataFrame(LONG).assign(label=["", None, "pos", None, None, None])
    assert_array_equal(ScoreSet.from_frame(frame).labels, [1, U])


def test_weights_and_groups_stand_on_the_rows_of_an_id() -> None:
    frame = pd.DataFrame(LONG).assign(weight=[2.0] * 4 + [3.0] * 2, group=["x"] * 4 + [None] * 2)
    data = ScoreSet.from_frame(frame)
    assert data.weights.tolist() == [2.0, 3.0]
    assert data.groups["group"].tolist() == ["x", None]
    with pytest.raises(InputError, match="'weight' has different values for id 'q': 2, 5"):
        ScoreSet.from_frame(frame.assign(weight=[2.0, 2.0, 2.0, 5.0, 3.0, 3.0]))


def test_unlabeled_only_if_no_column_may_be_the_label() -> None:
    frame = pd.DataFrame(LONG).drop(columns="label")
    assert ScoreSet.from_frame(frame).n_labeled == 0
    with pytest.raises(InputError, match=r"no label column.*labels=False"):
        ScoreSet.from_frame(frame.assign(gold="pos"))
    assert ScoreSet.from_frame(frame.assign(gold="pos"), False).n_labeled == 0
    assert ScoreSet.from_frame(pd.DataFrame(LONG), False).n_labeled == 0


def test_labels_from_another_table() -> None:
    frame = pd.DataFrame(LONG).drop(columns="label")
    labels = pl.DataFrame({"id": ["p"], "truth": ["neg"]})
    assert_array_equal(ScoreSet.from_frame(frame, labels).labels, [U, 0])
