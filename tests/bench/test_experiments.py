"""The scripts of ``benchmarks/``: one an experiment, run together, told honestly."""

import re
import time

import pandas as pd
import pytest
from benchmarks import claims, experiment, paper, provenance, report
from benchmarks.accuracy import __main__ as program
from benchmarks.accuracy import load_experiments, tables
from benchmarks.experiment import Setup

from ssme.bench.store import describe_process


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """Results, figures and cells go to a folder of their own."""
    monkeypatch.setattr(experiment, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(experiment, "FIGURES", tmp_path / "figures")
    monkeypatch.setattr(experiment, "CACHE", tmp_path / "cache")
    return tmp_path


@pytest.mark.parametrize("name", load_experiments())
def test_every_experiment_tells_what_it_shows(name):
    chosen = load_experiments()[name]
    assert chosen.title.endswith((".", "?"))
    assert chosen.runs >= 1


def test_the_report_is_of_experiments():
    lines = provenance.read(report.RESULTS).set_index("experiment")["command"]
    shown = {name for claim in claims.list_claims() for name in claim.experiment.split()}
    assert {lines[name].split()[3] for name in shown} <= set(load_experiments())


def test_an_experiment_writes_its_result_and_how_it_was_made(elsewhere):
    assert program.try_experiment(Setup("bounds", 1, end=time.monotonic() + 60)) == ""
    assert len(pd.read_csv(elsewhere / "results" / "bounds.csv")) == 160
    (row,) = pd.read_csv(elsewhere / "results" / "runs.csv", dtype=str).to_dict("records")
    assert row["command"] == "python -m benchmarks.accuracy bounds --runs 1"
    assert (row["numpy"], row["source"]) == (
        describe_process()["numpy"],
        describe_process()["source"],
    )


def test_without_time_nothing_is_computed(elsewhere):
    reason = program.try_experiment(Setup("cost", 2, end=time.monotonic()))
    assert re.fullmatch(r"0 of \d+ cells are finished", reason)
    assert not (elsewhere / "results").exists()


def test_a_line_of_runs_is_replaced_and_others_stay(elsewhere):
    for name in ("b", "a", "b"):
        experiment.record_run(name, Setup(name, 3))
    rows = pd.read_csv(elsewhere / "results" / "runs.csv")
    assert list(rows["experiment"]) == ["a", "b"]


def test_cells_of_another_source_have_no_commit(elsewhere):
    times = pd.DataFrame(
        [{**describe_process(), "source": "00000000", "numpy": "1.0", "seconds": 90.0}]
    )
    experiment.record_run("a", Setup("a", 3, times=[times]))
    (row,) = pd.read_csv(elsewhere / "results" / "runs.csv", dtype=str).to_dict("records")
    assert (row["commit"], row["numpy"], row["cpu_minutes"]) == ("unknown", "1.0", "1.5")


def test_numbers_of_runs():
    assert program.parse_runs(["4", "ess=2"], ["ess", "llm"]) == {"ess": 2, "llm": 4}
    assert program.parse_runs(["ess=2", "4"], ["ess", "llm"]) == {"ess": 2, "llm": 4}
    with pytest.raises(SystemExit, match="--runs nosuch=3"):
        program.parse_runs(["nosuch=3"], ["ess"])


def test_half_widths_are_over_runs_and_subsets():
    errors = pd.DataFrame(
        {"run": [0, 0, 1, 1], "subset": ["a", "b", "a", "b"], "error": [0.1, 0.3, 0.2, 0.6]}
    )
    means = {"run": (0.2, 0.4), "subset": (0.15, 0.45)}
    spread = {name: (b - a) ** 2 / 2 / 2 for name, (a, b) in means.items()}
    both = tables.compute_half_width(errors)
    assert both == pytest.approx(1.96 * (spread["run"] + spread["subset"]) ** 0.5)
    single = errors[errors["subset"] == "a"]
    assert tables.compute_half_width(single) == pytest.approx(1.96 * (0.1**2 / 2 / 2) ** 0.5)


def test_the_papers_numbers_are_found_without_its_file(tmp_path, monkeypatch):
    monkeypatch.setenv("SSME_DATA", str(tmp_path / "nowhere" / "data"))
    table = paper.read_paper_table()
    cell = (table["dataset"] == "MultiNLI") & (table["metric"] == "ece")
    assert table.loc[cell & (table["method"] == "SSME"), "paper"].between(0.01, 0.03).all()
