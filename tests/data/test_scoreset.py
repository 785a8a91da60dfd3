"""The frozen set: views of it, changes by copy, how it shows itself."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from ssme.data import UNLABELED, ScoreSet
from ssme.errors import InputError


@pytest.fixture
def data() -> ScoreSet:
    scores = np.random.default_rng(0).random((5, 3))
    scores[4, 2] = np.nan
    return ScoreSet.from_arrays(
        scores,
        ["ham", "spam", None, "spam", None],
        models=["a", "b", "<i>c</i>"],
        classes=["ham", "spam"],
        weights=[1, 2, 3, 4, 5],
        groups={"site": list("xxyyy")},
        ids=list("pqrst"),
    )


def test_arrays_are_read_only(data: ScoreSet) -> None:
    for array in (data.scores, data.labels, data.weights, data.ids, data.groups["site"]):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = array[1]
    with pytest.raises(AttributeError):
        data.models = ()  # type: ignore[misc]


@pytest.mark.parametrize("rows", [[3, 0], np.array([3, 0]), [-2, 0]])
def test_take_by_position(data: ScoreSet, rows: object) -> None:
    taken = data.take(rows)  # type: ignore[arg-type]
    assert_array_equal(taken.scores, data.scores[[3, 0]])
    assert_array_equal(taken.labels, [1, 0])
    assert taken.ids.tolist() == ["s", "p"]
    assert taken.groups["site"].tolist() == ["y", "x"]
    assert taken.weights.tolist() == [4.0, 1.0]
    assert taken.classes == data.classes


def test_take_by_mask(data: ScoreSet) -> None:
    assert data.take(data.labeled).n_unlabeled == 0
    assert data.take(~data.labeled).n_rows == 2
    assert data.take(np.zeros(5, dtype=bool)).n_rows == 0


def test_select(data: ScoreSet) -> None:
    assert_array_equal(data.select(["b", "a"]).scores, data.scores[:, [1, 0]])
    assert data.select("b").models == ("b",)


def test_with_labels_speaks_the_users_classes(data: ScoreSet) -> None:
    other = data.with_labels([None, "ham", "ham", "?", "spam"], unlabeled="?")
    assert_array_equal(other.labels, [UNLABELED, 0, 0, UNLABELED, 1])
    assert data.with_labels(None).n_labeled == 0
    assert_array_equal(data.with_labels(data.label_values).labels, data.labels)


def test_replace_and_constructor_check_shapes(data: ScoreSet) -> None:
    assert data.replace(weights=None).weights is None
    with pytest.raises(InputError, match="from_arrays"):
        data.replace(models=("a",))
    with pytest.raises(InputError, match=r"labels \(2,\)"):
        ScoreSet(np.full((3, 1, 2), 0.5), np.zeros(2, dtype=np.int64), ("a",), (0, 1))


def test_repr_is_one_compact_line(data: ScoreSet) -> None:
    assert repr(data) == (
        "ScoreSet(rows: 5, labeled: 3 (ham: 1, spam: 2), 3 models: a, b, <i>c</i>, "
        "missing scores: 1, groups: site, weights: yes)"
    )


def test_html_is_escaped(data: ScoreSet) -> None:
    html = data._repr_html_()
    assert "&lt;i&gt;c&lt;/i&gt;" in html
    assert "<i>" not in html
    assert "<caption>ScoreSet</caption>" in html


def test_survives_pickling_to_workers(data: ScoreSet) -> None:
    again = pickle.loads(pickle.dumps(data))
    assert_array_equal(again.scores, data.scores)
    assert again.models == data.models
    assert again.layout == data.layout
