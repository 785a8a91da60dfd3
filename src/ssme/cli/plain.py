"""A plain ``ssme serve``, started before the parser and the library are imported.

What cannot be read plainly, help among it, is left to the program; so is saying what went wrong.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from ssme.serve.arguments import ARGUMENTS, make_settings, read_plainly

__all__ = ["make_streams_lenient", "serve_plainly", "start"]


def serve_plainly(words: Sequence[str]) -> None:
    """Serve and exit as ``words`` ask; return at once where the program has to read them."""
    given = None if "_SSME_COMPLETE" in os.environ else read_plainly(words)
    if given is None:
        return
    make_streams_lenient()
    try:
        start(given)
    except BaseException as error:
        from ssme.cli.program import end_with

        end_with(error, {each.name: each.flag for each in ARGUMENTS})
    sys.exit(0)


def start(given: Mapping[str, Any]) -> None:
    """Serve as the arguments ask, until it is interrupted."""
    from ssme.serve.server import run_server

    settings = make_settings(given)
    run_server(settings, _say, file=given["file"], open_browser=not given["no_browser"])


def make_streams_lenient() -> None:
    """Let what the terminal's encoding cannot write be escaped rather than refused.

    A stream that was closed before the program began leads nowhere: notes for a closed stderr
    would otherwise end up in a result on stdout.
    """
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8"))
        stream = getattr(sys, name)
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _say(line: str) -> None:
    print(line, flush=True)
