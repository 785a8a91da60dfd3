"""The engine of the studies: cells of `ssme.bench`, with altered data, functions, many protocols.

    scene -> split -> trial -> `ssme.evaluate` -> measure(evaluation, truth) -> rows
                            -> function(trial) -> rows

A `Scene` is what is done to the data of a run before a method sees them, and a `Trial` is a cell
with its rows. What is done with a trial is a method, which is evaluated and measured, or a function
from the trial to result rows. `run_studies` runs several protocols at once, with the cells of the
first runs of all of them before those of the second: what is stopped early has whole runs.
"""

from __future__ import annotations

import math
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

import ssme.bench
from ssme.arrays import IntArray
from ssme.bench import protocol as bench_protocol
from ssme.bench import runner as bench_runner
from ssme.bench.protocol import Split, encode_option, hide_labels, split_rows
from ssme.bench.runner import Loader, Name, Task, Truth, load_checked, pair_with_truth
from ssme.bench.store import CellStore, compute_source_checksum, describe_process
from ssme.data.scoreset import ScoreSet
from ssme.errors import InputError, SsmeWarning
from ssme.executors import SerialExecutor
from ssme.results.evaluation import Evaluation

Work = Callable[..., list[dict[str, Any]]]
"""Makes the result rows of a `Trial`, and of its options by name; at the top of a module."""
Measure = Callable[[Evaluation, Truth], list[dict[str, Any]]]
"""What a cell keeps of an evaluation, as plain values; picklable, known by its name."""


@dataclass(frozen=True)
class Protocol(ssme.bench.Protocol):
    """What a study runs: methods by name or functions (`Work`), with their options.

    ``subsets`` of the classifiers are by the name of the data set, ``first_run`` is the number of
    the first split, ``truth_rows`` the most held-out rows that the truth is computed on. With
    ``fewer_unlabeled`` a data set that is too small gives as many unlabeled rows as it has.
    """

    subsets: dict[str, list[tuple[str, ...]]] = field(default_factory=dict)
    first_run: int = 0
    truth_rows: int | None = None
    fewer_unlabeled: bool = False

    def list_cells(self, datasets: Sequence[str]) -> Iterator[Cell]:
        """All the work run by run: if it is stopped early, the first runs are complete."""
        for cell in bench_protocol.list_cells(self, datasets):
            run = self.first_run + cell.run
            for subset in self.subsets.get(cell.dataset, [()]):
                yield Cell(**{**vars(cell), "run": run, "subset": subset})


@dataclass(frozen=True)
class Cell(bench_protocol.Cell):
    """One unit of work: a method, or a function, on one split of one data set."""

    @property
    def work(self) -> str:
        return self.method if isinstance(self.method, str) else name_function(self.method)


def name_function(function: Any) -> str:
    """Module and name of a function; a module that runs as a program has its own name, not
    ``__main__``, which it has in one process and not in its workers."""
    spec = getattr(sys.modules.get(function.__module__), "__spec__", None)
    return f"{function.__module__ if spec is None else spec.name}.{function.__name__}"


@lru_cache(maxsize=64)
def compute_code_checksum(function: Any) -> str:
    """The checksum of the Python files in the folder that ``function`` is written in."""
    code = getattr(function, "__code__", None)
    file = Path(code.co_filename if code is not None else "")
    if not file.is_file():
        raise InputError(
            f"{function!r} is in no file, and a change of it would not be noticed",
            hint="put it at the top of a module, which worker processes can import too",
        )
    return compute_source_checksum(file.parent)


@dataclass(frozen=True)
class Scene:
    """What is done to the data of a run before a method sees them: nothing by default.

    A study of altered data, or of labels that were chosen in another way, has its own scene,
    identified by its name. It is picklable and hashable, as dataclasses at the top of a module are.
    """

    name: str = ""

    def change(self, data: ScoreSet, run: int) -> ScoreSet:
        """Change the data of a run, in which every row has a label; they give the truth."""
        return data

    def label(self, rows: ScoreSet, n_labeled: int, run: int) -> ScoreSet:
        """Choose which labels a method sees; by default the first rows keep theirs."""
        return hide_labels(rows, n_labeled)

    def split(
        self,
        labels: IntArray,
        n_labeled: int,
        n_unlabeled: int,
        run: int,
        /,
        *,
        seed: int,
        dataset: str,
    ) -> Split:
        """Choose which rows are seen and which give the truth; by default those of `split_rows`."""
        return split_rows(labels, n_labeled, n_unlabeled, run, seed=seed, dataset=dataset)


@dataclass(frozen=True)
class Trial:
    """A cell with its rows."""

    cell: Cell
    data: ScoreSet
    split: Split
    scene: Scene

    @property
    def dataset(self) -> str:
        return self.cell.dataset

    @property
    def n_labeled(self) -> int:
        return self.cell.n_labeled

    @property
    def n_unlabeled(self) -> int:
        return self.cell.n_unlabeled

    @property
    def run(self) -> int:
        return self.cell.run

    @cached_property
    def rows(self) -> ScoreSet:
        """The rows that are seen, with all their labels."""
        return self.data.take(self.split.seen)

    @cached_property
    def seen(self) -> ScoreSet:
        """What a method sees."""
        return self.scene.label(self.rows, self.n_labeled, self.run)

    @cached_property
    def held(self) -> ScoreSet:
        """The rows that give the truth, with their labels."""
        return self.data.take(self.split.truth)


def seen_rows(data: ScoreSet, split: Split) -> ScoreSet:
    """The rows that a method sees; the unlabeled ones lose their labels."""
    return hide_labels(data.take(split.seen), len(split.labeled))


@dataclass(frozen=True)
class Runner(bench_runner.Runner):
    """Computes one cell of a study; it is picklable, so that any executor can carry it."""

    protocol: Protocol
    measure: Measure | None = None
    scene: Scene = field(default_factory=Scene)

    def name(self, cell: bench_protocol.Cell, content: str) -> Name:
        key, settings = super().name(cell, content)
        kept = "" if self.measure is None else f"|{name_function(self.measure)}"
        return key + kept + (f"|{self.scene.name}" if self.scene.name else ""), settings

    def describe(self, cell: bench_protocol.Cell, content: str) -> dict[str, Any]:
        """A function is identified by checksums of ssme and of the files in its folder."""
        if isinstance(cell.method, str):
            decisive = super().describe(cell, content)
        else:
            decisive = {
                "data": content,
                "source": describe_process()["source"],
                "code": compute_code_checksum(cell.method),
                "options": {name: encode_option(value) for name, value in cell.options},
                "seed": self.protocol.seed,
            }
        truth_rows = self.protocol.truth_rows
        return decisive if truth_rows is None else {**decisive, "truth_rows": truth_rows}

    def make_trial(self, cell: bench_protocol.Cell) -> Trial:
        """Read the rows of a cell."""
        data = _make_data(self.load, cell.dataset, cell.subset, self.scene, cell.run)
        n_unlabeled = cell.n_unlabeled
        if self.protocol.fewer_unlabeled:
            n_unlabeled = min(n_unlabeled, data.n_rows // 2 - cell.n_labeled)
        where = {"seed": self.protocol.seed, "dataset": cell.dataset}
        split = self.scene.split(data.labels, cell.n_labeled, n_unlabeled, cell.run, **where)
        kept = replace(split, truth=split.truth[: self.protocol.truth_rows])
        return Trial(cell, data, kept, self.scene)

    def compute(self, cell: bench_protocol.Cell) -> tuple[list[dict[str, Any]], float]:
        if not isinstance(cell.method, str):
            trial = self.make_trial(cell)
            start = time.perf_counter()
            rows = cell.method(trial, **dict(cell.options))
            seconds = time.perf_counter() - start
            return [{k: _as_plain(value) for k, value in row.items()} for row in rows], seconds
        metrics, protocol = self.list_metrics(cell.dataset, cell.method), self.protocol
        if not metrics:
            return [], 0.0
        trial = self.make_trial(cell)
        result, seconds = self.evaluate(cell, trial.rows, trial.seen, metrics)
        truth = _compute_truth(
            self.load,
            cell.dataset,
            cell.subset,
            self.scene,
            cell.run,
            metrics,
            protocol.by,
            protocol.seed,
            protocol.truth_rows,
        )
        return (self.measure or pair_with_truth)(result, truth), seconds


def _as_plain(value: Any) -> Any:
    """A number of numpy as one of Python, which a file of cells can hold; the same in all bits."""
    return value.item() if isinstance(value, np.generic) else value


@lru_cache(maxsize=2)
def _make_data(
    load: Loader, dataset: str, subset: tuple[str, ...], scene: Scene, run: int
) -> ScoreSet:
    data = load_checked(load, dataset)
    return scene.change(data.select(subset) if subset else data, run)


@lru_cache(maxsize=64)
def _compute_truth(
    load: Loader,
    dataset: str,
    subset: tuple[str, ...],
    scene: Scene,
    run: int,
    metrics: tuple[str, ...],
    by: tuple[str, ...],
    seed: int,
    most_rows: int | None,
) -> Truth:
    data = _make_data(load, dataset, subset, scene, run)
    split = scene.split(data.labels, data.n_classes, 0, run, seed=seed, dataset=dataset)
    groupings = bench_runner.settle_groupings(load, dataset, by)
    return bench_runner.measure_truth(data.take(split.truth[:most_rows]), metrics, groupings)


bench_runner.CACHES.extend([_make_data, _compute_truth])

# -------------------------------------------------------------------------------------------------
# Several protocols at once


class UnfinishedError(RuntimeError):
    """The time given was up before every cell was done; the same call goes on where it stopped."""


@dataclass(frozen=True)
class Study:
    """A protocol on some data sets."""

    runner: Runner
    datasets: tuple[str, ...]


class StudyTables(NamedTuple):
    """The tables of a study."""

    rows: Any
    times: Any


def run_studies(
    studies: Sequence[Study],
    *,
    executor: Executor | None = None,
    cells: Path | None = None,
    seconds: float | None = None,
    leave_out: Literal["cells", "runs"] | None = None,
) -> list[StudyTables]:
    """Run several studies at once; finished cells are kept in the file ``cells``.

    After ``seconds`` no cell is begun (with 0, only what is finished is read) and, unless all are
    done, `UnfinishedError` is raised. ``leave_out`` instead leaves unfinished and refused cells out
    of the tables, or all runs that are not whole.
    """
    end = math.inf if seconds is None else time.monotonic() + seconds
    store, pool = CellStore(cells), executor or SerialExecutor()
    wanted = [list(study.runner.protocol.list_cells(study.datasets)) for study in studies]
    total = sum(map(len, wanted))
    if not store.done and time.monotonic() >= end and not leave_out:
        raise UnfinishedError(f"0 of {total} cells are finished")
    contents: dict[Loader, dict[str, str]] = {}
    for load in dict.fromkeys(study.runner.load for study in studies):
        names = [name for study in studies if study.runner.load == load for name in study.datasets]
        contents[load] = bench_runner.compute_contents(pool, load, names)
    tasks: list[list[Task]] = [
        [study.runner.make_task(cell, contents[study.runner.load]) for cell in own]
        for study, own in zip(studies, wanted, strict=True)
    ]
    refused: dict[Name, InputError] = {}
    every = [task for own in tasks for task in own]
    bench_runner.compute_tasks(every, store, pool, end=end, refused=refused if leave_out else None)
    missing = sum(task.name not in store for task in every)
    if missing and not leave_out:
        raise UnfinishedError(f"{total - missing} of {total} cells are finished")
    broken = set()
    if leave_out == "runs":
        known = store.done.keys() | refused.keys()
        broken = {task.cell.run for task in every if task.name not in known}
        if broken and broken >= {task.cell.run for task in every}:
            broken.remove(min(broken))
    finished = [
        [
            (task.cell, store[task.name])
            for task in own
            if task.name in store and task.cell.run not in broken
        ]
        for own in tasks
    ]
    if missing:
        why = f": {next(iter(refused.values()))}" if refused else ""
        left_out = total - sum(map(len, finished))
        text = f"{left_out} of {total} cells are left out{why}"
        warnings.warn(text, SsmeWarning, stacklevel=2)
    return [
        StudyTables(*bench_runner.make_tables(study.runner.protocol.seed, own))
        for study, own in zip(studies, finished, strict=True)
    ]
