"""The goals that were set for ``auto`` before its second generation was tuned, and what it reaches.

A goal bounds a figure at 20, 50 and 100 labels. Figures come from the results of `campaign`; the
table is part of benchmarks/evidence/auto.md, written by `tables`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pandas as pd

from benchmarks.markdown import read

LABELS = (20, 50, 100)
LEAST_CASES = 200
FREE = (float("-inf"), float("inf"))


@dataclass(frozen=True)
class Goal:
    """What was asked for in words; per number of labels bounds, the figure and whose it is."""

    text: str
    bounds: Sequence[tuple[float, float]]
    figures: Sequence[tuple[float, str]]
    digits: int = 3

    def tabulate(self) -> list[str]:
        """The goal's row of the table; a figure counts as it is shown."""
        return [self.text, *map(self._tell, self.bounds, self.figures)]

    def _tell(self, bounds: tuple[float, float], figure: tuple[float, str]) -> str:
        value, whose = figure
        told = f"{value:.{self.digits}f} {whose}".strip()
        return (
            told if bounds[0] <= round(value, self.digits) <= bounds[1] else f"{told}, **missed**"
        )


def _find_least(frame: pd.DataFrame, column: str, name: str = "") -> list[tuple[float, str]]:
    """The least figure of a column at each number of labels, and what ``name`` says of its row."""
    found = []
    for n in LABELS:
        row = frame.loc[frame.loc[frame["n_labeled"] == n, column].idxmin()]
        found.append((float(row[column]), str(row[name]) if name else ""))
    return found


def _find_largest(frame: pd.DataFrame, column: str, name: str = "") -> list[tuple[float, str]]:
    least = _find_least(frame.assign(**{column: -frame[column]}), column, name)
    return [(-value, whose) for value, whose in least]


def _find_gaps(name: str, kind: str) -> list[tuple[float, str]]:
    """How far the worst bin with `LEAST_CASES` or more of P(better) or P(best) is off."""
    frame = read(name)
    frame = frame[(frame["kind"] == kind) & (frame["cases"] >= LEAST_CASES)]
    bins = [f"where {said:.2f} is reported" for said in frame["said"]]
    gaps = (frame["said"] - frame["so"]).abs()
    return _find_largest(frame.assign(gap=gaps, bin=bins), "gap", "bin")


def list_goals() -> Iterator[Goal]:
    """Every goal, ordinary sets first."""
    least, most = [(0.9, 1.0)] * 3, [(0.0, 0.04)] * 3
    errors = read("auto_overall").query("variant == 'auto' and sets == 'development sets'")
    covered = read("auto_coverage").query("variant == 'auto'")
    every = covered.query("dataset == 'all' and metric == 'all'")
    metrics = covered.query("dataset == 'all' and metric != 'all'")
    sets = covered.query("dataset != 'all' and metric == 'all'")
    yield Goal(
        "RMAE of the development sets at most 0.205, 0.285 and 0.375",
        [(0.0, 0.205), (0.0, 0.285), (0.0, 0.375)],
        _find_least(errors, "rmae"),
    )
    yield Goal(
        "number of cells above 1.05 by more than their standard error: 0",
        [(0.0, 0.0)] * 3,
        _find_least(errors, "above_1.05_beyond_se"),
        digits=0,
    )
    text = "coverage of every metric between 0.94 and 0.98: the lowest one"
    yield Goal(text, [(0.94, 0.98)] * 3, _find_least(metrics, "covered", "metric"))
    text = "the same: the highest one"
    yield Goal(text, [(0.94, 0.98)] * 3, _find_largest(metrics, "covered", "metric"))
    text = "coverage of every set at least 0.90: the lowest one"
    yield Goal(text, least, _find_least(sets, "covered", "dataset"))
    yield Goal(
        "width ratio at most 0.45, 0.52 and 0.58",
        [(0.0, 0.45), (0.0, 0.52), (0.0, 0.58)],
        _find_least(every, "width_ratio"),
        digits=2,
    )
    held = read("auto_pairs").query("variant == 'auto'")
    sums = held.query("dataset == 'all'").groupby("n_labeled")[["pairs", "held_pairs"]].sum()
    pooled = sums.assign(held=sums["held_pairs"] / sums["pairs"]).reset_index()
    text = "coverage of paired differences between 0.93 and 0.98"
    yield Goal(text, [(0.93, 0.98)] * 3, _find_least(pooled, "held"))
    text = "the same on every set at least 0.87: the lowest one"
    own = held.query("metric == 'all'")
    yield Goal(text, [(0.87, 1.0)] * 3, _find_least(own, "held", "dataset"))
    for kind in ("better", "best"):
        text = f"P({kind}) differs by 0.04 at most from the observed share"
        yield Goal(text, most, _find_gaps("auto_decisions", kind))
        text = f"the same of P({kind}) over all 36 sets"
        yield Goal(text, most, _find_gaps("auto_decisions_together", kind))
    stress, unseen = read("auto_stress"), read("auto_stress_unseen")
    text = "coverage of every stress at least 0.90: the lowest one"
    yield Goal(text, least, _find_least(stress, "covered", "stress"))
    yield Goal(
        "RMAE of every stress at most 1.05 with 100 labels: the largest one",
        [FREE, FREE, (0.0, 1.05)],
        _find_largest(stress, "rmae", "stress"),
    )
    cells = stress.groupby("n_labeled")[["above_1.05_beyond_se", "cells"]].sum().reset_index()
    cells["of"] = [f"of {count} cells" for count in cells["cells"]]
    yield Goal(
        "cells of a stress above 1.05 by more than their standard error: 0 with 100 labels",
        [FREE, FREE, (0.0, 0.0)],
        _find_least(cells, "above_1.05_beyond_se", "of"),
        digits=0,
    )
    text = "coverage of the stresses written before tuning at least 0.90: the lowest one"
    yield Goal(text, least, _find_least(unseen, "covered", "stress"))
    further = read("auto_further_coverage").query("dataset == 'all' and metric == 'all'")
    text = "coverage of the further sets at least 0.92"
    yield Goal(text, [(0.92, 1.0)] * 3, _find_least(further, "covered"))


def tabulate_goals() -> list[list[str]]:
    """A row for each goal."""
    return [goal.tabulate() for goal in list_goals()]
