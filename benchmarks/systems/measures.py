"""How often intervals hold for groups, for any and all of several repeats, and for means.

    python -m benchmarks.systems.measures --runs 200

Three systems answer, three judges grade. "groups": the rates of systems and the errors of judges
differ between groups of items by ``effect`` standard deviations, and the rates of each system in
each group are asked for. "pass_any" and "pass_all": items are answered five times, with a
correlation of ``effect`` between repeats, and people judge all repeats of ``labels`` answers;
asked for is whether any, or all, of three repeats pass. "mean": answers have a number from 0 to 1,
smooth, in five grades, near the end of the scale, or zero for many; judges see them with noise of
``effect`` standard deviations. Writes ``measures.csv``.
"""

from __future__ import annotations

import argparse
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.random import Generator
from scipy.special import ndtr, ndtri

from benchmarks.experiment import RESULTS, write_table
from benchmarks.systems.repeats import Cell, simulate
from benchmarks.systems.systems import measure
from ssme.arrays import FloatArray, IntArray
from ssme.systems.rates import JudgedRows, count_repeats, estimate_rates

SYSTEMS, ITEMS, JUDGES, REPEATS, K = 3, 240, 3, 5, 3
NORMAL = ndtri((np.arange(1000) + 0.5) / 1000)
SHAPES = {
    "mean, smooth": (0.3, ndtr),
    "mean, five grades": (0.3, lambda x: np.minimum(np.floor(5.0 * ndtr(x)), 4.0) / 4.0),
    "mean, near the end": (1.6, ndtr),
    "mean, many zeros": (0.3, lambda x: np.clip(x, 0.0, 2.0) / 2.0),
}
"""The center of systems, and the number that an answer of a latent value has."""


class Problem(NamedTuple):
    """Rows with targets (n,), the levels of what judges may be wrong about, and the truth (T,)."""

    rows: JudgedRows
    targets: IntArray
    levels: list[IntArray]
    truth: FloatArray


def hide(rng: Generator, outcomes: FloatArray, n_labels: int) -> FloatArray:
    """The outcomes with a label on ``n_labels`` rows at random."""
    known = np.full(outcomes.size, np.nan)
    chosen = rng.permutation(outcomes.size)[:n_labels]
    known[chosen] = outcomes[chosen]
    return known


def make_groups(rng: Generator, number: int, effect: float, n_labels: int) -> Problem:
    """Systems whose rates, and judges whose errors, differ between groups."""
    level = rng.normal(0.3, 0.4, (SYSTEMS, 1)) + effect * rng.normal(size=number)
    level = level + 0.3 * effect * rng.normal(size=(SYSTEMS, number))
    group = np.arange(ITEMS) % number
    easy = np.sqrt(0.5) * (rng.normal(size=ITEMS) + rng.normal(size=(SYSTEMS, ITEMS)))
    passed = level[:, group] + easy > 0.0
    verdicts = []
    hard = rng.normal(size=passed.shape)
    for _ in range(JUDGES):
        right = ndtri(rng.uniform(0.75, 0.95)) + 0.5 * effect * rng.normal(size=number)
        wrong = ndtri(rng.uniform(0.6, 0.9)) + 0.5 * effect * rng.normal(size=number)
        own = np.sqrt(0.4) * hard + np.sqrt(0.6) * rng.normal(size=passed.shape)
        verdicts.append(np.where(passed, own < right[group], own > wrong[group]).ravel())
    systems, items = (codes.ravel() for codes in np.indices(passed.shape))
    cells = systems * number + group[items]
    outcomes = hide(rng, passed.ravel().astype(np.float64), n_labels)
    said = np.stack(verdicts, axis=1).astype(np.float64)
    rows = JudgedRows(said, outcomes, systems, items, binary=True)
    return Problem(rows, cells, [systems, group[items], cells], ndtr(level).ravel())


def make_repeats(rng: Generator, any_pass: bool, correlation: float, n_labels: int) -> Problem:
    """Answers of which people judge all repeats."""
    world = simulate(rng, Cell("answers", SYSTEMS, REPEATS, correlation, 0.5))
    answers = world.systems * int(world.items.max() + 1) + world.items
    chosen = rng.permutation(np.unique(answers))[:n_labels]
    known = np.where(np.isin(answers, chosen), world.outcomes, np.nan)
    rows = JudgedRows(world.verdicts, known, world.systems, world.items, binary=True)
    rows, _ = count_repeats(rows, K, any_pass=any_pass)
    shared = ndtri(world.truth)[:, None] + np.sqrt(correlation) * NORMAL
    share = ndtr(shared / np.sqrt(1.0 - correlation))
    truth = (1.0 - (1.0 - share) ** K if any_pass else share**K).mean(axis=1)
    return Problem(rows, rows.systems, [rows.systems], truth)


def make_numbers(rng: Generator, shape: str, noise: float, n_labels: int) -> Problem:
    """Answers with a number from 0 to 1."""
    center, put = SHAPES[shape]
    level = rng.normal(center, 0.4, (SYSTEMS, 1))
    easy = np.sqrt(0.5) * (rng.normal(size=ITEMS) + rng.normal(size=(SYSTEMS, ITEMS)))
    verdicts = []
    for _ in range(JUDGES):
        off = 0.3 * rng.normal() + 0.2 * rng.normal(size=(SYSTEMS, 1))
        verdicts.append(put(level + easy + noise * rng.normal(size=easy.shape) + off).ravel())
    systems, items = (codes.ravel() for codes in np.indices(easy.shape))
    outcomes = hide(rng, put(level + easy).ravel(), n_labels)
    rows = JudgedRows(np.stack(verdicts, axis=1), outcomes, systems, items, binary=False)
    return Problem(rows, systems, [systems], put(level + NORMAL).mean(axis=1))


CELLS = [
    *((f"groups, {n}", effect, labels) for n, effect, labels in (
        (2, 0.3, 60), (5, 0.0, 100), (5, 0.3, 60), (5, 0.8, 100), (10, 0.5, 100), (3, 0.8, 200)
    )),
    *((name, c, labels) for name in ("pass_any", "pass_all") for c, labels in (
        (0.5, 30), (0.5, 90), (0.9, 30)
    )),
    *((name, noise, labels) for name in SHAPES for noise, labels in (
        (0.5, 30), (0.5, 100), (1.5, 100)
    )),
]  # fmt: skip


def make(rng: Generator, name: str, effect: float, n_labels: int) -> Problem:
    """A problem of a cell."""
    if name in SHAPES:
        return make_numbers(rng, name, effect, n_labels)
    if name.startswith("groups"):
        return make_groups(rng, int(name.split()[1]), effect, n_labels)
    return make_repeats(rng, name == "pass_any", effect, n_labels)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--runs", type=int, default=200)
    args = parser.parse_args()
    table = []
    for name, effect, n_labels in CELLS:
        rows = []
        for run in range(args.runs):
            rng = np.random.default_rng([run, n_labels, int(100 * effect)])
            asked = make(rng, name, effect, n_labels)
            rates = estimate_rates(asked.rows, asked.targets, asked.levels, rng, n_draws=1000)
            ours = rates.values, *np.quantile(rates.draws, [0.025, 0.975], axis=0)
            alone = rates.labels_only, *rates.labels_only_ends
            for method, found in (("ssme", ours), ("labels alone", alone)):
                rows.append(measure(method, found, asked.truth))
        means = pd.DataFrame(rows).groupby("method", sort=False).mean().reset_index()
        about = {"kind": name.split(",")[0], "measure": name, "effect": effect, "labels": n_labels}
        table += [{**about, **row, "runs": args.runs} for row in means.to_dict("records")]
        print(*about.values(), means.round(3).to_dict("records"), flush=True)
    write_table(RESULTS / "measures.csv", table, digits=4)


if __name__ == "__main__":
    main()
