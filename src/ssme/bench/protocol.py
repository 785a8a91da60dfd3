"""The paper's protocol: half of the rows to estimate from, half for the truth.

Per run r the rows are split at random into two halves. From the first, n_l rows keep their label
(at least one of each class) and n_u lose it; a method sees these n_l + n_u rows alone. The truth is
the metric on the second half, which no method sees. Errors are averaged over classifiers, then over
runs (Shanmugam et al. 2025, section 4.3 and appendix B).

`splits` has the split rule, and `cells` what a piece of work is. A `Protocol` lists the cells, and
describes the settings by which the result of a cell is found again.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ssme.bench.store import compute_code_checksum, describe_process, name_function
from ssme.data.scoreset import UNLABELED, ScoreSet
from ssme.errors import InputError, name_argument
from ssme.methods.registry import find_method_class, get_method
from ssme.metrics import get_metric

# -------------------------------------------------------------------------------------------------
# The split of a run: rows that a method sees, with and without their label, and the others.
#
# Per run r the rows are split at random into two halves. From the first, n_l rows keep their label
# (at least one of each class) and n_u lose it. The second half gives the truth. The split of run r
# depends on the seed, the data set and r alone, so every method and metric meets the same rows, and
# the labels of n_l = 20 are among those of n_l = 50.


IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class Split:
    """Row numbers of one run."""

    labeled: IntArray
    unlabeled: IntArray
    truth: IntArray  # the held-out half


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
    one_each = half[np.sort(first)]
    rest = np.delete(half, np.sort(first))
    ordered = np.concatenate([one_each, rest])
    return Split(ordered[:n_labeled], ordered[n_labeled : n_labeled + n_unlabeled], truth)


# -------------------------------------------------------------------------------------------------
# The work of a benchmark, piece by piece.
#
# A `Cell` is one piece of work: a method, or a function, on one split of one data set. A `Scene`
# is what is done to the data of a run before a method sees them, and a `Trial` is a cell with its
# rows. What is done with a trial is a method, which is evaluated and measured, or a function from
# the trial to result rows.


Work = Callable[..., list[dict[str, Any]]]
"""Makes the result rows of a `Trial`, and of its options by name; at the top of a module."""


@dataclass(frozen=True)
class Cell:
    """One unit of work: a method, or a function, on one split of one data set."""

    dataset: str
    subset: tuple[str, ...]  # names of the classifiers; empty for all
    n_labeled: int
    n_unlabeled: int
    run: int
    label: str  # what tables call the method
    method: str | Work
    options: tuple[tuple[str, Any], ...] = ()

    @property
    def key(self) -> str:
        """Name of the work, the same in every process; cells with the same are computed once."""
        options = ",".join(
            f"{k}={encode_option(v) if is_dataclass(v) else v}" for k, v in self.options
        )
        parts = (self.dataset, "+".join(self.subset), self.n_labeled, self.n_unlabeled, self.run)
        work = self.method if isinstance(self.method, str) else name_function(self.method)
        return "|".join(map(str, (*parts, work, options)))

    @property
    def place(self) -> tuple[Any, ...]:
        """The place of its rows in a table, whatever finished first."""
        size = (self.n_labeled, self.n_unlabeled)
        return (self.dataset, self.subset, *size, self.run, self.label)


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
        labels = rows.labels.copy()
        labels[n_labeled:] = UNLABELED
        return rows.replace(labels=labels)

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
        """Name of the data set."""
        return self.cell.dataset

    @property
    def n_labeled(self) -> int:
        """Number of labeled rows."""
        return self.cell.n_labeled

    @property
    def n_unlabeled(self) -> int:
        """Number of unlabeled rows."""
        return self.cell.n_unlabeled

    @property
    def run(self) -> int:
        """Number of the run."""
        return self.cell.run

    @cached_property
    def rows(self) -> ScoreSet:
        """The rows that are seen, with all their labels."""
        return self.data.take(np.concatenate([self.split.labeled, self.split.unlabeled]))

    @cached_property
    def seen(self) -> ScoreSet:
        """What a method sees."""
        return self.scene.label(self.rows, self.n_labeled, self.run)

    @cached_property
    def held(self) -> ScoreSet:
        """The rows that give the truth, with their labels."""
        return self.data.take(self.split.truth)


def seen_rows(data: ScoreSet, split: Split) -> ScoreSet:
    """Take the rows that a method sees; the unlabeled ones lose their labels."""
    rows = data.take(np.concatenate([split.labeled, split.unlabeled]))
    return Scene().label(rows, len(split.labeled), 0)


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
        return [
            type(value).__name__,
            {f.name: _take_apart(getattr(value, f.name)) for f in fields(value)},
        ]
    if isinstance(value, Mapping):
        return sorted(([_take_apart(k), _take_apart(v)] for k, v in value.items()), key=json.dumps)
    if isinstance(value, set | frozenset):
        return sorted((_take_apart(item) for item in value), key=json.dumps)
    if isinstance(value, Iterable):
        return [_take_apart(item) for item in value]
    named = value if hasattr(value, "__qualname__") else type(value)
    return f"{named.__module__}.{named.__qualname__}"


MOST_RUNS = 1_000_000
"""More would not end: their list alone would fill the memory."""


@dataclass(frozen=True)
class Protocol:
    """What a benchmark runs.

    Parameters
    ----------
    methods : mapping
        From the label of the result table to what is run and its options. A method is given by its
        name; it is evaluated, and the evaluation is measured. A function in its place makes the
        result rows itself, from a `Trial` and the options, where a cell takes several evaluations
        or none; ``metrics``, ``by`` and ``level`` are for methods alone.
    metrics : tuple of str, optional
        The metrics (default: those of the SSME paper).
    n_labeled, n_unlabeled : tuple of int
        Numbers of labeled and of unlabeled rows that a method gets.
    runs, first_run : int
        Number of random splits, and the number of the first one.
    by : tuple of str
        Groupings to report on.
    level : float
        Coverage of the intervals.
    seed : int
        Seed of the splits.
    subsets : dict
        From the name of a data set to the subsets of its classifiers that are used.
    truth_rows : int, optional
        Largest number of held-out rows that the truth is computed on (default: all).
    fewer_unlabeled : bool
        Whether a data set that is too small for ``n_unlabeled`` gives as many rows as it has.
    """

    methods: Mapping[str, tuple[str | Work, dict[str, Any]]]
    metrics: tuple[str, ...] | None = None
    n_labeled: tuple[int, ...] = (20, 50, 100)
    n_unlabeled: tuple[int, ...] = (1000,)
    runs: int = 50
    by: tuple[str, ...] = ()
    level: float = 0.95
    seed: int = 0
    subsets: dict[str, list[tuple[str, ...]]] = field(default_factory=dict)
    first_run: int = 0
    truth_rows: int | None = None
    fewer_unlabeled: bool = False

    def __post_init__(self) -> None:
        names = [method for method, _ in self.methods.values() if isinstance(method, str)]
        fewest = 1 if names else 0
        least = {"runs": 1, "n_labeled": fewest, "n_unlabeled": 0, "seed": 0, "first_run": 0}
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

    @classmethod
    def of(cls, methods: list[str], **settings: Any) -> Protocol:
        """Make a protocol over methods at their defaults.

        Parameters
        ----------
        methods : list of str
            Names of the methods.
        **settings
            The other parameters of the protocol.
        """
        return cls(methods={name: (name, {}) for name in methods}, **settings)

    def list_cells(self, datasets: list[str]) -> Iterator[Cell]:
        """List all the work run by run: if it is stopped early, the first runs are complete.

        Parameters
        ----------
        datasets : list of str
            Names of the data sets.

        Yields
        ------
        Cell
        """
        for run in range(self.first_run, self.first_run + self.runs):
            for dataset in datasets:
                for subset in self.subsets.get(dataset, [()]):
                    for n_l, n_u in product(self.n_labeled, self.n_unlabeled):
                        for label, (method, options) in self.methods.items():
                            given = tuple(options.items())
                            yield Cell(dataset, subset, n_l, n_u, run, label, method, given)

    def describe_settings(self, cell: Cell, content: str) -> str:
        """Describe everything except the split that decides the numbers of a cell.

        Options are those of the method as it ran, defaults included; an oracle's labels are left
        out. A function is identified by checksums of this package and of the files in its folder,
        so that a changed one finds none of its earlier cells. The text is the same in
        every process.

        Parameters
        ----------
        cell : Cell
            The cell.
        content : str
            Checksum of the data (`compute_content_checksum`).

        Returns
        -------
        str
            Compact JSON.
        """
        if not isinstance(cell.method, str):
            return self._describe_work(cell, cell.method, content)
        options = dict(cell.options)
        if cell.method == "active_testing":
            options = {"budget": cell.n_labeled, **options}
        method: Any = get_method(cell.method, **options)
        decisive = {
            "data": content,
            "method": cell.method,
            "options": {
                f.name: encode_option(getattr(method, f.name))
                for f in fields(method)
                if f.name != "oracle"
            },
            "metrics": self.metrics,
            "by": self.by,
            "level": self.level,
            "seed": self.seed,
            "random_state": cell.run,
        }
        return self._write_settings(decisive)

    def _describe_work(self, cell: Cell, work: Work, content: str) -> str:
        decisive = {
            "data": content,
            "source": describe_process()["source"],
            "code": compute_code_checksum(work),
            "options": {name: encode_option(value) for name, value in cell.options},
            "seed": self.seed,
        }
        return self._write_settings(decisive)

    def _write_settings(self, decisive: dict[str, Any]) -> str:
        if self.truth_rows is not None:
            decisive["truth_rows"] = self.truth_rows
        return json.dumps(decisive, separators=(",", ":"))
