"""Computational cost: each method on 1,020 rows and 7 classifiers, as a ratio to labels alone.

One evaluation with its intervals at a time, in this process, on one core; the least of the runs.
The paper's comparison: Bayesian calibration 32.1 s, SSME 21.5 s at this size on one CPU.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.datasets.synthetic import gaussian_set
from benchmarks.experiment import Setup, run, save, start
from benchmarks.studies import Protocol
from ssme.bench.summary import provenance
from ssme.data.scoreset import ScoreSet
from ssme.engines.executors import limit_blas_threads
from ssme.methods.registry import method_names

RUNS = 5
METRICS = ("accuracy", "ece", "roc_auc", "average_precision")
LIKE_WITH_LIKE: dict[str, tuple[str, dict[str, Any]]] = {
    "ssme, no refits": ("ssme", {"n_bootstrap": 0}),
    "ssme, public code, no refits": ("ssme", {"preset": "public_code", "n_bootstrap": 0}),
}
"""SSME without the refits behind our intervals, which the paper's has not; the second with its EM
loop of 20 steps too."""


def load(name: str) -> ScoreSet:
    """Seven classifiers with normal scores; half of the rows are for the truth."""
    return gaussian_set(2040, np.full(7, 1.2), rng=np.random.default_rng(0))


def main(setup: Setup) -> None:
    limit_blas_threads()
    methods = {name: (name, {}) for name in method_names()} | LIKE_WITH_LIKE
    protocol = Protocol(methods, metrics=METRICS, n_labeled=(20,), runs=setup.runs)
    here = replace(setup, executor=None)
    table = run(protocol, ["gaussian_7"], here, load)
    frame = here.times[0].groupby("method", sort=False)["seconds"].min().reset_index()
    alone = float(frame.loc[frame["method"] == "labeled", "seconds"].iloc[0])
    frame["ratio_to_labeled"] = frame["seconds"] / alone
    result = frame.sort_values("seconds").assign(runs=setup.runs, **provenance(table))
    save(result, here)


if __name__ == "__main__":
    start(main, __doc__, runs=RUNS)
