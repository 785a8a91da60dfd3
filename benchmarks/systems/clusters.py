"""How often intervals hold where rows come in clusters: items that are answered several times.

    python -m benchmarks.systems.clusters --runs 200 --minutes 20

A latent t = sqrt(c) T_item + sqrt(1 - c) T_row decides the class, and each of three models sees t
with noise that is as correlated within items, so that c is the intra-class correlation of both. Its
score is the calibrated P(t > 0 | what it sees), and its accuracy over all items there are is
1/2 + arcsin(rho) / pi, rho = 1 / sqrt(1 + noise^2): the truth that intervals have to contain, not
the accuracy on the rows that were given.

Labels are those of whole items ("items") or of rows at random ("rows"). With five epochs, estimates
are also made without a declaration of the clusters. Writes
``clusters.csv``; finished runs are kept and not made again.
"""

from __future__ import annotations

import itertools
import json
import math
import time

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtr

import ssme
from benchmarks.experiment import CACHE, RESULTS, read_arguments, write_table
from ssme.data.scoreset import ScoreSet

ITEMS, LABELED_ITEMS, LABELED_ROWS = 120, 40, 100
NOISE = (0.5, 0.8, 1.2)
EPOCHS, CORRELATIONS = (1, 2, 5, 10), (0.0, 0.3, 0.6, 0.9)
UNDECLARED_EPOCHS = 5
METHODS = ("labeled", "ppi", "auto")
TRUTH = 0.5 + np.arcsin(1.0 / np.sqrt(1.0 + np.square(NOISE))) / np.pi


def simulate(
    seed: int, epochs: int, correlation: float, design: str
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.intp]]:
    """Scores (n, M), labels (n,) with holes and the items (n,) of one world."""
    rng = np.random.default_rng([seed, epochs, int(100 * correlation)])
    items = np.repeat(np.arange(ITEMS), epochs)

    def draw(size: int) -> NDArray[np.float64]:
        shared, own = rng.normal(size=(ITEMS, size)), rng.normal(size=(items.size, size))
        return np.sqrt(correlation) * shared[items] + np.sqrt(1.0 - correlation) * own

    latent, noise = draw(1), np.array(NOISE)
    seen = latent + noise * draw(noise.size)
    scores = ndtr(seen / (noise * np.sqrt(1.0 + noise**2)))
    if design == "items":
        known = np.isin(items, rng.permutation(ITEMS)[:LABELED_ITEMS])
    else:
        known = np.zeros(items.size, dtype=bool)
        known[rng.permutation(items.size)[:LABELED_ROWS]] = True
    return scores, np.where(known, latent[:, 0] > 0.0, np.nan), items


def run_cell(seed: int, epochs: int, correlation: float, design: str) -> list[dict[str, object]]:
    """One row per method and declaration: how often the intervals of the models hold."""
    scores, labels, items = simulate(seed, epochs, correlation, design)
    rows = []
    for method, declared in itertools.product(METHODS, (True, False)):
        if not declared and epochs != UNDECLARED_EPOCHS:
            continue
        data = ScoreSet.from_arrays(scores, labels, clusters=items if declared else None)
        result = ssme.evaluate(data, method=method, metrics="accuracy", random_state=seed)
        found = result.estimates[0][0]
        low, high = found.interval(0.95)
        rows.append(
            {
                "method": method,
                "declared": declared,
                "coverage": float(((low <= TRUTH) & (high >= TRUTH)).mean()),
                "width": float((high - low).mean()),
                "error": float(np.abs(found.value - TRUTH).mean()),
            }
        )
    return rows


def main() -> None:
    args = read_arguments(__doc__, runs=200, minutes=math.inf)
    end = time.monotonic() + 60.0 * args.minutes
    kept = CACHE / "cells" / "clusters.jsonl"
    kept.parent.mkdir(parents=True, exist_ok=True)
    lines = kept.read_text().splitlines() if kept.exists() else []
    rows = [json.loads(line) for line in lines]
    keys = ("run", "design", "epochs", "correlation")
    done = {tuple(row[key] for key in keys) for row in rows}
    cells = itertools.product(range(args.runs), ("items", "rows"), EPOCHS, CORRELATIONS)
    with kept.open("a") as file:
        for cell in cells:
            if cell in done:
                continue
            if time.monotonic() > end:
                break
            run, design, epochs, correlation = cell
            for row in run_cell(run, epochs, correlation, design):
                rows.append({**dict(zip(keys, cell, strict=True)), **row})
                file.write(json.dumps(rows[-1]) + "\n")
    table = pd.DataFrame(rows).query("run < @args.runs")
    by = ["design", "epochs", "correlation", "method", "declared"]
    found = table.groupby(by)
    summary = found[["coverage", "width", "error"]].mean()
    summary.insert(0, "runs", found.size())
    # the models of one run are alike: runs, not intervals, are what was drawn
    summary["coverage_se"] = found["coverage"].std() / np.sqrt(summary["runs"])
    summary = summary.reset_index()
    write_table(RESULTS / "clusters.csv", summary, digits=3)
    shown = summary.pivot_table(
        index=["method", "declared", "design"], columns=["epochs", "correlation"], values="coverage"
    )
    print(shown.round(3).to_string())


if __name__ == "__main__":
    main()
