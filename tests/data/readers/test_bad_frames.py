"""Bad frames are refused with what was found and where, what is allowed, and what to do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tests.data.bad_input import Bad, check

from ssme.data import ScoreSet, as_score_set
from ssme.errors import InputError

P = np.array([[0.2, 0.7], [0.6, 0.1], [0.5, 0.9], [0.8, 0.3]])
Y = [0, 1, None, 1]
TWELVE = np.linspace(0.05, 0.9, 12)
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


CASES = [
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
        "duplicate columns, by the door of every source",
        lambda: as_score_set(pd.DataFrame(np.c_[P, P[:, 0]], columns=["a", "b", "a"]), Y),
        "duplicated column names: 'a'.",
        "unique column names",
        "rename",
    ),
    Bad(
        "columns by model and class beside another one",
        frame(
            pd.DataFrame(
                {"m_0": 1.0 - TWELVE, "m_1": TWELVE, "seen": TWELVE**2, "label": [0, 1] * 6}
            )
        ),
        "columns 'm_0', 'm_1' sum to 1 on every row",
        "one per model and class and no others",
        "pattern='{model}_{class}'",
    ),
    Bad(
        "columns whose names begin with the class",
        frame(pd.DataFrame({"no_m": 1.0 - TWELVE, "yes_m": TWELVE, "label": [0, 1] * 6})),
        "columns 'no_m', 'yes_m' sum to 1",
        "one column per model",
        "models=[...]",
    ),
    Bad(
        "scores in a column without a name",
        frame(WIDE.assign(**{"Unnamed: 4": P[:, 0]})),
        "column 5 has no name ('Unnamed: 4') and holds 0.2 at row 0",
        "a name for every column",
        "ignore=['Unnamed: 4']",
    ),
    Bad(
        "votes in a column without a name",
        frame(WIDE.assign(**{" ": [1, 0, 1, 1]})),
        "column 5 has no name (' ') and holds 1 at row 0",
        "a name for every column",
        "name the column",
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
        "a label column named by label",
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
        lambda: ScoreSet.from_arrays(WIDE[["bert", "gpt"]]),
        "scores is a pandas DataFrame",
        "an array",
        "ScoreSet.from_frame",
    ),
    Bad(
        "a column that is not a probability",
        frame(WIDE.assign(age=[30, 41, 22, 57])),
        "column 'age' holds 30 at row 0, which is not a probability",
        "between 0 and 1",
        "models=[...]",
    ),
    Bad(
        "columns of two values only",
        frame(WIDE[["id", "label"]].assign(flag=[True, False, True, True], vote=[1, 1, 0, 1])),
        "'flag' (only 0 and 1); 'vote' (only 0 and 1)",
        "only where they are named",
        "models=[...]; 'vote' looks like answers",
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
        "leave it out",
    ),
    Bad(
        "a mapping to something else than columns",
        frame(WIDE, models={"bert": 3}),
        "models={'bert': 3}",
        "a table from model to its column",
        "leave it out",
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
        "one part (label, id, weight, design, groups) per column",
        "remove one",
    ),
    Bad(
        "labels by a name that is no column",
        frame(WIDE, "lable"),
        "no column 'lable' (label column)",
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
        '"wide" or "long"',
        "leave it out",
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
        "pattern='{model}:{class}' was given together with models as a mapping",
        "one of them",
        "which column is which",
    ),
    Bad(
        "a pattern without a class",
        frame(GRID, pattern="{model}"),
        "pattern='{model}'",
        "{model} and {class}",
        "leave it out",
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
        "models=[...]",
    ),
    Bad(
        "labels that are not the classes in the columns",
        frame(GRID.assign(label=["a", "c"])),
        "label 'c' at row 1 is not a class",
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
        frame(WIDE.drop(columns="label"), pd.DataFrame({"id": ["w", "w"], "label": [1, 1]})),
        "names 'w' at row 0 and again at row 1",
        "each id once",
        "remove one of the two rows",
    ),
    Bad(
        "missing ids among the labels",
        frame(WIDE.drop(columns="label"), pd.DataFrame({"id": [pd.NA, pd.NA], "label": [1, 1]})),
        "the id at row 0 is missing",
        "one id per row",
        "fill in the id",
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


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.kind)
def test_bad_frames_are_told_in_three_parts(case: Bad) -> None:
    with pytest.raises(InputError) as caught:
        case.call()
    check(caught.value, case)
