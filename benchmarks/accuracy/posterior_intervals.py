"""Coverage of the 95 % intervals of methods that draw labels from a posterior.

What each source of uncertainty adds, on real sets (SSME_DATA), protocol of the SSME paper with
1,000 unlabeled rows: `labels` unknown labels alone, `rows` the sampling of the rows too, `refits`
refits to resampled rows as well (ssme). None of them knows of errors that all classifiers share.

    python benchmarks/accuracy/posterior_intervals.py --runs 8

writes benchmarks/results/posterior_intervals.csv: method, draws, set, metric, n_labeled, cells,
coverage, width, error (mean absolute error of the estimates).
"""

from __future__ import annotations

import argparse
import csv
import warnings
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tests.shared_data import load_set

from benchmarks.accuracy.labeled_intervals import labeled_rows, values
from benchmarks.provenance import record
from ssme.data.scoreset import ScoreSet
from ssme.errors import ConvergenceWarning
from ssme.methods.base import Estimate
from ssme.methods.beliefs.posterior import LabelPosterior
from ssme.methods.registry import get_method
from ssme.metrics import default_metrics, get_metric
from ssme.metrics.base import Metric, one_hot_mass

RESULTS = Path(__file__).resolve().parents[1] / "results" / "posterior_intervals.csv"
SETS = ("civilcomments", "multinli", "adult", "subj", "mmlupro_llm_logit")
METHODS: dict[str, dict[str, object]] = {
    "ssme": {"max_iter": 50},
    "ensemble": {},
    "pseudo_label": {},
    "dawid_skene": {},
}
N_LABELED = (20, 100)
N_UNLABELED = 1_000
TRUTH_ROWS = 20_000


def variants(belief: LabelPosterior, metrics: list[Metric]) -> dict[str, list[Estimate]]:
    """Estimates whose draws hold labels alone, labels and rows, and refits where there are any."""
    scores, k = belief.data.scores, belief.data.n_classes
    alone = [[] for _ in metrics]
    for labels in belief.label_batches():
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


def study(name: str, runs: int) -> list[dict[str, object]]:
    scores, y, models = load_set(name)
    scores /= scores.sum(axis=2, keepdims=True)
    metrics = [get_metric(metric) for metric in default_metrics(scores.shape[2])]
    cells: dict[tuple[str, str, str, int], list[NDArray[np.float64]]] = defaultdict(list)
    for run in range(runs):
        order = np.random.default_rng([run, 5]).permutation(len(y))
        half, other = order[: len(y) // 2], order[len(y) // 2 :][:TRUTH_ROWS]
        truth = [values(metric, scores[other], y[other]) for metric in metrics]
        for n_labeled in N_LABELED:
            known = labeled_rows(y, half, n_labeled, scores.shape[2])
            rest = half[~np.isin(half, known)][:N_UNLABELED]
            rows = np.concatenate([known, rest])
            labels = np.where(np.arange(rows.size) < n_labeled, y[rows], -1)
            data = ScoreSet(scores[rows], labels, tuple(models), tuple(range(scores.shape[2])))
            for method, options in METHODS.items():
                belief = get_method(method, **options).fit(data, np.random.default_rng(run))
                for draws, estimates in variants(belief, metrics).items():
                    for metric, target, got in zip(metrics, truth, estimates, strict=True):
                        low, high = got.interval()
                        inside = (low <= target) & (target <= high)
                        error = np.abs(got.value - target)
                        cells[method, draws, metric.name, n_labeled] += list(
                            np.stack([inside, high - low, error], axis=1)
                        )
    return [
        {
            "method": method,
            "draws": draws,
            "set": name,
            "metric": metric,
            "n_labeled": n_labeled,
            "cells": len(found),
            "coverage": round(float(np.mean(found, axis=0)[0]), 4),
            "width": round(float(np.mean(found, axis=0)[1]), 4),
            "error": round(float(np.mean(found, axis=0)[2]), 4),
        }
        for (method, draws, metric, n_labeled), found in cells.items()
    ]


def main() -> None:
    warnings.simplefilter("ignore", ConvergenceWarning)
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=8)
    parser.add_argument("--sets", nargs="*", default=list(SETS))
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    rows = [row for name in options.sets for row in study(name, options.runs)]
    with options.out.open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    record(options.out)
    keys = dict.fromkeys((r["method"], r["draws"], r["n_labeled"]) for r in rows)
    for key in keys:
        chosen = [r for r in rows if (r["method"], r["draws"], r["n_labeled"]) == key]
        coverage = np.mean([float(str(r["coverage"])) for r in chosen])
        by_set = defaultdict(list)
        for r in chosen:
            by_set[r["set"]].append(float(str(r["coverage"])))
        shown = " ".join(f"{name} {np.mean(c):.2f}" for name, c in by_set.items())
        print(*key, f"coverage {coverage:.3f}", shown)


if __name__ == "__main__":
    main()
