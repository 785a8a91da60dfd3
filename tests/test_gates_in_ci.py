"""Gates where teams run them: in pytest, and in the action for GitHub."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import ssme
from ssme.cli import app
from ssme.testing import assert_gate
from tests.systems.made import make_table

ACTION = Path(__file__).parents[1] / "action.yml"


def make_frame() -> pd.DataFrame:
    """300 rows, 60 labels, a good and a poor classifier."""
    rng = np.random.default_rng(4)
    y = rng.integers(0, 2, 300)
    frame = pd.DataFrame({"id": range(300), "y": np.where(np.arange(300) < 60, y, np.nan)})
    for name, skill in (("good", 4.0), ("poor", 0.5)):
        frame[name] = 1 / (1 + np.exp(-(skill * (y - 0.5) + rng.normal(size=300))))
    return frame


def test_an_assertion_says_which_conditions_are_not_met() -> None:
    data = ssme.ScoreSet.from_frame(make_frame(), "y")
    result = ssme.evaluate(data, metrics="accuracy", method="labeled")
    assert_gate(result, "good:accuracy>=0.8", fail_on="never")
    with pytest.raises(AssertionError, match="poor: accuracy") as raised:
        assert_gate(result, "accuracy>=0.8", fail_on="never")
    assert "good: accuracy" not in str(raised.value)
    assert str(result) in str(raised.value)


def run_action(folder: Path, **inputs: str) -> tuple[int, str]:
    """Run the step that evaluates as GitHub does; its exit code and the summary of the job."""
    yaml = pytest.importorskip("yaml")
    step: dict[str, Any] = yaml.safe_load(ACTION.read_text())["runs"]["steps"][-1]
    summary = folder / "summary.md"
    summary.write_text("")
    told = {"FILE": "scores.csv", "LABEL": "y", "CONDITIONS": "", "OPTIONS": ""}
    told |= {"COMMAND": "evaluate", **inputs}
    assert set(step["env"]) == {"COMMAND", "FILE", "LABEL", "CONDITIONS", "OPTIONS"}
    result = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=folder,
        capture_output=True,
        env={
            **os.environ,
            **told,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "RUNNER_TEMP": str(folder),
            "GITHUB_OUTPUT": str(folder / "output"),
            "GITHUB_STEP_SUMMARY": str(summary),
        },
    )
    return result.returncode, summary.read_text()


OPTIONS = "--metrics=accuracy\n--method=ensemble\n--n-draws=50\n--models=good,poor\n"


@pytest.mark.parametrize(
    ("conditions", "code"),
    [("", 0), ("good:accuracy>=0.7\n\n", 0), ("accuracy>=0.9\ngood:accuracy>=0.7", 1)],
)
def test_the_action_fails_as_the_gate_does(tmp_path: Path, conditions: str, code: int) -> None:
    make_frame().to_csv(tmp_path / "scores.csv", index=False)
    options = f"{OPTIONS}--fail-on=never\n"
    found, summary = run_action(tmp_path, CONDITIONS=conditions, OPTIONS=options)
    assert found == code
    assert summary.startswith("# How good are these classifiers?")
    assert (tmp_path / "ssme.json").is_file()
    assert "json=" in (tmp_path / "output").read_text()


def test_the_action_runs_nothing_that_an_input_says(tmp_path: Path) -> None:
    make_frame().to_csv(tmp_path / "scores.csv", index=False)
    code, summary = run_action(tmp_path, FILE="$(touch hacked).csv", LABEL="`touch hacked`")
    assert (code, summary) == (2, "")
    assert not (tmp_path / "hacked").exists()


def test_systems_are_asserted_and_gated_too(tmp_path: Path) -> None:
    table, _ = make_table(0)
    result = ssme.evaluate_systems(table, "human", n_draws=500)
    assert_gate(result, "s2-s0:pass_rate>=0")
    with pytest.raises(AssertionError, match="s0 minus s2"):
        assert_gate(result, "s0-s2:pass_rate>=0")
    table.to_csv(tmp_path / "scores.csv", index=False)
    told = {"COMMAND": "systems", "LABEL": "human", "CONDITIONS": "s0-s2:pass_rate>=0"}
    code, summary = run_action(tmp_path, **told)
    assert (code, summary[:30]) == (1, "# How good are these systems?\n")


def test_metrics_for_dvc_are_the_estimates(tmp_path: Path) -> None:
    table, _ = make_table(0)
    table.to_csv(tmp_path / "evals.csv", index=False)
    make_frame().to_csv(tmp_path / "scores.csv", index=False)
    run = CliRunner().invoke
    path = tmp_path / "metrics.json"
    asked = ["-y", "human", "--metrics-json", str(path), "--json", str(tmp_path / "all.json")]
    assert run(app, ["systems", str(tmp_path / "evals.csv"), *asked]).exit_code == 0
    kept, whole = json.loads(path.read_text()), json.loads((tmp_path / "all.json").read_text())
    assert set(kept["pass_rate"]) == {"s0", "s1", "s2"}
    for row in whole["rates"]:
        found = kept["pass_rate"][row["system"]]
        assert found == {name: row[name] for name in ("estimate", "low", "high")}
    asked = ["-y", "y", "--metrics-json", str(path), "--force", *OPTIONS.split()]
    assert run(app, ["evaluate", str(tmp_path / "scores.csv"), *asked]).exit_code == 0
    kept = json.loads(path.read_text())["accuracy"]
    assert kept["good"]["low"] < kept["good"]["estimate"] < kept["good"]["high"]
