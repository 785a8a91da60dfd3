"""``ssme bench``."""

import json

import pandas as pd
import pytest


@pytest.fixture
def history(scores, tmp_path):
    """The same file with every row labeled (by its best model, for want of a truth)."""
    frame = pd.read_csv(scores)
    frame["y"] = (frame["forest"] > 0.5).astype(int)
    path = tmp_path / "history.csv"
    frame.to_csv(path, index=False)
    return path


OPTIONS = (
    "--label",
    "y",
    "--models",
    "forest,logistic,coin",
    "--runs",
    "2",
    "--metrics",
    "accuracy",
)


def without(*names):
    """`OPTIONS` without some of them, which a test gives itself: none may be given twice."""
    pairs = zip(OPTIONS[::2], OPTIONS[1::2], strict=True)
    return [part for pair in pairs if pair[0] not in names for part in pair]


def test_tells_each_methods_error(run, history, tmp_path):
    out = tmp_path / "out.json"
    result = run("bench", history, *OPTIONS, "--methods", "ensemble,labeled", "--json", out)
    assert result.exit_code == 0, result.stderr
    rows = json.loads(out.read_text())
    assert {row["method"] for row in rows} == {"ensemble", "labeled"}
    assert all(row["n_labeled"] == 30 and row["n_unlabeled"] == 170 for row in rows)
    assert "accuracy from 30 labels" in result.stdout


def test_resumes_from_its_folder(run, history, tmp_path):
    folder = tmp_path / "kept"
    arguments = ("bench", history, *OPTIONS, "--methods", "labeled", "--resume", folder)
    assert run(*arguments).exit_code == 0
    cells = (folder / "cells.jsonl").read_text()
    assert run(*arguments).exit_code == 0
    assert (folder / "cells.jsonl").read_text() == cells


def estimates(run, file, *options):
    """The rows of a command's JSON."""
    result = run("bench", file, "--runs", "2", "--metrics", "accuracy", *options, "--json", "-")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def test_another_file_of_the_same_name_gets_its_own_numbers(run, history, tmp_path):
    other = tmp_path / "other" / history.name
    other.parent.mkdir()
    frame = pd.read_csv(history)
    frame.assign(y=(frame["logistic"] > 0.5).astype(int)).to_csv(other, index=False)
    asked = ("-y", "y", "--models", "forest,coin", "--methods", "labeled")
    kept = ("--resume", tmp_path / "kept")
    first, second = estimates(run, history, *asked), estimates(run, other, *asked)
    assert first != second
    assert estimates(run, history, *asked, *kept) == first
    assert estimates(run, other, *asked, *kept) == second


@pytest.mark.parametrize(
    "change", [("-y", "z", "--models", "forest,coin"), ("-y", "y", "--models", "forest,logistic")]
)
def test_another_label_or_other_models_get_their_own_numbers(run, history, tmp_path, change):
    frame = pd.read_csv(history)
    frame.assign(z=(frame["logistic"] > 0.5).astype(int)).to_csv(history, index=False)
    kept = ("--methods", "labeled", "--resume", tmp_path / "kept")
    estimates(run, history, "-y", "y", "--models", "forest,coin", *kept)
    assert estimates(run, history, *change, *kept) == estimates(
        run, history, *change, "--methods", "labeled"
    )


def test_groups_are_compared_each_by_itself(run, history, tmp_path):
    asked = ("-y", "y", "--models", "forest,logistic", "--methods", "labeled,autoeval")
    rows = estimates(run, history, *asked, "--groups", "site")
    assert {row["group"] for row in rows} == {"all", "site=north", "site=south"}
    errors = {row["group"]: row["mae"] for row in rows if row["method"] == "labeled"}
    assert len(set(errors.values())) == 3
    shown = run(
        "bench", history, *asked, "--runs", "2", "--metrics", "accuracy", "--groups", "site"
    )
    assert "accuracy in site=north from 30 labels" in shown.stdout


def test_methods_that_cannot_by_group_are_left_out_by_name(run, history):
    asked = ("-y", "y", "--methods", "labeled,active_testing", "--runs", "1", "-k", "accuracy")
    result = run("bench", history, *asked, "--groups", "site")
    assert result.exit_code == 0, result.stderr
    assert "metrics by group on this data: active_testing" in result.stderr


def test_a_group_that_is_not_there_is_refused(run, history, monkeypatch):
    result = run("bench", history, "-y", "y", "--groups", "town")
    assert result.exit_code == 2
    assert "town" in result.stderr


def test_the_table_of_an_earlier_run_is_kept_and_said(run, history, tmp_path):
    kept = tmp_path / "kept"
    asked = ("bench", history, *OPTIONS, "--methods", "labeled", "--resume", kept)
    assert run(*asked).exit_code == 0
    before = (kept / "results.csv").read_text()
    result = run(*asked, "--random-state", "1")
    assert "which is now" in result.stderr
    assert (kept / "results.1.csv").read_text() == before
    assert run(*asked, "--force").exit_code == 0
    assert (kept / "results.csv").read_text() == before
    assert not (kept / "results.2.csv").exists()


def test_an_altered_store_is_refused_with_its_line(run, history, tmp_path):
    kept = tmp_path / "kept"
    asked = ("bench", history, *OPTIONS, "--methods", "labeled", "--resume", kept)
    assert run(*asked).exit_code == 0
    cells = kept / "cells.jsonl"
    cells.write_bytes(b"\xff" + cells.read_bytes())
    result = run(*asked)
    assert result.exit_code == 2
    assert "cells.jsonl, line 1" in result.stderr


def test_a_partly_labeled_file_is_refused(run, scores):
    result = run("bench", scores, *OPTIONS)
    assert result.exit_code == 2
    assert "needs the label of every row, and 360 rows" in result.stderr


@pytest.mark.parametrize("sizes", ["none", "0", "2.5"])
def test_bad_number_of_labels(run, history, sizes):
    result = run("bench", history, *OPTIONS, "--n-labeled", sizes)
    assert result.exit_code == 2
    assert "--n-labeled must be" in result.stderr


def test_too_many_unlabeled_rows(run, history):
    result = run("bench", history, *OPTIONS, "--methods", "labeled", "--n-unlabeled", "1000")
    assert result.exit_code == 2
    assert "has 200 rows in its half" in result.stderr


def test_one_run_has_no_half_width(run, history, tmp_path):
    files = ("--json", tmp_path / "out.json", "--csv", tmp_path / "out.csv")
    result = run(
        "bench", history, *without("--runs"), "--runs", "1", "--methods", "ensemble", *files
    )
    assert result.exit_code == 0, result.stderr
    assert json.loads((tmp_path / "out.json").read_text())[0]["ci95"] is None
    assert pd.read_csv(tmp_path / "out.csv")["ci95"].isna().all()
    assert "mean error over 1 split" in result.stdout
    assert "nan" not in result.stdout


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--runs", "0"), "--runs must be between 1 and 1,000,000, got 0"),
        (("--random-state", "-1"), "--random-state must be at least 0, got -1"),
        (("--n-unlabeled", "-5"), "--n-unlabeled must be at least 0, got -5"),
        (("--workers", "0"), "--workers must be between 1 and 1,024, got 0"),
        (("--workers", str(2**63)), "--workers must be between 1 and 1,024"),
        (("--methods", ""), "--methods '' names nothing"),
        (("-n", "5000"), "Ask for at most 200 labels"),
    ],
)
def test_what_cannot_be_run_is_refused(run, history, options, told):
    methods = () if "--methods" in options else ("--methods", "labeled")
    result = run("bench", history, *without(*options), *methods, *options)
    assert result.exit_code == 2
    assert told in result.stderr


def test_methods_that_cannot_are_refused(run, history):
    result = run("bench", history, "--label", "y", "--methods", "autoeval", "--metrics", "ece")
    assert result.exit_code == 2
    assert "none of the methods autoeval estimates these metrics" in result.stderr


def test_no_metric_is_refused(run, history):
    result = run("bench", history, "--label", "y", "--metrics", "")
    assert result.exit_code == 2
    assert "--metrics '' names nothing" in result.stderr
