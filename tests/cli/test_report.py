"""From a CSV that pandas wrote to a report, in one command."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import Result

Run = Callable[..., Result]


@pytest.mark.parametrize("index", [True, False])
def test_pandas_csv_to_report_in_one_command(run: Run, tmp_path: Path, index: bool) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    frame = pd.DataFrame({"label": pd.Series(y).where(np.arange(200) < 30).astype("Int64")})
    frame["new model"] = np.clip(0.25 + 0.5 * y + rng.normal(0, 0.2, 200), 0, 1)
    frame["old model"] = np.clip(0.35 + 0.3 * y + rng.normal(0, 0.2, 200), 0, 1)
    frame.to_csv(tmp_path / "scores.csv", index=index)
    result = run("report", tmp_path / "scores.csv", "-o", tmp_path / "report.html")
    assert result.exit_code == 0, result.output
    page = (tmp_path / "report.html").read_text()
    assert "new model" in page
    assert "old model" in page
    assert "Unnamed" not in page.split("Columns left out")[0].split('<h2 id="data">')[0]


@pytest.mark.parametrize("suffix", ["md", "json"])
def test_other_formats_and_refusals(run: Run, scores: Path, tmp_path: Path, suffix: str) -> None:
    target = tmp_path / f"r.{suffix}"
    arguments = ("report", scores, "--method", "ensemble", "--models", "forest,coin", "-o", target)
    assert run(*arguments, "--title", "Mine").exit_code == 0
    text = target.read_text()
    assert json.loads(text)["title"] == "Mine" if suffix == "json" else text.startswith("# Mine")
    again = run(*arguments)
    assert again.exit_code == 2
    assert "exists" in again.stderr
    assert run(*arguments[:-1], tmp_path / "r.doc").exit_code == 2


def test_missing_extra_is_said(
    run: Run, scores: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    arguments = ("report", scores, "--method", "ensemble", "--models", "forest,coin")
    result = run(*arguments, "-o", tmp_path / "r.html")
    assert result.exit_code == 0, result.output
    assert "pip install 'ssme[report]'" in result.stderr


def test_html_beside_the_table(run: Run, scores: Path, tmp_path: Path) -> None:
    target = tmp_path / "r.html"
    arguments = ("evaluate", scores, "--method", "ensemble", "--models", "forest,coin")
    assert run(*arguments, "--html", target).exit_code == 0
    assert target.read_text().startswith("<!DOCTYPE html>")
    streamed = run(*arguments, "--html", "-", "--quiet")
    assert streamed.stdout.startswith("<!DOCTYPE html>")


def test_a_model_card_has_metadata_and_a_table(run: Run, scores: Path, tmp_path: Path) -> None:
    yaml = pytest.importorskip("yaml")
    path = tmp_path / "card.md"
    asked = ("report", scores, "--groups", "site", "--method", "ensemble", "-k", "accuracy,ece")
    result = run(*asked, "--card", "forest", "-o", path)
    assert result.exit_code == 0, result.output
    _, head, body = path.read_text().split("---\n", 2)
    (entry,) = yaml.safe_load(head)["model-index"]
    assert entry["name"] == "forest"
    (found,) = entry["results"]
    assert [each["type"] for each in found["metrics"]] == ["accuracy", "ece"]
    assert all(0.0 <= each["value"] <= 1.0 for each in found["metrics"])
    assert body.lstrip().startswith("## Evaluation")
    assert "Worst group by site:" in body
    assert "| accuracy |" in body
    assert "coin" not in body
    for wrong in (("--card", "forst", "-o", path), ("--card", "forest", "-o", tmp_path / "c.html")):
        assert run(*asked, *wrong, "--force").exit_code == 2
