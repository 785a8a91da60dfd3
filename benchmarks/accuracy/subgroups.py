"""Case study: performance in subgroups, 20 labels in all, 1,000 unlabeled rows.

The paper's study is on MIMIC-IV, which is not public; here on Adult (sex, race, age) and on
diabetes readmission (gender, race, age). As in the paper, labels alone fall back to all labeled
rows where a group has none; RMAE averages over metrics and subgroups of a category.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from benchmarks.charts import lines
from benchmarks.experiment import Setup, run, save, start
from ssme.bench import Protocol, provenance, summarize

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


def main(setup: Setup) -> None:
    parts = []
    for dataset, categories in CATEGORIES.items():
        protocol = Protocol(METHODS, n_labeled=(20,), runs=setup.runs, by=categories)
        table = run(protocol, [dataset], setup, name=f"subgroups_{dataset}")
        parts.append(by_category(with_fallback(table)).assign(**provenance(table)))
    save(pd.concat(parts).assign(runs=setup.runs), setup, figure)


def with_fallback(table: pd.DataFrame) -> pd.DataFrame:
    """Labels alone, or all labeled rows where the group's own value is undefined."""
    keys = ["dataset", "run", "method", "metric", "model"]
    whole = table[table["group"] == "all"].set_index(keys)["labels_only"].rename("whole")
    joined = table.join(whole, on=keys)
    joined["labels_only"] = joined["labels_only"].fillna(joined["whole"])
    return joined[joined["group"] != "all"].drop(columns="whole")


def by_category(table: pd.DataFrame) -> pd.DataFrame:
    summary = summarize(table)
    summary["category"] = summary["group"].str.split("=").str[0]
    keys = ["dataset", "category", "method"]
    grouped = summary.groupby(keys)
    result = grouped[["rmae", "mae", "labels_only_mae", "coverage"]].mean().reset_index()
    result["rmae_of_means"] = result["mae"] / result["labels_only_mae"]
    result["cells"] = grouped.size().to_numpy()
    return result


def figure(frame: pd.DataFrame) -> Any:
    frame = frame.assign(where=frame["dataset"] + " " + frame["category"])
    return lines(frame, "where:N", "rmae_of_means:Q", "method")


if __name__ == "__main__":
    start(main, __doc__, runs=RUNS)
