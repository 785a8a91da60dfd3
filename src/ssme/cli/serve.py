"""``ssme serve``: a local page to label rows by hand and see the estimates."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, TypeAlias

from ssme.cli.options import FileArgument, make_flags
from ssme.cli.program import register_command
from ssme.options import list_declared
from ssme.schema import ServeOptions

if TYPE_CHECKING:
    ServeFlags: TypeAlias = Any
else:
    ServeFlags = make_flags("ServeFlags", list_declared(ServeOptions))


@register_command("Evaluate")
def serve(options: ServeFlags, file: FileArgument = None) -> None:
    """Open a page on this machine to label rows by hand and see the estimates.

    Example:

    [cyan]ssme serve scores.csv[/cyan]
    """
    from ssme.serve.server import run_server
    from ssme.serve.settings import ServeSettings

    given = {name: value for name, value in asdict(options).items() if value is not None}
    run_server(ServeSettings(**given), lambda line: print(line, flush=True), file=file)
