"""``ssme suggest``: which rows to label next. ``ssme plan``: how many labels a target takes."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ssme.cli.options import (
    ConfigOption,
    FileArgument,
    OutputOptions,
    ReadFlags,
    RunOptions,
    WriteOptions,
)
from ssme.cli.output import Output, format_json
from ssme.cli.program import register_command
from ssme.cli.run import evaluate_scores, gather, list_inputs, read_scores, say_recognized
from ssme.errors import InputError
from ssme.writing import format_csv

if TYPE_CHECKING:
    from ssme.results.evaluation import Evaluation
    from ssme.spec import RunSpec

SHOWN = 10
"""Suggested rows that are printed."""


@register_command("Decide")
def suggest(
    read: ReadFlags,
    run: RunOptions,
    out: WriteOptions,
    file: FileArgument = None,
    n: Annotated[int, typer.Option("--n", "-n", help="Number of rows to suggest.")] = 25,
    goal: Annotated[
        str,
        typer.Option(
            "--goal",
            help="What the labels are for: best (which model is best), best:METRIC, "
            "metric:METRIC (how good every model is) or group:COLUMN (the same in every group; "
            "also group:age:quantiles=4 or group:sex+race).",
        ),
    ] = "best",
    draw: Annotated[
        str,
        typer.Option(
            "--draw",
            help="How rows are drawn: goal, random, by_score (equally many from each part of the "
            "scores) or by_class (equally many of each class, as predicted).",
        ),
    ] = "goal",
    uniform: Annotated[
        float,
        typer.Option(
            "--uniform",
            help="Share of the probability of being drawn that is the same for all rows.",
        ),
    ] = 0.2,
    target: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="CSV file with the rows and an empty label column to fill in."
        ),
    ] = None,
    config: ConfigOption = None,
) -> None:
    """Suggest the rows to label next: those whose labels tell most about a goal.

    Fill in the column label of the file and give it back with --labels-file: its column
    probability lets `ssme evaluate` allow for how the rows were chosen.

    Examples:

    [cyan]ssme suggest scores.csv -y label --n 25 -o next.csv[/cyan]

    [cyan]ssme suggest scores.csv -y label --goal metric:roc_auc -o next.csv[/cyan]

    [cyan]ssme evaluate scores.csv -y label --labels-file next.csv[/cyan]
    """
    from ssme.options import accept
    from ssme.results.suggest import DESIGN, parse_goal

    output = Output(out, {"target": target})
    kind, name = parse_goal(goal)
    accept(DESIGN._replace(name="draw"), draw)
    spec, result = _evaluate(file, read, run, config, output, name if kind == "group" else None)
    if target is not None and result.data.ids is None:
        raise InputError(
            f"{spec.source} has no id column, so labels could not be matched to rows later",
            hint="name a column of unique ids with --id",
        )
    with output.show_progress("valuing rows"):
        found = result.suggest(
            n, goal, design=draw, uniform=uniform, random_state=result.settings["random_state"]
        )
    output.write(target, format_csv([*found.list_earlier(), *found.table()]))
    _show_rows(output, found.table(), target)
    output.console.print(found.sentence(), markup=False)
    if target is not None and str(target) != "-":
        more = " It also contains the rows of earlier rounds." if found.list_earlier() else ""
        without = ", and without --design" if "design" in spec.read else ""
        next_step = f"Fill in the column label of {target}, then evaluate with --labels-file "
        output.note(f"{next_step}{target}{without}.{more}")


def _show_rows(output: Output, rows: list[dict[str, object]], target: Path | None) -> None:
    from rich.markup import escape

    from ssme.show.terminal import make_table

    columns = ("id", "probability", "reason")
    table = make_table("Rows to label next", *columns, right=("probability",))
    for row in rows[:SHOWN]:
        table.add_row(
            escape(str(row["id"])), f"{row['probability']:.4f}", escape(str(row["reason"]))
        )
    output.console.print(table)
    if len(rows) > SHOWN:
        where = "--output keeps them" if target is None else "they are in the file too"
        output.console.print(f"{len(rows) - SHOWN} more rows: {where}")


@register_command("Decide")
def plan(
    read: ReadFlags,
    run: RunOptions,
    out: OutputOptions,
    file: FileArgument = None,
    target: Annotated[
        list[str] | None,
        typer.Option(
            "--target",
            help='What is to be reached: "width(accuracy)<=0.05", "P(best)>=0.95" or '
            '"regret<=0.005" (repeatable).',
        ),
    ] = None,
    simulations: Annotated[
        int | None,
        typer.Option(
            "--simulations",
            help="Number of simulated truths (default: 8, or 100 with labels alone).",
        ),
    ] = None,
    config: ConfigOption = None,
) -> None:
    """Estimate by simulation how many more labels a target needs.

    With this number of labels, half of the simulated runs meet the target; the range covers 80 % of
    the runs.

    Examples:

    [cyan]ssme plan scores.csv -y label --target "width(accuracy)<=0.05"[/cyan]

    [cyan]ssme plan scores.csv -y label --target "P(best)>=0.95" --target "regret<=0.005"[/cyan]
    """
    from ssme.results.plan import parse_target

    output = Output(out)
    if not target:
        raise InputError(
            "no --target was given", hint='say what is to be reached, as in "width(accuracy)<=0.05"'
        )
    for text in target:
        parse_target(text)
    _, result = _evaluate(file, read, run, config, output)
    seed = result.settings["random_state"]
    with output.show_progress("simulating"):
        found = result.plan_several(target, simulations=simulations, random_state=seed)
    rows = [
        {"target": each.target, **step} for each in found.plans for step in each.to_dict()["curve"]
    ]
    output.write(out.json, format_json(found.to_dict()))
    output.write(out.csv, format_csv(rows))
    output.console.print(found.sentence(), markup=False)


def _evaluate(
    file: Path | None,
    read: ReadFlags,
    run: RunOptions,
    config: Path | None,
    output: Output,
    grouping: str | None = None,
) -> tuple[RunSpec, Evaluation]:
    """The run that is asked for, with groups by ``grouping`` too, and its evaluation."""
    spec = gather(file, read, run, config)
    if grouping is not None:
        spec = _add_grouping(spec, grouping)
    output.refuse_inputs(list_inputs(spec))
    with output.show_progress("reading"), _name_goal(grouping):
        data = read_scores(spec)
    for sentence in say_recognized(spec, data):
        output.note(sentence)
    with output.show_progress("estimating"):
        return spec, evaluate_scores(spec, data)


@contextmanager
def _name_goal(grouping: str | None) -> Iterator[None]:
    """Let an error about the columns of ``grouping`` speak of the goal that names them."""
    try:
        yield
    except InputError as error:
        columns = [part.partition(":")[0].strip() for part in (grouping or "").split("+")]
        if grouping is None or not any(repr(each) in str(error) for each in [grouping, *columns]):
            raise
        raise error.at(f"`goal=group:{grouping}`") from None


def _add_grouping(spec: RunSpec, grouping: str) -> RunSpec:
    """The run with groups by ``grouping``, unless it has them."""
    groups = list(spec.read.get("groups") or ())
    if not _is_among(grouping, groups):
        groups.append(grouping)
    by = spec.by
    if by is not None and not _is_among(grouping, by):
        by = (*by, grouping)
    return dataclasses.replace(spec, read={**spec.read, "groups": groups}, by=by)


def _is_among(grouping: str, groupings: Iterable[object]) -> bool:
    """Whether ``grouping``, or bins of the column that it names, are among ``groupings``."""
    return any(grouping in (str(each), str(each).partition(":")[0]) for each in groupings)
