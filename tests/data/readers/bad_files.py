"""Files that must be refused, and what the errors must say."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["CASES", "BadFile"]

P = np.array([[0.2, 0.7], [0.6, 0.1], [0.5, 0.9], [0.8, 0.3]])
Y = [0, 1, None, 1]


def _write(folder: Path, name: str, content: bytes | str) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def _npz(folder: Path, name: str, **content: Any) -> Path:
    np.savez(folder / name, **content)
    return folder / name


CSV = "bert,gpt,label\n0.2,0.7,0\n0.6,0.1,1\n"


@dataclass(frozen=True)
class BadFile:
    kind: str
    make: Callable[[Path], Path]
    got: str
    allowed: str
    fix: str
    options: dict[str, Any] = field(default_factory=dict)


def text(content: bytes | str, name: str = "s.csv") -> Callable[[Path], Path]:
    return lambda folder: _write(folder, name, content)


CASES = [
    BadFile(
        "percent",
        text("bert,gpt,label\n20.5,70,0\n60,10.5,1\n"),
        "'bert' holds 20.5 at row 0, which is not a probability",
        "between 0 and 1",
        "for percent divide by 100; for logits say logits=True",
    ),
    BadFile(
        "percent signs",
        text("bert,gpt,label\n20 %,70%,0\n60.5 %,10%,1\n"),
        "'bert' holds '20 %' at row 0, a percentage written as text",
        "numbers between 0 and 1",
        "divide by 100",
    ),
    BadFile(
        "a number that names rows beside one that looks like grades",
        text("row,clinic,bert,label\n" + "".join(f"{i},{i % 3},0.5,1\n" for i in range(12))),
        "'row' holds 2 at row 2",
        "between 0 and 1",
        "say ignore=['row']; or list the score columns with models=[...].",
    ),
    BadFile(
        "no column that can be a model",
        text("sick,vote,side\n1,0,1\n,1,1\n,1,1\n"),
        "'sick' (always 1 or empty); 'vote' (only 0 and 1); 'side' (always 1)",
        "only where they are named",
        "list the models with models=[...]",
        {"labels": False},
    ),
    BadFile(
        "a column of names taken for labels",
        text("name,bert\nann,0.9\nbob,0.2\ncleo,0.4\n"),
        "3 different labels ('ann', 'bob', 'cleo') and scores over 2 classes",
        "at most 2 different labels",
        "check that label names the label column",
        {"label": "name"},
    ),
    BadFile(
        "an empty group",
        text("clinic,bert,label\n,0.9,1\n,0.2,0\n"),
        "group column 'clinic' of",
        "puts some rows into a group",
        "name another column with groups",
        {"groups": "clinic"},
    ),
    BadFile(
        "a file that is not there",
        lambda f: _write(f, "scores.csv", CSV).with_name("score.csv"),
        "no file",
        "an existing file",
        "did you mean 'scores.csv'?",
    ),
    BadFile("a directory", lambda f: f, "is a directory", "a file", "name a file in it"),
    BadFile("an unknown suffix", text(CSV, "s.xls"), "suffix '.xls'", ".csv", "save it as"),
    BadFile("an empty file", text(""), "s.csv is empty", "a header", "how it was made"),
    BadFile("a header only", text("bert,label\n"), "0 rows", "at least one row", "check the file"),
    BadFile(
        "a wrong delimiter",
        text(CSV.replace(",", ";")),
        "one column 'bert;gpt;label' when split at ','",
        "one column per model",
        "delimiter=';'",
    ),
    BadFile(
        "a wrong declared delimiter",
        text(CSV),
        "when split at ';'",
        "one column per model",
        "delimiter=','",
        {"delimiter": ";"},
    ),
    BadFile(
        "a delimiter of two characters",
        text(CSV),
        "delimiter='::'",
        "a single character, such as ','",
        "leave it out",
        {"delimiter": "::"},
    ),
    BadFile(
        "tabs in a CSV",
        text(CSV.replace(",", "\t")),
        "one column 'bert\\tgpt\\tlabel'",
        "one column per model",
        "delimiter='\\t'",
    ),
    BadFile(
        "a file that is not UTF-8",
        text("bert,naïve,label\n0.2,0.7,0\n".encode("latin1")),
        "is not UTF-8: byte 0xef at position 7",
        "UTF-8",
        "encoding='cp1252'",
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
        "say decimal=','",
        {"delimiter": ";", "models": ["bert"]},
    ),
    BadFile(
        "a percentage in a CSV",
        text("bert,gpt,label\n0.2,0.7,0\n0.6,55,1\n"),
        "column 'gpt' holds 55 at row 1, which is not a probability",
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
        "positive='ham' or positive='spam'",
    ),
    BadFile(
        "an option that does not apply",
        text(CSV),
        "has no option 'lables'",
        "label, labels",
        "'label'",
        {"lables": "label"},
    ),
    BadFile(
        "a broken Parquet file",
        text(b"PAR1 this is not parquet", "s.parquet"),
        "s.parquet failed: ArrowInvalid",
        "Parquet files",
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
        "s.npz failed: BadZipFile",
        "plain arrays",
        "write the file again",
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
        "pattern='{model}:{class}' was given and",
        "tables only",
        "leave it out",
        {"pattern": "{model}:{class}"},
    ),
]
