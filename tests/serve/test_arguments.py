"""The command line of ``ssme serve``: read plainly, it says what the parser would."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from ssme.cli import app, main
from ssme.serve.arguments import ARGUMENTS, read_plainly
from ssme.serve.settings import ServeSettings

PLAIN = (
    "",
    "scores.csv",
    "--port 0 scores.csv --no-browser",
    "-p folder --read-only",
    "--project=folder --batch=3 --upload-mb 5 --job-seconds 7 --job-mb 200",
    "--root . --host localhost",
    "--host=::1",
)
NOT_PLAIN = (
    "--help",
    "-h",
    "--port",
    "--port -1",
    "--port=",
    "--port many",
    "--port 1 --port 2",
    "a.csv b.csv",
    "--no-browser=yes",
    "-pfolder",
    "-p=folder",
    "--ports 1",
    "-- a.csv",
    "--port ٣",
)


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What the server was asked to do; it is not started."""
    found: list[Any] = []

    def keep(settings: ServeSettings, _: Any, **more: Any) -> None:
        found.append((settings, more))

    monkeypatch.setattr("ssme.serve.server.run_server", keep)
    return found


@pytest.mark.parametrize("line", PLAIN)
def test_a_plain_command_line_says_what_the_parser_reads(
    line: str, served: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["ssme", "serve", *line.split()])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 0
    assert CliRunner().invoke(app, ["serve", *line.split()]).exit_code == 0
    plain, parsed = served
    assert plain == parsed


@pytest.mark.parametrize("line", NOT_PLAIN)
def test_what_is_not_plain_is_left_to_the_parser(line: str) -> None:
    assert read_plainly(line.split(" ")) is None


def test_a_plain_line_that_cannot_be_served_ends_as_the_program_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["ssme", "serve", "--job-mb", "1"])
    with pytest.raises(SystemExit) as end:
        main()
    said = CliRunner().invoke(app, ["serve", "--job-mb", "1"])
    assert (end.value.code, capsys.readouterr().err) == (said.exit_code, said.output)
    assert said.exit_code == 2
    assert "--job-mb" in said.output


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (KeyboardInterrupt(), 130, "Interrupted. Every file is whole"),
        (OSError("the disk is full"), 2, "Error: the disk is full"),
        (ZeroDivisionError("oh"), 70, "Traceback"),
    ],
)
def test_a_server_that_ends_in_an_error_says_so(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    error: BaseException,
    code: int,
    said: str,
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr("ssme.serve.server.run_server", fail)
    monkeypatch.setattr(sys, "argv", ["ssme", "serve"])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == code
    assert capsys.readouterr().err.startswith(said)


def test_every_argument_of_the_settings_can_be_given() -> None:
    given = {each.name for each in ARGUMENTS}
    assert set(ServeSettings.__dataclass_fields__) - {"password"} <= given
