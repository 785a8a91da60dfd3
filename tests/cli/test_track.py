"""A project's memory from the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import Result

Run = Callable[..., Result]


def write(path: Path, n_labeled: int) -> Path:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    frame = pd.DataFrame({"id": [f"r{i}" for i in range(200)]})
    frame["label"] = pd.Series(y).where(np.arange(200) < n_labeled).astype("Int64")
    for name, skill in (("good", 3.0), ("bad", 1.0)):
        frame[name] = 1 / (1 + np.exp(-skill * (y - 0.5) - rng.normal(size=200)))
    target = path / f"{n_labeled}.csv"
    frame.to_csv(target, index=False)
    return target


def test_add_show_and_compare(run: Run, tmp_path: Path) -> None:
    memory = tmp_path / "project.sqlite"
    how = ("--models", "good,bad", "--method", "labeled", "--metrics", "accuracy")
    for n in (20, 60, 60):
        added = run("track", "add", write(tmp_path, n), *how, "--memory", memory, "--json", "-")
        assert added.exit_code == 0, added.output
    assert json.loads(added.stdout) == {
        "memory": str(memory),
        "evaluation": 2,
        "labels": 0,
        "known": True,
    }
    shown = run("track", "show", "--memory", memory, "--plot", tmp_path / "history.json")
    assert shown.exit_code == 0, shown.output
    assert "60 labels in 60 events" in shown.stdout
    assert "Pick by accuracy: good." in shown.stdout
    told = " ".join(shown.stdout.split())
    assert "With 95% probability the best one is good" in told
    assert (tmp_path / "history.json").exists()
    compared = run("track", "compare", "--memory", memory, "--json", "-")
    assert compared.exit_code == 0, compared.output
    found = json.loads(compared.stdout)
    assert {change["model"] for change in found["changes"]} == {"good", "bad"}
    assert all(change["low"] <= change["change"] <= change["high"] for change in found["changes"])
    assert not any(drift["clear"] for drift in found["drift"])
    printed = run("track", "compare", "--memory", memory).stdout
    assert "What changed: accuracy" in printed
    assert "group" not in printed


def test_a_memory_that_is_not_there_is_not_made(run: Run, tmp_path: Path) -> None:
    target = tmp_path / "none.sqlite"
    result = run("track", "show", "--memory", target)
    assert result.exit_code == 2
    assert "ssme track add" in result.output
    assert not target.exists()


def test_data_that_the_memory_does_not_know_are_refused(run: Run, tmp_path: Path) -> None:
    memory = tmp_path / "project.sqlite"
    how = ("--models", "good,bad", "--method", "labeled", "--metrics", "accuracy")
    run("track", "add", write(tmp_path, 20), *how, "--memory", memory, "--data", "mail")
    for command in ("show", "compare"):
        result = run("track", command, "--memory", memory, "--data", "mial")
        assert result.exit_code == 2
        assert "--data: unknown data 'mial'. Did you mean 'mail'" in " ".join(result.stderr.split())


def test_a_name_that_is_too_long_is_refused_by_its_option(run: Run, tmp_path: Path) -> None:
    asked = ("--memory", tmp_path / ("x" * 400))
    how = ("--models", "good,bad", "--method", "labeled", "--metrics", "accuracy")
    for line in (("add", write(tmp_path, 20), *how), ("show",), ("compare",)):
        result = run("track", *line, *asked)
        assert result.exit_code == 2
        assert "Error: --memory" in result.stderr


def test_an_evaluation_that_is_not_there_is_refused(run: Run, tmp_path: Path) -> None:
    memory = tmp_path / "project.sqlite"
    how = ("--models", "good,bad", "--method", "labeled", "--metrics", "accuracy")
    run("track", "add", write(tmp_path, 20), *how, "--memory", memory)
    result = run("track", "compare", "--memory", memory, "--before", "-3")
    assert result.exit_code == 2
    assert "no evaluation -3" in result.output
    only = run("track", "compare", "--memory", memory)
    assert only.exit_code == 2
    assert "a comparison needs two evaluations" in only.output
    assert "1 evaluation." in run("track", "show", "--memory", memory).stdout


def test_a_memory_that_cannot_be_is_refused_before_the_work(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ssme.cli.track.evaluate_scores", lambda *_: pytest.fail("computed"))
    file, how = write(tmp_path, 20), ("--models", "good,bad")
    foreign = tmp_path / "notes.txt"
    foreign.write_text("no memory at all" * 100)
    for target in (tmp_path / "no" / "folder.sqlite", tmp_path, foreign):
        result = run("track", "add", file, *how, "--memory", target)
        assert result.exit_code == 2, result.output
        assert "Error: --memory" in result.stderr
    new = tmp_path / "new.sqlite"
    same = run("track", "add", file, *how, "--memory", new, "--json", new)
    assert same.exit_code == 2
    assert not new.exists()
