"""Nulls of encoded columns stay nulls (``tests/contract`` has dictionaries and categoricals)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from ssme.data import UNLABELED, ScoreSet
from ssme.data.readers.tables import decode, from_arrow

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


def test_run_length_encoded_columns() -> None:
    column = pa.chunked_array([pa.compute.run_end_encode(pa.array([1.0, 1.0, None, 2.0]))])
    assert_array_equal(from_arrow(column), [1.0, 1.0, np.nan, 2.0])
    assert decode(column).to_pylist() == [1.0, 1.0, None, 2.0]
