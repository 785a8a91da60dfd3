"""Main tables: every method of the paper, and ours, on the paper's own predictions.

Shows the mean absolute error of each method's estimates on CivilComments (the paper's Toxicity
Detection, binary: accuracy, ECE, AUC, AUPRC) and MultiNLI (multiclass: accuracy, ECE) beside the
paper's figures.
"""

from __future__ import annotations

import pandas as pd

from benchmarks.experiment import REAL_SETS, Setup, run, save, start
from benchmarks.paper import PAPER_METHODS, join_paper
from benchmarks.studies import Protocol
from ssme.bench import summarize

RUNS = 50
DATASETS = ["civilcomments", "multinli"]
METHODS = [*PAPER_METHODS, "ensemble", "auto"]


def run_main_cells(setup: Setup, datasets: list[str] = DATASETS) -> pd.DataFrame:
    """The runs of every method of the main tables, which other experiments read too."""
    return run(Protocol(METHODS, runs=setup.runs), datasets, setup, cells=REAL_SETS)


def main(setup: Setup) -> None:
    result = join_paper(summarize(run_main_cells(setup)))
    save(result.drop(columns=["subset", "group"]), setup)


if __name__ == "__main__":
    start(main, __doc__, runs=RUNS)
