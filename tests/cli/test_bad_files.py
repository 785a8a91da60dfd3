"""The command refuses bad files in the words of the reader, with exit code 2."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from ssme.cli.program import in_options
from tests.data.readers.bad_files import CASES, BadFile


@pytest.mark.parametrize("case", [c for c in CASES if not c.options], ids=lambda case: case.kind)
def test_the_command_says_the_same_and_exits_with_2(
    case: BadFile, run: Callable[..., Result], tmp_path: Path
) -> None:
    result = run("evaluate", case.make(tmp_path), "--method", "ensemble")
    told = "".join(result.stderr.split())
    assert result.exit_code == 2
    for part in (case.got, case.allowed, case.fix):
        assert "".join(in_options(part).split()) in told
    assert "Traceback" not in result.stderr
