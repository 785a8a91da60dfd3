"""``ssme track``: a project's memory. One file keeps labels, evaluations and decisions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ssme.cli.options import ConfigOption, FileArgument, OutputOptions, ReadFlags, RunOptions
from ssme.cli.output import Output, format_json
from ssme.cli.program import register_command, register_group
from ssme.cli.run import evaluate_scores, gather, list_inputs, read_scores, say_recognized
from ssme.errors import InputError, make_unknown_name_error, name_argument
from ssme.writing import format_csv

if TYPE_CHECKING:
    from ssme.memory import Memory

track = register_group(
    "Decide", "track", "Keep labels, evaluations and decisions of a project in one file."
)

MemoryOption = Annotated[
    Path, typer.Option("--memory", help="The memory: an SQLite file, created if it does not exist.")
]
DataOption = Annotated[
    str, typer.Option("--data", help="Name of the data; one memory may contain several data sets.")
]
HOME = Path("ssme.sqlite")


@register_command("Decide", "add", of=track)
def add(
    read: ReadFlags,
    run: RunOptions,
    out: OutputOptions,
    file: FileArgument = None,
    memory: MemoryOption = HOME,
    data: DataOption = "default",
    annotator: Annotated[str, typer.Option("--annotator", help="Who gave the labels.")] = "",
    config: ConfigOption = None,
) -> None:
    """Evaluate a file and keep its labels, the estimates and the decision.

    Labels and evaluations that are in the memory already are kept once.

    Example:

    [cyan]ssme track add scores.csv -y label --memory project.sqlite[/cyan]
    """
    from ssme.memory import Memory, refuse_no_memory
    from ssme.memory.tracking import read_events, record_evaluation

    output = Output(out)
    spec = gather(file, read, run, config)
    output.refuse_inputs([*list_inputs(spec), memory])
    with name_argument("memory"):
        refuse_no_memory(memory)
    scores = read_scores(spec)
    for sentence in say_recognized(spec, scores):
        output.note(sentence)
    read_events(scores, data, annotator)  # refuses rows without names before the work begins
    with output.show_progress("estimating"):
        result = evaluate_scores(spec, scores)
    with name_argument("memory"):
        opened = Memory(memory, data)
    with opened as kept:
        before = len(kept.evaluations())
        added = kept.add_labels(read_events(scores, data, annotator, kept.label_events()))
        number = kept.add_evaluation(record_evaluation(result))
        known = len(kept.evaluations()) == before
    facts = {"memory": str(memory), "evaluation": number, "labels": added, "known": known}
    output.write(out.json, format_json(facts))
    output.write(out.csv, format_csv(list(result.rows())))
    again = " (it was there already)" if known else ""
    output.console.print(
        f"{memory}: {added} new label{'' if added == 1 else 's'}, evaluation {number}{again}.",
        markup=False,
    )


@register_command("Decide", "show", of=track)
def show(
    out: OutputOptions,
    memory: MemoryOption = HOME,
    data: DataOption = "default",
    metric: Annotated[
        str | None, typer.Option("--metric", "-k", help="The metric to follow.")
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", help="Draw the estimates over time: .html, .svg, .png or .json."),
    ] = None,
) -> None:
    """Show the content of the memory and how the intervals became narrower.

    Example:

    [cyan]ssme track show --memory project.sqlite --metric accuracy[/cyan]
    """
    from dataclasses import asdict

    from ssme.memory.tracking import trace_estimates
    from ssme.show.sections import format_number, format_span
    from ssme.show.terminal import make_table

    output = Output(out, {"plot": plot})
    with _open(memory, data) as kept:
        evaluations, events = kept.evaluations(), kept.label_events()
        labels, conflicts = kept.labels(), kept.conflicts()
    with name_argument("metric"):
        rows = trace_estimates(evaluations, metric)
    decided = [
        {"evaluation": n, **asdict(each), "sureness": each.describe_sureness()}
        for n, of in evaluations.items()
        for each in of.decisions
    ]
    facts = {"evaluations": rows, "labels": len(labels), "decisions": decided}
    output.write(out.json, format_json(facts))
    output.write(out.csv, format_csv(rows))
    if plot is not None:
        from ssme.show.plots import draw_history

        with name_argument("plot"):
            draw_history(rows).save(plot)
        output.note(f"Wrote {plot}")
    output.console.print(
        f"{len(labels):,} labels in {len(events):,} events, {len(conflicts):,} rows with different "
        f"labels, {len(evaluations):,} evaluation{'' if len(evaluations) == 1 else 's'}.",
        markup=False,
    )
    if not rows:
        return
    columns = ("run", "made", "labels", "model", "estimate", "interval")
    table = make_table(str(rows[-1]["metric"]), *columns, right=("labels", "estimate"))
    for row in rows:
        cells = (row["evaluation"], row["made_at"][:16].replace("T", " "), row["labels"])
        table.add_row(
            *map(str, cells),
            str(row["model"]),
            format_number(row["estimate"]),
            format_span(_replace_none(row["low"]), _replace_none(row["high"])),
        )
    output.console.print(table)
    last = list(evaluations)[-1]
    for each in evaluations[last].decisions:
        told = f"Pick by {each.metric}: {each.pick}. {each.describe_sureness()}"
        output.console.print(told.rstrip(), markup=False)


@register_command("Decide", "compare", of=track)
def compare(
    out: OutputOptions,
    memory: MemoryOption = HOME,
    data: DataOption = "default",
    before: Annotated[
        int,
        typer.Option("--before", help="Number of the earlier evaluation; -2 is the last but one."),
    ] = -2,
    after: Annotated[
        int, typer.Option("--after", help="Number of the later evaluation; -1 is the last.")
    ] = -1,
) -> None:
    """Show what changed between two evaluations of the same models.

    Example:

    [cyan]ssme track compare --memory project.sqlite[/cyan]
    """
    from dataclasses import asdict

    from ssme.memory.tracking import compare_records, find_drift, tell_differences
    from ssme.results.table import to_plain_values
    from ssme.show.sections import format_number, format_span
    from ssme.show.terminal import make_table

    output = Output(out)
    with _open(memory, data) as kept:
        number_kept = len(kept.evaluations())
        if number_kept == 0:
            raise InputError(
                f"--data {data}: nothing was stored under this name in {memory}",
                hint="name other data, or store an evaluation with `ssme track add`",
            )
        if number_kept == 1 and before == -2:
            raise InputError(
                f"a comparison needs two evaluations, and {memory} contains one",
                hint="store another with `ssme track add` when there are more labels",
            )
        with name_argument("before"):
            old = kept.evaluation(before)
        with name_argument("after"):
            new = kept.evaluation(after)
    changes, drifts = compare_records(old, new), find_drift(old, new)
    differing = tell_differences(old, new)
    rows: list[dict[str, Any]] = [asdict(change) for change in changes]
    drifted = [{**asdict(drift), "clear": drift.is_clear} for drift in drifts]
    found = {"changes": rows, "drift": drifted, "differences": list(differing)}
    output.write(out.json, format_json(to_plain_values(found)))
    output.write(out.csv, format_csv(rows))
    grouped = len({change.group for change in changes}) > 1
    columns = (*(["group"] if grouped else []), "model", "before", "after", "change", "interval")
    for metric in dict.fromkeys(change.metric for change in changes):
        table = make_table(f"What changed: {metric}", *columns, right=columns[-4:])
        for change in (each for each in changes if each.metric == metric):
            mark = " *" if change.is_clear else ""
            table.add_row(
                *([change.group] if grouped else []),
                change.model,
                format_number(change.before),
                format_number(change.after),
                f"{change.change:+.3f}{mark}",
                format_span(change.low, change.high),
            )
        output.console.print(table)
    for sentence in differing:
        output.console.print(sentence, markup=False)
    if any(change.is_clear for change in changes):
        output.console.print("* the interval of the change leaves out zero", markup=False)
    for drift in drifts:
        if drift.is_clear:
            output.console.print(
                f"The scores of {drift.model} drifted: {drift.distance:.1%} of them moved "
                f"(p = {drift.p:.2g}).",
                markup=False,
            )
    if drifts and not any(drift.is_clear for drift in drifts):
        output.console.print("No drift of the scores is seen.", markup=False)


def _open(memory: Path, data: str) -> Memory:
    """A memory that is there, and that knows ``data`` unless it is empty."""
    from ssme.memory import Memory

    with name_argument("memory"):
        kept = Memory(memory, data, new=False)
        known = kept.list_data()
    if known and data not in known:
        kept.close()
        with name_argument("data"):
            raise make_unknown_name_error("data", data, known)
    return kept


def _replace_none(value: float | None) -> float:
    return float("nan") if value is None else value
