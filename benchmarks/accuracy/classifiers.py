"""More classifiers help? SSME and ours with 2 to 7 of the CivilComments classifiers.

The paper's table: with 20 labels the error in accuracy falls from 4.71 points with two classifiers
to 2.23 with seven. Random subsets of each size, the same for every method; half-widths of 95 %
intervals are over subsets.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.charts import lines
from benchmarks.experiment import Setup, run, save, start
from ssme.bench import Protocol, provenance, summarize
from ssme.data.datasets import load_dataset

RUNS = 10
SUBSETS_PER_SIZE = 10
DATASET = "civilcomments"
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


def main(setup: Setup) -> None:
    models = load_dataset(DATASET).models
    chosen = [s for size in range(1, len(models) + 1) for s in subsets(models, size)]
    protocol = Protocol(METHODS, n_labeled=(20,), runs=setup.runs, subsets={DATASET: chosen})
    table = run(protocol, [DATASET], setup)
    summary = summarize(table)
    summary["classifiers"] = summary["subset"].str.count(r"\+") + 1
    grouped = summary.groupby(["classifiers", "method", "metric"])
    result = grouped[["mae", "rmae", "coverage"]].mean()
    result["subsets"] = grouped.size()
    result["ci95"] = 1.96 * grouped["mae"].std() / result["subsets"] ** 0.5
    save(result.reset_index().assign(runs=setup.runs, **provenance(table)), setup, figure)


def figure(frame: pd.DataFrame) -> Any:
    return lines(frame, "classifiers:O", "mae:Q", "method", facet="metric")


if __name__ == "__main__":
    start(main, __doc__, runs=RUNS)
