"""What is asked of an evaluation is in every output, or refused by name where it cannot be.

The inventory: every option of `AskOptions` and every argument of `Evaluation.ask`, against the
terminal, JSON, CSV, HTML, Markdown, a notebook, `ssme report`, a memory and MLflow.
"""

from __future__ import annotations

import html
import inspect
import json
import re
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import typer
from benchmarks.fuzz.program import make_runner
from tests.made_sets import grouped_set
from typer.testing import Result

import ssme
from ssme.cli import app
from ssme.memory import Memory
from ssme.memory.tracking import record_evaluation
from ssme.schema import AskOptions
from ssme.show import charts

FLAGS: dict[str, tuple[tuple[str, ...], str]] = {
    "fail_under": (("--fail-under", "coin:accuracy>=0.99"), r"coin: accuracy estimate is"),
    "within": (("--within", "0.001", "--level", "0.999"), r"is within 0.001 of the best"),
    "fail_on": (("--fail-on", "never", "--within", "0.001"), r"is within 0.001 of the best"),
    "cost": (("--cost", "0,1;10,0"), r"expected_cost"),
    "utility": (("--utility", "0,-1;0,5"), r"expected_utility"),
    "threshold_for": (("--threshold-for", "recall>=0.9"), r"Thresholds for recall>=0.9"),
    "confidence": (
        ("--threshold-for", "recall>=0.6", "--confidence", "0.9"),
        r"Thresholds for recall>=0.6, probability 0.9",
    ),
    "prevalence": (("--prevalence", "0.2"), r"accuracy~0.2"),
    "correct_shift": (("--correct-shift", "label"), r"shift"),
    "together": (("--together",), r"Pairs whose errors are correlated most"),
    "gaps": (("--gaps", "ratio", "-g", "site"), r"accuracy, ratio"),
}
"""Option -> how it is asked, and a pattern that is in every output that people read."""

ASKED: dict[str, tuple[dict[str, Any], str]] = {
    "threshold_for": ({"threshold_for": "f1"}, r"Thresholds for f1"),
    "confidence": (
        {"threshold_for": "recall>=0.6", "confidence": 0.9},
        r"Thresholds for recall>=0.6, probability 0.9",
    ),
    "together": ({"together": True}, r"Pairs whose errors are correlated most"),
    "gaps": ({"gaps": ["ratio"]}, r"ratio"),
    "fail_under": ({"fail_under": ["accuracy>=0.999"]}, r"accuracy estimate is"),
    "within": ({"within": 0.001}, r"is within 0.001 of the best"),
    "fail_on": ({"fail_on": "never"}, r"Gate"),
}
"""The same for arguments of `Evaluation.ask`."""

CSV_CANNOT = ("threshold_for", "confidence", "together", "gaps")
"""What a CSV table of estimates cannot contain."""


@pytest.fixture(autouse=True)
def _without_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(charts, "can_draw", lambda: False)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 300)
    frame = pd.DataFrame({"y": np.where(np.arange(300) < 60, y, np.nan)})
    for name, skill in (("forest", 3.0), ("logistic", 2.0), ("coin", 0.2)):
        frame[name] = 1.0 / (1.0 + np.exp(-skill * (y - 0.5) - rng.normal(size=300)))
    frame["site"] = np.where(rng.random(300) < 0.5, "north", "south")
    frame.to_csv(tmp_path / "s.csv", index=False)
    monkeypatch.chdir(tmp_path)

    def invoke(command: str, *arguments: str) -> Result:
        models = ("-m", "forest,logistic,coin", "-y", "y", "--method", "labeled", "--n-draws", "60")
        metric = () if "--prevalence" in arguments else ("-k", "accuracy")
        return make_runner().invoke(
            app, [command, "s.csv", *models, *metric, *arguments], catch_exceptions=False
        )

    return invoke


def read(text: str) -> str:
    """Text as a reader sees it: without markup, line breaks and escapes."""
    plain = html.unescape(re.sub(r"<[a-zA-Z!/][^>]*>", " ", text))
    return " ".join(plain.replace("\\", "").split())


def test_the_inventory_is_complete() -> None:
    assert set(FLAGS) == {field.name for field in fields(AskOptions)}
    assert set(ASKED) == set(inspect.signature(ssme.Evaluation.ask).parameters) - {"self"}


def test_a_report_can_be_asked_all_that_an_evaluation_can() -> None:
    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    options = {
        name: {flag for each in commands[name].params for flag in each.opts}
        for name in ("evaluate", "report")
    }
    outputs = {"--json", "--csv", "--html", "--all", "--save-config", "--metrics-json"}
    assert options["evaluate"] - options["report"] == outputs


@pytest.mark.parametrize("option", list(FLAGS))
def test_every_output_of_a_command_line_has_it(option: str, run: Callable[..., Result]) -> None:
    flags, pattern = FLAGS[option]
    failing = option in ("fail_under", "within", "fail_on")
    found = run("evaluate", *flags, "--json", "e.json", "--html", "e.html")
    assert found.exit_code == failing, found.output
    assert re.search(pattern, read(found.stdout + found.stderr))
    if option not in ("cost", "utility", "prevalence", "correct_shift"):
        assert option in json.loads(Path("e.json").read_text())["asked"]
    for name in ("r.html", "r.md", "r.json"):
        assert run("report", *flags, "-o", name).exit_code == failing
    for name in ("e.json", "e.html", "r.html", "r.md", "r.json"):
        text = read(Path(name).read_text())
        plain = text.replace('"gap": "ratio"', "accuracy, ratio").replace(
            '"together": {', "Pairs whose errors are correlated most"
        )
        plain = re.sub(
            r'"goal": "(\S+)",.*?"confidence": 0.9', r"Thresholds for \1, probability 0.9", plain
        )
        plain = re.sub(r'"goal": "(\S+)"', r"Thresholds for \1", plain)
        assert re.search(pattern, plain if name.endswith("json") else text), name


@pytest.mark.parametrize("option", list(FLAGS))
def test_csv_refuses_by_name_what_it_cannot_contain(
    option: str, run: Callable[..., Result]
) -> None:
    flags, pattern = FLAGS[option]
    found = run("evaluate", *flags, "--csv", "e.csv")
    if option in CSV_CANNOT:
        assert found.exit_code == 2
        assert "--csv" in found.stderr
        assert flags[0] in found.stderr
        assert not Path("e.csv").exists()
    else:
        assert Path("e.csv").exists()
    if option in ("cost", "utility", "prevalence"):
        assert re.search(pattern, Path("e.csv").read_text())


@pytest.mark.parametrize("option", list(ASKED))
def test_every_output_in_python_has_it(option: str, tmp_path: Path) -> None:
    options, pattern = ASKED[option]
    result = ssme.evaluate(grouped_set(), method="labeled", metrics="accuracy", n_draws=60)
    asked = result.ask(**options)
    for name in ("r.html", "r.md"):
        asked.report(tmp_path / name)
        assert re.search(pattern, read((tmp_path / name).read_text())), name
    logged: dict[str, Any] = {}
    tracker = SimpleNamespace(
        log_metrics=lambda values: None,
        log_params=lambda values: None,
        log_dict=lambda value, name: logged.update({name: value}),
        log_text=lambda value, name: logged.update({name: value}),
    )
    asked.to_mlflow(tracker=tracker)
    for text in (repr(asked), asked._repr_html_(), logged["report.html"]):
        assert re.search(pattern, read(text))
    for facts in (json.loads(asked.to_json()), logged["ssme.json"]):
        assert facts["asked"] == options
    (again,) = (each for each in logged["ssme.json"]["sections"] if each["key"] == "again")
    assert ".ask(" in again["parts"][1]["code"]


@pytest.fixture(scope="module")
def contrary() -> ssme.Evaluation:
    """By accuracy "sharp" is the best model, and with nine of ten positives found "even" is."""
    rng = np.random.default_rng(0)
    n = 600
    y = (np.arange(n) % 3 == 0).astype(int)
    even = 1.6 * (y - 0.5) + 0.7 * rng.normal(size=n) + 1.2
    sharp = np.where((y == 1) & (rng.random(n) < 0.25), -2.0, 1.6 * (y - 0.5)) * 2.0
    sharp = sharp + rng.normal(size=n)
    scores = {"sharp": 1 / (1 + np.exp(-sharp)), "even": 1 / (1 + np.exp(-even))}
    labels = np.where(np.arange(n) < 400, y, np.nan)
    return ssme.evaluate(scores, labels, method="labeled", metrics="accuracy", n_draws=100)


def test_one_question_has_one_answer(contrary: ssme.Evaluation, tmp_path: Path) -> None:
    """Every output names the model at its threshold, and no output another one."""
    asked = contrary.ask(threshold_for="recall>=0.9")
    assert contrary.decision is not None
    assert asked.decision is not None
    assert (contrary.decision.pick, asked.decision.pick) == ("sharp", "even")
    where = f"at threshold {asked.decision.threshold:.3f} for recall>=0.9"
    facts = asked.to_dict()
    assert (facts["decision"]["pick"], facts["decision"]["goal"]) == ("even", "recall>=0.9")
    assert "decision" not in facts["thresholds"]
    for name in ("r.html", "r.md"):
        text = read(asked.report(tmp_path / name).read_text())
        assert "Take sharp" not in text
        assert re.search(r"Which model\?\W* even\b", text)
        assert where in text
    summary = json.loads(asked.report(tmp_path / "r.json").read_text())
    assert summary["decision"]["pick"] == "even"
    assert summary["answers"][0]["answer"] == "even"
    shown = read(f"{asked!r} {asked._repr_html_()}")
    assert re.findall(r"Which model\? (\w+)", shown) == ["even", "even"]
    with Memory(tmp_path / "m.sqlite") as memory:
        memory.add_evaluation(record_evaluation(asked))
        assert memory.evaluation(-1).decisions[0].pick == "even"
        assert where in memory.evaluation(-1).decisions[0].metric
    gate = asked.ask(threshold_for="recall>=0.9", within=0.001).asked.gate
    assert gate is not None
    assert "even is within" in (*gate.failures, *gate.remarks)[0]


def test_the_terminal_has_one_answer(run: Callable[..., Result], contrary: ssme.Evaluation) -> None:
    data = contrary.data
    frame = pd.DataFrame(data.scores[:, :, 1], columns=list(data.models))
    frame["y"] = np.where(data.labels < 0, np.nan, data.labels)
    frame.to_csv("t.csv", index=False)
    asked = ["evaluate", "t.csv", "-y", "y", "-m", "sharp,even", "--method", "labeled", "-k"]
    for flags, pick in (
        ((), "sharp"),
        (("--threshold-for", "recall>=0.9"), "even"),
        (("--cost", "0,1;20,0", "--threshold-for", "cost"), "even"),
    ):
        found = make_runner().invoke(app, [*asked, "accuracy", *flags], catch_exceptions=False)
        assert re.findall(r"Which model\? (\w+)", found.stdout) == [pick]


def test_a_demand_that_no_model_meets_is_the_only_answer(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    coins = {"a": rng.random(200).round(1), "b": rng.random(200).round(1)}
    tossed = ssme.evaluate(coins, rng.integers(0, 2, 200), method="labeled", metrics="accuracy")
    asked = tossed.ask(threshold_for="precision>=1", confidence=0.99)
    assert asked.decision is None
    assert asked.to_dict()["decision"] is None
    text = read(asked.report(tmp_path / "r.html").read_text())
    assert "no model reaches precision>=1 at any threshold." in text
    assert "Take " not in f"{text}{asked!r}"
    gate = tossed.ask(threshold_for="precision>=1", confidence=0.99, within=0.1).asked.gate
    assert gate is not None
    assert not gate.passed
