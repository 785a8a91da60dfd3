"""``ssme serve``: a local page to label rows by hand and see the estimates."""

from __future__ import annotations

from dataclasses import asdict, field, make_dataclass
from typing import Annotated, Any

import typer

from ssme.cli.plain import start
from ssme.cli.program import register_command
from ssme.serve.arguments import ARGUMENTS, FILE, Argument

__all__ = ["serve"]


def _declare(each: Argument) -> tuple[str, Any, Any]:
    """An argument as a field that the parser understands."""
    kind: Any = each.kind if each.default is not None else each.kind | None
    if each is FILE:
        told = typer.Argument(help=each.help, show_default=False)
    else:
        flags = filter(None, (each.flag, each.short))
        told = typer.Option(*flags, help=each.help, rich_help_panel=each.panel)
    return each.name, Annotated[kind, told], field(default=each.default)


Asked = make_dataclass("Asked", [_declare(each) for each in ARGUMENTS], frozen=True)


def serve(asked: Any) -> None:
    """Open a page on this machine to label rows by hand and see the estimates.

    Example:

    [cyan]ssme serve scores.csv[/cyan]
    """
    start(asdict(asked))


serve.__annotations__["asked"] = Asked
register_command("Evaluate")(serve)
