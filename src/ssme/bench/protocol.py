"""The paper's protocol: half of the rows to estimate from, half for the truth.

Per run r the rows are split at random into two halves. From the first, n_l rows keep their label
(at least one of each class) and n_u lose it; a method sees these n_l + n_u rows alone. The truth is
the metric on the second half, which no method sees. Errors are averaged over classifiers, then over
runs (Shanmugam et al. 2025, section 4.3 and appendix B).

The split of run r depends on the seed, the data set and r alone, so every method and metric meets
the same rows, and the labels of n_l = 20 are among those of n_l = 50.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from itertools import product
from typing import Any

import numpy as np

from ssme.arrays import IntArray
from ssme.data.scoreset import UNLABELED, ScoreSet
from ssme.errors import InputError, name_argument
from ssme.methods.registry import find_method_class
from ssme.metrics import get_metric

MOST_RUNS = 1_000_000
"""More would not end: their list alone would fill the memory."""


@dataclass(frozen=True)
class Protocol:
    """What a benchmark runs.

    Parameters
    ----------
    methods : sequence of str, or mapping
        Names of methods; or, from the label of the result table, a method's name and its options.
    metrics : tuple of str, optional
        The metrics (default: those of the SSME paper).
    n_labeled, n_unlabeled : tuple of int
        Numbers of labeled and of unlabeled rows that a method gets.
    runs : int
        Number of random splits.
    by : tuple of str
        Groupings to report on.
    level : float
        Coverage of the intervals.
    seed : int
        Seed of the splits.
    """

    methods: Mapping[str, tuple[Any, dict[str, Any]]] | Sequence[str]
    metrics: tuple[str, ...] | None = None
    n_labeled: tuple[int, ...] = (20, 50, 100)
    n_unlabeled: tuple[int, ...] = (1000,)
    runs: int = 50
    by: tuple[str, ...] = ()
    level: float = 0.95
    seed: int = 0

    def __post_init__(self) -> None:
        names = [method for method, _ in self.work.values() if isinstance(method, str)]
        least = {"runs": 1, "n_labeled": 1 if names else 0, "n_unlabeled": 0, "seed": 0}
        if self.runs > MOST_RUNS:
            raise InputError(option="runs", value=self.runs, must=f"be at most {MOST_RUNS:,}")
        for name, bound in least.items():
            for value in np.atleast_1d(getattr(self, name)).tolist():
                if value < bound:
                    raise InputError(option=name, value=value, must=f"be at least {bound}")
        for name in ("methods", "n_labeled", "n_unlabeled"):
            if not getattr(self, name):
                raise InputError(option=name, must="name at least one")
        with name_argument("methods"):
            for method in names:
                find_method_class(method)
        with name_argument("metrics"):
            for metric in self.metrics or ():
                get_metric(metric)

    @property
    def work(self) -> Mapping[str, tuple[Any, dict[str, Any]]]:
        """What is run and its options, by the label of the result table."""
        methods = self.methods
        return methods if isinstance(methods, Mapping) else {name: (name, {}) for name in methods}


@dataclass(frozen=True)
class Split:
    """Row numbers of one run."""

    labeled: IntArray
    unlabeled: IntArray
    truth: IntArray  # the held-out half

    @property
    def seen(self) -> IntArray:
        """The rows that a method sees, the labeled ones first."""
        return np.concatenate([self.labeled, self.unlabeled])


def split_rows(
    labels: IntArray, n_labeled: int, n_unlabeled: int, run: int, *, seed: int, dataset: str
) -> Split:
    """Split the rows of a data set at random into halves, with one label of each class first.

    The labeled rows, followed by the unlabeled ones, are the same rows in the same order however
    many of them are labeled, also with no labels.
    """
    rng = np.random.default_rng([seed, zlib.crc32(dataset.encode()), run])
    order = rng.permutation(len(labels))
    half, truth = order[: len(labels) // 2], order[len(labels) // 2 :]
    classes, first = np.unique(labels[half], return_index=True)
    missing = set(np.unique(labels).tolist()) - set(classes.tolist())
    if missing or 0 < n_labeled < len(classes):
        raise InputError(
            f"data set {dataset!r} cannot give every class a label: {len(classes)} classes in the "
            f"half, `n_labeled={n_labeled}`"
            + (f", classes {sorted(missing)} absent" if missing else ""),
            hint="ask for more labels, or merge rare classes",
        )
    if n_labeled + n_unlabeled > len(half):
        raise InputError(
            f"data set {dataset!r} has {len(half)} rows in its half, the protocol asks for "
            f"`n_labeled={n_labeled}` and `n_unlabeled={n_unlabeled}`",
            hint=f"use at most {len(half) - n_labeled} unlabeled rows"
            if n_labeled < len(half)
            else f"ask for at most {len(half) - (n_unlabeled > 0)} labels",
        )
    ordered = np.concatenate([half[np.sort(first)], np.delete(half, np.sort(first))])
    return Split(ordered[:n_labeled], ordered[n_labeled : n_labeled + n_unlabeled], truth)


def hide_labels(rows: ScoreSet, n_labeled: int) -> ScoreSet:
    """``rows`` of which the first keep their labels."""
    labels = rows.labels.copy()
    labels[n_labeled:] = UNLABELED
    return rows.replace(labels=labels)


@dataclass(frozen=True)
class Cell:
    """One unit of work: a method on one split of one data set."""

    dataset: str
    subset: tuple[str, ...]  # names of the classifiers; empty for all
    n_labeled: int
    n_unlabeled: int
    run: int
    label: str  # what tables call the method
    method: Any  # its name; a study may have a function in its place
    options: tuple[tuple[str, Any], ...] = ()

    @property
    def key(self) -> str:
        """Name of the work, the same in every process; cells with the same are computed once."""
        options = ",".join(
            f"{k}={encode_option(v) if is_dataclass(v) else v}" for k, v in self.options
        )
        parts = (self.dataset, "+".join(self.subset), self.n_labeled, self.n_unlabeled, self.run)
        return "|".join(map(str, (*parts, self.work, options)))

    @property
    def work(self) -> str:
        """What is done on the split."""
        return str(self.method)

    @property
    def place(self) -> tuple[Any, ...]:
        """The place of its rows in a table, whatever finished first."""
        size = (self.n_labeled, self.n_unlabeled)
        return (self.dataset, self.subset, *size, self.run, self.label)


def list_cells(protocol: Protocol, datasets: Sequence[str]) -> Iterator[Cell]:
    """All the work run by run: if it is stopped early, the first runs are complete."""
    sizes = list(product(protocol.n_labeled, protocol.n_unlabeled))
    for run, dataset, (n_l, n_u) in product(range(protocol.runs), datasets, sizes):
        for label, (method, options) in protocol.work.items():
            yield Cell(dataset, (), n_l, n_u, run, label, method, tuple(options.items()))


def encode_option(value: Any) -> Any:
    """An option's value for JSON; a record of values becomes its type and a checksum."""
    if is_dataclass(value) and not isinstance(value, type):
        text = json.dumps(_take_apart(value), separators=(",", ":"))
        return f"{type(value).__name__} {hashlib.sha256(text.encode()).hexdigest()[:12]}"
    return _take_apart(value)


def _take_apart(value: Any) -> Any:
    """``value`` in terms that do not depend on the process: no addresses, no order of hashing."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if is_dataclass(value) and not isinstance(value, type):
        values = {each.name: _take_apart(getattr(value, each.name)) for each in fields(value)}
        return [type(value).__name__, values]
    if isinstance(value, Mapping):
        return sorted(([_take_apart(k), _take_apart(v)] for k, v in value.items()), key=json.dumps)
    if isinstance(value, set | frozenset):
        return sorted((_take_apart(item) for item in value), key=json.dumps)
    if isinstance(value, Iterable):
        return [_take_apart(item) for item in value]
    named = value if hasattr(value, "__qualname__") else type(value)
    return f"{named.__module__}.{named.__qualname__}"
