"""P(a better than b) from labels alone: of pairs called with 0.9 or more, how many truly are?

    python -m benchmarks.accuracy.labeled_ranking --runs 8

writes benchmarks/results/labeled_ranking.csv: metric, n_labeled, pairs called, share right, mean
called probability, over the real sets (SSME_DATA); truth on at most 30,000 rows.
"""

from __future__ import annotations

import argparse
import csv
from collections import defaultdict
from pathlib import Path

import numpy as np
from tests.shared_data import set_names

from benchmarks.accuracy.labeled_intervals import N_LABELED, TORTURE, labeled_rows, load, values
from benchmarks.provenance import record
from ssme.data.scoreset import ScoreSet
from ssme.methods.estimators.labeled import Labeled
from ssme.metrics import default_metrics, get_metric
from ssme.results.comparison import compute_probability_better

RESULTS = Path(__file__).resolve().parents[1] / "results" / "labeled_ranking.csv"
TRUTH_ROWS = 30_000
CALLED = 0.9


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=8)
    options = parser.parse_args()
    calls: dict[tuple[str, int], list[tuple[bool, float]]] = defaultdict(list)
    for name in set_names():
        if name in TORTURE:
            continue
        scores, y = load(name)
        n_classes = scores.shape[2]
        names = tuple(map(str, range(scores.shape[1]))), tuple(range(n_classes))
        metrics = [get_metric(metric) for metric in default_metrics(n_classes)]
        truth = [values(metric, scores[:TRUTH_ROWS], y[:TRUTH_ROWS]) for metric in metrics]
        for run in range(options.runs):
            order = np.random.default_rng([run, 5]).permutation(len(y))
            for n in N_LABELED:
                rows = labeled_rows(y, order, n, n_classes)
                data = ScoreSet(scores[rows], y[rows], *names)
                belief = Labeled(n_draws=400).fit(data, np.random.default_rng(run))
                estimates = belief.estimate(metrics, [None])[0]
                for metric, true, got in zip(metrics, truth, estimates, strict=True):
                    better = compute_probability_better(got, bool(metric.greater_is_better))
                    gap = true[:, None] - true[None, :]
                    right = gap > 0 if metric.greater_is_better else gap < 0
                    called = better >= CALLED
                    calls[metric.name, n] += list(zip(right[called], better[called], strict=True))
    with RESULTS.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["metric", "n_labeled", "called", "right", "mean_probability"])
        for (metric_name, n), found in sorted(calls.items()):
            right_share, probability = np.mean(found, axis=0)
            row = [metric_name, n, len(found), f"{right_share:.3f}", f"{probability:.3f}"]
            writer.writerow(row)
            print(*row)
    record(RESULTS)


if __name__ == "__main__":
    main()
