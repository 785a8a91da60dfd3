"""The command refuses files that the reader refuses, with exit code 2."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from tests.data.readers.test_refused import FILES


@pytest.mark.parametrize("kind", [kind for kind, (_, options, _) in FILES.items() if not options])
def test_a_refused_file_exits_with_2(kind: str, run: Callable[..., Result], tmp_path: Path) -> None:
    result = run("evaluate", FILES[kind][0](tmp_path), "--method", "ensemble")
    assert result.exit_code == 2
    assert "Error: " in result.stderr
    assert "Traceback" not in result.stderr
