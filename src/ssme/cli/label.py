"""Labels: ``ssme suggest``, ``ssme plan``, ``ssme next`` and the page of ``ssme serve``."""

from __future__ import annotations

import csv
import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ssme import options, writing
from ssme.cli import evaluate, program
from ssme.cli.options import CONFIG, FILE, READING, RUN, TABLES, WRITE
from ssme.cli.output import Output
from ssme.cli.run import evaluate_scores, list_advised, open_unused, read_noted
from ssme.errors import InputError
from ssme.schema import FILE_NAME, TAKEN, PlanOptions, ServeOptions, SuggestOptions

if TYPE_CHECKING:
    from ssme.results.evaluation import Evaluation
    from ssme.spec import RunSpec

Rows = list[dict[str, Any]]
SHOWN = 10
"""Suggested rows that are printed."""
LEFT_OUT = 20
"""Most columns of the scores that a file of suggested rows repeats."""
ROUND_COLUMNS = ("id", "label", "probability", "round", "reason")
"""Columns of a file of suggested rows."""


@dataclass(frozen=True)
class SuggestFlags(SuggestOptions):
    """What `ssme suggest` alone is asked."""

    output: Path | None = options.optional(
        "CSV file with the rows and an empty label column to fill in.",
        FILE_NAME,
        short="-o",
        writes=True,
    )


@program.register_command("Decide", (*READING, *RUN, CONFIG), SuggestFlags, WRITE)
def suggest(spec: RunSpec, output: Output, asked: SuggestFlags) -> None:
    """Suggest the rows to label next: those whose labels are most informative for a goal.

    Fill in the label column of the file and pass it back with --labels-file. Its probability column
    tells `ssme evaluate` how the rows were chosen, so that estimates stay unbiased.

    Examples:

    [cyan]ssme suggest scores.csv -y label --n 25 -o next.csv[/cyan]
    [cyan]ssme suggest scores.csv -y label --goal metric:roc_auc -o next.csv[/cyan]
    [cyan]ssme evaluate scores.csv -y label --labels-file next.csv[/cyan]
    """
    target = asked.output
    result = _evaluate(spec, output, asked.goal, named=target is not None)
    earlier, rows, sentence = _draw_rows(output, result, asked)
    if target is not None:
        output.write(target, writing.format_csv(_add_left_out(spec, result, [*earlier, *rows])))
    shown = [
        (str(r["id"]), f"{r['probability']:.4f}" if "probability" in r else "-", str(r["reason"]))
        for r in rows[:SHOWN]
    ]
    output.list(("id", "probability", "reason"), shown, "Rows to label next", ("probability",))
    if len(rows) > SHOWN:
        where = "--output keeps them" if target is None else "they are in the file too"
        output.say(f"{len(rows) - SHOWN} more rows: {where}")
    output.say(sentence)
    if target is not None and str(target) != "-":
        more = " It also contains the rows of earlier rounds." if earlier else ""
        without = ", and without --design" if "design" in spec.read else ""
        if asked.draw in TAKEN:
            without = " --design by_score"
        next_step = f"Fill in the column label of {target}, then evaluate with --labels-file "
        output.note(f"{next_step}{target}{without}.{more}")


def _evaluate(spec: RunSpec, output: Output, goal: str, *, named: bool) -> Evaluation:
    """The evaluation, with groups by the grouping of the goal; ``named`` rows have to have ids."""
    from ssme.results.suggest import parse_goal

    kind, name = parse_goal(goal)
    grouping = name if kind == "group" else None
    if grouping is not None:
        spec = _add_grouping(spec, grouping)
    with _name_goal(grouping):
        data = read_noted(spec, output)
    if named and data.ids is None:
        problem = f"{spec.source} has no id column, so labels could not be matched to rows later"
        raise InputError(problem, hint="name a column of unique ids with --id")
    with output.show_progress("estimating"):
        return evaluate_scores(spec, data)


def _draw_rows(output: Output, result: Evaluation, asked: SuggestOptions) -> tuple[Rows, Rows, str]:
    """Rows of earlier rounds, rows to label next, and what their labels tell."""
    with output.show_progress("valuing rows"):
        found = result.suggest(
            asked.n,
            asked.goal,
            draw=asked.draw,
            uniform=asked.uniform,
            random_state=result.settings["random_state"],
        )
    return found.list_earlier(), found.table(), found.sentence()


@dataclass(frozen=True)
class NextOptions(SuggestOptions, PlanOptions):
    """What `ssme next` is asked."""

    labels_file: Path = options.option(
        Path("labels.csv"),
        "CSV file whose column label you fill in; each round adds its rows.",
        FILE_NAME,
    )
    no_labels: bool = options.option(
        False, "No row has a label before the first round.", options.Flag()
    )


NOT_IN_ROUNDS = ("labels_file", "design")


@program.register_command(
    "Decide",
    (*(each for each in READING if each.name not in NOT_IN_ROUNDS), *RUN, CONFIG),
    NextOptions,
    WRITE,
    name="next",
)
def go_on(spec: RunSpec, output: Output, asked: NextOptions) -> None:
    """Label in rounds: read the labels of the last one, evaluate, plan, suggest the next rows.

    Fill in the column label of the file, and run the same command again. Exit codes: 0 once the
    target is met, 1 while rows remain to be labeled.

    Examples:

    [cyan]ssme next scores.csv[/cyan]
    [cyan]ssme next scores.csv --target "P(best)>=0.95"[/cyan]
    [cyan]ssme next scores.csv --labels-file round.csv --goal best:roc_auc[/cyan]
    """
    from ssme.results.plan import parse_target
    from ssme.results.suggest import parse_goal

    file = asked.labels_file
    for text in asked.target or ():
        parse_target(text)
    kind, name = parse_goal(asked.goal)
    if kind != "best" and not asked.target:
        metric = name if kind == "metric" else "accuracy"
        hint = f'say what is to be reached for this goal, as in --target "width({metric})<=0.1"'
        raise InputError(f"--goal {asked.goal} has no usual --target", hint=hint)
    if file.exists():
        _refuse_other_columns(file, asked.draw, None)
        taken = {"design": "by_score"} if asked.draw in TAKEN else {}
        spec = dataclasses.replace(spec, read={**spec.read, "labels_file": file, **taken})
    elif asked.no_labels:
        spec = dataclasses.replace(spec, read={**spec.read, "labels_file": False})
    try:
        result = _evaluate(spec, output, asked.goal, named=True)
    except InputError as error:
        unlabeled = list_advised(error).get("labels_file") is False
        if not unlabeled or "like labels" in str(error.hint):
            raise
        spec = dataclasses.replace(spec, read={**spec.read, "labels_file": False})
        result = _evaluate(spec, output, asked.goal, named=True)
        output.note("No column contains labels, so the first round starts without any.")
    if file.exists():
        _refuse_other_columns(file, asked.draw, _list_left_out(result))
    missing = _count_missing(result, file)
    if missing:
        evaluate.show(result, output)
        some = "1 row" if missing == 1 else f"{missing} rows"
        output.say(f"\n{some} of {file} without a label: fill in the label, then run again.")
        raise typer.Exit(program.CONDITION_FAILED)
    with output.show_progress("simulating"):
        plans = result.plan_several(
            list(asked.target or (_choose_target(result, name),)),
            simulations=asked.simulations,
            random_state=result.settings["random_state"],
        )
    is_met = all(each.is_met for each in plans.plans)
    earlier, rows, sentence = ([], [], "") if is_met else _draw_rows(output, result, asked)
    if not is_met:  # before anything is printed, which may end the command (`ssme next ... | head`)
        output.write(file, writing.format_csv(_add_left_out(spec, result, [*earlier, *rows])))
    evaluate.show(result, output)
    output.say(f"\n{plans.sentence()}")
    if is_met:
        return
    output.say(sentence, f"Fill in the column label of {file}, then run the same command again.")
    raise typer.Exit(program.CONDITION_FAILED)


def _choose_target(result: Evaluation, name: str) -> str:
    """The rule for stopping where P(within) was measured on benchmark sets; else P(best).

    It is about the metric ``name`` of the goal, the first one where that has none, and the same in
    every round.
    """
    from ssme.results.choose import LEAST_LABELS
    from ssme.results.reliability import find_record

    data, metric = result.data, result.find_metric(name) if name else result.metrics[0]
    about = f":{name}" if name else ""
    record = find_record(result.method, metric, data.n_classes, LEAST_LABELS)
    measured = record.knows("within") and not data.judges
    return f"P(regret{about}<=0.01)>=0.9" if measured else f"P(best{about})>=0.95"


def _list_left_out(result: Evaluation) -> list[str]:
    """Columns of the scores that play no role, such as the text of a row: people label by them."""
    layout = result.data.layout
    if layout is None or layout.id is None or layout.kind.startswith("long"):
        return []
    return [name for name in layout.ignored if name not in ROUND_COLUMNS][:LEFT_OUT]


def _add_left_out(spec: RunSpec, result: Evaluation, rows: Rows) -> Rows:
    """The rows with the columns of the scores that were left out."""
    layout, table = result.data.layout, open_unused(spec, result.data)
    if table is None or layout is None or layout.id is None:
        return rows
    names = [name for name in _list_left_out(result) if name in table.columns]
    ids = map(str, table.read_values(layout.id))
    left_out = dict(zip(ids, zip(*map(table.read_values, names), strict=True), strict=False))
    empty = ("",) * len(names)
    return [
        {**row, **dict(zip(names, left_out.get(str(row["id"]), empty), strict=True))}
        for row in rows
    ]


def _refuse_other_columns(file: Path, draw: str, left_out: Sequence[str] | None) -> None:
    """Refuse a file that ``ssme next`` did not write: the next round would write over it.

    Before the scores are read, ``left_out`` columns may be any (None).
    """
    with file.open(encoding="utf-8-sig", newline="") as stream:
        header = next(csv.reader(stream), [])
    columns = [name for name in ROUND_COLUMNS if not (draw in TAKEN and name == "probability")]
    others = set(header) - set(columns) - set(header if left_out is None else left_out)
    if others or not set(header) >= set(columns):
        raise InputError(
            option="labels_file",
            value=str(file),
            must=f"have the columns {', '.join(columns)} and no others, as `ssme next` "
            f"{f'--draw {draw} ' if draw in TAKEN else ''}writes it",
            hint="name another file for the rounds; labels of random rows may stay in the scores",
        )


def _count_missing(result: Evaluation, file: Path) -> int:
    """How many rows of the file of rounds have no label yet."""
    rounds = result.data.design.rounds
    if rounds is not None:
        return rounds.count_drawn(result.data.labels)[1]
    drawn = result.data.design.kind == "by_score" or not result.data.n_labeled
    if not drawn or not file.exists():
        return 0
    with file.open(encoding="utf-8-sig", newline="") as stream:
        return sum(1 for _ in csv.DictReader(stream)) - result.data.n_labeled


@program.register_command("Decide", (*READING, *RUN, CONFIG), PlanOptions, TABLES)
def plan(spec: RunSpec, output: Output, asked: PlanOptions) -> None:
    """Estimate by simulation how many more labels a target needs.

    The number printed is the median over simulated runs; 80% of them lie within the range.

    Examples:

    [cyan]ssme plan scores.csv -y label --target "P(best)>=0.95"[/cyan]
    [cyan]ssme plan scores.csv -y label --target "width(accuracy)<=0.05"[/cyan]
    [cyan]ssme plan scores.csv -y label --target "regret<=0.005" --method labeled[/cyan]
    """
    from ssme.results.plan import parse_target

    if not asked.target:
        problem = "no --target was given"
        raise InputError(problem, hint='say what is to be reached, as in "width(accuracy)<=0.05"')
    for text in asked.target:
        parse_target(text)
    result = _evaluate(spec, output, "best", named=False)
    seed = result.settings["random_state"]
    with output.show_progress("simulating"):
        found = result.plan_several(asked.target, simulations=asked.simulations, random_state=seed)
    steps = [(each.target, step) for each in found.plans for step in each.to_dict()["curve"]]
    output.save(found.to_dict, [{"target": target, **step} for target, step in steps])
    output.say(found.sentence())


@dataclass(frozen=True)
class ServeFlags(ServeOptions):
    """What `ssme serve` is asked."""

    source: Sequence[Path] = options.option((), FILE.meaning, FILE.kind, positional=FILE.positional)


@program.register_command("Evaluate", asks=ServeFlags)
def serve(asked: ServeFlags) -> None:
    """Open a page on this machine to label rows by hand and see the estimates.

    Examples:

    [cyan]ssme serve scores.csv[/cyan]
    [cyan]ssme serve scores.csv --project march --batch 20[/cyan]
    [cyan]ssme serve --root data --no-browser --port 8000[/cyan]
    """
    from ssme.serve.server import run_server
    from ssme.serve.settings import ServeSettings

    given = {each.name: getattr(asked, each.name) for each in options.list_declared(ServeOptions)}
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
