"""Errors, intervals and comparisons of ``auto`` on sets of real classifiers: plans and tables.

Per set, number of labels and run: the paper's protocol, 1,000 unlabeled rows, truth on the held-out
half. `campaign` runs the studies; the tables of one whose name is "auto" are

- auto_rmae.csv: error / error of labels alone per set, metric and n_labeled, with standard error;
- auto_overall.csv: geometric mean over set x metric cells, worst cell, cells above 1.05;
- auto_coverage.csv: coverage and width / labels-only width, per metric over sets, and per set;
- auto_pairs.csv: how often the classifier called better with probability >= 0.9 truly is, and how
  often the 95% interval of a paired difference contains the true one;
- auto_warnings.csv: on how many splits each warning was raised;
- auto_decisions.csv: P(better) and P(best) as reported, in bins, against the observed share.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.auto.decisions import sum_decisions, summarize_decisions
from benchmarks.auto.priors import TORTURE, find_left_out_coefficients
from benchmarks.experiment import Loader, run_cells, write_tables
from benchmarks.studies import Measure, Protocol, Runner, Scene, Study, StudyTables
from ssme.arrays import FloatArray
from ssme.bench.runner import Truth
from ssme.executors import open_executor
from ssme.methods.base import Estimate
from ssme.metrics.base import Metric
from ssme.results.comparison import compute_probability_better
from ssme.results.evaluation import Evaluation
from ssme.results.groups import ALL

SURE = 0.9
TRUTH_ROWS = 20_000


def count_sure_pairs(ours: Estimate, truth: FloatArray) -> tuple[int, int]:
    """Pairs called better with probability >= SURE, and how many of them truly are."""
    first, second = np.triu_indices(truth.size, 1)
    probability = compute_probability_better(ours, True)[first, second]
    sure = np.maximum(probability, 1.0 - probability) >= SURE
    right = (probability > 0.5) == (truth[first] > truth[second])
    return int(sure.sum()), int((sure & right).sum())


def count_held_pairs(ours: Estimate, truth: FloatArray) -> tuple[int, int]:
    """Pairs of classifiers, and those whose difference is in its 95% interval."""
    first, second = np.triu_indices(truth.size, 1)
    drawn = ours.draws[:, first] - ours.draws[:, second]
    low, high = Estimate(ours.value[first] - ours.value[second], drawn).interval()
    exact = truth[first] - truth[second]
    return int(exact.size), int(((low <= exact) & (exact <= high)).sum())


def compare_with_truth(
    metric: Metric, ours: Estimate, labels: Estimate, exact: FloatArray
) -> dict[str, Any]:
    """An estimate and that of labels alone beside the truth, means over classifiers."""
    (low, high), (labels_low, labels_high) = ours.interval(), labels.interval()
    sure, right = count_sure_pairs(ours, exact)
    pairs, held = count_held_pairs(ours, exact)
    return {
        "error": float(np.abs(ours.value - exact).mean()),
        "bias": float((ours.value - exact).mean()),
        "labels_error": float(np.abs(labels.value - exact).mean()),
        "covered": float(((low <= exact) & (exact <= high)).mean()),
        "labels_covered": float(((labels_low <= exact) & (exact <= labels_high)).mean()),
        "width": float((high - low).mean()),
        "labels_width": float((labels_high - labels_low).mean()),
        "inside": bool(((low <= ours.value) & (ours.value <= high)).all()),
        "sure_pairs": sure,
        "right_pairs": right,
        "pairs": pairs,
        "held_pairs": held,
        **sum_decisions(ours, exact, not metric.greater_is_better),
    }


def measure_beside_truth(result: Evaluation, truth: Truth) -> list[dict[str, Any]]:
    """What a cell keeps: per metric, means over classifiers and the pairs it is sure of."""
    rows = []
    for metric, ours, labels in zip(
        result.metrics, result.estimates[0], result.labels_only[0], strict=True
    ):
        exact = np.array([truth[ALL, metric.name, model] for model in result.data.models])
        raised = " ".join(sorted(warning.code for warning in result.warnings))
        row = {"metric": metric.name, "warnings": raised}
        rows.append({**row, **compare_with_truth(metric, ours, labels, exact)})
    return rows


Methods = dict[str, dict[str, Any]]
"""Options of `auto` by the name of the variant in the tables."""


def plan_study(
    variants: Methods,
    names: list[str],
    labels: list[int],
    runs: range,
    *,
    n_unlabeled: int = 1000,
    measure: Measure = measure_beside_truth,
    scene: Scene | None = None,
    load: Any = None,
) -> Study:
    """`auto` with other options on sets by name, or in npz files, for the protocol engine."""
    protocol = Protocol(
        {variant: ("auto", options) for variant, options in variants.items()},
        n_labeled=tuple(labels),
        n_unlabeled=(n_unlabeled,),
        runs=len(runs),
        first_run=runs.start,
        truth_rows=TRUTH_ROWS,
        fewer_unlabeled=True,
    )
    files = tuple(name for name in names if name.endswith(".npz"))
    runner = Runner(protocol, load or Loader(files), measure, scene or Scene())
    return Study(runner, tuple(Path(name).stem if name in files else name for name in names))


def compute(
    studies: list[Study],
    name: str,
    workers: int,
    seconds: float | None = None,
    *,
    leave_out: bool = False,
) -> StudyTables:
    """All rows, by the protocol engine; finished cells are kept and not computed again."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    with open_executor("processes", workers=workers) as executor:
        found = run_cells(
            studies, name, executor, seconds=seconds, leave_out="cells" if leave_out else None
        )
    return StudyTables(found.rows.rename(columns={"method": "variant"}), found.times)


def plan_left_out(names: list[str], labels: list[int], runs: range, **settings: Any) -> list[Study]:
    """`auto` with its temperature prior learned without the set, by set."""
    lines = find_left_out_coefficients()
    return [
        plan_study({"left_out": {"temperature": lines[name]}}, [name], labels, runs, **settings)
        for name in names
        if name in lines
    ]


CELL = ["variant", "n_labeled", "dataset", "metric"]


def compute_rmae(frame: pd.DataFrame) -> pd.DataFrame:
    """Ratio of mean errors per cell, with its jackknife standard error over runs."""
    rows = []
    for key, cell in frame.groupby(CELL):
        error, labels = cell["error"].to_numpy(), cell["labels_error"].to_numpy()
        n = len(cell)
        without = (error.sum() - error) / (labels.sum() - labels)
        spread = np.sqrt((n - 1) / n * ((without - without.mean()) ** 2).sum()) if n > 1 else np.nan
        ratio = error.sum() / labels.sum()
        rows.append((*key, ratio, spread, cell["bias"].mean(), labels.mean()))
    return pd.DataFrame(rows, columns=[*CELL, "rmae", "se", "bias", "labels_error"])


def summarize_errors(cells: pd.DataFrame) -> pd.DataFrame:
    rows = []
    for (variant, n_labeled), part in cells.groupby(["variant", "n_labeled"]):
        for label, some in (
            ("development sets", part[part["dataset"] != TORTURE]),
            ("with the torture test", part),
        ):
            worst = some.loc[some["rmae"].idxmax()]
            rows.append(
                {
                    "variant": variant,
                    "n_labeled": n_labeled,
                    "sets": label,
                    "rmae": float(np.exp(np.log(some["rmae"]).mean())),
                    "worst": worst["rmae"],
                    "worst_cell": f"{worst['dataset']} {worst['metric']}",
                    "above_1.05": int((some["rmae"] > 1.05).sum()),
                    "above_1.05_beyond_se": int((some["rmae"] - some["se"] > 1.05).sum()),
                    "cells": len(some),
                }
            )
    return pd.DataFrame(rows)


def compute_coverage(frame: pd.DataFrame) -> pd.DataFrame:
    """Coverage and width ratio per cell, over sets by metric, and over metrics by set."""
    sums = frame.groupby(CELL)[["covered", "labels_covered", "width", "labels_width"]].mean()
    sums["width_ratio"] = sums["width"] / sums["labels_width"]
    cells = sums.reset_index()[[*CELL, "covered", "labels_covered", "width_ratio"]]
    development = cells[cells["dataset"] != TORTURE]
    keys, values = ["variant", "n_labeled"], ["covered", "labels_covered", "width_ratio"]
    by_metric = development.groupby([*keys, "metric"])[values].mean().reset_index()
    by_set = cells.groupby([*keys, "dataset"])[values].mean().reset_index()
    every = development.groupby(keys)[values].mean().reset_index()
    return pd.concat(
        [
            every.assign(dataset="all", metric="all"),
            by_metric.assign(dataset="all"),
            by_set.assign(metric="all"),
            cells,
        ]
    )[[*CELL, *values]]


def summarize_pairs(frame: pd.DataFrame) -> pd.DataFrame:
    development = frame[frame["dataset"] != TORTURE]
    keys = ["variant", "n_labeled"]
    values = ["sure_pairs", "right_pairs", "pairs", "held_pairs"]
    parts = [
        development.groupby([*keys, "metric"])[values].sum().reset_index().assign(dataset="all"),
        frame.groupby([*keys, "dataset"])[values].sum().reset_index().assign(metric="all"),
    ]
    out = pd.concat(parts)[[*CELL, *values]]
    held = out["held_pairs"] / out["pairs"].clip(lower=1)
    return out.assign(right=out["right_pairs"] / out["sure_pairs"], held=held)


def count_warnings(frame: pd.DataFrame) -> pd.DataFrame:
    """Share of the splits on which each warning was raised."""
    keys = ["variant", "n_labeled"]
    once = frame.groupby([*keys, "dataset", "run"])["warnings"].first().reset_index()
    codes = sorted({code for told in once["warnings"] for code in told.split()})
    for code in codes:
        once[code] = once["warnings"].str.contains(code).astype(float)
    out = once.groupby(keys)[codes].mean()
    out.insert(0, "splits", once.groupby(keys).size())
    return out.reset_index()


def summarize_by_variant(frame: pd.DataFrame, column: str) -> pd.DataFrame:
    """Error, coverage (of ECE and paired differences too) and width of each variant."""
    keys = ["variant", "n_labeled"]
    errors = summarize_errors(compute_rmae(frame))
    errors = errors[errors["sets"] == "development sets"].drop(columns="sets")
    covered = compute_coverage(frame)
    sets = covered[(covered["metric"] == "all") & (covered["dataset"] != "all")]
    lowest = sets.loc[sets.groupby(keys)["covered"].idxmin()]
    lowest = lowest.rename(columns={"covered": "lowest_covered", "dataset": "lowest_set"})
    covered = covered[covered["dataset"] == "all"].set_index("metric")
    every = covered.loc[["all"], [*keys, "covered", "labels_covered", "width_ratio"]]
    ece = covered.loc[["ece"], [*keys, "covered"]].rename(columns={"covered": "covered_ece"})
    sums = frame.groupby(keys)[["pairs", "held_pairs"]].sum().reset_index()
    sums["held"] = sums["held_pairs"] / sums["pairs"].where(sums["pairs"] > 0)
    out = errors.merge(every, on=keys).merge(ece, on=keys).merge(sums[[*keys, "held"]], on=keys)
    out = out.merge(lowest[[*keys, "lowest_covered", "lowest_set"]], on=keys)
    return out.rename(columns={"variant": column})


def summarize_by_variant_and_set(frame: pd.DataFrame, column: str) -> pd.DataFrame:
    """Error, coverage and width of each variant on each set, its metrics together."""
    keys = ["variant", "dataset", "n_labeled"]
    cells = compute_rmae(frame)
    errors = np.exp(np.log(cells["rmae"]).groupby([cells[key] for key in keys]).mean())
    covered = compute_coverage(frame)
    covered = covered[(covered["metric"] == "all") & (covered["dataset"] != "all")]
    sums = frame.groupby(keys)[["pairs", "held_pairs"]].sum()
    out = covered.set_index(keys)[["covered", "labels_covered", "width_ratio"]]
    out = out.assign(rmae=errors, held=sums["held_pairs"] / sums["pairs"].where(sums["pairs"] > 0))
    out = out.assign(runs=frame.groupby(keys)["run"].nunique())
    return out.sort_index().reset_index().rename(columns={"variant": column})


def make_parser(description: str | None, *, runs: int, labels: list[int]) -> Any:
    """The arguments of every study of `auto`, to be added to."""
    parser = argparse.ArgumentParser(description=(description or "").split("\n")[0])
    parser.add_argument("--runs", type=int, default=runs)
    parser.add_argument("--labels", type=int, nargs="+", default=labels)
    parser.add_argument("--workers", type=int, default=2)
    return parser


def make_tables(frame: pd.DataFrame, name: str) -> dict[str, pd.DataFrame]:
    """The results of a study, whose names begin with ``name``."""
    cells = compute_rmae(frame)
    return {
        f"{name}_rmae": cells,
        f"{name}_overall": summarize_errors(cells),
        f"{name}_coverage": compute_coverage(frame),
        f"{name}_pairs": summarize_pairs(frame),
        f"{name}_decisions": summarize_decisions(frame),
        f"{name}_warnings": count_warnings(frame),
    }


def write(tables: dict[str, pd.DataFrame], times: pd.DataFrame) -> None:
    """Write results by name; ``times`` are those of the cells behind them."""
    write_tables(tables, times, digits=4)
