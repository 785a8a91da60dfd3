"""Files that are not as expected: the same answer as in memory, or an error that says where."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.stream.worlds import binary_table, written

import ssme
from ssme.errors import InputError
from ssme.stream import counting, evaluate_parquet

ASKED: dict[str, Any] = {"method": "ensemble", "n_draws": 5}
EVERYTHING = {**ASKED, "executor": "serial", "sample_rows": 10**6}


def with_column(table: Any, name: str, values: Any) -> Any:
    return table.set_column(table.column_names.index(name), name, values)


def rows_of(result: Any) -> dict[tuple[str, ...], tuple[float, ...]]:
    """What a result says, by group, metric and model."""
    numbers = ("estimate", "low", "high", "labels_only", "n_labeled", "n_unlabeled")
    return {
        (row["group"], row["metric"], row["model"]): tuple(row[name] for name in numbers)
        for row in result.rows()
    }


def assert_as_in_memory(table: Any, folder: Path, **asked: Any) -> Any:
    files = written(table, folder, row_group=100)
    memory = rows_of(ssme.evaluate(table, **ASKED, **asked))
    result = evaluate_parquet(files, **EVERYTHING, **asked)
    streamed = rows_of(result)
    assert list(streamed) == list(memory)
    np.testing.assert_allclose(
        np.array(list(streamed.values())), np.array(list(memory.values())), atol=1e-9
    )
    return result


def sites(table: Any, change: dict[int, Any]) -> list[Any]:
    """The sites of a table, every seventh row from some on changed."""
    values: list[Any] = table["group_site"].to_pylist()
    for start, value in change.items():
        values[start::7] = [value] * len(values[start::7])
    return values


def test_null_and_blank_groups_are_one_group_as_in_memory(tmp_path: Path) -> None:
    table = binary_table(900, 60)
    values = pa.array(sites(table, {0: None, 1: "", 2: "  "}), type=pa.string())
    result = assert_as_in_memory(with_column(table, "group_site", values), tmp_path)
    assert [group.name for group in result.groups] == ["all", "site=None", "site=a", "site=b"]


def test_groups_that_are_numbers_with_holes(tmp_path: Path) -> None:
    table = binary_table(900, 60)
    numbers = [None if v == "a" else 10 if v == "b" else 9 for v in sites(table, {0: "c"})]
    result = assert_as_in_memory(with_column(table, "group_site", pa.array(numbers)), tmp_path)
    assert [group.name for group in result.groups] == ["all", "site=None", "site=9", "site=10"]


@pytest.mark.parametrize("empty", [slice(0, 600), slice(0, 100), slice(300, 600), slice(850, 900)])
@pytest.mark.parametrize("hole", [None, float("nan")])
def test_a_model_without_scores_in_some_parts(tmp_path: Path, empty: slice, hole: Any) -> None:
    table = binary_table(900, 60)
    scores = table["m2"].to_pylist()
    scores[empty] = [hole] * len(scores[empty])
    assert_as_in_memory(with_column(table, "m2", pa.array(scores, pa.float64())), tmp_path)


def test_a_model_that_begins_after_the_first_rows(tmp_path: Path) -> None:
    table = binary_table(5000, 60)
    scores: list[Any] = table["m2"].to_pylist()
    scores[:2500] = [None] * 2500
    table = with_column(table, "m2", pa.array(scores, pa.float64()))
    path = tmp_path / "scores.parquet"
    pq.write_table(table, path, row_group_size=500)
    result = evaluate_parquet(path, **EVERYTHING)
    assert result.data.models == ("m0", "m1", "m2")
    assert rows_of(result).keys() == rows_of(ssme.evaluate(table, **ASKED)).keys()


def test_a_row_that_no_model_scored_is_refused_as_in_memory(tmp_path: Path) -> None:
    table = binary_table(900, 60)
    for name in ("m0", "m1", "m2"):
        scores: list[Any] = table[name].to_pylist()
        scores[700] = None
        table = with_column(table, name, pa.array(scores))
    place = written(table, tmp_path)
    with pytest.raises(InputError, match="has no score from any"):
        ssme.evaluate(table, **ASKED)
    with pytest.raises(InputError, match=r"part1.parquet.*has no score from any"):
        evaluate_parquet(place, **ASKED, sample_rows=5, executor="serial")


def test_a_group_outside_the_sample_has_its_rows_and_estimates(tmp_path: Path) -> None:
    table = binary_table(3000, 40)
    values: list[Any] = table["group_site"].to_pylist()
    labels = table["label"].to_pylist()
    rare = [i for i, label in enumerate(labels) if label is None][-30:]
    for row in rare:
        values[row] = "rare"
    table = with_column(table, "group_site", pa.array(values))
    place = written(table, tmp_path, row_group=500)
    asked = {**ASKED, "executor": "serial", "metrics": ["accuracy", "roc_auc"]}
    for seed in range(20):
        result = evaluate_parquet(place, **asked, sample_rows=20, random_state=seed)
        if result.settings["stream"]["groups_without_sample"]:
            break
    assert [group.name for group in result.groups] == ["all", "site=a", "site=b", "site=rare"]
    found = result.groups[-1]
    assert (found.n_labeled, found.n_unlabeled) == (0, 30)
    scores = np.stack([table[m].to_numpy()[rare] for m in ("m0", "m1", "m2")], axis=1)
    weights = table["weight"].to_numpy()[rare]
    positive = scores.mean(axis=1)
    right = np.where(scores > 0.5, positive[:, None], 1 - positive[:, None])
    expected = (weights[:, None] * right).sum(axis=0) / weights.sum()
    estimate = result.estimate("accuracy", "site=rare")
    np.testing.assert_allclose(estimate.value, expected)
    assert np.isnan(estimate.interval()[0]).all()
    rows = [row for row in result.rows() if row["group"] == "site=rare"]
    assert len(rows) == 6
    assert all(row["labels_only_from"] == "all" for row in rows)
    frame = result.frame("pandas")
    assert frame[frame["group"] == "site=rare"]["estimate"].notna().all()


def test_labels_of_two_types_are_refused_with_both_files(tmp_path: Path) -> None:
    table = binary_table(600, 60)
    written(table, tmp_path)
    text = with_column(table, "label", table["label"].cast(pa.int64()).cast(pa.string()))
    pq.write_table(text, tmp_path / "part2.parquet")
    told = r"'label' is numbers in .*part0.parquet and text in .*part2.parquet"
    with pytest.raises(InputError, match=told):
        evaluate_parquet(str(tmp_path), **EVERYTHING)


def test_numbers_of_several_widths_and_empty_columns_are_one_type(tmp_path: Path) -> None:
    table = binary_table(600, 60)
    alone, mixed = tmp_path / "alone", tmp_path / "mixed"
    alone.mkdir()
    mixed.mkdir()
    asked = {**EVERYTHING, "by": []}
    expected = rows_of(evaluate_parquet(written(table, alone), **asked))
    labels = table["label"].slice(0, 300).cast(pa.int8())
    pq.write_table(with_column(table.slice(0, 300), "label", labels), mixed / "part0.parquet")
    late = table.slice(300)
    pq.write_table(with_column(late, "label", late["label"]), mixed / "part1.parquet")
    assert rows_of(evaluate_parquet(str(mixed), **asked)) == expected
    unlabeled = with_column(table, "label", pa.nulls(600))
    pq.write_table(unlabeled, mixed / "part2.parquet")
    assert evaluate_parquet(str(mixed), **asked).groups[0].n_labeled == 60


def test_a_delimiter_is_refused(tmp_path: Path) -> None:
    place = written(binary_table(300, 30), tmp_path)
    with pytest.raises(InputError, match="delimiter=';' was given for Parquet files"):
        evaluate_parquet(place, **EVERYTHING, delimiter=";")


@pytest.mark.parametrize("executor", ["serial", "threads"])
def test_a_file_is_opened_once_by_each_worker(
    tmp_path: Path, monkeypatch: Any, executor: str
) -> None:
    place = written(binary_table(1200, 40), tmp_path, n_files=1, row_group=20)
    opened = []
    real = pq.ParquetFile
    monkeypatch.setattr(pq, "ParquetFile", lambda *a, **k: opened.append(a) or real(*a, **k))
    evaluate_parquet(place, **ASKED, executor=executor, workers=2, sample_rows=50, by=[])
    assert 1 <= len(opened) <= 3


def swap(path: Path, table: Any, *, in_place: bool) -> None:
    """Put another file of the same number of rows under the name."""
    before = path.stat()
    other = path.with_suffix(".new")
    pq.write_table(table, other, row_group_size=100)
    if in_place:
        path.write_bytes(other.read_bytes())
        other.unlink()
    else:
        os.replace(other, path)
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize("at", [1, 5, 12])
def test_a_file_swapped_during_the_pass_is_refused(
    tmp_path: Path, monkeypatch: Any, in_place: bool, at: int
) -> None:
    table = binary_table(1200, 40)
    place = written(table, tmp_path, row_group=100)
    count, counted = counting.Counting.count, []

    def swaps(self: Any, part: Any) -> Any:
        counted.append(part)
        if len(counted) == at:
            swap(tmp_path / "part0.parquet", binary_table(600, 20, seed=1), in_place=in_place)
        return count(self, part)

    monkeypatch.setattr(counting.Counting, "count", swaps)
    with pytest.raises(InputError, match=r"part0.parquet"):
        evaluate_parquet(place, **ASKED, sample_rows=300, executor="serial")


def test_a_damaged_part_is_refused_by_name(tmp_path: Path) -> None:
    place = written(binary_table(1200, 40), tmp_path, row_group=100)
    path = tmp_path / "part1.parquet"
    content = bytearray(path.read_bytes())
    content[100:2000] = bytes(1900)
    path.write_bytes(bytes(content))
    with pytest.raises(InputError, match=r"part1.parquet"):
        evaluate_parquet(place, **ASKED, sample_rows=300, executor="serial")


def test_labels_in_another_file_are_refused(tmp_path: Path) -> None:
    place = written(binary_table(300, 30), tmp_path)
    labels = tmp_path / "labels.csv"
    labels.write_text("id,label\n1,0\n", encoding="utf-8")
    with pytest.raises(InputError, match="labels are given separately from the scores"):
        evaluate_parquet(place, labels_file=labels, **ASKED)
    with pytest.raises(InputError, match="labels are given separately from the scores"):
        ssme.evaluate(place, labels, engine="stream", **ASKED)


def test_that_no_row_has_a_label_can_be_said(tmp_path: Path) -> None:
    table = binary_table(300, 30)
    pq.write_table(table, tmp_path / "a.parquet")
    streamed = ssme.evaluate(tmp_path / "a.parquet", False, engine="stream", **ASKED)
    memory = ssme.evaluate(table, False, **ASKED)
    np.testing.assert_equal(list(streamed.rows()), list(memory.rows()))
    assert streamed.groups[0].n_labeled == 0


def test_a_bad_row_of_the_sample_is_named_by_its_file_and_row(tmp_path: Path) -> None:
    table = binary_table(900, 60)
    scores = table["m0"].to_numpy().copy()
    labeled = int(np.flatnonzero(table["label"].is_valid().to_numpy(zero_copy_only=False))[-1])
    scores[labeled] = 1.2
    place = written(with_column(table, "m0", pa.array(scores)), tmp_path, row_group=100)
    with pytest.raises(InputError) as caught:
        evaluate_parquet(place, sample_rows=50, **ASKED)
    file = tmp_path / "part1.parquet"
    start = 450 + (labeled - 450) // 100 * 100
    assert f"{file}, rows from {start} on" in str(caught.value)
    assert f"has score 1.2 at row {labeled - start}" in str(caught.value)
