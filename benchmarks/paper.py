"""The paper's own numbers beside ours."""

from __future__ import annotations

import numpy as np
import pandas as pd

from benchmarks.experiment import RESULTS
from ssme.datasets.registry import data_folder

PAPER_NAMES = {"civilcomments": "Toxicity Detection", "multinli": "MultiNLI"}
"""Data sets whose predictions are the paper's own, by their name in its tables."""

PAPER_METHODS = {
    "labeled": "Labeled",
    "majority_vote": "Majority-Vote",
    "pseudo_label": "PL",
    "dawid_skene": "Dawid-Skene",
    "spe": "SPE",
    "bayesian_calibration": "BC",
    "autoeval": "AutoEval",
    "active_testing": "Active-Testing",
    "ssme_m": "SSME-M",
    "ssme": "SSME",
}
"""Our methods that have a column in its tables."""

KEYS = ["dataset", "method", "metric", "n_labeled", "n_unlabeled"]


def paper_table() -> pd.DataFrame:
    """The paper's mean absolute errors (a fraction, not percent), from the file ``paper/mae.csv``
    beside the data folder; where it is absent, from what ``main_tables.csv`` holds of them.
    """
    path = data_folder().parent / "paper" / "mae.csv"
    if not path.exists():
        return committed()
    table = pd.read_csv(path)
    table = table[~table["table"].str.contains("nf")]
    table["paper"] = table["mae_pct"] / 100
    table["paper_ci95"] = table["ci95_halfwidth_pct"] / 100
    return table[[*KEYS, "paper", "paper_ci95"]]


def committed() -> pd.DataFrame:
    """The paper's numbers as kept in the committed main tables."""
    table = pd.read_csv(RESULTS / "main_tables.csv").dropna(subset=["paper"])
    table["dataset"] = table["dataset"].map(PAPER_NAMES)
    table["method"] = table["method"].map(PAPER_METHODS)
    return table[[*KEYS, "paper", "paper_ci95"]]


def beside_paper(summary: pd.DataFrame, also: dict[str, str] | None = None) -> pd.DataFrame:
    """``summary`` with the paper's number and a verdict where the paper has that cell.

    ``also`` names the paper's column for further methods.
    """
    ours = summary.assign(
        paper_dataset=summary["dataset"].map(PAPER_NAMES),
        paper_method=summary["method"].map(PAPER_METHODS | (also or {})),
    )
    both = ours.merge(
        paper_table(),
        how="left",
        left_on=["paper_dataset", "paper_method", "metric", "n_labeled", "n_unlabeled"],
        right_on=["dataset", "method", "metric", "n_labeled", "n_unlabeled"],
        suffixes=("", "_paper"),
    )
    gap = both["mae"] - both["paper"]
    allowed = both["ci95"] + both["paper_ci95"]
    verdict = np.select(
        [both["paper"].isna(), gap.abs() <= allowed, gap < 0], ["", "matched", "better"], "worse"
    )
    columns = [*summary.columns, "paper", "paper_ci95"]
    return both[columns].assign(verdict=verdict)
