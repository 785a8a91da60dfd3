"""The command ``ssme``: parse, call, show."""

from __future__ import annotations

import sys

from ssme.cli.commands import app
from ssme.cli.commands import main as run

__all__ = ["app", "main"]


def main() -> None:
    """Entry point of the command ``ssme``."""
    try:
        run()
    except KeyboardInterrupt:  # before a command began, or after it ended
        sys.exit(130)
