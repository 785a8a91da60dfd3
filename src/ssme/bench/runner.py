"""One cell of a protocol: the rows of one split of one data set, and what is made of them.

    scene -> split -> trial -> `ssme.evaluate` -> measure(evaluation, truth) -> rows
                            -> function(trial) -> rows

A worker loads a data set once and keeps the truth of the runs it has met last. `ssme.bench.studies`
runs all cells.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np

import ssme
from ssme.bench.cells import Cell, Scene, Trial
from ssme.bench.protocol import Protocol
from ssme.bench.provenance import compute_content_checksum, describe_process, name_function
from ssme.data.grouping import LARGEST_NUMBER_OF_GROUPS, Pooling, divide, parse_group_by
from ssme.data.scoreset import ScoreSet
from ssme.errors import InputError, SsmeWarning, argument
from ssme.evaluation import Evaluation
from ssme.methods.base import check_supported
from ssme.methods.registry import find_method_class, get_method
from ssme.metrics import default_metrics, get_metric
from ssme.metrics.base import one_hot_mass
from ssme.results.table import COLUMNS

__all__ = ["Runner", "put_beside_truth"]

Loader = Callable[[str], ScoreSet]
Truth = dict[tuple[str, str, str], float]
"""The metric on the held-out half, by group, metric and model."""
Measure = Callable[[Evaluation, Truth], list[dict[str, Any]]]
"""What a cell keeps of an evaluation, as plain values; picklable, known by its name."""


@dataclass(frozen=True)
class Runner:
    """Computes one cell; it is picklable, so that any executor can carry it.

    Parameters
    ----------
    protocol : Protocol
        What is run.
    load : callable
        ``load(name)`` returns a data set in which every row has a label; it is called once per
        worker and data set.
    measure : callable, optional
        Makes the rows that are kept from an evaluation and the truth (default: one per estimate).
    scene : Scene
        Changes the data of a run, or chooses which of its rows are seen, have a label and give the
        truth.
    """

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
                allowed="data that stays as it is until the run ends",
                fix="run it again; finished cells of the earlier content are kept apart",
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
        """Name a finished cell by its work and by all that decides its numbers.

        Parameters
        ----------
        cell : Cell
            The cell.
        content : str
            Checksum of the data.

        Returns
        -------
        tuple of str
        """
        kept = "" if self.measure is None else f"|{name_function(self.measure)}"
        scene = f"|{self.scene.name}" if self.scene.name else ""
        return cell.key + kept + scene, self.protocol.describe_settings(cell, content)

    def leaves_out(self, dataset: str, method: str) -> bool:
        """Say whether a method can do none of what the protocol asks for on a data set.

        Parameters
        ----------
        dataset, method : str
            Names of the data set and of the method.

        Returns
        -------
        bool
        """
        protocol = self.protocol
        return not _list_metrics(method, dataset, self.load, protocol.metrics, bool(protocol.by))

    def make_trial(self, cell: Cell) -> Trial:
        """Read the rows of a cell.

        Parameters
        ----------
        cell : Cell
            The cell.

        Returns
        -------
        Trial
        """
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
        return (self.measure or put_beside_truth)(result, truth), seconds


def put_beside_truth(result: Evaluation, truth: Truth) -> list[dict[str, Any]]:
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
    for metric in metrics or default_metrics(data.n_classes):
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
