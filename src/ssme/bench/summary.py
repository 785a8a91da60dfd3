"""From a table of runs to the numbers people compare.

Per data set, size, method and metric, with e = |estimate - truth| averaged over classifiers:

    MAE      mean of e over runs, with 1.96 standard errors of that mean
    RMAE     MAE / MAE of labels alone on the same runs
    bias     mean signed error
    coverage share of (run, classifier) whose interval contains the true value
    width    mean interval width, and its ratio to that of labels alone

A table by group also has

    fallback share of (run, classifier) in which the labels of a group do not determine the metric,
             so that labels alone are those of all rows
"""

from __future__ import annotations

from typing import Any

import numpy as np

CELL = ["dataset", "subset", "group", "n_labeled", "n_unlabeled", "metric", "method"]
"""Columns that name one cell of a summary."""

PROVENANCE = ["seed", "ssme", "numpy"]
"""Columns with one value in a whole table."""


def summarize(table: Any) -> Any:
    """Summarize a table of `run_protocol` over its runs.

    Parameters
    ----------
    table : pandas.DataFrame
        The table.

    Returns
    -------
    pandas.DataFrame
        One row per data set, metric, method and number of labels: errors, coverage and widths.
    """
    rows = table[table["truth"].notna()].copy()
    rows["error"] = (rows["estimate"] - rows["truth"]).abs()
    rows["signed"] = rows["estimate"] - rows["truth"]
    rows["alone"] = (rows["labels_only"] - rows["truth"]).abs()
    has_interval = rows["low"].notna()
    inside = (rows["low"] <= rows["truth"]) & (rows["truth"] <= rows["high"])
    rows["covered"] = inside.astype(float).where(has_interval)
    rows["width"] = rows["high"] - rows["low"]
    rows["alone_width"] = rows["labels_only_high"] - rows["labels_only_low"]
    by_group = "labels_only_from" in rows and bool((rows["group"] != "all").any())
    if by_group:
        fallback = (rows["labels_only_from"] == "all") & (rows["group"] != "all")
        rows["fallback"] = fallback.astype(float)
    measured = ["error", "signed", "alone", "covered", "width", "alone_width"]
    measured += ["fallback"] * by_group
    per_run = rows.groupby([*CELL, "run"], dropna=False, sort=True)[measured].mean()
    by_cell = per_run.groupby(CELL, dropna=False, sort=True)
    mean, spread, count = by_cell.mean(), by_cell["error"].std(ddof=1), by_cell["error"].count()
    out = mean[["error"]].rename(columns={"error": "mae"})
    out["ci95"] = 1.96 * spread / np.sqrt(count)
    out["rmae"] = mean["error"] / mean["alone"]
    out["bias"] = mean["signed"]
    out["labels_only_mae"] = mean["alone"]
    out["coverage"] = mean["covered"]
    out["width"] = mean["width"]
    out["width_ratio"] = mean["width"] / mean["alone_width"]
    if by_group:
        out["fallback"] = mean["fallback"]
    out["runs"] = count
    return out.reset_index().assign(**provenance(table))


def provenance(table: Any) -> dict[str, Any]:
    """Seed and versions behind a table: columns for whatever is made from it."""
    return {name: table[name].iloc[0] for name in PROVENANCE}
