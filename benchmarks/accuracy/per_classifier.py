"""Per-classifier table: the error of each single classifier's estimate, at 20 labels.

Shows whether a good mean over classifiers hides a bad estimate of one of them: truth, estimate,
bias and mean absolute error of labels alone, SSME and ours, from the runs of the main tables.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from benchmarks.accuracy.main_tables import RUNS, main_cells
from benchmarks.charts import dots
from benchmarks.experiment import Setup, save, start
from ssme.bench import provenance

METHODS = ["labeled", "ssme", "auto"]


def main(setup: Setup) -> None:
    table = main_cells(setup)
    rows = table[(table["n_labeled"] == 20) & table["method"].isin(METHODS)]
    bias = rows["estimate"] - rows["truth"]
    rows = rows.assign(bias=bias, mae=bias.abs())
    keys = ["dataset", "metric", "model", "method"]
    mean = rows.groupby(keys)[["truth", "estimate", "bias", "mae"]].mean().reset_index()
    save(mean.assign(runs=setup.runs, **provenance(table)), setup, figure)


def figure(frame: pd.DataFrame) -> Any:
    panel = frame["dataset"] + " " + frame["metric"]
    return dots(frame.assign(panel=panel), "mae", "model", "method", facet="panel")


if __name__ == "__main__":
    start(main, __doc__, runs=RUNS)
