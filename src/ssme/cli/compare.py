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
    ReadOptions,
    names_in,
)
from ssme.cli.output import Output, csv_text, json_text
from ssme.cli.program import command
from ssme.cli.run import evaluate_scores, gather, inputs_of, read_scores, say_recognized
from ssme.errors import InputError, UnsupportedError, asked_by

if TYPE_CHECKING:
    from ssme.evaluation import Evaluation

__all__ = ["compare"]


@command("Evaluate")
def compare(
    read: ReadOptions,
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
    from ssme.methods.registry import method_class
    from ssme.progress import track

    output = Output(out)
    names = list(dict.fromkeys(names_in([methods], "--methods")))
    with asked_by("methods"):
        for name in names:
            method_class(name)
    spec = gather(file, read, run)
    output.refuse_inputs(inputs_of(spec))
    data = read_scores(spec)
    for sentence in say_recognized(spec, data):
        output.note(sentence)
    results: dict[str, Evaluation] = {}
    seconds: dict[str, float] = {}
    refused: dict[str, str] = {}
    with output.working("comparing"):
        for name in track(names, "methods"):
            start = time.perf_counter()
            try:
                results[name] = evaluate_scores(spec, data, method=name)
            except UnsupportedError as error:
                refused[name] = error.got
            seconds[name] = time.perf_counter() - start
    if not results:
        raise InputError("; ".join(refused.values()), fix="`ssme doctor` says which methods work")
    rows = [row for result in results.values() for row in result.rows()]
    output.write(
        out.json,
        json_text(
            {
                "results": {name: result.to_dict() for name, result in results.items()},
                "seconds": seconds,
                "refused": refused,
            }
        ),
    )
    output.write(out.csv, csv_text(rows))
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

    from ssme.cli.tables import LIMIT, direction, interval_text, number, plain_table, short

    first = next(iter(results.values()))
    interval = f"{first.level * 100:g} % interval"
    models = first.data.models if show_all else first.data.models[:LIMIT]
    columns = ("model", "method", "estimate", interval, "labels only")
    for metric in first.metrics:
        table = plain_table(f"{metric.name} ({direction(metric)})", *columns, right=columns[2:])
        for model in models:
            mine = [
                row
                for row in rows
                if (row["metric"], row["model"], row["group"]) == (metric.name, model, "all")
            ]
            for i, row in enumerate(mine):
                table.add_row(
                    escape(short(model)) if i == 0 else "",
                    row["method"],
                    number(row["estimate"]),
                    interval_text(row["low"], row["high"]),
                    number(row["labels_only"]) if i == 0 else "",
                    end_section=i == len(mine) - 1,
                )
        output.console.print(table)
        output.console.print()
    if len(models) < first.data.n_models:
        rest = first.data.n_models - len(models)
        output.console.print(f"{rest} more models: --all shows them, --csv keeps them\n")
    table = plain_table("Time", "method", "seconds", right=("seconds",))
    for name in results:
        table.add_row(name, f"{seconds[name]:.2f}")
    output.console.print(table)
    for name, reason in refused.items():
        output.console.print(Text(f"Not run: {name}. {reason}."))
