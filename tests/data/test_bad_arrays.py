"""Bad arrays are refused with what was found and where, what is allowed, and what to do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_array
from tests.data.bad_input import Bad, check

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
    Bad(
        "one-dimensional scores",
        arrays([0.1, 0.2]),
        "1 dimensions, shape (2,)",
        "(n, M)",
        "scores[:, None]",
    ),
    Bad(
        "four-dimensional scores",
        arrays(np.zeros((2, 2, 2, 2))),
        "4 dimensions",
        "(n, M, K)",
        "scores[:, None, :]",
    ),
    Bad(
        "no rows",
        arrays(np.zeros((0, 3))),
        "empty, shape (0, 3)",
        "at least one row",
        "check the file",
    ),
    Bad(
        "no models",
        arrays(np.zeros((3, 0))),
        "empty, shape (3, 0)",
        "one model",
        "check the file",
    ),
    Bad(
        "one class on the class axis",
        arrays(np.ones((3, 2, 1))),
        "one class only, shape (3, 2, 1)",
        "two classes or more",
        "scores[:, :, 0]",
    ),
    Bad(
        "ragged scores",
        arrays([[0.1, 0.2], [0.3]]),
        "ragged",
        "rectangular",
        "same number of values",
    ),
    Bad(
        "object array with text",
        arrays(np.array([[0.1, "high"], [0.2, 0.3]], dtype=object)),
        "holds 'high' at [0, 1]",
        "numbers",
        "from_answers",
    ),
    Bad(
        "object array with containers",
        arrays(np.array([[0.1, {"p": 1}]], dtype=object)),
        "holds {'p': 1} at [0, 1]",
        "numbers",
        "from_answers",
    ),
    Bad(
        "text scores",
        arrays(np.array([["0,5", "0,7"]])),
        "'0,5'",
        "numbers",
        "decimal comma",
    ),
    Bad(
        "complex scores",
        arrays(np.array([[1j, 0.5]])),
        "complex128",
        "numbers",
        "from_answers",
    ),
    Bad(
        "dates as scores",
        arrays(np.array([["2026-01-01"]], dtype="datetime64[D]")),
        "datetime64[D]",
        "numbers",
        "from_answers",
    ),
    Bad(
        "infinite score",
        arrays(changed(P, (2, 1), -np.inf), models=["a", "b"]),
        "model 'b' has score -inf at row 2",
        "finite",
        "replace infinite",
    ),
    Bad(
        "score above 1",
        arrays(changed(P, (3, 0), 1.7), models=["a", "b"]),
        "model 'a' has score 1.7 at row 3",
        "between 0 and 1",
        "logits=True",
    ),
    Bad(
        "score below 0",
        arrays(changed(Q, (1, 0, 2), -0.2)),
        "model 'model_1' has score -0.2 at row 1",
        "between 0 and 1",
        "logits=True",
    ),
    Bad(
        "class scores that do not sum to 1",
        arrays(changed(Q, (1, 1, 2), 0.9), models=["a", "b"]),
        "model 'b' at row 1 sum to 1.5: [0.3, 0.3, 0.9]",
        "sum to 1 (within 0.001 or rounding)",
        "normalize=True",
    ),
    Bad(
        "normalizing a zero vector",
        arrays(np.zeros((1, 1, 3)), normalize=True),
        "row 0 sum to 0",
        "above 0",
        "NaN",
    ),
    Bad(
        "normalizing single probabilities",
        arrays(P, normalize=True),
        "normalize=True was given with one score per model",
        "(n, M, K)",
        "no sum to rescale",
    ),
    Bad(
        "normalizing logits",
        arrays(Q, normalize=True, logits=True),
        "normalize=True was given with logits=True",
        "(n, M, K)",
        "leave it out",
    ),
    Bad(
        "normalizing negative scores",
        arrays(changed(Q, (0, 0, 0), -0.5), normalize=True),
        "score -0.5 at row 0",
        "nonnegative",
        "logits=True",
    ),
    Bad(
        "NaN for some classes only",
        arrays(changed(Q, (1, 0, 1), np.nan)),
        "NaN for some classes only at row 1: [0.6, nan, 0.2]",
        "NaN for every class",
        "fill in",
    ),
    Bad(
        "a row without any score",
        arrays(np.array([[0.1, 0.2], [np.nan, np.nan], [np.nan, np.nan]])),
        "row 1 has no score from any of the 2 models (nor have 1 other rows)",
        "at least one model",
        "drop these rows",
    ),
    Bad(
        "a model without any score",
        arrays(np.array([[0.1, np.nan], [0.3, np.nan]]), models=["a", "b"]),
        "model 'b' has no score on any row",
        "at least one score",
        "leave this model out",
    ),
    Bad(
        "wrong number of labels",
        arrays(P, [0, 1, 1]),
        "3 labels for 4 rows",
        "one label per row (4)",
        "joined by id",
    ),
    Bad(
        "two-dimensional labels",
        arrays(P, np.eye(4)),
        "labels of shape (4, 4)",
        "one label per row",
        "argmax(axis=1)",
    ),
    Bad(
        "a label that is not a class",
        arrays(P, [0, 1, 2, None], classes=[0, 1]),
        "label 2 at row 2 is not a class",
        "the classes 0, 1",
        "unlabeled=2",
    ),
    Bad(
        "a misspelled label",
        arrays(P, ["ham", "spam", "spma", ""], classes=["ham", "spam"]),
        "label 'spma' at row 2",
        "'ham', 'spam'",
        "Did you mean 'spam'?",
    ),
    Bad(
        "text labels for boolean classes",
        arrays(P, ["False", "True", None, "True"], classes=[False, True]),
        "label 'False' at row 0 is not a class",
        "the classes False, True",
        "the label is str, the class is not",
    ),
    Bad(
        "more classes in the labels than in the scores",
        arrays(P, [0, 1, 2, 3]),
        "label 2 at row 2 among 0, 1, 2, 3",
        "labels 0..1",
        "shape (n, 1, K)",
    ),
    Bad(
        "undeclared -1",
        arrays(P, [0, -1, -1, 1]),
        "label -1 at row 1, undeclared",
        "classes 0..1",
        "unlabeled=-1",
    ),
    Bad(
        "labels that are probabilities",
        arrays(P, [0.0, 0.5, 1.0, 1.0]),
        "the label at row 1 is 0.5",
        "integers, booleans or text",
        "not probabilities",
    ),
    Bad(
        "labels of mixed types",
        arrays(P, np.array([0, "spam", None, 1], dtype=object)),
        "mixed types (int, str)",
        "one type",
        "classes=[...]",
    ),
    Bad(
        "lists as labels",
        arrays(P, np.array([[0], [1, 2], None, [0]], dtype=object)),
        "[0] at row 0 is a list",
        "numbers, booleans or text",
        "one value",
    ),
    Bad(
        "text classes without an order",
        arrays(P, ["ham", "spam", None, "ham"]),
        "labels 'ham', 'spam'",
        "order given",
        "positive='ham' or positive='spam'",
    ),
    Bad(
        "text classes without an order, many classes",
        arrays(Q, ["cat", "dog"]),
        "labels 'cat', 'dog'",
        "order given",
        "in the order of the scores",
    ),
    Bad(
        "duplicate model names",
        arrays(P, models=["bert", "bert"]),
        "model name 'bert' appears twice",
        "unique model names",
        "rename",
    ),
    Bad(
        "an empty model name",
        arrays(P, models=["bert", ""]),
        "model 1 has an empty name",
        "nonempty",
        "name every model",
    ),
    Bad(
        "too few model names",
        arrays(P, models=["bert"]),
        "1 model names were given for 2 models: 'bert'",
        "2 names",
        "one name per model",
    ),
    Bad(
        "duplicate class names",
        arrays(Q, classes=["a", "b", "a"]),
        "class 'a' appears twice",
        "unique classes",
        "rename",
    ),
    Bad(
        "wrong number of classes",
        arrays(Q, classes=["a", "b"]),
        "2 class names ('a', 'b') were given for scores over 3 classes",
        "3 class names",
        "one name per class",
    ),
    Bad(
        "positive that is not a class",
        arrays(P, classes=["ham", "spam"], positive="span"),
        "positive='span' is not one of the classes 'ham', 'spam'",
        "one of the two",
        "Did you mean 'spam'?",
    ),
    Bad(
        "positive with many classes",
        arrays(Q, positive="a"),
        "positive='a' was given with 3 classes",
        "two classes only",
        "leave positive out",
    ),
    Bad(
        "positive that leaves the other class unknown",
        arrays(P, ["spam", None, None, "spam"], positive="spam"),
        "positive='spam' and labels 'spam'",
        "one other class",
        "classes=['ham', 'spam']",
    ),
    Bad(
        "positive against the class axis",
        arrays(np.stack([1 - P, P], axis=2), classes=["ham", "spam"], positive="ham"),
        "positive='ham' is not the last class of the class axis 'ham', 'spam'",
        "positive class last",
        "reverse",
    ),
    Bad(
        "an unlabeled code that is a class",
        arrays(P, [0, 1, 1, 0], classes=[0, 1], unlabeled=0),
        "unlabeled=0 is also one of the classes 0, 1",
        "not a class",
        "another code",
    ),
    Bad(
        "classes as one text",
        arrays(P, ["a", "b", "a", "b"], classes="ab"),
        "classes must be",
        "a list (each a class",
        "got",
    ),
    Bad(
        "a number of classes",
        arrays(P, [0, 1, 1, 0], classes=2),
        "classes must be",
        "a list (each a class",
        "got",
    ),
    Bad(
        "a missing class",
        arrays(P, [0, 1, 1, 0], classes=[0, None]),
        "classes must be",
        "a class (text, a number, true or false)",
        "got",
    ),
    Bad(
        "nothing",
        arrays(None),
        "scores is a NoneType",
        "numpy arrays",
        "convert it first",
    ),
    Bad(
        "a sparse matrix",
        arrays(csr_array(P)),
        "scores is a csr_array",
        "numpy arrays",
        ".toarray()",
    ),
    Bad(
        "labels as a mapping",
        arrays(P, {"a": 0, "b": 1}),
        "labels is a dict",
        "numpy arrays",
        "convert it first",
    ),
    Bad(
        "negative weight",
        arrays(P, weights=[1, 1, -2, 1]),
        "the weight at row 2 is -2",
        "0 or more",
        "weight of 0",
    ),
    Bad(
        "missing weight",
        arrays(P, weights=[1, None, 1, 1]),
        "the weight at row 1 is nan",
        "finite",
        "drop the row",
    ),
    Bad(
        "weights all zero",
        arrays(P, weights=np.zeros(4)),
        "all 4 weights are 0",
        "above 0",
        "weight column",
    ),
    Bad(
        "wrong number of weights",
        arrays(P, weights=[1, 2]),
        "weights has 2 values for 4 rows",
        "one value per row: 4",
        "same rows",
    ),
    Bad(
        "wrong number of group values",
        arrays(P, groups={"site": ["a"]}),
        "group column 'site' has 1 values for 4 rows",
        "one value per row: 4",
        "same rows",
    ),
    Bad(
        "groups that are no mapping",
        arrays(P, groups=["a", "b", "a", "b"]),
        "groups is a list",
        "a mapping",
        "groups={'name': values}",
    ),
    Bad(
        "duplicate ids",
        arrays(P, ids=["a", "b", "a", "c"]),
        "id 'a' appears at row 0 and again at row 2",
        "each id once",
        "layout='long'",
    ),
    Bad(
        "a missing id",
        arrays(P, ids=["a", None, "b", "c"]),
        "the id at row 1 is missing",
        "one id per row",
        "fill in",
    ),
    Bad(
        "an empty mapping",
        arrays({}),
        "an empty mapping",
        "model name -> array",
        "at least one model",
    ),
    Bad(
        "a mapping with different lengths",
        arrays({"a": [0.1, 0.2], "b": [0.1]}),
        "model 'b' have shape (1,), those of 'a' (2,)",
        "the same shape",
        "NaN where a model has no score",
    ),
    Bad(
        "a mapping that mixes shapes",
        arrays({"a": [0.1, 0.2], "b": [[0.1, 0.9], [0.5, 0.5]]}),
        "model 'b' have shape (2, 2), those of 'a' (2,)",
        "the same shape",
        "scores[:, 1]",
    ),
    Bad(
        "a mapping of single columns",
        arrays({"a": P[:, :1], "b": P[:, 1:]}),
        "model 'a' have shape (4, 1)",
        "(n,) probabilities",
        "scores[:, 0]",
    ),
    Bad(
        "frames of which each has its own order of classes",
        arrays(
            {
                "a": pl.DataFrame(Q[:, 0], schema=["x", "y", "z"]),
                "b": pl.DataFrame(Q[:, 1], schema=["y", "x", "z"]),
            },
            [0, 2],
        ),
        "columns 'x', 'y', 'z', and those of 'b' have the order 'y', 'x', 'z'",
        "in the order of the classes",
        "name the columns of each frame by the classes",
    ),
    Bad(
        "predict_proba of one model",
        arrays(np.stack([1.0 - np.linspace(0, 1, 12), np.linspace(0, 1, 12)], axis=1)),
        "columns 0, 1 of scores sum to 1 on every row",
        "one column per model",
        "scores[:, [1]]",
    ),
    Bad(
        "probabilities declared as logits",
        arrays(np.tile(P, (3, 1)), models=["a", "b"], logits=True),
        "model 'a' has numbers between 0 and 1 only, which are no logits",
        "logits of any size and sign",
        "leave logits out",
    ),
    Bad(
        "class probabilities of one model among logits",
        arrays(np.tile(Q - [[3.0], [0.0]], (5, 1, 1)), logits=True),
        "model 'model_2' has numbers that sum to 1 only",
        "logits of any size and sign",
        "softmax",
    ),
    Bad(
        "log-probabilities",
        arrays(np.log(P)),
        "has score -1.6",
        "between 0 and 1",
        "numpy.exp",
    ),
    Bad(
        "labels in a matrix of one column",
        arrays(P, [[0], [1], [0], [1]]),
        "labels of shape (4, 1)",
        "one label per row (4)",
        "labels.ravel()",
    ),
    Bad(
        "labels with a column per class",
        arrays(P, np.eye(2)[[0, 1, 1, 0]]),
        "labels of shape (4, 2)",
        "one label per row (4)",
        "labels.argmax(axis=1)",
    ),
    Bad(
        "a list with the scores of each model",
        arrays([np.stack([1 - P[:, 0], P[:, 0]], axis=1)] * 2, [0, 1, 0, 1]),
        "4 labels for 2 rows",
        "one label per row (2)",
        "a dict {model: array}",
    ),
    Bad(
        "labels that differ in a space",
        arrays(P, ["0", "1", " 1", None], positive="1"),
        "positive='1' and labels ' 1', '0', '1'",
        "exactly one other class",
        "write ' 1' and '1' in one way",
    ),
    Bad(
        "a word for no label",
        arrays(P, ["0", "1", "NA", "NA"]),
        "3 different labels ('0', '1', 'NA')",
        "at most 2",
        "declare unlabeled='NA'",
    ),
    Bad(
        "a positive class of another type",
        arrays(P, [0, 1, 0, 1], positive="1"),
        "positive='1' and labels 0, 1",
        "exactly one other class",
        "positive=1",
    ),
    Bad(
        "labels that have no class in common with the scores",
        arrays(Q, ["x", "y"], classes=["a", "b", "c"]),
        "label 'x' at row 0 is not a class (and 1 other such value)",
        "'a', 'b', 'c'",
        "name the classes in different ways",
    ),
    Bad(
        "text labels in any order",
        arrays(Q[[0, 1, 0]], ["c", "a", "b"]),
        "labels 'a', 'b', 'c' are",
        "their order given",
        "classes=['a', 'b', 'c']",
    ),
    Bad(
        "a mapping with too many dimensions",
        arrays({"a": Q}),
        "model 'a' have shape (2, 2, 3)",
        "(n, K)",
        "one vector or one matrix",
    ),
    Bad(
        "model names that are not those of the mapping",
        arrays({"a": [0.1], "b": [0.2]}, models=["a", "c"]),
        "models 'a', 'c' and the keys of scores 'a', 'b' differ",
        "the same names",
        "leave models out",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.kind)
def test_bad_arrays_are_told_in_three_parts(case: Bad) -> None:
    with pytest.raises(InputError) as caught:
        case.call()
    check(caught.value, case)
