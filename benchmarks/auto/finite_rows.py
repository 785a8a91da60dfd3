"""Calibration errors of finite rows: what chance adds to them, and what is left of it.

    python -m benchmarks.auto.finite_rows

Two tables. ``auto_finite_rows.csv``: five simulated classifiers that are calibrated by
construction, their log-odds then multiplied by a power. Mean over them of the error of the
population (that of 200,000 rows), of labels on all rows as it is (the plug-in, what other libraries
compute) and without chance (`GapsPlan.remove_chance`), of the exact probabilities P(y | all scores)
in both ways, of labels alone and of `auto` with 50 labels; coverage and width of its intervals.
``auto_finite_rows_sets.csv``: the development sets; bias and error of `auto` and of labels alone
against the error of all rows as it is and without chance.
"""

from __future__ import annotations

import argparse
from functools import cache

import numpy as np
import pandas as pd
from scipy.special import expit, logit

from benchmarks.auto.priors import SETS
from benchmarks.corpus.study import UNLABELED_ROWS, CorpusScene, load_shared
from benchmarks.experiment import write_tables
from ssme.arrays import FloatArray, IntArray
from ssme.data.scoreset import UNLABELED, ScoreSet
from ssme.methods.auto.method import Auto
from ssme.methods.base import Estimate
from ssme.metrics import get_metric, one_hot_mass
from ssme.metrics.calibration import remove_chance

ROWS, RUNS, LABELS = (100, 300, 1000, 10000), 20, 50
POWERS, MANY = (1.0, 1.3, 1.8), 200_000
SEPARATION = np.array([0.6, 0.8, 1.0, 1.2, 1.4])
CORRELATION, SHARE = 0.4, 0.4
ECE = get_metric("ece")


def simulate(
    n: int, power: float, rng: np.random.Generator
) -> tuple[FloatArray, IntArray, FloatArray]:
    """Scores with correlated normal evidence, classes, and the exact P(y = 1 | scores)."""
    y = (rng.random(n) < SHARE).astype(np.int64)
    size = SEPARATION.size
    cov = CORRELATION + (1.0 - CORRELATION) * np.eye(size)
    x = np.where(y[:, None] == 1, 1.0, -1.0) * SEPARATION
    x = x + rng.standard_normal((n, size)) @ np.linalg.cholesky(cov).T
    one = expit(power * (2.0 * SEPARATION * x + logit(SHARE)))
    exact = expit(2.0 * x @ np.linalg.solve(cov, SEPARATION) + logit(SHARE))
    return np.stack([1.0 - one, one], axis=2), y, exact


def evaluate(data: ScoreSet, seed: int) -> Estimate:
    """The calibration errors of `auto`."""
    belief = Auto(n_draws=200).fit(data, np.random.default_rng(seed))
    return belief.estimate([ECE], [None])[0][0]


@cache
def find_truth(power: float) -> FloatArray:
    """The calibration errors (M,) of the population."""
    scores, y, _ = simulate(MANY, power, np.random.default_rng(0))
    return ECE(scores, one_hot_mass(y, 2))[0]


def measure_simulated(n: int, power: float, run: int) -> dict[str, float]:
    scores, y, exact = simulate(n, power, np.random.default_rng([n, run]))
    plan, hard, truth = ECE.plan(scores), one_hot_mass(y, 2), find_truth(power)
    soft = np.stack([1.0 - exact, exact], axis=1)[None]
    data = ScoreSet.from_arrays(scores, y)
    data = data.replace(labels=np.where(np.arange(n) < LABELS, data.labels, UNLABELED))
    found = evaluate(data, run)
    low, high = found.interval()
    return {
        "truth": truth.mean(),
        "labels": plan(hard).mean(),
        "labels_without_chance": remove_chance(plan, hard).mean(),
        "exact": plan(soft).mean(),
        "exact_without_chance": remove_chance(plan, soft).mean(),
        "labels_alone": ECE(scores[:LABELS], hard[:, :LABELS]).mean(),
        "auto": found.value.mean(),
        "covered": ((low <= truth) & (truth <= high)).mean(),
        "width": (high - low).mean(),
    }


def measure_set(name: str, n_labeled: int, run: int) -> dict[str, float]:
    data = load_shared(name)
    mass, plan = one_hot_mass(data.labels, data.n_classes), ECE.plan(data.scores)
    truth = {"rows": plan(mass)[0], "population": remove_chance(plan, mass)[0]}
    split = CorpusScene().split(data.labels, n_labeled, UNLABELED_ROWS, run, seed=0, dataset=name)
    seen = data.take(np.concatenate([split.labeled, split.unlabeled]))
    labels = np.where(np.arange(seen.n_rows) < n_labeled, seen.labels, UNLABELED)
    alone = ECE(data.scores[split.labeled], mass[:, split.labeled])[0]
    found = {"auto": evaluate(seen.replace(labels=labels), run).value, "labels": alone}
    out = {f"truth_{of}": float(exact.mean()) for of, exact in truth.items()}
    for method, value in found.items():
        for of, exact in truth.items():
            out[f"{method}_bias_{of}"] = float((value - exact).mean())
            out[f"{method}_error_{of}"] = float(np.abs(value - exact).mean())
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--runs", type=int, default=3, help="of each development set")
    args = parser.parse_args()
    made = pd.DataFrame(
        [
            {"power": power, "rows": n, **measure_simulated(n, power, run)}
            for power in POWERS
            for n in ROWS
            for run in range(RUNS)
        ]
    )
    simulated = made.groupby(["power", "rows"]).mean().reset_index().assign(runs=RUNS)
    cells = pd.DataFrame(
        [
            {"dataset": name, "n_labeled": n, **measure_set(name, n, run)}
            for name in SETS
            for n in (20, 100)
            for run in range(args.runs)
        ]
    )
    by_set = cells.groupby(["dataset", "n_labeled"]).mean().reset_index()
    every = cells.drop(columns="dataset").groupby("n_labeled").mean().reset_index()
    sets = pd.concat([by_set, every.assign(dataset="all")], ignore_index=True)
    tables = {"auto_finite_rows": simulated, "auto_finite_rows_sets": sets.assign(runs=args.runs)}
    write_tables(tables, digits=4)
    print(simulated.round(4).to_string(index=False))
    print(sets.round(4).to_string(index=False))


if __name__ == "__main__":
    main()
