"""Run a protocol: resumable, parallel, the same table whatever the number of workers.

Every finished cell is one line of ``cells.jsonl``, written by the parent process as soon as it is
done. After a crash the file is read back (a torn last line is dropped) and only what is missing is
computed. The final table is sorted by cell, so neither order of completion nor workers show in it;
times are kept apart, in ``times.csv``, since they alone differ from run to run. Long tables are
written as Parquet beside the CSV.
"""

from __future__ import annotations

import importlib.util
import json
import time
import warnings
from collections.abc import Callable
from concurrent.futures import Executor, Future, as_completed
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

import ssme
from ssme.bench.protocol import Cell, Protocol, Split, split_rows
from ssme.data.scoreset import UNLABELED, ScoreSet
from ssme.errors import InputError, SsmeWarning
from ssme.methods.base import check_supported
from ssme.methods.registry import get_method, method_class
from ssme.metrics import default_metrics, get_metric
from ssme.metrics.base import one_hot_mass
from ssme.progress import tell

__all__ = ["Runner", "run_protocol"]

Loader = Callable[[str], ScoreSet]

PARQUET_ROWS = 50_000
"""Tables longer than this are written as Parquet too."""


@dataclass(frozen=True)
class Runner:
    """Computes one cell; picklable, so that any executor can carry it.

    ``load`` gives a fully labeled `ScoreSet` by name; it runs once per worker and data set.
    """

    protocol: Protocol
    load: Loader

    def __call__(self, cell: Cell) -> dict[str, Any]:
        """All result rows of one cell, as plain values."""
        data = _loaded(self.load, cell.dataset)
        if cell.subset:
            data = data.select(cell.subset)
        split = split_rows(
            data.labels,
            cell.n_labeled,
            cell.n_unlabeled,
            cell.run,
            seed=self.protocol.seed,
            dataset=cell.dataset,
        )
        seen = _seen(data, split)
        name, options = self.protocol.methods[cell.method]
        metrics = _metrics_of(
            name, cell.dataset, self.load, self.protocol.metrics, bool(self.protocol.by)
        )
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SsmeWarning)
            result = ssme.evaluate(
                seen,
                method=get_method(name, **_options(name, options, data, split)),
                metrics=metrics,
                by=list(self.protocol.by),
                level=self.protocol.level,
                random_state=cell.run,
            )
        seconds = time.perf_counter() - start
        truth = _truth_of_run(
            self.load,
            cell.dataset,
            cell.subset,
            cell.run,
            metrics,
            self.protocol.by,
            self.protocol.seed,
        )
        rows = [
            {
                **{column: row[column] for column in _KEPT},
                "truth": truth.get((row["group"], row["metric"], row["model"])),
            }
            for row in result.rows()
        ]
        return {"key": cell.key, "rows": rows, "seconds": seconds}


_KEPT = (
    "model",
    "group",
    "metric",
    "estimate",
    "low",
    "high",
    "labels_only",
    "labels_only_low",
    "labels_only_high",
)


def run_protocol(
    protocol: Protocol,
    datasets: list[str],
    load: Loader,
    *,
    executor: Executor | None = None,
    folder: Path | None = None,
) -> Any:
    """Run ``protocol`` over ``datasets`` and return the table (pandas), one row per estimate.

    ``folder`` keeps finished cells; a second call with the same protocol goes on where the first
    stopped, and a different protocol in the same folder is refused.
    """
    cells = [cell for cell in protocol.cells(datasets) if _supported(protocol, cell, load)]
    done = _resume(protocol, folder)
    todo = [cell for cell in cells if cell.key not in done]
    finished = len(cells) - len(todo)
    runner = Runner(protocol, load)

    def keep(result: dict[str, Any]) -> None:
        nonlocal finished
        done[result["key"]] = result
        if folder is not None:
            with (folder / "cells.jsonl").open("a", encoding="utf-8") as file:
                file.write(json.dumps(result) + "\n")
        finished += 1
        tell("cells", finished, len(cells))

    tell("cells", finished, len(cells))
    if executor is None:
        for cell in todo:
            keep(runner(cell))
    else:
        pending: list[Future[dict[str, Any]]] = [executor.submit(runner, cell) for cell in todo]
        for future in as_completed(pending):
            keep(future.result())
    return _table(protocol, cells, done, folder)


def _supported(protocol: Protocol, cell: Cell, load: Loader) -> bool:
    """Whether the method declares that it can do any of this cell."""
    name = protocol.methods[cell.method][0]
    return bool(_metrics_of(name, cell.dataset, load, protocol.metrics, bool(protocol.by)))


@lru_cache(maxsize=1024)
def _metrics_of(
    name: str, dataset: str, load: Loader, metrics: tuple[str, ...] | None, by: bool
) -> tuple[str, ...]:
    """The metrics of the protocol that the method declares for this data; the rest is left out."""
    data, spec = _loaded(load, dataset), method_class(name).spec
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


def _options(name: str, options: dict[str, Any], data: ScoreSet, split: Split) -> dict[str, Any]:
    """Options of the method; active testing alone is handed the labels it asks for."""
    if name != "active_testing":
        return options
    rows = np.concatenate([split.labeled, split.unlabeled])
    return {"budget": len(split.labeled), "oracle": data.label_values[rows], **options}


def _seen(data: ScoreSet, split: Split) -> ScoreSet:
    """What a method sees: the labeled and unlabeled rows of the run, labels hidden."""
    rows = np.concatenate([split.labeled, split.unlabeled])
    part = data.take(rows)
    labels = part.labels.copy()
    labels[len(split.labeled) :] = UNLABELED
    return part.replace(labels=labels)


@lru_cache(maxsize=4)
def _loaded(load: Loader, dataset: str) -> ScoreSet:
    data = load(dataset)
    if data.n_unlabeled:
        raise InputError(
            f"data set {dataset!r} has {data.n_unlabeled} rows without a label",
            allowed="a fully labeled data set: the protocol hides labels itself",
            fix="drop the rows without a label",
        )
    return data


@lru_cache(maxsize=64)
def _truth_of_run(
    load: Loader,
    dataset: str,
    subset: tuple[str, ...],
    run: int,
    metrics: tuple[str, ...],
    by: tuple[str, ...],
    seed: int,
) -> dict[tuple[str, str, str], float]:
    data = _loaded(load, dataset)
    if subset:
        data = data.select(subset)
    rows = split_rows(data.labels, data.n_classes, 0, run, seed=seed, dataset=dataset).truth
    held = data.take(rows)
    masks: dict[str, Any] = {"all": slice(None)}
    for column in by:
        for value in set(held.groups[column].tolist()):
            masks[f"{column}={value}"] = np.flatnonzero(held.groups[column] == value)
    truth = {}
    for group, part in masks.items():
        mass = one_hot_mass(held.labels[part], held.n_classes)
        for name in metrics:
            values = get_metric(name)(held.scores[part], mass)[0]
            for model, value in zip(held.models, values, strict=True):
                truth[group, name, model] = float(value)
    return truth


def _resume(protocol: Protocol, folder: Path | None) -> dict[str, dict[str, Any]]:
    """Finished cells of an earlier run in ``folder``; refuses another protocol's."""
    if folder is None:
        return {}
    folder.mkdir(parents=True, exist_ok=True)
    settings = json.loads(json.dumps(_settings(protocol), default=str))
    stamp = folder / "protocol.json"
    if stamp.exists():
        if json.loads(stamp.read_text(encoding="utf-8")) != settings:
            raise InputError(
                f"{folder} holds results of another protocol or version",
                fix="name another folder, or delete this one to start again",
            )
    else:
        stamp.write_text(json.dumps(settings, indent=2) + "\n", encoding="utf-8")
    done: dict[str, dict[str, Any]] = {}
    path = folder / "cells.jsonl"
    if path.exists():
        whole = []
        for line in path.read_text(encoding="utf-8").splitlines(keepends=True):
            try:
                result = json.loads(line)
            except json.JSONDecodeError:
                continue  # torn by a crash: this cell is computed again
            if line.endswith("\n"):
                whole.append(line)
                done[result["key"]] = result
        temporary = path.with_suffix(".tmp")
        temporary.write_text("".join(whole), encoding="utf-8")
        temporary.replace(path)
    return done


def _settings(protocol: Protocol) -> dict[str, Any]:
    versions = {"ssme": ssme.__version__, "numpy": np.__version__}
    return {"protocol": protocol.settings(), "versions": versions}


def _table(
    protocol: Protocol, cells: list[Cell], done: dict[str, dict[str, Any]], folder: Path | None
) -> Any:
    import pandas as pd

    rows, times = [], []
    for cell in sorted(
        cells, key=lambda c: (c.dataset, c.subset, c.n_labeled, c.n_unlabeled, c.run, c.method)
    ):
        head = {
            "dataset": cell.dataset,
            "subset": "+".join(cell.subset),
            "n_labeled": cell.n_labeled,
            "n_unlabeled": cell.n_unlabeled,
            "run": cell.run,
            "method": cell.method,
        }
        result = done[cell.key]
        times.append({**head, "seconds": result["seconds"]})
        rows += [
            {**head, **row, "seed": protocol.seed, "version": ssme.__version__}
            for row in result["rows"]
        ]
    table = pd.DataFrame(rows)
    if folder is not None:
        table.to_csv(folder / "results.csv", index=False)
        if len(table) > PARQUET_ROWS and importlib.util.find_spec("pyarrow"):
            table.to_parquet(folder / "results.parquet", index=False)
        pd.DataFrame(times).to_csv(folder / "times.csv", index=False)
    return table
