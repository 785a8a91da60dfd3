"""Coverage and width of the 95 % intervals of `labeled` at 20, 50 and 100 labels.

The SSME paper's protocol (`ssme.bench`) without unlabeled rows: labels of half of the rows, one of
each class first; the truth is the metric on the other half. Real classifier sets come from
SSME_DATA; the simulated ones (`simulate`) need nothing. A run counts for a metric where value and
truth are defined.

    python -m benchmarks.accuracy.labeled_intervals --runs 25 [--sets adult simulated_rare ...]

writes benchmarks/results/labeled_intervals.csv: set, metric, n_labeled, cells (runs x
classifiers), coverage, width.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from tests.shared_data import available, load_set, set_names

from benchmarks.experiment import add_places, open_places, run_cells, write_table
from benchmarks.studies import Protocol, Runner, Study
from ssme.bench.runner import Truth
from ssme.data.scoreset import ScoreSet
from ssme.metrics import metric_names
from ssme.results.evaluation import Evaluation
from ssme.results.groups import ALL

RESULTS = Path(__file__).resolve().parents[1] / "results" / "labeled_intervals.csv"
N_LABELED = (20, 50, 100)
SIMULATED = {
    "simulated_even": (2, 0.5),
    "simulated_rare": (2, 0.1),
    "simulated_four": (4, 0.25),
}
TORTURE = ("civilcomments_coral_seeds",)


def simulate(n_classes: int, rare: float) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """40,000 rows of six classifiers, from weak to strong and from flat to overconfident."""
    rng = np.random.default_rng(20)
    share = np.full(n_classes, (1.0 - rare) / (n_classes - 1))
    share[-1] = rare
    y = rng.choice(n_classes, size=40_000, p=share)
    logits = rng.normal(size=(y.size, 6, n_classes)) + np.log(share)
    logits[np.arange(y.size), :, y] += np.linspace(0.7, 3.0, 6)
    logits *= np.array([0.6, 1.0, 1.6, 1.0, 0.6, 1.6])[:, None]
    scores = np.exp(logits - logits.max(axis=2, keepdims=True))
    return scores / scores.sum(axis=2, keepdims=True), y


def load(name: str) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    if name in SIMULATED:
        return simulate(*SIMULATED[name])
    scores, y, _ = load_set(name)
    return scores / scores.sum(axis=2, keepdims=True), y


def load_scores(name: str) -> ScoreSet:
    """A real or simulated set, all rows labeled."""
    scores, y = load(name)
    _, n_models, n_classes = scores.shape
    return ScoreSet(scores, y, tuple(map(str, range(n_models))), tuple(range(n_classes)))


def measure_intervals(result: Evaluation, truth: Truth) -> list[dict[str, Any]]:
    """What a cell keeps: per metric, classifiers with an interval, those covered, sum of widths."""
    rows = []
    for metric, estimate in zip(result.metrics, result.estimates[0], strict=True):
        exact = np.array([truth[ALL, metric.name, model] for model in result.data.models])
        low, high = estimate.interval()
        known = np.isfinite(low) & np.isfinite(exact)
        inside = (low <= exact) & (exact <= high)
        found = {"cells": int(known.sum()), "coverage": int((inside & known).sum())}
        rows.append({"metric": metric.name, **found, "width": float((high - low)[known].sum())})
    return rows


def plan_study(name: str, runs: int, asked: Sequence[str] = ()) -> Study:
    """`labeled` on one set, by all metrics or those that are asked for."""
    n_classes = load(name)[0].shape[2]
    protocol = Protocol(
        {"labeled": ("labeled", {"n_draws": 400})},
        metrics=tuple(asked) or metric_names(n_classes),
        n_labeled=N_LABELED,
        n_unlabeled=(0,),
        runs=runs,
    )
    return Study(Runner(protocol, load_scores, measure_intervals), (name,))


def summarize_cells(
    cells: pd.DataFrame, values: list[str], keys: tuple[str, ...] = ()
) -> pd.DataFrame:
    """Sums of a cell over its number of classifiers, by ``keys``, set, metric and labels."""
    by = [*keys, "dataset", "metric", "n_labeled"]
    sums = cells.groupby(by, sort=False)[["cells", *values]].sum()
    sums = sums[sums["cells"] > 0]
    sums[values] = sums[values].div(sums["cells"], axis=0).round(4)
    return sums.reset_index().rename(columns={"dataset": "set"})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=25)
    real = [name for name in set_names() if name not in TORTURE] if available() else []
    parser.add_argument("--sets", nargs="*", default=[*SIMULATED, *real])
    parser.add_argument("--metrics", nargs="*", default=[], help="these only (default: all)")
    parser.add_argument("--out", type=Path, default=RESULTS)
    add_places(parser)
    options = parser.parse_args()
    studies = [plan_study(name, options.runs, options.metrics) for name in options.sets]
    with open_places(options) as executor:
        cells = run_cells(studies, "labeled_intervals", executor)
    table = summarize_cells(cells.rows, ["coverage", "width"])
    write_table(options.out, table, cells.times)
    print(table.groupby(["metric", "n_labeled"], sort=False)[["coverage", "width"]].mean())


if __name__ == "__main__":
    main()
