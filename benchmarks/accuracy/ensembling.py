"""Figure S3: SSME against averaging, as the classifiers lose their calibration.

Semi-synthetic sets as in the paper's appendix: three logistic regressions trained on 100 Adult rows
each from different ages, their scores s bent to s^a / (s^a + (1-s)^a); 20 labels, 1,000 unlabeled
rows, 10,000 rows for the truth. Needs the UCI Adult files ``adult.data`` and ``adult.test`` (CC BY
4.0) in the folder ``SSME_ADULT``. A run is one set of three classifiers at each of the five bends:
100 runs make the paper's 500 sets.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from benchmarks.datasets.adult import semisynthetic_set
from benchmarks.experiment import Setup, run, save, start
from benchmarks.studies import Protocol
from ssme.bench import summarize
from ssme.bench.summary import provenance

RUNS = 100
BENDS = (0.25, 0.5, 1.0, 2.0, 4.0)
METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "labeled": ("labeled", {}),
    "ensemble": ("ensemble", {}),
    "ensemble, no labels": ("ensemble", {"labels": False}),
    "ssme": ("ssme", {"n_bootstrap": 0}),
    "auto": ("auto", {}),
}


def load(name: str) -> Any:
    """``name`` is "bend/number of the set"."""
    bend, number = name.split("/")
    return semisynthetic_set(int(number), bend=float(bend))


def main(setup: Setup) -> None:
    names = [f"{bend}/{number}" for number in range(setup.runs) for bend in BENDS]
    table = run(Protocol(METHODS, n_labeled=(20,), runs=1), names, setup, load)
    table[["bend", "run"]] = table["dataset"].str.split("/", expand=True)
    parts = []
    for bend, part in table.groupby("bend"):
        ece = part.loc[part["metric"] == "ece", "truth"].mean()
        parts.append(summarize(part.assign(dataset="adult")).assign(bend=bend, true_ece=ece))
    columns = ["bend", "true_ece", "metric", "method", "mae", "ci95", "rmae", "coverage", "runs"]
    save(pd.concat(parts)[[*columns, *provenance(table)]], setup)


if __name__ == "__main__":
    start(main, __doc__, runs=RUNS)
