"""``auto`` judged on sets that neither its prior nor its intervals have seen: leave-one-set-out.

For every development set the rest decides alone (sets made of the same rows are left out together):

- the line of the temperature prior, refitted without the set (`priors`);
- a factor of the spread of each metric's draws, from a grid, such that the intervals of the other
  sets cover `TARGET`.

What was fixed once, in view of all sets, stays: the form of the model, the scales of its families,
the regimes and their probabilities, what agreement is worth, the power of the likelihood and the
residual correction (evidence/auto.md). Written to ``benchmarks/results``: auto_nested.csv
(error, coverage, width), auto_nested_sets.csv (the same of each set, its metrics together and each
by itself) and auto_nested_choices.csv.

    python -m benchmarks.auto.nested --workers 2
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from benchmarks.auto.priors import SETS, find_family
from benchmarks.auto.study import (
    compute,
    compute_rmae,
    make_parser,
    plan_left_out,
    summarize_errors,
    write,
)
from benchmarks.studies import Study
from ssme.bench.runner import Truth
from ssme.methods.base import Estimate
from ssme.results.evaluation import Evaluation
from ssme.results.groups import ALL

FACTORS = tuple(round(0.6 + 0.05 * i, 2) for i in range(17))
TARGET = 0.97


def measure_factors(result: Evaluation, truth: Truth) -> list[dict[str, Any]]:
    """What a cell keeps: each metric at every factor of its draws, means over classifiers."""
    rows = []
    for metric, estimate, labels in zip(
        result.metrics, result.estimates[0], result.labels_only[0], strict=True
    ):
        exact = np.array([truth[ALL, metric.name, model] for model in result.data.models])
        labels_low, labels_high = labels.interval()
        for factor in FACTORS:
            draws = estimate.value + factor * (estimate.draws - estimate.value)
            draws = np.clip(draws, metric.low, metric.high)
            low, high = Estimate(estimate.value, draws).interval()
            rows.append(
                {
                    "metric": metric.name,
                    "factor": factor,
                    "error": float(np.abs(estimate.value - exact).mean()),
                    "bias": float((estimate.value - exact).mean()),
                    "labels_error": float(np.abs(labels.value - exact).mean()),
                    "covered": float(((low <= exact) & (exact <= high)).mean()),
                    "width": float((high - low).mean()),
                    "labels_width": float((labels_high - labels_low).mean()),
                }
            )
    return rows


def calibrate(frame: pd.DataFrame) -> pd.DataFrame:
    """Rows of each set at the factor with which the other sets cover as `TARGET` asks."""
    kept = []
    for (name, metric), own in frame.groupby(["dataset", "metric"]):
        others = frame[
            (frame["metric"] == metric) & (frame["dataset"].map(find_family) != find_family(name))
        ]
        covered = others.groupby("factor")["covered"].mean()
        kept.append(own[own["factor"] == (covered - TARGET).abs().idxmin()])
    return pd.concat(kept)


def plan(labels: list[int], runs: range) -> list[Study]:
    """Each development set with the line of the others."""
    return plan_left_out(list(SETS), labels, runs, measure=measure_factors)


def make_tables(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The results of the study, by name."""
    result = calibrate(frame)
    choices = result.groupby(["dataset", "metric"])["factor"].first().unstack()
    return {
        "auto_nested": summarize_cells(result),
        "auto_nested_sets": summarize_sets(result),
        "auto_nested_choices": choices.rename_axis("left_out").reset_index(),
    }


def summarize_cells(result: pd.DataFrame) -> pd.DataFrame:
    """One row per number of labels: error, cells above 1.05, coverage by metric, width."""
    errors = summarize_errors(compute_rmae(result))
    errors = errors[errors["sets"] == "development sets"].drop(columns=["sets", "variant"])
    cells = result.groupby(["n_labeled", "dataset", "metric"])[["covered", "width", "labels_width"]]
    cells = cells.mean().reset_index()
    by_metric = cells.groupby(["n_labeled", "metric"])["covered"].mean().unstack()
    by_set = cells.groupby(["n_labeled", "dataset"])["covered"].mean().unstack()
    table = errors.set_index("n_labeled").join(by_metric.add_prefix("covered_"))
    ratio = (cells["width"] / cells["labels_width"]).groupby(cells["n_labeled"]).mean()
    table["width_ratio"] = ratio
    table["lowest_covered"], table["lowest_set"] = by_set.min(axis=1), by_set.idxmin(axis=1)
    return table.reset_index()


def summarize_sets(result: pd.DataFrame) -> pd.DataFrame:
    """Error, coverage and width of each set and metric, and of each set's metrics together."""
    keys = ["n_labeled", "dataset", "metric"]
    errors = compute_rmae(result)[[*keys, "rmae", "se"]]
    means = result.groupby(keys)[["covered", "width", "labels_width"]].mean().reset_index()
    means["width_ratio"] = means["width"] / means["labels_width"]
    cells = errors.merge(means[[*keys, "covered", "width_ratio"]], on=keys)
    sets = cells.assign(rmae=np.log(cells["rmae"])).groupby(keys[:2])
    together = sets[["rmae", "covered", "width_ratio"]].mean().reset_index()
    together = together.assign(rmae=np.exp(together["rmae"]), metric="all")
    runs = result.groupby(keys[:2])["run"].nunique().rename("runs").reset_index()
    return pd.concat([together, cells])[[*keys, "rmae", "se", "covered", "width_ratio"]].merge(
        runs, on=keys[:2]
    )


def main() -> None:
    args = make_parser(__doc__, runs=25, labels=[20, 50, 100]).parse_args()
    frame, times = compute(plan(args.labels, range(args.runs)), "auto_nested", args.workers)
    tables = make_tables(frame)
    write(tables, times)
    print(tables["auto_nested"].round(3).to_string(index=False))


if __name__ == "__main__":
    main()
