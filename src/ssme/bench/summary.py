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
from numpy.typing import NDArray

from ssme.bench.protocol import split_rows
from ssme.data.scoreset import ScoreSet
from ssme.metrics import get_metric
from ssme.metrics.base import one_hot_mass

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
        borrowed = (rows["labels_only_from"] == "all") & (rows["group"] != "all")
        rows["fallback"] = borrowed.astype(float)
    keys = CELL
    measured = ["error", "signed", "alone", "covered", "width", "alone_width"]
    measured += ["fallback"] * by_group
    per_run = rows.groupby([*keys, "run"], dropna=False, sort=True)[measured].mean()
    by_cell = per_run.groupby(keys, dropna=False, sort=True)
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
    """Seed and versions behind a table: columns for whatever is made from it.

    Parameters
    ----------
    table : pandas.DataFrame
        A table that `run_protocol` made.

    Returns
    -------
    dict
        Values by column name.
    """
    return {name: table[name].iloc[0] for name in PROVENANCE}


def geometric_rmae(summary: Any) -> Any:
    """Average relative errors over data sets and metrics.

    Parameters
    ----------
    summary : pandas.DataFrame
        A table that `summarize` made.

    Returns
    -------
    pandas.DataFrame
        By method and number of labels: the geometric mean of the relative error over all
        combinations of a data set and a metric, the worst of them, and how many are above 1.
    """
    grouped = summary.groupby(["method", "n_labeled"], sort=True)
    overall = grouped.apply(_average_over_cells, include_groups=False).reset_index()
    return overall.assign(**provenance(summary))


def _average_over_cells(cells: Any) -> Any:
    import pandas as pd

    rmae = cells["rmae"].to_numpy()
    worst = cells.iloc[int(np.nanargmax(rmae))]
    return pd.Series(
        {
            "rmae": float(np.exp(np.nanmean(np.log(rmae)))),
            "worst": float(np.nanmax(rmae)),
            "worst_cell": f"{worst['dataset']} {worst['metric']}",
            "cells": len(rmae),
            "cells_above_1": int((rmae > 1.0).sum()),
            "coverage": float(cells["coverage"].mean()),
            "width_ratio": float(cells["width_ratio"].mean()),
            "runs": int(cells["runs"].min()),
        }
    )


# -------------------------------------------------------------------------------------------------
# Effective sample size: how many labels alone would do as well.
#
# As the paper defines it (appendix B.3): for n = 10, 15, ..., 1000 labels, 50 samples each, take
# the mean absolute error of labels alone; the effective sample size of a method is the n whose
# error is nearest to the method's.


SIZES = tuple(range(10, 1001, 5))


def labels_only_curve(
    data: ScoreSet,
    metrics: tuple[str, ...],
    *,
    dataset: str,
    samples: int = 50,
    sizes: tuple[int, ...] = SIZES,
    seed: int = 0,
) -> dict[str, NDArray[np.float64]]:
    """Compute the mean absolute error of labels alone for several numbers of labels.

    Parameters
    ----------
    data : ScoreSet
        A data set in which every row has a label.
    metrics : tuple of str
        The metrics.
    dataset : str
        Name of the data set, which is part of the seed.
    samples : int
        Number of random samples of labels.
    sizes : tuple of int
        The numbers of labels.
    seed : int
        Seed of the samples.

    Returns
    -------
    dict
        From the name of a metric to the error at each size.

    Examples
    --------
    >>> import numpy as np
    >>> import ssme
    >>> data = ssme.ScoreSet.from_arrays({"a": np.linspace(0, 1, 200)}, np.arange(200) > 90)
    >>> curve = labels_only_curve(data, ("accuracy",), dataset="example", samples=2, sizes=(20, 50))
    >>> curve["accuracy"].shape
    (2,)
    """
    chosen = [get_metric(name) for name in metrics]
    errors = [np.zeros((samples, len(sizes))) for _ in chosen]
    for sample in range(samples):
        largest = min(max(sizes), data.n_rows // 2)
        split = split_rows(data.labels, largest, 0, sample, seed=seed, dataset=dataset)
        mass = one_hot_mass(data.labels[split.truth], data.n_classes)
        truth = [metric(data.scores[split.truth], mass)[0] for metric in chosen]
        for s, size in enumerate(sizes):
            rows = split.labeled[:size]
            mass = one_hot_mass(data.labels[rows], data.n_classes)
            for metric, error, exact in zip(chosen, errors, truth, strict=True):
                value = metric(data.scores[rows], mass)[0]
                error[sample, s] = np.nanmean(np.abs(value - exact))
    named = zip(chosen, errors, strict=True)
    return {metric.name: np.nanmean(error, axis=0) for metric, error in named}


def effective_sample_size(
    mae: float, curve: NDArray[np.float64], sizes: tuple[int, ...] = SIZES
) -> int:
    """Find the number of labels with which labels alone have a given error.

    Parameters
    ----------
    mae : float
        The mean absolute error.
    curve : array
        Mean absolute error of labels alone at each size, as `labels_only_curve` gives it.
    sizes : tuple of int
        The numbers of labels.

    Returns
    -------
    int
        The size whose error is nearest to ``mae``.

    Examples
    --------
    >>> import numpy as np
    >>> effective_sample_size(0.05, np.array([0.1, 0.05, 0.02]), (20, 50, 100))
    50
    """
    return int(sizes[int(np.nanargmin(np.abs(curve - mae)))])


def add_effective_sample_size(summary: Any, curves: dict[str, dict[str, Any]]) -> Any:
    """``summary`` with a column ``ess``; ``curves`` are `labels_only_curve` by data set."""
    out = summary.copy()
    out["ess"] = [
        effective_sample_size(row.mae, curves[row.dataset][row.metric])
        for row in summary.itertuples()
    ]
    return out
