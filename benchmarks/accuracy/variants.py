"""Choices inside SSME, one table each, all on CivilComments as in the paper's appendix.

kernels         gaussian, epanechnikov, exponential
bandwidths      improved Sheather-Jones, Silverman, Scott, fixed 1.0 and 2.0, the public code's
initialization  a draw from the mean score, or the majority of the 5 nearest labeled rows
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from benchmarks.experiment import arguments, bars, run, save
from ssme.bench import Protocol, summarize

VARIANTS: dict[str, dict[str, dict[str, Any]]] = {
    "kernels": {
        "gaussian": {"kernel": "gaussian"},
        "epanechnikov": {"kernel": "epanechnikov"},
        "exponential": {"kernel": "exponential"},
    },
    "bandwidths": {
        "isj": {"bandwidth": "isj"},
        "silverman": {"bandwidth": "silverman"},
        "scott": {"bandwidth": "scott"},
        "fixed 1.0": {"bandwidth": 1.0},
        "fixed 2.0": {"bandwidth": 2.0},
        "public code": {"bandwidth": "public_code"},
    },
    "initialization": {"draw": {"init": "draw"}, "knn": {"init": "knn"}},
}


def main() -> None:
    args = arguments(__doc__, runs=50)
    for name, variants in VARIANTS.items():
        methods = {
            label: ("ssme", {**options, "n_bootstrap": 0}) for label, options in variants.items()
        }
        protocol = Protocol(methods={**methods, "ensemble": ("ensemble", {})}, runs=args.runs)
        summary = summarize(run(name, protocol, ["civilcomments"], args))
        save(name, summary.drop(columns=["subset", "group", "dataset"]), args, figure)


def figure(frame: pd.DataFrame) -> Any:
    series = frame["method"] + ", " + frame["n_labeled"].astype(str) + " labels"
    return bars(frame.assign(series=series), "mae:Q", "series:N", row="metric", color="method")


if __name__ == "__main__":
    main()
