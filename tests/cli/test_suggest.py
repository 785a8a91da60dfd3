"""From scores to suggested rows, to labels, to an estimate; and the number of labels planned."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import Result

import ssme
from ssme import ScoreSet

Run = Callable[..., Result]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    frame = pd.DataFrame({"id": [f"r{i}" for i in range(300)]})
    frame["label"] = pd.Series(y).where(np.arange(300) < 20).astype("Int64")
    for name, skill in (("good", 3.0), ("bad", 1.0)):
        frame[name] = 1 / (1 + np.exp(-skill * (y - 0.5) - rng.normal(size=300)))
    path = tmp_path / "scores.csv"
    frame.to_csv(path, index=False)
    return path


def test_suggested_rows_come_back_as_labels(run: Run, file: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "next.csv", tmp_path / "then.csv"
    read = ("--models", "good,bad", "--method", "ensemble", "--metrics", "accuracy")
    result = run("suggest", file, *read, "--n", "15", "-o", first)
    assert result.exit_code == 0, result.output
    rows = pd.read_csv(first)
    assert rows.shape == (15, 5)
    rows["label"] = pd.Series([1] * 10)
    rows.to_csv(first, index=False)
    some = run("evaluate", file, *read, "--labels-file", first)
    assert "Of 15 suggested rows 5 have no label." in some.stderr
    rows["label"] = 1
    rows.to_csv(first, index=False)
    counted = run(
        "evaluate", file, "--models", "good,bad", "--method", "labeled", "--labels-file", first,
        "--metrics", "accuracy", "--json", "-",
    )  # fmt: skip
    assert counted.exit_code == 0, counted.output
    assert "have no label" not in counted.stderr
    assert json.loads(counted.stdout)["estimates"][0]["n_labeled"] == 35
    again = run("suggest", file, *read, "--labels-file", first, "--n", "15", "-o", second)
    assert again.exit_code == 0, again.output
    more = pd.read_csv(second)
    new = more[more["round"] == 2]
    assert len(new) == 15
    assert not set(new["id"]) & set(rows["id"])


@pytest.mark.parametrize("more", [(), ("--groups", "side"), ("--groups", "side", "--by", "side")])
def test_a_goal_of_groups_reads_their_column(run: Run, file: Path, more: tuple[str, ...]) -> None:
    frame = pd.read_csv(file)
    frame["side"] = np.where(np.arange(300) % 3, "left", "right")
    frame.to_csv(file, index=False)
    read = ("--models", "good,bad", "--method", "ensemble", "--metrics", "accuracy", "--n", "8")
    result = run("suggest", file, *read, "--goal", "group:side", *more)
    assert result.exit_code == 0, result.output
    assert "group:side" in result.stdout
    assert "left out" not in result.output
    unknown = run("suggest", file, *read, "--goal", "group:sde")
    assert unknown.exit_code == 2
    assert "no column 'sde'" in unknown.output
    assert "--goal group:sde" in unknown.output


@pytest.mark.parametrize(
    ("goal", "more", "place"),
    [
        ("group:age:edges=50", (), "age<50"),
        ("group:age", ("--groups", "age:edges=50"), "age<50"),
        ("group:age:edges=50", ("--groups", "age:edges=50", "--by", "age:edges=50"), "age>=50"),
        ("group:side+age:edges=50", (), "side=left & age<50"),
    ],
)
def test_a_goal_may_be_bins_and_intersections(run, file, goal, more, place) -> None:
    frame = pd.read_csv(file)
    frame["side"] = np.where(np.arange(300) % 3, "left", "right")
    frame["age"] = 20 + np.arange(300) % 60
    frame.to_csv(file, index=False)
    read = ("--models", "good,bad", "--method", "ensemble", "--metrics", "accuracy", "--n", "40")
    result = run("suggest", file, *read, "--goal", goal, *more, "-o", "-")
    assert result.exit_code == 0, result.output
    assert f"in {place}" in result.stdout


def test_a_goal_is_refused_before_the_work(run: Run, file: Path, monkeypatch) -> None:
    monkeypatch.setattr("ssme.cli.label.evaluate_scores", lambda *_: pytest.fail("computed"))
    for goal in ("fame", "group:", "best:"):
        result = run("suggest", file, "--models", "good,bad", "--goal", goal)
        assert result.exit_code == 2
        assert "Error: --goal must be" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--n", "281"), "--n"),
        (("--goal", "fame"), "--goal"),
        (("--uniform", "0"), "--uniform"),
    ],
)
def test_bad_suggestions_write_nothing(run, file, tmp_path, arguments, message) -> None:
    target = tmp_path / "next.csv"
    result = run(
        "suggest", file, "--models", "good,bad", "--method", "ensemble", *arguments, "-o", target
    )
    assert result.exit_code == 2
    assert message in result.output
    assert not target.exists()


def test_a_plan_is_said_and_written(run: Run, file: Path, tmp_path: Path) -> None:
    target = tmp_path / "plan.json"
    arguments = (
        "plan",
        file,
        "--models",
        "good,bad",
        "--method",
        "labeled",
        "--metrics",
        "accuracy",
    )
    result = run(
        *arguments, "--target", "width(accuracy)<=0.2", "--simulations", "2", "--json", target
    )
    assert result.exit_code == 0, result.output
    assert "more labels" in result.output
    (plan,) = json.loads(target.read_text())["plans"]
    assert plan["more"] > 0
    assert run(*arguments).exit_code == 2
    assert run(*arguments, "--target", "beauty>=1").exit_code == 2


def test_a_second_file_holds_the_first_round_too(run: Run, file: Path, tmp_path: Path) -> None:
    read = ("--models", "good,bad", "--method", "ensemble", "--metrics", "accuracy")
    first, second = tmp_path / "next.csv", tmp_path / "then.csv"
    run("suggest", file, *read, "--n", "5", "-o", first)
    rows = pd.read_csv(first)
    rows["label"] = 1
    rows.to_csv(first, index=False)
    result = run("suggest", file, *read, "--labels-file", first, "--n", "5", "-o", second)
    assert result.exit_code == 0, result.output
    both = pd.read_csv(second)
    assert both["round"].tolist() == [1] * 5 + [2] * 5
    assert set(both["id"][:5]) == set(rows["id"])
    assert both["label"].notna().tolist() == [True] * 5 + [False] * 5
    both["label"] = 1
    both.to_csv(second, index=False)
    counted = run(
        "evaluate", file, *read, "--labels-file", second, "--json", "-"
    )  # fmt: skip
    assert json.loads(counted.stdout)["estimates"][0]["n_labeled"] == 30


def test_two_files_of_labels_are_refused(run: Run, file: Path, tmp_path: Path) -> None:
    result = run("evaluate", file, "--labels-file", tmp_path / "a", "--labels-file", tmp_path / "b")
    assert result.exit_code == 2
    assert "given 2 times" in result.output


def test_a_target_that_cannot_be_read_is_refused_before_anything_is_estimated(run: Run) -> None:
    refused = run("plan", "nowhere.csv", "--target", "accuracy>0.9")
    assert refused.exit_code == 2
    assert "--target must be 'width(METRIC)<=NUMBER'" in refused.stderr


def test_labels_with_weights_come_back_with_the_suggested_ones(run, file, tmp_path) -> None:
    frame = pd.read_csv(file)
    frame["stands_for"] = np.where(frame["label"] == 1, 25.0, 5.0)
    frame.to_csv(file, index=False)
    target = tmp_path / "next.csv"
    read = ("--models", "good,bad", "--method", "labeled", "--metrics", "accuracy")
    result = run("suggest", file, *read, "--design", "stands_for", "--n", "6", "-o", target)
    assert result.exit_code == 0, result.output
    assert "and without --design" in result.stderr
    rows = pd.read_csv(target)
    assert rows["round"].tolist() == [1] * 20 + [2] * 6
    rows["label"] = rows["label"].fillna(0).astype(int)
    rows.to_csv(target, index=False)
    both = run("evaluate", file, *read, "--design", "stands_for", "--labels-file", target)
    assert both.exit_code == 2
    assert "--design" in both.stderr
    weighted = ssme.evaluate(
        file, "label", id="id", models=["good", "bad"], design="stands_for", method="labeled",
        metrics="accuracy",
    )  # fmt: skip
    suggested = weighted.suggest(6)
    assert set(suggested.ids) == set(rows["id"][20:])
    filled = suggested.fill_in([0] * 6)
    joined = ScoreSet.read(file, target, label="label", id="id", models=["good", "bad"])
    np.testing.assert_allclose(joined.design.weights, filled.design.weights, rtol=1e-12)


def test_rows_are_not_suggested_beside_labels_of_unknown_probability(run, file) -> None:
    read = ("--models", "good,bad", "--metrics", "accuracy", "--method", "auto", "--n-draws", "40")
    result = run("suggest", file, *read, "--design", "by_class", "--n", "3")
    assert result.exit_code == 2
    assert "how many rows each label represents, as in --design COLUMN" in result.stderr


def test_the_first_round_needs_no_label(run: Run, file: Path, tmp_path: Path) -> None:
    """Where no column can contain labels, the first round begins without any."""
    frame = pd.read_csv(file)[["id", "good", "bad"]]
    place, kept = tmp_path / "unlabeled.csv", tmp_path / "round.csv"
    frame.to_csv(place, index=False)
    asked = ("next", place, "--method", "ensemble", "-k", "accuracy", "--labels-file", kept)
    asked = (*asked, "--n", "6", "--simulations", "2")
    first = run(*asked)
    assert first.exit_code == 1
    assert "No column contains labels" in first.stderr
    assert len(pd.read_csv(kept)) == 6
    assert f"6 rows of {kept} without a label" in " ".join(run(*asked).stdout.split())
    kept.unlink()
    assert run(*asked, "--no-labels").exit_code == 1
    frame.assign(verdict=["yes", "no", None] * 100).to_csv(place, index=False)
    kept.unlink()
    refused = run(*asked)
    assert refused.exit_code == 2
    assert "--label verdict" in refused.stderr.replace("'", "")


def test_rounds_go_on_until_the_target_is_met(run: Run, file: Path, tmp_path: Path) -> None:
    truth = np.random.default_rng(0).integers(0, 2, 300)
    kept = tmp_path / "labels.csv"
    asked = ("next", file, "--models", "good,bad", "--method", "ensemble", "-k", "accuracy")
    asked = (*asked, "--labels-file", kept, "--n", "6", "--simulations", "2")
    first = run(*asked, "--target", "width(accuracy)<=0.01")
    assert first.exit_code == 1, first.output
    assert "How good?" in first.stdout
    rows = pd.read_csv(kept)
    assert (len(rows), rows["label"].notna().sum()) == (6, 0)
    waiting = run(*asked, "--target", "width(accuracy)<=0.01")
    assert waiting.exit_code == 1
    assert f"6 rows of {kept} without a label" in " ".join(waiting.stdout.split())
    rows["label"] = [truth[int(each[1:])] for each in rows["id"]]
    rows.to_csv(kept, index=False)
    second = run(*asked, "--target", "width(accuracy)<=0.01")
    assert second.exit_code == 1, second.output
    rows = pd.read_csv(kept)
    assert rows["round"].tolist() == [1] * 6 + [2] * 6
    assert rows["label"].notna().sum() == 6
    rows["label"] = [truth[int(each[1:])] for each in rows["id"]]
    rows.to_csv(kept, index=False)
    last = run(*asked, "--target", "width(accuracy)<=0.9")
    assert last.exit_code == 0, last.output
    assert pd.read_csv(kept).equals(rows)


def test_the_usual_target_is_about_the_metric_of_the_goal(
    run: Run, file: Path, tmp_path: Path
) -> None:
    kept = tmp_path / "round.csv"
    asked = ("next", file, "--models", "good,bad", "-k", "accuracy", "-k", "roc_auc")
    asked = (*asked, "--labels-file", kept, "--simulations", "2", "--n-draws", "100")
    told = " ".join(run(*asked, "--goal", "best:roc_auc").stdout.split())
    assert "P(regret:roc_auc<=0.01)>=0.9" in told
    unlabeled = tmp_path / "unlabeled.csv"
    pd.read_csv(file)[["id", "good", "bad"]].to_csv(unlabeled, index=False)
    kept.unlink(missing_ok=True)
    first = run("next", unlabeled, *asked[2:])
    assert "P(regret<=0.01)>=0.9" in " ".join(first.stdout.split())
    refused = run(*asked, "--goal", "metric:roc_auc")
    assert refused.exit_code == 2
    assert "width(roc_auc)" in refused.stderr


def test_rounds_write_over_no_other_file(run: Run, file: Path, tmp_path: Path) -> None:
    other = tmp_path / "mine.csv"
    other.write_text("id,label,note\nr1,1,sure\n")
    result = run("next", file, "--models", "good,bad", "--labels-file", other)
    assert result.exit_code == 2
    assert "--labels-file must have the columns id, label, probability" in result.stderr
    assert "sure" in other.read_text()
