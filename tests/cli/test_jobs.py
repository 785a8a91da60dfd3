"""Eight jobs as a new user does them: two commands and one error at most until the right answer.

The commands are those of the README and of ``--help``, or what `ssme doctor` prints. The errors
before the answer are counted. ``SSME_JOB_ROWS=2000000`` runs the job of the folder in full.
"""

from __future__ import annotations

import csv
import json
import os
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import Result

import ssme
from ssme.sample import sample_path

Run = Callable[..., Result]
MOST_COMMANDS, MOST_ERRORS = 2, 1
FOLDER_ROWS = int(os.environ.get("SSME_JOB_ROWS", "4000"))


class Shell:
    """Runs commands, and counts them and those that end with an error."""

    def __init__(self, run: Run) -> None:
        self.run, self.commands, self.errors = run, 0, 0

    def type(self, line: str, exits: int = 0) -> str:
        """What the command prints."""
        words = shlex.split(line)
        assert words[0] == "ssme"
        result = self.run(*words[1:])
        self.commands += 1
        self.errors += result.exit_code == 2
        assert result.exit_code == exits, result.output
        return str(result.stdout)

    def take_advice(self, source: Path, more: str = "") -> str:
        """What the command prints that `ssme doctor` advises, with ``more`` options."""
        said = self.type(f"ssme doctor {source}")
        line = said.rpartition("To run\n")[2].strip()
        return self.type(f"{line} {more}")


@pytest.fixture
def shell(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)
    shell = Shell(run)
    yield shell
    assert shell.commands <= MOST_COMMANDS
    assert shell.errors <= MOST_ERRORS


def draw_scores(
    n: int, rare: float = 0.5, sharpness: tuple[float, ...] = (1.0, 2.0, 3.0)
) -> tuple[np.ndarray, np.ndarray]:
    """Classes, and for each model the probability of class 1, which is calibrated."""
    rng = np.random.default_rng(n)
    y = (rng.random(n) < rare).astype(int)
    prior = np.log(rare / (1.0 - rare))
    logits = [prior + s * (s * (y - 0.5) + rng.normal(size=n)) for s in sharpness]
    return y, 1.0 / (1.0 + np.exp(-np.array(logits).T))


def hide_labels(y: np.ndarray, known: int, names: tuple[str, str] = ("0", "1")) -> list[str]:
    """The name of the class where the label is known, for rows at random, else nothing."""
    chosen = set(np.random.default_rng(0).choice(y.size, known, replace=False).tolist())
    return [names[c] if i in chosen else "" for i, c in enumerate(y)]


def write_csv(path: Path, **columns: Any) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path


def test_fraud_with_costs_and_a_threshold_for_precision(shell: Shell) -> None:
    y, scores = draw_scores(3000, rare=0.1)
    path = write_csv(
        Path("fraud.csv"),
        transaction=[f"tx{i}" for i in range(y.size)],
        amount=np.random.default_rng(1).lognormal(4.0, 1.0, y.size).round(2),
        score_rules=scores[:, 0],
        score_forest=scores[:, 1],
        score_boosting=scores[:, 2],
        fraud=hide_labels(y, 250, ("legit", "fraud")),
    )
    told = shell.take_advice(path, '--cost "0,1;50,0" --threshold-for "precision>=0.8"')
    assert "Which model? score_boosting" in told
    assert "Thresholds for precision>=0.8" in told
    assert "expected_cost" in told
    assert "'fraud' is positive" in told


def draw_answers(n: int = 300) -> tuple[np.ndarray, np.ndarray]:
    """Classes, and the answers of twelve judges, each better than the one before."""
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, n)
    right = rng.random((n, 12)) < np.linspace(0.6, 0.95, 12)
    return y, np.where(right, y[:, None], 1 - y[:, None])


def test_twelve_judges_in_a_long_csv(shell: Shell) -> None:
    y, answers = draw_answers()
    labels = hide_labels(y, 60, ("bad", "good"))
    rows, judges = np.indices(answers.shape)
    path = write_csv(
        Path("verdicts.csv"),
        prompt_id=[f"q{i}" for i in rows.flat],
        judge=[f"judge_{j + 1}" for j in judges.flat],
        verdict=[("bad", "good")[a] for a in answers.flat],
        human=[labels[i] for i in rows.flat],
    )
    found = json.loads(shell.take_advice(path, "--metrics accuracy --json - --quiet"))
    check_judges(found, "judge_12")


def test_twelve_judges_in_columns_of_any_name(shell: Shell) -> None:
    y, answers = draw_answers()
    labels = hide_labels(y, 60, ("bad", "good"))
    kept = [(i, j) for i in range(y.size) for j in range(12) if (7 * i + j) % 11]
    path = write_csv(
        Path("ratings.csv"),
        conversation=[f"c{i}" for i, _ in kept],
        llm=[f"llm {j + 1}" for _, j in kept],
        rating_text=[("bad", "good")[answers[i, j]] for i, j in kept],
        gold=[labels[i] for i, _ in kept],
    )
    found = json.loads(shell.take_advice(path, "--metrics accuracy --json - --quiet"))
    check_judges(found, "llm 12")


def test_twelve_judges_in_nested_json_lines(shell: Shell) -> None:
    y, answers = draw_answers()
    labels = hide_labels(y, 60, ("bad", "good"))
    path = Path("verdicts.jsonl")
    lines = [
        {
            "id": f"q{i}",
            "judges": {f"judge_{j + 1}": {"verdict": ("bad", "good")[a]} for j, a in enumerate(of)},
            "human": labels[i] or None,
        }
        for i, of in enumerate(answers)
    ]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    found = json.loads(shell.take_advice(path, "--metrics accuracy --json - --quiet"))
    check_judges(found, "judges:judge_12:verdict")


def check_judges(found: dict[str, Any], best: str) -> None:
    rows = {row["model"]: row for row in found["estimates"]}
    assert len(rows) == 12
    assert abs(rows[best]["estimate"] - 0.95) < 0.08  # six standard errors of the rows alone


def test_groups_by_sex_and_age(shell: Shell) -> None:
    y, scores = draw_scores(1500)
    rng = np.random.default_rng(3)
    path = write_csv(
        Path("people.csv"),
        person_id=range(y.size),
        sex=np.where(rng.random(y.size) < 0.5, "female", "male"),
        age=rng.integers(18, 80, y.size),
        logistic=scores[:, 0],
        forest=scores[:, 1],
        boosting=scores[:, 2],
        high_income=hide_labels(y, 120),
    )
    told = shell.type(f"ssme evaluate {path} -y high_income --groups sex,age:quantiles=4")
    assert "by sex, worst group first" in told
    assert "by age:quantiles=4, worst group first" in told
    assert "Gaps between groups" in told


@pytest.mark.parametrize(("gate", "exits"), [(">=0", 0), (">=0.5", 1)])
def test_a_gate_between_two_files(shell: Shell, gate: str, exits: int) -> None:
    y, scores = draw_scores(1500)
    order = np.random.default_rng(4).permutation(y.size)
    write_csv(Path("old.csv"), id=range(y.size), score=scores[:, 0], label=hide_labels(y, 150))
    write_csv(Path("new.csv"), id=order, score=scores[order, 2])
    line = f'ssme evaluate old.csv new.csv --fail-under "new-old:accuracy.low{gate}"'
    assert "Which model? new" in shell.type(line, exits)


def test_a_loop_of_labels(shell: Shell) -> None:
    y, scores = draw_scores(800)
    path = write_csv(
        Path("sentences.csv"),
        sentence_id=[f"s{i}" for i in range(y.size)],
        text=[f"Sentence s{i}." for i in range(y.size)],
        forest=scores[:, 1],
        boosting=scores[:, 2],
    )
    line = f'ssme next {path} -n 25 --simulations 2 --target "width(accuracy)<=0.01"'
    assert "0 labeled and 800 unlabeled rows" in shell.type(line, exits=1)
    rows = list(csv.DictReader(Path("labels.csv").read_text().splitlines()))
    assert all(row["text"] == f"Sentence {row['id']}." for row in rows)  # to label by
    assert len(rows) == 25
    for row in rows:
        row["label"] = str(y[int(row["id"].removeprefix("s"))])
    write_csv(Path("labels.csv"), **{key: [row[key] for row in rows] for key in rows[0]})
    assert "25 labeled and 775 unlabeled rows" in shell.type(line, exits=1)
    assert len(Path("labels.csv").read_text().splitlines()) == 51


def test_a_report_for_a_manager(shell: Shell) -> None:
    shell.type(f"ssme report {sample_path()}")
    page = Path("report.html").read_text(encoding="utf-8")
    first = page[page.index("<body") : page.index("Which model?") + 2000]
    for words in ("digits.csv", "Which model?", "boosting", "How good?", "How sure?"):
        assert words in first


def test_a_notebook() -> None:
    result = ssme.evaluate(sample_path(), "label")  # as in the README
    assert "boosting" in result.choose("accuracy").sentence()
    shown = result._repr_html_()
    assert "Which model?" in shown
    assert "boosting" in shown
    assert {"model", "metric", "estimate", "low", "high", "labels_only"} <= {*result.frame()}


def test_two_million_rows_in_a_folder_of_parquet(shell: Shell) -> None:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    Path("scores").mkdir()
    y, scores = draw_scores(FOLDER_ROWS, rare=0.2)
    labels = np.array([float(text or "nan") for text in hide_labels(y, 200)])
    for number, rows in enumerate(np.array_split(np.arange(y.size), 4)):
        columns = {f"model_{m}": scores[rows, m].astype(np.float32) for m in range(3)}
        table = pa.table({"comment_id": rows, **columns, "toxic": labels[rows]})
        parquet.write_table(table, f"scores/part-{number}.parquet")
    told = shell.type("ssme evaluate scores/ --label toxic")
    assert "Which model? model_2" in told
    assert f"200 labeled and {FOLDER_ROWS - 200:,} unlabeled rows" in told
