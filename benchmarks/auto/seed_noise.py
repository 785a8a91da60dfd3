"""How far intervals and P(best) of the sample move with the seed, and the time of an estimate.

    python -m benchmarks.auto.seed_noise

``benchmarks/results/auto_seed_noise.csv`` has, for 200 and 1,000 draws: the standard deviation of
the ends of 95 % intervals over seeds, relative to their width (mean and largest over metrics and
classifiers), that of P(best) of the leader by accuracy, and seconds of the processor.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import pandas as pd

import ssme
from benchmarks.experiment import write_tables
from ssme.methods.auto.method import Auto
from ssme.metrics import default_metrics, get_metric
from ssme.results.comparison import compute_probability_best
from ssme.sample import sample_path

SEEDS = 20


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
    write_tables({"auto_seed_noise": pd.DataFrame(rows)}, digits=4)
    print(pd.DataFrame(rows).round(4).to_string(index=False))


if __name__ == "__main__":
    main()
