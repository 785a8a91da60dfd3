"""Probabilities corrected by how often such probabilities were true on benchmark sets.

``measured.csv``, in this folder, has for methods and metrics that were measured, by the number of
labels and in bins of the probability that was reported, how often the event was true:

    best      a model is the best of all          better    a model is better than another one
    within    the pick is behind the best model by no more than a margin, 0.005 to 0.02
    worst     a group of rows is the worst of its grouping

In bin b the mean reported probability s_b was true with frequency t_b, with standard error e_b
between sets. The corrected value at s_b is

    c_b = s_b + (t_b - s_b) tau^2 / (tau^2 + e_b^2),        tau = 0.1,

made monotone, and linear between the bins; 0 and 1 (1/2 and 1 for "better") stay. A bin that few
sets reached changes little. tau was chosen on the development sets for the further ones and the
other way around (`benchmarks.decide.record`). Probabilities of alternatives that exclude each
other are scaled to the sum one again. With two models P(best) is P(better).

`python -m benchmarks.decide.record` writes the file. A metric is found by its kind, and the number
of labels that is nearest on a logarithmic scale counts. Nothing was measured for other methods and
metrics, for judges, for models compared on a group of rows, and without labels: there the
probability of the method is reported and called not calibrated.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal

import numpy as np

from ssme.arrays import FloatArray
from ssme.metrics import kinds, registry
from ssme.metrics.base import Metric

What = Literal["best", "better", "within", "worst"]

MARGINS = (0.005, 0.01, 0.02)
"""Margins with which "within" was measured, all of them together."""


@dataclass(frozen=True)
class Bin:
    """Mean probability that was ``reported``, how often it was ``true``, and its standard error."""

    reported: float
    true: float
    error: float


@dataclass(frozen=True)
class Record:
    """What was measured of ``method`` for ``metric`` and about so many labels.

    ``bins`` are those of each kind of probability in rising order, empty where nothing was
    measured; ``spread`` is the standard deviation of true frequencies about the reported ones.
    """

    method: str
    metric: str
    bins: tuple[tuple[What, Bin], ...] = ()
    spread: float = 0.1

    def knows(self, what: What) -> bool:
        """Whether such probabilities were measured."""
        return any(kind == what for kind, _ in self.bins)

    def correct(self, what: What, reported: FloatArray | float) -> FloatArray:
        """Corrected probabilities, unchanged where nothing was measured; NaN stays."""
        given: FloatArray = np.asarray(reported, dtype=np.float64)
        bins = [each for kind, each in self.bins if kind == what]
        if not bins:
            return given
        least = 0.5 if what == "better" else 0.0
        at, true, error = np.array([(b.reported, b.true, b.error) for b in bins]).T
        variance = self.spread**2 + error**2
        value = at + (true - at) * self.spread**2 / variance
        value = np.clip(-make_falling(-value, 1.0 / variance), least, 1.0)
        above = given >= least
        side = np.where(above, given, 1.0 - given)
        out: FloatArray = np.interp(side, [least, *at, 1.0], [least, *value, 1.0])
        return np.where(above, out, 1.0 - out)

    def correct_shares(self, what: What, reported: FloatArray) -> FloatArray:
        """Probabilities of all of several alternatives, corrected and scaled to the sum one."""
        if not self.knows(what):
            return reported
        two = what == "best" and np.isfinite(reported).sum() == 2
        out = self.correct("better" if two else what, reported)
        total = np.nansum(out)
        return out / total if total > 0.0 else reported

    def list_remarks(self, what: What, shown: np.typing.ArrayLike) -> list[str]:
        """A remark that probabilities ``shown`` are not calibrated; none where they are."""
        if self.knows(what) or not np.isfinite(shown).any():
            return []
        where = f" for {self.metric} with method {self.method}" if self.method else ""
        return [f"P({what}) is not calibrated: no benchmark measured it{where}."]


UNMEASURED = Record("", "")
"""The record of a method of which nothing is known."""


def find_record(method: str, metric: Metric, n_classes: int, n_labeled: int) -> Record:
    """What was measured of ``method``, for the kind of ``metric`` and about so many labels.

    >>> from ssme.metrics import get_metric
    >>> find_record("ensemble", get_metric("accuracy"), 2, 50).knows("best")
    False
    """
    rows = [
        row
        for (name, measured), found in _read().items()
        if name == method
        and (of := registry.get_metric(measured)).greater_is_better == metric.greater_is_better
        and kinds.is_same_metric(of.kind, metric.kind, n_classes, any_threshold=True)
        for row in found
    ]
    if not rows or n_labeled < 1:
        return Record(method, metric.name)
    near = min({n for n, _, _ in rows}, key=lambda n: abs(math.log(n / n_labeled)))
    return Record(method, metric.name, tuple((what, each) for n, what, each in rows if n == near))


@cache
def _read() -> dict[tuple[str, str], list[tuple[int, What, Bin]]]:
    """The lines of the file by method and metric: number of labels, event and bin."""
    text = (files(__package__) / "measured.csv").read_text(encoding="utf-8")
    found: dict[tuple[str, str], list[tuple[int, What, Bin]]] = {}
    for row in csv.DictReader(text.splitlines()):
        counted = Bin(*(float(row[name]) for name in ("said", "true", "error")))
        what: What = row["what"]  # type: ignore[assignment]
        key = (row["method"], row["metric"])
        found.setdefault(key, []).append((int(row["n_labeled"]), what, counted))
    return found


def make_falling(
    values: Sequence[float] | FloatArray, weights: Sequence[float] | FloatArray | None = None
) -> FloatArray:
    """The nearest values (weighted least squares) that never rise.

    Neighbors that rise are pooled into their mean (Barlow, Bartholomew, Bremner and Brunk 1972).
    """
    pools: list[tuple[float, float, int]] = []
    for value, weight in zip(
        values, np.ones(len(values)) if weights is None else weights, strict=True
    ):
        mean, mass, size = float(value), float(weight), 1
        while pools and pools[-1][0] < mean:
            before, heavy, many = pools.pop()
            mean = (before * heavy + mean * mass) / (heavy + mass)
            mass, size = heavy + mass, many + size
        pools.append((mean, mass, size))
    return np.repeat([mean for mean, _, _ in pools], [size for _, _, size in pools])
