"""Files that are not what they seem: each is read as it is, or refused with its name, at once."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from ssme.data import ScoreSet
from ssme.data.readers import csv_files
from ssme.data.readers.sources import READERS
from ssme.errors import InputError

TABLE = "bert,gpt,label\n0.25,0.5,1\n0.75,0.5,0\n0.5,0.125,\n"


@pytest.mark.parametrize("suffix", READERS)
@pytest.mark.parametrize("what", ["pipe", "folder", "link to itself", "link to nothing", "device"])
def test_what_is_no_regular_file_is_refused_before_it_is_read(
    tmp_path: Path, suffix: str, what: str
) -> None:
    path = tmp_path / f"s{suffix}"
    if what == "pipe":
        os.mkfifo(path)
    elif what == "folder":
        path.mkdir()
    else:
        targets = {"link to itself": path, "link to nothing": tmp_path / "gone"}
        path.symlink_to(targets.get(what, Path(os.devnull)))
    with pytest.raises(InputError, match=rf"s\{suffix}"):
        ScoreSet.read(path)


def test_a_link_is_read_as_its_file(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text(TABLE)
    (tmp_path / "link.csv").symlink_to(tmp_path / "s.csv")
    one, other = (ScoreSet.read(tmp_path / name) for name in ("s.csv", "link.csv"))
    assert one.scores.tobytes() == other.scores.tobytes()


@pytest.mark.parametrize("in_place", [True, False])
@pytest.mark.parametrize("decimal", [None, ","])
def test_a_csv_that_changes_between_passes_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_place: bool, decimal: str | None
) -> None:
    path = tmp_path / "s.csv"
    path.write_text(TABLE.replace("0.", "1") if decimal else TABLE)
    scan = csv_files._scan

    def swap(*arguments: Any) -> Any:
        other = tmp_path / "other.csv"
        other.write_text("bert,gpt,label\n1,1,0\n")
        path.write_bytes(other.read_bytes()) if in_place else os.replace(other, path)
        return scan(*arguments)

    monkeypatch.setattr(csv_files, "_scan", swap)
    with pytest.raises(
        InputError, match=r"s\.csv (was changed while it was read|is not a regular)"
    ):
        ScoreSet.read(path, decimal=decimal)


def test_a_giant_header_is_read_or_refused(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    path.write_text("x" * 5_000_000 + ",label\n0.5,1\n")
    assert len(ScoreSet.read(path).models[0]) == 5_000_000
    with pytest.raises(InputError) as caught:
        ScoreSet.read(path, label="y")
    assert len(str(caught.value)) < 10_000
    names = ",".join(f"m{i}" for i in range(3_000))
    path.write_text(f"{names},label\n" + ",".join(["0.5"] * 3_000) + ",1\n")
    assert ScoreSet.read(path).n_models == 3_000


NESTED = {
    "lists": pa.array([[0.5], [0.25]]),
    "lists of lists": pa.array([[[0.5]], [[0.25]]]),
    "structs": pa.array([{"a": 0.5}, {"a": 0.25}]),
    "maps": pa.array([[("a", 0.5)], [("b", 0.25)]], pa.map_(pa.string(), pa.float64())),
    "bytes": pa.array([b"\xff", b"\x00"]),
    "times": pa.array([1, 2], pa.timestamp("ns")),
    "durations": pa.array([1, 2], pa.duration("s")),
    "decimals": pa.array([1, 2], pa.decimal128(38, 10)),
    "nulls": pa.nulls(2),
}


@pytest.mark.filterwarnings("ignore:not taken for models")
@pytest.mark.parametrize("kind", NESTED)
@pytest.mark.parametrize("part", ["beside", "model", "label", "group", "id", "weight"])
def test_nested_and_odd_types_in_any_part(tmp_path: Path, kind: str, part: str) -> None:
    path = tmp_path / "s.parquet"
    table = {"bert": [0.25, 0.75], "label": [0, 1], "odd": NESTED[kind]}
    if part == "label":
        del table["label"]
    parquet.write_table(pa.table(table), path)
    options: dict[str, Any] = {
        "beside": {},
        "model": {"models": ["bert", "odd"]},
        "label": {"label": "odd", "models": ["bert"]},
        "group": {"groups": ["odd"], "models": ["bert"]},
        "id": {"id": "odd", "models": ["bert"]},
        "weight": {"weight": "odd", "models": ["bert"]},
    }[part]
    with contextlib.suppress(InputError):
        assert np.isfinite(ScoreSet.read(path, **options).scores[:, 0]).all()
