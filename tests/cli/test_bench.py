"""``ssme bench`` and ``ssme datasets``."""

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
    "--metric",
    "accuracy",
)


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


def test_a_partly_labeled_file_is_refused(run, scores):
    result = run("bench", scores, *OPTIONS)
    assert result.exit_code == 2
    assert "360 rows without a label" in result.stderr


@pytest.mark.parametrize("sizes", ["none", "0", "20,"])
def test_bad_number_of_labels(run, history, sizes):
    result = run("bench", history, *OPTIONS, "--n-labeled", sizes)
    assert result.exit_code == 2
    assert "--n-labeled is" in result.stderr


def test_too_many_unlabeled_rows(run, history):
    result = run("bench", history, *OPTIONS, "--methods", "labeled", "--n-unlabeled", "1000")
    assert result.exit_code == 2
    assert "has 200 rows in its half" in result.stderr


def test_data_sets_are_listed_with_source_and_licence(run):
    result = run("datasets")
    assert result.exit_code == 0
    for word in ("civilcomments", "CC BY 4.0", "physionet.org", "your file"):
        assert word in result.stdout


def test_only_public_sets_are_fetched(run):
    result = run("datasets", "--fetch", "mimic")
    assert result.exit_code == 2
    assert "'mimic' cannot be fetched" in result.stderr
