"""``ssme evaluate``: results, files, conditions, configs and exit codes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import Result

from ssme.errors import InputError
from ssme.results.gates import parse_condition
from ssme.sample import sample_path
from tests.data.test_class_order import make_long

Run = Callable[..., Result]
FAST = ("--method", "ensemble", "--n-draws", 20)
MODELS = ("--models", "forest,logistic,coin")


def test_table_says_estimate_interval_and_labels_only(run: Run, scores: Path) -> None:
    result = run("evaluate", scores, *FAST, *MODELS, "--label", "y")
    assert result.exit_code == 0, result.output
    assert "40 labeled and 360 unlabeled" in result.stdout
    for word in ("accuracy", "forest", "labels only", "95% interval"):
        assert word in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 80


def test_recognized_columns_are_said(run: Run, scores: Path) -> None:
    result = run("evaluate", scores, *FAST, "--groups", "site")
    assert result.exit_code == 0, result.output
    assert "Label column: 'y', by its name" in result.stderr
    assert "Models: forest, logistic, coin" in result.stderr


def test_no_label_column_is_refused_with_choices(run: Run, scores: Path) -> None:
    scores.write_text(scores.read_text().replace("y,forest", "answer,forest"))
    result = run("evaluate", scores, *FAST, *MODELS)
    assert result.exit_code == 2
    assert "no label column" in result.stderr
    assert "'answer'" in result.stderr
    assert run("evaluate", scores, *FAST, *MODELS, "--no-labels").exit_code == 0
    needs = run("evaluate", scores, "--method", "ssme", *MODELS, "--no-labels")
    assert needs.exit_code == 2
    assert "needs labels" in needs.stderr


def test_json_to_stdout_is_only_json(run: Run, scores: Path) -> None:
    result = run("evaluate", scores, *FAST, *MODELS, "--json", "-", "--random-state", 3)
    found = json.loads(result.stdout)
    assert {row["model"] for row in found["estimates"]} == {"forest", "logistic", "coin"}
    config = found["settings"]["config"]
    assert config["run"] == {"method": "ensemble", "level": 0.95, "n_draws": 20, "random_state": 3}
    assert len(found["settings"]["file_sha256"]) == 64


def test_csv_file_and_overwriting(run: Run, scores: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.csv"
    arguments = ("evaluate", scores, *FAST, *MODELS, "--csv", target, "--quiet")
    first = run(*arguments)
    assert (first.exit_code, first.stdout, first.stderr) == (0, "", "")
    assert target.read_text().startswith("model,group,metric,estimate,low,high,")
    second = run(*arguments)
    assert second.exit_code == 2
    assert "exists" in second.stderr
    assert run(*arguments, "--force").exit_code == 0


def test_groups(run: Run, scores: Path) -> None:
    asked = ("evaluate", scores, *FAST, *MODELS, "--groups", "site", "--metrics", "accuracy,ece")
    brief = run(*asked).stdout
    assert "by site, worst group first" in brief
    assert "north" in brief
    assert "ece by group" not in brief
    everything = run(*asked, "--all").stdout
    assert "accuracy by group, worst group first" in everything
    assert "ece by group, worst group first" in everything
    for shown in (brief, everything):
        assert max(map(len, shown.splitlines())) <= 80


def test_many_groups_are_counted_and_shown_on_demand(
    run: Run, scores: Path, tmp_path: Path
) -> None:
    lines = scores.read_text().splitlines()
    many = tmp_path / "many.csv"
    many.write_text(
        "\n".join(f"{line},{n % 25 if n else 'shop'}" for n, line in enumerate(lines)) + "\n"
    )
    asked = ("evaluate", many, *FAST, *MODELS, "--groups", "shop", "--metrics", "accuracy")
    result = run(*asked)
    assert result.exit_code == 0, result.stderr
    assert "5 more groups: --all shows them, --json FILE keeps them" in result.stdout
    assert "more groups:" not in run(*asked, "--all").stdout


def test_the_sample_is_answered_in_25_lines(run: Run) -> None:
    shown = run("evaluate", sample_path(), "--label", "label").stdout.splitlines()
    assert len(shown) <= 25
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    assert "\n".join(line.rstrip() for line in shown) in readme
    assert shown[0].startswith("Which model? boosting: highest accuracy")
    assert any(line.startswith("Warnings? Note D201") for line in shown[:6])
    assert max(map(len, shown)) <= 80


@pytest.mark.parametrize(
    ("condition", "code"),
    [
        ("accuracy>=0.1", 0),
        ("accuracy>=0.99", 1),
        ("forest:accuracy.low>=0.5", 0),
        ("coin:accuracy.low>=0.9", 1),
        ("ece<=0.9", 0),
        ("f1>0.01", 0),
        ("acuracy>=0.9", 2),
        ("nobody:accuracy>=0.9", 2),
        ("accuracy=0.9", 2),
        ("accuracy>=much", 2),
        ("accuracy<0.9", 2),
        ("ece>=0.1", 2),
        ("ece<=1", 2),
        ("accuracy>=0", 2),
        ("accuracy>=90", 2),
        ("log_loss<=inf", 2),
        ("accuracy>=0_1", 2),
        ("log_loss<=20", 0),
        ("forest-coin:accuracy<=0.9", 0),
        ("forest-coin:accuracy>=-1", 2),
    ],
)
def test_fail_under(run: Run, scores: Path, condition: str, code: int) -> None:
    result = run("evaluate", scores, *FAST, *MODELS, "--fail-under", condition)
    assert result.exit_code == code, result.output
    if code == 1:
        assert "Failed: " in result.stderr
    if code == 2:
        assert "\nError: " in "\n" + result.stderr
        assert "Traceback" not in result.output


@pytest.mark.parametrize(
    "arguments",
    [
        ("--threshold", "0_7"),
        ("--level", "0.9_5"),
        ("--sample-rows", "1_0"),
        ("--within", "٠.١"),
        ("--metrics", "accuracy@0_7"),
        ("--metrics", "accuracy~0_1"),
        ("--cost", "0,1_0;1,0"),
        ("--threshold-for", "precision>=0_1"),
        ("--by", "site:edges=0_1"),
    ],
)
def test_numbers_that_only_python_reads_are_refused(
    run: Run, scores: Path, arguments: tuple[str, str]
) -> None:
    result = run("evaluate", scores, *FAST, *MODELS, "--groups", "site", *arguments)
    assert result.exit_code == 2, result.output
    assert "_" in result.stderr or "٠" in result.stderr


def test_fail_under_counts_every_condition(run: Run, scores: Path) -> None:
    both = ("--fail-under", "accuracy>=0.1", "--fail-under", "coin:accuracy>=0.99")
    result = run("evaluate", scores, *FAST, *MODELS, *both)
    assert result.exit_code == 1
    assert result.stderr.count("Failed: ") == 1


def test_fail_under_with_threshold(run: Run, scores: Path) -> None:
    result = run(
        "evaluate", scores, *FAST, *MODELS, "--threshold", 0.3, "--fail-under", "accuracy>=0.1"
    )
    assert result.exit_code == 0, result.output


def test_condition_parts() -> None:
    condition = parse_condition("a: b:accuracy@0.3.low >= 0.5")
    assert (condition.model, condition.metric) == ("a: b", "accuracy@0.3")
    assert (condition.column, condition.sign, condition.limit) == ("low", ">=", 0.5)
    with pytest.raises(InputError, match=r"fail_under must be"):
        parse_condition("nothing")


@pytest.mark.parametrize("suffix", ["toml", "yaml", "json"])
def test_config_reproduces_the_run(run: Run, scores: Path, tmp_path: Path, suffix: str) -> None:
    config = tmp_path / f"run.{suffix}"
    asked = (*FAST, *MODELS, "-y", "y", "-k", "accuracy,ece", "--level", 0.8, "--json", "-")
    first = run("evaluate", scores, *asked, "--save-config", config)
    again = run("evaluate", "--config", config, "--json", "-")
    assert again.exit_code == 0, again.output
    one, two = json.loads(first.stdout), json.loads(again.stdout)
    assert one["estimates"] == two["estimates"]
    assert one["settings"]["config"] == two["settings"]["config"]


def test_command_line_wins_over_config(run: Run, scores: Path, tmp_path: Path) -> None:
    config = tmp_path / "run.toml"
    config.write_text(f'source = "{scores}"\n[run]\nmethod = "ssme"\nmetrics = ["accuracy"]\n')
    result = run("evaluate", "-c", config, *FAST, *MODELS, "--json", "-")
    assert json.loads(result.stdout)["settings"]["method"] == "ensemble"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[run]\nmethods = 3\n", "unknown key 'methods'"),
        ("[runs]\n", "Did you mean 'run'"),
        ("run = 3\n", "is not a section"),
        ("= =", "parsing config"),
    ],
)
def test_bad_config(run: Run, scores: Path, tmp_path: Path, text: str, message: str) -> None:
    config = tmp_path / "run.toml"
    config.write_text(text)
    result = run("evaluate", scores, "--config", config)
    assert result.exit_code == 2
    assert message in result.stderr


CODES = """label,a,b
1,0.9,0.8
0,0.2,0.3
1,0.8,0.4
0,0.1,0.2
1,0.7,0.9
-1,0.5,0.6
-1,0.3,0.2
"""


@pytest.mark.parametrize("code", ["-1", "[-1]"])
def test_a_code_in_a_config_is_one_value_and_not_its_characters(
    run: Run, tmp_path: Path, code: str
) -> None:
    (tmp_path / "s.csv").write_text(CODES)
    config = tmp_path / "run.toml"
    config.write_text(f"[read]\nunlabeled = {code}\n[run]\nmethod = 'ensemble'\n")
    result = run("evaluate", tmp_path / "s.csv", "--config", config, "--json", "-")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["settings"]["n_labeled"] == 5


def test_a_code_written_as_text_is_not_the_number(run: Run, tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text(CODES)
    config = tmp_path / "run.toml"
    config.write_text("[read]\nunlabeled = '-1'\n[run]\nmethod = 'ensemble'\n")
    result = run("evaluate", tmp_path / "s.csv", "--config", config)
    assert result.exit_code == 2
    assert "labels are -1, of another type" in result.stderr
    typed = run("evaluate", tmp_path / "s.csv", "--unlabeled", "-1", *FAST, "--json", "-")
    assert json.loads(typed.stdout)["settings"]["n_labeled"] == 5


@pytest.mark.parametrize(
    ("section", "line", "allowed"),
    [
        ("read", 'logits = "false"', "true or false"),
        ("read", "normalize = 0", "true or false"),
        ("read", "label = 3", "text"),
        ("read", "models = 3", "a name, or a list of names"),
        ("read", "groups = [true, 2]", "a name, or a list of names"),
        ("read", "classes = 'abc'", "a list"),
        ("read", "unlabeled = {a = 1}", "a code such as -1"),
        ("read", "labels_file = true", "the path of a file"),
        ("run", 'level = "0.9"', "a number"),
        ("run", "random_state = 1.5", "a whole number"),
        ("run", 'n_draws = "20"', "a whole number"),
        ("run", "threshold = [0.5]", "a number"),
        ("run", "method = ['auto']", "text"),
        ("run", "options = 3", "a table"),
        ("engine", "workers = 2.0", "a whole number"),
        ("engine", "sample_rows = true", "a whole number"),
    ],
)
def test_values_of_a_config_are_typed(
    run: Run, scores: Path, tmp_path: Path, section: str, line: str, allowed: str
) -> None:
    config = tmp_path / "run.toml"
    config.write_text(f"[{section}]\n{line}\n")
    result = run("evaluate", scores, *FAST, *MODELS, "--config", config)
    assert result.exit_code == 2, result.output
    assert line.split(" = ")[0] in result.stderr
    assert f"section [{section}]" in result.stderr
    assert allowed in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nowhere.csv",), "nowhere.csv"),
        ((), "no FILE"),
        (("{scores}", "--method", "magic"), "unknown method"),
        (("{scores}", "--metrics", "acuracy"), "Did you mean 'accuracy'"),
        (("{scores}", "--options", "n_draws"), "is not a name with a value"),
        (("{scores}", "--level", "2"), "level"),
        (("{scores}", "--models", "forrest"), "forrest"),
        (("{scores}", "--json", "nowhere/out.json"), "no folder"),
        (("{scores}", "--json", "-", "--csv", "-"), "two results"),
        (("{scores}", "--layout", "tall"), "tall"),
    ],
)
def test_bad_input_exits_2_without_traceback(
    run: Run, scores: Path, arguments: tuple[str, ...], message: str
) -> None:
    result = run("evaluate", *(a.format(scores=scores) for a in arguments))
    assert result.exit_code == 2, result.output
    assert message in result.stderr
    assert "Traceback" not in result.output


def test_many_models_are_cut_with_a_note(run: Run, tmp_path: Path) -> None:
    import numpy as np
    import pandas as pd

    values = np.random.default_rng(0).random((50, 30)).round(3)
    frame = pd.DataFrame(values, columns=[f"model_{j}" for j in range(30)])
    frame["label"] = [0, 1] * 10 + [None] * 30
    path = tmp_path / "many.csv"
    frame.to_csv(path, index=False)
    arguments = ("evaluate", path, *FAST, "--metrics", "accuracy")
    assert "10 more models" in run(*arguments).stdout
    assert "more models" not in run(*arguments, "--all").stdout


def test_terminal_tricks_in_names_are_inert(run: Run, scores: Path) -> None:
    scores.write_text(scores.read_text().replace("forest", "[red]\x1b[31mx"))
    result = run("evaluate", scores, *FAST, "--groups", "site")
    assert result.exit_code == 0, result.output
    assert "[red]" in result.stdout
    assert "\x1b[31m" not in result.stdout


def test_warnings_are_said_in_one_line_and_quiet_is_quiet(run: Run, scores: Path) -> None:
    arguments = ("evaluate", scores, "--method", "ssme", *MODELS, "-k", "accuracy")
    short = ("--options", "max_iter=2", "--options", "n_bootstrap=0")
    loud = run(*arguments, *short)
    assert loud.exit_code == 0, loud.output
    assert any(line.startswith("Warning: EM stopped") for line in loud.stderr.splitlines())
    quiet = run(*arguments, *short, "--quiet")
    assert (quiet.stdout, quiet.stderr) == ("", "")


def test_engine_stream_gives_the_same_as_memory(run: Run, scores: Path, tmp_path: Path) -> None:
    import pandas as pd

    folder = tmp_path / "parts"
    folder.mkdir()
    frame = pd.read_csv(scores)
    for i in range(2):
        frame[i * 200 : (i + 1) * 200].to_parquet(folder / f"{i}.parquet", index=False)
    asked = ("-y", "y", *MODELS, "-k", "accuracy", "--json", "-")
    held = json.loads(run("evaluate", scores, *asked).stdout)
    config = tmp_path / "run.toml"
    streamed = run("evaluate", folder, *asked, "--engine", "stream", "--save-config", config)
    assert streamed.exit_code == 0, streamed.output
    found = json.loads(streamed.stdout)
    assert found["settings"]["config"]["engine"] == {"engine": "stream"}
    for one, two in zip(held["estimates"], found["estimates"], strict=True):
        assert one["estimate"] == pytest.approx(two["estimate"], abs=1e-9)
    again = run("evaluate", "--config", config, "--json", "-", "--fail-under", "accuracy>=0.1")
    assert json.loads(again.stdout)["estimates"] == found["estimates"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--engine", "cloud"), "--engine must be"),
        (("--workers", "2"), "--workers 2 was given with --engine memory"),
        (
            ("--engine", "stream", "--labels-file", "labels.csv"),
            "labels are given separately from the scores with --engine stream",
        ),
        (
            ("--engine", "stream", "--fail-under", "accuracy>=0.1"),
            "--fail-under was given with --engine stream and without --metrics",
        ),
        (("--engine", "stream", "--scheduler", "tcp://x:1"), "scheduler address"),
    ],
)
def test_engine_options_that_do_not_fit(
    run: Run, tmp_path: Path, options: tuple[str, ...], message: str
) -> None:
    import pandas as pd

    path = tmp_path / "s.parquet"
    pd.DataFrame({"y": [0.0, 1.0, None], "a": [0.1, 0.9, 0.5]}).to_parquet(path)
    result = run("evaluate", path, *options)
    assert result.exit_code == 2, result.output
    assert message in result.stderr


def test_addresses_keep_their_slashes() -> None:
    from ssme.cli.run import _restore_address

    assert _restore_address(Path("s3://bucket/x.parquet")) == "s3://bucket/x.parquet"
    assert _restore_address(Path("a/b.csv")) == "a/b.csv"


def test_models_and_label_of_an_npz_are_chosen_by_name(run: Run, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, 60)
    good = np.where(truth == 1, 0.9, 0.1)
    np.savez(
        tmp_path / "s.npz",
        scores=np.stack([1 - good, good], axis=1),
        models=np.array(["bad", "good"]),
        labels=1 - truth,
        audited=truth,
    )
    file = str(tmp_path / "s.npz")
    options = ("--method", "labeled", "--metrics", "accuracy", "--json", "-")
    chosen = run("evaluate", file, "--label", "audited", "--models", "good", *options)
    (row,) = json.loads(chosen.stdout)["estimates"]
    assert (row["model"], row["estimate"]) == ("good", 1.0)
    missing = run("evaluate", file, "--label", "truth", *options)
    assert missing.exit_code == 2
    assert "'audited'" in missing.stderr


def test_the_address_of_a_local_file_is_read(run: Run, scores: Path) -> None:
    for address in (scores.as_uri(), f"file:{scores}"):
        assert run("evaluate", address, *FAST, "--label", "y").exit_code == 0


def test_a_gate_is_not_green_on_a_serious_warning_however_quiet(run: Run, tmp_path: Path) -> None:
    import pandas as pd

    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.random((100, 2)).round(3), columns=["a", "b"])
    frame["y"] = [1.0] + [np.nan] * 99
    path = tmp_path / "one.csv"
    frame.to_csv(path, index=False)
    gate = ("evaluate", path, *FAST, "--classes", "0,1", "-k", "accuracy", "-q", "--fail-under")
    red = run(*gate, "accuracy>=0.01")
    assert (red.exit_code, red.stdout) == (1, "")
    assert red.stderr.startswith("Failed: serious warning")
    told = run(*gate, "accuracy>=0.01", "--fail-on", "never")
    assert (told.exit_code, told.stdout) == (0, "")
    assert told.stderr.startswith("Passed despite a serious warning")
    assert run(*gate, "accuracy>=0.01", "--fail-on", "sometimes").exit_code == 2


def test_differences_and_the_choice_as_gates(run: Run, scores: Path) -> None:
    asked = ("evaluate", scores, "--method", "labeled", *MODELS, "-k", "accuracy", "-q")
    better = run(*asked, "--fail-under", "forest-coin:accuracy.low>=0", "--json", "-")
    assert better.exit_code == 0, better.output
    found = json.loads(better.stdout)
    assert found["gate"] == {"passed": True, "failures": [], "despite": [], "remarks": []}
    assert found["decision"]["pick"] == "forest"
    worse = run(*asked, "--fail-under", "coin-forest:accuracy.high>=0")
    assert worse.exit_code == 1
    assert "coin minus forest" in worse.stderr
    assert run(*asked, "--within", "0.9").exit_code == 0
    assert run(*asked, "--within", "-1").exit_code == 2


def test_a_margin_that_every_model_meets_is_no_gate(run: Run, scores: Path) -> None:
    asked = ("evaluate", scores, "--method", "labeled", *MODELS, "-k", "accuracy", "-q")
    points = run(*asked, "--fail-under", "forest:accuracy>=0.1", "--within", "5")
    assert points.exit_code == 2
    assert "--within must be below" in points.stderr
    assert "--fail-under" not in points.stderr


def test_costs_decide_and_choose_thresholds(run: Run, scores: Path) -> None:
    asked = ("evaluate", scores, *FAST, *MODELS, "-k", "accuracy")
    result = run(*asked, "--cost", "0,1;5,0", "--threshold-for", "cost", "--json", "-")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["decision"]["metric"] == "expected_cost"
    assert found["settings"]["metrics"] == ["expected_cost", "accuracy"]
    assert [pick["model"] for pick in found["thresholds"]["picks"]] == [
        "forest",
        "logistic",
        "coin",
    ]
    shown = run(*asked, "--threshold-for", "recall>=0.9", "--confidence", 0.8)
    assert "Thresholds for recall>=0.9, probability 0.8" in shown.stdout
    assert max(map(len, shown.stdout.splitlines())) <= 80


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--cost", "0,1;5"), "rows of 2, 1 numbers"),
        (("--cost", "a"), "a row for each true class"),
        (("--cost", "1,1;1,1"), "every entry of the cost matrix"),
        (("--cost", "0,1;1,0", "--utility", "0,1;1,0"), "were both given"),
        (("--threshold-for", "cost"), "without --cost"),
        (("--threshold-for", "recall>=7"), "recall>=7"),
        (("--threshold-for", "f1", "--confidence", "2"), "confidence"),
        (("--threshold-for", "f1", "--confidence", "0"), "confidence"),
        (("--threshold-for", "f1", "--within", "5"), "--within must be below"),
        (("--confidence", "0.9"), "--confidence 0.9 was given without --threshold-for"),
        (("--grades", "1,2"), "--grades was given, and no column of ratings is"),
        (("--cut", "1"), "--cut was given, and no column of ratings is named"),
        (("--unsure", "x"), "--unsure was given, and no column of answers or ratings"),
    ],
)
def test_bad_costs_and_goals(
    run: Run, scores: Path, arguments: tuple[str, ...], message: str
) -> None:
    result = run("evaluate", scores, *FAST, *MODELS, *arguments)
    assert result.exit_code == 2, result.output
    assert message in result.stderr


def test_thresholds_of_a_stream_are_said_to_be_of_the_sample(run: Run, tmp_path: Path) -> None:
    from tests.stream.worlds import binary_table, written

    place = written(binary_table(900, 60), tmp_path)
    asked = ("evaluate", place, *FAST, "--no-groups", "--engine", "stream", "--sample-rows")
    few = run(*asked, 200, "--threshold-for", "f1").stderr
    assert "come from a sample of 2" in few
    assert "of the sample of" not in run(*asked, 900, "--threshold-for", "f1").stderr
    assert "of the sample of" not in run(*asked, 200).stderr


def test_what_a_saved_config_does_not_hold_is_said(
    run: Run, scores: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(scores.parent)
    asked = ("evaluate", scores, *FAST, *MODELS, "-k", "accuracy")
    gated = run(*asked, "--fail-under", "accuracy>=0.01", "--together", "--save-config", "c.toml")
    assert "c.toml does not contain --fail-under, --together: repeat" in gated.stderr
    plain = run(*asked, "--save-config", "d.toml")
    assert "does not contain" not in plain.stderr


def test_a_corrected_shift_is_in_no_config(
    run: Run, scores: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(scores.parent)
    asked = ("evaluate", scores, "--method", "labeled", *MODELS, "-k", "accuracy")
    shift = ("--correct-shift", "covariate")
    found = json.loads(run(*asked, *shift, "--json", "-", "--html", "r.html").stdout)["settings"]
    assert found["config"] is None
    assert "--correct-shift covariate" in found["no_config"]
    assert "This run cannot be written to a config file" in Path("r.html").read_text(
        encoding="utf-8"
    )
    saved = run(*asked, *shift, "--save-config", "c.toml")
    assert saved.exit_code == 2
    assert "--correct-shift covariate was given with --save-config" in saved.stderr
    assert not Path("c.toml").exists()


def test_a_prevalence_keeps_all_its_digits(run: Run, scores: Path) -> None:
    asked = ("evaluate", scores, *FAST, *MODELS, "-k", "precision", "--json", "-")
    found = json.loads(run(*asked, "--prevalence", "0.123456789").stdout)
    assert found["estimates"][0]["metric"] == "precision~0.123456789"


def test_models_together(run: Run, scores: Path) -> None:
    asked = ("evaluate", scores, *FAST, *MODELS, "-k", "accuracy", "--together")
    result = run(*asked, "--json", "-")
    assert len(json.loads(result.stdout)["together"]["pairs"]) == 3
    assert "All 3 models are wrong on" in " ".join(result.stderr.split())
    assert max(map(len, run(*asked).stdout.splitlines())) <= 80


def test_prevalence_and_corrected_shift(run: Run, scores: Path) -> None:
    asked = ("evaluate", scores, "--method", "labeled", *MODELS, "-k", "accuracy,precision")
    result = run(*asked, "--prevalence", 0.03, "--correct-shift", "covariate", "--json", "-")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["settings"]["metrics"] == ["accuracy~0.03", "precision~0.03"]
    assert found["settings"]["corrected_shift"] == "covariate"
    assert "shift" in result.stderr
    for bad in (("--prevalence", 3), ("--correct-shift", "concept")):
        assert run(*asked, *bad).exit_code == 2
    rare = ("--prevalence", 0.03)
    for bad in (("--threshold-for", "precision>=0.9"), ("--cost", "0,1;5,0")):
        refused = run(*asked, *rare, *bad)
        assert refused.exit_code == 2
        assert bad[0] in refused.stderr


def test_the_stated_prevalence_says_which_metric_leads(run: Run, scores: Path) -> None:
    asked = ("evaluate", scores, "--method", "labeled", *MODELS, "--json", "-", "--prevalence")
    for share, first in ((0.03, "average_precision~0.03"), (0.5, "accuracy~0.5")):
        result = run(*asked, share)
        assert result.exit_code == 0, result.output
        assert json.loads(result.stdout)["settings"]["metrics"][0] == first
        assert ("A class is rare at a prevalence" in " ".join(result.stderr.split())) == (
            share == 0.03
        )


def test_gaps_that_are_asked_for_are_in_the_json(run: Run, scores: Path) -> None:
    asked = ("evaluate", scores, *FAST, *MODELS, "-k", "accuracy", "--gaps", "ratio,difference")
    result = run(*asked, "--groups", "site", "--json", "-")
    assert result.exit_code == 0, result.output
    found = [(gap["model"], gap["gap"]) for gap in json.loads(result.stdout)["gaps"]]
    assert len(found) == len(set(found)) == 6
    assert {gap for _, gap in found} == {"difference", "ratio"}
    none = run(*asked)
    assert none.exit_code == 2
    assert "--gaps: no groups are reported on" in none.stderr


def test_a_column_says_how_many_rows_each_label_stands_for(run: Run, scores: Path) -> None:
    frame = pd.read_csv(scores)
    frame["stands_for"] = np.where(frame["y"] == 1, 12.0, 3.0)
    frame.to_csv(scores, index=False)
    asked = ("evaluate", scores, "--method", "labeled", *MODELS, "-k", "accuracy", "--json", "-")
    weighted = run(*asked, "--design", "stands_for")
    assert weighted.exit_code == 0, weighted.output
    known = frame.dropna()
    right = (known["forest"] >= 0.5) == (known["y"] == 1)
    found = json.loads(weighted.stdout)["estimates"][0]
    assert found["estimate"] == pytest.approx(np.average(right, weights=known["stands_for"]))


def test_a_corrected_shift_is_not_undone_by_the_design(run: Run, scores: Path) -> None:
    asked = ("evaluate", scores, "--method", "labeled", *MODELS, "-k", "accuracy", "--json", "-")
    both, one, none = (
        json.loads(run(*asked, *more).stdout)["estimates"][0]["estimate"]
        for more in (
            ("--design", "random", "--correct-shift", "covariate"),
            ("--correct-shift", "covariate"),
            ("--design", "random"),
        )
    )
    assert both == one != none


def test_every_group_shows_where_models_are_many(run: Run, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    n, names = 300, [f"clinic of the quarter {k}" for k in range(9)]
    y = rng.integers(0, 2, n)
    frame = pd.DataFrame({"y": np.where(np.arange(n) < 60, y, np.nan)})
    for j in range(25):
        frame[f"a_model_with_a_long_name_{j}"] = 1 / (1 + np.exp(-(y - 0.5) - rng.normal(size=n)))
    frame["site"] = rng.choice(names, n)
    path = tmp_path / "many.csv"
    frame.to_csv(path, index=False)
    given = ("--groups", "site", "-y", "y", "-k", "accuracy", "--n-draws", "20")
    shown = run("evaluate", path, *given).stdout
    last = shown[shown.index("by site, worst group first") :]
    for name in names:
        assert name[-5:] in last, name
    assert max(map(len, shown.splitlines())) <= 80


def test_gaps_of_each_grouping_are_one_table_and_say_what_is_left_out(
    run: Run, tmp_path: Path
) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.random(120), "b": rng.random(120)})
    frame["y"] = np.where(np.arange(120) < 60, rng.integers(0, 2, 120).astype(float), np.nan)
    frame["sex"], frame["site"] = np.tile(["f", "m"], 60), np.tile(["x", "x", "y", "y"], 30)
    path = tmp_path / "groups.csv"
    frame.to_csv(path, index=False)
    asked = ("evaluate", path, "-y", "y", "--models", "a,b", "--method", "ensemble")
    told = run(*asked, "-g", "sex", "-g", "sex+site", "-k", "accuracy").stdout
    assert told.count("\nGaps between groups of ") == 1
    assert "by sex+site" in told
    assert " ".join(told.split()).count("simultaneous over all pairs of groups") == 1
    assert "f & x" in told


def test_the_terminal_says_which_model_to_take(run: Run, scores: Path) -> None:
    asked = ("evaluate", scores, "--method", "labeled", *MODELS, "-k", "accuracy")
    told = " ".join(run(*asked).stdout.split())
    assert "Which model? forest: highest accuracy" in told
    assert "not calibrated" not in told
    alone = run("evaluate", scores, "--method", "labeled", "--models", "forest", *asked[-2:])
    assert "the only one that was evaluated." in " ".join(alone.stdout.split())


def test_names_of_groups_are_whole_beside_a_long_metric(run: Run, scores: Path) -> None:
    frame = pd.read_csv(scores)
    frame["site"] = frame["site"].replace("north", "emergency")
    frame.to_csv(scores, index=False)
    asked = ("--groups", "site", "--metrics", "average_precision", "--n-draws", "9")
    result = run("evaluate", scores, "--label", "y", "--method", "ensemble", *asked)
    by_site = result.stdout.split("by site, worst group first")[1]
    assert "emergency " in by_site
    assert max(map(len, by_site.splitlines())) <= 80


def test_the_positive_class_is_asked_for_and_written(run: Run, tmp_path: Path) -> None:
    """Text classes in no order: what needs none runs, what needs one is refused by name."""
    path, table = tmp_path / "long.csv", make_long(("ham", "spam"))
    table.to_csv(path, index=False)
    result = run("evaluate", path, "--method", "labeled", "--csv", tmp_path / "a.csv")
    assert result.exit_code == 0
    assert result.stderr.count("so ece and average_precision are left out") == 1
    assert "--positive" in result.stderr
    assert pd.read_csv(tmp_path / "a.csv")["positive_class"].isna().all()
    gate = run("evaluate", path, "--fail-under", "recall>=0.01", "--method", "labeled")
    assert gate.exit_code == 2
    assert "recall needs the positive class" in gate.stderr
    goals = ("--threshold-for", "f1"), ("--threshold", "0.3"), ("--cost", "0,1;10,0")
    for option in (*goals, ("--prevalence", "0.1"), ("--metrics", "recall")):
        refused = run("evaluate", path, "--method", "labeled", *option)
        assert refused.exit_code == 2, option
        assert "the positive class" in refused.stderr, option
    named = ("--positive", "spam", "--metrics", "recall", "--method", "labeled")
    result = run("evaluate", path, *named, "--csv", tmp_path / "b.csv", "--json", tmp_path / "b")
    assert set(pd.read_csv(tmp_path / "b.csv")["positive_class"]) == {"spam"}
    assert json.loads((tmp_path / "b").read_text())["settings"]["positive"] == "spam"
    assert "name it with --positive" in " ".join(run("doctor", path).stdout.split())
    told = run("compare", path, "--methods", "labeled,ensemble").stderr
    assert told.count("are left out") == 1


def test_a_gate_does_not_depend_on_the_order_of_rows(run: Run, tmp_path: Path) -> None:
    table, path = make_long(("no", "yes")), tmp_path / "long.csv"
    codes = set()
    for seed in range(3):
        table.sample(frac=1.0, random_state=seed).to_csv(path, index=False)
        gate = ("--fail-under", "recall>=0.85", "--fail-on", "never", "--method", "labeled")
        codes.add(run("evaluate", path, *gate).exit_code)
    assert len(codes) == 1


def test_a_benchmark_refuses_metrics_of_an_unknown_positive_class(run: Run, tmp_path: Path) -> None:
    table, path = make_long(("ham", "spam")), tmp_path / "long.csv"
    table["label"] = np.where(table["id"] % 2 == 0, "ham", "spam")
    table.to_csv(path, index=False)
    options = ("bench", path, "--methods", "labeled", "-n", "10", "--runs", "1")
    refused = run(*options, "--metrics", "recall")
    assert refused.exit_code == 2
    assert "recall needs the positive class" in refused.stderr
    usual = run(*options)
    assert usual.exit_code == 0
    assert "are left out" in usual.stderr


def test_many_models_at_their_thresholds_are_cut_and_the_rest_is_told(
    run: Run, tmp_path: Path
) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    names = [f"a model with the long name {j}" for j in range(22)]
    logits = 2.0 * (y[:, None] - 0.5) + rng.normal(size=(200, 22))
    frame = pd.DataFrame(1.0 / (1.0 + np.exp(-logits)), columns=names)
    frame["y"] = np.where(np.arange(200) < 60, y, np.nan)
    frame.to_csv(tmp_path / "many.csv", index=False)
    asked = ("evaluate", tmp_path / "many.csv", *FAST, "-k", "accuracy", "--threshold-for", "f1")
    few = run(*asked)
    assert few.exit_code == 0, few.output
    assert "2 more rows: --all shows them, --json FILE keeps them" in few.stdout
    assert max(map(len, few.stdout.splitlines())) <= 80
    assert "--json FILE keeps them" not in run(*asked, "--all").stdout
