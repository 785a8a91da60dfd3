"""How far intervals and P(best) of the sample move with the seed, and the time of an estimate.

    python -m benchmarks.auto.seed_noise

``benchmarks/results/auto_seed_noise.csv`` has, for 200 and 1,000 draws: the standard deviation of
the ends of 95% intervals over seeds, relative to their width (mean and largest over metrics and
classifiers), that of P(best) of the leader by accuracy, and seconds of the processor.

``auto_gate_flips.csv`` has, for 1,000 and 5,000 draws, the share of gates on an end of an interval,
such as ``accuracy.low >= 0.9``, that decide alike on at least 19 of 20 seeds, by how far their
limit is from the mean end, as a share of the width: all metrics, classifiers and ends of the sample
and of three development sets with 50 labels.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import pandas as pd

import ssme
from benchmarks.corpus.study import UNLABELED_ROWS, CorpusScene, load_shared
from benchmarks.experiment import write_tables
from ssme.data.scoreset import UNLABELED, ScoreSet
from ssme.methods.auto.method import Auto
from ssme.metrics import default_metrics, get_metric
from ssme.results.comparison import compute_probability_best
from ssme.sample import sample_path

SEEDS = 20
GATE_SETS, GATE_LABELS = ("adult", "cifar10", "civilcomments"), 50
GATE_DRAWS = (1000, 5000)
DISTANCES = (0.0, 0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.08, 0.1, 0.15)
"""Of the limit of a gate from the mean end, as shares of the width."""


def load_few_labels(name: str) -> ScoreSet:
    """A development set with `GATE_LABELS` labels and 1,000 rows without."""
    data = load_shared(name)
    split = CorpusScene().split(data.labels, GATE_LABELS, UNLABELED_ROWS, 0, seed=0, dataset=name)
    seen = data.take(np.concatenate([split.labeled, split.unlabeled]))
    labeled = np.arange(seen.n_rows) < GATE_LABELS
    return seen.replace(labels=np.where(labeled, seen.labels, UNLABELED))


def count_flips(name: str, data: ScoreSet, n_draws: int) -> pd.DataFrame:
    """A line per distance: how many gates there are, and on how many seeds hardly decide."""
    method = Auto(n_draws=n_draws)
    metrics = [get_metric(each) for each in default_metrics(data.n_classes)]
    ends = np.stack(
        [
            [each.interval() for each in method.fit(data, rng).estimate(metrics, [None])[0]]
            for rng in map(np.random.default_rng, range(SEEDS))
        ]
    )
    mean = ends.mean(axis=0)
    width = mean[:, 1:] - mean[:, :1]
    inside = np.stack(
        [[metric.low < end, end < metric.high] for metric, end in zip(metrics, mean, strict=True)]
    )
    inside = inside.all(axis=1)  # an end at the end of the range never moves
    rows = []
    for distance in DISTANCES:
        agreed = []
        for limit in (mean - distance * width, mean + distance * width):
            passed = (ends >= limit).sum(axis=0)
            agreed.append((np.minimum(passed, SEEDS - passed) <= 1)[inside])
        same = np.concatenate(agreed)
        rows.append({"distance": distance, "gates": same.size, "same": same.sum()})
    return pd.DataFrame(rows).assign(dataset=name, n_draws=n_draws)


def main() -> None:
    argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0]).parse_args()
    data = ssme.ScoreSet.read(sample_path(), label="label")
    metrics = [get_metric(name) for name in default_metrics(data.n_classes)]
    rows = []
    for n_draws in (200, 1000):
        ends, leads, seconds = [], [], []
        for seed in range(SEEDS):
            start = time.process_time()
            belief = Auto(n_draws=n_draws).fit(data, np.random.default_rng(seed))
            found = belief.estimate(metrics, [None])[0]
            seconds.append(time.process_time() - start)
            ends.append([estimate.interval() for estimate in found])
            leads.append(compute_probability_best(found[0], True).max())
        spread = np.std(ends, axis=0)
        width = np.diff(np.mean(ends, axis=0), axis=1)
        rows.append(
            {
                "n_draws": n_draws,
                "ends": float((spread / width).mean()),
                "ends_largest": float((spread / width).max()),
                "p_best": float(np.std(leads)),
                "seconds": float(np.min(seconds)),
                "seeds": SEEDS,
            }
        )
    asked = {"sample": data} | {name: load_few_labels(name) for name in GATE_SETS}
    sets = pd.concat(
        [count_flips(*each, n_draws) for n_draws in GATE_DRAWS for each in asked.items()]
    )
    by = ["n_draws", "distance"]
    every = sets.groupby(by)[["gates", "same"]].sum().reset_index().assign(dataset="all")
    flips = pd.concat([sets, every], ignore_index=True)[["dataset", *by, "gates", "same"]]
    flips["same"] /= flips["gates"]
    tables = {"auto_seed_noise": pd.DataFrame(rows), "auto_gate_flips": flips}
    write_tables(tables, digits=4)
    for table in tables.values():
        print(table.round(4).to_string(index=False))


if __name__ == "__main__":
    main()
