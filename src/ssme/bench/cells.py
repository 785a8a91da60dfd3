"""The work of a benchmark, piece by piece.

A `Cell` is one piece of work: a method, or a function, on one split of one data set. A `Scene` is
what is done to the data of a run before a method sees them, and a `Trial` is a cell with its rows.
What is done with a trial is a method, which is evaluated and measured, or a function from the trial
to result rows.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ssme.bench.provenance import name_function
from ssme.bench.splits import Split, split_rows
from ssme.data.scoreset import UNLABELED, ScoreSet

__all__ = ["Cell", "Scene", "Trial", "Work", "encode_option", "seen_rows"]

IntArray = NDArray[np.int64]
Work = Callable[..., list[dict[str, Any]]]
"""Makes the result rows of a `Trial`, and of its options by name; at the top of a module."""


@dataclass(frozen=True)
class Cell:
    """One unit of work: a method, or a function, on one split of one data set.

    Attributes
    ----------
    dataset : str
        Name of the data set.
    subset : tuple of str
        Names of the classifiers that are used; empty for all.
    n_labeled, n_unlabeled, run : int
        Numbers of labeled and unlabeled rows, and number of the run.
    label : str
        What tables call the method.
    method : str or callable
        Name of the method, or the function that makes the result rows.
    options : tuple of pairs
        Options of the method, by name.
    """

    dataset: str
    subset: tuple[str, ...]
    n_labeled: int
    n_unlabeled: int
    run: int
    label: str
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
        """Where its rows stand in a table, whatever finished first."""
        size = (self.n_labeled, self.n_unlabeled)
        return (self.dataset, self.subset, *size, self.run, self.label)


@dataclass(frozen=True)
class Scene:
    """What is done to the data of a run before a method sees them: nothing by default.

    A study of altered data, or of labels that were chosen in another way, has a scene of its own,
    told apart by its name. It is picklable and hashable, as dataclasses at the top of a module are.

    Parameters
    ----------
    name : str
        Name of the scene.
    """

    name: str = ""

    def change(self, data: ScoreSet, run: int) -> ScoreSet:
        """Change the data set of a run.

        Parameters
        ----------
        data : ScoreSet
            The data set, in which every row has a label.
        run : int
            Number of the run.

        Returns
        -------
        ScoreSet
            The changed data set, in which every row has a label; the truth is that of these data.
        """
        return data

    def label(self, rows: ScoreSet, n_labeled: int, run: int) -> ScoreSet:
        """Choose which labels a method sees; by default the first rows keep theirs.

        Parameters
        ----------
        rows : ScoreSet
            Rows that all have their label; the first ones contain one row of each class.
        n_labeled : int
            Number of labels.
        run : int
            Number of the run.

        Returns
        -------
        ScoreSet
            The rows as a method sees them.
        """
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
        """Choose which rows are seen and which give the truth; by default those of `split_rows`.

        Parameters
        ----------
        labels : array of int
            Labels of all rows.
        n_labeled, n_unlabeled, run : int
            Numbers of labeled and unlabeled rows, and number of the run.
        seed : int
            Seed of the splits.
        dataset : str
            Name of the data set.

        Returns
        -------
        Split
        """
        return split_rows(labels, n_labeled, n_unlabeled, run, seed=seed, dataset=dataset)


@dataclass(frozen=True)
class Trial:
    """A cell with its rows.

    Attributes
    ----------
    cell : Cell
        The cell.
    data : ScoreSet
        All rows of the run, as the scene makes them.
    split : Split
        Which of them are labeled, unlabeled and held out.
    scene : Scene
        What was done to the data.
    """

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
    """Take the rows that a method sees; the unlabeled ones lose their labels.

    Parameters
    ----------
    data : ScoreSet
        A data set in which every row has a label.
    split : Split
        The split of a run.

    Returns
    -------
    ScoreSet

    Examples
    --------
    >>> import numpy as np
    >>> import ssme
    >>> data = ssme.ScoreSet.from_arrays({"a": np.linspace(0, 1, 40)}, np.arange(40) % 2)
    >>> split = split_rows(data.labels, 5, 10, 0, seed=0, dataset="example")
    >>> seen = seen_rows(data, split)
    >>> seen.n_labeled, seen.n_unlabeled
    (5, 10)
    """
    rows = data.take(np.concatenate([split.labeled, split.unlabeled]))
    return Scene().label(rows, len(split.labeled), 0)


def encode_option(value: Any) -> Any:
    """An option's value for JSON; a record of values is told by its type and a checksum."""
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
