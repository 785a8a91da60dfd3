"""Coverage of the 95 % intervals of methods that draw labels from a posterior.

What each source of uncertainty adds, on real sets (SSME_DATA), protocol of the SSME paper with
1,000 unlabeled rows: `labels` unknown labels alone, `rows` the sampling of the rows too, `refits`
refits to resampled rows as well (ssme). None of them knows of errors that all classifiers share.

    python -m benchmarks.accuracy.posterior_intervals --runs 8

writes benchmarks/results/posterior_intervals.csv: method, draws, set, metric, n_labeled, cells,
coverage, width, error (mean absolute error of the estimates).
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.accuracy.labeled_intervals import load_scores, summarize_cells
from benchmarks.experiment import add_places, open_places, run_cells, write_table
from benchmarks.studies import Protocol, Runner, Study
from ssme.bench.runner import Truth
from ssme.methods.base import Estimate
from ssme.methods.beliefs import LabelPosterior
from ssme.metrics.base import Metric, one_hot_mass
from ssme.results.evaluation import Evaluation
from ssme.results.groups import ALL

RESULTS = Path(__file__).resolve().parents[1] / "results" / "posterior_intervals.csv"
SETS = ("civilcomments", "multinli", "adult", "subj", "mmlupro_llm_logit")
METHODS: dict[str, dict[str, Any]] = {
    "ssme": {"max_iter": 50},
    "ensemble": {},
    "pseudo_label": {},
    "dawid_skene": {},
}
N_LABELED = (20, 100)
N_UNLABELED = 1_000
TRUTH_ROWS = 20_000


def estimate_variants(belief: LabelPosterior, metrics: list[Metric]) -> dict[str, list[Estimate]]:
    """Estimates whose draws hold labels alone, labels and rows, and refits where there are any."""
    scores, k = belief.data.scores, belief.data.n_classes
    alone = [[] for _ in metrics]
    for labels in belief.draw_label_batches():
        for m, metric in enumerate(metrics):
            alone[m].append(metric(scores, one_hot_mass(labels, k)))
    stacked = [np.concatenate(draws) for draws in alone]
    found = {
        "labels": [Estimate(np.nanmean(draws, axis=0), draws) for draws in stacked],
        "rows": replace(belief, refits=()).estimate(metrics, [None])[0],
    }
    if belief.refits:
        found["refits"] = belief.estimate(metrics, [None])[0]
    return found


def measure_variants(result: Evaluation, truth: Truth) -> list[dict[str, Any]]:
    """What a cell keeps: by kind of draws and metric, sums over classifiers."""
    rows = []
    for draws, estimates in estimate_variants(result.belief, list(result.metrics)).items():
        for metric, got in zip(result.metrics, estimates, strict=True):
            exact = np.array([truth[ALL, metric.name, model] for model in result.data.models])
            low, high = got.interval()
            rows.append(
                {
                    "draws": draws,
                    "metric": metric.name,
                    "cells": exact.size,
                    "coverage": float(((low <= exact) & (exact <= high)).sum()),
                    "width": float((high - low).sum()),
                    "error": float(np.abs(got.value - exact).sum()),
                }
            )
    return rows


def plan_study(name: str, runs: int) -> Study:
    """All methods on one set."""
    protocol = Protocol(
        {method: (method, options) for method, options in METHODS.items()},
        n_labeled=N_LABELED,
        n_unlabeled=(N_UNLABELED,),
        runs=runs,
        truth_rows=TRUTH_ROWS,
    )
    return Study(Runner(protocol, load_scores, measure_variants), (name,))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=8)
    parser.add_argument("--sets", nargs="*", default=list(SETS))
    parser.add_argument("--out", type=Path, default=RESULTS)
    add_places(parser)
    options = parser.parse_args()
    studies = [plan_study(name, options.runs) for name in options.sets]
    with open_places(options) as executor:
        cells = run_cells(studies, "posterior_intervals", executor)
    table = summarize_cells(cells.rows, ["coverage", "width", "error"], ("method", "draws"))
    write_table(options.out, table, cells.times)
    print(table.groupby(["method", "draws", "n_labeled"], sort=False)["coverage"].mean())


if __name__ == "__main__":
    main()
