"""Messages of `ssme.ScoreSet`: arrays, frames, files and answers that are refused."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from scipy.sparse import csr_array

from ssme.data import ScoreSet, as_score_set
from ssme.data.design import LabelRounds
from ssme.data.grouping import Pooling, divide, parse_group_by

P = np.array([[0.2, 0.7], [0.6, 0.1], [0.5, 0.9], [0.8, 0.3]])
Q = np.array([[[0.2, 0.3, 0.5], [0.1, 0.8, 0.1]], [[0.6, 0.2, 0.2], [0.3, 0.3, 0.4]]])
Y = [0, 1, None, 1]
TWELVE = np.linspace(0.05, 0.9, 12)
WIDE = pd.DataFrame({"id": list("wxyz"), "bert": P[:, 0], "gpt": P[:, 1], "label": Y})
UNLABELED = WIDE.drop(columns="label")
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
CSV = "bert,gpt,label\n0.2,0.7,0\n0.6,0.1,1\n"
LABELS: list[Any] = ["yes", "no", "yes", None, None, None]
SAID: dict[str, list[Any]] = {
    "gpt": ["yes", "no", "no", "yes", "no", "yes"],
    "ann": ["yes", None, "yes", "no", "unsure", "no"],
}
GRADES: dict[str, list[Any]] = {"stars": [5, 1, 4, 2, 2, 2], "bob": [5, None, 4, 1, 2, None]}
ANSWERED = pd.DataFrame(
    {
        "id": ["r1", "r2", "r1", "r2"],
        "judge": ["gpt", "gpt", "ann", "ann"],
        "answer": ["yes", "no", "yes", "yes"],
        "label": ["yes", "no", "yes", "no"],
    }
)
YES_NO: list[Any] = ["yes", "no", *[None] * 10]
TEN_STARS = [1, 5, 3, 4, 2, 5] * 2
COLUMNS: dict[str, Any] = {
    "sex": np.array(["f", "m", "f", "m", "f", None], dtype=object),
    "age": np.array([10, 20, 30, 40, 50, None], dtype=object),
}
SET = ScoreSet.from_arrays(P, Y, models=["a", "b"])
STARS: list[Any] = [1, 0, 1, None, None, None]


def arrays(scores: Any = P, labels: Any = None, **options: Any) -> Callable[[], Any]:
    return lambda: ScoreSet.from_arrays(scores, labels, **options)


def changed(array: np.ndarray, index: tuple[int, ...], value: float) -> np.ndarray:
    out = array.copy()
    out[index] = value
    return out


def frame(data: Any, labels: Any = None, **options: Any) -> Callable[[], Any]:
    return lambda: ScoreSet.from_frame(data, labels, **options)


def answers(*given: Any, **options: Any) -> Callable[[], Any]:
    return lambda: ScoreSet.from_answers(*given, **options)


def text(content: bytes | str, name: str = "s.csv", **options: Any) -> Callable[[Path], Any]:
    def read(folder: Path) -> Any:
        path = folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return ScoreSet.read(path, **options)

    return read


def npz(options: dict[str, Any], **content: Any) -> Callable[[Path], Any]:
    def read(folder: Path) -> Any:
        np.savez(folder / "s.npz", **content)
        return ScoreSet.read(folder / "s.npz", **options)

    return read


def judged(*rows: tuple[Any, ...]) -> Callable[[], Any]:
    """A long table of answers with these rows too."""
    given = [("r1", "a", "yes", "yes"), ("r2", "a", "no", None), *rows]
    return answers(pd.DataFrame(given, columns=["row", "judge", "answer", "label"]), "label")


def columns(values: list[Any]) -> Callable[[], Any]:
    """A column of answers or grades that nobody named."""
    n = 4 * len(values)
    return frame(pd.DataFrame({"a": values * 4, "y": ["yes", "no", *[None] * (n - 2)]}), "y")


def by(grouping: str, **pooling: int) -> Callable[[], Any]:
    def group() -> Any:
        group_by = parse_group_by(grouping, COLUMNS).settle(COLUMNS)
        return divide(group_by, COLUMNS, Pooling(**pooling))

    return group


def long_answers(table: pd.DataFrame = ANSWERED, **options: Any) -> Callable[[], Any]:
    make = ScoreSet.from_frame if "answers" in options else ScoreSet.from_answers
    return lambda: make(table, "label", **options)


def german(*cells: str) -> Callable[[Path], Any]:
    lines = "".join(f"{cell};1\n" for cell in cells)
    return text(f"bert;label\n{lines}", delimiter=";", decimal=",")


def json_lines(line: str) -> Callable[[Path], Any]:
    return text('{"bert": 0.5, "label": 1}\n' + line, "s.jsonl")


def role(name: str, values: list[Any]) -> Callable[[], Any]:
    given = {"m": [0.1, 0.2], "label": ["a", "b"], "weight": [1.0, 1.0], "group": ["x", "y"]}
    return frame(pa.table({**given, name: values}), models=["m"], classes=["a", "b"])


def suggested(content: str, **options: Any) -> Callable[[Path], Any]:
    def read(folder: Path) -> Any:
        (folder / "next.csv").write_text(content)
        return ScoreSet.from_frame(WIDE, folder / "next.csv", **options)

    return read


ARRAYS: dict[str, Callable[..., Any]] = {
    "one-dimensional scores": arrays([0.1, 0.2]),
    "four-dimensional scores": arrays(np.zeros((2, 2, 2, 2))),
    "no rows": arrays(np.zeros((0, 3))),
    "no models": arrays(np.zeros((3, 0))),
    "one class on the class axis": arrays(np.ones((3, 2, 1))),
    "ragged scores": arrays([[0.1, 0.2], [0.3]]),
    "object array with text": arrays(np.array([[0.1, "high"], [0.2, 0.3]], dtype=object)),
    "object array with containers": arrays(np.array([[0.1, {"p": 1}]], dtype=object)),
    "text scores": arrays(np.array([["0,5", "0,7"]])),
    "complex scores": arrays(np.array([[1j, 0.5]])),
    "dates as scores": arrays(np.array([["2026-01-01"]], dtype="datetime64[D]")),
    "infinite score": arrays(changed(P, (2, 1), -np.inf), models=["a", "b"]),
    "score above 1": arrays(changed(P, (3, 0), 1.7), models=["a", "b"]),
    "score below 0": arrays(changed(Q, (1, 0, 2), -0.2)),
    "class scores that do not sum to 1": arrays(changed(Q, (1, 1, 2), 0.9), models=["a", "b"]),
    "normalizing a zero vector": arrays(np.zeros((1, 1, 3)), normalize=True),
    "normalizing single probabilities": arrays(P, normalize=True),
    "normalizing logits": arrays(Q, normalize=True, logits=True),
    "normalizing negative scores": arrays(changed(Q, (0, 0, 0), -0.5), normalize=True),
    "NaN for some classes only": arrays(changed(Q, (1, 0, 1), np.nan)),
    "a row without any score": arrays(np.array([[0.1, 0.2], [np.nan, np.nan], [np.nan, np.nan]])),
    "a model without any score": arrays(
        np.array([[0.1, np.nan], [0.3, np.nan]]), models=["a", "b"]
    ),
    "wrong number of labels": arrays(P, [0, 1, 1]),
    "two-dimensional labels": arrays(P, np.eye(4)),
    "a label that is not a class": arrays(P, [0, 1, 2, None], classes=[0, 1]),
    "a misspelled label": arrays(P, ["ham", "spam", "spma", ""], classes=["ham", "spam"]),
    "text labels for boolean classes": arrays(
        P, ["False", "True", None, "True"], classes=[False, True]
    ),
    "more classes in the labels than in the scores": arrays(P, [0, 1, 2, 3]),
    "undeclared -1": arrays(P, [0, -1, -1, 1]),
    "labels that are probabilities": arrays(P, [0.0, 0.5, 1.0, 1.0]),
    "labels of mixed types": arrays(P, np.array([0, "spam", None, 1], dtype=object)),
    "lists as labels": arrays(P, np.array([[0], [1, 2], None, [0]], dtype=object)),
    "text classes without an order": arrays(P, ["ham", "spam", None, "ham"]),
    "text classes without an order, many classes": arrays(Q, ["cat", "dog"]),
    "duplicate model names": arrays(P, models=["bert", "bert"]),
    "an empty model name": arrays(P, models=["bert", ""]),
    "too few model names": arrays(P, models=["bert"]),
    "duplicate class names": arrays(Q, classes=["a", "b", "a"]),
    "wrong number of classes": arrays(Q, classes=["a", "b"]),
    "positive that is not a class": arrays(P, classes=["ham", "spam"], positive="span"),
    "positive with many classes": arrays(Q, positive="a"),
    "positive that leaves the other class unknown": arrays(
        P, ["spam", None, None, "spam"], positive="spam"
    ),
    "positive against the class axis": arrays(
        np.stack([1 - P, P], axis=2), classes=["ham", "spam"], positive="ham"
    ),
    "an unlabeled code that is a class": arrays(P, [0, 1, 1, 0], classes=[0, 1], unlabeled=0),
    "classes as one text": arrays(P, ["a", "b", "a", "b"], classes="ab"),
    "a number of classes": arrays(P, [0, 1, 1, 0], classes=2),
    "a missing class": arrays(P, [0, 1, 1, 0], classes=[0, None]),
    "nothing": arrays(None),
    "a sparse matrix": arrays(csr_array(P)),
    "labels as a mapping": arrays(P, {"a": 0, "b": 1}),
    "negative weight": arrays(P, weights=[1, 1, -2, 1]),
    "missing weight": arrays(P, weights=[1, None, 1, 1]),
    "weights all zero": arrays(P, weights=np.zeros(4)),
    "wrong number of weights": arrays(P, weights=[1, 2]),
    "wrong number of group values": arrays(P, groups={"site": ["a"]}),
    "groups that are no mapping": arrays(P, groups=["a", "b", "a", "b"]),
    "duplicate ids": arrays(P, ids=["a", "b", "a", "c"]),
    "a missing id": arrays(P, ids=["a", None, "b", "c"]),
    "an empty mapping": arrays({}),
    "a mapping with different lengths": arrays({"a": [0.1, 0.2], "b": [0.1]}),
    "a mapping that mixes shapes": arrays({"a": [0.1, 0.2], "b": [[0.1, 0.9], [0.5, 0.5]]}),
    "a mapping of single columns": arrays({"a": P[:, :1], "b": P[:, 1:]}),
    "frames of which each has its own order of classes": arrays(
        {
            "a": pl.DataFrame(Q[:, 0], schema=["x", "y", "z"]),
            "b": pl.DataFrame(Q[:, 1], schema=["y", "x", "z"]),
        },
        [0, 2],
    ),
    "predict_proba of one model": arrays(
        np.stack([1.0 - np.linspace(0, 1, 12), np.linspace(0, 1, 12)], axis=1)
    ),
    "probabilities declared as logits": arrays(np.tile(P, (3, 1)), models=["a", "b"], logits=True),
    "class probabilities of one model among logits": arrays(
        np.tile(Q - [[3.0], [0.0]], (5, 1, 1)), logits=True
    ),
    "log-probabilities": arrays(-P),
    "labels in a matrix of one column": arrays(P, [[0], [1], [0], [1]]),
    "labels with a column per class": arrays(P, np.eye(2)[[0, 1, 1, 0]]),
    "a list with the scores of each model": arrays(
        [np.stack([1 - P[:, 0], P[:, 0]], axis=1)] * 2, [0, 1, 0, 1]
    ),
    "labels that differ in a space": arrays(P, ["0", "1", " 1", None], positive="1"),
    "a word for no label": arrays(P, ["0", "1", "NA", "NA"]),
    "a positive class of another type": arrays(P, [0, 1, 0, 1], positive="1"),
    "labels that have no class in common with the scores": arrays(
        Q, ["x", "y"], classes=["a", "b", "c"]
    ),
    "text labels in any order": arrays(Q[[0, 1, 0]], ["c", "a", "b"]),
    "a mapping with too many dimensions": arrays({"a": Q}),
    "model names that are not those of the mapping": arrays(
        {"a": [0.1], "b": [0.2]}, models=["a", "c"]
    ),
}

FRAMES: dict[str, Callable[..., Any]] = {
    "not a frame": frame([1, 2, 3]),
    "a frame without rows": frame(pl.DataFrame({"bert": [], "label": []})),
    "duplicate columns, by the door of every source": lambda: as_score_set(
        pd.DataFrame(np.c_[P, P[:, 0]], columns=["a", "b", "a"]), Y
    ),
    "columns by model and class beside another one": frame(
        pd.DataFrame({"m_0": 1.0 - TWELVE, "m_1": TWELVE, "seen": TWELVE**2, "label": [0, 1] * 6})
    ),
    "columns whose names begin with the class": frame(
        pd.DataFrame({"no_m": 1.0 - TWELVE, "yes_m": TWELVE, "label": [0, 1] * 6})
    ),
    "scores in a column without a name": frame(WIDE.assign(**{"Unnamed: 4": P[:, 0]})),
    "votes in a column without a name": frame(WIDE.assign(**{" ": [1, 0, 1, 1]})),
    "duplicate columns": frame(pd.DataFrame([[0.1, 0.2, 1]], columns=["bert", "bert", "label"])),
    "a label column that is not there": frame(WIDE, label="lable"),
    "a model column that is not there": frame(WIDE, models=["brt", "gpt"]),
    "a group column that is not there": frame(WIDE, groups=["site"]),
    "a weight column that is not there": frame(WIDE, weight="w"),
    "an id column that is not there": frame(WIDE, id="uid"),
    "no label column": frame(WIDE.rename(columns={"label": "toxic"})),
    "two label columns": frame(WIDE.assign(y=1)),
    "text in a score column": frame(
        WIDE.assign(bert=["0.1", "n/a", "0.3", "0.2"]), models=["bert", "gpt"]
    ),
    "a stray text in an unnamed score column": frame(
        WIDE.assign(bert=["0.1", "n/a", "0.3", "0.2"])
    ),
    "a frame given as an array": lambda: ScoreSet.from_arrays(WIDE[["bert", "gpt"]]),
    "a column that is not a probability": frame(WIDE.assign(age=[30, 41, 22, 57])),
    "columns of two values only": frame(
        WIDE[["id", "label"]].assign(flag=[True, False, True, True], vote=[1, 1, 0, 1])
    ),
    "no score column": frame(WIDE[["id", "label"]]),
    "a model listed twice": frame(WIDE, models=["bert", "bert"]),
    "no model listed": frame(WIDE, models=[]),
    "a mapping to something else than columns": frame(WIDE, models={"bert": 3}),
    "a column with two parts": frame(WIDE, models=["bert", "label"]),
    "a role given twice": frame(WIDE, weight="bert", groups=["bert"]),
    "labels by a name that is no column": frame(WIDE, "lable"),
    "column names of several levels": frame(
        pd.DataFrame(P, columns=pd.MultiIndex.from_product([["m"], ["x", "y"]])), Y
    ),
    "numbered models in a long table": frame(LONG.assign(model=[0, 0, 1, 1, 0, 0])),
    "an unknown layout": frame(WIDE, layout="tall"),
    "options of two layouts": frame(LONG, score="score", pattern="{model}:{class}"),
    "an option of the other layout": frame(WIDE, layout="wide", score="bert"),
    "a pattern beside a mapping": frame(GRID, models={"bert": "bert:a"}, pattern="{model}:{class}"),
    "a pattern without a class": frame(GRID, pattern="{model}"),
    "a pattern that does not fit": frame(GRID, pattern="{model}-{class}"),
    "a pattern that fits in two ways": frame(
        pd.DataFrame({"m_b_c": [0.4], "m_b_d": [0.6], "label": [None]}), pattern="{model}_{class}"
    ),
    "logits that may be classes or binary models": frame(GRID, logits=True),
    "labels that are not the classes in the columns": frame(GRID.assign(label=["a", "c"])),
    "classes that are not those in the columns": frame(
        GRID, pattern="{model}:{class}", classes=["x", "y"]
    ),
    "a mapping to a column that is not there": frame(
        GRID, models={"bert": {"a": "bert:a", "b": "bert:B"}}
    ),
    "a mapping with different classes": frame(
        GRID, models={"bert": {"a": "bert:a", "b": "bert:b"}, "gpt": {"a": "gpt:a", "c": "gpt:b"}}
    ),
    "a mapping with another class order than asked": frame(
        GRID, models={"bert": {"a": "bert:a", "b": "bert:b"}}, classes=["a", "c"]
    ),
    "a mapping with too few columns": frame(GRID, models={"bert": ["bert:a"]}, classes=["a", "b"]),
    "an ambiguous layout": frame(LONG.assign(bert=0.5)),
    "a long table without ids": frame(LONG.drop(columns="id")),
    "a repeated score in a long table": frame(pd.concat([LONG, LONG.iloc[[3]]])),
    "a missing class in a long table": frame(LONG.iloc[:-1]),
    "labels that differ within an id": frame(LONG.assign(label=["a", "b", "a", "a", None, None])),
    "an empty model in a long table": frame(
        LONG.assign(model=["bert", None, "gpt", "gpt", "bert", "bert"])
    ),
    "a model that is not in a long table": frame(LONG, models=["bret"]),
    "plain labels beside a long table": frame(LONG, ["a", "b"]),
    "labels of ids that have no scores": frame(
        UNLABELED, pd.DataFrame({"id": ["w", "q"], "label": [0, 1]})
    ),
    "ids of another type": frame(UNLABELED, pd.DataFrame({"id": [1, 2], "label": [0, 1]})),
    "duplicate ids among the labels": frame(
        UNLABELED, pd.DataFrame({"id": ["w", "w"], "label": [1, 1]})
    ),
    "missing ids among the labels": frame(
        UNLABELED, pd.DataFrame({"id": [pd.NA, pd.NA], "label": [1, 1]})
    ),
    "labels to join and no ids": frame(
        WIDE[["bert", "gpt"]], pd.DataFrame({"id": ["w"], "label": [0]})
    ),
    "a table of labels without a label column": frame(
        UNLABELED, pd.DataFrame({"id": ["w"], "annotator": [3], "toxic": [1]})
    ),
}

FILES: dict[str, Callable[..., Any]] = {
    "percent": text("bert,gpt,label\n20.5,70,0\n60,10.5,1\n"),
    "percent signs": text("bert,gpt,label\n20 %,70%,0\n60.5 %,10%,1\n"),
    "a number that names rows beside one that looks like grades": text(
        "row,clinic,bert,label\n" + "".join(f"{i},{i % 3},0.5,1\n" for i in range(12))
    ),
    "no column that can be a model": text("sick,vote,side\n1,0,1\n,1,1\n,1,1\n", labels=False),
    "a column of names taken for labels": text(
        "name,bert\nann,0.9\nbob,0.2\ncleo,0.4\n", label="name"
    ),
    "an empty group": text("clinic,bert,label\n,0.9,1\n,0.2,0\n", groups="clinic"),
    "a file that is not there": lambda folder: (
        (folder / "scores.csv").touch(),
        ScoreSet.read(folder / "score.csv"),
    ),
    "a directory": ScoreSet.read,
    "an unknown suffix": text(CSV, "s.xls"),
    "an empty file": text(""),
    "a header only": text("bert,label\n"),
    "a wrong delimiter": text(CSV.replace(",", ";")),
    "a wrong declared delimiter": text(CSV, delimiter=";"),
    "a delimiter of two characters": text(CSV, delimiter="::"),
    "tabs in a CSV": text(CSV.replace(",", "\t")),
    "a file that is not UTF-8": text("bert,naïve,label\n0.2,0.7,0\n".encode("latin1")),
    "duplicate columns in a CSV": text("bert,bert,label\n0.2,0.7,0\n"),
    "rows of different lengths": text("bert,label\n0.2,0\n0.2,0,7,8\n"),
    "a decimal comma": text('bert;label\n"0,2";0\n"0,3";1\n', delimiter=";", models=["bert"]),
    "a percentage in a CSV": text("bert,gpt,label\n0.2,0.7,0\n0.6,55,1\n"),
    "an undeclared code in a CSV": text("bert,gpt,label\n0.2,0.7,0\n0.6,0.5,-1\n"),
    "duplicate ids in a CSV": text("id,bert,label\nx,0.7,0\nx,0.5,1\n"),
    "text classes in a CSV": text("bert,label\n0.7,ham\n0.5,spam\n"),
    "an option that does not apply": text(CSV, lables="label"),
    "a delimiter for Parquet": text(b"PAR1", "s.parquet", delimiter=";"),
    "an npz without scores": npz({}, preds=P),
    "pickled objects in an npz": npz({}, scores=P, labels=np.array(Y, dtype=object)),
    "pickled objects in an npy": text(pickle.dumps({"scores": [0.1]}), "s.npy"),
    "labels twice in an npz": npz({}, scores=P, labels=[0, 1, 1, 0], y=[0, 1, 1, 0]),
    "a table option for an npz": npz({"pattern": "{model}:{class}"}, scores=P),
}

ANSWERS: dict[str, Callable[..., Any]] = {
    "an answer outside the classes": answers(
        {**SAID, "gpt": ["yes", "no", "yse", "yes", "no", "yes"]}, LABELS, classes=["no", "yes"]
    ),
    "an answer that makes a third class": answers(
        {**SAID, "gpt": ["yes", "no", "yse", "yes", "no", "yes"]}, LABELS, positive="yes"
    ),
    "a judge without any answer": answers(
        {**SAID, "bob": ["unsure", None, None, "abstain", None, None]}, LABELS
    ),
    "a row without any answer": answers({"once": [1, None, None]}, [1, 0, None]),
    "a grade that is not on the scale": answers(
        None, STARS, ratings=GRADES, classes=[0, 1], grades=[1, 2, 4]
    ),
    "a cut without ratings": answers(SAID, LABELS, cut=3),
    "a grade beyond those listed": answers(
        SAID, LABELS, ratings={"stars": [1, 2, 9, 1, 2, 3]}, grades=[1, 2, 3]
    ),
    "grades in words": answers(
        SAID, LABELS, ratings={"stars": ["low", "high", "low", "mid", "low", "low"]}
    ),
    "the lowest grade as cut": answers(SAID, LABELS, ratings=GRADES, cut=1),
    "one grade only": answers(SAID, LABELS, ratings={"stars": [3, 3, 3, None, 3, 3]}),
    "a class that means unsure": answers(SAID, LABELS, unsure="yes", classes=["no", "yes"]),
    "ratings without a grade": answers(None, [1, 0], ratings={"x": [None, None]}),
    "a misspelled design": answers(SAID, LABELS, classes=["no", "yes"], design="by_clas"),
    "a design by class, labels of one class": answers(
        SAID, ["yes", "yes", None, None, None, None], classes=["no", "yes"], design="by_class"
    ),
    "a design without labels": answers(SAID, [None] * 6, classes=["no", "yes"], design="by_score"),
    "a design weight of 0": answers(
        SAID, LABELS, classes=["no", "yes"], design=[1.0, 0.0, 1.0, 1.0, 1.0, 1.0]
    ),
    "too few design weights": answers(SAID, LABELS, classes=["no", "yes"], design=[1.0, 1.0]),
    "two designs": frame(
        pd.DataFrame({**SAID, "y": LABELS, "label_weight": 1.0}),
        answers=["gpt", "ann"],
        design="by_class",
    ),
    "answers with a class axis": answers(np.zeros((3, 2, 2), dtype=object)),
    "answers of one judge as a vector": answers(np.array(["a", "b"], dtype=object)),
    "too few names of judges": answers([["a", "b"]] * 3, models=["x"]),
    "judges of different lengths": answers({"x": ["a", "b"], "y": ["a"]}),
    "a judge that is not there": answers({"x": ["a", "b"]}, models=["z"]),
    "lists as answers": answers({"x": [["a", "b"]]}),
    "neither answers nor ratings": answers(None),
    "labels that are classes or grades": answers(
        None, [1, 5, None, None, None, None], ratings=GRADES
    ),
    "ratings without labels": answers(None, [None] * 6, ratings=GRADES),
    "labels beyond the scale": answers(None, [1, 7, 9, None, None, None], ratings=GRADES),
    "three classes with ratings": answers(None, STARS, ratings=GRADES, classes=[0, 1, 2]),
    "a class in other capitals": answers(
        {**SAID, "gpt": ["yes", "no", "Yes", "yes", "no", "yes"]}, LABELS
    ),
    "a class with a period": answers(
        {**SAID, "gpt": ["yes", "no", "YES.", "yes", "no", "yes"]}, LABELS
    ),
    "a label in other capitals": answers(SAID, ["Yes", "no", "yes", None, None, "yes"]),
    "probabilities as answers": answers({"a": [0.9, 0.1, 0.8]}, [1, 0, None]),
    "a label that says unsure": answers(SAID, ["yes", "no", "Unsure", None, None, None]),
    "a label declared as unsure": answers(SAID, LABELS, unsure="no"),
    "grades among answers": answers({"a": ["yes", "no"] * 6, "stars": TEN_STARS}, YES_NO),
    "grades beside labels of two classes": answers({"stars": TEN_STARS}, [1, 0] * 6),
    "answers and labels in two languages": answers({"a": ["pos", "neg"] * 6}, YES_NO),
    "a class listed twice": answers(SAID, LABELS, classes=["1.0", 1]),
    "a grade listed twice": answers(None, [1, 0, None], ratings={"a": [1, 2, 3]}, grades=[1, "1"]),
    "raters on two scales": answers(
        None, [0, 1, *[None] * 22], ratings={"a": [1, 5, 3, 4] * 6, "b": [10, 90, 60, 80] * 6}
    ),
    "scores over classes in no order": answers(
        {"a": ["x", "b", "c"]}, ["x", "b", None], scores={"m": np.full((3, 3), 1.0 / 3.0)}
    ),
    "scores of one of two classes": answers(
        [["up"], ["down"]], scores={"m": [0.2, 0.7]}, models=["a"]
    ),
    "high grades of one of two classes": answers(None, ["up", "down"], ratings={"j": [1, 5]}),
    "one class only": answers({"j": ["a", "a"]}, ["a", "a"]),
    "an answer given twice": judged(("r1", "a", "no", "yes")),
    "judges that differ in blanks": judged(("r1", "a ", "no", "yes")),
    "a row without an answer": judged(("r3", "a", None, None)),
    "a row without a judge": judged(("r3", None, "no", None)),
    "columns of letters": columns(list("ABCDF")),
    "columns of half grades": columns([1, 1.5, 2, 3.5, 5]),
    "columns of grades in steps": columns([0, 2.5, 5, 7.5, 10]),
    "columns of whole grades": columns([1, 2, 3, 4, 5]),
    "columns of answers": columns(["yes", "no"]),
}

GROUPS: dict[str, Callable[..., Any]] = {
    "a misspelled group column": by("sexx"),
    "text in bins": by("sex:quantiles=4"),
    "text among numbers in bins": lambda: parse_group_by("x:edges=1", ["x"]).settle(
        {"x": np.array(["2", None, "x"], dtype=object)}
    ),
    "a column twice in a grouping": by("sex+sex"),
    "edges that decrease": by("age:edges=40/20"),
    "equal edges": by("age:edges=20/20"),
    "no edges": by("age:edges="),
    "edges that are not numbers": by("age:edges=1/x"),
    "edges that are missing": by("age:edges=nan"),
    "one quantile": by("age:quantiles=1"),
    "quantiles in words": by("age:quantiles=many"),
    "a misspelled rule": by("age:quantile=4"),
    "a group column that was not read": lambda: parse_group_by("sex", []),
    "a minimum that no group reaches": by("sex", least_rows=50),
}

SETS: dict[str, Callable[..., Any]] = {
    "a row beyond the last": lambda: SET.take([5]),
    "rows that are no positions": lambda: SET.take([0.5]),  # type: ignore[list-item]
    "rows in two dimensions": lambda: SET.take(np.array([[0], [1]])),
    "a mask of another length": lambda: SET.take([True, False]),
    "an unknown model": lambda: SET.select(["d"]),
    "no model selected": lambda: SET.select([]),
    "a model selected twice": lambda: SET.select(["a", "a"]),
    "an unknown label in another labeling": lambda: SET.with_labels(["eggs"] * 4),
    "too few labels in another labeling": lambda: SET.with_labels([0, 1]),
    "a list that mixes numbers and text": arrays([[0.1], [0.9]], [0, "spam"]),
    "logits below zero only": arrays(np.log(np.tile(P, (3, 1))), logits=True),
    "percentages as logits": arrays(100 * np.tile(P, (3, 1)), logits=True),
    "models on the first axis": arrays(np.random.default_rng(0).random((5, 30))),
    "a missing design weight": arrays(P, [0, 1, None, 1], design=[1.0, np.nan, 1.0, 1.0]),
    "a number as a design": arrays(P, [0, 1, None, 1], design=3),
    "a design column that is not there": frame(WIDE, design="stand_for"),
    "a draw with probability 0": lambda: LabelRounds(
        np.array([0.0, np.nan]), np.array([1, 0])
    ).compute_weights(np.array([0, -1])),
    "two spellings of a class in a long table": frame(
        LONG.assign(**{"class": ["true", "false", "TRUE", "false", "true", "false"]}), False
    ),
}

SUGGESTED: dict[str, Callable[..., Any]] = {
    "an unknown id among suggested labels": suggested("id,label,probability\nq,1,0.2\n"),
    "a suggested probability of 0": suggested("id,label,probability\nz,1,0\n"),
    "a suggested probability above 1": suggested("id,label,probability\nz,1,1.01\n"),
    "a suggested probability in words": suggested("id,label,probability\nz,1,0.1\ny,1,x\n"),
    "a suggested label that contradicts": suggested("id,label,probability\nw,1,0.2\n"),
    "two suggested labels of a row": suggested("id,label,probability\ny,0,0.2\ny,1,0.2\n"),
    "half a round": suggested("id,label,probability,round\ny,0,0.2,0.5\n"),
    "a missing round": suggested("id,label,probability,round\ny,0,0.2,1\nz,1,0.2,\n"),
    "a suggested label of another class": suggested("id,label,probability\ny,7,0.2\n"),
    "a suggested label in words": suggested("id,label,probability\ny,yes,0.2\n"),
    "one lost probability": suggested("id,label,probability,round\ny,0,0.2,1\nz,1,,2\n"),
    "a design beside probabilities": suggested("id,label,probability\ny,0,0.2\n", design="random"),
}
TABLES_OF_ANSWERS: dict[str, Callable[..., Any]] = {
    "no column of answers": long_answers(ANSWERED.rename(columns={"answer": "text"})),
    "a column of answers that is not there": long_answers(answers=["answer", "label2"]),
    "two columns of answers in a long table": long_answers(
        ANSWERED.assign(more="yes"), answers=["answer", "more"], layout="long"
    ),
    "models in a long table of answers": long_answers(
        answers=["answer"], models=["answer"], layout="long"
    ),
    "no column left for answers": answers(WIDE[["id", "label"]], "label"),
    "a label as a column of answers": long_answers(answers=["answer", "label"], layout="wide"),
    "a score column of answers": long_answers(score="answer"),
    "a long table of answers without ids": long_answers(
        ANSWERED.drop(columns="id"), answers=["answer"], layout="long"
    ),
    "arrays beside a frame of answers": answers(ANSWERED, ratings={"bob": [1] * 4}),
    "an unknown option of answers": answers({"a": ["x", "y"]}, ["x", "y"], colour="red"),
    "ratings for three classes": answers(
        {"a": list("xyz")}, list("xyz"), ratings={"bob": [1, 2, 5]}, classes=list("xyz")
    ),
    "scores over other classes than answers": answers(
        {"a": list("xyz")}, list("xyz"), scores={"net": [0.1, 0.2, 0.3]}
    ),
}

CSV_FILES: dict[str, Callable[..., Any]] = {
    "lines above the header": text("exported by hand\nbert,gpt,label\n0.5,0.2,1\n0.3,0.4,0\n"),
    "a short row": text("bert,gpt,label\n0.5,0.2,1\n0.2\n0.3,0.4,0\n"),
    "a short last row": text("bert,gpt,label\n0.5,0.2,1\n0.2,0.1"),
    "a short row among quotes": text('bert,gpt,label\n"0.5",0.2,1\n\n0.2,0.3\n'),
    "a short row after two lines": text('bert,note,label\n0.5,"two\nlines",1\n0.2,0.3\n'),
    "a short row of Windows": text("bert,gpt,label\r\n0.5,0.2,1\r\n0.2,0.1\r\n"),
    "blank lines": text("  \n \t \n"),
    "a mark of UTF-8 alone": text("\ufeff \n"),
    "NUL in a CSV": text(b"bert,label\n0.5,1\n0.\x003,0\n"),
    "UTF-16 in a CSV": text("bert,label\n0.5,1\n".encode("utf-16")),
    "latin1 in a CSV": text(b"bert,note,label\n0.5,a,1\n0.2,\xe9,0\n"),
    "latin1 at the end": text(b"bert,note,label\n0.5,a,1\n0.2,b,\xe9"),
    "latin1 far on": text(b"note,bert,label\n" + b"a,0.5,1\n" * 200_000 + b"\xff,0.5,1\n"),
    "UTF-8 declared as cp1252": text("id,größe,label\nä,0.25,1\n", encoding="cp1252"),
    "cp1252 declared as ascii": text("id,größe,label\n".encode("cp1252"), encoding="ascii"),
    "an encoding that is not of text": text(CSV, encoding="hex"),
    "a short row in cp1252": text("id,größe\nä\n".encode("cp1252"), encoding="cp1252"),
    "a point among commas": german("0,5", "0,25", "0.75"),
    "points alone": german("0.5", "0.25", "0.75"),
    "two commas in a number": german("0", "1", "1,2,3"),
    "a word among commas": german("0,5", "n/a", "0,5"),
    "a comma that nobody declared": text("bert;label\n0,25;1\n0,5;\n", delimiter=";"),
    "the same mark twice": text(CSV, decimal=",", thousands=","),
    "a decimal mark for JSON Lines": text('{"bert": 0.5}', "s.jsonl", decimal=","),
    "a sheet of JSON Lines": text('{"bert": 0.5}', "s.jsonl", sheet="a"),
    "thousands in an npz": npz({"thousands": "."}, scores=P),
}

JSON_LINES: dict[str, Callable[..., Any]] = {
    "a dict of Python": json_lines("{'bert': 0.5}"),
    "a list for an object": json_lines("[0.5, 1]"),
    "a comma between lines": json_lines('{"bert": 0.5},'),
    "a key twice": json_lines('{"bert": 0.5, "bert": 0.6}'),
    "objects inside objects": json_lines('{"a": ' * 8 + "1" + "}" * 8),
    "objects without a name in a list": json_lines('{"bert": [{"score": 1}]}'),
    "lists inside lists": json_lines('{"bert": [[1]]}'),
    "brackets without end": json_lines("[" * 100_000),
    "lists of two lengths": text('{"a": [0.5, 0.5], "y": 0}\n{"a": [1.0], "y": 1}', "s.jsonl"),
    "bytes that are not UTF-8": text(b'{"bert": 0.5, "label": "\xe9"}\n', "s.jsonl"),
    "objects without a key": text("{}\n{}\n", "s.jsonl"),
}

PLACES: dict[str, Callable[..., Any]] = {
    "an address on the web": lambda: ScoreSet.read("https://example.org/s.csv"),
    "an address in a store": lambda: ScoreSet.read("s3://bucket/s.parquet"),
    "a file on another machine": lambda: ScoreSet.read("file://elsewhere/s.csv"),
    "a name with NUL": lambda: ScoreSet.read("a\0b.csv"),
}

ROLES: dict[str, Callable[..., Any]] = {
    "lists in a label column": role("label", [[0], [1]]),
    "objects in a group column": role("group", [{"a": 1}, {"a": 2}]),
    "lists in a weight column": role("weight", [[0.5], [1.0]]),
    "lists in a score column": role("m", [[0.5], [1.0]]),
    "bytes in a label column": role("label", [b"a", b"b"]),
    "dates in a label column": role("label", [date(2026, 1, 1), date(2026, 1, 2)]),
    "two columns of one group": frame(WIDE.assign(group="a", group_group="b")),
    "class columns with other names than the labels": frame(
        pd.DataFrame({"m:neg": [0.3, 0.2], "m:pos": [0.7, 0.8], "label": [0, 1]})
    ),
    "ids that occur twice": frame(WIDE.assign(id=[1, 1, 2, 3])),
    "a score twice in a long table": frame(
        pd.DataFrame({"id": [1, 1, 2], "model": "a", "score": [0.1, 0.2, 0.3], "y": [0, 0, 1]})
    ),
    "whole numbers that name the rows": frame(WIDE.assign(id=[101, 102, 103, 104], n=[7, 8, 9, 5])),
    "whole numbers that are a group": frame(WIDE.assign(ward=[3, 3, 4, 5])),
    "numbers that are no group": frame(WIDE.assign(age=[31.5, 40.0, 52.25, 61.0])),
    "a column to ignore that is not there": frame(WIDE, ignore=["brt"]),
}

CASES = (
    ARRAYS
    | FRAMES
    | FILES
    | ANSWERS
    | GROUPS
    | SETS
    | SUGGESTED
    | TABLES_OF_ANSWERS
    | CSV_FILES
    | JSON_LINES
    | PLACES
    | ROLES
)
