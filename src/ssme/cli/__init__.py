"""The command ``ssme``: parse, call, show.

``ssme serve`` has somebody waiting for its first page, so that a plain one is read without the
parser (`ssme.cli.plain`); `ssme.cli.commands` has all the others.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ssme.cli.commands import app

__all__ = ["app", "main"]


def main() -> None:
    """Entry point of the command ``ssme``."""
    try:
        if sys.argv[1:2] == ["serve"]:
            from ssme.cli.plain import serve_plainly

            serve_plainly(sys.argv[2:])
        from ssme.cli.commands import main as run

        run()
    except KeyboardInterrupt:  # before a command began, or after it ended
        sys.exit(130)


def __getattr__(name: str) -> Any:
    """Import the program on first use: a plain ``ssme serve`` does without."""
    if name == "app":
        from ssme.cli.commands import app as found

        return found
    raise AttributeError(f"module 'ssme.cli' has no attribute {name!r}")
