"""Reasons to trust an evaluation of systems less, from the table and from how judges agree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from scipy.special import stdtr

from ssme.arrays import BoolArray, FloatArray
from ssme.diagnostics.page import SEVERITIES, Severity
from ssme.methods.clusters import sum_by_cluster
from ssme.systems.rates import JudgedRows, find_consensus
from ssme.systems.reading import SystemTable
from ssme.wording import quote

FEW_LABELS = 20
"""Labels below which the answer depends on what is assumed of judges."""
MOST_ITEMS = 0.9
"""Share of all items that a system has to answer to be compared with the others."""
FEW_ROWS = 10
"""Labeled, and unlabeled, rows from which on they are compared."""
UNLIKELY = 0.0005
"""Probability, by chance, of a difference of labeled and other rows that is warned of."""


class SystemWarning(NamedTuple):
    """A reason to trust the rates less: how serious it is, what it is, and what to do."""

    severity: Severity
    title: str
    reason: str
    advice: str


def find_warnings(
    table: SystemTable, judges: Sequence[Mapping[str, Any]], *, has_bounds: bool
) -> tuple[SystemWarning, ...]:
    """All warnings, the most serious first; ``judges`` is what is known of each judge."""
    found = [
        *_look_at_labels(table),
        *_look_at_choice(table),
        *_look_at_items(table),
        *_look_at_judges(table, judges),
    ]
    if table.n_copies:
        found.append(
            SystemWarning(
                "warning",
                "Copies of rows",
                f"{table.n_copies:,} rows are copies of others, and count as repeats of their "
                "items.",
                "Remove them, or add a column that numbers the repeats.",
            )
        )
    low, high = table.unit
    if table.measure == "mean" and not has_bounds and (low, high) != (0.0, 1.0):
        found.append(
            SystemWarning(
                "warning",
                "Ends of the scale are guessed",
                f"Labels are from {low:g} to {high:g}, which are taken to be the ends of the "
                "scale; no estimate is outside of them.",
                "Give the lowest and the highest possible number with `bounds`.",
            )
        )
    return tuple(sorted(found, key=lambda each: SEVERITIES.index(each.severity)))


def _look_at_labels(table: SystemTable) -> Iterator[SystemWarning]:
    rows = table.rows
    counts = np.bincount(rows.systems[rows.labeled], minlength=len(table.systems))
    if rows.seconds is not None:
        counts = counts + np.bincount(rows.seconds[rows.labeled], minlength=counts.size)
    without = [name for name, count in zip(table.systems, counts, strict=True) if not count]
    if without or rows.labeled.size < FEW_LABELS:
        yield SystemWarning(
            "warning",
            f"no label for {', '.join(without)}" if without else f"only {rows.labeled.size} labels",
            "The estimates rest on what the labels of other systems and the usual errors of judges "
            "suggest.",
            f"Have people judge at least {FEW_LABELS} rows at random, of every system.",
        )


def _look_at_choice(table: SystemTable) -> Iterator[SystemWarning]:
    """Whether judges say the same of rows with and without a label, within systems."""
    rows = table.rows
    known = np.isfinite(rows.outcomes)
    if min(known.sum(), (~known).sum()) < FEW_ROWS or rows.seconds is not None:
        return
    verdict = find_consensus(rows.verdicts)
    unsure = -np.abs(verdict - 0.5)
    seen, rest = float(verdict[known].mean()), float(verdict[~known].mean())
    for values, told in (
        (verdict, f"judges' mean verdict is {seen:.2f} on rows with a label and {rest:.2f} on"),
        (unsure, "judges differ about rows with a label more, or less, often than about"),
    ):
        if _compare_parts(values, known, rows) < UNLIKELY:
            yield SystemWarning(
                "serious",
                "Rows with a label differ from the others",
                f"Within systems, {told} the others. Estimates assume that rows were chosen at "
                "random.",
                "Have people judge more rows, at random; leave out labels of rows that were "
                "chosen because of what judges said.",
            )
            return


def _compare_parts(values: FloatArray, part: BoolArray, rows: JudgedRows) -> float:
    """P(a mean of ``values`` as different, by item, in a ``part`` of each system, by chance)."""
    counts = np.bincount(rows.systems)

    def center(column: FloatArray) -> FloatArray:
        found: FloatArray = column - (np.bincount(rows.systems, column) / counts)[rows.systems]
        return found

    off, inside = center(values), center(part.astype(np.float64))
    square = float(inside @ inside)
    groups = min(np.unique(rows.items[own]).size for own in (part, ~part)) - 1.0
    if square <= 0.0 or groups < 1.0:
        return 1.0
    slope = float(inside @ off) / square
    sums = sum_by_cluster(inside * (off - slope * inside), rows.items)
    error = np.sqrt(float(sums @ sums) * (groups + 1.0) / groups) / square
    return 2.0 * float(stdtr(groups, -abs(slope) / error)) if error > 0.0 else 1.0


def _look_at_items(table: SystemTable) -> Iterator[SystemWarning]:
    rows = table.rows
    if rows.seconds is not None or len(table.systems) < 2:
        return
    answered = np.zeros((len(table.systems), len(table.items)), dtype=bool)
    answered[rows.systems, rows.items] = True
    apart = [
        (a, b)
        for a, b in combinations(range(len(answered)), 2)
        if not answered[[a, b]].all(0).any()
    ]
    least = int(answered.sum(axis=1).argmin())
    if apart:
        first, second = (table.systems[at] for at in apart[0])
        reason = f"{first} and {second} have no item in common, so that they are not paired."
    elif answered[least].sum() < MOST_ITEMS * answered.any(axis=0).sum():
        reason = (
            f"{table.systems[least]} answered {answered[least].sum():,} of "
            f"{answered.any(axis=0).sum():,} items, and its rate is that of these."
        )
    else:
        return
    yield SystemWarning(
        "warning",
        "Systems answered different items",
        f"{reason} A difference is then one of the items, too.",
        "Name the column of items with `item`, or compare systems on the items that all answered.",
    )


def _look_at_judges(
    table: SystemTable, judges: Sequence[Mapping[str, Any]]
) -> Iterator[SystemWarning]:
    rows = table.rows
    given = np.isfinite(rows.verdicts)
    for at, name in enumerate(table.judges if rows.seconds is None else ()):
        counts = np.bincount(rows.systems, given[:, at], len(table.systems))
        without = [system for system, n in zip(table.systems, counts, strict=True) if not n]
        if without:
            yield SystemWarning(
                "warning",
                f"{name} graded only some of the systems",
                f"It has no verdict on answers of {quote(without)}.",
                "Have it grade all systems, or leave it out.",
            )
    same = [
        (table.judges[a], table.judges[b])
        for a, b in combinations(range(len(table.judges)), 2)
        if np.array_equal(rows.verdicts[:, a], rows.verdicts[:, b], equal_nan=True)
    ]
    for first, second in same[:1]:
        yield SystemWarning(
            "note",
            f"{first} and {second} say the same of every row",
            "Two such judges are worth one.",
            "Leave one of them out.",
        )
    for at, name in enumerate(table.judges):
        if (
            np.unique(rows.verdicts[given[:, at], at]).size == 1
            and given[:, at].sum() >= FEW_LABELS
        ):
            yield SystemWarning(
                "note",
                f"{name} says the same of all rows",
                "It tells nothing about which system is better.",
                "Leave it out, or look at how it was asked.",
            )
    measure = "kappa" if judges and "kappa" in judges[0] else "correlation"
    against = [row["judge"] for row in judges if row[f"{measure}_high"] < 0.0]
    if against:
        yield SystemWarning(
            "serious",
            f"{', '.join(against)} and people say the opposite",
            f"Its {measure} with people is below zero.",
            "Look at whether pass and fail are exchanged in one of the columns.",
        )
    unsure = [row for row in judges if not row[f"{measure}_low"] > 0.0]
    enough = [row for row in judges if row["n_labels"] >= FEW_LABELS and row[measure] < 1.0]
    if not against and enough and len(unsure) == len(judges):
        yield SystemWarning(
            "warning",
            "No judge agrees with people more than by chance",
            f"All intervals of {measure} contain zero.",
            "Look at whether labels are those of the same rows; better judges make narrower "
            "intervals.",
        )
