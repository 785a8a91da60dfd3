"""Run a protocol: resumable, parallel, the same tables whatever the number of workers.

    split -> `ssme.evaluate` -> one row per estimate, with the truth

Every finished cell is kept by the parent process as soon as it is done (`ssme.bench.store`), with
the settings and versions it was computed with; only what is missing is computed. Tables are sorted
by cell, so neither order of completion nor workers show in them; times are kept apart, in
``times.csv``, since they alone differ from run to run. A worker loads a data set once and keeps the
truth of the runs it has met last.
"""

from __future__ import annotations

import json
import math
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass, fields
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import ssme
from ssme import progress, schema
from ssme.bench.protocol import Cell, Protocol, encode_option, hide_labels, list_cells, split_rows
from ssme.bench.store import CellStore, compute_content_checksum, describe_process, write_table
from ssme.data import grouping, scoreset
from ssme.errors import InputError, SsmeWarning, warn
from ssme.executors import SerialExecutor, map_in_order
from ssme.methods import base, registry
from ssme.metrics import default_metrics, get_metric
from ssme.metrics.base import one_hot_mass
from ssme.results.evaluation import Evaluation
from ssme.results.table import COLUMNS

Loader = Callable[[str], scoreset.ScoreSet]
Truth = dict[tuple[str, str, str], float]
"""The metric on the held-out half, by group, metric and model."""
Name = tuple[str, str]
"""What a finished cell is found by (`Runner.name`)."""
AHEAD = 256
"""Cells handed to the executor at once: enough to keep any machine's cores busy."""
TRACED = ("ssme", "source", "numpy", "python")
"""What a table says of where its rows come from."""


def run_protocol(
    protocol: Protocol,
    datasets: list[str],
    load: Loader,
    *,
    executor: Executor | None = None,
    folder: Path | None = None,
    overwrite: bool = False,
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
    overwrite : bool
        Whether a table of another run in the folder is overwritten.

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
    >>> protocol = Protocol(["labeled"], metrics=("accuracy",), n_labeled=(20,), runs=2,
    ...                     n_unlabeled=(50,))
    >>> table = run_protocol(protocol, ["example"], lambda name: data)
    >>> len(table)
    2
    """
    pool, store = executor or SerialExecutor(), CellStore(folder and folder / "cells.jsonl")
    contents = compute_contents(pool, load, datasets)
    runner = Runner(protocol, load)
    tasks = [runner.make_task(cell, contents) for cell in list_cells(protocol, datasets)]
    compute_tasks(tasks, store, pool)
    finished = [(task.cell, store[task.name]) for task in tasks]
    table, times = make_tables(protocol.seed, finished)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        write_table(table, times, folder, overwrite=overwrite)
    return table


# -------------------------------------------------------------------------------------------------
# One cell: the rows of one split of one data set, and what is made of them.


@dataclass(frozen=True)
class Runner:
    """Computes one cell; it is picklable, so that any executor can carry it."""

    protocol: Protocol
    load: Loader

    def __call__(self, cell: Cell, content: str) -> dict[str, Any]:
        """All result rows of one cell as plain values; ``content`` is the checksum its data had."""
        if (found := find_content(self.load, cell.dataset)) != content:
            raise InputError(
                f"data set {cell.dataset!r} changed during the run: its checksum was {content} and "
                f"is {found}",
                hint="run it again; finished cells of the earlier content are kept apart",
            )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SsmeWarning)
            rows, seconds = self.compute(cell)
        key, settings = self.name(cell, content)
        return {
            "key": key,
            "settings": settings,
            "provenance": describe_process(),
            "rows": rows,
            "seconds": seconds,
        }

    def name(self, cell: Cell, content: str) -> Name:
        """Name a finished cell by its work and by all that decides its numbers."""
        return cell.key, json.dumps(self.describe(cell, content), separators=(",", ":"))

    def describe(self, cell: Cell, content: str) -> dict[str, Any]:
        """Everything except the split that decides the numbers of a cell, the same in any process.

        Options are those of the method as it ran, defaults included; an oracle's labels are left
        out. ``content`` is the checksum of the data.
        """
        protocol, method = self.protocol, registry.get_method(cell.method, **_choose_options(cell))
        options = {
            each.name: encode_option(getattr(method, each.name))
            for each in fields(method)  # type: ignore[arg-type]
            if each.name != "oracle"
        }
        return {
            "data": content,
            "method": cell.method,
            "options": options,
            "metrics": protocol.metrics,
            "by": protocol.by,
            "level": protocol.level,
            "seed": protocol.seed,
            "random_state": cell.run,
        }

    def make_task(self, cell: Cell, contents: dict[str, str]) -> Task:
        """The cell with the checksum of its data; ``contents`` has those of all data sets."""
        content = contents[cell.dataset]
        return Task(self, cell, content, self.name(cell, content))

    def list_metrics(self, dataset: str, method: str) -> tuple[str, ...]:
        """The metrics of the protocol that a method can estimate on a data set."""
        return _list_metrics(
            method, dataset, self.load, self.protocol.metrics, bool(self.protocol.by)
        )

    def compute(self, cell: Cell) -> tuple[list[dict[str, Any]], float]:
        """The rows of a method, none where it can do nothing here; the seconds of estimating."""
        metrics, protocol = self.list_metrics(cell.dataset, cell.method), self.protocol
        if not metrics:
            return [], 0.0
        data = load_checked(self.load, cell.dataset)
        split = split_rows(
            data.labels,
            cell.n_labeled,
            cell.n_unlabeled,
            cell.run,
            seed=protocol.seed,
            dataset=cell.dataset,
        )
        rows = data.take(split.seen)
        result, seconds = self.evaluate(cell, rows, hide_labels(rows, cell.n_labeled), metrics)
        truth = _compute_truth(
            self.load, cell.dataset, cell.run, metrics, protocol.by, protocol.seed
        )
        return pair_with_truth(result, truth), seconds

    def evaluate(
        self, cell: Cell, rows: scoreset.ScoreSet, seen: scoreset.ScoreSet, metrics: Sequence[str]
    ) -> tuple[Evaluation, float]:
        """The evaluation of what is ``seen`` of ``rows``, which have all labels; its seconds."""
        start = time.perf_counter()
        result = ssme.evaluate(
            seen,
            method=registry.get_method(cell.method, **_choose_options(cell, rows)),
            metrics=metrics,
            by=list(settle_groupings(self.load, cell.dataset, self.protocol.by)),
            max_groups=schema.LARGEST_NUMBER_OF_GROUPS,
            level=self.protocol.level,
            random_state=cell.run,
        )
        return result, time.perf_counter() - start


def pair_with_truth(result: Evaluation, truth: Truth) -> list[dict[str, Any]]:
    """One row per estimate, with the truth."""
    kept = COLUMNS[: COLUMNS.index("labels_only_from") + 1]
    return [
        {
            **{column: row[column] for column in kept},
            "truth": truth.get((row["group"], row["metric"], row["model"])),
        }
        for row in result.rows()
    ]


def _choose_options(cell: Cell, rows: scoreset.ScoreSet | None = None) -> dict[str, Any]:
    """Options of the method; active testing alone is handed the labels it asks for."""
    options = dict(cell.options)
    if cell.method != "active_testing":
        return options
    oracle = {} if rows is None else {"oracle": rows.label_values}
    return {"budget": cell.n_labeled, **oracle, **options}


@lru_cache(maxsize=32)
def load_checked(load: Loader, dataset: str) -> scoreset.ScoreSet:
    """A data set, in which every row has a label."""
    data = load(dataset)
    if data.n_unlabeled:
        raise InputError(
            f"a benchmark needs the label of every row, and {data.n_unlabeled:,} rows of "
            f"{dataset!r} have none",
            hint="drop these rows; leave `labels=False` and wrong codes of `unlabeled` out",
        )
    return data


@lru_cache(maxsize=4096)
def find_content(load: Loader, dataset: str) -> str:
    """The checksum of the content of a data set."""
    return compute_content_checksum(load_checked(load, dataset))


@lru_cache(maxsize=1024)
def _list_metrics(
    name: str, dataset: str, load: Loader, metrics: tuple[str, ...] | None, by: bool
) -> tuple[str, ...]:
    data, spec = load_checked(load, dataset), registry.find_method_class(name).spec
    if by and not spec.groups:
        return ()
    supported = []
    for metric in metrics or default_metrics(data.n_classes, ordered=data.ordered):
        base.refuse_without_order(data, [get_metric(metric)])
        try:
            base.check_supported(spec, data, [get_metric(metric)])
        except InputError:
            continue
        supported.append(metric)
    return tuple(supported)


@lru_cache(maxsize=64)
def settle_groupings(load: Loader, dataset: str, by: tuple[str, ...]) -> tuple[str, ...]:
    """Groupings whose bins are those of the whole data set, the same in every split."""
    columns = load_checked(load, dataset).groups
    return tuple(grouping.parse_group_by(text, columns).settle(columns).fixed_text for text in by)


@lru_cache(maxsize=64)
def _compute_truth(
    load: Loader, dataset: str, run: int, metrics: tuple[str, ...], by: tuple[str, ...], seed: int
) -> Truth:
    data = load_checked(load, dataset)
    split = split_rows(data.labels, data.n_classes, 0, run, seed=seed, dataset=dataset)
    return measure_truth(data.take(split.truth), metrics, settle_groupings(load, dataset, by))


def measure_truth(
    held: scoreset.ScoreSet, metrics: Sequence[str], groupings: Sequence[str]
) -> Truth:
    """The metrics on the rows ``held``, all of them and the groups of settled groupings."""
    masks: dict[str, Any] = {"all": slice(None)}
    every = grouping.Pooling(most_groups=schema.LARGEST_NUMBER_OF_GROUPS)
    for text in groupings:
        group_by = grouping.parse_group_by(text, held.groups)
        masks |= {each.name: each.rows for each in grouping.divide(group_by, held.groups, every)}
    truth = {}
    for group, part in masks.items():
        mass = one_hot_mass(held.labels[part], held.n_classes)
        for name in metrics:
            values = get_metric(name)(held.scores[part], mass)[0]
            for model, value in zip(held.models, values, strict=True):
                truth[group, name, model] = float(value)
    return truth


CACHES: list[Any] = [load_checked, find_content, _list_metrics, settle_groupings, _compute_truth]


def forget_data() -> None:
    """Load data sets anew: what a loader gives may have changed since the last run."""
    for cache in CACHES:
        cache.cache_clear()


# -------------------------------------------------------------------------------------------------
# All cells, on any executor.


class Task(NamedTuple):
    """One cell to be computed, with the checksum of its data."""

    runner: Runner
    cell: Cell
    content: str
    name: Name


def compute_contents(executor: Executor, load: Loader, datasets: Sequence[str]) -> dict[str, str]:
    """The checksum of the content of each data set, computed where cells are."""
    if isinstance(executor, SerialExecutor):
        forget_data()
    names = list(dict.fromkeys(datasets))
    found = map_in_order(executor, partial(find_content, load), names)
    return dict(zip(names, found, strict=True))


def compute_tasks(
    tasks: Sequence[Task],
    store: CellStore,
    executor: Executor,
    *,
    end: float = math.inf,
    refused: dict[Name, InputError] | None = None,
) -> None:
    """Compute what ``store`` lacks, the first runs first; no cell is begun after the time ``end``.

    Why a cell cannot be computed is put into ``refused``, or raised where that is None.
    """
    every = {task.name: task for task in tasks}
    store.check_versions(list(every))
    todo = [task for name, task in every.items() if name not in store]
    todo.sort(key=lambda task: task.cell.run)
    progress.tell("cells", len(every) - len(todo), len(every))
    work = _collect(executor, todo, end, refused)
    try:
        for done, result in enumerate(work, start=len(every) - len(todo) + 1):
            store.keep(result)
            progress.tell("cells", done, len(every))
    except KeyboardInterrupt:
        if store.path is not None:
            finished = sum(name in store for name in every)
            warn(
                f"interrupted: {finished} of {len(every)} cells are finished and kept in "
                f"{store.path}; the same call goes on from there"
            )
        raise


def _collect(
    executor: Executor, tasks: Iterable[Task], end: float, refused: dict[Name, InputError] | None
) -> Iterator[dict[str, Any]]:
    """Results as they come, at most `AHEAD` cells under way."""
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


def make_tables(seed: int, finished: Iterable[tuple[Cell, dict[str, Any]]]) -> tuple[Any, Any]:
    """All rows, and the time of every cell, as data frames."""
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
            "seed": seed,
            "random_state": cell.run,
            **{name: result["provenance"][name] for name in TRACED},
            "settings": result["settings"],
        }
        rows += [{**head, **row, **tail} for row in result["rows"]]
        times.append({**head, "seconds": result["seconds"], **result["provenance"]})
    return pd.DataFrame(rows), pd.DataFrame(times)
