"""Coverage and width of the 95 % intervals of `labeled` at 20, 50 and 100 labels.

Labeled rows are drawn as in the SSME paper, one of each class first; the truth is the metric on all
rows of the set. Real classifier sets come from SSME_DATA; the simulated ones (`simulate`) need
nothing. A run counts for a metric where value and truth are defined.

    python benchmarks/accuracy/labeled_intervals.py --runs 25 [--sets adult simulated_rare ...]

writes benchmarks/results/labeled_intervals.csv: set, metric, n_labeled, cells (runs x
classifiers), coverage, width.
"""

from __future__ import annotations

import argparse
import csv
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tests.shared_data import available, load_set, set_names

from benchmarks.provenance import record
from ssme.data.scoreset import ScoreSet
from ssme.methods.estimators.labeled import Labeled
from ssme.metrics import get_metric, metric_names
from ssme.metrics.base import Metric, one_hot_mass

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


def labeled_rows(
    y: NDArray[np.int64], order: NDArray[np.intp], n: int, n_classes: int
) -> NDArray[np.intp]:
    """``n`` rows of ``order``: the first of each class, then the next ones."""
    first = [order[np.flatnonzero(y[order] == k)[0]] for k in range(n_classes)]
    rest = order[~np.isin(order, first)]
    return np.concatenate([first, rest])[:n]


def study(name: str, runs: int, asked: Sequence[str] = ()) -> list[dict[str, object]]:
    scores, y = load(name)
    n, n_models, n_classes = scores.shape
    metrics = [get_metric(metric) for metric in asked or metric_names(n_classes)]
    hits: dict[tuple[str, int], list[tuple[float, float]]] = defaultdict(list)
    truth = [values(metric, scores, y) for metric in metrics]
    for run in range(runs):
        order = np.random.default_rng([run, 5]).permutation(n)
        for n_labeled in N_LABELED:
            rows = labeled_rows(y, order, n_labeled, n_classes)
            models, classes = tuple(map(str, range(n_models))), tuple(range(n_classes))
            data = ScoreSet(scores[rows], y[rows], models, classes)
            belief = Labeled(n_draws=400).fit(data, np.random.default_rng([run, n_labeled]))
            for metric, target, got in zip(
                metrics, truth, belief.estimate(metrics, [None])[0], strict=True
            ):
                low, high = got.interval()
                known = np.isfinite(low) & np.isfinite(target)
                inside = (low <= target) & (target <= high)
                hits[metric.name, n_labeled] += list(
                    zip(inside[known], (high - low)[known], strict=True)
                )
    return [
        {
            "set": name,
            "metric": metric,
            "n_labeled": n_labeled,
            "cells": len(found),
            "coverage": round(float(np.mean([hit for hit, _ in found])), 4),
            "width": round(float(np.mean([width for _, width in found])), 4),
        }
        for (metric, n_labeled), found in hits.items()
        if found
    ]


def values(
    metric: Metric, scores: NDArray[np.float64], y: NDArray[np.int64]
) -> NDArray[np.float64]:
    return metric(scores, one_hot_mass(y, scores.shape[2]))[0]


def summary(rows: list[dict[str, object]]) -> None:
    """Print coverage pooled over sets, and the lowest set, per metric and number of labels."""
    table: dict[str, dict[int, dict[str, tuple[float, float]]]] = defaultdict(
        lambda: defaultdict(dict)
    )
    for r in rows:
        cell = (float(str(r["coverage"])), float(str(r["width"])))
        table[str(r["metric"])][int(str(r["n_labeled"]))][str(r["set"])] = cell
    for metric, by_n in table.items():
        line = []
        for by_set in by_n.values():
            lowest = min(by_set, key=lambda s: by_set[s][0])
            pooled = np.mean([c for c, _ in by_set.values()])
            width = np.mean([w for _, w in by_set.values()])
            line.append(f"{pooled:.3f} (lowest {by_set[lowest][0]:.2f} {lowest}) w {width:.2f}")
        print(f"{metric:22s} " + " | ".join(line))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=25)
    real = [name for name in set_names() if name not in TORTURE] if available() else []
    parser.add_argument("--sets", nargs="*", default=[*SIMULATED, *real])
    parser.add_argument("--metrics", nargs="*", default=[], help="these only (default: all)")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    rows = [row for name in options.sets for row in study(name, options.runs, options.metrics)]
    with options.out.open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    record(options.out)
    summary(rows)


if __name__ == "__main__":
    main()
