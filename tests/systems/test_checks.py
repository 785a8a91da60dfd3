"""Warnings of evaluations of systems, and codes of missing verdicts that are refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import ssme
from ssme.cli import app
from ssme.errors import InputError
from ssme.systems.evaluation import SystemsEvaluation
from tests.systems.made import make_table


def warn(table: pd.DataFrame, **options: object) -> list[str]:
    return [each.title for each in ssme.evaluate_systems(table, "human", **options).warnings]


def choose(table: pd.DataFrame, wanted: pd.Series) -> pd.DataFrame:
    """Labels of 60 of the wanted rows alone."""
    kept = np.random.default_rng(0).choice(table.index[wanted], 60, replace=False)
    return table.assign(human=table["human"].where(table.index.isin(kept)))


def break_in_one_way(how: str) -> tuple[pd.DataFrame, str]:
    """A table with one problem, and what is said of it."""
    table, _ = make_table(1, labels=60)
    full, _ = make_table(1, labels=450)
    verdict = full.filter(like="judge_").mean(axis=1)
    return {
        "copies": lambda: (pd.concat([table, table]), "Copies of rows"),
        "no common items": lambda: (
            table.assign(item=np.arange(len(table))),
            "Systems answered different items",
        ),
        "few items": lambda: (
            table[(table["system"] != "s1") | (table["item"] < 40)],
            "Systems answered different items",
        ),
        "only fails": lambda: (choose(full, verdict < 0.5), "Rows with a label differ"),
        "only disputed": lambda: (choose(full, verdict.between(0.1, 0.9)), "Rows with a label"),
        "exchanged": lambda: (table.assign(human=1.0 - table["human"]), "say the opposite"),
        "no verdict": lambda: (
            table.assign(judge_1=table["judge_1"].where(table["system"] != "s2")),
            "judge_1 graded only some",
        ),
        "twins": lambda: (table.assign(judge_1=table["judge_0"]), "say the same of every row"),
        "constant": lambda: (table.assign(judge_1=1.0), "judge_1 says the same of all rows"),
        "useless": lambda: (
            table.drop(columns=["judge_1", "judge_2"]).assign(judge_0=np.arange(450) // 3 % 2),
            "No judge agrees with people",
        ),
        "guessed ends": lambda: (table.assign(human=2.0 + 2.0 * table["human"]), "Ends of the"),
    }[how]()


@pytest.mark.parametrize(
    "how",
    [
        *("copies", "no common items", "few items", "only fails", "only disputed", "exchanged"),
        *("no verdict", "twins", "constant", "useless", "guessed ends"),
    ],
)
def test_each_problem_is_warned_of(how: str) -> None:
    table, told = break_in_one_way(how)
    assert any(told in title for title in warn(table))


def test_sound_tables_are_not_warned_of() -> None:
    """Two tests at the level 0.0005 in 60 worlds: two alarms have a probability of 0.002."""
    tables = [make_table(seed, labels=60)[0] for seed in range(40)]
    for seed in range(20):  # all answers to some items
        table, _ = make_table(seed, items=40, epochs=5, labels=600)
        table["human"] = table["human"].where(table["item"] < 6)
        tables.append(table)
    assert sum(len(warn(table)) for table in tables) <= 1


def test_every_output_has_the_warnings(tmp_path: Path) -> None:
    table, told = break_in_one_way("only fails")
    result: SystemsEvaluation = ssme.evaluate_systems(table, "human")
    assert result.warnings[0].severity == "serious"
    assert f"Most serious warning {told}" in " ".join(str(result).split())
    assert result.to_dict()["warnings"][0]["title"].startswith(told)
    result.report(tmp_path / "report.md")
    assert told in (tmp_path / "report.md").read_text()
    table.to_csv(tmp_path / "evals.csv", index=False)
    ran = CliRunner().invoke(app, ["systems", str(tmp_path / "evals.csv"), "--json", "-"])
    assert json.loads(ran.stdout)["warnings"][0]["severity"] == "serious"


@pytest.mark.parametrize("column", ["human", "judge_0"])
def test_codes_of_missing_verdicts_are_refused(column: str) -> None:
    table, _ = make_table(2, labels=200)
    table.loc[table.index[table["human"].notna()][:2], column] = 99.0
    with pytest.raises(InputError, match="has 99 in row 3, and 0 or 1 in nearly all"):
        ssme.evaluate_systems(table, "human")
    # a scale on which it is a grade
    assert ssme.evaluate_systems(table, "human", bounds=[0, 99]).rows()


def test_passes_of_a_judge_next_to_grades_of_people_use_the_whole_scale() -> None:
    table, _ = make_table(3, labels=60)
    table["human"] *= 100.0
    (first, *_) = ssme.evaluate_systems(table, "human", bounds=[0, 100]).rows()
    own = table[table["system"] == "s0"].filter(like="judge_").to_numpy().mean()
    assert first["judges"] == pytest.approx(100.0 * own)


def test_judges_who_say_the_same_are_worth_one() -> None:
    table, _ = make_table(4, labels=200)
    alone = ssme.evaluate_systems(table[["system", "item", "judge_0", "judge_2", "human"]], "human")
    twins = ssme.evaluate_systems(table.assign(judge_1=table["judge_0"]), "human")
    assert twins.n_effective_judges == pytest.approx(alone.n_effective_judges)


def test_doctor_points_to_systems(tmp_path: Path) -> None:
    table, _ = make_table(5)
    table.rename(columns={"system": "model"}).to_csv(tmp_path / "evals.csv", index=False)
    ran = CliRunner().invoke(app, ["doctor", str(tmp_path / "evals.csv"), "-y", "human"])
    assert "`ssme systems" in " ".join(ran.output.split())


def test_an_option_of_another_command_names_the_command() -> None:
    ran = CliRunner().invoke(app, ["evaluate", "evals.csv", "--item", "prompt", "-y", "human"])
    assert ran.exit_code == 2
    assert "Did you mean `ssme systems evals.csv --item prompt -y human`?" in ran.output


@pytest.mark.parametrize("option", ["--system=system", "--judges=judge_*"])
def test_evaluate_of_systems_or_judges_is_systems(tmp_path: Path, option: str) -> None:
    make_table(5)[0].to_csv(tmp_path / "evals.csv", index=False)
    words = [str(tmp_path / "evals.csv"), option, "-y", "human", "--n-draws=100"]
    one, other = (CliRunner().invoke(app, [name, *words]) for name in ("evaluate", "systems"))
    assert one.exit_code == 0
    assert one.output == other.output


def test_gates_fail_on_serious_warnings(tmp_path: Path):
    """The labels are of answers that judges rejected, which says nothing about the others."""
    table, _ = make_table(0, labels=0)
    rejected = (table[["judge_0", "judge_1", "judge_2"]].sum(axis=1) < 2).to_numpy()
    rows = np.flatnonzero(rejected)[:60]
    table.loc[rows, "human"] = table["judge_0"][rows]
    result = ssme.evaluate_systems(table, "human", n_draws=100)
    assert [each.title for each in result.warnings][:1] == [
        "Rows with a label differ from the others"
    ]
    condition = "pass_rate>=0.01"
    verdict = result.gate(condition)
    assert verdict.failures[0].startswith("serious warning: Rows with a label differ")
    assert not result.gate(condition, fail_on="warning").passed
    passed = result.gate(condition, fail_on="never")
    assert passed.passed
    assert passed.despite == verdict.failures
    assert result.gate().passed  # nothing was asked
    with pytest.raises(InputError, match="fail_on"):
        result.gate(fail_on="note")
    path = tmp_path / "evals.csv"
    table.to_csv(path, index=False)
    asked = ["systems", str(path), "-y", "human", "--quiet", "--n-draws", "100"]
    for flags, code in (
        ([], 0),
        (["--fail-under", condition], 1),
        (["--fail-under", condition, "--fail-on", "never"], 0),
        (["--fail-on", "serious"], 1),
    ):
        done = CliRunner().invoke(app, [*asked, *flags])
        assert done.exit_code == code, flags
        assert ("Passed despite a serious warning" in done.output) == ("never" in flags)
