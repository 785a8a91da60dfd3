"""Every method on every real set: which can be trusted?

Geometric mean of RMAE over data set x metric cells at 20, 50 and 100 labels, the worst cell, cells
worse than labels alone, coverage and width of the intervals. Half of these sets have nothing to
do with the paper.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from benchmarks.datasets.registry import dataset_names
from benchmarks.experiment import REAL_SETS, Setup, run, save, start
from benchmarks.studies import Protocol
from ssme.bench import summarize
from ssme.bench.summary import provenance

RUNS = 25
TORTURE = "civilcomments_coral_seeds"
METHODS = [
    "auto",
    "ssme",
    "ensemble",
    "weighted_ensemble",
    "majority_vote",
    "dawid_skene",
    "ppi",
    "labeled",
]


def main(setup: Setup) -> None:
    datasets = [name for name in dataset_names("file") if name != TORTURE]
    table = run(Protocol(METHODS, runs=setup.runs), datasets, setup, cells=REAL_SETS)
    summary = summarize(table)
    save(summary.drop(columns=["subset", "group"]), setup)
    save(geometric_rmae(summary), setup, name="all_sets_overall")


def geometric_rmae(summary: pd.DataFrame) -> pd.DataFrame:
    """By method and number of labels: geometric mean of RMAE over cells, worst, those above 1."""
    grouped = summary.groupby(["method", "n_labeled"], sort=True)
    overall = grouped.apply(_average_over_cells, include_groups=False).reset_index()
    return overall.assign(**provenance(summary))


def _average_over_cells(cells: pd.DataFrame) -> pd.Series:
    rmae = cells["rmae"].to_numpy()
    worst = cells.iloc[int(np.nanargmax(rmae))]
    return pd.Series(
        {
            "rmae": float(np.exp(np.nanmean(np.log(rmae)))),
            "worst": float(np.nanmax(rmae)),
            "worst_cell": f"{worst['dataset']} {worst['metric']}",
            "cells": len(rmae),
            "cells_above_1": int((rmae > 1.0).sum()),
            "coverage": float(cells["coverage"].mean()),
            "width_ratio": float(cells["width_ratio"].mean()),
            "runs": int(cells["runs"].min()),
        }
    )


if __name__ == "__main__":
    start(main, __doc__, runs=RUNS)
