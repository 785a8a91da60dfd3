"""Effective sample size: how many labels alone would do as well as each method.

As in the paper's appendix B: the error of labels alone at 10, 15, ..., 1,000 labels, and of those
sizes the one whose error is nearest to the method's, from the runs of the main tables. The paper:
SSME with 20 labels is worth 539 for ECE, the next best method 110 (averages over its own tasks).
"""

from __future__ import annotations

from benchmarks.accuracy.main_tables import DATASETS, RUNS, run_main_cells
from benchmarks.datasets.registry import load_dataset
from benchmarks.experiment import Setup, save, start
from ssme.bench import labels_only_curve, summarize
from ssme.bench.summary import add_effective_sample_size
from ssme.metrics import default_metrics

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


if __name__ == "__main__":
    start(main, __doc__, runs=RUNS)
