"""Streamed evaluation: the same answer as in memory, whoever counts, and after a crash."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.special import ndtr
from tests.stream.worlds import binary_table, written

import ssme
from ssme.errors import InputError, UnsupportedError
from ssme.stream import evaluate_parquet

METRICS = ["accuracy", "ece", "roc_auc", "average_precision", "log_loss", "brier_score", "f1"]


def table_of(result: Any) -> Any:
    return result.frame("pandas").set_index(["group", "metric", "model"])


@pytest.mark.parametrize("method", ["auto", "ensemble"])
def test_a_sample_of_everything_is_the_evaluation_in_memory(tmp_path, method) -> None:
    table = binary_table(1500, 60)
    files = written(table, tmp_path)
    asked = {"method": method, "metrics": METRICS, "by": ["site"], "n_draws": 40}
    memory = table_of(ssme.evaluate(table, **asked))
    streamed = evaluate_parquet(files, sample_rows=1500, executor="serial", **asked)
    frame = table_of(streamed)
    for column in ("estimate", "low", "high", "labels_only", "n_labeled", "n_unlabeled"):
        np.testing.assert_allclose(frame[column], memory[column], atol=1e-9, err_msg=column)
    assert streamed.settings["stream"]["rows"] == 1500


def test_columns_that_are_not_read_do_not_matter(tmp_path) -> None:
    table = binary_table(300, 60)
    plain, noted = tmp_path / "plain", tmp_path / "noted"
    plain.mkdir()
    noted.mkdir()
    written(table, plain)
    written(table.append_column("note", [[f"remark {i}" for i in range(300)]]), noted)
    asked = {"executor": "serial", "n_draws": 20, "metrics": ["accuracy"]}
    one, other = (evaluate_parquet(f"{each}/*.parquet", **asked) for each in (plain, noted))
    np.testing.assert_array_equal(table_of(one)["low"], table_of(other)["low"])


def test_from_a_sample_sums_are_close_and_intervals_about_as_wide(tmp_path) -> None:
    table = binary_table(12_000, 100)
    files = written(table, tmp_path, row_group=2500)
    asked = {"metrics": METRICS, "by": [], "n_draws": 100}
    memory = table_of(ssme.evaluate(table, **asked))
    streamed = evaluate_parquet(files, sample_rows=4000, executor="serial", **asked)
    frame = table_of(streamed)
    gap = (frame["estimate"] - memory["estimate"]).abs().groupby("metric").max()
    assert gap.drop("ece").max() < 6e-3  # what agreement tells of the sample, not of all rows
    assert gap["ece"] < 5e-3
    ratio = (frame["high"] - frame["low"]) / (memory["high"] - memory["low"])
    assert ratio.between(0.7, 1.4).all()
    assert 0 < streamed.settings["stream"]["error_bounds"]["all"]["roc_auc"] < 1e-3


def test_a_method_that_ignores_labels_ignores_them_outside_the_sample_too(tmp_path) -> None:
    table = binary_table(3000, 1500)
    files = written(table, tmp_path, row_group=500)
    asked = {"method": "ensemble", "metrics": ["accuracy"], "by": [], "options": {"labels": False}}
    memory = table_of(ssme.evaluate(table, **asked))
    streamed = table_of(evaluate_parquet(files, sample_rows=400, executor="serial", **asked))
    np.testing.assert_allclose(streamed["estimate"], memory["estimate"], atol=5e-3)


def test_every_executor_gives_the_same_bits(tmp_path) -> None:
    files = written(binary_table(1200, 50), tmp_path, row_group=150)
    results = [
        table_of(
            evaluate_parquet(files, n_draws=20, sample_rows=400, executor=kind, workers=workers)
        )
        for kind, workers in (("serial", None), ("threads", 3), ("processes", 2))
    ]
    for other in results[1:]:
        np.testing.assert_array_equal(other["estimate"], results[0]["estimate"])
        np.testing.assert_array_equal(other["low"], results[0]["low"])


def test_a_file_that_is_no_checkpoint_is_left_alone(tmp_path) -> None:
    files = written(binary_table(300, 30), tmp_path)
    other = tmp_path / "notes.txt"
    other.write_text("not mine")
    with pytest.raises(InputError, match="not a checkpoint"):
        evaluate_parquet(files, method="ensemble", checkpoint=other, executor="serial", n_draws=5)
    assert other.read_text() == "not mine"


def test_what_cannot_be_streamed_is_said(tmp_path) -> None:
    files = written(binary_table(300, 30), tmp_path)
    with pytest.raises(InputError, match="no Parquet file"):
        evaluate_parquet(str(tmp_path / "none*.parquet"))
    with pytest.raises(UnsupportedError, match="'labeled' has no posterior"):
        evaluate_parquet(files, method="labeled", executor="serial")
    with pytest.raises(InputError, match="has no option 'lable'"):
        evaluate_parquet(files, lable="y")
    with pytest.raises(InputError, match="sample_rows must be"):
        evaluate_parquet(files, sample_rows=0, executor="serial")


def test_a_bad_score_is_found_where_it_is(tmp_path) -> None:
    import pyarrow as pa

    table = binary_table(900, 30)
    scores = table["m1"].to_numpy().copy()
    scores[700] = 1.5
    bad = table.set_column(table.column_names.index("m1"), "m1", pa.array(scores))
    files = written(bad, tmp_path)
    with pytest.raises(InputError, match=r"part1.*'m1'.*1\.5"):
        evaluate_parquet(files, method="ensemble", executor="serial", sample_rows=5, n_draws=5)


def test_groups_of_a_stream_are_those_in_memory(tmp_path) -> None:
    """Bins, intersections and small groups that are put together."""
    table = binary_table(900, 60)
    rng = np.random.default_rng(1)
    age = [None if a > 80 else int(a) for a in rng.integers(18, 85, 900)]
    table = table.append_column("group_age", [age]).append_column(
        "group_town", [rng.integers(0, 300, 900)]
    )
    files = written(table, tmp_path)
    by = ["age:edges=30/50", "site+age:quantiles=2", "town"]
    asked = {"metrics": ["accuracy"], "by": by, "n_draws": 20, "max_groups": 12}
    memory = ssme.evaluate(table, **asked)
    streamed = evaluate_parquet(files, sample_rows=900, executor="serial", **asked)
    told = [(g.name, g.by, g.n_labeled, g.n_unlabeled, g.pooled) for g in memory.groups]
    assert told == [(g.name, g.by, g.n_labeled, g.n_unlabeled, g.pooled) for g in streamed.groups]
    assert "town: " in told[-1][0]
    for column in ("estimate", "low", "high", "labels_only", "shrinkage"):
        one, other = table_of(streamed)[column], table_of(memory)[column]
        np.testing.assert_allclose(one, other, atol=1e-9, err_msg=column)
    part = evaluate_parquet(files, sample_rows=40, executor="serial", **{**asked, "by": ["town"]})
    assert part.groups[-1].n_unlabeled == memory.groups[-1].n_unlabeled
    low, high = part.estimates[1][0].interval(0.95)
    assert np.isfinite(low).all()
    assert (low < high).all()


def test_the_rows_at_hand_are_no_target_of_a_stream(tmp_path) -> None:
    files = written(binary_table(300, 30), tmp_path)
    with pytest.raises(UnsupportedError, match=r"group_target=rows"):
        ssme.evaluate(files, engine="stream", group_target="rows")


def test_a_rate_of_which_a_group_shows_no_case_reaches_three_in_n(tmp_path) -> None:
    import pyarrow as pa

    table, rng = binary_table(3000, 60), np.random.default_rng(1)
    small = rng.random(3000) < 0.04
    never = np.where(small, 0.4, 1.0) * table["m0"].to_numpy()
    site = np.where(small, "c", table["group_site"].to_numpy(zero_copy_only=False))
    for name, column in (("m0", never), ("group_site", site)):
        table = table.set_column(table.column_names.index(name), name, pa.array(column))
    files = written(table, tmp_path, row_group=500)
    asked = {"metrics": ["recall"], "by": ["site"], "n_draws": 100}
    streamed = evaluate_parquet(files, sample_rows=1000, executor="serial", **asked)
    for found in (ssme.evaluate(table, **asked), streamed):
        row = table_of(found).loc[("site=c", "recall", "m0")]
        cases = 0.3 * small.sum()
        assert row["estimate"] < 0.15
        assert row["high"] > 1.0 - 0.05 ** (1.0 / cases)


def test_clusters_widen_intervals_of_streams_as_in_memory(tmp_path: Path) -> None:
    """60 clusters of 200 rows: a sample of the rows knows no more of them than all rows do."""
    rng = np.random.default_rng(0)
    clusters = np.repeat(np.arange(60), 200)
    latent = rng.normal(size=60)[clusters] + 0.3 * rng.normal(size=clusters.size)
    table = pd.DataFrame(
        ndtr(latent[:, None] + rng.normal(size=(clusters.size, 2))), columns=["a", "b"]
    )
    table["y"] = np.where(rng.random(clusters.size) < 0.02, latent > 0, np.nan)
    table["patient"] = [f"p{each}" for each in clusters]
    file = tmp_path / "scores.parquet"
    table.to_parquet(file)
    widths = {}
    for engine in ("memory", "stream"):
        for asked in ({"cluster": "patient"}, {"ignore": "patient"}):
            sampled = {"sample_rows": 2000} if engine == "stream" else {}
            found = ssme.evaluate(
                str(file), "y", engine=engine, metrics="accuracy", n_draws=500, **asked, **sampled
            )
            low, high = found.estimates[0][0].interval()
            widths[engine, *asked] = float((high - low).mean())
    assert widths["stream", "cluster"] > 1.1 * widths["stream", "ignore"]
    assert widths["stream", "cluster"] == pytest.approx(widths["memory", "cluster"], rel=0.2)
