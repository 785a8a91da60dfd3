"""Bandwidth rule: the improved Sheather-Jones rule against Silverman's, Scott's and fixed ones.

The paper finds Sheather-Jones better than Silverman's rule and fixed 1.0 and 2.0; Scott's rule and
the one of the public code stand beside them.
"""

from __future__ import annotations

from typing import Any

from benchmarks.accuracy.variants import RUNS, compare
from benchmarks.experiment import Setup, start

BANDWIDTHS: dict[str, dict[str, Any]] = {
    "isj": {},
    "silverman": {"bandwidth": "silverman"},
    "scott": {"bandwidth": "scott"},
    "fixed 1.0": {"bandwidth": 1.0},
    "fixed 2.0": {"bandwidth": 2.0},
    "public code": {"bandwidth": "public_code"},
}


def main(setup: Setup) -> None:
    compare(BANDWIDTHS, setup)


if __name__ == "__main__":
    start(main, __doc__, runs=RUNS)
