"""One cell of a protocol: the rows of one split of one data set, and what is made of them.

    scene -> split -> trial -> `ssme.evaluate` -> measure(evaluation, truth) -> rows
                            -> function(trial) -> rows

A worker loads a data set once and keeps the truth of the runs it has met last. `ssme.bench.runner`
runs all cells.
"""

from __future__ import annotations

import math
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

import ssme
from ssme.bench.protocol import Cell, Protocol, Scene, Trial
from ssme.bench.store import (
    CellStore,
    compute_content_checksum,
    describe_process,
    name_function,
    write_table,
)
from ssme.data.grouping import Pooling, divide, parse_group_by
from ssme.data.scoreset import ScoreSet
from ssme.engines.executors import SerialExecutor, map_in_order
from ssme.errors import InputError, SsmeWarning
from ssme.methods.base import check_supported, refuse_without_order
from ssme.methods.registry import find_method_class, get_method
from ssme.metrics import default_metrics, get_metric
from ssme.metrics.base import one_hot_mass
from ssme.progress import tell
from ssme.results.evaluation import Evaluation
from ssme.results.table import COLUMNS
from ssme.schema import LARGEST_NUMBER_OF_GROUPS

Loader = Callable[[str], ScoreSet]
Truth = dict[tuple[str, str, str], float]
"""The metric on the held-out half, by group, metric and model."""
Measure = Callable[[Evaluation, Truth], list[dict[str, Any]]]
"""What a cell keeps of an evaluation, as plain values; picklable, known by its name."""


@dataclass(frozen=True)
class Runner:
    """Computes one cell; it is picklable, so that any executor can carry it."""

    protocol: Protocol
    load: Loader
    measure: Measure | None = None
    scene: Scene = field(default_factory=Scene)

    def __call__(self, cell: Cell, content: str) -> dict[str, Any]:
        """All result rows of one cell as plain values: none where the method cannot do any.

        ``content`` is the checksum that the data set had when the run began.
        """
        if (found := find_content(self.load, cell.dataset)) != content:
            raise InputError(
                f"data set {cell.dataset!r} changed during the run: its checksum was {content} and "
                f"is {found}",
                hint="run it again; finished cells of the earlier content are kept apart",
            )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SsmeWarning)
            rows, seconds = self._compute(cell)
        key, settings = self.name(cell, content)
        return {
            "key": key,
            "settings": settings,
            "provenance": describe_process(),
            "rows": rows,
            "seconds": seconds,
        }

    def name(self, cell: Cell, content: str) -> tuple[str, str]:
        """Name a finished cell by its work and by all that decides its numbers."""
        kept = "" if self.measure is None else f"|{name_function(self.measure)}"
        scene = f"|{self.scene.name}" if self.scene.name else ""
        return cell.key + kept + scene, self.protocol.describe_settings(cell, content)

    def leaves_out(self, dataset: str, method: str) -> bool:
        """Say whether a method can do none of what the protocol asks for on a data set."""
        protocol = self.protocol
        return not _list_metrics(method, dataset, self.load, protocol.metrics, bool(protocol.by))

    def make_trial(self, cell: Cell) -> Trial:
        """Read the rows of a cell."""
        protocol = self.protocol
        data = _make_data(self.load, cell.dataset, cell.subset, self.scene, cell.run)
        n_unlabeled = cell.n_unlabeled
        if protocol.fewer_unlabeled:
            n_unlabeled = min(n_unlabeled, data.n_rows // 2 - cell.n_labeled)
        split = self.scene.split(
            data.labels,
            cell.n_labeled,
            n_unlabeled,
            cell.run,
            seed=protocol.seed,
            dataset=cell.dataset,
        )
        kept = replace(split, truth=split.truth[: protocol.truth_rows])
        return Trial(cell, data, kept, self.scene)

    def _compute(self, cell: Cell) -> tuple[list[dict[str, Any]], float]:
        """The rows and the seconds that they took."""
        if isinstance(cell.method, str):
            return self._estimate(cell, cell.method)
        trial = self.make_trial(cell)
        start = time.perf_counter()
        rows = cell.method(trial, **dict(cell.options))
        seconds = time.perf_counter() - start
        return [{name: _as_plain(value) for name, value in row.items()} for row in rows], seconds

    def _estimate(self, cell: Cell, method: str) -> tuple[list[dict[str, Any]], float]:
        """The rows of a method, none where it can do nothing here; the seconds of estimating."""
        protocol = self.protocol
        metrics = _list_metrics(
            method, cell.dataset, self.load, protocol.metrics, bool(protocol.by)
        )
        if not metrics:
            return [], 0.0
        trial = self.make_trial(cell)
        seen, options = trial.seen, _choose_options(cell, trial.rows)
        start = time.perf_counter()
        result = ssme.evaluate(
            seen,
            method=get_method(method, **options),
            metrics=metrics,
            by=list(_settle_groupings(self.load, cell.dataset, protocol.by)),
            max_groups=LARGEST_NUMBER_OF_GROUPS,
            level=protocol.level,
            random_state=cell.run,
        )
        seconds = time.perf_counter() - start
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


def pair_with_truth(result: Evaluation, truth: Truth) -> list[dict[str, Any]]:
    """One row per estimate, with the truth."""
    return [
        {
            **{column: row[column] for column in _KEPT},
            "truth": truth.get((row["group"], row["metric"], row["model"])),
        }
        for row in result.rows()
    ]


_KEPT = COLUMNS[: COLUMNS.index("labels_only_from") + 1]


def _as_plain(value: Any) -> Any:
    """A number of numpy as one of Python, which a file of cells can hold; the same in all bits."""
    return value.item() if isinstance(value, np.generic) else value


@lru_cache(maxsize=1024)
def _list_metrics(
    name: str, dataset: str, load: Loader, metrics: tuple[str, ...] | None, by: bool
) -> tuple[str, ...]:
    """The metrics of the protocol that the method declares for this data; the rest is left out."""
    data, spec = _load_checked(load, dataset), find_method_class(name).spec
    if by and not spec.groups:
        return ()
    supported = []
    for metric in metrics or default_metrics(data.n_classes, ordered=data.ordered):
        refuse_without_order(data, [get_metric(metric)])
        try:
            check_supported(spec, data, [get_metric(metric)])
        except InputError:
            continue
        supported.append(metric)
    return tuple(supported)


def _choose_options(cell: Cell, rows: ScoreSet) -> dict[str, Any]:
    """Options of the method; active testing alone is handed the labels it asks for."""
    options = dict(cell.options)
    if cell.method != "active_testing":
        return options
    return {"budget": cell.n_labeled, "oracle": rows.label_values, **options}


@lru_cache(maxsize=2)
def _make_data(
    load: Loader, dataset: str, subset: tuple[str, ...], scene: Scene, run: int
) -> ScoreSet:
    data = _load_checked(load, dataset)
    return scene.change(data.select(subset) if subset else data, run)


def forget_data() -> None:
    """Load data sets anew: what a loader gives may have changed since the last run."""
    for cache in (
        _load_checked,
        _make_data,
        _compute_truth,
        _list_metrics,
        _settle_groupings,
        find_content,
    ):
        cache.cache_clear()


@lru_cache(maxsize=32)
def _load_checked(load: Loader, dataset: str) -> ScoreSet:
    data = load(dataset)
    if data.n_unlabeled:
        raise InputError(
            f"data set {dataset!r} has {data.n_unlabeled} rows without a label, and the protocol "
            "hides labels itself",
            hint="drop the rows without a label, and look at what `labels=False` and `unlabeled` "
            "declare unlabeled",
        )
    return data


@lru_cache(maxsize=64)
def _settle_groupings(load: Loader, dataset: str, by: tuple[str, ...]) -> tuple[str, ...]:
    """Groupings whose bins are those of the whole data set, the same in every split."""
    columns = _load_checked(load, dataset).groups
    return tuple(parse_group_by(text, columns).settle(columns).fixed_text for text in by)


@lru_cache(maxsize=4096)
def find_content(load: Loader, dataset: str) -> str:
    """The checksum of the content of a data set."""
    return compute_content_checksum(_load_checked(load, dataset))


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
    held = data.take(split.truth[:most_rows])
    masks: dict[str, Any] = {"all": slice(None)}
    every = Pooling(most_groups=LARGEST_NUMBER_OF_GROUPS)
    for text in _settle_groupings(load, dataset, by):
        group_by = parse_group_by(text, held.groups)
        masks |= {each.name: each.rows for each in divide(group_by, held.groups, every)}
    truth = {}
    for group, part in masks.items():
        mass = one_hot_mass(held.labels[part], held.n_classes)
        for name in metrics:
            values = get_metric(name)(held.scores[part], mass)[0]
            for model, value in zip(held.models, values, strict=True):
                truth[group, name, model] = float(value)
    return truth


# -------------------------------------------------------------------------------------------------
# Run protocols: resumable, parallel, the same tables whatever the number of workers.
#
# Every finished cell is kept by the parent process as soon as it is done (`ssme.bench.store`),
# with the settings and versions it was computed with; only what is missing is computed. Tables
# are sorted by cell, so neither order of completion nor workers show in them; times are kept
# apart, in ``times.csv``, since they alone differ from run to run (`ssme.bench.store`).
#
# `run_protocol` runs one protocol, `run_studies` several at once, with the cells of the first runs
# of all of them before those of the second: what is stopped early has whole runs.


AHEAD = 256
"""Cells handed to the executor at once: enough to keep any machine's cores busy."""

TRACED = ("ssme", "source", "numpy", "python")
"""What a table says of where its rows come from."""

Name = tuple[str, str]
"""What a finished cell is found by (`Runner.name`)."""


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


@dataclass(frozen=True)
class Task:
    """One cell to be computed, with the checksum of its data."""

    runner: Runner
    cell: Cell
    content: str

    @property
    def name(self) -> Name:
        return self.runner.name(self.cell, self.content)


def run_protocol(
    protocol: Protocol,
    datasets: list[str],
    load: Loader,
    *,
    executor: Executor | None = None,
    folder: Path | None = None,
    cells: Path | None = None,
    seconds: float | None = None,
    overwrite: bool = False,
    measure: Measure | None = None,
) -> Any:
    """Run a protocol on data sets.

    Parameters
    ----------
    protocol : Protocol
        What is run.
    datasets : list of str
        Names of the data sets.
    load : callable
        ``load(name)`` returns a data set in which every row has a label.
    executor : Executor, optional
        Where cells are computed (default: in this process).
    folder : pathlib.Path, optional
        Keeps the tables and the finished cells; a second call continues where the first one
        stopped. A finished cell is taken only for the same content of the data and the same
        settings, and cells of two versions never share a table (`InputError`). A table of another
        run that is in the folder is kept under a new name (``results.1.csv``).
    cells : pathlib.Path, optional
        Another file for the cells, which protocols may share: the same work is done once.
    seconds : float, optional
        Time after which no cell is begun and, unless all are done, `UnfinishedError` is raised.
        With 0, only what is finished is read.
    overwrite : bool
        Whether a table of another run in the folder is overwritten.
    measure : callable, optional
        Makes other rows than one per estimate from each evaluation and the truth.

    Returns
    -------
    pandas.DataFrame
        One row per estimate.

    Examples
    --------
    >>> import numpy as np
    >>> import ssme
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 200)
    >>> data = ssme.ScoreSet.from_arrays({"a": np.clip(y * 0.4 + rng.random(200) * 0.6, 0, 1)}, y)
    >>> protocol = Protocol.of(["labeled"], metrics=("accuracy",), n_labeled=(20,), runs=2,
    ...                        n_unlabeled=(50,))
    >>> table = run_protocol(protocol, ["example"], lambda name: data)
    >>> len(table)
    2
    """
    study = Study(Runner(protocol, load, measure), tuple(datasets))
    file = cells or (folder / "cells.jsonl" if folder else None)
    (table, times), *_ = run_studies([study], executor=executor, cells=file, seconds=seconds)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        write_table(table, times, folder, overwrite=overwrite)
    return table


def run_studies(
    studies: Sequence[Study],
    *,
    executor: Executor | None = None,
    cells: Path | None = None,
    seconds: float | None = None,
    leave_out: Literal["cells", "runs"] | None = None,
) -> list[StudyTables]:
    """Run several studies at once."""
    end = math.inf if seconds is None else time.monotonic() + seconds
    store = CellStore(cells)
    wanted = [list(study.runner.protocol.list_cells(list(study.datasets))) for study in studies]
    total = sum(map(len, wanted))
    if not store.done and time.monotonic() >= end and not leave_out:
        raise UnfinishedError(f"0 of {total} cells are finished")
    pool = executor or SerialExecutor()
    contents = _compute_contents(pool, studies)
    tasks = [
        [Task(s.runner, cell, contents[s.runner.load, cell.dataset]) for cell in own]
        for s, own in zip(studies, wanted, strict=True)
    ]
    names = [[task.name for task in own] for own in tasks]
    every = {
        name: task
        for own, ns in zip(tasks, names, strict=True)
        for name, task in zip(ns, own, strict=True)
    }
    store.check_versions(list(every))
    todo = [task for name, task in every.items() if name not in store]
    todo.sort(key=lambda task: task.cell.run)
    tell("cells", len(every) - len(todo), len(every))
    refused: dict[Name, InputError] = {}
    with _warn_if_interrupted(store, list(every)):
        work = _collect(pool, todo, end, refused if leave_out else None)
        for done, result in enumerate(work, start=len(every) - len(todo) + 1):
            store.keep(result)
            tell("cells", done, len(every))
    missing = sum(name not in store for own in names for name in own)
    if missing and not leave_out:
        raise UnfinishedError(f"{total - missing} of {total} cells are finished")
    known = store.done.keys() | refused.keys()
    broken = {task.cell.run for name, task in every.items() if name not in known}
    if leave_out != "runs":
        broken = set()
    elif broken and broken >= {task.cell.run for task in every.values()}:
        broken.remove(min(broken))
    finished = [
        [
            (task.cell, store[name])
            for task, name in zip(own, ns, strict=True)
            if name in store and task.cell.run not in broken
        ]
        for own, ns in zip(tasks, names, strict=True)
    ]
    if missing:
        why = f": {next(iter(refused.values()))}" if refused else ""
        _warn(f"{total - sum(map(len, finished))} of {total} cells are left out{why}")
    return [
        _make_tables(study.runner.protocol, own)
        for study, own in zip(studies, finished, strict=True)
    ]


def _compute_contents(
    executor: Executor, studies: Sequence[Study]
) -> dict[tuple[Loader, str], str]:
    """The checksum of the content of each data set, computed where cells are."""
    if isinstance(executor, SerialExecutor):
        forget_data()
    places = {(study.runner.load, name): None for study in studies for name in study.datasets}
    out: dict[tuple[Loader, str], str] = {}
    for load in dict.fromkeys(load for load, _ in places):
        own = [name for other, name in places if other == load]
        found = map_in_order(executor, partial(find_content, load), own)
        out |= {(load, name): content for name, content in zip(own, found, strict=True)}
    return out


def _warn(text: str) -> None:
    warnings.warn(text, SsmeWarning, stacklevel=3)


@contextmanager
def _warn_if_interrupted(store: CellStore, names: list[Name]) -> Iterator[None]:
    """Say what is kept when Ctrl-C ends the run."""
    try:
        yield
    except KeyboardInterrupt:
        if store.path is not None:
            done = sum(name in store for name in names)
            _warn(
                f"interrupted: {done} of {len(names)} cells are finished and kept in {store.path}; "
                "the same call goes on from there"
            )
        raise


def _collect(
    executor: Executor, tasks: Iterable[Task], end: float, refused: dict[Name, InputError] | None
) -> Iterator[dict[str, Any]]:
    """Results as they come, at most `AHEAD` cells under way; none is begun after ``end``.

    Why a cell cannot be computed is put into ``refused``, or raised where that is None.
    """
    waiting, running = deque(tasks), dict[Future[dict[str, Any]], Task]()
    while waiting or running:
        if time.monotonic() >= end:
            waiting.clear()
            running = {future: task for future, task in running.items() if not future.cancel()}
        room = bool(waiting) and len(running) < AHEAD
        if room:
            task = waiting.popleft()
            running[executor.submit(task.runner, task.cell, task.content)] = task
        done, _ = wait(running, timeout=0 if room else None, return_when=FIRST_COMPLETED)
        for future in done:
            task = running.pop(future)
            try:
                result = future.result()
            except InputError as error:
                if refused is None:
                    raise
                refused[task.name] = error
            else:
                yield result


def _make_tables(protocol: Protocol, finished: list[tuple[Cell, dict[str, Any]]]) -> StudyTables:
    """All rows, and the time of every cell."""
    import pandas as pd

    rows, times = [], []
    for cell, result in sorted(finished, key=lambda each: each[0].place):
        head = {
            "dataset": cell.dataset,
            "subset": "+".join(cell.subset),
            "n_labeled": cell.n_labeled,
            "n_unlabeled": cell.n_unlabeled,
            "run": cell.run,
            "method": cell.label,
        }
        tail = {
            "seed": protocol.seed,
            "random_state": cell.run,
            **{name: result["provenance"][name] for name in TRACED},
            "settings": result["settings"],
        }
        rows += [{**head, **row, **tail} for row in result["rows"]]
        times.append({**head, "seconds": result["seconds"], **result["provenance"]})
    return StudyTables(pd.DataFrame(rows), pd.DataFrame(times))
