"""Files, streams and exit codes: nothing lost, nothing obeyed, nothing half said."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import Result

import ssme

Run = Callable[..., Result]
FAST = ("--method", "ensemble", "--n-draws", "5", "--metrics", "accuracy")
ESCAPE = "\x1b]0;title\x07\x1b[31m"


def start(*arguments: object, **environment: str) -> subprocess.Popen[bytes]:
    """The program as a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "ssme", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={
            **os.environ,
            "PYTHONPATH": str(Path(ssme.__file__).parents[1]),
            "PYTHONWARNINGS": "",
            **environment,
        },
    )


def finish(process: subprocess.Popen[bytes]) -> tuple[int, bytes, bytes]:
    out, err = process.communicate(timeout=120)
    return process.returncode, out, err


@pytest.mark.parametrize("arguments", [("metrics",), ("metrics", "--json", "-"), ("--help",)])
def test_a_reader_that_goes_away_ends_the_program_as_it_ends_others(
    arguments: tuple[str, ...],
) -> None:
    process = start(*arguments)
    assert process.stdout is not None
    process.stdout.close()
    process.stdout = None
    code, _, err = finish(process)
    assert (code, err) == (141, b"")


def test_a_reader_that_goes_away_loses_no_round_of_labels(scores: Path, tmp_path: Path) -> None:
    labels = tmp_path / "labels.csv"
    frame = pd.read_csv(scores).assign(id=range(400))
    frame.to_csv(scores, index=False)
    asked = ("--target", "width(accuracy)<=0.001", "--simulations", "2", "--labels-file", labels)
    process = start("next", scores, "--label", "y", "--method", "ensemble", "-n", "7", *asked)
    assert process.stdout is not None
    process.stdout.close()
    process.stdout = None
    code, _, err = finish(process)
    assert code == 141, err
    assert len(pd.read_csv(labels)) == 7


def test_an_html_report_has_a_name_of_html(run: Run, scores: Path, tmp_path: Path) -> None:
    target = tmp_path / "report.pdf"
    result = run("evaluate", scores, "--label", "y", *FAST, "--html", target)
    assert result.exit_code == 2
    assert "--html must end in .html or .htm" in " ".join(result.stderr.split())
    assert not target.exists()


def start_with_closed(stream: int, *arguments: object) -> tuple[int, bytes, bytes]:
    """The program, one of whose streams was closed before it began."""
    command = [sys.executable, "-m", "ssme", *map(str, arguments)]
    found = {**os.environ, "PYTHONPATH": str(Path(ssme.__file__).parents[1])}
    done = subprocess.run(
        ["sh", "-c", f'exec "$@" {stream}>&-', "sh", *command],
        capture_output=True,
        env=found,
        timeout=120,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def test_streams_that_are_closed(scores: Path) -> None:
    code, out, _ = start_with_closed(
        2, "evaluate", scores, *FAST, "--groups", "site", "--json", "-"
    )
    assert code == 0
    assert len(json.loads(out)["estimates"]) == 9
    code, _, err = start_with_closed(1, "metrics", "--json", "-")
    assert code == 2
    assert b"Error: --json sends its result to stdout, which is closed" in err
    assert start_with_closed(1, "metrics") == (0, b"", b"")


def test_an_interruption_before_the_command_began(monkeypatch: pytest.MonkeyPatch) -> None:
    from ssme import cli

    def interrupt() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "run", interrupt)
    with pytest.raises(SystemExit) as caught:
        cli.main()
    assert caught.value.code == 130


@pytest.mark.parametrize(
    ("arguments", "width"),
    [(("metrics",), "0"), (("metrics", "--help"), "0"), (("metrics",), "3"), (("none",), "wide")],
)
def test_a_width_in_which_nothing_fits_is_not_believed(
    arguments: tuple[str, ...], width: str
) -> None:
    code, out, err = finish(start(*arguments, COLUMNS=width))
    assert code == (2 if "none" in arguments else 0)
    assert len(out + err) > 30


def test_no_number_is_cut_in_a_narrow_terminal(scores: Path) -> None:
    arguments = ("evaluate", scores, "--groups", "site", *FAST)
    wide = finish(start(*arguments, COLUMNS="80"))
    narrow = finish(start(*arguments, COLUMNS="30"))
    assert narrow[:2] == wide[:2]
    assert "…".encode() not in narrow[1]


def test_what_stdout_cannot_encode_is_escaped(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    path.write_text("label,модель,b\n1,0.9,0.8\n0,0.2,0.3\n,0.8,0.4\n", encoding="utf-8")
    environment = {"PYTHONIOENCODING": "ascii", "LC_ALL": "C", "PYTHONUTF8": "0"}
    code, out, err = finish(start("evaluate", path, *FAST, **environment))
    assert code == 0, err
    assert rb"\u043c" in out
    code, out, _ = finish(start("evaluate", path, *FAST, "--json", "-", **environment))
    assert code == 0
    assert json.loads(out.decode("utf-8"))["estimates"][0]["model"] == "модель"


def test_a_fault_of_the_program_is_no_failed_condition(tmp_path: Path) -> None:
    code = (
        "from ssme.cli import program; import ssme.metrics; "
        "ssme.metrics.metric_names = None; import sys; sys.argv = ['ssme', 'metrics']; "
        "program.main()"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(ssme.__file__).parents[1])}
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, env=environment)
    assert found.returncode == 70
    assert b"Traceback" in found.stderr


@pytest.mark.parametrize(
    "names", [("x", "x"), ("x", "./x"), ("x", "link"), ("-", "/dev/stdout"), ("-", "-")]
)
def test_two_results_in_one_place_are_refused_before_any_work(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, names: tuple[str, str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("link").symlink_to("x")
    result = run("evaluate", "nowhere.csv", "--json", names[0], "--csv", names[1])
    assert result.exit_code == 2
    assert "send two results to" in result.stderr
    assert sorted(os.listdir()) == ["link"]


def test_a_saved_config_and_a_report_count_as_results(run: Run, tmp_path: Path) -> None:
    target = tmp_path / "x.json"
    both = ("--save-config", target, "--json", target)
    assert "send two results to" in run("evaluate", "nowhere.csv", *both).stderr
    (tmp_path / "r.html").write_text("old")
    told = run("report", "nowhere.csv", "-o", tmp_path / "r.html").stderr
    assert "r.html exists" in told
    assert "end in .html" in run("report", "nowhere.csv", "-o", tmp_path / "r.doc").stderr


def test_what_is_read_is_not_written_over_even_by_force(run: Run, scores: Path) -> None:
    before = scores.read_bytes()
    for option in ("--json", "--csv", "--html", "--save-config"):
        result = run("evaluate", scores, *FAST, "--groups", "site", option, scores, "--force")
        assert result.exit_code == 2
        assert scores.read_bytes() == before
    assert run("doctor", scores, "--json", scores, "--force").exit_code == 2
    assert scores.read_bytes() == before


@pytest.mark.parametrize("asked", ["*.parquet", "", "part0.parquet"])
def test_streamed_files_are_not_written_over_even_by_force(
    run: Run, tmp_path: Path, asked: str
) -> None:
    from tests.stream.worlds import binary_table, written

    written(binary_table(60, 20), tmp_path)
    target = tmp_path / "part0.parquet"
    before = target.read_bytes()
    for option in ("--json", "--csv"):
        told = run("evaluate", tmp_path / asked, "--engine", "stream", option, target, "--force")
        assert told.exit_code == 2
        assert f"would be read and then overwritten by {option}" in told.stderr
    assert target.read_bytes() == before


def test_a_config_and_a_checkpoint_are_not_written_over(run: Run, scores: Path) -> None:
    kept = scores.parent / "run.toml"
    kept.write_text('[run]\nmethod = "ensemble"\n', encoding="utf-8")
    for option in ("--save-config", "--json"):
        told = run("evaluate", scores, "--config", kept, option, kept, "--force")
        assert told.exit_code == 2
        assert f"overwritten by {option}" in told.stderr
    assert kept.read_text(encoding="utf-8").endswith('"ensemble"\n')
    place = ("--checkpoint", scores.parent / "x.json", "--json", scores.parent / "x.json")
    told = run("evaluate", scores, "--engine", "stream", *place)
    assert "x.json would be read and then overwritten by --json" in told.stderr


def test_cells_that_a_spreadsheet_would_run_are_text(run: Run, tmp_path: Path) -> None:
    names = ['=HYPERLINK("http://x")', "+1+2", "@sum", "-2+3", " =1", "\t=1", "a\rb", "-1"]
    path = tmp_path / "s.csv"
    with path.open("w", newline="") as file:
        lines = csv.writer(file)
        lines.writerow(["label", *names])
        lines.writerows([i % 2, *[0.1 + 0.8 * (i % 2)] * len(names)] for i in range(6))
    out = tmp_path / "out.csv"
    result = run("evaluate", path, "--label", "label", *FAST, "--csv", out)
    assert result.exit_code == 0, result.output
    written = out.read_bytes().decode()
    rows = list(csv.DictReader(io.StringIO(written, newline="")))
    assert len(rows) == len(names)
    assert not any(row["model"].lstrip()[:1] in "=+@" for row in rows)
    assert {"'-2+3", "-1", "a\rb"} <= {row["model"] for row in rows}
    assert '"a\rb"' in written


def test_escapes_in_names_reach_neither_stdout_nor_stderr(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    name = f"{ESCAPE}s.csv"
    lines = [f"{ESCAPE}y,{ESCAPE}m,{ESCAPE}left,group_{ESCAPE}g"]
    lines += [f"{i % 2},{0.2 + 0.6 * (i % 2)},text,{ESCAPE}north" for i in range(8)]
    Path(name).write_text("\n".join(lines))
    asked = ("--label", f"{ESCAPE}y", "--models", f"{ESCAPE}m")
    out = f"{ESCAPE}out"
    seen = []
    for arguments in (
        ("evaluate", name, *asked, *FAST, "--json", out, "--fail-under", "accuracy>=1"),
        ("evaluate", name, *asked, *FAST, "--json", out),
        ("evaluate", name, "--label", f"{ESCAPE}z"),
        ("evaluate", name, "--method", ESCAPE),
        ("evaluate", name, *asked, "--level", ESCAPE),
        ("evaluate", name, f"--{ESCAPE}", "1"),
        ("evaluate", f"{ESCAPE}none.csv"),
        ("doctor", name, *asked),
        ("compare", name, *asked, "--methods", "ensemble,labeled", "--metrics", "accuracy"),
        ("report", name, *asked, *FAST, "-o", f"{ESCAPE}r.md"),
        (ESCAPE,),
    ):
        result = run(*arguments)
        assert "Traceback" not in result.output
        assert "\x1b" not in result.stdout
        assert "\x1b" not in result.stderr
        assert "\x07" not in result.output
        seen.append(result.output)
    assert r"\x1b[31m" in "".join(seen)


def test_usage_errors_name_the_option_and_exit_2(run: Run) -> None:
    for arguments in (("evaluate", "x.csv", "--level", "much"), ("evaluate", "--nothing")):
        result = run(*arguments)
        assert result.exit_code == 2
        assert result.stderr.startswith("Error: ")
        assert arguments[-2 if len(arguments) > 2 else -1] in result.stderr
        cure = "must be a number between 0 and 1" if "much" in arguments else "ssme evaluate --help"
        assert cure in result.stderr


def test_a_full_disk_is_said_with_the_name_of_the_file(
    run: Run, scores: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import errno

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    target = tmp_path / "out.json"
    target.write_text("old")
    monkeypatch.setattr(os, "fsync", full)
    asked = ("evaluate", scores, *FAST, "--groups", "site", "--json", target, "--force")
    result = run(*asked)
    assert result.exit_code == 2
    assert "No space left on device" in result.stderr
    assert "out.json" in result.stderr
    assert target.read_text() == "old"


def test_an_interruption_is_said(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr("ssme.cli.output.format_json", stop)
    ended = run("explain", "--json", "-")
    assert ended.exit_code == 130
    assert "Interrupted. Every file is whole" in ended.stderr
