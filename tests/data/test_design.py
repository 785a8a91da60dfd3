"""How rows were chosen for labeling goes through every door, and no method passes over it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import ssme
from ssme.errors import UnsupportedError
from ssme.methods.registry import get_method, method_names
from ssme.stream import evaluate_parquet

WEIGHTS = [2.0, 6.0, np.nan, 2.0, 6.0, np.nan]


def frame() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "id": list("abcdef"),
            "bert": [0.9, 0.2, 0.6, 0.7, 0.6, 0.1],
            "gpt": [0.8, 0.4, 0.5, 0.3, 0.1, 0.2],
            "label": [1, 0, None, 1, 0, None],
            "stands_for": WEIGHTS,
        }
    )


def accuracy(data: ssme.ScoreSet, **options: object) -> np.ndarray:
    result = ssme.evaluate(data, method="labeled", metrics="accuracy", **options)
    return result.frame()["estimate"].to_numpy()


def test_weights_come_from_a_column_an_array_and_a_file(tmp_path: Path) -> None:
    table, models = frame(), ["bert", "gpt"]
    named = ssme.ScoreSet.from_frame(table, models=models, design="stands_for")
    given = ssme.ScoreSet.from_frame(
        table.drop(columns="stands_for"), models=models, design=np.array(WEIGHTS)
    )
    arrays = ssme.ScoreSet.from_arrays(
        table[models].to_numpy(), table["label"].to_numpy(), design=WEIGHTS
    )
    for path in ("set.csv", "set.parquet", "set.npz"):
        named.save(tmp_path / path)
    read = [ssme.ScoreSet.read(tmp_path / name) for name in ("set.csv", "set.parquet", "set.npz")]
    for data in (named, given, arrays, *read):
        assert data.design.kind == "weights"
        assert data.design.weights.tolist() == [2.0, 6.0, 0.0, 2.0, 6.0, 0.0]


def test_weights_are_joined_with_labels_kept_elsewhere(tmp_path: Path) -> None:
    table = frame()
    labels = table[["id", "label"]].assign(label_weight=table["stands_for"]).dropna()
    labels.iloc[::-1].to_csv(tmp_path / "labels.csv", index=False)
    scores = table[["id", "bert", "gpt"]]
    scores.to_csv(tmp_path / "scores.csv", index=False)
    ids = np.array(scores["id"].tolist())
    np.savez(tmp_path / "scores.npz", scores=scores[["bert", "gpt"]], ids=ids)
    read = ssme.ScoreSet.read(tmp_path / "scores.csv", tmp_path / "labels.csv")
    long = scores.melt("id", var_name="model", value_name="score")
    for data in (
        read,
        ssme.ScoreSet.from_frame(scores, labels),
        ssme.ScoreSet.from_frame(long, labels),
        ssme.ScoreSet.read(tmp_path / "scores.npz", tmp_path / "labels.csv"),
    ):
        assert data.design.weights.tolist() == [2.0, 6.0, 0.0, 2.0, 6.0, 0.0]


def test_labels_alone_weigh_by_the_rows_each_label_stands_for() -> None:
    data = ssme.ScoreSet.from_frame(frame(), models=["bert", "gpt"], design="stands_for")
    assert accuracy(data) == pytest.approx([10 / 16, 14 / 16])
    same = data.with_design(np.full(6, 3.0))
    assert accuracy(same).tolist() == accuracy(data.with_design(None)).tolist()
    weighted = data.replace(weights=np.array([1.0, 1.0, 1.0, 1.0, 3.0, 1.0]))
    assert accuracy(weighted) == pytest.approx([10 / 28, 26 / 28])


def test_the_design_belongs_to_the_labels() -> None:
    data = ssme.ScoreSet.from_frame(frame(), models=["bert", "gpt"], design="stands_for")
    assert data.take([1, 4]).design.weights.tolist() == [6.0, 6.0]
    assert data.with_labels([1, 0, 1, 1, 0, 0]).design.kind is None
    assert "stands" not in repr(data)
    assert "rows labeled: weights" in repr(data)


def test_the_design_is_part_of_the_run(tmp_path: Path) -> None:
    frame().to_csv(tmp_path / "set.csv", index=False)
    result = ssme.evaluate(
        str(tmp_path / "set.csv"),
        "label",
        models=["bert", "gpt"],
        method="labeled",
        design="stands_for",
    )
    assert result.settings["config"]["read"]["design"] == "stands_for"
    assert ssme.rerun(result.settings["config"]).frame().equals(result.frame())
    data = ssme.ScoreSet.read(tmp_path / "set.csv", models=["bert", "gpt"])
    again = ssme.evaluate(data, design=frame()["stands_for"].to_numpy(), method="labeled")
    assert again.settings["config"] is None
    assert again.frame()["estimate"].equals(result.frame()["estimate"])


@pytest.mark.parametrize("method", method_names())
@pytest.mark.parametrize("design", ["by_class", "by_score", "weights"])
def test_no_method_passes_over_a_design(method: str, design: str) -> None:
    spec = get_method(method).spec
    if design in spec.designs:
        return
    data = ssme.ScoreSet.from_frame(frame()[["id", "bert", "gpt", "label"]])
    with pytest.raises(UnsupportedError, match="cannot use labels chosen with design"):
        ssme.evaluate(data.with_design(WEIGHTS if design == "weights" else design), method=method)


def test_a_stream_refuses_what_the_method_cannot_use(tmp_path: Path) -> None:
    frame().to_parquet(tmp_path / "set.parquet")
    with pytest.raises(UnsupportedError, match="'majority_vote' cannot use labels"):
        evaluate_parquet(
            tmp_path / "set.parquet",
            models=["bert", "gpt"],
            design="stands_for",
            method="majority_vote",
        )
