"""Nulls of dictionary-encoded columns and categoricals stay nulls, wherever they are written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal
from pyarrow import parquet

from ssme.data import UNLABELED, ScoreSet
from ssme.data.readers.tables import decode, from_arrow
from ssme.stream import evaluate_parquet

U = UNLABELED
N = 40
LABELS = [0, None, 1, None] * 10
SITES = ["a", "b", None, "b"] * 10
SCORES = [0.25, 0.5, None, 0.75, 0.125] * 8
OTHERS = [0.25, 0.75, 0.5, 0.125] * 10
WEIGHTS = [1.0, 2.0, 0.5, 1.0] * 10
IDS = [f"row {i}" for i in range(N)]


def encoded(values: list[Any], kind: Any, how: str) -> pa.ChunkedArray:
    """``values`` in two chunks, each with a dictionary of its own."""
    halves = []
    for part in (values[: N // 2], values[N // 2 :]):
        known = sorted({v for v in part if v is not None}, reverse=bool(halves))
        if how == "null among the values":
            known.append(None)
        place = {value: index for index, value in enumerate(known)}
        indices = [place.get(value) for value in part]
        halves.append(
            pa.DictionaryArray.from_arrays(pa.array(indices, pa.int32()), pa.array(known, kind))
        )
    return pa.chunked_array(halves)


@pytest.fixture(params=["null among the indices", "null among the values"])
def table(request: pytest.FixtureRequest) -> pa.Table:
    how = request.param
    return pa.table(
        {
            "id": encoded(IDS, pa.string(), how),
            "bert": encoded(SCORES, pa.float64(), how),
            "gpt": encoded(OTHERS, pa.float64(), how),
            "label": encoded(LABELS, pa.int64(), how),
            "weight": encoded(WEIGHTS, pa.float64(), how),
            "group_site": encoded(SITES, pa.large_string(), how),
        }
    )


def assert_right(data: ScoreSet) -> None:
    assert_array_equal(data.labels, [U if v is None else v for v in LABELS])
    assert data.n_labeled == N // 2
    assert data.groups["site"].tolist() == SITES
    assert data.models == ("bert", "gpt")
    assert_array_equal(data.scores[:, 0, 1], [np.nan if v is None else v for v in SCORES])
    assert_array_equal(data.scores[:, 1, 1], OTHERS)
    assert_array_equal(data.weights, WEIGHTS)
    assert data.ids.tolist() == IDS


def test_dictionary_columns_of_a_table(table: pa.Table) -> None:
    assert_right(ScoreSet.from_frame(table))


def plain_table(sites: list[Any]) -> pa.Table:
    columns = (IDS, SCORES, OTHERS, LABELS, WEIGHTS, sites)
    names = ("id", "bert", "gpt", "label", "weight", "group_site")
    return pa.table(dict(zip(names, columns, strict=True)))


def write_encoded(plain: pa.Table, path: Path) -> None:
    """Row groups of nine rows, each with dictionaries of its own."""
    table = pa.table({name: plain[name].dictionary_encode() for name in plain.column_names})
    parquet.write_table(table, path, row_group_size=9)


def test_dictionary_columns_of_a_file(tmp_path: Path) -> None:
    write_encoded(plain_table(SITES), tmp_path / "s.parquet")
    assert_right(ScoreSet.read(tmp_path / "s.parquet"))


def test_dictionary_columns_streamed_give_the_numbers_of_plain_ones(tmp_path: Path) -> None:
    plain = plain_table([site or "none" for site in SITES])
    labels = pa.array([None if v is None else "ny"[v] for v in LABELS])
    plain = plain.set_column(plain.schema.get_field_index("label"), "label", labels)
    parquet.write_table(plain, tmp_path / "plain.parquet", row_group_size=9)
    write_encoded(plain, tmp_path / "encoded.parquet")
    first, second = (
        evaluate_parquet(
            tmp_path / name, method="ensemble", metrics=["accuracy"], classes=["n", "y"]
        )
        for name in ("plain.parquet", "encoded.parquet")
    )
    assert second.settings["n_labeled"] == N // 2
    assert repr(list(first.rows())) == repr(list(second.rows()))  # NaN equals NaN


@pytest.mark.parametrize("categories", ["text", "numbers"])
def test_missing_values_of_pandas_categoricals(categories: str) -> None:
    labels = LABELS if categories == "numbers" else [None if v is None else "ny"[v] for v in LABELS]
    frame = pd.DataFrame(
        {
            "id": pd.Categorical(IDS),
            "bert": pd.Categorical(SCORES),
            "gpt": pd.Categorical(OTHERS),
            "label": pd.Categorical(labels),
            "weight": pd.Categorical(WEIGHTS),
            "group_site": pd.Categorical(SITES),
        }
    )
    classes = ["n", "y"] if categories == "text" else None
    assert_right(ScoreSet.from_frame(frame, classes=classes))
    assert_right(ScoreSet.from_frame(pa.Table.from_pandas(frame), classes=classes))


def test_missing_values_of_polars_categoricals() -> None:
    frame = pl.DataFrame(
        {
            "id": pl.Series(IDS, dtype=pl.Categorical),
            "bert": SCORES,
            "gpt": OTHERS,
            "label": pl.Series(
                [None if v is None else "ny"[v] for v in LABELS], dtype=pl.Enum(["y", "n"])
            ),
            "weight": WEIGHTS,
            "group_site": pl.Series(SITES, dtype=pl.Categorical),
        }
    )
    assert_right(ScoreSet.from_frame(frame, classes=["n", "y"]))


def test_run_length_encoded_columns() -> None:
    column = pa.chunked_array([pa.compute.run_end_encode(pa.array([1.0, 1.0, None, 2.0]))])
    assert_array_equal(from_arrow(column), [1.0, 1.0, np.nan, 2.0])
    assert decode(column).to_pylist() == [1.0, 1.0, None, 2.0]
