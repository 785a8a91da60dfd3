"""How far to trust a probability: what was said on benchmark sets against what was true.

``measured.csv``, beside this file, has for methods and metrics that were measured, by the number of
labels, how often what was said to be so with probabilities from ``low`` to ``high`` was so:

    best      a model is the best of all          better    a model is better than another one
    set       the set of possible best models holds the best one
    within    the pick is behind the best model by no more than a margin, 0.005 to 0.02
    worst     a group of rows is the worst of its grouping

`python -m benchmarks.decide.record` writes it from the tables of ``benchmarks.decide.choices`` and
``benchmarks.decide.groups``. Every output that has such a probability reads what it says about it
from here. A metric is found by its kind, and the number of labels that is nearest counts, on a
logarithmic scale. Nothing is known of methods and metrics that are not in the file, of judges, of
models compared on a group of rows, and without labels.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Literal

from ssme.metrics.base import Metric
from ssme.metrics.kinds import is_same_metric
from ssme.metrics.registry import get_metric

__all__ = ["MARGINS", "Bin", "Record", "Reliability", "Verdict", "What", "find_record"]

What = Literal["best", "better", "set", "within", "worst"]
Verdict = Literal["as said", "too high", "too low", "not measured"]

HAPPENS = {
    "best": "{true:.0%} of the models reported as the best by {metric} {sure} truly were",
    "better": "{true:.0%} of the models reported as better by {metric} {sure} truly were",
    "set": "{true:.0%} of such sets by {metric} contained the best model",
    "within": "{true:.0%} of the picks reported as so near the best {metric} {sure} truly were",
    "worst": "{true:.0%} of the groups reported as the worst by {metric} {sure} truly were",
}
"""What is counted, by what is said."""
MARGINS = (0.005, 0.01, 0.02)
"""Margins with which "within" was measured, all of them together."""


@dataclass(frozen=True)
class Reliability:
    """What is known of a probability.

    Attributes
    ----------
    verdict : {"as said", "too high", "too low", "not measured"}
        Whether such probabilities were as often true as they said.
    sentence : str
        The same with the numbers behind it.
    """

    verdict: Verdict
    sentence: str


@dataclass(frozen=True)
class Bin:
    """What was said with a probability in [low, high), and how often it was true.

    ``labels`` are the numbers of labels that it was measured with.
    """

    low: float
    high: float
    cases: int
    said: float
    true: float
    labels: tuple[int, ...]


@dataclass(frozen=True)
class Record:
    """What was measured of a method, for a metric and about so many labels.

    Attributes
    ----------
    method, metric : str
        What it is about.
    bins : tuple of (str, Bin)
        What was said, and how often it was true; empty where nothing was measured.
    tolerance : float
        Differences up to this size are none.
    least_cases : int
        Fewest cases that tell something.
    """

    method: str
    metric: str
    bins: tuple[tuple[What, Bin], ...] = ()
    tolerance: float = 0.05
    least_cases: int = 30

    def tell(self, what: What, probability: float | None = None) -> Reliability:
        """How far to trust one probability, or all of a kind.

        Parameters
        ----------
        what : {"best", "better", "set", "within", "worst"}
            What it is the probability of.
        probability : float, optional
            The one that is said. Without it the worst is told: what is most too high, or, where
            nothing is, most too low.
        """
        if probability is not None and what == "better":
            probability = max(probability, 1.0 - probability)
        known = [
            each
            for kind, each in self.bins
            if kind == what and each.cases >= self.least_cases
            if probability is None or each.low <= probability < each.high
        ]
        if not known:
            return Reliability("not measured", self._tell_gap(what))
        worst = max(known, key=lambda each: each.said - each.true)
        if worst.said - worst.true <= self.tolerance:
            worst = min(known, key=lambda each: each.said - each.true)
        verdict = self._judge(worst)
        on = f"On benchmark sets, with method {self.method} and {_count(worst.labels)} labels"
        if verdict == "as said" and probability is None and what != "set":
            off = math.ceil(100 * max(abs(each.said - each.true) for each in known))
            told = f"{on}, P({what}) by {self.metric} was as often true as it says, within {off}"
            return Reliability(verdict, f"{told} percentage points.")
        span = f"with a probability of {_format_span(worst.low, worst.high)}"
        happens = HAPPENS[what].format(metric=self.metric, true=worst.true, sure=span)
        return Reliability(verdict, f"{on}, {happens}.")

    def _tell_gap(self, what: What) -> str:
        if any(kind == what for kind, _ in self.bins):
            return "Such a probability was reported too seldom on benchmark sets to be judged."
        method = f" with method {self.method}" if self.method else ""
        return f"How far to trust such probabilities by {self.metric}{method} was not measured."

    def _judge(self, found: Bin) -> Verdict:
        off = found.said - found.true
        if abs(off) <= self.tolerance:
            return "as said"
        return "too high" if off > 0 else "too low"


def find_record(method: str, metric: Metric, n_classes: int, n_labeled: int) -> Record:
    """What was measured of ``method``, for the kind of ``metric`` and about so many labels.

    Bins with few cases are those of all numbers of labels together.

    Parameters
    ----------
    method : str
        Name of the method.
    metric : Metric
        Any metric; one of a kind that was not measured has an empty record.
    n_classes, n_labeled : int
        Numbers of classes and of labels.

    Examples
    --------
    >>> from ssme.metrics import get_metric
    >>> from ssme.results.reliability import find_record
    >>> find_record("ensemble", get_metric("accuracy"), 2, 50).tell("best").verdict
    'not measured'
    """
    mine = [row for row in _read() if row.method == method and row.is_about(metric, n_classes)]
    if not mine or n_labeled < 1:
        return Record(method, metric.name)
    empty = Record(method, mine[0].metric)
    near = min((row.n_labeled for row in mine), key=lambda n: abs(math.log(n / n_labeled)))
    bins: list[tuple[What, Bin]] = []
    for place in dict.fromkeys((row.what, row.bin.low, row.bin.high) for row in mine):
        same = [row for row in mine if (row.what, row.bin.low, row.bin.high) == place]
        own = [row.bin for row in same if row.n_labeled == near]
        enough = sum(each.cases for each in own) >= empty.least_cases
        bins.append((place[0], _add(own if enough else [row.bin for row in same])))
    return replace(empty, bins=tuple(bins))


@dataclass(frozen=True)
class _Row:
    """A line of the file."""

    method: str
    metric: str
    n_labeled: int
    what: What
    bin: Bin

    def is_about(self, metric: Metric, n_classes: int) -> bool:
        """Whether the line is about a metric of the same kind and direction."""
        measured = get_metric(self.metric)
        alike = is_same_metric(measured.kind, metric.kind, n_classes, any_threshold=True)
        return alike and measured.greater_is_better == metric.greater_is_better


@cache
def _read() -> tuple[_Row, ...]:
    text = (files(__package__) / "measured.csv").read_text(encoding="utf-8")
    return tuple(_parse(row) for row in csv.DictReader(text.splitlines()))


def _parse(row: dict[str, str]) -> _Row:
    low, high, said, true = (float(row[name]) for name in ("low", "high", "said", "true"))
    labels = int(row["n_labeled"])
    counted = Bin(low, high, int(row["cases"]), said, true, (labels,))
    what: What = row["what"]  # type: ignore[assignment]
    return _Row(row["method"], row["metric"], labels, what, counted)


def _add(bins: Iterable[Bin]) -> Bin:
    """Several bins of the same range as one."""
    each = list(bins)
    cases = sum(one.cases for one in each)
    said, true = (
        sum(getattr(one, name) * one.cases for one in each) / cases for name in ("said", "true")
    )
    labels = tuple(sorted({n for one in each for n in one.labels}))
    return Bin(each[0].low, each[0].high, cases, said, true, labels)


def _count(labels: tuple[int, ...]) -> str:
    first, last = labels[0], labels[-1]
    return f"{first}" if first == last else f"{first} to {last}"


def _format_span(low: float, high: float) -> str:
    """A range of probabilities in words."""
    if high > 1.0:
        return f"{low:.0%} or more"
    return f"less than {high:.0%}" if low == 0.0 else f"{100 * low:.0f} to {high:.0%}"
