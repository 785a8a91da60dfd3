"""What labels to get: ``ssme suggest`` and ``ssme plan``; ``ssme serve`` is a page to give them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ssme.cli.options import CONFIG, FILE, READING, RUN, TABLES, WRITE
from ssme.cli.output import Output
from ssme.cli.program import register_command
from ssme.cli.run import evaluate_scores, read_noted
from ssme.errors import InputError
from ssme.options import Nothing, OneOf, list_declared, option
from ssme.schema import FILE_NAME, PlanOptions, ServeOptions, SuggestOptions
from ssme.writing import format_csv

if TYPE_CHECKING:
    from ssme.spec import RunSpec

SHOWN = 10
"""Suggested rows that are printed."""


@dataclass(frozen=True)
class SuggestFlags(SuggestOptions):
    """What `ssme suggest` alone is asked."""

    output: Path | None = option(
        None,
        "CSV file with the rows and an empty label column to fill in.",
        OneOf(Nothing(""), FILE_NAME),
        short="-o",
        writes=True,
    )


@register_command("Decide", (*READING, *RUN, CONFIG), SuggestFlags, WRITE)
def suggest(spec: RunSpec, output: Output, asked: SuggestFlags) -> None:
    """Suggest the rows to label next: those whose labels tell most about a goal.

    Fill in the column label of the file and give it back with --labels-file: its column
    probability lets `ssme evaluate` allow for how the rows were chosen.

    Examples:

    [cyan]ssme suggest scores.csv -y label --n 25 -o next.csv[/cyan]

    [cyan]ssme suggest scores.csv -y label --goal metric:roc_auc -o next.csv[/cyan]

    [cyan]ssme evaluate scores.csv -y label --labels-file next.csv[/cyan]
    """
    from ssme.results.suggest import parse_goal

    kind, name = parse_goal(asked.goal)
    if kind == "group" and name is not None:
        spec = _add_grouping(spec, name)
    with _name_goal(name if kind == "group" else None):
        data = read_noted(spec, output)
    target = asked.output
    if target is not None and data.ids is None:
        raise InputError(
            f"{spec.source} has no id column, so labels could not be matched to rows later",
            hint="name a column of unique ids with --id",
        )
    with output.show_progress("estimating"):
        result = evaluate_scores(spec, data)
    with output.show_progress("valuing rows"):
        found = result.suggest(
            asked.n,
            asked.goal,
            draw=asked.draw,
            uniform=asked.uniform,
            random_state=result.settings["random_state"],
        )
    rows = found.table()
    output.write(target, format_csv([*found.list_earlier(), *rows]))
    shown = [(str(r["id"]), f"{r['probability']:.4f}", str(r["reason"])) for r in rows[:SHOWN]]
    output.list(("id", "probability", "reason"), shown, "Rows to label next", ("probability",))
    if len(rows) > SHOWN:
        where = "--output keeps them" if target is None else "they are in the file too"
        output.say(f"{len(rows) - SHOWN} more rows: {where}")
    output.say(found.sentence())
    if target is not None and str(target) != "-":
        more = " It also contains the rows of earlier rounds." if found.list_earlier() else ""
        without = ", and without --design" if "design" in spec.read else ""
        next_step = f"Fill in the column label of {target}, then evaluate with --labels-file "
        output.note(f"{next_step}{target}{without}.{more}")


@register_command("Decide", (*READING, *RUN, CONFIG), PlanOptions, TABLES)
def plan(spec: RunSpec, output: Output, asked: PlanOptions) -> None:
    """Estimate by simulation how many more labels a target needs.

    With this number of labels, half of the simulated runs meet the target; the range covers 80 % of
    the runs.

    Examples:

    [cyan]ssme plan scores.csv -y label --target "width(accuracy)<=0.05"[/cyan]

    [cyan]ssme plan scores.csv -y label --target "P(best)>=0.95" --target "regret<=0.005"[/cyan]
    """
    from ssme.results.plan import parse_target

    if not asked.target:
        raise InputError(
            "no --target was given", hint='say what is to be reached, as in "width(accuracy)<=0.05"'
        )
    for text in asked.target:
        parse_target(text)
    data = read_noted(spec, output)
    with output.show_progress("estimating"):
        result = evaluate_scores(spec, data)
    seed = result.settings["random_state"]
    with output.show_progress("simulating"):
        found = result.plan_several(asked.target, simulations=asked.simulations, random_state=seed)
    steps = [(each.target, step) for each in found.plans for step in each.to_dict()["curve"]]
    output.save(found.to_dict, [{"target": target, **step} for target, step in steps])
    output.say(found.sentence())


@dataclass(frozen=True)
class ServeFlags(ServeOptions):
    """What `ssme serve` is asked."""

    source: Sequence[Path] = option((), FILE.meaning, FILE.kind, positional=FILE.positional)


@register_command("Evaluate", asks=ServeFlags)
def serve(asked: ServeFlags) -> None:
    """Open a page on this machine to label rows by hand and see the estimates.

    Example:

    [cyan]ssme serve scores.csv[/cyan]
    """
    from ssme.serve.server import run_server
    from ssme.serve.settings import ServeSettings

    given = {each.name: getattr(asked, each.name) for each in list_declared(ServeOptions)}
    file = asked.source[0] if asked.source else None
    run_server(ServeSettings(**given), lambda line: print(line, flush=True), file=file)


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
