"""Tables that are refused: the message names the column, value or option at fault."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

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


FRAMES: dict[str, tuple[Callable[[], Any], list[str]]] = {
    "not a frame": (frame([1, 2, 3]), []),
    "a frame without rows": (frame(pl.DataFrame({"bert": [], "label": []})), ["bert", "label"]),
    "duplicate columns, by the door of every source": (
        lambda: as_score_set(pd.DataFrame(np.c_[P, P[:, 0]], columns=["a", "b", "a"]), Y),
        ["a"],
    ),
    "columns by model and class beside another one": (
        frame(
            pd.DataFrame(
                {"m_0": 1.0 - TWELVE, "m_1": TWELVE, "seen": TWELVE**2, "label": [0, 1] * 6}
            )
        ),
        ["m_0", "m_1", "pattern"],
    ),
    "columns whose names begin with the class": (
        frame(pd.DataFrame({"no_m": 1.0 - TWELVE, "yes_m": TWELVE, "label": [0, 1] * 6})),
        ["no_m", "yes_m", "models"],
    ),
    "scores in a column without a name": (
        frame(WIDE.assign(**{"Unnamed: 4": P[:, 0]})),
        ["Unnamed: 4", "ignore"],
    ),
    "votes in a column without a name": (frame(WIDE.assign(**{" ": [1, 0, 1, 1]})), [" "]),
    "duplicate columns": (
        frame(pd.DataFrame([[0.1, 0.2, 1]], columns=["bert", "bert", "label"])),
        [],
    ),
    "a label column that is not there": (frame(WIDE, label="lable"), ["lable", "label"]),
    "a model column that is not there": (frame(WIDE, models=["brt", "gpt"]), ["brt", "bert"]),
    "a group column that is not there": (frame(WIDE, groups=["site"]), ["site"]),
    "a weight column that is not there": (frame(WIDE, weight="w"), ["w"]),
    "an id column that is not there": (frame(WIDE, id="uid"), ["uid", "id"]),
    "no label column": (frame(WIDE.rename(columns={"label": "toxic"})), ["id", "bert", "labels"]),
    "two label columns": (frame(WIDE.assign(y=1)), ["label", "y"]),
    "text in a score column": (
        frame(WIDE.assign(bert=["0.1", "n/a", "0.3", "0.2"]), models=["bert", "gpt"]),
        ["bert", "0.1"],
    ),
    "a stray text in an unnamed score column": (
        frame(WIDE.assign(bert=["0.1", "n/a", "0.3", "0.2"])),
        ["bert", "n/a"],
    ),
    "a frame given as an array": (lambda: ScoreSet.from_arrays(WIDE[["bert", "gpt"]]), []),
    "a column that is not a probability": (
        frame(WIDE.assign(age=[30, 41, 22, 57])),
        ["age", "models"],
    ),
    "columns of two values only": (
        frame(WIDE[["id", "label"]].assign(flag=[True, False, True, True], vote=[1, 1, 0, 1])),
        ["flag", "vote", "models"],
    ),
    "no score column": (frame(WIDE[["id", "label"]]), ["id", "label", "models"]),
    "a model listed twice": (frame(WIDE, models=["bert", "bert"]), ["bert"]),
    "no model listed": (frame(WIDE, models=[]), ["models"]),
    "a mapping to something else than columns": (
        frame(WIDE, models={"bert": 3}),
        ["bert", "models"],
    ),
    "a column with two parts": (frame(WIDE, models=["bert", "label"]), ["label"]),
    "a role given twice": (frame(WIDE, weight="bert", groups=["bert"]), ["bert"]),
    "labels by a name that is no column": (frame(WIDE, "lable"), ["lable", "label"]),
    "column names of several levels": (
        frame(pd.DataFrame(P, columns=pd.MultiIndex.from_product([["m"], ["x", "y"]])), Y),
        ["m", "x"],
    ),
    "numbered models in a long table": (
        frame(LONG.assign(model=[0, 0, 1, 1, 0, 0])),
        ["model", "score", "layout"],
    ),
    "an unknown layout": (frame(WIDE, layout="tall"), ["tall", "layout"]),
    "options of two layouts": (frame(LONG, score="score", pattern="{model}:{class}"), []),
    "an option of the other layout": (frame(WIDE, layout="wide", score="bert"), []),
    "a pattern beside a mapping": (
        frame(GRID, models={"bert": "bert:a"}, pattern="{model}:{class}"),
        ["{model}:{class}", "pattern"],
    ),
    "a pattern without a class": (frame(GRID, pattern="{model}"), ["{model}", "pattern"]),
    "a pattern that does not fit": (
        frame(GRID, pattern="{model}-{class}"),
        ["{model}-{class}", "pattern"],
    ),
    "a pattern that fits in two ways": (
        frame(
            pd.DataFrame({"m_b_c": [0.4], "m_b_d": [0.6], "label": [None]}),
            pattern="{model}_{class}",
        ),
        ["m_b", "c", "classes"],
    ),
    "logits that may be classes or binary models": (
        frame(GRID, logits=True),
        ["bert", "gpt", "models"],
    ),
    "labels that are not the classes in the columns": (frame(GRID.assign(label=["a", "c"])), ["c"]),
    "classes that are not those in the columns": (
        frame(GRID, pattern="{model}:{class}", classes=["x", "y"]),
        ["classes"],
    ),
    "a mapping to a column that is not there": (
        frame(GRID, models={"bert": {"a": "bert:a", "b": "bert:B"}}),
        ["bert:B", "bert", "bert:b"],
    ),
    "a mapping with different classes": (
        frame(
            GRID,
            models={"bert": {"a": "bert:a", "b": "bert:b"}, "gpt": {"a": "gpt:a", "c": "gpt:b"}},
        ),
        ["gpt", "a"],
    ),
    "a mapping with another class order than asked": (
        frame(GRID, models={"bert": {"a": "bert:a", "b": "bert:b"}}, classes=["a", "c"]),
        ["a", "c"],
    ),
    "a mapping with too few columns": (
        frame(GRID, models={"bert": ["bert:a"]}, classes=["a", "b"]),
        ["bert"],
    ),
    "an ambiguous layout": (frame(LONG.assign(bert=0.5)), ["model", "score", "layout"]),
    "a long table without ids": (frame(LONG.drop(columns="id")), ["id"]),
    "a repeated score in a long table": (frame(pd.concat([LONG, LONG.iloc[[3]]])), ["gpt", "b"]),
    "a missing class in a long table": (frame(LONG.iloc[:-1]), ["bert", "b"]),
    "labels that differ within an id": (
        frame(LONG.assign(label=["a", "b", "a", "a", None, None])),
        ["label", "a"],
    ),
    "an empty model in a long table": (
        frame(LONG.assign(model=["bert", None, "gpt", "gpt", "bert", "bert"])),
        ["model"],
    ),
    "a model that is not in a long table": (
        frame(LONG, models=["bret"]),
        ["model", "bret", "bert"],
    ),
    "plain labels beside a long table": (frame(LONG, ["a", "b"]), []),
    "labels of ids that have no scores": (
        frame(WIDE.drop(columns="label"), pd.DataFrame({"id": ["w", "q"], "label": [0, 1]})),
        ["q"],
    ),
    "ids of another type": (
        frame(WIDE.drop(columns="label"), pd.DataFrame({"id": [1, 2], "label": [0, 1]})),
        [],
    ),
    "duplicate ids among the labels": (
        frame(WIDE.drop(columns="label"), pd.DataFrame({"id": ["w", "w"], "label": [1, 1]})),
        ["w"],
    ),
    "missing ids among the labels": (
        frame(WIDE.drop(columns="label"), pd.DataFrame({"id": [pd.NA, pd.NA], "label": [1, 1]})),
        [],
    ),
    "labels to join and no ids": (
        frame(WIDE[["bert", "gpt"]], pd.DataFrame({"id": ["w"], "label": [0]})),
        ["id"],
    ),
    "a table of labels without a label column": (
        frame(
            WIDE.drop(columns="label"), pd.DataFrame({"id": ["w"], "annotator": [3], "toxic": [1]})
        ),
        ["id", "annotator", "label"],
    ),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_a_frame_is_refused_by_name(kind: str) -> None:
    call, named = FRAMES[kind]
    with pytest.raises(InputError) as caught:
        call()
    assert [word for word in named if word not in str(caught.value)] == []


CSV = "bert,gpt,label\n0.2,0.7,0\n0.6,0.1,1\n"


def text(content: bytes | str, name: str = "s.csv") -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        path = folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def arrays(**content: Any) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        np.savez(folder / "s.npz", **content)
        return folder / "s.npz"

    return write


FILES: dict[str, tuple[Callable[[Path], Path], dict[str, Any], list[str]]] = {
    "percent": (text("bert,gpt,label\n20.5,70,0\n60,10.5,1\n"), {}, ["bert", "logits"]),
    "percent signs": (text("bert,gpt,label\n20 %,70%,0\n60.5 %,10%,1\n"), {}, ["bert", "20 %"]),
    "a number that names rows beside one that looks like grades": (
        text("row,clinic,bert,label\n" + "".join(f"{i},{i % 3},0.5,1\n" for i in range(12))),
        {},
        ["row", "ignore"],
    ),
    "no column that can be a model": (
        text("sick,vote,side\n1,0,1\n,1,1\n,1,1\n"),
        {"labels": False},
        ["sick", "vote", "models"],
    ),
    "a column of names taken for labels": (
        text("name,bert\nann,0.9\nbob,0.2\ncleo,0.4\n"),
        {"label": "name"},
        ["ann", "bob"],
    ),
    "an empty group": (
        text("clinic,bert,label\n,0.9,1\n,0.2,0\n"),
        {"groups": "clinic"},
        ["clinic"],
    ),
    "a file that is not there": (
        lambda folder: text(CSV, "scores.csv")(folder).with_name("score.csv"),
        {},
        ["scores.csv"],
    ),
    "a directory": (lambda folder: folder, {}, []),
    "an unknown suffix": (text(CSV, "s.xls"), {}, [".xls"]),
    "an empty file": (text(""), {}, []),
    "a header only": (text("bert,label\n"), {}, []),
    "a wrong delimiter": (text(CSV.replace(",", ";")), {}, ["bert;gpt;label", ",", "delimiter"]),
    "a wrong declared delimiter": (text(CSV), {"delimiter": ";"}, [";", "delimiter"]),
    "a delimiter of two characters": (text(CSV), {"delimiter": "::"}, ["::", "delimiter"]),
    "tabs in a CSV": (text(CSV.replace(",", "\t")), {}, ["bert\\tgpt\\tlabel", "delimiter"]),
    "a file that is not UTF-8": (
        text("bert,naïve,label\n0.2,0.7,0\n".encode("latin1")),
        {},
        ["encoding"],
    ),
    "duplicate columns in a CSV": (text("bert,bert,label\n0.2,0.7,0\n"), {}, ["bert"]),
    "rows of different lengths": (text("bert,label\n0.2,0\n0.2,0,7,8\n"), {}, []),
    "a decimal comma": (
        text('bert;label\n"0,2";0\n"0,3";1\n'),
        {"delimiter": ";", "models": ["bert"]},
        ["bert", "0,2", "decimal"],
    ),
    "a percentage in a CSV": (text("bert,gpt,label\n0.2,0.7,0\n0.6,55,1\n"), {}, ["gpt", "models"]),
    "an undeclared code in a CSV": (
        text("bert,gpt,label\n0.2,0.7,0\n0.6,0.5,-1\n"),
        {},
        ["unlabeled"],
    ),
    "duplicate ids in a CSV": (text("id,bert,label\nx,0.7,0\nx,0.5,1\n"), {}, ["x", "layout"]),
    "text classes in a CSV": (
        text("bert,label\n0.7,ham\n0.5,spam\n"),
        {},
        ["ham", "spam", "positive"],
    ),
    "an option that does not apply": (text(CSV), {"lables": "label"}, ["lables"]),
    "a broken Parquet file": (text(b"PAR1 this is not parquet", "s.parquet"), {}, []),
    "a delimiter for Parquet": (text(b"PAR1", "s.parquet"), {"delimiter": ";"}, [";", "delimiter"]),
    "an npz without scores": (arrays(preds=P), {}, ["scores", "preds"]),
    "pickled objects in an npz": (
        arrays(scores=P, labels=np.array(Y, dtype=object)),
        {},
        ["labels"],
    ),
    "pickled objects in an npy": (text(pickle.dumps({"scores": [0.1]}), "s.npy"), {}, []),
    "a broken npz": (text(b"PK\x03\x04 broken", "s.npz"), {}, []),
    "labels twice in an npz": (
        arrays(scores=P, labels=[0, 1, 1, 0], y=[0, 1, 1, 0]),
        {},
        ["labels", "y"],
    ),
    "a table option for an npz": (
        arrays(scores=P),
        {"pattern": "{model}:{class}"},
        ["{model}:{class}", "pattern"],
    ),
}


@pytest.mark.parametrize("kind", FILES)
def test_a_file_is_refused_by_name(kind: str, tmp_path: Path) -> None:
    make, options, named = FILES[kind]
    path = make(tmp_path)
    with pytest.raises(InputError) as caught:
        ScoreSet.read(path, **options)
    assert [word for word in named if word not in str(caught.value)] == []
