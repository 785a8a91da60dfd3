"""``ssme evaluate``: a file of scores in, a table of estimates out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ssme.cli import conditions
from ssme.cli.options import (
    OUT,
    EngineOptions,
    FileArgument,
    ReadOptions,
    ReportOptions,
    RunOptions,
)
from ssme.cli.output import Output, csv_text, json_text
from ssme.cli.program import CONDITION_FAILED, command, say
from ssme.cli.run import Run
from ssme.config import write_config
from ssme.errors import InputError

if TYPE_CHECKING:
    from ssme.evaluation import Evaluation

__all__ = ["evaluate", "show"]


@command("Evaluate")
def evaluate(
    read: ReadOptions,
    run: RunOptions,
    engine: EngineOptions,
    out: ReportOptions,
    file: FileArgument = None,
    fail_under: Annotated[
        list[str] | None,
        typer.Option(
            "--fail-under",
            help='Exit 1 unless this holds: "accuracy>=0.9", "accuracy.low>=0.9" for the lower '
            'end of the interval, "forest:ece<=0.05" for one model (repeatable).',
        ),
    ] = None,
    config: Annotated[
        Path | None, typer.Option("--config", "-c", help="TOML, YAML or JSON file of options.")
    ] = None,
    save_config: Annotated[
        Path | None, typer.Option("--save-config", help="Write these options to a config file.")
    ] = None,
    show_all: Annotated[
        bool, typer.Option("--all", help="Print every model.", rich_help_panel=OUT)
    ] = False,
) -> None:
    """Estimate every classifier's metrics from few labels and many unlabeled rows.

    Examples:

    [cyan]ssme evaluate scores.csv --label y --models forest,logistic[/cyan]

    [cyan]ssme evaluate scores.parquet -y label -g hospital --metric accuracy,ece --json -[/cyan]

    [cyan]ssme evaluate scores.csv -y label --fail-under "accuracy.low>=0.9"[/cyan]

    [cyan]ssme evaluate 'parts/*.parquet' -y label --engine stream[/cyan]

    [cyan]ssme evaluate --config run.toml[/cyan]
    """
    output = Output(out, (save_config,))
    demands = [conditions.parse(text) for text in fail_under or []]
    task = Run.gather(file, read, run, config, engine)
    output.refuse_inputs(task.inputs)
    if save_config is not None:
        write_config(task.config, save_config)
    result = _streamed(task, output, demands) if task.streams else _held(task, output, demands)
    failed = conditions.failures(result, demands)
    output.write(out.json, json_text(result.to_dict()))
    output.write(out.csv, csv_text(list(result.rows())))
    if out.html is not None:
        from ssme.report import report_html

        output.write(out.html, report_html(result))
    show(result, output, show_all)
    for sentence in failed:
        say(f"Failed: {sentence}")
    if failed:
        raise typer.Exit(CONDITION_FAILED)


def show(result: Evaluation, output: Output, show_all: bool = False) -> None:
    """Print an evaluation's tables and doubts."""
    from ssme.cli.tables import LIMIT, evaluation_tables, print_doubts, summary_line

    output.console.print(summary_line(result), markup=False)
    for table in evaluation_tables(result, None if show_all else LIMIT):
        output.console.print()
        output.console.print(table)
    print_doubts(output.console, result.doubts)


def _held(task: Run, output: Output, demands: list[conditions.Condition]) -> Evaluation:
    """The evaluation of a file that fits into memory."""
    from ssme.metrics import default_metrics

    with output.working("reading"):
        data = task.read()
    for sentence in task.recognized(data):
        output.note(sentence)
    asked = task.run_options.get("metric") or default_metrics(data.n_classes)
    with output.working("estimating"):
        return task.evaluate(data, metrics=conditions.with_metrics(asked, demands))


def _streamed(task: Run, output: Output, demands: list[conditions.Condition]) -> Evaluation:
    """The evaluation of files that are passed over; the number of classes is not known before."""
    asked = task.run_options.get("metric")
    if demands and not asked:
        raise InputError(
            f"--fail-under without --metric and --engine {task.engine_options['engine']}",
            fix="name the metrics with --metric",
        )
    with output.working("passing over the rows"):
        result = task.stream(conditions.with_metrics(asked, demands) if asked else None)
    for sentence in task.recognized(result.data):
        output.note(sentence)
    return result
