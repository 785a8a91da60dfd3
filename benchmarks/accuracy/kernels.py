"""Kernel choice: does the shape of SSME's kernel matter?

The paper finds no significant difference between the Gaussian, Epanechnikov and exponential.
"""

from __future__ import annotations

from benchmarks.accuracy.variants import RUNS, compare
from benchmarks.experiment import Setup, start

KERNELS = {
    "gaussian": {},
    "epanechnikov": {"kernel": "epanechnikov"},
    "exponential": {"kernel": "exponential"},
}


def main(setup: Setup) -> None:
    compare(KERNELS, setup)


if __name__ == "__main__":
    start(main, __doc__, runs=RUNS)
