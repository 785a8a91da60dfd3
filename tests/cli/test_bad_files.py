"""The command refuses bad files in the words of the reader, with exit code 2."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

import ssme
from ssme.cli.options import spell_with
from ssme.data.readers.options import ReadOptions
from ssme.errors import InputError
from ssme.options import list_declared
from tests.data.readers.bad_files import CASES, BadFile

OTHERS = {
    "groups": "--group",
    "labels": "--labels-file",
    "class_": "--class",
    "engine": "--engine",
}
SPELLING = spell_with({each.name: f"--{each.name}" for each in list_declared(ReadOptions)} | OTHERS)


@pytest.mark.parametrize("case", [c for c in CASES if not c.options], ids=lambda case: case.kind)
def test_the_command_says_the_same_and_exits_with_2(
    case: BadFile, run: Callable[..., Result], tmp_path: Path
) -> None:
    path = case.make(tmp_path)
    with pytest.raises((InputError, OSError)) as caught:
        ssme.ScoreSet.read(path)
    result = run("evaluate", path, "--method", "ensemble")
    assert result.exit_code == 2
    told = caught.value
    words = told.spell(SPELLING) if isinstance(told, InputError) else str(told)
    assert f"Error: {words}\n" in result.stderr
    assert "Traceback" not in result.stderr
