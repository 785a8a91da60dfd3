"""Every method on every real set: which can be trusted?

Geometric mean of RMAE over data set x metric cells at 20, 50 and 100 labels, the worst cell, cells
worse than labels alone, coverage and width of the intervals. Half of these sets have nothing to
do with the paper.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from benchmarks.experiment import arguments, lines, run, save
from ssme.bench import Protocol, geometric_rmae, summarize
from ssme.data.datasets import dataset_names

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


def main() -> None:
    args = arguments(__doc__, runs=25)
    datasets = [name for name in dataset_names("file") if name != TORTURE]
    summary = summarize(run("all_sets", Protocol.of(METHODS, runs=args.runs), datasets, args))
    save("all_sets", summary.drop(columns=["subset", "group"]), args)
    save("all_sets_overall", geometric_rmae(summary), args, figure)


def figure(frame: pd.DataFrame) -> Any:
    return lines(frame, "n_labeled:O", "rmae:Q", "method")


if __name__ == "__main__":
    main()
