"""Every kind of bad input is told in three parts: what was found and where, what is allowed, and
what to do."""

from __future__ import annotations

import dataclasses
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array
from typer.testing import CliRunner

from ssme.cli import app
from ssme.cli.program import in_options
from ssme.data import ScoreSet
from ssme.errors import InputError

P = np.array([[0.2, 0.7], [0.6, 0.1], [0.5, 0.9], [0.8, 0.3]])
Q = np.array([[[0.2, 0.3, 0.5], [0.1, 0.8, 0.1]], [[0.6, 0.2, 0.2], [0.3, 0.3, 0.4]]])
Y = [0, 1, None, 1]


@dataclasses.dataclass(frozen=True)
class Bad:
    """A call that must fail; ``got``, ``allowed`` and ``fix`` are parts of the message."""

    kind: str
    call: Callable[[], Any]
    got: str
    allowed: str
    fix: str


def arrays(scores: Any = P, labels: Any = None, **options: Any) -> Callable[[], Any]:
    return lambda: ScoreSet.from_arrays(scores, labels, **options)


def changed(array: np.ndarray, index: tuple[int, ...], value: float) -> np.ndarray:
    out = array.copy()
    out[index] = value
    return out


ARRAYS = [
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
        "convert to numbers",
    ),
    Bad(
        "object array with containers",
        arrays(np.array([[0.1, {"p": 1}]], dtype=object)),
        "holds {'p': 1} at [0, 1]",
        "numbers",
        "convert to numbers",
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
        "convert to numbers",
    ),
    Bad(
        "dates as scores",
        arrays(np.array([["2026-01-01"]], dtype="datetime64[D]")),
        "datetime64[D]",
        "numbers",
        "convert to numbers",
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
        "sum to 1 (within 0.001)",
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
        "normalize=True with one score per model",
        "(n, M, K)",
        "no sum to rescale",
    ),
    Bad(
        "normalizing logits",
        arrays(Q, normalize=True, logits=True),
        "normalize=True with logits=True",
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
        "same order",
    ),
    Bad(
        "a label that is no class",
        arrays(P, [0, 1, 2, None], classes=[0, 1]),
        "label 2 at row 2 is no class",
        "the classes 0, 1",
        "unlabeled=2",
    ),
    Bad(
        "a misspelled label",
        arrays(P, ["ham", "spam", "spma", ""], classes=["ham", "spam"]),
        "label 'spma' at row 2",
        "'ham', 'spam'",
        "did you mean 'spam'?",
    ),
    Bad(
        "text labels for integer classes",
        arrays(P, ["0", "1", "", "1"], classes=[0, 1]),
        "label '0' at row 0 is no class",
        "the classes 0, 1",
        "the label is str, the class is not",
    ),
    Bad(
        "more classes in the labels than in the scores",
        arrays(P, [0, 1, 2, 3]),
        "label 2 at row 2 among 0, 1, 2, 3",
        "labels 0..1",
        "scores[:, None, :]",
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
        "label 0.5 at row 1",
        "integers, booleans or text",
        "not probabilities",
    ),
    Bad(
        "labels of mixed types",
        arrays(P, np.array([0, "spam", None, 1], dtype=object)),
        "mixed types (int, str)",
        "one type",
        "classes=",
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
        "classes=[negative, positive] or positive=",
    ),
    Bad(
        "text classes without an order, many classes",
        arrays(Q, ["cat", "dog"]),
        "labels 'cat', 'dog'",
        "order given",
        "in the order of the class axis",
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
        "1 model names for 2 models: 'bert'",
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
        "2 class names ('a', 'b') for scores over 3 classes",
        "3 class names",
        "one name per class",
    ),
    Bad(
        "positive that is no class",
        arrays(P, classes=["ham", "spam"], positive="span"),
        "positive='span' is not one of the classes 'ham', 'spam'",
        "one of the two",
        "did you mean 'spam'?",
    ),
    Bad(
        "positive with many classes",
        arrays(Q, positive="a"),
        "positive='a' with 3 classes",
        "two classes only",
        "leave positive out",
    ),
    Bad(
        "positive that leaves the other class unknown",
        arrays(P, ["spam", None, None, "spam"], positive="spam"),
        "positive='spam' and labels 'spam'",
        "one other class",
        "classes=[negative, positive]",
    ),
    Bad(
        "positive against the class axis",
        arrays(np.stack([1 - P, P], axis=2), classes=["ham", "spam"], positive="ham"),
        "positive='ham' and a class axis 'ham', 'spam'",
        "positive class last",
        "reverse",
    ),
    Bad(
        "an unlabeled code that is a class",
        arrays(P, [0, 1, 1, 0], classes=[0, 1], unlabeled=0),
        "unlabeled=0 is also one of the classes 0, 1",
        "no class",
        "another code",
    ),
    Bad(
        "classes as one text",
        arrays(P, ["a", "b", "a", "b"], classes="ab"),
        "classes='ab'",
        "a list of classes",
        "classes=['ham', 'spam']",
    ),
    Bad(
        "a number of classes",
        arrays(P, [0, 1, 1, 0], classes=2),
        "classes=2",
        "a list of classes",
        "list them in order",
    ),
    Bad(
        "a missing class",
        arrays(P, [0, 1, 1, 0], classes=[0, None]),
        "class None in classes, which means unlabeled",
        "numbers, booleans or text",
        "give the class a name",
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
        "weight -2 at row 2",
        "0 or more",
        "weight of 0",
    ),
    Bad(
        "missing weight",
        arrays(P, weights=[1, None, 1, 1]),
        "weight nan at row 1",
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
        "align the rows",
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


WIDE = pd.DataFrame({"id": list("wxyz"), "bert": P[:, 0], "gpt": P[:, 1], "label": Y})
GRID = pd.DataFrame(
    {
        "bert:a": [0.2, 0.5],
        "bert:b": [0.8, 0.5],
        "gpt:a": [0.1, 0.4],
        "gpt:b": [0.9, 0.6],
        "label": ["a", "b"],
    }
)
LONG = pd.DataFrame(
    {
        "id": [1, 1, 1, 1, 2, 2],
        "model": ["bert", "bert", "gpt", "gpt", "bert", "bert"],
        "class": ["a", "b"] * 3,
        "score": [0.2, 0.8, 0.4, 0.6, 0.5, 0.5],
        "label": ["a", "a", "a", "a", None, None],
    }
)


def frame(data: Any, labels: Any = None, **options: Any) -> Callable[[], Any]:
    return lambda: ScoreSet.from_frame(data, labels, **options)


FRAMES = [
    Bad(
        "not a frame",
        frame([1, 2, 3]),
        "the frame is a list",
        "pandas, polars or pyarrow",
        "from_arrays",
    ),
    Bad(
        "a frame without rows",
        frame(pl.DataFrame({"bert": [], "label": []})),
        "empty: 0 rows, columns 'bert', 'label'",
        "at least one row",
        "filter",
    ),
    Bad(
        "duplicate columns",
        frame(pd.DataFrame([[0.1, 0.2, 1]], columns=["bert", "bert", "label"])),
        "duplicated column names",
        "unique column names",
        "rename",
    ),
    Bad(
        "a label column that is not there",
        frame(WIDE, label="lable"),
        "no column 'lable' (label column)",
        "'bert', 'gpt', 'label'",
        "did you mean 'label'?",
    ),
    Bad(
        "a model column that is not there",
        frame(WIDE, models=["brt", "gpt"]),
        "no column 'brt'",
        "'bert', 'gpt'",
        "did you mean 'bert'?",
    ),
    Bad(
        "a group column that is not there",
        frame(WIDE, groups=["site"]),
        "no column 'site' (group column)",
        "'bert', 'gpt'",
        "a column that is there",
    ),
    Bad(
        "a weight column that is not there",
        frame(WIDE, weight="w"),
        "no column 'w' (weight column)",
        "'bert', 'gpt'",
        "a column that is there",
    ),
    Bad(
        "an id column that is not there",
        frame(WIDE, id="uid"),
        "no column 'uid' (id column)",
        "'id', 'bert'",
        "did you mean 'id'?",
    ),
    Bad(
        "no label column",
        frame(WIDE.rename(columns={"label": "toxic"})),
        "no label column with a usual name; its columns are 'id', 'bert', 'gpt', 'toxic'",
        "label=",
        "labels=False",
    ),
    Bad(
        "two label columns",
        frame(WIDE.assign(y=1)),
        "2 columns that may be the label column: 'label', 'y'",
        "one label column",
        "label='label'",
    ),
    Bad(
        "text in a score column",
        frame(WIDE.assign(bert=["0.1", "n/a", "0.3", "0.2"]), models=["bert", "gpt"]),
        "column 'bert' holds '0.1' at row 0",
        "numbers",
        "decimal comma",
    ),
    Bad(
        "a stray text in an unnamed score column",
        frame(WIDE.assign(bert=["0.1", "n/a", "0.3", "0.2"])),
        "column 'bert' holds 'n/a' at row 1, text among numbers",
        "numbers, empty where",
        "correct the entry",
    ),
    Bad(
        "a frame given as an array",
        arrays(WIDE[["bert", "gpt"]]),
        "scores is a pandas DataFrame",
        "an array",
        "ScoreSet.from_frame",
    ),
    Bad(
        "a column that is no probability",
        frame(WIDE.assign(age=[30, 41, 22, 57])),
        "column 'age' holds 30 at row 0, which is no probability",
        "between 0 and 1",
        "models=[...]",
    ),
    Bad(
        "a boolean column of unknown meaning",
        frame(WIDE.assign(flag=[True, False, True, True])),
        "column 'flag' is boolean",
        "columns of probabilities",
        "models=[...]",
    ),
    Bad(
        "no score column",
        frame(WIDE[["id", "label"]]),
        "no column of numbers left for scores; its columns are 'id', 'label'",
        "per model",
        "models=[...]",
    ),
    Bad(
        "a model listed twice",
        frame(WIDE, models=["bert", "bert"]),
        "model 'bert' appears twice",
        "each model once",
        "remove one",
    ),
    Bad(
        "no model listed",
        frame(WIDE, models=[]),
        "models=[]",
        "a list of names",
        "name at least one",
    ),
    Bad(
        "a mapping to something else than columns",
        frame(WIDE, models={"bert": 3}),
        "models['bert']=3",
        "a list of names",
        "name at least one",
    ),
    Bad(
        "a column with two parts",
        frame(WIDE, models=["bert", "label"]),
        "column 'label' is named both for scores and as label",
        "one part per column",
        "leave it out",
    ),
    Bad(
        "a role given twice",
        frame(WIDE, weight="bert", groups=["bert"]),
        "column 'bert' appears twice",
        "one part (label, id, weight, group) per column",
        "remove one",
    ),
    Bad(
        "labels by a name that is no column",
        frame(WIDE, "lable"),
        "no column 'lable' (labels given by name)",
        "'bert', 'gpt', 'label'",
        "did you mean 'label'?",
    ),
    Bad(
        "column names of several levels",
        frame(pd.DataFrame(P, columns=pd.MultiIndex.from_product([["m"], ["x", "y"]])), Y),
        "column names of several levels such as ('m', 'x')",
        "one name per column",
        "join the levels",
    ),
    Bad(
        "numbered models in a long table",
        frame(LONG.assign(model=[0, 0, 1, 1, 0, 0])),
        "reads as long (model column 'model', score column 'score') or as wide",
        "one layout",
        "layout='long'",
    ),
    Bad(
        "an unknown layout",
        frame(WIDE, layout="tall"),
        "layout='tall'",
        "'wide' or 'long'",
        "leave layout out",
    ),
    Bad(
        "options of two layouts",
        frame(LONG, score="score", pattern="{model}:{class}"),
        "pattern for the long layout",
        "pattern is for wide",
        "row per score",
    ),
    Bad(
        "an option of the other layout",
        frame(WIDE, layout="wide", score="bert"),
        "score for the wide layout",
        "score is for long",
        "row per score",
    ),
    Bad(
        "a pattern beside a mapping",
        frame(GRID, models={"bert": "bert:a"}, pattern="{model}:{class}"),
        "both pattern='{model}:{class}' and models as a mapping",
        "one of them",
        "which column is which",
    ),
    Bad(
        "a pattern without a class",
        frame(GRID, pattern="{model}"),
        "pattern='{model}'",
        "{model} and {class}",
        "where the model and the class stand",
    ),
    Bad(
        "a pattern that does not fit",
        frame(GRID, pattern="{model}-{class}"),
        "pattern='{model}-{class}' does not give every model the same two or more classes",
        "complete grid",
        "correct the pattern",
    ),
    Bad(
        "a pattern that fits in two ways",
        frame(
            pd.DataFrame({"m_b_c": [0.4], "m_b_d": [0.6], "label": [None]}),
            pattern="{model}_{class}",
        ),
        "read in 2 ways: models 'm_b' with classes 'c', 'd'; or models 'm'",
        "one reading",
        "classes=[...]",
    ),
    Bad(
        "logits that may be classes or binary models",
        frame(GRID, logits=True),
        "models 'bert', 'gpt' with classes 'a', 'b'; or binary models",
        "one reading",
        "list models=[...]",
    ),
    Bad(
        "labels that are not the classes in the columns",
        frame(GRID.assign(label=["a", "c"])),
        "label 'c' at row 1 is no class",
        "'a', 'b'",
        "correct it",
    ),
    Bad(
        "classes that are not those in the columns",
        frame(GRID, pattern="{model}:{class}", classes=["x", "y"]),
        "does not give every model",
        "complete grid",
        "list classes=",
    ),
    Bad(
        "a mapping to a column that is not there",
        frame(GRID, models={"bert": {"a": "bert:a", "b": "bert:B"}}),
        "no column 'bert:B' (scores of model 'bert')",
        "'bert:b'",
        "did you mean 'bert:b'",
    ),
    Bad(
        "a mapping with different classes",
        frame(
            GRID,
            models={"bert": {"a": "bert:a", "b": "bert:b"}, "gpt": {"a": "gpt:a", "c": "gpt:b"}},
        ),
        "model 'gpt' has classes 'a', 'c', model 'bert' 'a', 'b'",
        "the same classes",
        "every class",
    ),
    Bad(
        "a mapping with another class order than asked",
        frame(GRID, models={"bert": {"a": "bert:a", "b": "bert:b"}}, classes=["a", "c"]),
        "classes 'a', 'c' and the classes in the data 'a', 'b' differ",
        "the same classes",
        "each once",
    ),
    Bad(
        "a mapping with too few columns",
        frame(GRID, models={"bert": ["bert:a"]}, classes=["a", "b"]),
        "model 'bert' has 1 columns for 2 classes",
        "one column per class",
        "as many columns",
    ),
    Bad(
        "an ambiguous layout",
        frame(LONG.assign(bert=0.5)),
        "reads as long (model column 'model', score column 'score') or as wide",
        "one layout",
        "layout='long'",
    ),
    Bad(
        "a long table without ids",
        frame(LONG.drop(columns="id")),
        "no column 'id'",
        "'model', 'class'",
        "a column that is there",
    ),
    Bad(
        "a repeated score in a long table",
        frame(pd.concat([LONG, LONG.iloc[[3]]])),
        "id 1, model 'gpt', class 'b' has 2 scores",
        "one score per id, model and class",
        "remove the repeated rows",
    ),
    Bad(
        "a missing class in a long table",
        frame(LONG.iloc[:-1]),
        "id 2, model 'bert' has 1 of 2 class scores and lacks 'b'",
        "a row for every class",
        "add the missing rows",
    ),
    Bad(
        "labels that differ within an id",
        frame(LONG.assign(label=["a", "b", "a", "a", None, None])),
        "column 'label' has different values for id 1: 'a', 'b'",
        "one value per id",
        "agree",
    ),
    Bad(
        "an empty model in a long table",
        frame(LONG.assign(model=["bert", None, "gpt", "gpt", "bert", "bert"])),
        "column 'model' is empty at row 1",
        "on every row",
        "drop the row",
    ),
    Bad(
        "a model that is not in a long table",
        frame(LONG, models=["bret"]),
        "column 'model' has no model 'bret'",
        "'bert', 'gpt'",
        "did you mean 'bert'?",
    ),
    Bad(
        "plain labels beside a long table",
        frame(LONG, ["a", "b"]),
        "labels is a list beside a long table",
        "joined by id",
        "a table with ids",
    ),
    Bad(
        "labels of ids that have no scores",
        frame(WIDE.drop(columns="label"), pd.DataFrame({"id": ["w", "q"], "label": [0, 1]})),
        "1 of 2 ids in the table of labels are not among the scores: 'q'",
        "beside the scores",
        "remove these labels",
    ),
    Bad(
        "ids of another type",
        frame(WIDE.drop(columns="label"), pd.DataFrame({"id": [1, 2], "label": [0, 1]})),
        "ids are int there and str beside the scores",
        "beside the scores",
        "in the same way",
    ),
    Bad(
        "duplicate ids among the labels",
        frame(WIDE.drop(columns="label"), pd.DataFrame({"id": ["w", "w"], "label": [0, 1]})),
        "id 'w' appears at row 0 and again at row 1",
        "each id once",
        "remove the repeated rows",
    ),
    Bad(
        "labels to join and no ids",
        frame(WIDE[["bert", "gpt"]], pd.DataFrame({"id": ["w"], "label": [0]})),
        "no id column beside the scores",
        "an id column that both have",
        "id='...'",
    ),
    Bad(
        "a table of labels without a label column",
        frame(
            WIDE.drop(columns="label"), pd.DataFrame({"id": ["w"], "annotator": [3], "toxic": [1]})
        ),
        "no label column with a usual name; its columns are 'id', 'annotator', 'toxic'",
        "one label column",
        "label='...'",
    ),
]


def _write(folder: Path, name: str, content: bytes | str) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def _npz(folder: Path, name: str, **content: Any) -> Path:
    np.savez(folder / name, allow_pickle=True, **content)
    return folder / name


CSV = "bert,gpt,label\n0.2,0.7,0\n0.6,0.1,1\n"


@dataclasses.dataclass(frozen=True)
class BadFile:
    kind: str
    make: Callable[[Path], Path]
    got: str
    allowed: str
    fix: str
    options: dict[str, Any] = dataclasses.field(default_factory=dict)


def text(content: bytes | str, name: str = "s.csv") -> Callable[[Path], Path]:
    return lambda folder: _write(folder, name, content)


FILES = [
    BadFile(
        "a file that is not there",
        lambda f: _write(f, "scores.csv", CSV).with_name("score.csv"),
        "no file",
        "an existing file",
        "did you mean 'scores.csv'?",
    ),
    BadFile("a directory", lambda f: f, "is a directory", "a file", "name a file in it"),
    BadFile("an unknown suffix", text(CSV, "s.xlsx"), "suffix '.xlsx'", ".csv", "save it as"),
    BadFile("an empty file", text(""), "s.csv is empty", "a header", "how it was made"),
    BadFile("a header only", text("bert,label\n"), "0 rows", "at least one row", "check the file"),
    BadFile(
        "a wrong delimiter",
        text(CSV.replace(",", ";")),
        "one column 'bert;gpt;label' when split at ','",
        "a column per model",
        "delimiter=';'",
    ),
    BadFile(
        "a wrong declared delimiter",
        text(CSV),
        "when split at ';'",
        "a column per model",
        "delimiter=','",
        {"delimiter": ";"},
    ),
    BadFile(
        "a delimiter of two characters",
        text(CSV),
        "delimiter='::'",
        "a single character",
        "such as ','",
        {"delimiter": "::"},
    ),
    BadFile(
        "tabs in a CSV",
        text(CSV.replace(",", "\t")),
        "one column 'bert\\tgpt\\tlabel'",
        "a column per model",
        "delimiter='\\t'",
    ),
    BadFile(
        "a file that is not UTF-8",
        text("bert,naïve,label\n0.2,0.7,0\n".encode("latin1")),
        "is not UTF-8: byte 0xef at position 7",
        "UTF-8",
        "iconv",
    ),
    BadFile(
        "duplicate columns in a CSV",
        text("bert,bert,label\n0.2,0.7,0\n"),
        "2 columns named 'bert'",
        "unique column names",
        "rename",
    ),
    BadFile(
        "rows of different lengths",
        text("bert,label\n0.2,0\n0.2,0,7,8\n"),
        "line 3",
        "as many fields as the header",
        "stray delimiters",
    ),
    BadFile(
        "a decimal comma",
        text('bert;label\n"0,2";0\n"0,3";1\n'),
        "column 'bert' holds '0,2' at row 0",
        "numbers",
        "decimal comma",
        {"delimiter": ";", "models": ["bert"]},
    ),
    BadFile(
        "a percentage in a CSV",
        text("bert,gpt,label\n0.2,0.7,0\n0.6,55,1\n"),
        "column 'gpt' holds 55 at row 1, which is no probability",
        "between 0 and 1",
        "models=[...]",
    ),
    BadFile(
        "an undeclared code in a CSV",
        text("bert,gpt,label\n0.2,0.7,0\n0.6,0.5,-1\n"),
        "label -1 at row 1, undeclared",
        "NaN or None where unlabeled",
        "unlabeled=-1",
    ),
    BadFile(
        "duplicate ids in a CSV",
        text("id,bert,label\nx,0.7,0\nx,0.5,1\n"),
        "id 'x' appears at row 0 and again at row 1",
        "each id once",
        "layout='long'",
    ),
    BadFile(
        "text classes in a CSV",
        text("bert,label\n0.7,ham\n0.5,spam\n"),
        "labels 'ham', 'spam'",
        "order given",
        "positive=",
    ),
    BadFile(
        "an option that does not apply",
        text(CSV),
        "option 'lables' does not apply",
        "'label'",
        "did you mean 'label'",
        {"lables": "label"},
    ),
    BadFile(
        "a broken Parquet file",
        text(b"PAR1 this is not parquet", "s.parquet"),
        "not a readable Parquet file",
        "Parquet",
        "write it again",
    ),
    BadFile(
        "a delimiter for Parquet",
        text(b"PAR1", "s.parquet"),
        "delimiter=';'",
        "CSV only",
        "leave it out",
        {"delimiter": ";"},
    ),
    BadFile(
        "an npz without scores",
        lambda f: _npz(f, "s.npz", preds=P),
        "no array 'scores', only 'preds'",
        "(n, M) or (n, M, K)",
        "numpy.savez",
    ),
    BadFile(
        "pickled objects in an npz",
        lambda f: _npz(f, "s.npz", scores=P, labels=np.array(Y, dtype=object)),
        "key 'labels', holds pickled Python objects",
        "pickle is never loaded",
        ".astype(str)",
    ),
    BadFile(
        "pickled objects in an npy",
        text(pickle.dumps({"scores": [0.1]}), "s.npy"),
        "pickled",
        "pickle is never loaded",
        "convert object arrays",
    ),
    BadFile(
        "a broken npz",
        text(b"PK\x03\x04 broken", "s.npz"),
        "is broken",
        "plain arrays",
        "convert object arrays",
    ),
    BadFile(
        "labels twice in an npz",
        lambda f: _npz(f, "s.npz", scores=P, labels=[0, 1, 1, 0], y=[0, 1, 1, 0]),
        "holds both 'labels' and 'y'",
        "one of them",
        "save only one",
    ),
    BadFile(
        "a table option for an npz",
        lambda f: _npz(f, "s.npz", scores=P),
        "option 'pattern' does not apply",
        "'classes'",
        "leave it out",
        {"pattern": "{model}:{class}"},
    ),
]


def check(error: InputError, case: Bad | BadFile) -> None:
    assert case.got in error.got
    assert error.allowed is not None
    assert case.allowed in error.allowed
    assert error.fix is not None
    assert case.fix in error.fix
    message = str(error)
    assert error.got in message
    assert "Allowed: " in message
    assert "Fix: " in message


@pytest.mark.parametrize("case", ARRAYS + FRAMES, ids=lambda case: case.kind)
def test_arrays_and_frames(case: Bad) -> None:
    with pytest.raises(InputError) as caught:
        case.call()
    check(caught.value, case)


@pytest.mark.parametrize("case", FILES, ids=lambda case: case.kind)
def test_files(case: BadFile, tmp_path: Path) -> None:
    path = case.make(tmp_path)
    with pytest.raises(InputError) as caught:
        ScoreSet.read(path, **case.options)
    check(caught.value, case)


@pytest.mark.parametrize("case", [c for c in FILES if not c.options], ids=lambda case: case.kind)
def test_the_command_says_the_same_and_exits_with_2(case: BadFile, tmp_path: Path) -> None:
    arguments = ["evaluate", str(case.make(tmp_path)), "--method", "ensemble"]
    result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    told = "".join(result.stderr.split())
    assert result.exit_code == 2
    for part in (case.got, case.allowed, case.fix):
        assert "".join(in_options(part).split()) in told
    assert "Traceback" not in result.stderr


def test_there_are_many_kinds() -> None:
    kinds = [case.kind for case in (*ARRAYS, *FRAMES, *FILES)]
    assert len(set(kinds)) == len(kinds) >= 40
