"""More classifiers help? SSME and ours with 2 to 7 of the CivilComments classifiers.

The paper's table: with 20 labels the error in accuracy falls from 4.71 points with two classifiers
to 2.23 with seven. Random subsets of each size, the same for every method.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.experiment import arguments, lines, run, save
from ssme.bench import Protocol, summarize
from ssme.data.datasets import load_dataset

SUBSETS_PER_SIZE = 5
METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "ensemble": ("ensemble", {}),
    "ssme": ("ssme", {"n_bootstrap": 0}),
    "auto": ("auto", {}),
}


def subsets(models: tuple[str, ...], size: int) -> list[tuple[str, ...]]:
    """At most `SUBSETS_PER_SIZE` subsets of ``size`` models, at random but always the same."""
    every = list(combinations(models, size))
    rng = np.random.default_rng(size)
    chosen = rng.choice(len(every), min(SUBSETS_PER_SIZE, len(every)), replace=False)
    return [every[i] for i in sorted(chosen)]


def main() -> None:
    args = arguments(__doc__, runs=10)
    models = load_dataset("civilcomments").models
    chosen = [s for size in range(1, len(models) + 1) for s in subsets(models, size)]
    protocol = Protocol(METHODS, n_labeled=(20,), runs=args.runs, subsets={"civilcomments": chosen})
    summary = summarize(run("classifiers", protocol, ["civilcomments"], args))
    summary["classifiers"] = summary["subset"].str.count(r"\+") + 1
    keys = ["classifiers", "method", "metric"]
    grouped = summary.groupby(keys)
    result = grouped[["mae", "rmae", "coverage"]].mean()
    result = result.join(grouped["mae"].std().rename("sd_over_subsets")).reset_index()
    save("classifiers", result, args, figure)


def figure(frame: pd.DataFrame) -> Any:
    return lines(frame, "classifiers:O", "mae:Q", "method", facet="metric")


if __name__ == "__main__":
    main()
