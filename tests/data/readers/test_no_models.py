"""Columns that are no models unless they are named: two values, constants, copies of the label."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from benchmarks.fuzz.program import make_runner
from tests.written import list_columns, make_frame, write_table

import ssme
from ssme.cli import app
from ssme.data import ScoreSet
from ssme.errors import InputError, SsmeWarning
from ssme.sample import sample_path, truth_path

SKIPPED = {
    "gold": "equal to the label wherever there is one",
    "other": "the opposite of the label wherever there is one",
    "sex": "only 0 and 1",
    "smoker": "only 0 and 1",
    "site": "only 1 and 2, or empty",
    "prior": "always 0.5",
    "agreement": "empty wherever there is no label",
}
MODELS = ("logistic", "forest", "neighbors", "neural_net", "naive_bayes", "boosting")


def make_sample() -> pd.DataFrame:
    """The bundled sample with columns that are no models among the models."""
    frame, rng = pd.read_csv(sample_path()), np.random.default_rng(0)
    truth = pd.read_csv(truth_path()).set_index("id")["label"].loc[frame["id"]].to_numpy()
    n = len(frame)
    frame.insert(3, "gold", truth)
    frame["other"] = 1 - truth
    frame["sex"] = rng.integers(0, 2, n)
    frame["smoker"] = rng.random(n) < 0.2
    frame["site"] = np.where(rng.random(n) < 0.1, np.nan, rng.integers(1, 3, n))
    frame["prior"] = 0.5
    frame["agreement"] = np.where(frame["label"].isna(), np.nan, rng.random(n))
    return frame


def read(kind: str, frame: pd.DataFrame, folder: Path, **options: Any) -> ScoreSet:
    columns = list_columns(frame)
    if kind.startswith("."):
        return ScoreSet.read(write_table(columns, folder / f"scores{kind}"), "label", **options)
    return ScoreSet.from_frame(make_frame(columns, kind), "label", **options)


def test_a_pattern_names_no_column(tmp_path: Path) -> None:
    """A copy of the labels was a model, and the best one."""
    sample = make_sample().rename(columns=lambda name: f"m_{name}")
    sample, path = sample.rename(columns={"m_id": "id", "m_label": "y"}), tmp_path / "s.parquet"
    sample.to_parquet(path, index=False)
    for engine in ("memory", "stream"):
        run = {"method": "ensemble", "metrics": "accuracy", "engine": engine}
        with pytest.warns(SsmeWarning, match="not taken for models: 'm_gold' .equal to the label"):
            result = ssme.evaluate(path, "y", models=["m_*"], **run)
        assert result.data.models == tuple(f"m_{name}" for name in MODELS)
        with pytest.warns(SsmeWarning, match="not taken for models"):
            assert str(ssme.rerun(result.settings["config"])) == str(result)
    with pytest.warns(SsmeWarning, match="not taken for models"):
        data = ScoreSet.from_frame(sample, "y", models=["m_*"])
    assert data.models == tuple(f"m_{name}" for name in MODELS)
    assert data.layout.skipped == {f"m_{name}": why for name, why in SKIPPED.items()}
    both = ScoreSet.from_frame(sample, "y", models=["m_gold", "m_f*"])
    assert both.models == ("m_gold", "m_forest")
    votes = sample[["y", "m_sex", "m_smoker"]]
    assert ScoreSet.from_frame(votes, "y", models=["m_*"]).models == ("m_sex", "m_smoker")


@pytest.mark.parametrize(
    "kind", ["pandas", "polars", "pyarrow", ".csv", ".parquet", ".xlsx", ".jsonl"]
)
def test_every_reader_skips_them_and_says_why(kind: str, tmp_path: Path) -> None:
    frame = make_sample()
    with pytest.warns(SsmeWarning, match="not taken for models: 'gold' .equal to the label"):
        data = read(kind, frame, tmp_path)
    assert data.models == MODELS
    assert data.layout.skipped == SKIPPED
    assert set(SKIPPED) <= set(data.layout.ignored)
    assert "'sex' (only 0 and 1)" in data.layout.describe()["not taken for models"]
    named = read(kind, frame, tmp_path, models=["forest", "gold", "sex", "prior"])
    assert named.models == ("forest", "gold", "sex", "prior")
    left_out = read(kind, frame, tmp_path, ignore=list(SKIPPED))
    assert left_out.models == MODELS


def test_estimates_are_those_without_these_columns() -> None:
    plain = ssme.evaluate(pd.read_csv(sample_path()), "label", id="id", metrics="accuracy")
    with pytest.warns(SsmeWarning, match="not taken for models"):
        result = ssme.evaluate(make_sample(), "label", id="id", metrics="accuracy")
    pd.testing.assert_frame_equal(result.frame(), plain.frame())


@pytest.mark.parametrize("third", [None, 0.7])
def test_a_stream_takes_the_models_of_memory(third: float | None, tmp_path: Path) -> None:
    """Whatever the first rows show: a value between 0 and 1 stands in the last row alone."""
    frame = pd.concat([make_sample()] * 3, ignore_index=True).drop(columns="id")
    frame["late"] = np.where(np.arange(len(frame)) < 3000, 0.0, 1.0)
    if third is not None:
        frame.loc[len(frame) - 1, "late"] = third
    pq.write_table(pa.Table.from_pandas(frame), tmp_path / "s.parquet", row_group_size=1500)
    options: dict[str, Any] = {"method": "ensemble", "metrics": "accuracy"}
    with pytest.warns(SsmeWarning, match="not taken for models"):
        memory = ssme.evaluate(tmp_path / "s.parquet", "label", **options)
    with pytest.warns(SsmeWarning, match="not taken for models"):
        stream = ssme.evaluate(tmp_path / "s.parquet", "label", engine="stream", **options)
    assert stream.data.models == memory.data.models
    assert ("late" in memory.data.models) == (third is not None)
    assert stream.data.layout.skipped == memory.data.layout.skipped


def test_copies_of_labels_of_three_classes() -> None:
    rng = np.random.default_rng(1)
    scores, truth = rng.dirichlet(np.ones(3), 60), rng.integers(0, 3, 60)
    frame = pd.DataFrame(scores, columns=["bert:0", "bert:1", "bert:2"])
    frame["label"] = np.where(np.arange(60) < 20, truth, np.nan)
    frame["gold"] = truth
    with pytest.warns(SsmeWarning, match="'gold' .equal to the label"):
        assert ScoreSet.from_frame(frame).models == ("bert",)
    frame.loc[0, "gold"] = (truth[0] + 1) % 3
    with pytest.raises(InputError, match=r"'gold' contains 2 at row .*answers=\['gold'\]"):
        ScoreSet.from_frame(frame)


def test_a_column_of_a_class_may_have_two_values() -> None:
    """A class that a model never gives, and a model that is always sure."""
    rng = np.random.default_rng(2)
    sure = np.eye(3)[rng.integers(0, 2, 40)]
    soft = np.column_stack([rng.random(40), np.zeros(40), np.zeros(40)])
    soft[:, 1] = 1.0 - soft[:, 0]
    frame = pd.DataFrame(np.hstack([sure, soft]), columns=[f"{m}_{k}" for m in "ab" for k in "xyz"])
    frame["is_adult"] = rng.integers(0, 2, 40)
    with pytest.warns(SsmeWarning, match="'is_adult' .only 0 and 1"):
        data = ScoreSet.from_frame(frame, labels=False)
    assert data.models == ("a", "b")
    assert data.n_classes == 3


def test_hard_votes_are_refused_with_what_names_them() -> None:
    frame = pd.DataFrame({"a": [0, 1] * 6, "b": [0, 0, 1] * 4, "label": [0, 1] + [None] * 10})
    told = r"'a' \(equal to the label.*'b' \(only 0 and 1\).*models=\[...\].*answers=\['a', 'b'\]"
    with pytest.raises(InputError, match=told):
        ScoreSet.from_frame(frame)
    assert ScoreSet.from_frame(frame, models=["a", "b"]).models == ("a", "b")
    assert ScoreSet.from_frame(frame, answers=["a", "b"]).models == ("a", "b")


def test_few_rows_tell_nothing_of_probabilities() -> None:
    frame = pd.DataFrame({"a": [0.9, 0.2, 0.9], "b": [0.5] * 3, "label": [1, 0, None]})
    assert ScoreSet.from_frame(frame).models == ("a", "b")


def test_weights_by_name_are_said() -> None:
    frame = pd.read_csv(sample_path()).assign(weight=1.0)
    with pytest.warns(SsmeWarning, match=r"'weight' is taken for the weights.*weight='weight'"):
        ScoreSet.from_frame(frame)
    with pytest.warns(SsmeWarning, match="'weight' is taken for the weights"):
        ScoreSet.from_frame(frame.assign(ann=1), answers=["ann"])
    assert ScoreSet.from_frame(frame, weight="weight").weights is not None
    assert ScoreSet.from_frame(frame, ignore=["weight"]).weights is None


def test_the_command_line_names_its_options(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    make_sample().assign(weight=1.0).to_csv(path, index=False)
    result = make_runner().invoke(app, ["doctor", str(path)])
    assert result.exit_code == 0
    told = " ".join(result.stderr.split())
    assert "not taken for models: 'gold' (equal to the label" in told
    assert "--models" in told
    assert "--weight weight" in told
    assert "'sex' (only 0 and 1)" in " ".join(result.stdout.split())
