"""Rows that occur twice are refused, as in memory: by their ids, or as copied files without ids."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.stream.test_checkpoint import interrupted
from tests.stream.worlds import binary_table, written

from ssme.data.scoreset import ScoreSet
from ssme.errors import InputError
from ssme.stream import evaluate_parquet, source

ASKED: dict[str, Any] = {
    "method": "ensemble",
    "n_draws": 5,
    "sample_rows": 50,
    "executor": "serial",
    "by": [],
}


def named_table(n: int = 1200, ids: Any = None) -> Any:
    names = [f"r{i}" for i in range(n)] if ids is None else ids
    return binary_table(n, 40).append_column("id", pa.chunked_array([pa.array(names)]))


def test_a_copied_part_is_refused(tmp_path: Path) -> None:
    files = written(named_table(), tmp_path)
    assert evaluate_parquet(files, **ASKED).n_rows == 1200
    shutil.copy(tmp_path / "part0.parquet", tmp_path / "part7.parquet")
    with pytest.raises(
        InputError, match=r"id 'r0' appears at row 0, .*part0.* row 1200, .*part7.*599 more"
    ):
        evaluate_parquet(files, **ASKED)


def test_a_column_that_numbers_the_rows_of_each_file_can_be_ignored(tmp_path: Path) -> None:
    files = written(named_table(ids=np.tile(np.arange(600), 2)), tmp_path)
    with pytest.raises(InputError, match=r"id 0 appears at row 0.*ignore=\['id'\]"):
        evaluate_parquet(files, **ASKED)
    assert evaluate_parquet(files, ignore=["id"], **ASKED).n_rows == 1200


@pytest.mark.slow
def test_dask_workers_refuse_it_too(tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    files = written(named_table(), tmp_path)
    shutil.copy(tmp_path / "part0.parquet", tmp_path / "part7.parquet")
    with pytest.raises(InputError, match=r"id 'r0' appears at row 0"):
        evaluate_parquet(files, **ASKED | {"executor": "dask", "workers": 2})


@pytest.mark.parametrize("labeled", [True, False])
def test_ids_of_labeled_rows_and_copied_parts_are_found_among_many_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, labeled: bool
) -> None:
    """Of 1,700 rows 100 hashes are kept: one repeated label is found, and 500 copied rows are."""
    monkeypatch.setattr(source, "MOST_KEPT", 100)
    table = named_table()
    known = np.flatnonzero(table["label"].is_valid().to_pylist())
    more = table.take(known[:1]) if labeled else table.slice(300, 500).sort_by("m0")
    files = written(table, tmp_path)
    pq.write_table(more, tmp_path / "part7.parquet", compression="gzip")
    with pytest.raises(InputError, match="appears at row"):
        evaluate_parquet(files, **ASKED)


NAMES: dict[str, Any] = {
    "whole numbers": np.arange(300),
    "large numbers": np.arange(300, dtype=np.uint64) + np.uint64(2**63),
    "numbers": np.arange(300) / 7,
    "text": [f"row {i}" for i in range(300)],
    "long text": ["x" * (i % 40) + "é" * 9 + str(i) for i in range(300)],
    "categories": pa.array([f"r{i}" for i in range(300)]).dictionary_encode(),
    "dates": pa.array(np.arange(300).astype("datetime64[D]")),
}


@pytest.mark.parametrize("kind", NAMES)
@pytest.mark.parametrize("fault", ["none", "repeated", "missing"])
def test_a_stream_refuses_what_memory_refuses(tmp_path: Path, kind: str, fault: str) -> None:
    names = pa.array(NAMES[kind]).to_pylist()
    if fault == "repeated":
        names[271] = names[3]
    elif fault == "missing":
        names[271] = None
    table = named_table(300, pa.array(names, pa.array(NAMES[kind]).type))
    files = written(table, tmp_path, row_group=50)
    if fault == "none":
        assert evaluate_parquet(files, **ASKED).n_rows == ScoreSet.from_frame(table).n_rows
        return
    said = "row 3.* and again at row 271" if fault == "repeated" else "id at row 271 is missing"
    with pytest.raises(InputError, match=said):
        ScoreSet.from_frame(table)
    with pytest.raises(InputError, match=said):
        evaluate_parquet(files, **ASKED)


def test_blank_text_names_no_row(tmp_path: Path) -> None:
    table = named_table(300, ["a", " ", *(f"r{i}" for i in range(298))])
    with pytest.raises(InputError, match="the id at row 1 is missing"):
        evaluate_parquet(written(table, tmp_path), **ASKED)


def test_two_ids_with_one_hash_are_two_ids(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "_mix", lambda bits: bits % np.uint64(7))
    files = written(named_table(), tmp_path)
    assert evaluate_parquet(files, **ASKED).n_rows == 1200


def test_an_id_that_is_repeated_after_an_interruption_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ids are compared over all parts when a pass goes on, those counted before among them."""
    files, kept = written(named_table(), tmp_path, row_group=100), tmp_path / "kept"
    interrupted(files, kept, monkeypatch, **ASKED)
    shutil.copy(tmp_path / "part0.parquet", tmp_path / "part7.parquet")
    with pytest.raises(InputError, match="id 'r0' appears at row 0"):
        evaluate_parquet(files, checkpoint=kept, **ASKED)
    (tmp_path / "part7.parquet").unlink()
    assert evaluate_parquet(files, checkpoint=kept, **ASKED).n_rows == 1200


@pytest.mark.parametrize("written_as", ["copy", "rewritten", "sorted", "without statistics"])
def test_a_copied_file_without_ids_is_refused(tmp_path: Path, written_as: str) -> None:
    statistics = written_as != "without statistics"
    table, one, other = binary_table(600, 30), tmp_path / "a.parquet", tmp_path / "b.parquet"
    pq.write_table(table, one, write_statistics=statistics)
    if written_as == "rewritten":
        pq.write_table(table, other, compression="zstd", row_group_size=70)
    elif written_as == "sorted":
        pq.write_table(table.sort_by("m0"), other)
    else:
        shutil.copy(one, other)
    with pytest.raises(InputError, match=r"b.parquet has the same rows as .*a.parquet"):
        evaluate_parquet([one, other], **ASKED)


@pytest.mark.parametrize("statistics", [True, False])
def test_files_of_one_size_with_other_rows_are_read(tmp_path: Path, statistics: bool) -> None:
    """Those that agree in everything but one score, in the middle of its column, too."""
    table = binary_table(600, 30)
    scores = table["m0"].to_numpy().copy()
    at = np.argsort(scores)[300]
    scores[at] += 1e-9
    other = table.set_column(table.column_names.index("m0"), "m0", pa.array(scores))
    for name, each in {"a": table, "b": other}.items():
        pq.write_table(each, tmp_path / f"{name}.parquet", write_statistics=statistics)
    assert evaluate_parquet(tmp_path, **ASKED).n_rows == 1200


@pytest.mark.parametrize("copied", ["overlap", "file", "single precision"])
def test_copies_of_a_part_without_ids_are_a_warning(tmp_path: Path, copied: str) -> None:
    """Their labels count twice."""
    table, more = binary_table(1200, 120), binary_table(300, 30, seed=1)
    if copied == "file":
        files = [pa.concat_tables([table, table])]
    elif copied == "overlap":
        files = [table, pa.concat_tables([table.slice(600), more])]
    else:
        single = table["m0"].cast(pa.float32())
        files = [table, table.set_column(table.column_names.index("m0"), "m0", single)]
    for place, each in enumerate(files):
        pq.write_table(each, tmp_path / f"{place}.parquet")
    asked = ASKED | {"sample_rows": 600}
    sound = evaluate_parquet([tmp_path / "0.parquet"], **asked)
    assert (copied == "file") == ("D111" in {warning.code for warning in sound.warnings})
    found = evaluate_parquet(tmp_path, **asked)
    assert "D111" in {warning.code for warning in found.warnings}
