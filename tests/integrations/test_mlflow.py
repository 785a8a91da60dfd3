"""MLflow and W&B: what is logged, to a stand-in and to their own local stores."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import pytest
from tests.made_sets import HOSTILE, grouped_set, hostile_set

import ssme
from ssme.show.report import list_metric_values


class Recorder:
    """Keeps what MLflow would be told."""

    def __init__(self) -> None:
        self.metrics: dict[str, float] = {}
        self.params: dict[str, Any] = {}
        self.files: dict[str, Any] = {}

    def log_metrics(self, metrics: dict[str, float]) -> None:
        self.metrics |= metrics

    def log_params(self, params: dict[str, Any]) -> None:
        self.params |= params

    def log_text(self, text: str, name: str) -> None:
        self.files[name] = text

    def log_dict(self, content: dict[str, Any], name: str) -> None:
        self.files[name] = content


def evaluate() -> ssme.Evaluation:
    return ssme.evaluate(grouped_set(), method="ensemble", metrics=["accuracy", "ece"], n_draws=50)


def test_what_is_logged() -> None:
    result, tracker = evaluate(), Recorder()
    result.to_mlflow(tracker=tracker)
    row = next(result.rows())
    assert tracker.metrics["accuracy/forest"] == row["estimate"]
    assert tracker.metrics["accuracy/forest.low"] == row["low"]
    assert tracker.metrics["accuracy/forest.labels_only"] == row["labels_only"]
    assert "accuracy/forest/site_north" in tracker.metrics
    assert tracker.params["ssme.method"] == "ensemble"
    assert tracker.files["report.html"].startswith("<!DOCTYPE html>")
    assert tracker.files["ssme.json"]["answers"]


def test_keys_are_allowed_and_different() -> None:
    result = ssme.evaluate(hostile_set(), method="ensemble", metrics="accuracy", n_draws=20)
    keys = [
        key for key in list_metric_values(result) if not key.endswith((".low", ".high", "_only"))
    ]
    assert len(keys) == len(HOSTILE)
    assert all(len(key) < 250 for key in keys)


@pytest.mark.mlflow
@pytest.mark.filterwarnings("default")
def test_real_local_store(tmp_path: Path) -> None:
    import mlflow

    mlflow.set_tracking_uri(f"sqlite:///{tmp_path / 'runs.db'}")
    experiment = mlflow.create_experiment("ssme", artifact_location=(tmp_path / "files").as_uri())
    result = evaluate()
    with mlflow.start_run(experiment_id=experiment) as run:
        result.to_mlflow()
    kept = mlflow.get_run(run.info.run_id)
    assert kept.data.metrics == pytest.approx(list_metric_values(result))
    assert kept.data.params["ssme.method"] == "ensemble"
    report = mlflow.artifacts.load_text(f"{kept.info.artifact_uri}/report.html")
    assert report.startswith("<!DOCTYPE html>")


@pytest.mark.mlflow
@pytest.mark.filterwarnings("default")
def test_the_tutorial_runs(capsys: pytest.CaptureFixture[str]) -> None:
    page = Path(__file__).parents[2] / "docs" / "tutorials" / "8_mlflow.py"
    runpy.run_path(str(page))
    shown = capsys.readouterr().out
    assert "MLflow is installed." in shown
    assert "accuracy/forest.low" in shown
    assert "report.html" in shown


def test_runs_of_wandb_get_the_same(tmp_path: Path) -> None:
    class Run:
        def __init__(self) -> None:
            self.summary: dict[str, float] = {}
            self.config: dict[str, Any] = {}
            self.dir, self.saved = str(tmp_path), list[str]()

        def save(self, path: str, base_path: str) -> None:
            self.saved.append(Path(path).relative_to(base_path).name)

    result, run, tracker = evaluate(), Run(), Recorder()
    result.to_wandb(run=run)
    result.to_mlflow(tracker=tracker)
    assert run.summary == tracker.metrics
    assert run.config == tracker.params
    assert run.saved == ["ssme.json", "report.html"]
    assert json.loads((tmp_path / "ssme.json").read_text())["answers"]


@pytest.mark.harness
@pytest.mark.filterwarnings("default")
def test_real_offline_run_of_wandb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import wandb

    monkeypatch.setenv("WANDB_MODE", "offline")
    result = evaluate()
    with wandb.init(project="ssme", dir=str(tmp_path)) as run:
        result.to_wandb()
        assert dict(run.summary) == pytest.approx(list_metric_values(result))
        assert run.config["ssme.method"] == "ensemble"
    (report,) = tmp_path.rglob("report.html")
    assert report.read_text().startswith("<!DOCTYPE html>")
