"""The command ``ssme``: parse, call, show. Importing a module below registers its commands."""

from __future__ import annotations

import sys

from ssme.cli import compare as compare
from ssme.cli import convert as convert
from ssme.cli import demo as demo
from ssme.cli import doctor as doctor
from ssme.cli import evaluate as evaluate
from ssme.cli import label as label
from ssme.cli import lookup as lookup
from ssme.cli import systems as systems
from ssme.cli import track as track
from ssme.cli.program import app as app
from ssme.cli.program import main as run


def main() -> None:
    """Entry point of the command ``ssme``."""
    try:
        run()
    except KeyboardInterrupt:  # before a command began, or after it ended
        sys.exit(130)
