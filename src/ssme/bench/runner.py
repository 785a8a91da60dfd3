"""Run a protocol: resumable, parallel, the same table whatever the number of workers.

Every finished cell is kept by the parent process as soon as it is done (`ssme.bench.store`), with
the settings and versions it was computed with; only what is missing is computed. The final table is
sorted by cell, so neither order of completion nor workers show in it; times are kept apart, in
``times.csv``, since they alone differ from run to run (`ssme.bench.tables`).
"""

from __future__ import annotations

import math
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np

import ssme
from ssme.bench.protocol import Cell, Protocol, Split, seen_rows, split_rows
from ssme.bench.provenance import content_checksum, describe_process
from ssme.bench.store import CellStore
from ssme.bench.tables import write_table
from ssme.data.grouping import LARGEST_NUMBER_OF_GROUPS, Pooling, divide, parse_group_by
from ssme.data.scoreset import ScoreSet
from ssme.engines.executors import SerialExecutor, ordered_map
from ssme.errors import InputError, SsmeWarning, argument
from ssme.evaluation import Evaluation
from ssme.methods.base import check_supported
from ssme.methods.registry import get_method, method_class
from ssme.metrics import default_metrics, get_metric
from ssme.metrics.base import one_hot_mass
from ssme.progress import tell
from ssme.results.table import COLUMNS

__all__ = ["Runner", "UnfinishedError", "run_protocol"]

Loader = Callable[[str], ScoreSet]
Truth = dict[tuple[str, str, str], float]
"""The metric on the held-out half, by group, metric and model."""
Measure = Callable[[Evaluation, Truth], list[dict[str, Any]]]
"""What a cell keeps of an evaluation, as plain values; picklable, known by its name."""

AHEAD = 256
"""Cells handed to the executor at once: enough to keep any machine's cores busy."""


class UnfinishedError(RuntimeError):
    """The time given was up before every cell was done; the same call goes on where it stopped."""


@dataclass(frozen=True)
class Runner:
    """Computes one cell; picklable, so that any executor can carry it.

    ``load`` gives a fully labeled `ScoreSet` by name; it runs once per worker and data set.
    ``measure`` makes the rows that are kept from an evaluation and the truth.
    """

    protocol: Protocol
    load: Loader
    measure: Measure | None = None

    def __call__(self, cell: Cell, content: str) -> dict[str, Any]:
        """All result rows of one cell as plain values: none where the method cannot do any.

        ``content`` is the checksum that the data set had when the run began.
        """
        protocol = self.protocol
        data = _load_checked(self.load, cell.dataset)
        if (found := _content(self.load, cell.dataset)) != content:
            raise InputError(
                f"data set {cell.dataset!r} changed during the run: its checksum was {content} and "
                f"is {found}",
                allowed="data that stays as it is until the run ends",
                fix="run it again; finished cells of the earlier content are kept apart",
            )
        if cell.subset:
            data = data.select(cell.subset)
        metrics = _metrics_of(
            cell.method, cell.dataset, self.load, protocol.metrics, bool(protocol.by)
        )
        rows, seconds = self._estimate(cell, data, metrics) if metrics else ([], 0.0)
        key, settings = self.name(cell, content)
        return {
            "key": key,
            "settings": settings,
            "provenance": describe_process(),
            "rows": rows,
            "seconds": seconds,
        }

    def name(self, cell: Cell, content: str) -> tuple[str, str]:
        """What a finished cell is found by: its work, and all that decides its numbers."""
        kept = "" if self.measure is None else f"|{self.measure.__module__}.{self.measure.__name__}"
        return cell.key + kept, self.protocol.settings(cell, content)

    def leaves_out(self, dataset: str, method: str) -> bool:
        """Whether ``method`` can do none of what the protocol asks for on ``dataset``."""
        protocol = self.protocol
        return not _metrics_of(method, dataset, self.load, protocol.metrics, bool(protocol.by))

    def _estimate(
        self, cell: Cell, data: ScoreSet, metrics: tuple[str, ...]
    ) -> tuple[list[dict[str, Any]], float]:
        """The rows and the seconds that estimating took."""
        protocol = self.protocol
        split = split_rows(
            data.labels,
            cell.n_labeled,
            cell.n_unlabeled,
            cell.run,
            seed=protocol.seed,
            dataset=cell.dataset,
        )
        seen, options = seen_rows(data, split), _options(cell, data, split)
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SsmeWarning)
            result = ssme.evaluate(
                seen,
                method=get_method(cell.method, **options),
                metrics=metrics,
                by=list(_settle_groupings(self.load, cell.dataset, protocol.by)),
                max_groups=LARGEST_NUMBER_OF_GROUPS,
                level=protocol.level,
                random_state=cell.run,
            )
        seconds = time.perf_counter() - start
        truth = _truth_of_run(
            self.load, cell.dataset, cell.subset, cell.run, metrics, protocol.by, protocol.seed
        )
        return (self.measure or estimates_beside_truth)(result, truth), seconds


def estimates_beside_truth(result: Evaluation, truth: Truth) -> list[dict[str, Any]]:
    """One row per estimate, with the truth."""
    return [
        {
            **{column: row[column] for column in _KEPT},
            "truth": truth.get((row["group"], row["metric"], row["model"])),
        }
        for row in result.rows()
    ]


_KEPT = COLUMNS[: COLUMNS.index("labels_only_from") + 1]
_TRACED = ("ssme", "source", "numpy", "python")


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
    """Run ``protocol`` over ``datasets`` and return the table (pandas), one row per estimate.

    ``folder`` keeps the tables and the finished cells; a second call goes on where the first
    stopped. A finished cell is taken only for the same content of the data and the same settings,
    and cells of two versions never share a table (`InputError`). ``cells`` is another file for the
    cells, which protocols may share: the same work is done once. A table of another run that is in
    the folder is kept under a new name (``results.1.csv``) unless ``overwrite`` is true.

    ``measure`` makes other rows than one per estimate from each evaluation and the truth.

    After ``seconds`` no cell is begun and, unless all are done, `UnfinishedError` is raised: with
    0, only what is finished is read.
    """
    end = math.inf if seconds is None else time.monotonic() + seconds
    store = CellStore(cells or (folder / "cells.jsonl" if folder else None))
    wanted = list(protocol.cells(datasets))
    if not store.done and time.monotonic() >= end:
        raise UnfinishedError(f"0 of {len(wanted)} cells are finished")
    pool = executor or SerialExecutor()
    contents = _contents(pool, load, datasets)
    runner = Runner(protocol, load, measure)
    names = [runner.name(cell, contents[cell.dataset]) for cell in wanted]
    store.check_versions(names)
    todo = {name: cell for name, cell in zip(names, wanted, strict=True) if name not in store}
    tell("cells", len(wanted) - len(todo), len(wanted))
    work = _collect(pool, runner, [(c, contents[c.dataset]) for c in todo.values()], end)
    with _tell_if_interrupted(store, names):
        for done, result in enumerate(work, start=len(wanted) - len(todo) + 1):
            store.keep(result)
            tell("cells", done, len(wanted))
    missing = sum(name not in store for name in names)
    if missing:
        raise UnfinishedError(f"{len(wanted) - missing} of {len(wanted)} cells are finished")
    finished = [(cell, store[name]) for cell, name in zip(wanted, names, strict=True)]
    return _table(protocol, finished, folder, overwrite)


def _contents(executor: Executor, load: Loader, datasets: list[str]) -> dict[str, str]:
    """The checksum of the content of each data set, computed where cells are."""
    if isinstance(executor, SerialExecutor):
        _load_checked.cache_clear()
        _content.cache_clear()
    checksums = ordered_map(executor, partial(_content, load), datasets)
    return dict(zip(datasets, checksums, strict=True))


@contextmanager
def _tell_if_interrupted(store: CellStore, names: list[tuple[str, str]]) -> Iterator[None]:
    """Say what is kept when Ctrl-C ends the run."""
    try:
        yield
    except KeyboardInterrupt:
        if store.path is not None:
            done = sum(name in store for name in names)
            warnings.warn(
                f"interrupted: {done} of {len(names)} cells are finished and kept in {store.path}; "
                "the same call goes on from there",
                SsmeWarning,
                stacklevel=4,
            )
        raise


def _collect(
    executor: Executor, runner: Runner, cells: Iterable[tuple[Cell, str]], end: float
) -> Iterator[dict[str, Any]]:
    """Results as they come, at most `AHEAD` cells under way; none is begun after ``end``."""
    waiting, running = deque(cells), set[Future[dict[str, Any]]]()
    while waiting or running:
        if time.monotonic() >= end:
            waiting.clear()
            running = {future for future in running if not future.cancel()}
        room = bool(waiting) and len(running) < AHEAD
        if room:
            running.add(executor.submit(runner, *waiting.popleft()))
        done, running = wait(running, timeout=0 if room else None, return_when=FIRST_COMPLETED)
        for future in done:
            yield future.result()


@lru_cache(maxsize=1024)
def _metrics_of(
    name: str, dataset: str, load: Loader, metrics: tuple[str, ...] | None, by: bool
) -> tuple[str, ...]:
    """The metrics of the protocol that the method declares for this data; the rest is left out."""
    data, spec = _load_checked(load, dataset), method_class(name).spec
    if by and not spec.groups:
        return ()
    supported = []
    for metric in metrics or default_metrics(data.n_classes):
        try:
            check_supported(spec, data, [get_metric(metric)])
        except InputError:
            continue
        supported.append(metric)
    return tuple(supported)


def _options(cell: Cell, data: ScoreSet, split: Split) -> dict[str, Any]:
    """Options of the method; active testing alone is handed the labels it asks for."""
    options = dict(cell.options)
    if cell.method != "active_testing":
        return options
    rows = np.concatenate([split.labeled, split.unlabeled])
    return {"budget": len(split.labeled), "oracle": data.label_values[rows], **options}


@lru_cache(maxsize=16)
def _load_checked(load: Loader, dataset: str) -> ScoreSet:
    data = load(dataset)
    if data.n_unlabeled:
        raise InputError(
            f"data set {dataset!r} has {data.n_unlabeled} rows without a label",
            allowed="a fully labeled data set: the protocol hides labels itself",
            fix="drop the rows without a label, and look at what "
            f"{argument('labels', False)} and {argument('unlabeled')} declare unlabeled",
        )
    return data


@lru_cache(maxsize=64)
def _settle_groupings(load: Loader, dataset: str, by: tuple[str, ...]) -> tuple[str, ...]:
    """Groupings whose bins are those of the whole data set, the same in every split."""
    columns = _load_checked(load, dataset).groups
    return tuple(parse_group_by(text, columns).settle(columns).fixed_text for text in by)


@lru_cache(maxsize=4096)
def _content(load: Loader, dataset: str) -> str:
    return content_checksum(_load_checked(load, dataset))


@lru_cache(maxsize=64)
def _truth_of_run(
    load: Loader,
    dataset: str,
    subset: tuple[str, ...],
    run: int,
    metrics: tuple[str, ...],
    by: tuple[str, ...],
    seed: int,
) -> Truth:
    data = _load_checked(load, dataset)
    if subset:
        data = data.select(subset)
    rows = split_rows(data.labels, data.n_classes, 0, run, seed=seed, dataset=dataset).truth
    held = data.take(rows)
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


def _table(
    protocol: Protocol,
    finished: list[tuple[Cell, dict[str, Any]]],
    folder: Path | None,
    overwrite: bool,
) -> Any:
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
            **{name: result["provenance"][name] for name in _TRACED},
            "settings": result["settings"],
        }
        rows += [{**head, **row, **tail} for row in result["rows"]]
        times.append({**head, "seconds": result["seconds"], **result["provenance"]})
    table = pd.DataFrame(rows)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        write_table(table, pd.DataFrame(times), folder, overwrite=overwrite)
    return table
