"""Judges on the command line: columns of answers, what the doctor says, what errors say."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import Result

Run = Callable[..., Result]
FAST = ("--method", "answers", "--n-draws", "20")


@pytest.fixture
def judged(tmp_path: Path) -> Path:
    """80 rows, 20 labels, two judges who answer as text, a rater, and a column of 0 and 1."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 80)
    frame = pd.DataFrame({"row": np.arange(80), "y": np.where(np.arange(80) < 20, truth, np.nan)})
    for name in ("gpt", "ann"):
        said = np.where(rng.random(80) < 0.85, truth, 1 - truth)
        frame[name] = np.where(rng.random(80) < 0.1, "unsure", said.astype(str))
    frame["stars"] = np.clip(2 + 2 * truth + rng.integers(-1, 2, 80), 1, 5)
    frame["hard"] = truth
    path = tmp_path / "judged.csv"
    frame.to_csv(path, index=False)
    return path


def test_answers_and_ratings_are_evaluated(run: Run, judged: Path) -> None:
    asked = ("--label", "y", "--answers", "gpt,ann", "--ratings", "stars", "--cut", "3")
    result = run("evaluate", judged, *asked, *FAST, "--metrics", "accuracy,roc_auc", "--json", "-")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["settings"]["models"] == ["gpt", "ann", "stars"]


def test_a_table_with_one_row_per_answer(run: Run, judged: Path) -> None:
    wide = pd.read_csv(judged)
    long = wide.melt(id_vars=["row", "y"], value_vars=["gpt", "ann"], var_name="judge")
    path = judged.with_name("long.csv")
    long.to_csv(path, index=False)
    asked = ("--label", "y", "--id", "row", "--model", "judge", "--answers", "value")
    result = run("evaluate", path, *asked, *FAST, "--metrics", "cohen_kappa")
    assert result.exit_code == 0, result.output


def test_doctor_says_what_looks_like_answers(run: Run, judged: Path) -> None:
    result = run("doctor", judged, "--label", "y", "--models", "hard")
    assert "--answers hard" in result.stdout
    told = run("doctor", judged, "--label", "y", "--models", "gpt")
    assert told.exit_code == 2
    assert "--answers" in told.stdout
    every = run("doctor", judged, "--label", "y", "--answers", "gpt,ann", "--json", "-")
    assert json.loads(every.stdout)["judges"] == {"gpt": "answers", "ann": "answers"}
    assert "unsure" in json.loads(every.stdout)["understood"]


def test_doctor_names_an_answer_outside_the_classes(run: Run, judged: Path) -> None:
    frame = pd.read_csv(judged, dtype=str)
    frame.loc[7, "gpt"] = "yes"
    frame["bert"] = "0.5"
    path = judged.with_name("slip.csv")
    frame[["y", "gpt", "ann", "stars", "bert"]].to_csv(path, index=False)
    told = run("doctor", path, "--label", "y", "--models", "bert").stdout
    told = " ".join(told.split())
    assert "'gpt', 'ann' look like answers: pass --answers gpt,ann" in told
    assert "'gpt' says 'yes' on 1 row, first at row 7" in told
    assert "--unsure yes" in told
    assert "'stars' looks like grades: pass --ratings stars" in told
    every = run("doctor", judged, "--label", "y", "--answers", "gpt,ann", "--json", "-")
    assert "ece" not in json.loads(every.stdout)["metrics"]


def test_metrics_of_probabilities_are_refused(run: Run, judged: Path) -> None:
    asked = ("--label", "y", "--answers", "gpt,ann")
    result = run("evaluate", judged, *asked, *FAST, "--metrics", "ece")
    assert result.exit_code == 2
    assert "give answers" in result.stderr


def test_what_was_taken_as_positive_is_said(run: Run, judged: Path) -> None:
    frame = pd.read_csv(judged)
    frame["y"] = frame["y"].map({0.0: "no", 1.0: "yes"})
    frame["gpt"] = frame["gpt"].map({"0": "no", "1": "yes", "unsure": "Unsure."})
    frame.to_csv(judged, index=False)
    asked = ("--label", "y", "--answers", "gpt", "--ratings", "stars", "--ignore", "ann,hard,row")
    result = run("evaluate", judged, *asked, *FAST, "--metrics", "accuracy")
    assert "2 classes ('yes' is positive)" in result.stdout
    assert "Positive class: 'yes' (--positive no makes it the other one)" in result.stderr
    assert "Grades from 4 on, of 1, 2, 3, 4, 5, count as 'yes' (--cut" in result.stderr
    assert "--models" not in result.stderr
    named = run("evaluate", judged, *asked, *FAST, "--metrics", "accuracy", "--positive", "yes")
    assert "Positive class" not in named.stderr
    scores = judged.with_name("scores.csv")
    rng = np.random.default_rng(0)
    pd.DataFrame({"a": rng.random(40), "y": [1, 2] * 20}).to_csv(scores, index=False)
    told = run("evaluate", scores, "--label", "y", "--method", "labeled", "--metrics", "accuracy")
    assert "Positive class: 2, whose probability the scores are (--positive 1" in told.stderr


def test_thresholds_are_those_of_probabilities(run: Run, judged: Path) -> None:
    rated = ("--label", "y", "--ratings", "stars", "--ignore", "gpt,ann,hard,row")
    told = run("evaluate", judged, *rated, *FAST, "--metrics", "accuracy", "--threshold", "0.3")
    assert told.exit_code == 2
    assert "--cut" in told.stderr
    asked = ("--label", "y", "--answers", "hard", "--ignore", "ann,gpt,row,stars")
    demand = ("--metrics", "accuracy", "--threshold-for", "recall>=0.5")
    told = run("evaluate", judged, *asked, *FAST, *demand)
    assert told.exit_code == 2
    assert "no threshold to choose" in told.stderr
