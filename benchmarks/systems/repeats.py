"""Rates of systems where rows are correlated: answers that are repeated, items that people judge
for every system.

    python -m benchmarks.systems.repeats --runs 200

An answer passes where sqrt(c) z_answer + sqrt(1 - c) z_epoch is high enough, z_answer being half of
the item and half of the system, so that c is the correlation of the repeats of an answer: with
c = 1 a system says the same in each epoch. Three judges err with a correlation of their own.
People judge about 60 rows: rows at random, all repeats of some answers ("answers"), or the answers
of all systems to some items ("items"; there c is the correlation of systems, and epochs are one).
Writes ``repeats.csv``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.random import Generator
from scipy.special import ndtri

from benchmarks.experiment import RESULTS, read_arguments, write_table
from benchmarks.systems.systems import World, measure, run_world
from ssme.arrays import FloatArray

ITEMS, LABELS, JUDGES = 100, 60, 3
FEWEST_ANSWERS = 12
"""Answers that people judge at least, with all of their repeats."""


class Cell(NamedTuple):
    """Which rows people judge, and how correlated answers and the errors of judges are."""

    design: str
    systems: int
    epochs: int
    correlation: float
    judges_correlation: float


CELLS = [
    *(
        Cell(design, 3, epochs, c, own)
        for design in ("rows", "answers")
        for epochs in (1, 3, 5, 10)
        for c, own in ((0.0, 0.0), (0.5, 0.5), (0.9, 0.9), (1.0, 0.0), (1.0, 0.9))
        if epochs > 1 or c == own == 0.5
    ),
    *(
        Cell("items", systems, 1, c, own)
        for systems in (3, 8)
        for c, own in ((0.0, 0.0), (0.5, 0.5), (0.9, 0.5), (1.0, 0.0))
    ),
]


def simulate(rng: Generator, cell: Cell) -> World:
    """One world of a cell."""
    shape = (cell.systems, ITEMS, cell.epochs)
    truth = rng.uniform(0.4, 0.8, cell.systems)

    def draw(correlation: float, shared: FloatArray) -> FloatArray:
        own = rng.normal(size=shape)
        found: FloatArray = np.sqrt(correlation) * shared + np.sqrt(1.0 - correlation) * own
        return found

    def share() -> FloatArray:
        if cell.design == "items":
            return rng.normal(size=(1, ITEMS, 1))
        return rng.normal(size=(cell.systems, ITEMS, 1))

    easy = np.sqrt(0.5) * rng.normal(size=(1, ITEMS, 1)) + np.sqrt(0.5) * share()
    passed = ndtri(truth)[:, None, None] + draw(cell.correlation, easy) > 0.0
    hard, verdicts = draw(cell.judges_correlation, share()), []
    for _ in range(JUDGES):
        right, wrong = ndtri(rng.uniform(0.75, 0.95)), ndtri(rng.uniform(0.6, 0.9))
        own = np.sqrt(0.4) * hard + np.sqrt(0.6) * draw(cell.judges_correlation, share())
        verdicts.append(np.where(passed, own < right, own > wrong).ravel().astype(np.float64))
    systems, items, _ = (codes.ravel() for codes in np.indices(shape))
    outcomes = passed.ravel().astype(np.float64)
    return World(np.stack(verdicts, axis=1), systems, items, outcomes, truth)


def choose_rows(rng: Generator, world: World, cell: Cell) -> FloatArray:
    """The outcomes (n,) that people see."""
    units, number = np.arange(world.items.size), LABELS
    if cell.design == "answers":
        units = world.systems * ITEMS + world.items
        number = max(LABELS // cell.epochs, FEWEST_ANSWERS)
    elif cell.design == "items":
        units, number = world.items, LABELS // cell.systems
    chosen = rng.permutation(np.unique(units))[:number]
    return np.where(np.isin(units, chosen), world.outcomes, np.nan)


def main() -> None:
    args = read_arguments(__doc__, runs=200)
    table = []
    for cell in CELLS:
        rows = []
        for run in range(args.runs):
            rng = np.random.default_rng([run, cell.epochs, int(100 * cell.correlation)])
            world = simulate(rng, cell)
            found, held = run_world(world, choose_rows(rng, world, cell), run)
            for name in ("ssme", "labels alone"):
                row = measure(name, found[name], world.truth)
                rows.append({**row, "differences": held if name == "ssme" else np.nan})
        means = pd.DataFrame(rows).groupby("method", sort=False).mean().reset_index()
        table += [{**cell._asdict(), **row, "runs": args.runs} for row in means.to_dict("records")]
        print(*cell, means.round(3).to_dict("records"), flush=True)
    write_table(RESULTS / "repeats.csv", table, digits=4)


if __name__ == "__main__":
    main()
