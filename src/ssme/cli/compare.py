"""``ssme compare``: several methods on one file, side by side, with the time each took."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ssme.cli.options import (
    OUT,
    FileArgument,
    MetricOptions,
    OutputOptions,
    ReadFlags,
    split_names,
)
from ssme.cli.output import Output, format_json
from ssme.cli.program import register_command
from ssme.cli.run import evaluate_scores, gather, list_inputs, read_scores, say_recognized
from ssme.errors import InputError, UnsupportedError, name_argument
from ssme.writing import format_csv

if TYPE_CHECKING:
    from ssme.results.evaluation import Evaluation


@register_command("Evaluate")
def compare(
    read: ReadFlags,
    run: MetricOptions,
    out: OutputOptions,
    file: FileArgument = None,
    methods: Annotated[
        str,
        typer.Option(
            "--methods", help="Methods to compare, separated by commas; `ssme methods` lists them."
        ),
    ] = "auto,ssme,ensemble",
    show_all: Annotated[
        bool, typer.Option("--all", help="Print every model.", rich_help_panel=OUT)
    ] = False,
) -> None:
    """Run several methods on one file and show their estimates side by side.

    Example:

    [cyan]ssme compare scores.csv --label y --methods ssme,ensemble,dawid_skene[/cyan]
    """
    from ssme.methods.registry import find_method_class
    from ssme.progress import track

    output = Output(out)
    names = list(dict.fromkeys(split_names([methods], "--methods")))
    with name_argument("methods"):
        for name in names:
            find_method_class(name)
    spec = gather(file, read, run)
    output.refuse_inputs(list_inputs(spec))
    data = read_scores(spec)
    for sentence in say_recognized(spec, data):
        output.note(sentence)
    results: dict[str, Evaluation] = {}
    seconds: dict[str, float] = {}
    refused: dict[str, str] = {}
    with output.show_progress("comparing"):
        for name in track(names, "methods"):
            start = time.perf_counter()
            try:
                results[name] = evaluate_scores(spec, data, method=name)
            except UnsupportedError as error:
                refused[name] = error.problem or str(error)
            seconds[name] = time.perf_counter() - start
    if not results:
        raise InputError("; ".join(refused.values()), hint="`ssme doctor` says which methods work")
    rows = [row for result in results.values() for row in result.rows()]
    output.write(
        out.json,
        format_json(
            {
                "results": {name: result.to_dict() for name, result in results.items()},
                "seconds": seconds,
                "refused": refused,
            }
        ),
    )
    output.write(out.csv, format_csv(rows))
    _show(output, results, rows, seconds, refused, show_all)


def _show(
    output: Output,
    results: dict[str, Evaluation],
    rows: list[dict[str, Any]],
    seconds: dict[str, float],
    refused: dict[str, str],
    show_all: bool,
) -> None:
    from rich.markup import escape
    from rich.text import Text

    from ssme.show.sections import format_number, format_span
    from ssme.show.terminal import LIMIT, NAME, make_table
    from ssme.wording import shorten

    first = next(iter(results.values()))
    interval = f"{first.level * 100:g} % interval"
    models = first.data.models if show_all else first.data.models[:LIMIT]
    columns = ("model", "method", "estimate", interval, "labels only")
    for metric in first.metrics:
        table = make_table(f"{metric.name} ({metric.direction})", *columns, right=columns[2:])
        for model in models:
            mine = [
                row
                for row in rows
                if (row["metric"], row["model"], row["group"]) == (metric.name, model, "all")
            ]
            for i, row in enumerate(mine):
                table.add_row(
                    escape(shorten(model, NAME)) if i == 0 else "",
                    row["method"],
                    format_number(row["estimate"]),
                    format_span(row["low"], row["high"]),
                    format_number(row["labels_only"]) if i == 0 else "",
                    end_section=i == len(mine) - 1,
                )
        output.console.print(table)
        output.console.print()
    if len(models) < first.data.n_models:
        rest = first.data.n_models - len(models)
        output.console.print(f"{rest} more models: --all shows them, --csv FILE keeps them\n")
    table = make_table("Time", "method", "seconds", right=("seconds",))
    for name in results:
        table.add_row(name, f"{seconds[name]:.2f}")
    output.console.print(table)
    for name, reason in refused.items():
        output.console.print(Text(f"Not run: {name}. {reason}."))
