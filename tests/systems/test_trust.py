"""Biases of judges, which to keep for their price, and records of their calibration."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import ssme
from ssme.cli import app
from ssme.systems.records import add_records
from tests.systems.made import make_table


def make_biased(seed: int, effect: float) -> pd.DataFrame:
    """The first judge passes long answers, and those of the system of its name, more often."""
    table, _ = make_table(seed, labels=300)
    rng = np.random.default_rng(seed)
    table["output"] = ["x" * length for length in rng.integers(10, 400, len(table))]
    longer = np.log2(table["output"].str.len()) > 7.5
    favored = (longer | (table["system"] == "s0")) & (rng.random(len(table)) < effect)
    table["judge_0"] = np.where(favored, 1.0, table["judge_0"])
    return table.rename(columns={"judge_0": "judge_s0"})


def test_planted_biases_are_found():
    found = pd.DataFrame(ssme.evaluate_systems(make_biased(0, 0.7), "human").biases())
    found = found.set_index(["judge", "kind"])
    assert (found["bias_low"] <= found["bias"]).all()
    assert found.loc[("judge_s0", "length"), "bias_low"] > 0.0
    assert found.loc[("judge_s0", "own system"), "bias_low"] > 0.0
    assert set(found.index) == {
        ("judge_s0", "length"),
        ("judge_s0", "own system"),
        ("judge_1", "length"),
        ("judge_2", "length"),
    }


def test_intervals_of_biases_hold_where_there_are_none():
    """100 worlds, four intervals each: the coverage has a standard error of about 0.015."""
    held = []
    for seed in range(100):
        rows = ssme.evaluate_systems(make_biased(seed, 0.0), "human", n_draws=100).biases()
        held.append(np.mean([row["bias_low"] <= 0.0 <= row["bias_high"] for row in rows]))
    assert np.mean(held) >= 0.89


def test_a_bias_that_no_error_could_show_has_no_interval():
    table = make_biased(0, 0.0)
    passed = table["human"].fillna(1.0)
    table["output"] = ["?" if not good else "x" * (1 + at % 5) for at, good in passed.items()]
    table["judge_a"] = np.where((passed == 0.0) & (table.index % 2 == 0), 1.0, passed)
    rows = ssme.evaluate_systems(table, "human", judges="judge_a", n_draws=100).biases()
    (row,) = (row for row in rows if row["kind"] == "length")
    assert row["bias"] == pytest.approx(0.0)
    assert np.isnan([row["bias_low"], row["bias_high"]]).all()


def test_a_judge_that_costs_much_and_adds_nothing_is_dropped_first():
    table, _ = make_table(1, labels=200, accuracies=(0.9, 0.85, 0.5))
    prices = {"judge_0": 0.01, "judge_1": 0.01, "judge_2": 0.05}
    result = ssme.evaluate_systems(table, "human", prices=prices)
    steps = result.judges_by_cost()
    assert [len(step["judges"]) for step in steps] == [3, 2, 1]
    assert steps[1]["judges"] == ["judge_0", "judge_1"]
    assert steps[0]["cost"] == pytest.approx(0.07 * len(table))
    (kept,) = [step for step in steps if step["chosen"]]
    assert "judge_2" not in kept["judges"]
    asked = {"prices": prices, "budget": 0.015 * len(table)}
    (kept,) = [
        step
        for step in ssme.evaluate_systems(table, "human", **asked).judges_by_cost()
        if step["chosen"]
    ]
    assert len(kept["judges"]) == 1
    # free judges are no reason to find nothing within a budget
    asked = {"prices": {"judge_0": 2.0, "judge_1": 1.0, "judge_2": 0.0}, "budget": len(table)}
    steps = ssme.evaluate_systems(table, "human", **asked).judges_by_cost()
    assert steps[1]["judges"] == ["judge_1", "judge_2"]
    assert sum(step["chosen"] for step in steps) == 1
    for wrong in ({"judge_0": 1.0}, {**prices, "judge_2": -1.0}, {**prices, "judge_2": "much"}):
        with pytest.raises(ssme.InputError, match="prices"):
            ssme.evaluate_systems(table, "human", prices=wrong).judges_by_cost()


def test_records_say_when_they_are_outdated(tmp_path: Path):
    table, _ = make_table(2, labels=200)
    path, prompt = tmp_path / "judges.jsonl", tmp_path / "prompt.txt"
    prompt.write_text("Is this answer right?")
    table.to_csv(tmp_path / "evals.csv", index=False)
    asked = ["systems", str(tmp_path / "evals.csv"), "-y", "human", "--record", str(path)]
    ran = CliRunner().invoke(app, [*asked, "--prompts", f"judge_0={prompt}"])
    assert ran.exit_code == 0, ran.output
    assert "new" in ran.output
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line["judge"] for line in lines] == ["judge_0", "judge_1", "judge_2"]
    assert lines[0]["low"] < lines[0]["agreement"] < lines[0]["high"]

    def look(table: pd.DataFrame, **options: object) -> dict[str, str]:
        result = ssme.evaluate_systems(table, "human", record=path, **options)
        return {row["judge"]: row["status"] for row in result.records()}

    same = look(table, prompts={"judge_0": prompt.read_text()})
    assert all(status.startswith("as on") for status in same.values())
    assert "another prompt" in look(table, prompts={"judge_0": "Be strict."})["judge_0"]
    worse = table.assign(judge_1=1.0 - table["judge_1"])
    assert "agreement was" in look(worse)["judge_1"]
    old = [{**line, "date": "2020-01-01"} for line in lines]
    path.unlink()
    add_records(path, old)
    assert "days old" in look(table)["judge_2"]
    with pytest.raises(ssme.InputError, match="record"):
        ssme.evaluate_systems(table, "human", prompts={"judge_0": "x"}).records()
    path.write_text("{}\n")
    with pytest.raises(ssme.InputError, match="line 1"):
        look(table)


def test_the_document_has_what_is_known_of_judges():
    prices = {"judge_s0": 1.0, "judge_1": 1.0, "judge_2": 1.0}
    text = str(ssme.evaluate_systems(make_biased(3, 0.7), "human", prices=prices))
    assert "Biases of judges" in text
    assert "Which judges to keep" in text
