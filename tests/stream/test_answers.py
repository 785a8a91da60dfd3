"""Streams of judges: answers and ratings in Parquet files give what they give in memory."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import ssme
from ssme.errors import InputError
from ssme.stream import counting, evaluate_parquet
from ssme.stream.counting import Progress
from ssme.stream.source import Part

N_ROWS = 900
ASKED = {"method": "answers", "n_draws": 20, "random_state": 1}
JUDGES = {"label": "y", "models": ["bert"], "answers": ["gpt", "ann"], "ratings": ["stars"]}


@pytest.fixture
def frame() -> pd.DataFrame:
    """Two judges who answer as text, one of them seldom, a rater and a classifier."""
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, N_ROWS)
    names = np.array(["no", "yes"])
    out = pd.DataFrame({"y": np.where(np.arange(N_ROWS) % 12 == 0, names[truth], None)})
    for name, kept in (("gpt", 0.9), ("ann", 0.4)):
        said = names[np.where(rng.random(N_ROWS) < 0.85, truth, 1 - truth)].astype(object)
        said[rng.random(N_ROWS) > kept] = "unsure" if name == "gpt" else None
        out[name] = said
    out["stars"] = np.clip(2 + 2 * truth + rng.integers(-1, 2, N_ROWS), 1, 5)
    out["bert"] = np.clip(0.3 + 0.4 * truth + 0.2 * rng.standard_normal(N_ROWS), 0.01, 0.99)
    out["group_kind"] = np.where(rng.random(N_ROWS) < 0.5, "a", "b")
    return out


def write(frame: pd.DataFrame, folder: Path) -> Path:
    half = len(frame) // 2
    for number, part in enumerate((frame[:half], frame[half:])):
        part.to_parquet(folder / f"part{number}.parquet", row_group_size=150, index=False)
    return folder


@pytest.mark.parametrize(
    "metrics", [["accuracy", "roc_auc", "average_precision"], ["cohen_kappa", "recall[yes]"]]
)
def test_a_stream_gives_what_memory_gives(
    frame: pd.DataFrame, tmp_path: Path, metrics: list[str]
) -> None:
    streamed = ssme.evaluate(
        write(frame, tmp_path), engine="stream", metrics=metrics, **JUDGES, **ASKED
    )
    held = ssme.evaluate(frame, metrics=metrics, **JUDGES, **ASKED)
    assert streamed.settings["stream"]["sample_rows"] == N_ROWS
    for column in ("model", "metric", "group", "estimate", "low", "high"):
        assert _column(streamed, column) == _column(held, column)


def _column(result: ssme.Evaluation, name: str) -> list[object]:
    return [row[name] for row in result.rows()]


def test_a_part_of_the_rows_comes_near(frame: pd.DataFrame, tmp_path: Path) -> None:
    place = write(frame, tmp_path)
    part = evaluate_parquet(place, sample_rows=400, metrics="accuracy", **JUDGES, **ASKED)
    held = ssme.evaluate(frame, metrics="accuracy", **JUDGES, **ASKED)
    assert part.settings["n_rows"] == N_ROWS
    assert part.settings["stream"]["sample_rows"] < N_ROWS
    assert _column(part, "estimate") == pytest.approx(_column(held, "estimate"), abs=0.03)


def test_what_counts_travels_to_workers(
    frame: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Processes and Dask get everything that counting takes as a pickle."""
    place, here = write(frame, tmp_path), counting.Counting.count

    def elsewhere(self: counting.Counting, part: Part) -> Progress:
        return here(pickle.loads(pickle.dumps(self)), part)

    asked = {"sample_rows": 300, "metrics": "accuracy", **JUDGES, **ASKED}
    one = evaluate_parquet(place, **asked)
    monkeypatch.setattr(counting.Counting, "count", elsewhere)
    assert _column(evaluate_parquet(place, **asked), "estimate") == _column(one, "estimate")


def test_an_answer_that_the_sample_lacks_is_named(frame: pd.DataFrame, tmp_path: Path) -> None:
    frame.loc[N_ROWS - 2, "gpt"] = "perhaps"
    place = write(frame, tmp_path)
    with pytest.raises(InputError, match="perhaps") as raised:
        evaluate_parquet(place, sample_rows=5, metrics="accuracy", **JUDGES, **ASKED)
    assert "rows from" in str(raised.value)
    assert "unsure" in (raised.value.hint or "")


def test_a_row_without_any_answer_is_named(frame: pd.DataFrame, tmp_path: Path) -> None:
    frame = frame.drop(columns=["bert", "stars"])
    frame[["gpt", "ann"]] = frame[["gpt", "ann"]].fillna("no")
    frame.loc[N_ROWS - 2, ["gpt", "ann"]] = None
    place = write(frame, tmp_path)
    with pytest.raises(InputError, match=f"row {N_ROWS - 2}"):
        evaluate_parquet(
            place, sample_rows=5, metrics="accuracy", label="y", answers=["gpt", "ann"], **ASKED
        )


def test_one_row_per_answer_is_refused(frame: pd.DataFrame, tmp_path: Path) -> None:
    long = frame.reset_index(names="row").melt(
        id_vars=["row", "y"], value_vars=["gpt", "ann"], var_name="judge", value_name="answer"
    )
    place = write(long, tmp_path)
    with pytest.raises(InputError, match="long layout"):
        evaluate_parquet(place, label="y", answers=["answer"], **ASKED)
