"""The paper's protocol: half of the rows to estimate from, half for the truth.

Per run r the rows are split at random into two halves. From the first, n_l rows keep their label
(at least one of each class) and n_u lose it; a method sees these n_l + n_u rows alone. The truth is
the metric on the second half, which no method sees. Errors are averaged over classifiers, then over
runs (Shanmugam et al. 2025, section 4.3 and appendix B).

`splits` has the split rule, and `cells` what a piece of work is. A `Protocol` lists the cells, and
describes the settings by which the result of a cell is found again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from itertools import product
from typing import Any

import numpy as np

from ssme.bench.cells import Cell, Work, encode_option
from ssme.bench.provenance import compute_code_checksum, describe_process
from ssme.errors import InputError, argument, name_argument
from ssme.methods.registry import find_method_class, get_method
from ssme.metrics import get_metric

__all__ = ["Protocol"]

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
            raise InputError(
                f"{argument('runs', self.runs)} is not allowed",
                allowed=f"a whole number of at least 1 and at most {MOST_RUNS:,}",
            )
        for name, bound in least.items():
            for value in np.atleast_1d(getattr(self, name)).tolist():
                if value < bound:
                    raise InputError(
                        f"{argument(name, value)} is not allowed",
                        allowed=f"whole numbers of at least {bound}",
                        fix=f"give {bound} or more",
                    )
        for name in ("methods", "n_labeled", "n_unlabeled"):
            if not getattr(self, name):
                raise InputError(
                    f"{argument(name)} is empty", allowed="one or more", fix="name some"
                )
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

        Returns
        -------
        Protocol
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
        """Describe everything beside the split that decides the numbers of a cell.

        Options are those of the method as it ran, defaults included; an oracle's labels are left
        out. What a function does is told by checksums of this package and of the files beside the
        function, so that a changed one finds none of its earlier cells. The text is the same in
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
