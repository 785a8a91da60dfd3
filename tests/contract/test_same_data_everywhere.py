"""The same data gives the same evaluation to the bit, whatever holds it.

Files and frames of every kind, with holes in labels, scores and groups, with weights and ids; held
in memory and streamed; numbers of 64, 32 and 16 bits. Many scores are at the threshold and at the
edges of bins.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet
from tests.written import Columns, Dataset, write_text

import ssme
from ssme.data import ScoreSet
from ssme.metrics import ece
from ssme.stream import evaluate_parquet

N = 120
TEXT = ("id", "group_site")
LABELS = ("label",)


def binary_columns() -> Columns:
    """Decimals with two places, as many as half-precision numbers can tell apart."""
    rng = np.random.default_rng(4)
    truth = rng.integers(0, 2, N)
    columns: Columns = {"id": [f"row {i}" for i in range(N)]}
    for name, skill in (("bert", 30), ("gpt", 20), ("tree", 10)):
        near = 50 + skill * (2 * truth - 1) + rng.integers(-3, 4, N) * 5
        columns[name] = [float(value) / 100 for value in np.clip(near, 0, 100)]
    for row in (0, 7, 50):
        columns["gpt"][row] = None
    columns["label"] = [int(y) if i % 3 == 0 else None for i, y in enumerate(truth)]
    columns["weight"] = [float(w) / 4 for w in rng.integers(0, 9, N)]
    columns["group_site"] = [("north", "south", None)[i] for i in rng.integers(0, 3, N)]
    columns["group_ward"] = [(7, 8)[i] for i in rng.integers(0, 2, N)]
    columns["group_old"] = [(True, False)[i] for i in rng.integers(0, 2, N)]
    return columns


def class_columns() -> Columns:
    """Three classes, named by text: one column per model and class."""
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 3, N)
    columns: Columns = {"id": [f"row {i}" for i in range(N)]}
    for name in ("bert", "gpt"):
        parts = rng.integers(1, 20, (N, 3))
        parts[np.arange(N), truth] += 40
        parts[:, 2] = 100 - parts[:, :2].sum(axis=1)
        for k, animal in enumerate(ANIMALS):
            columns[f"{name}:{animal}"] = [float(v) / 100 for v in parts[:, k]]
            columns[f"{name}:{animal}"][5] = None if name == "gpt" else parts[5, k] / 100
    columns["label"] = [ANIMALS[y] if i % 3 == 0 else None for i, y in enumerate(truth)]
    columns["weight"] = [float(w) / 4 for w in rng.integers(1, 9, N)]
    columns["group_site"] = [("north", "south", None)[i] for i in rng.integers(0, 3, N)]
    return columns


ANIMALS = ("cat", "dog", "emu")
BINARY, CLASSES = binary_columns(), class_columns()


OF_CLASSES: list[Any] = ["accuracy", "brier", "average_precision", "ece_top_label"]
OF_TWO: list[Any] = ["accuracy", "accuracy@0.7", "roc_auc", ece(n_bins=10, binning="uniform")]


def bits(result: ssme.Evaluation) -> str:
    """Every number of the result; ``repr`` tells floats apart to the last bit."""
    return repr(list(result.rows()))


def evaluate(source: Any, y: Any = None, **options: Any) -> ssme.Evaluation:
    metrics = OF_CLASSES if options.pop("many", False) else OF_TWO
    return ssme.evaluate(source, y, method="ensemble", n_draws=20, metrics=metrics, **options)


def arrow_table(columns: Columns, change: Callable[[str, pa.Array], pa.Array]) -> pa.Table:
    return pa.table({name: change(name, pa.array(values)) for name, values in columns.items()})


def as_decimal(_: str, column: pa.Array) -> pa.Array:
    if not pa.types.is_floating(column.type):
        return column
    return pa.array([None if v is None else Decimal(str(v)) for v in column.to_pylist()])


def as_single(_: str, column: pa.Array) -> pa.Array:
    return column.cast(pa.float32()) if pa.types.is_floating(column.type) else column


def as_half(_: str, column: pa.Array) -> pa.Array:
    return column.cast(pa.float16()) if pa.types.is_floating(column.type) else column


def as_large_string(_: str, column: pa.Array) -> pa.Array:
    return column.cast(pa.large_string()) if pa.types.is_string(column.type) else column


def as_small_integers(_: str, column: pa.Array) -> pa.Array:
    return column.cast(pa.uint8()) if pa.types.is_integer(column.type) else column


def as_chunked_dictionary(_: str, column: pa.Array) -> pa.ChunkedArray:
    """Two chunks, each with a dictionary of its own."""
    half = len(column) // 2
    parts = (column[:half], column[half:].take(pa.array(range(len(column) - half))))
    return pa.chunked_array([part.dictionary_encode() for part in parts])


ARROW: dict[str, Callable[[str, pa.Array], Any]] = {
    "plain": lambda _, column: column,
    "dictionary": lambda _, column: column.dictionary_encode(),
    "a dictionary per chunk": as_chunked_dictionary,
    "large_string": as_large_string,
    "decimal": as_decimal,
    "float32": as_single,
    "float32 dictionary": lambda name, column: as_single(name, column).dictionary_encode(),
    "float16": as_half,
    "uint8": as_small_integers,
}


def pandas_frame(columns: Columns, kind: str) -> pd.DataFrame:
    objects = pd.DataFrame({k: pd.Series(v, dtype=object) for k, v in columns.items()})
    if kind == "object":
        return objects
    if kind == "default":
        return pd.DataFrame(columns)
    if kind == "nullable":
        return objects.convert_dtypes()
    if kind in ("float32", "Float32"):
        scores = [*score_names(columns), "weight"]
        return pd.DataFrame(columns).astype(dict.fromkeys(scores, kind))
    if kind == "objects of float32":
        frame = pandas_frame(columns, "object")
        for name in score_names(columns):
            held = [None if v is None else np.float32(v) for v in columns[name]]
            frame[name] = pd.Series(held, dtype=object)
        return frame
    if kind == "categorical float32":
        frame = pandas_frame(columns, "float32")
        return frame.astype(dict.fromkeys(score_names(columns), "category"))
    if kind == "categorical":
        return pd.DataFrame({k: pd.Categorical(v) for k, v in columns.items()})
    types = {k: pd.ArrowDtype(pa.array(v).type) for k, v in columns.items()}
    return pd.DataFrame({k: pd.array(v, dtype=types[k]) for k, v in columns.items()})


def polars_frame(columns: Columns, kind: str) -> Any:
    frame = pl.DataFrame(columns)
    text = [name for name, of in frame.schema.items() if of == pl.String]
    if kind == "categorical":
        return frame.with_columns(pl.col(text).cast(pl.Categorical))
    if kind == "enum":
        known = {name: sorted({v for v in columns[name] if v is not None}) for name in text}
        return frame.with_columns([pl.col(n).cast(pl.Enum(known[n])) for n in text])
    if kind == "float32":
        return frame.with_columns(pl.col(score_names(columns)).cast(pl.Float32))
    return frame.lazy() if kind == "lazy" else frame


def score_names(columns: Columns) -> list[str]:
    return [n for n in columns if n not in ("id", "label", "weight") and "group_" not in n]


def numbers(values: list[Any]) -> list[float]:
    return [np.nan if value is None else value for value in values]


def stacked(columns: Columns) -> np.ndarray:
    """(n, M) or (n, M, K) scores."""
    names = score_names(columns)
    flat = np.array([numbers(columns[name]) for name in names]).T
    return flat.reshape(N, -1, len(ANIMALS)) if ":" in names[0] else flat


def given_apart(columns: Columns) -> dict[str, Any]:
    groups = {n.removeprefix("group_"): v for n, v in columns.items() if n.startswith("group_")}
    return {"weights": columns["weight"], "ids": columns["id"], "groups": groups}


def sources(columns: Columns, folder: Path) -> dict[str, tuple[Any, ...]]:
    """Name -> arguments of `evaluate`: the source, labels, options."""
    many = {"many": True} if columns is CLASSES else {}
    found: dict[str, tuple[Any, ...]] = {
        "CSV": (write_text(columns, folder / "s.csv"), None, {}),
        "CSV with semicolons": (
            write_text(columns, folder / "t.csv", ";"),
            "label",
            {"delimiter": ";"},
        ),
        "TSV": (write_text(columns, folder / "s.tsv", "\t"), None, {}),
        "file address": ((folder / "s.csv").as_uri(), None, {}),
        "Hugging Face, arrow": (None, None, {"dataset": Dataset(columns)}),
        "Hugging Face, pandas": (None, None, {"dataset": Dataset(columns, arrow=False)}),
    }
    for name, change in ARROW.items():
        table = arrow_table(columns, change)
        path = folder / f"{name.replace(' ', '_')}.parquet"
        parquet.write_table(table, path, row_group_size=50)
        found[f"pyarrow {name}"] = (table, None, {})
        found[f"Parquet {name}"] = (path, None, {})
    single = ("float32", "Float32", "objects of float32", "categorical float32")
    for kind in ("default", "object", "nullable", "categorical", "arrow", *single):
        found[f"pandas {kind}"] = (pandas_frame(columns, kind), None, {})
    for kind in ("plain", "categorical", "enum", "lazy", "float32"):
        found[f"polars {kind}"] = (polars_frame(columns, kind), None, {})
    doubles = pandas_frame(columns, "float32").astype(dict.fromkeys(score_names(columns), float))
    doubles.to_parquet(folder / "single.parquet")
    doubles.to_json(folder / "single.jsonl", orient="records", lines=True)
    doubles.to_excel(folder / "single.xlsx", index=False)
    for name in ("single.parquet", "single.jsonl", "single.xlsx"):
        found[name] = (folder / name, None, {})
    scores, apart = stacked(columns), given_apart(columns)
    models = list(dict.fromkeys(name.partition(":")[0] for name in score_names(columns)))
    named = {"models": models, **({"classes": ANIMALS} if columns is CLASSES else {})}
    found["arrays"] = (scores, columns["label"], {**named, **apart})
    by_model = {model: scores[:, m] for m, model in enumerate(models)}
    found["dict"] = (
        by_model,
        columns["label"],
        {**{k: v for k, v in named.items() if k != "models"}, **apart},
    )
    data = ScoreSet.from_arrays(scores, columns["label"], **named, **apart)
    data.save(folder / "s.npz")
    found["npz"] = (folder / "s.npz", None, {})
    np.save(folder / "s.npy", scores)
    found["npy"] = (folder / "s.npy", columns["label"], {**named, **apart})
    for kind in (np.float32, np.float16, ">f4"):
        held = scores.astype(kind)
        masked = np.ma.array(np.nan_to_num(held), mask=np.isnan(scores))
        name = np.dtype(kind).name + np.dtype(kind).byteorder
        np.save(folder / f"{name}.npy", held)
        found[f"arrays {name}"] = (held, columns["label"], {**named, **apart})
        found[f"masked {name}"] = (masked, columns["label"], {**named, **apart})
        found[f"npy {name}"] = (folder / f"{name}.npy", columns["label"], {**named, **apart})
    found["long"] = (data.to_frame("long"), None, {"models": models})
    return {name: (*of[:2], {**of[2], **many}) for name, of in found.items()}


@pytest.mark.parametrize("columns", [BINARY, CLASSES], ids=["two classes", "three classes"])
def test_every_source_gives_the_same_bits(columns: Columns, tmp_path: Path) -> None:
    results = {}
    for name, (source, labels, options) in sources(columns, tmp_path).items():
        if "dataset" in options:
            source = ScoreSet.from_huggingface(options.pop("dataset"))
        results[name] = bits(evaluate(source, labels, **options))
    assert len(results) > 25
    differ = [name for name, found in results.items() if found != results["arrays"]]
    assert differ == []
    assert "site=north" in results["arrays"]


def test_lists_of_class_scores_in_a_dataset_give_the_same_bits() -> None:
    scores = stacked(CLASSES)
    lists: Columns = {n: v for n, v in CLASSES.items() if ":" not in n}
    for m, model in enumerate(("bert", "gpt")):
        rows = scores[:, m].tolist()
        lists[model] = [None if np.isnan(row[0]) else row for row in rows]
    named = {"models": ["bert", "gpt"], "classes": ANIMALS}
    expected = bits(evaluate(scores, CLASSES["label"], many=True, **named, **given_apart(CLASSES)))
    for arrow in (True, False):
        data = ScoreSet.from_huggingface(Dataset(lists, arrow=arrow), classes=ANIMALS)
        assert bits(evaluate(data, many=True)) == expected
    for model in ("bert", "gpt"):
        lists[model] = pa.array(lists[model], pa.list_(pa.float32()))
    data = ScoreSet.from_huggingface(Dataset(lists), classes=ANIMALS)
    assert bits(evaluate(data, many=True)) == expected
    for model in ("bert", "gpt"):
        lists[model] = [None if v is None else np.float32(v) for v in lists[model].to_pylist()]
    data = ScoreSet.from_huggingface(Dataset(lists, arrow=False), classes=ANIMALS)
    assert bits(evaluate(data, many=True)) == expected


@pytest.mark.parametrize("columns", [BINARY, CLASSES], ids=["two classes", "three classes"])
def test_every_streamed_file_gives_the_same_bits(columns: Columns, tmp_path: Path) -> None:
    """Where all rows are in the sample, the streamed numbers are those of memory."""
    metrics = OF_CLASSES if columns is CLASSES else OF_TWO
    results = {}
    for name, change in ARROW.items():
        path = tmp_path / "s.parquet"
        parquet.write_table(arrow_table(columns, change), path, row_group_size=50)
        streamed = evaluate_parquet(path, method="ensemble", n_draws=20, metrics=metrics)
        results[name] = bits(streamed)
        if name == "plain":
            memory = evaluate(path, many=columns is CLASSES)
    assert [name for name, found in results.items() if found != bits(memory)] == []
