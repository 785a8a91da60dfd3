"""What commands refuse, and what they say of columns that they recognized by name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import Result

Run = Callable[..., Result]
MODELS = ("--label", "y", "--models", "forest,logistic,coin")
FAST = ("--method", "ensemble", "--n-draws", "20")


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (("compare", *MODELS, "--methods", "active_testing"), "cannot estimate"),
        (
            ("evaluate", *MODELS, *FAST, "--gaps", "wide", "--groups", "site"),
            "--gaps must be among difference",
        ),
        (("evaluate", *MODELS, *FAST, "--options", "n_draws=many"), "--options n_draws must be"),
        (("evaluate", *MODELS, *FAST, "--correct-shift", "both"), "--correct-shift must be"),
        (("evaluate", *MODELS, *FAST, "--by", "[]"), "--by '[]': there is no group column '[]'"),
        (("report", *MODELS, *FAST, "--output", "r.pdf"), "end in .html"),
        (("report", *MODELS, *FAST, "--output", "r.html", "--memory", "none.db"), "no such file"),
        (("evaluate", *MODELS, "--level", "0.9", "--level", "0.8"), "given 2 times"),
        (("evaluate", *MODELS, "--level", "2"), "--level must be between 0 and 1, got 2."),
        (("evaluate", *MODELS, "--prevalence", "1.5"), "--prevalence must be between 0 and 1"),
        (("evaluate", *MODELS, "--threshold-for", "recal>=0.9"), "--threshold-for must be"),
    ],
)
def test_what_cannot_be_done_is_refused(
    run: Run, scores: Path, line: tuple[str, ...], told: str
) -> None:
    result = run(line[0], scores, *line[1:])
    assert result.exit_code == 2, result.output
    assert any(part in result.stderr for part in told.split("|")), result.stderr
    assert "Traceback" not in result.stderr


def test_a_method_that_cannot_is_named_beside_those_that_can(run: Run, scores: Path) -> None:
    result = run("compare", scores, *MODELS, "--methods", "ensemble,active_testing")
    assert result.exit_code == 0, result.stderr
    assert "Not run: active_testing." in result.stdout


def test_more_models_than_are_shown_are_counted(run: Run, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({f"m{j}": rng.random(60) for j in range(23)})
    frame["y"] = np.where(np.arange(60) < 30, rng.integers(0, 2, 60), np.nan)
    path = tmp_path / "many.csv"
    frame.to_csv(path, index=False)
    compared = run("compare", path, "--methods", "ensemble,labeled", "--metrics", "accuracy")
    assert "3 more models: --all shows them, --csv FILE keeps them" in compared.stdout
    evaluated = run("evaluate", path, *FAST, "--metrics", "accuracy")
    assert "3 more models: --all shows them, --json FILE keeps them" in evaluated.stdout
    everything = run("evaluate", path, *FAST, "--metrics", "accuracy", "--all")
    assert "more models" not in everything.stdout


def test_columns_that_were_recognized_by_name_are_said(run: Run, scores: Path) -> None:
    frame = pd.read_csv(scores).rename(columns={"site": "group_site"})
    frame.assign(weight=1.0, note="x").to_csv(scores, index=False)
    result = run("evaluate", scores, *FAST, "--metrics", "accuracy")
    said = result.stderr + result.stdout
    for told in (
        "Label column: 'y'",
        "Group columns: ",
        "'weight' is taken for the weights of the rows, by its name",
        "left out: note",
    ):
        assert told in said


def test_doctor_of_arrays_says_what_they_hold(run: Run, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    labels = np.where(np.arange(40) < 20, rng.integers(0, 2, 40), -1)
    path = tmp_path / "a.npz"
    np.savez(path, scores=rng.random((40, 2)), labels=labels)
    result = run("doctor", path, "--unlabeled", "-1")
    assert result.exit_code == 0, result.stderr
    assert "arrays" in result.stdout or "40" in result.stdout


def test_one_model_is_one(run: Run, scores: Path) -> None:
    result = run("evaluate", scores, "--label", "y", "--models", "forest", *FAST)
    assert "1 model, 40 labeled and 360 unlabeled rows, 2 classes" in result.stdout


def test_names_with_commas_and_spaces_are_typed_as_the_error_says(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    p = np.random.default_rng(0).random(20)
    frame = pd.DataFrame({"my model, v2": p, "age, in years": 40 + p, "y": [0, 1] * 10})
    frame.to_csv(path, index=False)
    told = run("evaluate", path, "--label", "y", *FAST).stderr
    assert """--ignore '"age, in years"'""" in told
    ignored = run("evaluate", path, "--label", "y", *FAST, "--ignore", '"age, in years"')
    assert ignored.exit_code == 0, ignored.stderr
    named = run("evaluate", path, "--label", "y", *FAST, "--models", '"my model, v2"')
    assert "my model, v2" in named.stdout
    assert "age, in years" not in named.stdout
