"""Figure S3: SSME against averaging, as the classifiers lose their calibration.

Semi-synthetic sets as in the paper's appendix: three logistic regressions trained on 100 Adult rows
each from different ages, their scores s bent to s^a / (s^a + (1-s)^a); 20 labels, 1,000 unlabeled
rows, 10,000 rows for the truth. Needs the UCI Adult files ``adult.data`` and ``adult.test`` (CC BY
4.0) in the folder ``SSME_ADULT``.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from benchmarks.experiment import arguments, lines, run, save
from ssme.bench import Protocol, summarize
from ssme.data.adult import semisynthetic_set

BENDS = (0.25, 0.5, 1.0, 2.0, 4.0)
METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "labeled": ("labeled", {}),
    "ensemble": ("ensemble", {}),
    "ssme": ("ssme", {"n_bootstrap": 0}),
    "auto": ("auto", {}),
}


def load(name: str) -> Any:
    """``name`` is "bend/number of the set"."""
    bend, number = name.split("/")
    return semisynthetic_set(int(number), bend=float(bend))


def main() -> None:
    args = arguments(__doc__, runs=40)
    parts = []
    for bend in BENDS:
        names = [f"{bend}/{number}" for number in range(args.runs)]
        protocol = Protocol(METHODS, n_labeled=(20,), runs=1)
        table = run(f"ensembling_{bend}", protocol, names, args, load)
        ece = table[table["metric"] == "ece"].groupby("dataset")["truth"].mean().mean()
        table["dataset"], table["run"] = "adult", table["dataset"].str.split("/").str[-1]
        parts.append(summarize(table).assign(bend=bend, true_ece=ece))
    columns = ["bend", "true_ece", "metric", "method", "mae", "ci95", "rmae", "coverage", "runs"]
    save("ensembling", pd.concat(parts)[columns], args, figure)


def figure(frame: pd.DataFrame) -> Any:
    return lines(frame, "bend:O", "mae:Q", "method", facet="metric")


if __name__ == "__main__":
    main()
