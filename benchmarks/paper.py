"""The paper's own numbers beside ours, and the word for how they compare.

Errors come from ``paper/mae.csv`` beside the data folder; tables that are small and of another
kind are transcribed in ``benchmarks/paper_tables``, fractions instead of percent.

A cell *reproduces* where our error and the paper's differ by no more than their two half-widths
added. Where they differ by more, the word says in which direction and nothing else: a baseline with
a lower error than the paper's is one that does not reproduce, not a better one.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.datasets.registry import data_folder
from benchmarks.experiment import RESULTS, ROOT

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

PAPER_MODELS = {
    name: f"distilbert-{name.replace('_', '-')}"
    for name in ("CORAL", "ERM", "IRM", "ERM_seed1", "ERM_seed2", "IRM_seed1", "IRM_seed2")
}
"""The CivilComments classifiers by their name in the paper's tables S7 to S10."""

REPRODUCES = "reproduces"
LOWER = "does not reproduce: lower error"
HIGHER = "does not reproduce: higher error"

KEYS = ["dataset", "method", "metric", "n_labeled", "n_unlabeled"]


def read_paper_table() -> pd.DataFrame:
    """The paper's mean absolute errors (a fraction, not percent), from the file ``paper/mae.csv``
    beside the data folder; where it is absent, from what ``main_tables.csv`` holds of them.
    """
    path = data_folder().parent / "paper" / "mae.csv"
    if not path.exists():
        return read_committed()
    table = pd.read_csv(path)
    table = table[~table["table"].str.contains("nf")]
    table["paper"] = table["mae_pct"] / 100
    table["paper_ci95"] = table["ci95_halfwidth_pct"] / 100
    return table[[*KEYS, "paper", "paper_ci95"]]


def read_committed() -> pd.DataFrame:
    """The paper's numbers as kept in the committed main tables."""
    table = pd.read_csv(RESULTS / "main_tables.csv").dropna(subset=["paper"])
    table["dataset"] = table["dataset"].map(PAPER_NAMES)
    table["method"] = table["method"].map(PAPER_METHODS)
    return table[[*KEYS, "paper", "paper_ci95"]]


def join_paper(summary: pd.DataFrame, also: dict[str, str] | None = None) -> pd.DataFrame:
    """``summary`` with the paper's number and a verdict where the paper has that cell.

    ``also`` names the paper's column for further methods.
    """
    ours = summary.assign(
        paper_dataset=summary["dataset"].map(PAPER_NAMES),
        paper_method=summary["method"].map(PAPER_METHODS | (also or {})),
    )
    both = ours.merge(
        read_paper_table(),
        how="left",
        left_on=["paper_dataset", "paper_method", "metric", "n_labeled", "n_unlabeled"],
        right_on=["dataset", "method", "metric", "n_labeled", "n_unlabeled"],
        suffixes=("", "_paper"),
    )
    columns = [*summary.columns, "paper", "paper_ci95"]
    return both[columns].assign(verdict=judge_rows(both))


def judge_rows(table: pd.DataFrame) -> NDArray[np.str_]:
    """A word per row of ``mae``, ``ci95``, ``paper`` and ``paper_ci95``; "" without a paper's."""
    gap = table["mae"] - table["paper"]
    allowed = table["ci95"] + table["paper_ci95"]
    unknown, within = table["paper"].isna(), gap.abs() <= allowed
    return np.select([unknown, within, gap < 0], ["", REPRODUCES, LOWER], HIGHER)


def read_paper_file(name: str) -> pd.DataFrame:
    """One of the paper's small tables, as transcribed in ``benchmarks/paper_tables``."""
    return pd.read_csv(ROOT / "paper_tables" / f"{name}.csv")
