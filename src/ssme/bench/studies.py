"""Run protocols: resumable, parallel, the same tables whatever the number of workers.

Every finished cell is kept by the parent process as soon as it is done (`ssme.bench.store`), with
the settings and versions it was computed with; only what is missing is computed. Tables are sorted
by cell, so neither order of completion nor workers show in them; times are kept apart, in
``times.csv``, since they alone differ from run to run (`ssme.bench.tables`).

`run_protocol` runs one protocol, `run_studies` several at once, with the cells of the first runs
of all of them before those of the second: what is stopped early has whole runs.
"""

from __future__ import annotations

import math
import time
import warnings
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

from ssme.bench.cells import Cell
from ssme.bench.protocol import Protocol
from ssme.bench.runner import Loader, Measure, Runner, find_content, forget_data
from ssme.bench.store import CellStore
from ssme.bench.tables import write_table
from ssme.engines.executors import SerialExecutor, map_in_order
from ssme.errors import InputError, SsmeWarning
from ssme.progress import tell

__all__ = ["Study", "StudyTables", "UnfinishedError", "run_protocol", "run_studies"]

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
    """A protocol on some data sets.

    Attributes
    ----------
    runner : Runner
        What computes the cells.
    datasets : tuple of str
        Names of the data sets.
    """

    runner: Runner
    datasets: tuple[str, ...]


class StudyTables(NamedTuple):
    """The tables of a study.

    Parameters
    ----------
    rows : pandas.DataFrame
        The result rows.
    times : pandas.DataFrame
        The time that each cell took.
    """

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
    """Run several studies at once.

    Parameters
    ----------
    studies : sequence of Study
        The studies.
    executor, cells, seconds
        As in `run_protocol`; the studies share the file of cells.
    leave_out : {"cells", "runs"}, optional
        What to do with cells that are not begun after ``seconds``, instead of raising
        `UnfinishedError`. With "cells", they, and cells whose data allow no split, are left out of
        the tables with a warning. With "runs", so is every run, in all studies, of which a cell was
        not begun; where that is true of all, what there is of the first is left.

    Returns
    -------
    list of StudyTables
        One per study.
    """
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
    with _tell_if_interrupted(store, list(every)):
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
def _tell_if_interrupted(store: CellStore, names: list[Name]) -> Iterator[None]:
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
