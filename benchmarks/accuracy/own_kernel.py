"""How much of each row's density is the row itself: why SSME with a KDE keeps its first guess.

    python -m benchmarks.accuracy.own_kernel

With weights gamma_jk, row i's density under class k is sum_j gamma_jk K_ij. If K_ii outweighs all
other K_ij together, EM returns the weights it was given. Printed per set and bandwidth rule, on
1,050 rows of the first run of the paper's protocol: the smallest bandwidth over dimensions, the
median of K_ii / sum_j K_ij, the steps EM took and the share of unlabeled rows whose most probable
class at the end is the one drawn at the start. Writes benchmarks/results/own_kernel.csv.
"""

from __future__ import annotations

import warnings

import numpy as np

from benchmarks.accuracy.protocol import METRICS, RESULTS
from benchmarks.datasets.registry import load_dataset
from benchmarks.experiment import write_table
from benchmarks.studies import seen_rows
from ssme.bench.protocol import split_rows
from ssme.data.scoreset import ScoreSet
from ssme.engines.kernels import log_kernel_volume
from ssme.errors import ConvergenceWarning
from ssme.mixture.kde import KdeClasses, select_bandwidth
from ssme.mixture.model import PRESETS, draw_probabilities, draw_start, run_em, stack_alr

RULES: tuple[tuple[str | float, str], ...] = (
    ("public_code", "smallest"),
    ("isj", "smallest"),
    ("isj", "each"),
    ("silverman", "smallest"),
    (1.0, "smallest"),
    (2.0, "smallest"),
)


def make_first_run(name: str) -> ScoreSet:
    """What a method sees in the first run, with 50 labels."""
    data = load_dataset(name)
    return seen_rows(data, split_rows(data.labels, 50, 1000, 0, seed=0, dataset=name))


def main() -> None:
    rows = []
    for name in METRICS:
        data = make_first_run(name)
        points = stack_alr(data.scores)
        start = draw_start(draw_probabilities(data.scores), np.random.default_rng(0))
        for rule, across in RULES:
            bandwidth = select_bandwidth(points, rule, across=across)
            classes = KdeClasses(points, bandwidth)
            log_density = classes.update(np.ones((len(points), 1)))[:, 0]
            log_own = -log_kernel_volume("gaussian", points.shape[1]) - np.log(len(points))
            own = np.exp(log_own - np.log(bandwidth.values).sum() - log_density)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                rules = PRESETS["paper"]
                fit = run_em(classes, start, data.labels, rules, np.random.default_rng(0))
            kept = fit.responsibilities.argmax(axis=1) == start.argmax(axis=1)
            rows.append(
                {
                    "set": name,
                    "bandwidth": rule,
                    "across": across,
                    "smallest_bandwidth": f"{bandwidth.values.min():.3f}",
                    "median_own_share": f"{np.median(own):.3f}",
                    "em_steps": fit.n_iter,
                    "start_kept": f"{kept[~data.labeled].mean():.3f}",
                }
            )
            print(*rows[-1].values(), sep="\t", flush=True)
    write_table(RESULTS / "own_kernel.csv", rows)


if __name__ == "__main__":
    main()
