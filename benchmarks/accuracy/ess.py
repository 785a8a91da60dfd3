"""Effective sample size: how many labels alone would do as well as each method.

As in the paper's appendix B: the error of labels alone at 10, 15, ..., 1,000 labels, and of those
sizes the one whose error is nearest to the method's, from the runs of the main tables. The paper:
SSME with 20 labels is worth 539 for ECE, the next best method 110 (averages over its own tasks).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.accuracy.main_tables import DATASETS, RUNS, run_main_cells
from benchmarks.datasets.registry import load_dataset
from benchmarks.experiment import Setup, save, start
from ssme.bench import summarize
from ssme.bench.protocol import split_rows
from ssme.data.scoreset import ScoreSet
from ssme.metrics import default_metrics, get_metric
from ssme.metrics.base import one_hot_mass

COLUMNS = ["dataset", "metric", "n_labeled", "method", "mae", "ess", "runs", "seed"]


def main(setup: Setup) -> None:
    summary = summarize(run_main_cells(setup))
    curves = {}
    for name in DATASETS:
        data = load_dataset(name)
        metrics = default_metrics(data.n_classes)
        curves[name] = labels_only_curve(data, metrics, dataset=name, samples=setup.runs)
    result = add_effective_sample_size(summary, curves)
    save(result[[*COLUMNS, "ssme", "numpy"]], setup)


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
    """The mean absolute error of labels alone at each size, by metric."""
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
    """The size at which the error ``curve`` of labels alone is nearest to ``mae``."""
    return int(sizes[int(np.nanargmin(np.abs(curve - mae)))])


def add_effective_sample_size(summary: Any, curves: dict[str, dict[str, Any]]) -> Any:
    """``summary`` with a column ``ess``; ``curves`` are `labels_only_curve` by data set."""
    out = summary.copy()
    out["ess"] = [
        effective_sample_size(row.mae, curves[row.dataset][row.metric])
        for row in summary.itertuples()
    ]
    return out


if __name__ == "__main__":
    start(main, __doc__, runs=RUNS)
