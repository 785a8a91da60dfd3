"""What every experiment shares: its arguments, resumable runs, the result file and its figure.

Each experiment of ``benchmarks/accuracy`` reproduces one table or figure:

    python -m benchmarks.accuracy bandwidths --runs 50 --workers 2

and ``python -m benchmarks.accuracy`` all of them. Finished cells are kept under
``.benchmarks-cache/cells`` and not computed again; experiments that need the same cells share a
file. Results are small CSV files in ``benchmarks/results``, with the command, the versions and the
machine behind each in ``results/runs.csv``; figures, drawn from those files, are in
``benchmarks/figures``.

The studies of ``benchmarks/auto``, ``answers`` and ``decide`` plan their cells themselves
(`benchmarks.studies.Study`) and have them run by `run_cells`, under the arguments of `add_runs`.
"""

from __future__ import annotations

import argparse
import importlib.util
import math
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

import pandas as pd

from benchmarks.charts import DRAWINGS
from benchmarks.datasets.registry import load_dataset
from benchmarks.provenance import record
from benchmarks.studies import Protocol, Runner, Study, StudyTables, run_studies
from ssme import progress
from ssme.bench.store import describe_process
from ssme.bench.store import write_table as write_run
from ssme.data.scoreset import ScoreSet
from ssme.executors import SerialExecutor, map_in_order, open_executor

ROOT = Path(__file__).resolve().parent
RESULTS, FIGURES = ROOT / "results", ROOT / "figures"
CACHE = ROOT.parent / ".benchmarks-cache"

SHOWN = 60
"""Rows of a result that are printed."""

TOGETHER = 20
"""Jobs of `run_jobs` that a process is handed at once."""


@dataclass
class Setup:
    """How an experiment is run, and what its cells took.

    ``sets``, ``labels`` and ``only`` (methods, readings or metrics) limit an experiment that takes
    them; empty, all are run.
    """

    name: str
    runs: int
    executor: Executor | None = None
    end: float = math.inf
    times: list[pd.DataFrame] = field(default_factory=list)
    sets: tuple[str, ...] = ()
    labels: tuple[int, ...] = ()
    only: tuple[str, ...] = ()

    @property
    def command(self) -> str:
        """What one would type to run this experiment again."""
        words = [f"python -m benchmarks.accuracy {self.name} --runs {self.runs}"]
        for name in ("sets", "labels", "only"):
            if getattr(self, name):
                words += [f"--{name}", *map(str, getattr(self, name))]
        return " ".join(words)


class Experiment(NamedTuple):
    """What is run under a name, and the usual number of runs; its docstring says what it shows."""

    run: Callable[[Setup], None]
    runs: int

    @property
    def title(self) -> str:
        return (self.run.__doc__ or "").split("\n")[0]


EXPERIMENTS: dict[str, Experiment] = {}
"""Those of ``benchmarks/accuracy`` by name."""


def experiment(runs: int) -> Callable[[Callable[[Setup], None]], Callable[[Setup], None]]:
    """Register a function as the experiment of its name."""

    def register(function: Callable[[Setup], None]) -> Callable[[Setup], None]:
        EXPERIMENTS[function.__name__] = Experiment(function, runs)
        return function

    return register


def read_arguments(doc: str | None, **defaults: Any) -> argparse.Namespace:
    """What the command line says, by the defaults of its options.

    ``batch_size=10`` is an option ``--batch-size``; one with a list takes several values, one with
    a path or None a path or a text, and False is a switch.
    """
    parser = argparse.ArgumentParser(description=(doc or "").split("\n")[0])
    for name, default in defaults.items():
        flag, several = f"--{name.replace('_', '-')}", isinstance(default, list)
        if default is False:
            parser.add_argument(flag, action="store_true")
            continue
        one = default[0] if several else default
        kind = Path if isinstance(one, Path) else str if one is None else type(one)
        many = {"nargs": "+"} if several else {}
        parser.add_argument(flag, type=kind, default=default, help="default %(default)s", **many)
    return parser.parse_args()


def add_places(parser: argparse.ArgumentParser) -> None:
    """The arguments that say where cells are computed."""
    parser.add_argument("--workers", type=int, default=2, help="processes (default %(default)s)")
    parser.add_argument("--scheduler", help="address of a Dask scheduler to run on instead")


def add_runs(
    parser: argparse.ArgumentParser,
    *,
    runs: int,
    labels: Sequence[int],
    first_run: int = 0,
    minutes: float = math.inf,
) -> None:
    """The arguments that say which cells are computed, where, and for how long."""
    parser.add_argument(
        "--runs", type=int, default=runs, help="random splits (default %(default)s)"
    )
    parser.add_argument(
        "--first-run", type=int, default=first_run, help="number of the first (default %(default)s)"
    )
    parser.add_argument("--labels", nargs="+", type=int, default=list(labels))
    parser.add_argument(
        "--minutes", type=float, default=minutes, help="begin nothing after (default %(default)s)"
    )
    add_places(parser)


@lru_cache(maxsize=2)
def load(name: str) -> ScoreSet:
    """A named data set, or the one in a npz file."""
    return ScoreSet.read(name) if name.endswith(".npz") else load_dataset(name)


@dataclass(frozen=True)
class Loader:
    """Loads data sets by name; those of ``files`` are npz files, named without their ending.

    What follows a name in ``marks`` is for a scene, which makes something else of the data set.
    """

    files: tuple[str, ...] = ()
    marks: str = ""

    def __call__(self, name: str) -> ScoreSet:
        plain = name.rstrip(self.marks) if self.marks else name
        return load(next((file for file in self.files if Path(file).stem == plain), plain))


@contextmanager
def open_places(args: argparse.Namespace) -> Iterator[Executor]:
    """The executor of `add_places`."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    if args.scheduler:
        opened = open_executor("dask", scheduler=args.scheduler)
    else:
        opened = open_executor("processes", workers=args.workers)
    with opened as executor:
        yield executor


def run(
    protocol: Protocol,
    datasets: list[str],
    setup: Setup,
    load: Any = load_dataset,
    *,
    name: str | None = None,
    cells: str | None = None,
) -> pd.DataFrame:
    """The protocol's table; goes on where an earlier, interrupted run stopped.

    ``name`` is that of the folder of tables, ``cells`` of the file of cells: the experiment's own
    unless told otherwise.
    """
    seconds = setup.end - time.monotonic() if setup.end < math.inf else None
    study = Study(Runner(protocol, load), tuple(datasets))
    file = CACHE / "cells" / f"{cells or setup.name}.jsonl"
    with progress.show(setup.name):
        ((table, times),) = run_studies(
            [study], executor=setup.executor, cells=file, seconds=seconds
        )
    folder = CACHE / (name or setup.name)
    folder.mkdir(parents=True, exist_ok=True)
    write_run(table, times, folder, overwrite=True)
    if times["source"].nunique() > 1:
        print(f"{setup.name}: cells of {times['source'].nunique()} states of the source")
    setup.times.append(times)
    return table


def run_cells(
    studies: Sequence[Study],
    name: str,
    executor: Executor | None = None,
    *,
    seconds: float | None = None,
    leave_out: Literal["cells", "runs"] | None = None,
) -> StudyTables:
    """The rows and times of some studies; finished cells are kept in the file of ``name``."""
    with progress.show(name):
        found = run_studies(
            studies,
            executor=executor,
            cells=CACHE / "cells" / f"{name}.jsonl",
            seconds=seconds,
            leave_out=leave_out,
        )
    rows, times = zip(*found, strict=True)
    return StudyTables(pd.concat(rows, ignore_index=True), pd.concat(times, ignore_index=True))


def run_whole(studies: Sequence[Study], name: str, args: argparse.Namespace) -> StudyTables:
    """The cells of the arguments of `add_runs`: whole runs alone, where the time is up before all.

    Rows are run by run, those of a run in the order of the studies.
    """
    with open_places(args) as executor:
        seconds = 60.0 * args.minutes if args.minutes < math.inf else None
        rows, times = run_cells(studies, name, executor, seconds=seconds, leave_out="runs")
    if rows.empty:
        raise SystemExit(f"no cell was finished in {args.minutes:g} minutes")
    planned = sum(len(list(s.runner.protocol.list_cells(list(s.datasets)))) for s in studies)
    if len(times) < planned:
        print(f"{len(times)} of {planned} cells, {times['run'].nunique()} of {args.runs} runs")
    return StudyTables(rows.sort_values("run", kind="stable", ignore_index=True), times)


def write_table(
    path: Path,
    table: pd.DataFrame | list[dict[str, Any]],
    times: pd.DataFrame | None = None,
    *,
    digits: int | None = None,
) -> None:
    """Write a result, with so many digits where told, and one line on how it was made."""
    path.parent.mkdir(exist_ok=True)
    form = None if digits is None else f"%.{digits}g"
    pd.DataFrame(table).to_csv(path, index=False, float_format=form, lineterminator="\n")
    record(path, None, times, note_mixed(times))


def write_measured(name: str, table: pd.DataFrame, began: float) -> None:
    """Write and print a result; this process began it at that time of ``time.perf_counter``."""
    seconds = time.perf_counter() - began
    write_table(
        RESULTS / f"{name}.csv", table, pd.DataFrame([{**describe_process(), "seconds": seconds}])
    )
    print(table.to_string(index=False))


def write_tables(
    tables: Mapping[str, pd.DataFrame], times: pd.DataFrame | None = None, *, digits: int = 5
) -> None:
    """Write results by name, and one line each on how they were made."""
    for name, table in tables.items():
        write_table(RESULTS / f"{name}.csv", table, times, digits=digits)


def run_jobs(
    function: Callable[[Any], list[dict[str, Any]]], jobs: Sequence[Any], setup: Setup
) -> list[dict[str, Any]]:
    """All rows of ``function(job)`` over ``jobs``, in their order, computed in parallel."""
    parts = [jobs[i : i + TOGETHER] for i in range(0, len(jobs), TOGETHER)]
    rows: list[dict[str, Any]] = []
    pool = setup.executor or SerialExecutor()
    for made, times in map_in_order(pool, partial(_run_some, function), parts, ahead=64):
        rows += made
        setup.times.append(pd.DataFrame(times))
    return rows


def _run_some(
    function: Callable[[Any], list[dict[str, Any]]], jobs: Sequence[Any]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Rows of some jobs, and for each job where and how long it ran."""
    rows, times = [], []
    for job in jobs:
        began = time.perf_counter()
        rows += function(job)
        times.append({**describe_process(), "seconds": time.perf_counter() - began})
    return rows, times


def save(frame: pd.DataFrame, setup: Setup, *, name: str | None = None) -> None:
    """Write the result, one line on how it was made, and its figure; print the result."""
    name = name or setup.name
    record_run(name, setup)
    write(frame, name)


def record_run(name: str, setup: Setup) -> None:
    """Keep, per result, its command and what its cells tell: machine, versions, time."""
    times = pd.concat(setup.times) if setup.times else None
    record(RESULTS / f"{name}.csv", setup.command, times, note_mixed(times))


def note_mixed(times: pd.DataFrame | None) -> str:
    """What to say of cells that two states of the source computed."""
    if times is None or times["source"].nunique() == 1:
        return ""
    return f"cells of {times['source'].nunique()} states of the source: to be run again"


def write(frame: pd.DataFrame, name: str) -> None:
    """Write and print a result, and draw its figure."""
    RESULTS.mkdir(exist_ok=True)
    frame.to_csv(RESULTS / f"{name}.csv", index=False, float_format="%.5g")
    if name in DRAWINGS:
        draw(name)
    print(frame.round(4).to_string(index=False, max_rows=SHOWN))


def draw(name: str) -> None:
    """Draw the figure of a result from its file, where Altair is installed."""
    if importlib.util.find_spec("altair") is None:
        print(f"no altair: {name}.png not drawn (`python -m benchmarks.report` draws all)")
        return
    save_chart(name, DRAWINGS[name](pd.read_csv(RESULTS / f"{name}.csv")))


def save_chart(name: str, chart: Any) -> None:
    FIGURES.mkdir(exist_ok=True)
    chart.save(str(FIGURES / f"{name}.png"), ppi=90)
