"""``ssme track``: a project's memory. One file keeps labels, evaluations and decisions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ssme.cli.options import CONFIG, READING, RUN, TABLES
from ssme.cli.output import Output
from ssme.cli.program import register_command, register_group
from ssme.cli.run import evaluate_scores, list_inputs, read_noted
from ssme.errors import InputError, make_unknown_name_error, name_argument
from ssme.options import Declared, Text, Whole, option, optional
from ssme.schema import FILE_NAME
from ssme.show.sections import Column, Section

if TYPE_CHECKING:
    from ssme.memory import Memory
    from ssme.memory.tracking import Change
    from ssme.spec import RunSpec

track = register_group(
    "Decide", "track", "Keep labels, evaluations and decisions of a project in one file."
)


@dataclass(frozen=True)
class MemoryOptions(Declared):
    """What each command on a memory is asked."""

    memory: Path = option(
        Path("ssme.sqlite"), "The memory: an SQLite file, created if it does not exist.", FILE_NAME
    )
    data: str = option(
        "default", "Name of the data; one memory may contain several data sets.", Text()
    )


@dataclass(frozen=True)
class AddOptions(MemoryOptions):
    """What `ssme track add` alone is asked."""

    annotator: str = option("", "Who gave the labels.", Text(blank=True))


@register_command("Decide", (*READING, *RUN, CONFIG), AddOptions, TABLES, name="add", of=track)
def add(spec: RunSpec, output: Output, asked: AddOptions) -> None:
    """Evaluate a file and keep its labels, the estimates and the decision.

    Labels and evaluations that are already in the memory are not added again.

    Examples:

    [cyan]ssme track add scores.csv -y label[/cyan]
    [cyan]ssme track add scores.csv -y label --annotator Ada[/cyan]
    [cyan]ssme track add march.csv -y label --memory project.sqlite --data march[/cyan]
    """
    from ssme.memory import Memory, refuse_no_memory
    from ssme.memory.tracking import read_events, record_evaluation

    memory, data, annotator = asked.memory, asked.data, asked.annotator
    output.refuse_inputs([*list_inputs(spec), memory])
    with name_argument("memory"):
        refuse_no_memory(memory)
    scores = read_noted(spec, output)
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
    output.save(facts, result.rows)
    again = " (it was there already)" if known else ""
    plural = "" if added == 1 else "s"
    output.say(f"{memory}: {added} new label{plural}, evaluation {number}{again}.")


@dataclass(frozen=True)
class ShowOptions(MemoryOptions):
    """What `ssme track show` alone is asked."""

    metric: str | None = optional("Metric to show over time.", Text(), short="-k")
    plot: Path | None = optional(
        "Draw the estimates over time: .html, .svg, .png or .json.", FILE_NAME, writes=True
    )


@register_command("Decide", asks=ShowOptions, writes=TABLES, name="show", of=track)
def show(output: Output, asked: ShowOptions) -> None:
    """Show the content of the memory and how the intervals became narrower.

    Examples:

    [cyan]ssme track show[/cyan]
    [cyan]ssme track show --metric accuracy --plot history.html[/cyan]
    [cyan]ssme track show --memory project.sqlite --data march[/cyan]
    """
    from ssme.memory.tracking import trace_estimates

    with _open(asked.memory, asked.data) as kept:
        evaluations, events = kept.evaluations(), kept.label_events()
        labels, conflicts = kept.labels(), kept.conflicts()
    with name_argument("metric"):
        rows = trace_estimates(evaluations, asked.metric)
    decided = [
        {"evaluation": n, **asdict(each), "sureness": each.describe_sureness()}
        for n, of in evaluations.items()
        for each in of.decisions
    ]
    output.save({"evaluations": rows, "labels": len(labels), "decisions": decided}, rows)
    if asked.plot is not None:
        from ssme.show.plots import draw_history

        with name_argument("plot"):
            draw_history(rows).save(asked.plot)
        output.note(f"Wrote {asked.plot}")
    output.say(
        f"{len(labels):,} labels in {len(events):,} events, {len(conflicts):,} rows with different "
        f"labels, {len(evaluations):,} evaluation{'' if len(evaluations) == 1 else 's'}."
    )
    if not rows:
        return
    columns = (
        Column("run", [str(row["evaluation"]) for row in rows], "right"),
        Column("made", [row["made_at"][:16].replace("T", " ") for row in rows], "right"),
        Column("labels", [row["labels"] for row in rows], "count"),
        Column("model", [str(row["model"]) for row in rows]),
        Column("estimate", [row["estimate"] for row in rows], "number"),
        Column("interval", [(row["low"], row["high"]) for row in rows], "span"),
    )
    output.show(Section("history", str(rows[-1]["metric"]), (), columns))
    for each in evaluations[list(evaluations)[-1]].decisions:
        output.say(f"Pick by {each.metric}: {each.pick}. {each.describe_sureness()}".rstrip())


@dataclass(frozen=True)
class ChangeOptions(MemoryOptions):
    """What `ssme track compare` alone is asked."""

    before: int = option(-2, "Number of the earlier evaluation; -2 is the last but one.", Whole())
    after: int = option(-1, "Number of the later evaluation; -1 is the last.", Whole())


@register_command("Decide", asks=ChangeOptions, writes=TABLES, name="compare", of=track)
def compare(output: Output, asked: ChangeOptions) -> None:
    """Show what changed between two evaluations of the same models.

    Examples:

    [cyan]ssme track compare[/cyan]
    [cyan]ssme track compare --before 1 --after 3[/cyan]
    [cyan]ssme track compare --memory project.sqlite --data march[/cyan]
    """
    from ssme.memory.tracking import compare_records, find_drift, tell_differences
    from ssme.results.table import to_plain_values

    memory, data = asked.memory, asked.data
    with _open(memory, data) as kept:
        number_kept = len(kept.evaluations())
        if number_kept == 0:
            problem = f"--data {data}: nothing was stored under this name in {memory}"
            hint = "name other data, or store an evaluation with `ssme track add`"
            raise InputError(problem, hint=hint)
        if number_kept == 1 and asked.before == -2:
            problem = f"a comparison needs two evaluations, and {memory} contains one"
            hint = "store another with `ssme track add` when there are more labels"
            raise InputError(problem, hint=hint)
        with name_argument("before"):
            old = kept.evaluation(asked.before)
        with name_argument("after"):
            new = kept.evaluation(asked.after)
    changes, drifts = compare_records(old, new), find_drift(old, new)
    differing = tell_differences(old, new)
    rows = [asdict(change) for change in changes]
    drifted = [{**asdict(drift), "clear": drift.is_clear} for drift in drifts]
    found = {"changes": rows, "drift": drifted, "differences": list(differing)}
    output.save(to_plain_values(found), rows)
    output.show(*_make_sections(changes))
    output.say(*differing)
    if any(change.is_clear for change in changes):
        output.say("* the interval of the change leaves out zero")
    clear = [drift for drift in drifts if drift.is_clear]
    output.say(
        *(
            f"The scores of {drift.model} drifted: {drift.distance:.1%} of them moved "
            f"(p = {drift.p:.2g})."
            for drift in clear
        )
    )
    if drifts and not clear:
        output.say("No drift of the scores is seen.")


def _make_sections(changes: Sequence[Change]) -> Iterator[Section]:
    """A table of what changed for each metric; groups have a column where there are some."""
    grouped = len({change.group for change in changes}) > 1
    for metric in dict.fromkeys(change.metric for change in changes):
        mine = [change for change in changes if change.metric == metric]
        moved = [f"{each.change:+.3f}{' *' if each.is_clear else ''}" for each in mine]
        columns = (
            *([Column("group", [each.group for each in mine])] if grouped else []),
            Column("model", [each.model for each in mine]),
            Column("before", [each.before for each in mine], "number"),
            Column("after", [each.after for each in mine], "number"),
            Column("change", moved, "right"),
            Column("interval", [(each.low, each.high) for each in mine], "span"),
        )
        yield Section(metric, f"What changed: {metric}", (), columns)


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
