"""Logs as the current version of each harness writes them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import ssme

pytestmark = [pytest.mark.harness, pytest.mark.filterwarnings("default")]


def run(harness: str, folder: Path) -> Path:
    """A folder with the logs of a harness."""
    script = Path(__file__).with_name("harnesses.py")
    offline = {"HF_HUB_OFFLINE": "1", "DEEPEVAL_TELEMETRY_OPT_OUT": "YES"}
    place = folder / harness
    subprocess.run(
        [sys.executable, str(script), harness, str(place)],
        check=True,
        timeout=240,
        env={**os.environ, **offline},
    )
    return place


def test_inspect(tmp_path: Path) -> None:
    logs = run("inspect", tmp_path)
    frame = ssme.read_logs(logs / "eval")
    same = ssme.read_logs(logs / "json")
    columns = sorted(frame)
    pd.testing.assert_frame_equal(
        frame.sort_values("id", ignore_index=True)[columns],
        same.sort_values("id", ignore_index=True)[columns],
    )
    assert set(frame["system"]) == {"mockllm/a", "mockllm/b"}
    assert frame.groupby("system").size().tolist() == [8, 8]
    assert sorted(frame["epoch"].unique()) == [1, 2]
    judges = {"judge_match", "judge_judge", "judge_grader_helpful", "judge_grader_long"}
    assert {name for name in frame if name.startswith("judge_")} == judges
    from inspect_ai.log import read_eval_log

    results = read_eval_log(str(next((logs / "eval").glob("*.eval")))).results
    metrics = next(each.metrics for each in results.scores if each.name == "judge")
    assert metrics["low"].value < metrics["estimate"].value < metrics["high"].value
    right = frame["output"] == frame["target"]
    assert (frame["judge_match"] == right).all()
    assert set(frame["judge_judge"]) <= {0, 0.5, 1}
    table = ssme.read_logs(pd.read_parquet(logs / "samples.parquet"))
    grades = ["system", "epoch", "judge_match", "judge_judge", "judge_grader_helpful"]
    joined = frame.assign(item=frame["item"].astype(str)).merge(table, on=["id"])
    for name in grades:
        assert joined[f"{name}_x"].tolist() == joined[f"{name}_y"].tolist()


def test_lm_evaluation_harness(tmp_path: Path) -> None:
    logs = run("lm_eval", tmp_path)
    frame = ssme.read_logs(logs / "options")
    assert (len(frame), frame["label"].tolist()) == (6, [0, 1, 2, 0, 1, 2])
    scores = frame.filter(like=":").to_numpy()
    np.testing.assert_allclose(scores.sum(axis=1), 1.0)
    (path,) = (logs / "options").rglob("samples_*.jsonl")
    graded = pd.read_json(path, lines=True)["acc"]
    assert (scores.argmax(axis=1) == frame["label"]).tolist() == (graded == 1).tolist()
    texts = ssme.read_logs(logs / "texts")
    assert texts["judge_exact_match flexible"].tolist() == [1, 0, 1, 0, 1, 0]
    assert "judge_exact_match strict" in texts


def test_deepeval(tmp_path: Path) -> None:
    logs = run("deepeval", tmp_path)
    frame = ssme.read_logs(logs / ".deepeval" / ".latest_test_run.json")
    assert frame["judge_Short"].tolist() == [1, 1, 0, 0]
    assert frame["system"].unique().tolist() == ["bot-1"]


def test_promptfoo(tmp_path: Path) -> None:
    if not shutil.which("promptfoo"):
        pytest.skip("npm install -g promptfoo")
    logs = run("promptfoo", tmp_path)
    frame = ssme.read_logs(logs / "results.json")
    assert set(frame["system"]) == {"echo", "mute"}
    assert frame.groupby(["system", "item"])["epoch"].agg(list).tolist() == [[1, 2]] * 4
    assert frame.groupby("system")["judge_contains"].mean().tolist() == [1.0, 0.0]
    lines = ssme.read_logs(logs / "results.jsonl")
    assert lines.groupby("system")["judge_contains"].mean().tolist() == [1.0, 0.0]


def test_ragas(tmp_path: Path) -> None:
    logs = run("ragas", tmp_path)
    frame = ssme.read_logs(logs / "bot-1.jsonl")
    assert frame["judge_exact_match"].tolist() == [0, 1, 0, 1]
    assert frame["system"].unique().tolist() == ["bot-1"]
    assert {"input", "output", "target", "judge_exact_match"} <= set(frame)
    table = ssme.read_logs(pd.read_json(logs / "bot-1.jsonl", lines=True))
    assert table["judge_exact_match"].tolist() == frame["judge_exact_match"].tolist()


def test_from_logs_of_inspect_and_human_verdicts_to_a_decision(tmp_path: Path) -> None:
    logs = run("inspect", tmp_path) / "eval"
    frame = ssme.read_logs(logs)
    people = frame[["system", "item", "epoch"]].rename(columns={"system": "model"})
    people["human"] = np.where(frame["judge_match"] == 1, "pass", "fail")
    people.iloc[::2].to_csv(tmp_path / "human.csv", index=False)
    program = str(Path(sys.executable).with_name("ssme"))
    asked = [program, "systems", str(logs), "--labels-file", str(tmp_path / "human.csv")]
    told = [*asked, "--html", str(tmp_path / "decision.html")]
    gate = ["--fail-under", "mockllm/a-mockllm/b:pass_rate>=-0.5"]
    ran = subprocess.run([*told, *gate], capture_output=True, text=True, timeout=240)
    assert ran.returncode == 0, ran.stderr
    assert "mockllm/a" in ran.stdout
    assert "mockllm/a" in (tmp_path / "decision.html").read_text()


def test_mlflow_traces(tmp_path: Path) -> None:
    logs = run("mlflow", tmp_path)
    frame = ssme.read_logs(logs / "traces.jsonl").sort_values("target")
    assert frame["judge_relevant"].tolist() == [1, 1, 1]
    assert frame["human_good"].tolist() == [0, 1, 1]
    assert frame["target"].tolist() == ["Q0", "Q1", "Q2"]
    of_frame = pd.read_csv(logs / "from_frame.csv").sort_values("target")
    for name in ("id", "judge_relevant", "human_good"):
        assert of_frame[name].tolist() == frame[name].tolist()
