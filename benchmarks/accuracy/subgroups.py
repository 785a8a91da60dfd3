"""Case study: performance in subgroups (table 1), 20 labels in all, 1,000 unlabeled rows.

The paper's study is on MIMIC-IV, which is not public; here on Adult (sex, race, age) and on
diabetes readmission (gender, race, age). The paper does not say how it bins ages; here they are
decades. As in the paper, labels alone fall back to all labeled rows where a group has none
(``fallback`` is the share of values that did, which the tables of runs mark), and RMAE is averaged
over metrics and the subgroups of a category: ``rmae`` is the mean of the ratios.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from benchmarks.datasets.registry import load_dataset
from benchmarks.experiment import Setup, run, save, start
from benchmarks.studies import Protocol
from ssme.bench import summarize
from ssme.bench.summary import provenance
from ssme.data.scoreset import ScoreSet

RUNS = 25
METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "pseudo_label": ("pseudo_label", {}),
    "dawid_skene": ("dawid_skene", {}),
    "bayesian_calibration": ("bayesian_calibration", {}),
    "ensemble": ("ensemble", {}),
    "ssme": ("ssme", {"n_bootstrap": 0}),
    "auto": ("auto", {}),
}
CATEGORIES = {"adult": ("sex", "race", "age"), "diabetes_readmit": ("gender", "race", "age")}


def load(name: str) -> ScoreSet:
    """The set ``name`` with ages in decades."""
    data = load_dataset(name)
    decades = (data.groups["age"].astype(int) // 10 * 10).astype(str).astype(object)
    return data.replace(groups={**data.groups, "age": decades + "s"})


def main(setup: Setup) -> None:
    parts = []
    for dataset, categories in CATEGORIES.items():
        protocol = Protocol(METHODS, n_labeled=(20,), runs=setup.runs, by=categories)
        table = run(protocol, [dataset], setup, load, name=f"subgroups_{dataset}")
        parts.append(average_by_category(table).assign(**provenance(table)))
    save(pd.concat(parts).assign(runs=setup.runs), setup)


def average_by_category(table: pd.DataFrame) -> pd.DataFrame:
    """Mean RMAE over the metrics and groups of a category, by method."""
    summary = summarize(table[table["group"] != "all"])
    keys = ["dataset", "category", "method"]
    summary["category"] = summary["group"].str.split("=").str[0]
    grouped = summary.groupby(keys)
    result = grouped[["rmae", "mae", "labels_only_mae", "coverage", "fallback"]].mean()
    result["cells"] = grouped.size()
    return result.reset_index()


if __name__ == "__main__":
    start(main, __doc__, runs=RUNS)
