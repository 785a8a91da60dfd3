"""Several methods on one file: ``ssme compare`` and, where all labels are known, ``ssme bench``."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ssme.cli import program, run
from ssme.cli.options import OUT, READING, RUN, TABLES
from ssme.cli.output import Output
from ssme.errors import InputError, UnsupportedError, name_argument
from ssme.options import Declared, Flag, Kind, Series, Text, Whole, option, optional
from ssme.schema import FOLDER_NAME, NAMES
from ssme.show.sections import Column, Section
from ssme.wording import escape_all, shorten

if TYPE_CHECKING:
    from ssme.data.scoreset import ScoreSet
    from ssme.results.evaluation import Evaluation
    from ssme.spec import RunSpec

METHODS = "Methods to compare; `ssme methods` lists them."
FALLBACK = (
    "* in {:.0%} of the splits the group's labels do not determine it, and labels alone are those "
    "of all rows"
)
"""Below a table of a group whose labels sometimes say nothing."""
MOST_WORKERS = 1_024
"""Number of processes beyond which a number is a slip of the hand."""
MOST_RUNS = 1_000_000
SIZES = Kind(
    Series(Whole(least=1), least=1).accept,
    "whole numbers such as 30 or 20,50",
    "classes",
    ("array",),
)


@dataclass(frozen=True)
class CompareOptions(Declared):
    """What `ssme compare` alone is asked."""

    methods: tuple[str, ...] = option(("auto", "ssme", "ensemble"), METHODS, NAMES)
    all: bool = option(False, "Print every model.", Flag(), section=OUT)


RUN_OF_EACH = [each for each in RUN if each.name not in ("method", "n_draws", "options")]


@program.register_command("Evaluate", (*READING, *RUN_OF_EACH), CompareOptions, TABLES)
def compare(spec: RunSpec, output: Output, asked: CompareOptions) -> None:
    """Run several methods on one file and show their estimates side by side.

    Examples:

    [cyan]ssme compare scores.csv --label y[/cyan]
    [cyan]ssme compare scores.csv --label y --methods auto,labeled,dawid_skene[/cyan]
    [cyan]ssme compare scores.csv --label y --metrics f1 --csv methods.csv[/cyan]
    """
    from ssme.methods.registry import find_method_class
    from ssme.progress import track

    names = list(dict.fromkeys(asked.methods))
    with name_argument("methods"):
        for name in names:
            find_method_class(name)
    data = run.read_noted(spec, output)
    results: dict[str, Evaluation] = {}
    seconds: dict[str, float] = {}
    refused: dict[str, str] = {}
    with output.show_progress("comparing"):
        for name in track(names, "methods"):
            start = time.perf_counter()
            try:
                results[name] = run.evaluate_scores(spec, data, method=name)
            except UnsupportedError as error:
                refused[name] = error.problem or str(error)
            seconds[name] = time.perf_counter() - start
    if not results:
        raise InputError("; ".join(refused.values()), hint="`ssme doctor` says which methods work")
    output.save(
        lambda: {
            "results": {name: result.to_dict() for name, result in results.items()},
            "seconds": seconds,
            "refused": refused,
        },
        lambda: [row for result in results.values() for row in result.rows()],
    )
    output.show(*_make_sections(list(results.values()), asked.all))
    times = Column("seconds", [f"{seconds[name]:.2f}" for name in results], "right")
    output.show(Section("time", "Time", (), (Column("method", list(results)), times)))
    output.say(*(f"Not run: {name}. {reason}." for name, reason in refused.items()))


def _make_sections(results: Sequence[Evaluation], show_all: bool) -> Iterator[Section]:
    """A table for each metric, whose rows are those of all methods for each model."""
    from ssme.results.groups import ALL
    from ssme.show.document import list_estimate_columns, make_table
    from ssme.show.terminal import LIMIT

    first = results[0]
    models = first.data.models if show_all else first.data.models[:LIMIT]
    left = first.data.n_models - len(models)
    more = f"{left} more models: --all shows them, --csv FILE keeps them" if left else ""
    model, *columns = list_estimate_columns(first.level)[:4]
    columns = [model, model._replace(title="method", keys="method"), *columns]
    for metric in first.metrics:
        found = {
            (row["model"], row["method"]): row
            for result in results
            for row in result.rows(metric.name, ALL)
        }
        rows = [found[name, each.method] for name in models for each in results]
        table, _ = make_table(rows, columns)
        yield Section(metric.name, f"{metric.name} ({metric.direction})", (), table, more)


@dataclass(frozen=True)
class BenchOptions(Declared):
    """What `ssme bench` alone is asked."""

    methods: tuple[str, ...] = option(("auto", "ssme", "ensemble", "labeled"), METHODS, NAMES)
    metrics: tuple[str, ...] | None = optional(
        "Metrics to estimate; `ssme metrics` lists them.", NAMES, short="-k"
    )
    n_labeled: tuple[int, ...] = option(
        (30,),
        "Number of labels that a method gets, such as 30, or several such as 20,50,100.",
        SIZES,
        short="-n",
    )
    n_unlabeled: int | None = optional(
        "Number of unlabeled rows that a method gets.",
        Whole(least=0),
        usual="1000, or all there are",
    )
    runs: int = option(20, "Number of random splits.", Whole(1, MOST_RUNS))
    random_state: int = option(0, "Seed of the splits.", Whole(least=0))
    workers: int = option(1, "Number of processes.", Whole(1, MOST_WORKERS))
    scheduler: str | None = optional("Address of a Dask scheduler to run on.", Text())
    resume: Path | None = optional(
        "Folder for finished runs: the same command resumes from it.", FOLDER_NAME
    )


@dataclass(frozen=True)
class FileLoader:
    """Reads the user's file; equal loaders are the same file, so a worker reads it once."""

    config: str

    def __call__(self, name: str) -> ScoreSet:
        from ssme.spec import RunSpec

        return run.read_scores(RunSpec.from_dict(json.loads(self.config)))


@program.register_command("Evaluate", READING, BenchOptions, TABLES)
def bench(spec: RunSpec, output: Output, asked: BenchOptions) -> None:
    """Measure how far off each method would have been on a file in which every row has a label.

    It answers the question "How far off would each method be on data like mine, with 30 labels?"

    Examples:

    [cyan]ssme bench history.csv --label y --n-labeled 30[/cyan]
    [cyan]ssme bench history.parquet -y label -n 20,50 --methods auto,labeled[/cyan]
    [cyan]ssme bench adult.csv -y income --groups sex,age:edges=30/50[/cyan]
    """
    from ssme.bench import Protocol, run_protocol, summarize
    from ssme.bench.runner import Runner
    from ssme.data.grouping import parse_group_by
    from ssme.executors import open_executor
    from ssme.fitting import choose_usual_metrics

    name, load = Path(str(spec.source)).stem, FileLoader(json.dumps(spec.to_dict()))
    with output.show_progress("reading"):
        data = load(name)
    groups = tuple(spec.read.get("groups") or ())
    for text in groups:
        parse_group_by(text, data.groups, "groups").settle(data.groups)
    room = data.n_rows // 2 - max(asked.n_labeled)
    unlabeled = max(0, min(1000, room)) if asked.n_unlabeled is None else asked.n_unlabeled
    protocol = Protocol(
        asked.methods,
        metrics=asked.metrics if asked.metrics or data.ordered else choose_usual_metrics(data),
        n_labeled=asked.n_labeled,
        n_unlabeled=(unlabeled,),
        runs=asked.runs,
        by=groups,
        seed=asked.random_state,
    )
    runner = Runner(protocol, load)
    names = list(protocol.methods)
    unable = [method for method in names if not runner.list_metrics(name, method)]
    what = f"these metrics{' by group' if groups else ''}"
    if len(unable) == len(names):
        problem = f"none of the methods {','.join(asked.methods)} estimates {what} on this data"
        raise InputError(problem, hint="`ssme methods` lists what each method does")
    if unable:
        output.note(f"Left out, as they do not estimate {what} on this data: {', '.join(unable)}.")
    if asked.resume is not None:
        _make_folder(asked.resume)
    options: dict[str, Any] = {}
    kind = "dask" if asked.scheduler else "processes" if asked.workers > 1 else "serial"
    if kind != "serial":
        options = {"scheduler": asked.scheduler} if asked.scheduler else {"workers": asked.workers}
    with output.show_progress("estimating"), open_executor(kind, **options) as executor:
        table = run_protocol(
            protocol,
            [name],
            load,
            executor=executor,
            folder=asked.resume,
            overwrite=bool(output.options["force"]),
        )
    summary = summarize(table).drop(columns=["dataset", "subset"] + ["group"] * (not groups))
    rows = [{k: _drop_undefined(v) for k, v in row.items()} for row in summary.to_dict("records")]
    output.save(rows)
    output.show(*_make_errors(summary, asked.runs, bool(groups)))


def _make_errors(summary: Any, runs: int, grouped: bool) -> Iterator[Section]:
    """A table of the methods' errors for each metric, number of labels and group."""
    keys = ["metric", "n_labeled"] + ["group"] * grouped
    for (metric, labels, *group), part in summary.groupby(keys, sort=False):
        where = f" in {group[0]}" if group and group[0] != "all" else ""
        splits = f"{runs} split{'s' * (runs > 1)}"
        shared = float(part["fallback"].max()) if grouped else 0.0
        rows = part.sort_values("mae").to_dict("records")
        unit = "x*" if shared > 0.0 else "x"
        errors = [f"{_format(row['mae'], '.4f')} ± {_format(row['ci95'], '.4f')}" for row in rows]
        columns = (
            Column("method", [row["method"] for row in rows]),
            Column("error", errors, "right"),
            Column("of labels alone", [_format(row["rmae"], ".2f", unit) for row in rows], "right"),
            Column("coverage", [_format(row["coverage"], ".0%") for row in rows], "right"),
            Column("width", [row["width"] for row in rows], "number"),
        )
        title = f"{metric}{where} from {labels} labels: mean error over {splits}"
        more = FALLBACK.format(shared) if shared > 0.0 else ""
        yield Section("errors", title, (), columns, more)


def _drop_undefined(value: Any) -> Any:
    """None for a number that is undefined: a spread of one run, a ratio to an error of 0."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _format(value: float, form: str, unit: str = "") -> str:
    return "-" if _drop_undefined(value) is None else f"{value:{form}}{unit}"


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        problem = f"--resume {shorten(escape_all(str(folder)), 80)} cannot be made: {reason}"
        raise InputError(problem, hint="choose another path") from None
