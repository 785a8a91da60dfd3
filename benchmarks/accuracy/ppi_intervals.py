"""Coverage of the intervals of PPI for calibration and ranking, beside those of its resamples.

The SSME paper's protocol (`ssme.bench`) with 600 unlabeled rows; the truth is the metric on the
other half of the rows. An interval of the method is that of labels alone, moved to its estimate and
shrunk (`ssme.methods.estimators.ppi`); "resamples" are the quantiles of its draws.

    python -m benchmarks.accuracy.ppi_intervals --runs 8

writes benchmarks/results/ppi_intervals.csv: set, metric, n_labeled, runs, coverage and width of
both intervals, over runs and classifiers.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.accuracy.labeled_intervals import SIMULATED, load_scores
from benchmarks.experiment import RESULTS, add_places, open_places, run_cells, write_table
from benchmarks.studies import Protocol, Runner, Study
from ssme.bench.runner import Truth
from ssme.results.evaluation import Evaluation
from ssme.results.groups import ALL

METRICS = ("ece", "average_precision", "roc_auc")
SETS = (*SIMULATED, "adult", "civilcomments", "diabetes_readmit", "multinli", "mmlupro_llm_logit")
MEASURED = ["coverage", "width", "resampled_coverage", "resampled_width"]


def measure_both(result: Evaluation, truth: Truth) -> list[dict[str, Any]]:
    """What a cell keeps: per metric and classifier, whether each interval covers, and its width."""
    rows = []
    for metric, got in zip(result.metrics, result.estimates[0], strict=True):
        exact = np.array([truth[ALL, metric.name, model] for model in result.data.models])
        low, high = got.interval()
        assert got.draws is not None
        ends = np.quantile(got.draws, [0.025, 0.975], axis=0)
        least, most = np.minimum(ends[0], got.value), np.maximum(ends[1], got.value)
        for j, model in enumerate(result.data.models):
            rows.append(
                {
                    "metric": metric.name,
                    "model": model,
                    "coverage": float(low[j] <= exact[j] <= high[j]),
                    "width": float(high[j] - low[j]),
                    "resampled_coverage": float(least[j] <= exact[j] <= most[j]),
                    "resampled_width": float(most[j] - least[j]),
                }
            )
    return rows


def plan_study(sets: list[str], runs: int) -> Study:
    """PPI with few and with many labels on each set."""
    protocol = Protocol(
        {"ppi": ("ppi", {"n_boot": 200})},
        metrics=METRICS,
        n_labeled=(20, 100),
        n_unlabeled=(600,),
        runs=runs,
    )
    return Study(Runner(protocol, load_scores, measure_both), tuple(sets))


def summarize(cells: pd.DataFrame) -> pd.DataFrame:
    """Means over runs and classifiers, by set, metric and number of labels."""
    by = cells.groupby(["dataset", "n_labeled", "metric"], sort=False)
    found = by[MEASURED].mean().round(4)
    found.insert(0, "runs", by["run"].nunique())
    return found.reset_index().rename(columns={"dataset": "set"})[
        ["set", "metric", "n_labeled", "runs", *MEASURED]
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=8)
    parser.add_argument("--sets", nargs="*", default=list(SETS))
    add_places(parser)
    options = parser.parse_args()
    with open_places(options) as executor:
        study = plan_study(options.sets, options.runs)
        cells = run_cells([study], "ppi_intervals", executor)
    table = summarize(cells.rows)
    write_table(RESULTS / "ppi_intervals.csv", table, cells.times)
    print(table.to_string(index=False))


if __name__ == "__main__":
    main()
