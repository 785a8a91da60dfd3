"""``ssme report``: from a file of scores to a report to send on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ssme.cli.evaluate import evaluate_asked, exit_by_gate
from ssme.cli.options import (
    AskFlags,
    ConfigOption,
    EngineOptions,
    FileArgument,
    ReadFlags,
    RunOptions,
    WriteOptions,
)
from ssme.cli.output import Output
from ssme.cli.program import register_command
from ssme.errors import InputError, name_argument

SUFFIXES = (".html", ".htm", ".md", ".json")


@register_command("Evaluate")
def report(
    read: ReadFlags,
    run: RunOptions,
    engine: EngineOptions,
    ask: AskFlags,
    out: WriteOptions,
    file: FileArgument = None,
    output_file: Annotated[
        Path,
        typer.Option("--output", "-o", help="File to write the report to: .html, .md or .json."),
    ] = Path("report.html"),
    title: Annotated[str | None, typer.Option("--title", help="Heading of the report.")] = None,
    target: Annotated[
        str | None,
        typer.Option(
            "--target",
            help="Target for which the report plans and draws the number of labels: "
            '"width(accuracy)<=0.05", '
            '"P(best)>=0.95" or "regret<=0.005".',
        ),
    ] = None,
    memory: Annotated[
        Path | None,
        typer.Option(
            "--memory",
            help="Memory of `ssme track`; the report then says what changed since its evaluations.",
        ),
    ] = None,
    name: Annotated[
        str, typer.Option("--data", help="Name of the data in the memory.")
    ] = "default",
    config: ConfigOption = None,
) -> None:
    """Evaluate a file of scores and write a report that opens in any browser.

    It takes the same options as `ssme evaluate`, and the report contains all that they ask for.

    Examples:

    [cyan]ssme report scores.csv --label y -o report.html[/cyan]

    [cyan]ssme report scores.csv --label y --threshold-for "recall>=0.9" -o report.md[/cyan]
    """
    from ssme.memory import refuse_no_memory
    from ssme.results.plan import parse_target
    from ssme.show.charts import can_draw

    output = Output(out, {"output_file": output_file})
    if output_file.suffix.lower() not in SUFFIXES:
        must = "end in .html, .htm, .md or .json"
        raise InputError(option="output_file", value=str(output_file), must=must)
    if memory is not None:
        with name_argument("memory"):
            refuse_no_memory(memory, new=False)
    if target is not None:
        parse_target(target)
    result = evaluate_asked(file, read, run, engine, ask, config, output, also_read=[memory])
    with output.show_progress("drawing"):
        result.report(output_file, title=title, target=target, memory=memory, data=name)
    output.console.print(f"Wrote {output_file}", markup=False)
    if output_file.suffix.lower() in (".html", ".htm") and not can_draw():
        output.note("It has no pictures: pip install 'ssme[report]' adds them.")
    exit_by_gate(result, output)
