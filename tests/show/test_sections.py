"""Sections on request: a plan of labels and what changed since the last evaluation."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.made_sets import HOSTILE, binary_set

import ssme
from ssme.memory import Memory
from ssme.memory.tracking import record_evaluation
from ssme.results.evaluation import Evaluation
from ssme.results.table import count_effective_labels


def evaluate(n_labeled: int) -> Evaluation:
    data = binary_set((HOSTILE[0], "logistic"), n=300, n_labeled=n_labeled)
    return ssme.evaluate(data, method="labeled", metrics="accuracy")


@pytest.mark.parametrize("suffix", ["html", "md", "json"])
def test_a_report_has_the_sections_that_were_asked_for(tmp_path: Path, suffix: str) -> None:
    memory = tmp_path / "project.sqlite"
    with Memory(memory) as kept:
        kept.add_evaluation(record_evaluation(evaluate(20)))
    path = tmp_path / f"report.{suffix}"
    evaluate(60).report(path, target="width(accuracy)<=0.1", memory=memory)
    text = path.read_text()
    assert "How many more labels" in text
    assert "No drift of the scores is seen." in text
    assert suffix == "json" or "<script>alert(1)" not in text
    if suffix == "json":
        found = {section["key"]: section for section in json.loads(text)["sections"]}
        assert found["plan"]["table"][0]["cells"][0] == 60
        assert len(found["history"]["table"][0]["cells"]) == 2


def test_a_memory_of_other_models_says_so(tmp_path: Path) -> None:
    memory = tmp_path / "project.sqlite"
    other = ssme.evaluate(binary_set(("x", "y")), method="labeled", metrics="accuracy")
    with Memory(memory) as kept:
        kept.add_evaluation(record_evaluation(other))
    evaluate(20).report(tmp_path / "report.md", memory=memory)
    assert "no earlier evaluation of these models" in (tmp_path / "report.md").read_text()


def test_changes_are_those_of_a_metric_that_both_evaluations_have(tmp_path: Path) -> None:
    """A report that led with another metric than the memory ended in an error."""
    memory = tmp_path / "project.sqlite"
    with Memory(memory) as kept:
        kept.add_evaluation(record_evaluation(evaluate(20)))
    data = binary_set((HOSTILE[0], "logistic"), n=300, n_labeled=60)
    led = ssme.evaluate(data, method="labeled", metrics=["ece", "accuracy"])
    led.report(tmp_path / "report.json", memory=memory)
    sections = json.loads((tmp_path / "report.json").read_text())["sections"]
    (history,) = (section for section in sections if section["key"] == "history")
    assert "how accuracy changed" in history["sentences"][0]
    other = ssme.evaluate(data, method="labeled", metrics="ece")
    other.report(tmp_path / "other.md", memory=memory)
    assert "no earlier evaluation of these models" in (tmp_path / "other.md").read_text()


def test_labels_alone_are_worth_themselves() -> None:
    assert count_effective_labels(evaluate(40)) == pytest.approx(40)
    nothing = ssme.evaluate(binary_set(n_labeled=40).scores[:, :, 1], method="ensemble")
    assert np.isnan(count_effective_labels(nothing))
