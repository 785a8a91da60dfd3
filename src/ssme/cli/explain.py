"""``ssme explain``: what each warning of an evaluation means."""

from __future__ import annotations

import re
from typing import Annotated

import typer

from ssme.cli.options import OutputOptions
from ssme.cli.output import Output, format_json
from ssme.cli.program import register_command
from ssme.writing import format_csv


@register_command("Look up")
def explain(
    out: OutputOptions,
    code: Annotated[
        str | None,
        typer.Argument(help="Code of a warning to explain, such as D104.", show_default=False),
    ] = None,
) -> None:
    """List the warnings that an evaluation may raise, or explain one.

    Examples:

    [cyan]ssme explain[/cyan]

    [cyan]ssme explain D104[/cyan]
    """
    from rich.markdown import Markdown
    from rich.text import Text

    from ssme.diagnostics import explain as read_page
    from ssme.diagnostics.page import read_sections
    from ssme.show.terminal import make_table

    output = Output(out)
    explained = None if code is None else read_page(code)
    facts = [
        {
            "code": key,
            "title": section.title,
            "severity": section.severity,
            "advice": section.advice,
            "explanation": section.text,
        }
        for key, section in sorted(read_sections().items())
        if code is None or key == code.upper()
    ]
    output.write(out.json, format_json(facts if code is None else facts[0]))
    output.write(out.csv, format_csv(facts))
    if explained is not None:
        output.console.print(Text(f"{facts[0]['code']} {facts[0]['title']}\n", style="bold"))
        plain = re.sub(r"\[([^\]]+)\]\(#[^)]*\)", r"\1", explained)  # links within the page
        output.console.print(Markdown(plain, hyperlinks=False))
        output.console.print(Text(f"\nWhat to do: {facts[0]['advice']}"))
        return
    table = make_table(None, "code", "severity", "warning")
    for each in facts:
        table.add_row(each["code"], each["severity"], each["title"])
    output.console.print(table)
    output.console.print("\n`ssme explain CODE` explains one.", markup=False)
