"""The program called over and over in one process, its commands built once."""

from __future__ import annotations

import inspect
from functools import cache
from typing import Any
from unittest.mock import patch

from typer import Typer
from typer.main import get_command
from typer.testing import CliRunner, Result


class ProgramRunner(CliRunner):
    """A runner that keeps the commands of an app: to build them takes longer than most calls."""

    def invoke(self, app: Typer, *args: Any, **options: Any) -> Result:  # type: ignore[override]
        """Call the program with its arguments, as ``typer.testing.CliRunner`` does."""
        with patch("typer.testing._get_command", _build_commands):
            return super().invoke(app, *args, **options)


def make_runner() -> ProgramRunner:
    """A runner that keeps stdout and stderr apart, which older ones have to be told."""
    apart = "mix_stderr" in inspect.signature(CliRunner).parameters
    return ProgramRunner(**({"mix_stderr": False} if apart else {}))


@cache
def _build_commands(app: Typer) -> Any:
    return get_command(app)
