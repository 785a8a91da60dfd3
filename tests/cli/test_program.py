"""The program as a whole: help, examples, start-up, look-up commands, demo, doctor, compare."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.main import get_command
from typer.testing import CliRunner, Result

import ssme
from ssme.cli import app
from ssme.cli.options import spell_with
from ssme.cli.program import PANELS
from ssme.errors import InputError
from ssme.methods.registry import method_names
from ssme.metrics import metric_names

Run = Callable[..., Result]
COMMANDS = sorted(get_command(app).commands)  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", COMMANDS)
def test_each_help_has_three_examples(run: Run, name: str) -> None:
    """Each on one line, so that it can be copied."""
    result = run(name, "--help")
    assert result.exit_code == 0
    assert f"ssme {name}" in result.stdout
    if name != "track":  # its commands have them
        assert len(re.findall(r"^ ssme \S.*$", result.stdout, re.MULTILINE)) == 3


def test_help_and_version(run: Run) -> None:
    assert all(name in run("--help").stdout for name in COMMANDS)
    assert run("--version").stdout.startswith("ssme ")


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; from typer.testing import CliRunner; from ssme.cli import app; "
        "assert CliRunner().invoke(app, ['--help']).exit_code == 0; "
        "heavy = ('numpy', 'scipy', 'pandas', 'sklearn', 'altair', 'rich', 'jinja2'); "
        "print([m for m in heavy if m in sys.modules])"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(ssme.__file__).parents[1])}
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    )
    assert found.stdout.strip() == "[]"


def test_without_a_command_the_help_is_shown_and_called_no_error(run: Run) -> None:
    shown = run()
    text = shown.stdout + shown.stderr  # the oldest parser shows it as --help does
    assert shown.exit_code in (0, 2)
    assert text.startswith("Usage: ssme COMMAND ...")
    assert text.rstrip().endswith("`ssme COMMAND --help` has examples.")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("evaluate", "s.csv", "--report", "r.html"), "--html writes a report"),
        (("serve", "s.csv", "--label", "y"), "The page asks which column contains the labels"),
        (("evaluate", "s.csv", "--metrik", "f1"), "No such option: --metrik"),
    ],
)
def test_options_under_other_names_are_pointed_out(
    run: Run, words: tuple[str, ...], told: str
) -> None:
    refused = run(*words)
    assert refused.exit_code == 2
    assert told in refused.stderr
    assert f"`ssme {words[0]} --help` lists the options." in refused.stderr


def test_every_command_is_listed_by_purpose() -> None:
    for name, command in get_command(app).commands.items():  # type: ignore[attr-defined]
        assert command.rich_help_panel in PANELS, name


def test_methods(run: Run) -> None:
    result = run("methods")
    assert result.exit_code == 0
    assert all(name in result.stdout for name in method_names())
    facts = json.loads(run("methods", "ssme", "--json", "-").stdout)
    assert "bandwidth" in facts["options"]
    assert run("methods", "magic").exit_code == 2
    assert "n_draws" in run("methods", "ensemble").stdout


def test_metrics(run: Run) -> None:
    found = json.loads(run("metrics", "--json", "-").stdout)
    assert [metric["name"] for metric in found] == list(metric_names())
    assert all(metric["definition"] for metric in found)
    assert max(map(len, run("metrics").stdout.splitlines())) <= 80


def test_doctor(run: Run, scores: Path) -> None:
    result = run("doctor", scores, "--groups", "site")
    assert result.exit_code == 0, result.output
    for words in ("layout", "wide", "400, 40 labeled", "roc_auc", "ensemble"):
        assert words in result.stdout
    facts = json.loads(run("doctor", scores, "--groups", "site", "--json", "-").stdout)
    assert facts["labels"].keys() == {"0", "1"}
    assert {warning["severity"] for warning in facts["looks_wrong"]} <= {"warning", "note"}


def test_doctor_shows_all_problems_and_the_command_that_reads_the_file(
    run: Run, tmp_path: Path
) -> None:
    path = tmp_path / "messy scores.csv"
    lines = ["patient;age;sex;truth;a;b;logit;visit"]
    for n in range(60):
        truth = ("yes", "no", "")[n % 3]
        score = f"0,{(n * 37) % 90 + 5:02}"
        lines.append(
            f"p{n};{20 + n % 50};{'mf'[n % 2]};{truth};{score};{score};{n % 7 - 3};v{n // 2}"
        )
    path.write_text("\n".join(lines) + "\n")
    assert run("evaluate", path).exit_code == 2
    result = run("doctor", path)
    assert result.exit_code == 0, result.stderr
    facts = json.loads(run("doctor", path, "--json", "-").stdout)
    for number, words in enumerate(("split at ','", "'0,05'", "'age'")):
        assert words in facts["problems"][number]
    assert "'logit'" in facts["problems"][2]
    shown = " ".join(result.stdout.split())
    assert "--id patient" in shown
    assert re.search(r"Possibly groups: [\w:=, ]*\bsex\b", shown)
    assert "Values that repeat: visit" in shown
    words = shlex.split(facts["command"])
    assert run(*words[1:], "--method", "labeled").exit_code == 0
    assert " ".join(words[1:]).startswith(f"evaluate {path} --label truth")


def write_rows(path: Path, head: str, rows: list[str]) -> Path:
    path.write_text("\n".join([head, *rows]) + "\n")
    return path


@pytest.mark.parametrize(
    ("name", "head", "line", "told", "flag"),
    [
        ("s.txt", "id|a|b|label", "r{i}|{p:.3f}|{q:.3f}|{y}", "one column", "--delimiter '|'"),
        ("s.csv", "id,a,b,label", "r{half},{p:.3f},{q:.3f},{y}", "id 'r0'", "--cluster id"),
        ("s.csv", "id,a,b,label", "r{i},{p:.3f},{q:.0%},{y}", "a percentage", "--models a,b"),
    ],
)
def test_doctor_runs_what_its_command_advises(
    name: str, head: str, line: str, told: str, flag: str, run: Run, tmp_path: Path
) -> None:
    p = np.linspace(0.02, 0.98, 40)
    rows = [
        line.format(i=i, half=i // 2, p=each, q=each**2, y=int(each > 0.5))
        for i, each in enumerate(p)
    ]
    path = write_rows(tmp_path / name, head, rows)
    result = run("doctor", path)
    assert result.exit_code == 0, result.output
    assert told in " ".join(result.stdout.split())
    command = result.stdout.rpartition("To run\n")[2].strip()
    assert flag in command
    assert run(*shlex.split(command)[1:], "--method", "labeled").exit_code == 0


def test_doctor_shows_a_problem_of_each_column(run: Run, tmp_path: Path) -> None:
    rows = [f"r{i},{i / 40},{3 * i / 40},{i}%,{i / 41},{i % 2}" for i in range(40)]
    rows[7] = 'r7,n/a,0.1,7%,"0,2",1'
    path = write_rows(tmp_path / "s.csv", "id,gap,logit,percent,comma,label", rows)
    problems = " ".join(run("doctor", path).stdout.partition("How the file")[0].split())
    assert "column 'gap' contains 'n/a' at row 7, text among numbers" in problems
    assert "column 'comma' contains '0,2' at row 7, text among numbers" in problems
    assert "column 'logit' contains 1.05 at row 14, which is not a probability" in problems
    assert "column 'percent' contains '0%', a percentage written as text" in problems


@pytest.mark.parametrize("above", [["Scores of May"], ["Scores of May,,,"], ["Scores", "of, May"]])
def test_doctor_reads_a_file_with_lines_above_its_header(
    above: list[str], run: Run, tmp_path: Path
) -> None:
    rows = [f"i{i},{i / 29:.2f},0.5{i % 10},{i % 2}" for i in range(30)]
    path = write_rows(tmp_path / "s.csv", *above[:1], [*above[1:], "id,a,b,y", *rows])
    found = run("doctor", path)
    assert found.exit_code == 0
    assert f"pass --skip-rows {len(above)}" in " ".join(found.stdout.split())
    command = found.stdout.strip().splitlines()[-1]
    assert f"--skip-rows {len(above)}" in command
    skipped = run("evaluate", path, "--skip-rows", str(len(above)), "--label", "y", "--json", "-")
    plain = write_rows(tmp_path / "p.csv", "id,a,b,y", rows)
    expected = run("evaluate", plain, "--label", "y", "--json", "-")
    assert expected.exit_code == 0
    one, other = (json.loads(each.stdout)["estimates"] for each in (skipped, expected))
    assert one == other


@pytest.mark.parametrize("head", ["0.7,0.2,", "0.7,0.7,"])
def test_doctor_finds_a_first_row_that_is_no_header(head: str, run: Run, tmp_path: Path) -> None:
    told = "contains numbers, not the names of columns. Pass --no-header to number the columns"
    path = write_rows(tmp_path / "s.csv", head, [f"{i / 9:.2f},0.5,{i % 2}" for i in range(9)])
    result = run("doctor", path)
    assert result.exit_code == 0
    assert told in " ".join(result.stdout.split())
    assert "10, 9 labeled" in result.stdout
    assert result.stdout.rstrip().endswith("--label column_3 --no-header")


def test_doctor_finds_labels_and_their_positive_class(run: Run, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    truth = rng.random(200) < 0.5
    p = np.clip(0.3 + 0.4 * truth[:, None] + rng.normal(0.0, 0.1, (200, 2)), 0.0, 1.0)
    rows = pd.DataFrame({"bert": p[:, 0], "gpt": p[:, 1], "sex": ["f", "m"] * 100})
    rows["fraud"] = np.where(np.arange(200) < 40, np.where(truth, "A", "B"), None)
    path = tmp_path / "scores.csv"
    rows.to_csv(path, index=False)
    result = run("doctor", path)
    command = result.stdout.splitlines()[-1]
    assert "--label fraud" in command
    assert "--positive A" in command
    assert "'sex' looks like answers" not in result.stdout
    rows.drop(columns="fraud").to_csv(path, index=False)
    assert run("doctor", path).stdout.rstrip().endswith("--no-labels")


def test_doctor_finds_labels_by_the_classes_of_the_scores(run: Run, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    scores = rng.dirichlet(np.ones(3), size=60)
    rows = pd.DataFrame({f"net:{c}": scores[:, k].round(6) for k, c in enumerate("xyz")})
    rows["outcome_of_case"] = np.where(np.arange(60) < 30, rng.choice(list("xyz"), 60), None)
    path = tmp_path / "scores.csv"
    rows.assign(site=rng.choice(list("ab"), 60)).to_csv(path, index=False)
    assert "--label outcome_of_case" in run("doctor", path).stdout.splitlines()[-1]


def test_doctor_finds_the_ids_of_a_long_table(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "judges.csv"
    names = [
        (f"image {i}", f"w{j}", "cat" if (i + int(j)) % 3 else "dog")
        for i in range(9)
        for j in "012"
    ]
    rows = pd.DataFrame(names, columns=["image", "judge", "answer"])
    rows.assign(truth="cat").to_csv(path, index=False)
    assert "--id image" in run("doctor", path).stdout.splitlines()[-1]


def test_doctor_reads_the_first_file_of_a_folder(run: Run, tmp_path: Path) -> None:
    scores = np.random.default_rng(0).random((40, 2))
    for part in ("a", "b"):
        rows = pd.DataFrame(scores, columns=["bert", "gpt"]).assign(label=[0, 1] * 20)
        rows.to_parquet(tmp_path / f"{part}.parquet")
    shown = " ".join(run("doctor", tmp_path).stdout.split())
    assert "has 2 files" in shown
    assert f"ssme evaluate {tmp_path} --label label" in shown.replace("'", "")


def test_doctor_shows_the_columns_of_a_file_without_scores(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "percent.csv"
    path.write_text("y,a,b\n" + "".join(f"{n % 2},{n + 3},{0.5 + 2 * n}\n" for n in range(40)))
    result = run("doctor", path)
    assert result.exit_code == 2
    assert "for percent divide by 100" in " ".join(result.stdout.split()).lower()
    assert "first values" in result.stdout


def test_doctor_takes_columns_for_logits_where_no_score_is_left(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "logits.csv"
    path.write_text("y,a,b\n" + "".join(f"{n % 2},{n / 9 - 2},{3.5 - n}\n" for n in range(40)))
    assert run("doctor", path).stdout.rstrip().endswith("--label y --logits")


def test_doctor_that_can_read_nothing_says_why(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "words.csv"
    path.write_text("a,b\n")
    result = run("doctor", path)
    assert result.exit_code == 2
    assert "words.csv is empty" in " ".join(result.stdout.split())


def test_doctor_finds_trouble(run: Run, tmp_path: Path) -> None:
    lines = ["label,a,b,copy,flat,against"]
    for i in range(60):
        p = (i % 10) / 10 + 0.03
        label = "1" if i == 0 else ""
        lines.append(f"{label},{p},{p * 0.9:.3f},{p},0.5,{1 - 0.95 * p:.3f}")
    path = tmp_path / "odd.csv"
    path.write_text("\n".join(lines))
    told = ("doctor", path, "--models", "a,b,copy,flat,against")
    facts = json.loads(run(*told, "--json", "-").stdout)
    codes = {warning["code"] for warning in facts["looks_wrong"]}
    assert {"D102", "D203", "D204", "D206"} <= codes
    assert "D204 Near-duplicate" in run(*told).stdout


def test_compare(run: Run, scores: Path) -> None:
    arguments = ("compare", scores, "--models", "forest,coin", "--metrics", "accuracy")
    result = run(*arguments, "--methods", "ensemble,labeled,majority_vote")
    assert result.exit_code == 0, result.output
    assert "seconds" in result.stdout
    assert "majority_vote" in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 80
    assert run(*arguments, "--methods", "ensemble,magic").exit_code == 2
    nothing = run(*arguments, "--methods", "")
    assert nothing.exit_code == 2
    assert "--methods '' names nothing" in nothing.stderr


def test_compare_says_what_a_method_cannot(run: Run, scores: Path) -> None:
    arguments = ("compare", scores, "--models", "forest,coin", "--metrics", "ece")
    result = run(*arguments, "--methods", "ensemble,autoeval")
    assert result.exit_code == 0, result.output
    assert "Not run: autoeval" in result.stdout
    assert run(*arguments, "--methods", "autoeval").exit_code == 2


@pytest.mark.parametrize("name", [name for name in COMMANDS if name != "track"])
def test_help_is_short_and_help_all_has_every_option(run: Run, name: str) -> None:
    listed = re.compile(r"^│ (--[\w-]+)", re.MULTILINE)
    brief, whole = run(name, "--help").stdout, run(name, "--help-all").stdout
    assert len(listed.findall(brief)) <= 15
    assert set(listed.findall(brief)) <= set(listed.findall(whole))
    assert run(name, "--help").stdout == brief


def test_demo(run: Run) -> None:
    result = run("demo")
    assert result.exit_code == 0, result.output
    for words in ("truth", "labels only", "Mean distance from the truth", "accuracy"):
        assert words in result.stdout
    held = re.search(
        r"Intervals that contain the true value: ssme \d+ of 24, auto (\d+) of 24", result.stdout
    )
    assert held
    assert held[1] == "24"
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    assert "all intervals contain it" in readme
    assert "Warnings of auto, which did not see the truth" in result.stdout
    assert "D201" in result.stdout
    assert "EM stopped" not in result.output
    assert max(map(len, result.stdout.splitlines())) <= 80


def test_messages_speak_in_options() -> None:
    flags = {
        "label": "--label",
        "classes": "--classes",
        "random_state": "--random-state",
        "by": "--by",
    }
    spell = spell_with(flags)
    said = InputError(
        "`random_state=-1` with `classes=['a', 'b']`",
        hint="say `label=y`, `labels=False` or `by=[]`, leave `label` out, or `id=x`",
    )
    assert said.spell(spell) == (
        "--random-state -1 with --classes a,b. Say --label y, --no-labels or --no-groups, "
        "leave --label out, or `id=x`."
    )
    assert str(said).startswith("random_state=-1 with classes=['a', 'b']. Say label=y")


def test_tab_completes_commands_methods_and_metrics() -> None:
    def completed(words: str) -> str:
        environment = {
            **os.environ,
            "PYTHONPATH": str(Path(ssme.__file__).parents[1]),
            "_SSME_COMPLETE": "complete_bash",
            "COMP_WORDS": words,
            "COMP_CWORD": str(len(words.split(" ")) - 1),
        }
        code = "import sys; sys.argv = ['ssme']; from ssme.cli import app; app(prog_name='ssme')"
        command = [sys.executable, "-c", code]
        return subprocess.run(command, env=environment, capture_output=True, text=True).stdout

    assert "evaluate" in completed("ssme ev")
    assert "dawid_skene" in completed("ssme evaluate --method da")
    assert "accuracy,roc_auc" in completed("ssme evaluate --metrics accuracy,roc_a")


@pytest.mark.parametrize(("asked", "colored"), [((), True), (("--no-color",), False)])
def test_no_color(tmp_path: Path, asked: tuple[str, ...], colored: bool) -> None:
    path = tmp_path / "few.csv"
    path.write_text("label,a,b\n1,0.9,0.8\n0,0.2,0.1\n,0.5,0.4\n")
    result = CliRunner().invoke(app, ["doctor", str(path), *asked], env={"FORCE_COLOR": "1"})
    assert result.exit_code == 0
    assert ("\x1b[33m" in result.stdout) == colored
