"""Every method on every real set: which can be trusted?

Geometric mean of RMAE over data set x metric cells at 20, 50 and 100 labels, the worst cell, cells
worse than labels alone, coverage and width of the intervals. Half of these sets have nothing to
do with the paper.
"""

from __future__ import annotations

from benchmarks.datasets.registry import dataset_names
from benchmarks.experiment import REAL_SETS, Setup, run, save, start
from ssme.bench import Protocol, geometric_rmae, summarize

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
    table = run(Protocol.of(METHODS, runs=setup.runs), datasets, setup, cells=REAL_SETS)
    summary = summarize(table)
    save(summary.drop(columns=["subset", "group"]), setup)
    save(geometric_rmae(summary), setup, name="all_sets_overall")


if __name__ == "__main__":
    start(main, __doc__, runs=RUNS)
