"""Per-classifier tables (S7 to S10): estimate and spread of every method, at 20 labels.

The paper prints, for each of the CivilComments classifiers, the mean estimate over runs and 1.96
standard deviations of it beside the truth. Here for both public sets, with the mean absolute error
and the bias, and the paper's figures where it has them; from the runs of the main tables.
"""

from __future__ import annotations

import pandas as pd

from benchmarks.accuracy.main_tables import RUNS, run_main_cells
from benchmarks.experiment import Setup, save, start
from benchmarks.paper import PAPER_METHODS, PAPER_MODELS, read_paper_file
from ssme.bench.summary import provenance

KEYS = ["dataset", "metric", "model", "method"]


def main(setup: Setup) -> None:
    table = run_main_cells(setup)
    rows = table[table["n_labeled"] == 20]
    bias = rows["estimate"] - rows["truth"]
    rows = rows.assign(bias=bias, mae=bias.abs())
    grouped = rows.groupby(KEYS, sort=False)
    result = grouped[["truth", "estimate", "bias", "mae"]].mean()
    result.insert(2, "spread", 1.96 * grouped["estimate"].std())
    result = join_paper_classifiers(result.reset_index())
    save(result.assign(runs=setup.runs, **provenance(table)), setup)


def join_paper_classifiers(ours: pd.DataFrame) -> pd.DataFrame:
    """``ours`` with the paper's estimate, its spread and its truth where it has them."""
    published = read_paper_file("per_classifier").rename(columns={"spread": "paper_spread"})
    published = published.rename(columns={"estimate": "paper_estimate"})
    truth = published[published["method"] == "Ground Truth"]
    truth = truth.rename(columns={"paper_estimate": "paper_truth"})
    names = ours.assign(
        classifier=ours["model"].map(PAPER_MODELS).where(ours["dataset"] == "civilcomments"),
        column=ours["method"].map(PAPER_METHODS),
    )
    names = names.merge(
        published.rename(columns={"model": "classifier", "method": "column"}),
        how="left",
        on=["metric", "classifier", "column"],
    )
    names = names.merge(
        truth[["metric", "model", "paper_truth"]].rename(columns={"model": "classifier"}),
        how="left",
        on=["metric", "classifier"],
    )
    return names.drop(columns=["classifier", "column"])


if __name__ == "__main__":
    start(main, __doc__, runs=RUNS)
