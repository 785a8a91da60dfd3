"""The command ``ssme``: parse, call, show. Importing a module below registers its commands."""

from __future__ import annotations

import sys

from ssme.cli import bench as bench
from ssme.cli import compare as compare
from ssme.cli import demo as demo
from ssme.cli import doctor as doctor
from ssme.cli import evaluate as evaluate
from ssme.cli import explain as explain
from ssme.cli import methods as methods
from ssme.cli import metrics as metrics
from ssme.cli import report as report
from ssme.cli import serve as serve
from ssme.cli import suggest as suggest
from ssme.cli import track as track
from ssme.cli.program import app as app
from ssme.cli.program import main as run


def main() -> None:
    """Entry point of the command ``ssme``."""
    try:
        run()
    except KeyboardInterrupt:  # before a command began, or after it ended
        sys.exit(130)
