"""Bad arrays are refused with what was found, and where."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_array

from ssme.data import ScoreSet
from ssme.errors import InputError

P = np.array([[0.2, 0.7], [0.6, 0.1], [0.5, 0.9], [0.8, 0.3]])
Q = np.array([[[0.2, 0.3, 0.5], [0.1, 0.8, 0.1]], [[0.6, 0.2, 0.2], [0.3, 0.3, 0.4]]])


def arrays(scores: Any = P, labels: Any = None, **options: Any) -> Callable[[], Any]:
    return lambda: ScoreSet.from_arrays(scores, labels, **options)


def changed(array: np.ndarray, index: tuple[int, ...], value: float) -> np.ndarray:
    out = array.copy()
    out[index] = value
    return out


CASES = [
    ("one-dimensional scores", arrays([0.1, 0.2]), "1 dimensions, shape (2,)"),
    ("four-dimensional scores", arrays(np.zeros((2, 2, 2, 2))), "4 dimensions"),
    ("no rows", arrays(np.zeros((0, 3))), "empty, shape (0, 3)"),
    ("no models", arrays(np.zeros((3, 0))), "empty, shape (3, 0)"),
    ("one class on the class axis", arrays(np.ones((3, 2, 1))), "one class only, shape (3, 2, 1)"),
    ("ragged scores", arrays([[0.1, 0.2], [0.3]]), "ragged"),
    (
        "object array with text",
        arrays(np.array([[0.1, "high"], [0.2, 0.3]], dtype=object)),
        "'high' at [0, 1]",
    ),
    (
        "object array with containers",
        arrays(np.array([[0.1, {"p": 1}]], dtype=object)),
        "{'p': 1} at [0, 1]",
    ),
    ("text scores", arrays(np.array([["0,5", "0,7"]])), "'0,5'"),
    ("complex scores", arrays(np.array([[1j, 0.5]])), "complex128"),
    ("dates as scores", arrays(np.array([["2026-01-01"]], dtype="datetime64[D]")), "datetime64[D]"),
    ("infinite score", arrays(changed(P, (2, 1), -np.inf), models=["a", "b"]), "-inf at row 2"),
    (
        "score above 1",
        arrays(changed(P, (3, 0), 1.7), models=["a", "b"]),
        "model 'a' has score 1.7 at row 3",
    ),
    (
        "score below 0",
        arrays(changed(Q, (1, 0, 2), -0.2)),
        "model 'model_1' has score -0.2 at row 1",
    ),
    (
        "class scores that do not sum to 1",
        arrays(changed(Q, (1, 1, 2), 0.9), models=["a", "b"]),
        "model 'b' at row 1 sum to 1.5: [0.3, 0.3, 0.9]",
    ),
    ("normalizing a zero vector", arrays(np.zeros((1, 1, 3)), normalize=True), "row 0 sum to 0"),
    (
        "normalizing single probabilities",
        arrays(P, normalize=True),
        "normalize=True was given with one score per model",
    ),
    (
        "normalizing logits",
        arrays(Q, normalize=True, logits=True),
        "normalize=True was given with logits=True",
    ),
    (
        "normalizing negative scores",
        arrays(changed(Q, (0, 0, 0), -0.5), normalize=True),
        "score -0.5 at row 0",
    ),
    (
        "NaN for some classes only",
        arrays(changed(Q, (1, 0, 1), np.nan)),
        "NaN for some classes only at row 1: [0.6, nan, 0.2]",
    ),
    (
        "a row without any score",
        arrays(np.array([[0.1, 0.2], [np.nan, np.nan], [np.nan, np.nan]])),
        "row 1 has no score from any of the 2 models (nor have 1 other rows)",
    ),
    (
        "a model without any score",
        arrays(np.array([[0.1, np.nan], [0.3, np.nan]]), models=["a", "b"]),
        "model 'b' has no score on any row",
    ),
    ("wrong number of labels", arrays(P, [0, 1, 1]), "3 labels for 4 rows"),
    ("two-dimensional labels", arrays(P, np.eye(4)), "labels of shape (4, 4)"),
    ("a label that is not a class", arrays(P, [0, 1, 2, None], classes=[0, 1]), "label 2 at row 2"),
    (
        "a misspelled label",
        arrays(P, ["ham", "spam", "spma", ""], classes=["ham", "spam"]),
        "label 'spma' at row 2",
    ),
    (
        "text labels for boolean classes",
        arrays(P, ["False", "True", None, "True"], classes=[False, True]),
        "the label is str",
    ),
    (
        "more classes in the labels than in the scores",
        arrays(P, [0, 1, 2, 3]),
        "label 2 at row 2 among 0, 1, 2, 3",
    ),
    ("undeclared -1", arrays(P, [0, -1, -1, 1]), "label -1 at row 1"),
    ("labels that are probabilities", arrays(P, [0.0, 0.5, 1.0, 1.0]), "the label at row 1 is 0.5"),
    (
        "labels of mixed types",
        arrays(P, np.array([0, "spam", None, 1], dtype=object)),
        "mixed types (int, str)",
    ),
    (
        "lists as labels",
        arrays(P, np.array([[0], [1, 2], None, [0]], dtype=object)),
        "[0] at row 0 is a list",
    ),
    (
        "text classes without an order",
        arrays(P, ["ham", "spam", None, "ham"]),
        "labels 'ham', 'spam'",
    ),
    (
        "text classes without an order, many classes",
        arrays(Q, ["cat", "dog"]),
        "labels 'cat', 'dog'",
    ),
    (
        "duplicate model names",
        arrays(P, models=["bert", "bert"]),
        "model name 'bert' appears twice",
    ),
    ("an empty model name", arrays(P, models=["bert", ""]), "nonempty name"),
    ("too few model names", arrays(P, models=["bert"]), "1 names for 2 models"),
    ("duplicate class names", arrays(Q, classes=["a", "b", "a"]), "class 'a' appears twice"),
    ("wrong number of classes", arrays(Q, classes=["a", "b"]), "2 names ('a', 'b')"),
    (
        "positive that is not a class",
        arrays(P, classes=["ham", "spam"], positive="span"),
        "positive='span' is not one of the classes 'ham', 'spam'",
    ),
    (
        "positive with many classes",
        arrays(Q, positive="a"),
        "positive='a' was given with 3 classes",
    ),
    (
        "positive that leaves the other class unknown",
        arrays(P, ["spam", None, None, "spam"], positive="spam"),
        "classes=['ham', 'spam']",
    ),
    (
        "positive against the class axis",
        arrays(np.stack([1 - P, P], axis=2), classes=["ham", "spam"], positive="ham"),
        "positive='ham' is not the last class of the class axis 'ham', 'spam'",
    ),
    (
        "an unlabeled code that is a class",
        arrays(P, [0, 1, 1, 0], classes=[0, 1], unlabeled=0),
        "unlabeled=0 is also one of the classes 0, 1",
    ),
    ("classes as one text", arrays(P, ["a", "b", "a", "b"], classes="ab"), "classes must be"),
    ("a number of classes", arrays(P, [0, 1, 1, 0], classes=2), "classes must be"),
    ("a missing class", arrays(P, [0, 1, 1, 0], classes=[0, None]), "classes must be"),
    ("nothing", arrays(None), "scores is a NoneType"),
    ("a sparse matrix", arrays(csr_array(P)), "scores is a csr_array"),
    ("labels as a mapping", arrays(P, {"a": 0, "b": 1}), "labels is a dict"),
    ("negative weight", arrays(P, weights=[1, 1, -2, 1]), "the weight at row 2 is -2"),
    ("missing weight", arrays(P, weights=[1, None, 1, 1]), "the weight at row 1 is nan"),
    ("weights all zero", arrays(P, weights=np.zeros(4)), "all 4 weights are 0"),
    ("wrong number of weights", arrays(P, weights=[1, 2]), "weights has 2 values for 4 rows"),
    (
        "wrong number of group values",
        arrays(P, groups={"site": ["a"]}),
        "group column 'site' has 1 values for 4 rows",
    ),
    ("groups that are no mapping", arrays(P, groups=["a", "b", "a", "b"]), "groups is a list"),
    (
        "duplicate ids",
        arrays(P, ids=["a", "b", "a", "c"]),
        "id 'a' appears at row 0 and again at row 2",
    ),
    ("a missing id", arrays(P, ids=["a", None, "b", "c"]), "the id at row 1 is missing"),
    ("an empty mapping", arrays({}), "no models"),
    (
        "a mapping with different lengths",
        arrays({"a": [0.1, 0.2], "b": [0.1]}),
        "model 'b' have shape (1,), those of 'a' (2,)",
    ),
    (
        "a mapping that mixes shapes",
        arrays({"a": [0.1, 0.2], "b": [[0.1, 0.9], [0.5, 0.5]]}),
        "model 'b' have shape (2, 2), those of 'a' (2,)",
    ),
    (
        "a mapping of single columns",
        arrays({"a": P[:, :1], "b": P[:, 1:]}),
        "model 'a' have shape (4, 1)",
    ),
    (
        "frames of which each has its own order of classes",
        arrays(
            {
                "a": pl.DataFrame(Q[:, 0], schema=["x", "y", "z"]),
                "b": pl.DataFrame(Q[:, 1], schema=["y", "x", "z"]),
            },
            [0, 2],
        ),
        "columns 'x', 'y', 'z', and those of 'b' have the order 'y', 'x', 'z'",
    ),
    (
        "predict_proba of one model",
        arrays(np.stack([1.0 - np.linspace(0, 1, 12), np.linspace(0, 1, 12)], axis=1)),
        "columns 0, 1 of scores sum to 1 on every row",
    ),
    (
        "probabilities declared as logits",
        arrays(np.tile(P, (3, 1)), models=["a", "b"], logits=True),
        "model 'a' are numbers between 0 and 1",
    ),
    (
        "class probabilities of one model among logits",
        arrays(np.tile(Q - [[3.0], [0.0]], (5, 1, 1)), logits=True),
        "model 'model_2' are numbers that sum to 1",
    ),
    ("log-probabilities", arrays(np.log(P)), "has score -1.6"),
    ("labels in a matrix of one column", arrays(P, [[0], [1], [0], [1]]), "labels of shape (4, 1)"),
    (
        "labels with a column per class",
        arrays(P, np.eye(2)[[0, 1, 1, 0]]),
        "labels of shape (4, 2)",
    ),
    (
        "a list with the scores of each model",
        arrays([np.stack([1 - P[:, 0], P[:, 0]], axis=1)] * 2, [0, 1, 0, 1]),
        "4 labels for 2 rows",
    ),
    (
        "labels that differ in a space",
        arrays(P, ["0", "1", " 1", None], positive="1"),
        "' 1' and '1' in one way",
    ),
    (
        "a word for no label",
        arrays(P, ["0", "1", "NA", "NA"]),
        "3 different labels ('0', '1', 'NA')",
    ),
    ("a positive class of another type", arrays(P, [0, 1, 0, 1], positive="1"), "positive=1"),
    (
        "labels that have no class in common with the scores",
        arrays(Q, ["x", "y"], classes=["a", "b", "c"]),
        "label 'x' at row 0",
    ),
    ("text labels in any order", arrays(Q[[0, 1, 0]], ["c", "a", "b"]), "classes=['a', 'b', 'c']"),
    ("a mapping with too many dimensions", arrays({"a": Q}), "model 'a' have shape (2, 2, 3)"),
    (
        "model names that are not those of the mapping",
        arrays({"a": [0.1], "b": [0.2]}, models=["a", "c"]),
        "'a', 'c', and the keys of scores 'a', 'b'",
    ),
]


@pytest.mark.parametrize(
    ("call", "found"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_bad_arrays_are_refused(call: Callable[[], Any], found: str) -> None:
    with pytest.raises(InputError) as caught:
        call()
    assert found in str(caught.value)
