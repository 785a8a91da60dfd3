"""Columns of every type that frame libraries have, in every role."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal
from pyarrow import parquet

from ssme.data import ScoreSet
from ssme.data.readers.tables import Table
from ssme.errors import InputError

LARGE = [2**60 + 1, None, 2**60 + 2, -(2**60) - 1]
MAKERS: dict[str, Callable[[list[Any]], Any]] = {
    "pyarrow": lambda values: pa.table({"v": pa.array(values, pa.int64())}),
    "pyarrow dictionary": lambda values: pa.table(
        {"v": pa.array(values, pa.int64()).dictionary_encode()}
    ),
    "polars": lambda values: pl.DataFrame({"v": pl.Series(values, dtype=pl.Int64)}),
    "pandas object": lambda values: pd.DataFrame({"v": pd.Series(values, dtype=object)}),
    "pandas nullable": lambda values: pd.DataFrame({"v": pd.array(values, dtype="Int64")}),
    "pandas arrow": lambda values: pd.DataFrame({"v": pd.array(values, dtype="int64[pyarrow]")}),
    "pandas categorical": lambda values: pd.DataFrame({"v": pd.Categorical(values)}),
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_large_whole_numbers_are_exact_beside_missing_ones(
    make: Callable[[list[Any]], Any],
) -> None:
    found = Table(make(LARGE)).read_values("v")
    assert [None if pd.isna(value) else int(value) for value in found] == LARGE
    assert all(type(value) is not float for value in found if not pd.isna(value))


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_large_whole_numbers_are_no_scores(make: Callable[[list[Any]], Any]) -> None:
    table = Table(make(LARGE))
    with pytest.raises(InputError, match="column 'v': 1152921504606846977 at row 0 is too"):
        table.read_floats("v")


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_columns_of_nothing_known_and_of_small_numbers(make: Callable[[list[Any]], Any]) -> None:
    assert_array_equal(Table(make([None, None])).read_floats("v"), [np.nan, np.nan])
    assert_array_equal(Table(make([3, None, 4])).read_floats("v"), [3.0, np.nan, 4.0])
    assert_array_equal(Table(make([3, 5])).read_floats("v"), [3.0, 5.0])


def test_large_identifiers_of_a_parquet_file(tmp_path: Path) -> None:
    numbers = [2**60 + 1, 2**60 + 2, None]
    table = pa.table({"user_id": numbers, "bert": [0.1, 0.2, 0.3], "label": [0, 1, None]})
    parquet.write_table(table, tmp_path / "s.parquet")
    data = ScoreSet.read(tmp_path / "s.parquet", groups="user_id")
    assert data.groups["user_id"].tolist() == numbers
    parquet.write_table(table.slice(0, 2), tmp_path / "t.parquet")
    data = ScoreSet.read(tmp_path / "t.parquet", id="user_id")
    assert data.ids.tolist() == numbers[:2]
    with pytest.raises(InputError, match=r"column 'user_id': 1152921504606846977"):
        ScoreSet.read(tmp_path / "t.parquet")


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([Decimal("0.25"), None, Decimal("0.75")], pa.decimal128(5, 2)),
        ([Decimal("0.25"), None, Decimal("0.75")], pa.decimal256(50, 2)),
        ([np.float16(0.25), None, np.float16(0.75)], pa.float16()),
        ([0.25, None, 0.75], pa.float32()),
    ],
    ids=["decimal128", "decimal256", "float16", "float32"],
)
def test_numbers_of_other_widths_are_scores(values: list[Any], kind: Any) -> None:
    table = pa.table({"m": pa.array(values, kind), "n": [0.5, 0.5, 0.5], "label": [0, 1, 1]})
    data = ScoreSet.from_frame(table)
    assert data.models == ("m", "n")
    assert_array_equal(data.scores[:, 0, 1], [0.25, np.nan, 0.75])


@pytest.mark.parametrize("make", [pa.table, pl.DataFrame, pd.DataFrame])
@pytest.mark.parametrize(
    "values",
    [
        [date(2026, 1, 2), None, date(2026, 1, 3)],
        [datetime(2026, 1, 2, 3), None, datetime(2026, 1, 3)],
        [True, None, False],
        ["a", None, "b"],
        [0.5, None, 1.5],
    ],
    ids=["dates", "times", "booleans", "text", "numbers"],
)
def test_groups_of_every_type(make: Callable[[Any], Any], values: list[Any]) -> None:
    data = ScoreSet.from_frame(make({"m": [0.1, 0.2, 0.3], "label": [0, 1, 1], "group": values}))
    assert data.groups["group"].tolist() == values


def test_times_keep_their_nanoseconds() -> None:
    times = pd.to_datetime([1, None, 2], unit="ns")
    data = ScoreSet.from_frame(pd.DataFrame({"m": [0.1, 0.2, 0.3], "group": times}), [0, 1, 1])
    assert data.groups["group"][0].nanosecond == 1
    assert data.groups["group"][1] is None


def test_duplicate_columns_of_arrow_are_refused(tmp_path: Path) -> None:
    columns = [pa.array([0.1]), pa.array([0.2]), pa.array([1])]
    table = pa.Table.from_arrays(columns, names=["a", "a", "label"])
    parquet.write_table(table, tmp_path / "s.parquet")
    for read in (lambda: ScoreSet.from_frame(table), lambda: ScoreSet.read(tmp_path / "s.parquet")):
        with pytest.raises(InputError, match=r"(?s)duplicated column names: .*'a'"):
            read()


def test_looking_at_many_columns_asks_each_type_once(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = pd.DataFrame({f"model_{i}": [0.1, 0.2] for i in range(40)} | {"label": [0, 1]})
    import narwhals

    asked = []
    schema = narwhals.DataFrame.schema
    monkeypatch.setattr(
        narwhals.DataFrame, "schema", property(lambda self: asked.append(1) or schema.fget(self))
    )
    assert ScoreSet.from_frame(frame).n_models == 40
    assert len(asked) <= 2


ROUNDED: dict[str, Callable[[list[int], Path], Any]] = {
    "pandas": lambda ids, _: pd.DataFrame({"id": np.array(ids, dtype=float), "label": [1, 0]}),
    "polars": lambda ids, _: pl.DataFrame({"id": np.array(ids, dtype=float), "label": [1, 0]}),
    "parquet": lambda ids, folder: save_parquet(ids, folder / "labels.parquet"),
    "csv": lambda ids, folder: save_text(
        "id,label\n" + "".join(f"{id}.0,{k}\n" for k, id in enumerate(ids)), folder / "labels.csv"
    ),
    "json lines": lambda ids, folder: save_text(
        "".join(f'{{"id": {id}.0, "label": {k}}}\n' for k, id in enumerate(ids)),
        folder / "labels.jsonl",
    ),
}


def save_parquet(ids: list[int], path: Path) -> Path:
    pd.DataFrame({"id": np.array(ids, dtype=float), "label": [1, 0]}).to_parquet(path)
    return path


def save_text(text: str, path: Path) -> Path:
    path.write_text(text)
    return path


@pytest.mark.parametrize("make", ROUNDED.values(), ids=ROUNDED)
def test_ids_that_were_rounded_hit_no_neighbor(make: Any, tmp_path: Path) -> None:
    """2^53 + 1 and 2^53 + 5 as floats labeled the rows 2^53 and 2^53 + 4."""
    ids = [2**53 + i for i in range(8)]
    frame = pd.DataFrame({"id": ids, "bert": np.linspace(0.1, 0.9, 8)})
    with pytest.raises(InputError, match="rounded"):
        ScoreSet.from_frame(frame, make([ids[1], ids[5]], tmp_path))
    whole = pd.DataFrame({"id": [ids[1], ids[5]], "label": [1, 0]})
    assert np.flatnonzero(ScoreSet.from_frame(frame, whole).labeled).tolist() == [1, 5]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_ids_of_32_bits_are_exact_up_to_their_own_limit(make: Any) -> None:
    scores = {"bert": np.linspace(0.1, 0.9, 4)}
    ids = np.array([0, 2**24 + 2, 2**24 + 4, 2**24 + 6], dtype=np.float32)
    with pytest.raises(InputError, match="a floating-point number that may"):
        ScoreSet.from_frame(make({"id": ids, **scores}), labels=False)
    data = ScoreSet.from_frame(
        make({"id": np.arange(4, dtype=np.float32), **scores}), make({"id": [2], "label": [1]})
    )
    assert np.flatnonzero(data.labeled).tolist() == [2]
