"""Coverage of the intervals of PPI for calibration and ranking, beside those of its resamples.

The truth is the metric on all rows. An interval of the method is that of labels alone, moved to its
estimate and shrunk (`ssme.methods.estimators.ppi`); "resamples" are the quantiles of its draws.

    python -m benchmarks.accuracy.ppi_intervals --runs 8
"""

from __future__ import annotations

import argparse
import csv

import numpy as np
from numpy.typing import NDArray

from benchmarks.accuracy.labeled_intervals import SIMULATED, load, values
from benchmarks.experiment import RESULTS
from benchmarks.provenance import record
from ssme.data.scoreset import ScoreSet
from ssme.methods.estimators.ppi import Ppi
from ssme.metrics import get_metric

METRICS = ("ece", "average_precision", "roc_auc")
SETS = (*SIMULATED, "adult", "civilcomments", "diabetes_readmit", "multinli", "mmlupro_llm_logit")
N_LABELED, N_UNLABELED = (20, 100), 600


def draw_rows(y: NDArray[np.int64], n_labeled: int, run: int) -> NDArray[np.intp]:
    """Rows of one run, the labeled ones first; every class has a label."""
    rng = np.random.default_rng([run, 9])
    while True:
        rows = rng.permutation(y.size)[: n_labeled + N_UNLABELED]
        if np.unique(y[rows[:n_labeled]]).size == np.unique(y).size:
            return rows


def study(name: str, runs: int) -> list[dict[str, object]]:
    """One line per metric and number of labels."""
    scores, y = load(name)
    models, classes = tuple(map(str, range(scores.shape[1]))), tuple(range(scores.shape[2]))
    metrics = [get_metric(metric) for metric in METRICS]
    found = []
    for n_labeled in N_LABELED:
        cells: dict[str, list[NDArray[np.float64]]] = {name: [] for name in METRICS}
        for run in range(runs):
            rows = draw_rows(y, n_labeled, run)
            labels = np.where(np.arange(rows.size) < n_labeled, y[rows], -1)
            data = ScoreSet(scores[rows], labels, models, classes)
            belief = Ppi(n_boot=200).fit(data, np.random.default_rng(run))
            for metric, got in zip(metrics, belief.estimate(metrics, [None])[0], strict=True):
                truth = values(metric, scores, y)
                low, high = got.interval()
                ends = np.quantile(got.draws, [0.025, 0.975], axis=0)
                narrow = np.minimum(ends[0], got.value), np.maximum(ends[1], got.value)
                cells[metric.name].append(
                    np.array(
                        [
                            (low <= truth) & (truth <= high),
                            high - low,
                            (narrow[0] <= truth) & (truth <= narrow[1]),
                            narrow[1] - narrow[0],
                        ]
                    )
                )
        for metric_name, parts in cells.items():
            names = ("coverage", "width", "resampled_coverage", "resampled_width")
            means = np.concatenate(parts, axis=1).mean(axis=1).round(4)
            line = {"set": name, "metric": metric_name, "n_labeled": n_labeled, "runs": runs}
            found.append({**line, **dict(zip(names, map(float, means), strict=True))})
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=8)
    parser.add_argument("--sets", nargs="*", default=list(SETS))
    options = parser.parse_args()
    lines = [line for name in options.sets for line in study(name, options.runs)]
    out = RESULTS / "ppi_intervals.csv"
    with out.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=list(lines[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)
    record(out)
    for line in lines:
        print(line)


if __name__ == "__main__":
    main()
