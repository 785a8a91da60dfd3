"""Main tables: every method of the paper, and ours, on the paper's own predictions.

Shows the mean absolute error of each method's estimates on CivilComments (the paper's Toxicity
Detection: accuracy, ECE, AUC, AUPRC) and MultiNLI (accuracy, ECE) beside the paper's figures, with
the effective sample size of each method.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from benchmarks.experiment import PAPER_METHODS, arguments, bars, beside_paper, run, save
from ssme.bench import Protocol, labels_only_curve, summarize
from ssme.bench.effective import add_effective_sample_size
from ssme.data.datasets import load_dataset
from ssme.metrics import default_metrics

DATASETS = ["civilcomments", "multinli"]
METHODS = [*PAPER_METHODS, "ensemble", "auto"]


def main() -> None:
    args = arguments(__doc__, runs=50)
    protocol = Protocol.of(METHODS, runs=args.runs)
    table = run("main_tables", protocol, DATASETS, args)
    summary = summarize(table)
    curves = {}
    for name in DATASETS:
        data = load_dataset(name)
        metrics = default_metrics(data.n_classes)
        curves[name] = labels_only_curve(data, metrics, dataset=name, samples=args.runs)
    result = beside_paper(add_effective_sample_size(summary, curves))
    save("main_tables", result.drop(columns=["subset", "group"]), args, figure)
    per_classifier(table, args)


def per_classifier(table: pd.DataFrame, args: Any) -> None:
    """The same errors classifier by classifier, at 20 labels (the paper's per-classifier table)."""
    rows = table[(table["n_labeled"] == 20) & table["method"].isin(["labeled", "ssme", "auto"])]
    rows = rows.assign(
        error=(rows["estimate"] - rows["truth"]).abs(), bias=rows["estimate"] - rows["truth"]
    )
    keys = ["dataset", "metric", "model", "method"]
    mean = rows.groupby(keys)[["truth", "estimate", "bias", "error"]].mean().reset_index()
    save("per_classifier", mean.rename(columns={"error": "mae"}), args)


def figure(frame: pd.DataFrame) -> Any:
    shown = frame[(frame["n_labeled"] == 20)]
    shown = shown.assign(panel=shown["dataset"] + " " + shown["metric"])
    return bars(shown, "mae:Q", "method:N", row="panel", color="method")


if __name__ == "__main__":
    main()
