"""What changes under the loop of the public code: verdicts that a preset decides.

Three results, each beside one that is under the preset ``paper``:

- ``presets_choices``: bandwidths and starts on CivilComments, beside ``bandwidths`` and
  ``initialization``. Silverman's rule of the public code, (4 s^5 / 3n)^(1/5) with s the mean of the
  standard deviations over dimensions, gives 1.15 there.
- ``presets_trends``: the synthetic sets of figure S2, beside ``synthetic_trends``.
- ``presets_bends``: figure S3 on a stand-in, without the UCI Adult files. A set is three of the
  seven classifiers of ``adult_shift``, which were trained on sub-populations of Adult, with scores
  bent as in ``ensembling``; 100 sets at each of the five bends are the paper's 500.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.accuracy import synthetic_trends
from benchmarks.accuracy.ensembling import BENDS
from benchmarks.datasets.adult import bend_scores
from benchmarks.datasets.registry import load_dataset
from benchmarks.experiment import Setup, run, save, start
from benchmarks.studies import Protocol
from ssme.bench import summarize
from ssme.data.scoreset import ScoreSet

RUNS = 50
SILVERMAN = 1.15
PUBLIC_CODE: dict[str, Any] = {"preset": "public_code", "n_bootstrap": 0}
CHOICES: dict[str, tuple[str, dict[str, Any]]] = {
    "public code": ("ssme", PUBLIC_CODE),
    "public code, silverman": ("ssme", PUBLIC_CODE | {"bandwidth": SILVERMAN}),
    "public code, fixed 1.0": ("ssme", PUBLIC_CODE | {"bandwidth": 1.0}),
    "public code, fixed 2.0": ("ssme", PUBLIC_CODE | {"bandwidth": 2.0}),
    "public code, knn": ("ssme", PUBLIC_CODE | {"init": "knn"}),
}
BENT: dict[str, tuple[str, dict[str, Any]]] = {
    "ensemble": ("ensemble", {}),
    "ensemble, no labels": ("ensemble", {"labels": False}),
    "ssme": ("ssme", {"n_bootstrap": 0}),
    "ssme, public code": ("ssme", PUBLIC_CODE),
}


def load_bent(name: str) -> ScoreSet:
    """``name`` is "bend/number of the set"."""
    bend, number = name.split("/")
    data = load_dataset("adult_shift")
    rng = np.random.default_rng([2025, int(number)])
    chosen = sorted(rng.choice(data.n_models, 3, replace=False))
    scores = bend_scores(data.scores[:, chosen, 1].astype(np.float64), float(bend))
    return ScoreSet.from_arrays(scores, data.labels)


def main(setup: Setup) -> None:
    here = replace(setup, times=[])
    table = run(Protocol(CHOICES, runs=setup.runs), ["civilcomments"], here, cells="variants")
    save(
        summarize(table).drop(columns=["subset", "group", "dataset"]), here, name="presets_choices"
    )

    here = replace(setup, runs=synthetic_trends.RUNS, times=[])
    methods = {"ssme, public code": ("ssme", PUBLIC_CODE)}
    save(synthetic_trends.measure(here, methods), here, name="presets_trends")

    here = replace(setup, times=[])
    names = [f"{bend}/{number}" for number in range(2 * setup.runs) for bend in BENDS]
    protocol = Protocol(BENT, n_labeled=(20,), runs=1, truth_rows=10_000)
    table = run(protocol, names, here, load_bent)
    table[["bend", "run"]] = table["dataset"].str.split("/", expand=True)
    parts = [
        summarize(part.assign(dataset="adult_shift")).assign(bend=bend)
        for bend, part in table.groupby("bend")
    ]
    columns = [
        "bend",
        "metric",
        "method",
        "mae",
        "ci95",
        "coverage",
        "runs",
        "seed",
        "ssme",
        "numpy",
    ]
    save(pd.concat(parts)[columns], here, name="presets_bends")


if __name__ == "__main__":
    start(main, __doc__, runs=RUNS)
