"""Initialization: where SSME's EM begins, and whether it matters.

From a draw of labels by the mean score, or from the majority of the 5 nearest labeled rows. The
paper finds the two comparable.
"""

from __future__ import annotations

from benchmarks.accuracy.variants import RUNS, compare
from benchmarks.experiment import Setup, start

STARTS = {"draw": {}, "knn": {"init": "knn"}}


def main(setup: Setup) -> None:
    compare(STARTS, setup)


if __name__ == "__main__":
    start(main, __doc__, runs=RUNS)
