"""What is read of arrays, frames, files and answers: one line says what is given, one what it is.

A case is a function that reads, which may take a folder, and what the set then has: ``score`` is
that of the positive class by model, ``codes`` are labels as numbers, ``ignored`` and ``kind`` are
those of the layout, any other name is an attribute of the set.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose
from tests.messages.data import LONG, P, answers, arrays, frame, text

from ssme.data import UNLABELED, ScoreSet

U, NAN = UNLABELED, np.nan
Case = tuple[Callable[..., ScoreSet], dict[str, Any]]

BINARY = {"bert": [0.2, 0.7, 0.4], "gpt": [0.9, 0.1, 0.5], "label": [1, None, 0]}
PLAIN = pd.DataFrame(BINARY)
TOXIC = PLAIN.rename(columns={"label": "toxic"})
NAMED = pd.DataFrame({"m_a": [0.2, 0.7], "m_b": [0.9, 0.1], "x": [3.5, 1.5], "y": [1, None]})
JUDGED = NAMED.assign(j_1=["no", "yes"], j_2=["yes", "no"], y=["yes", None])
SEEDS = pd.DataFrame(np.random.default_rng(0).random((9, 4)), columns=["p_0", "p_1", "q_0", "q_1"])
THREE = np.random.default_rng(8).dirichlet((2.0, 1.0, 1.0), size=40)
ANIMALS = pd.DataFrame(THREE, columns=["cat", "dog", "emu"]).assign(label=["dog", "emu"] * 20)
SHARES = np.random.default_rng(0).dirichlet(np.ones(3), size=(3, 2))
GRID = pd.DataFrame(
    {
        f"{model}:{name}": SHARES[:, m, k]
        for m, model in enumerate(["bert", "gpt"])
        for k, name in enumerate(["c", "a", "b"])
    }
).assign(label=["a", None, "c"])
SPAM = pd.DataFrame(
    {"m_x_spam": [0.2], "m_x_not_spam": [0.8], "n_x_spam": [0.5], "n_x_not_spam": [0.5]}
).assign(label=["not_spam"])
NUMBERED = pd.DataFrame(
    {f"{m}{k}": s[:, k] for m, s in (("a", THREE), ("b", THREE[::-1])) for k in (2, 0, 1)}
).assign(label=[0, 1] * 20)


def grid(mark: str) -> pd.DataFrame:
    return GRID.rename(columns=lambda name: name.replace(":", mark))


WIDE: dict[str, Case] = {
    "a lazy frame": (frame(pl.LazyFrame(BINARY)), {"models": ("bert", "gpt"), "ignored": ()}),
    "listed models without labels": (
        frame(PLAIN[["bert", "gpt"]], models=["gpt"]), {"models": ("gpt",), "ignored": ("bert",)},
    ),
    "numbers that do not sum to one": (
        frame(pd.DataFrame({"m_1": [0.9, 0.8], "m_2": [0.7, 0.9]}), [0, 1]),
        {"models": ("m_1", "m_2"), "codes": [0, 1]},
    ),
    "numbers of seeds": (
        frame(SEEDS, [0, 1, None] * 3), {"models": tuple(SEEDS), "codes": [0, 1, U] * 3},
    ),
    "an index written to CSV": (
        frame(pd.DataFrame({"Unnamed: 0": [0, 1, 2], **BINARY})),
        {"models": ("bert", "gpt"), "ignored": ("Unnamed: 0",)},
    ),
    "labels given separately": (
        frame(PLAIN, [0, 0, 1]),
        {"models": ("bert", "gpt"), "ignored": ("label",), "codes": [0, 0, 1]},
    ),
    "a label that is named": (frame(TOXIC, label="toxic"), {"codes": [1, U, 0]}),
    "a label that is named second": (frame(TOXIC, "toxic"), {"codes": [1, U, 0]}),
    "labels for scores alone": (frame(TOXIC[["bert", "gpt"]], [0, 1, None]), {"codes": [0, 1, U]}),
    "a pattern of models": (frame(NAMED, "y", models=["m_*"]), {"models": ("m_a", "m_b")}),
    "a name and a pattern": (frame(NAMED, "y", models=["m_b", "m_?"]), {"models": ("m_b", "m_a")}),
    "a pattern to ignore": (frame(NAMED, "y", ignore=["x*"]), {"models": ("m_a", "m_b")}),
    "a pattern of models but one": (
        frame(NAMED.assign(m_c=[7, 8, 9][: len(NAMED)]), "y", models=["m_*"], ignore=["m_c"]),
        {"models": ("m_a", "m_b")},
    ),
    "a name that is a pattern": (
        frame(NAMED.rename(columns={"m_a": "m_*"}), "y", models=["m_*"]), {"models": ("m_*",)},
    ),
    "a pattern of answers": (answers(JUDGED, "y", answers=["j_*"]), {"models": ("j_1", "j_2")}),
    "roles that are named": (
        frame(
            PLAIN.assign(row=[1, 2, 3], w=[1.0, 2.0, 3.0], site=["x", None, "y"]),
            id="row", weight="w", groups="site", models={"m": "bert", "n": "gpt"},
        ),
        {"models": ("m", "n"), "groups": {"site": ["x", None, "y"]}, "ids": [1, 2, 3],
         "weights": [1.0, 2.0, 3.0]},
    ),
    "class columns, their pattern, prefix and order told": (
        frame(
            GRID.rename(columns=lambda name: name if name == "label" else f"p({name})"),
            pattern="p({model}:{class})", classes=["a", "b", "c"],
        ),
        {"classes": ("a", "b", "c"), "scores": SHARES[:, :, [1, 2, 0]], "codes": [0, U, 2]},
    ),
    "class columns of a named model": (
        frame(grid("_").assign(age=[20, 30, 40]), models=["gpt"]),
        {"models": ("gpt",), "scores": SHARES[:, [1]][:, :, [1, 2, 0]],
         "ignored": ("bert_c", "bert_a", "bert_b", "age")},
    ),
    "class names that hold the separator": (
        frame(SPAM, pattern="{model}_{class}", classes=["not_spam", "spam"]),
        {"models": ("m_x", "n_x"), "score": [[0.2], [0.5]]},
    ),
    "class columns by a mapping": (
        frame(GRID, models={m: {c: f"{m}:{c}" for c in "abc"} for m in ("bert", "gpt")}),
        {"classes": ("a", "b", "c"), "scores": SHARES[:, :, [1, 2, 0]], "codes": [0, U, 2]},
    ),
    "class columns by lists": (
        frame(
            GRID, models={m: [f"{m}:{c}" for c in "abc"] for m in ("bert", "gpt")},
            classes=["a", "b", "c"],
        ),
        {"classes": ("a", "b", "c"), "scores": SHARES[:, :, [1, 2, 0]]},
    ),
    "logits in class columns": (
        frame(GRID.drop(columns="label") * 5 - 2, ["a", "b", "c"], logits=True),
        {"classes": ("a", "b", "c")},
    ),
    "columns named by the classes": (
        frame(ANIMALS[["label", "emu", "cat", "dog"]]),
        {"models": ("model",), "classes": ("cat", "dog", "emu"), "scores": THREE[:, None]},
    ),
    "columns named by the classes in order": (
        frame(ANIMALS), {"models": ("model",), "scores": THREE[:, None]},
    ),
    "columns named by two classes": (
        frame(
            pd.DataFrame(
                {"ham": THREE[:, 0], "spam": 1 - THREE[:, 0], "label": ["ham", None] * 20}
            )
        ),
        {"classes": ("ham", "spam")},
    ),
    "several models with numbered classes": (
        frame(NUMBERED), {"models": ("a", "b"), "scores": np.stack([THREE, THREE[::-1]], axis=1)},
    ),
    "decimals": (
        frame(pa.table({"m": [Decimal("0.25"), None], "n": [0.5, 0.5], "label": [1, 0]})),
        {"score": [[0.25, NAN], [0.5, 0.5]]},
    ),
    "numbers that are objects": (
        frame(
            pd.DataFrame(
                {"m": pd.Series([0.25, None], dtype=object), "n": 0.5, "label": [1, 0]}
            )
        ),
        {"score": [[0.25, NAN], [0.5, 0.5]]},
    ),
    "numbered columns": (frame(pd.DataFrame(np.full((2, 2), 0.5)), [0, 1]), {"models": ("0", "1")}),
    "nothing labeled": (
        frame(PLAIN, False), {"models": ("bert", "gpt"), "n_labeled": 0, "label_column": None},
    ),
    "nothing labeled and no column of labels": (
        frame(PLAIN.drop(columns="label"), False),
        {"models": ("bert", "gpt"), "n_labeled": 0, "label_column": None},
    ),
    "percentages that are named": (
        frame(
            pd.DataFrame({"a": ["84.4 %", "7%", None, "100%"], "b": 0.5, "label": [1, 0, None, 1]}),
            models=["a", "b"],
        ),
        {"score": [[0.844, 0.07, NAN, 1.0], [0.5] * 4]},
    ),
}  # fmt: skip
WIDE |= {
    f"class columns with {mark!r}": (
        frame(grid(mark)),
        {"models": ("bert", "gpt"), "classes": ("a", "b", "c"), "codes": [0, U, 2],
         "scores": SHARES[:, :, [1, 2, 0]], "kind": "wide by class"},
    )
    for mark in (":", "__", "|", "/", ".", "_", "-", " ")
}  # fmt: skip
WIDE |= {
    f"{index} in a column without a name": (
        frame(pd.DataFrame({"": index, "bert": [0.2, 0.7], "label": [0, 1]})),
        {"models": ("bert",)},
    )
    for index in ([0, 1], [0, 0], [7, 7], [None, None], ["a", "b"])
}
WIDE |= {
    f"{name} beside scores, by {make.__module__}": (
        frame(make({**BINARY, "other": column})),
        {"models": ("bert", "gpt"), "ignored": ("other",)},
    )
    for make in (pd.DataFrame, pl.DataFrame)
    for name, column in {
        "dates": [datetime(2026, 1, day) for day in (1, 2, 3)],
        "durations": [timedelta(days) for days in (1, 2, 3)],
        "lists": [[1, 2], [3], []],
        "records": [{"a": 1}, {"a": 2}, {"a": 3}],
        "text": ["p", "q", "3"],
        "nothing": [None, None, None],
    }.items()
}

COLUMNS: dict[str, list[Any]] = {
    "id": ["q", "q", "q", "q", "p", "p"],
    "model": ["gpt", "gpt", "bert", "bert", "gpt", "gpt"],
    "class": ["neg", "pos", "pos", "neg", "neg", "pos"],
    "score": [0.2, 0.8, 0.4, 0.6, 0.5, 0.5],
    "label": ["pos", "pos", "pos", "pos", None, None],
}
TALL = pd.DataFrame(COLUMNS)
BARE = TALL.drop(columns="label")
ROWS: dict[str, Any] = {
    "ids": ["q", "p"], "models": ("gpt", "bert"), "classes": ("neg", "pos"), "kind": "long",
    "scores": [[[0.2, 0.8], [0.6, 0.4]], [[0.5, 0.5], [NAN, NAN]]], "codes": [1, U],
}  # fmt: skip
TALLER = TALL.rename(
    columns={"id": "doc", "model": "clf", "class": "k", "score": "p", "label": "gold"}
)
TALL_TABLES: dict[str, Case] = {
    f"rows of a long table, by {make.__module__}": (frame(make(COLUMNS)), ROWS)
    for make in (pd.DataFrame, pl.DataFrame, pa.table)
}
TALL_TABLES |= {
    "without classes scores are of the positive": (
        frame(
            pd.DataFrame(
                {"id": [1, 1, 2], "model": list("aba"), "score": [0.1, 0.9, 0.3], "y": [0, 0, 1]}
            )
        ),
        {"classes": (0, 1), "score": [[0.1, 0.3], [0.9, NAN]], "codes": [0, 1]},
    ),
    "other names of columns": (
        frame(TALLER, id="doc", model="clf", class_="k", score="p", label="gold", positive="neg"),
        {"classes": ("pos", "neg"), "codes": [0, U], "ids": ["q", "p"],
         "scores": [[[0.8, 0.2], [0.4, 0.6]], [[0.5, 0.5], [NAN, NAN]]]},
    ),
    "an order of classes and a choice of models": (
        frame(TALL[:4], models=["bert"], classes=["pos", "neg"], layout="long"),
        {"models": ("bert",), "scores": [[[0.4, 0.6]]], "codes": [0]},
    ),
    "classes that are numbers": (
        frame(
            TALL.assign(
                **{"class": [0, 1, 1, 0, 0, 1], "label": [1.0, 1.0, 1.0, 1.0, None, None]}
            )
        ),
        {"classes": (0, 1), "codes": [1, U]},
    ),
    "a label on one row of an id": (
        frame(TALL.assign(label=["", None, "pos", None, None, None])), {"codes": [1, U]},
    ),
    "weights and groups on the rows of an id": (
        frame(TALL.assign(weight=[2.0] * 4 + [3.0] * 2, group=["x"] * 4 + [None] * 2)),
        {"weights": [2.0, 3.0], "groups": {"group": ["x", None]}},
    ),
    "a long table without a label": (frame(BARE), {"n_labeled": 0}),
    "another column, and no label": (frame(BARE.assign(gold="pos"), False), {"n_labeled": 0}),
    "labels that are not read": (frame(TALL, False), {"n_labeled": 0}),
    "labels from another table": (
        frame(BARE, pl.DataFrame({"id": ["p"], "truth": ["neg"]})), {"codes": [U, 0]},
    ),
    "a long table of other columns": (frame(LONG), {"models": ("bert", "gpt"), "codes": [0, U]}),
}  # fmt: skip

Q = np.random.default_rng(0).dirichlet(np.ones(4), size=(6, 3))
HOLES = [[0.1, None], [0.3, 0.4]]
VOTES = np.array([[True, False], [False, False]])
ARRAYS: dict[str, Case] = {
    "probabilities of two classes": (
        arrays(P, [0, 1, NAN, 1]),
        {"scores": np.stack([1 - P, P], axis=2), "codes": [0, 1, U, 1], "classes": (0, 1),
         "models": ("model_1", "model_2"), "n_rows": 4, "n_models": 2, "n_classes": 2,
         "n_labeled": 3, "n_unlabeled": 1},
    ),
    "probabilities of four classes": (
        arrays(Q, [0, 1, 2, 3, None, 0], models=["a", "b", "c"]),
        {"scores": Q, "models": ("a", "b", "c"), "classes": (0, 1, 2, 3)},
    ),
    "sums that are off by a little": (arrays(Q * 1.0009), {"scores": Q * 1.0009}),
    "sums that are off by rounding": (arrays(Q.round(4)), {"scores": Q.round(4)}),
    "votes": (arrays(VOTES), {"score": VOTES.T}),
    "votes that are numbers": (arrays(VOTES.astype(int)), {"score": VOTES.T}),
    "rounding outside 0 to 1": (arrays([[1.0 + 1e-7], [-1e-7]]), {"score": [[1.0, 0.0]]}),
    "objects that hold numbers": (
        arrays(np.array(HOLES, dtype=object)), {"score": [[0.1, 0.3], [NAN, 0.4]]},
    ),
    "masked scores": (
        arrays(np.ma.masked_greater(P, 0.85)), {"score": np.where(P > 0.85, NAN, P).T},
    ),
    "a mapping of vectors": (
        arrays({"bert": P[:, 0], "gpt": pd.Series(P[:, 1])}, [0, 1, None, 1]),
        {"models": ("bert", "gpt"), "score": P.T, "kind": "mapping"},
    ),
    "a mapping of matrices": (
        arrays({"a": Q[:, 0], "b": Q[:, 1]}), {"scores": Q[:, :2], "kind": "mapping"},
    ),
    "a mapping in another order": (
        arrays({"a": P[:, 0], "b": P[:, 1]}, models=["b", "a"]),
        {"models": ("b", "a"), "score": P[:, ::-1].T},
    ),
    "nullable columns": (
        arrays(
            {"a": pd.array([0.1, None, 0.3], dtype="Float64"), "b": np.full(3, 0.2)},
            pd.array([1, None, 0], dtype="Int64"),
        ),
        {"score": [[0.1, NAN, 0.3], [0.2] * 3], "codes": [1, U, 0]},
    ),
    "weights, groups and ids": (
        arrays(P, weights=[1, 2, 0, 1], groups={"site": ["x", "", None, "y"]}, ids=[7, 8, 9, 10]),
        {"weights": [1.0, 2.0, 0.0, 1.0], "groups": {"site": ["x", None, None, "y"]},
         "ids": [7, 8, 9, 10]},
    ),
    "whole numbers of a group with holes": (
        arrays(P, groups={"site": [1.0, NAN, 2.0, 1.0]}), {"groups": {"site": [1, None, 2, 1]}},
    ),
    "no label": (arrays(P), {"n_labeled": 0}),
    "labels that are all missing": (arrays(P, [NAN] * 4), {"n_labeled": 0}),
    "every label": (arrays(P, [0, 1, 0, 1]), {"n_unlabeled": 0}),
    "labels of one class": (arrays(P, [1, 1, None, None]), {"classes": (0, 1)}),
    "frames that name the classes": (
        arrays({"a": pd.DataFrame({"no": [0.2, 0.9], "yes": [0.8, 0.1]})}, ["yes", None]),
        {"classes": ("no", "yes"), "codes": [1, U]},
    ),
    "a positive class written as the labels are": (
        arrays([[0.1], [0.9]], [0, 1], positive=True), {"classes": (0, 1)},
    ),
}  # fmt: skip

HALF = np.full((4, 2), 0.5)
MINUS = [0, None, 1, None]
LABELS: dict[str, Case] = {
    "a positive class turns the order round": (
        arrays(HALF, [0, 1, 1, None], positive=0), {"classes": (1, 0), "codes": [1, 0, 0, U]},
    ),
    "a positive class among listed ones": (
        arrays(HALF, ["a", "b", "b", None], classes=["a", "b"], positive="a"),
        {"classes": ("b", "a"), "codes": [1, 0, 0, U]},
    ),
    "a positive number alone": (
        arrays(HALF, [1, None, 1, None], positive=1), {"classes": (0, 1)},
    ),
    "True alone": (arrays(HALF, [True, None] * 2, positive=True), {"classes": (False, True)}),
    "a positive class as on the class axis": (
        arrays(np.full((4, 2, 2), 0.5), [0, 1, 1, 0], positive=1), {"classes": (0, 1)},
    ),
    "-1 that is listed": (
        arrays(HALF, [-1, 1, None, 1], classes=[-1, 1]), {"codes": [0, 1, U, 1]},
    ),
    "classes that do not occur": (
        arrays(np.full((2, 1, 3), 1 / 3), ["b", None], classes=["c", "b", "a"]),
        {"classes": ("c", "b", "a"), "codes": [1, U]},
    ),
    "equal values of other types": (
        arrays(HALF, [1.0, 0, True, None], classes=[0, 1]), {"codes": [1, 0, 1, U]},
    ),
    "text and nan in a list": (
        arrays([[0.1], [0.9], [0.4]], [NAN, "spam", "ham"], positive="spam"),
        {"classes": ("ham", "spam"), "codes": [U, 1, 0]},
    ),
    "large numbers in lists": (
        arrays([[0.1]] * 3, ids=[2**63, -1, 2**53 + 1], groups={"g": [2**63, -1, 2**53 + 1]}),
        {"ids": [2**63, -1, 2**53 + 1], "groups": {"g": [2**63, -1, 2**53 + 1]}},
    ),
}  # fmt: skip
LABELS |= {
    f"{code!r} declared as no label": (
        arrays(HALF, np.array([0, code, 1, code], dtype=object), unlabeled=code),
        {"classes": (0, 1), "codes": [0, U, 1, U], "unlabeled": (code,)},
    )
    for code in (-1, 9, "unknown")
}
LABELS |= {
    f"a number typed for text, {told}": (
        arrays(np.full((4, 1), 0.5), ["0", "1", "", "-1"], unlabeled=-1, **told),
        {"classes": ("0", "1"), "codes": [0, 1, U, U]},
    )
    for told in ({"classes": [0, 1]}, {"positive": 1})
}

ONE_HOT = [[[1, 0]], [[0, 1]], [[0, 1]]]
WITH_P = pd.DataFrame(
    {"p": [0.9, 0.2, 0.6], "judge": ["y", "n", None], "g": [4, 1, 5], "label": ["y", None, "n"]}
)
ANSWERS: dict[str, Case] = {
    "answers as text": (
        answers({"ann": ["no", "yes", " yes "]}, ["no", None, None]),
        {"scores": ONE_HOT, "classes": ("no", "yes"), "judged": {"ann": "answers"}},
    ),
    "answers as numbers": (
        answers({"ann": [0, 1, 1]}, [0, None, None]),
        {"scores": ONE_HOT, "classes": (0, 1), "judged": {"ann": "answers"}},
    ),
    "answers as booleans": (
        answers({"ann": [False, True, True]}, [False, None, None]),
        {"scores": ONE_HOT, "classes": (False, True), "judged": {"ann": "answers"}},
    ),
    "probabilities beside answers": (
        frame(WITH_P, "label", models=["p"], answers=["judge"], ratings=["g"]),
        {"models": ("p", "judge", "g"), "judged": {"judge": "answers", "g": "ratings"}},
    ),
    "listed classes that differ in capitals": (
        answers({"gpt": ["a", "A", "a"]}, ["a", "A", None], classes=["a", "A"]),
        {"classes": ("a", "A")},
    ),
    "whole grades with decimals": (
        answers(None, [1, 0, 1], ratings={"a": ["5.0", "1.0", "4"]}),
        {"grades": {"a": (1, 2, 3, 4, 5)}},
    ),
    "whole numbers with decimals": (
        answers({"a": ["2.0", "3.0", "1"]}, [1, 2, 3]), {"classes": (1, 2, 3)},
    ),
}  # fmt: skip
ANSWERS |= {
    f"signs with the labels {labels}": (
        answers({"a": [1, -1, 1, -1], "b": [1, -1, -1, -1]}, labels), {"classes": (-1, 1)},
    )
    for labels in (None, [1, None, None, None], [-1, 1, None, None])
}  # fmt: skip

CSV = "id,bert,gpt,label\n1,0.2,0.7,0\n2,0.6,,1\n3,0.5,0.1,\n"
SOUND = {"models": ("bert", "gpt"), "codes": [0, 1, U], "score": [[0.2, 0.6, 0.5], [0.7, NAN, 0.1]]}
GERMAN = "id;bert;weight;note;label\n7;0,25;1.234,5;a,b;1\n8;1;12;1,5;0\n9;0;1.000.000;x;\n"
STYLE = {"delimiter": ";", "decimal": ",", "thousands": "."}
FILES: dict[str, Case] = {
    "a CSV file": (text(CSV), SOUND),
    "a byte order mark": (text("\ufeff" + CSV), SOUND),
    "semicolons": (text(CSV.replace(",", ";"), delimiter=";"), SOUND),
    "tabs": (text(CSV.replace(",", "\t"), "s.tsv"), SOUND),
    "lines of Windows": (text(CSV.replace("\n", "\r\n")), SOUND),
    "quotes": (text(CSV.replace("bert", '"bert"').replace("0.2", '"0.2"')), SOUND),
    "a name in capitals": (text(CSV, "UPPER.CSV"), SOUND),
    "blanks after commas": (text(CSV.replace(",", ", ")), SOUND),
    "blank lines first": (text("\n\n" + CSV), SOUND),
    "a line of blanks first": (text("  \n\n" + CSV), SOUND),
    "NA for no label": (text(CSV.replace("0.1,", "0.1,NA")), SOUND),
    "a class called None": (
        text("m,label\n0.2,None\n0.6,toxic\n0.5,\n", classes=["None", "toxic"]),
        {"codes": [0, 1, U]},
    ),
    "rows that end in empty fields": (
        text("bert,gpt,label\n0.5,0.2,1\n0.25,0.1,\n0.75,,\n"),
        {"n_rows": 3, "n_labeled": 1, "score": [[0.5, 0.25, 0.75], [0.2, 0.1, NAN]]},
    ),
    "a carriage return alone": (
        text("bert,gpt,label\n\r,0.25,1\n0.5,0.75,0\r0.125,0.375,\n"),
        {"score": [[NAN, 0.5, 0.125], [0.25, 0.75, 0.375]], "n_labeled": 2},
    ),
    "a carriage return inside quotes": (
        text(b'label,"a\rb",c\n1,0.9,0.8\n0,0.2,0.3\n', label="label"), {"models": ("a\rb", "c")},
    ),
    "large whole numbers beside holes": (
        text(
            "id,m,group\n9007199254740993,0.5,9007199254740993\n9007199254740992,0.4,\n"
            "18446744073709551616,0.3,9007199254740992\n",
            labels=False,
        ),
        {"ids": [9007199254740993, 9007199254740992, 18446744073709551616],
         "groups": {"group": [9007199254740993, None, 9007199254740992]}},
    ),
    "decimal commas and points between thousands": (
        text(GERMAN, **STYLE),
        {"score": [[0.25, 1.0, 0.0]], "weights": [1234.5, 12.0, 1e6], "ids": [7, 8, 9],
         "labels": [1, 0, None], "ignored": ("note",)},
    ),
    "text with commas": (
        text(GERMAN, **STYLE, groups=["note"]), {"groups": {"note": ["a,b", "1,5", "x"]}},
    ),
}  # fmt: skip

CASES = WIDE | TALL_TABLES | ARRAYS | LABELS | ANSWERS | FILES


def look(data: ScoreSet, name: str) -> Any:
    match name:
        case "score":
            return data.scores[:, :, 1].T
        case "codes":
            return data.labels.tolist()
        case "labels":
            return data.label_values.tolist()
        case "groups":
            return {group: values.tolist() for group, values in data.groups.items()}
        case "judged":
            return {judge: of.kind for judge, of in data.judges.items()}
        case "grades":
            return {judge: of.values for judge, of in data.judges.items()}
        case "label_column":
            return data.layout.label
        case "ignored" | "kind" | "unlabeled":
            return getattr(data.layout, name)
    found = getattr(data, name)
    return found.tolist() if name in ("ids", "weights") else found


@pytest.mark.parametrize("case", CASES)
def test_a_source_is_read_as_it_is_meant(case: str, tmp_path: Path) -> None:
    read, expected = CASES[case]
    data = read(*[tmp_path][: len(inspect.signature(read).parameters)])
    for name, value in expected.items():
        found = look(data, name)
        if name in ("score", "scores"):
            assert_allclose(found, np.asarray(value, dtype=float), rtol=0, atol=1e-15)
        else:
            assert repr(found) == repr(value), name
