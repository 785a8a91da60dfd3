"""Time of ``auto``: against SSME's KDE fit, at many classifiers and classes, and as rows grow.

All times are of one process on one core in one run; ratios are what counts.

    OMP_NUM_THREADS=1 python -m benchmarks.auto.speed [--rows 1000000]

``--other FOLDER`` times the 1,020 rows x 7 also with another version of ssme, the ``src`` folder of
its checkout, in turns with this one; CPU seconds, the least of each.
"""

from __future__ import annotations

import argparse
import os
import pickle
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.speed import _common
from ssme.data.scoreset import UNLABELED, ScoreSet
from ssme.methods.registry import get_method
from ssme.metrics import default_metrics, get_metric

measure_seconds = partial(_common.measure_seconds, turns=3, clock=time.perf_counter)


def simulate_scores(n: int, n_models: int, n_classes: int, n_labeled: int) -> ScoreSet:
    """Classifiers that share part of their errors."""
    rng = np.random.default_rng(0)
    truth = rng.integers(n_classes, size=n)
    logits = rng.normal(size=(n, n_models, n_classes)) + rng.normal(size=(n, 1, n_classes))
    logits += 2.0 * (truth[:, None] == np.arange(n_classes))[:, None]
    scores = np.exp(logits)
    scores /= scores.sum(axis=2, keepdims=True)
    labels = np.where(np.arange(n) < n_labeled, truth, UNLABELED)
    models = tuple(f"model_{j}" for j in range(n_models))
    return ScoreSet(scores=scores, labels=labels, models=models, classes=tuple(range(n_classes)))


def run_auto(data: ScoreSet) -> None:
    metrics = [get_metric(name) for name in default_metrics(data.n_classes)]
    get_method("auto").fit(data, np.random.default_rng(0)).estimate(metrics, [None])


TURNS = 5
ALONE = """
import pickle, sys, time
import numpy as np
from ssme.data.scoreset import ScoreSet
from ssme.methods.registry import get_method
from ssme.metrics import default_metrics, get_metric
data = ScoreSet(**pickle.load(sys.stdin.buffer))
metrics = [get_metric(name) for name in default_metrics(2)]
best = 1e9
for _ in range(4):
    start = time.process_time()
    get_method("auto").fit(data, np.random.default_rng(0)).estimate(metrics, [None])
    best = min(best, time.process_time() - start)
print(best)
"""


def measure_versions(folders: list[Path], data: ScoreSet) -> list[float]:
    """Least CPU seconds of `auto` by the ssme of each folder, taking turns."""
    parts = {name: getattr(data, name) for name in ("scores", "labels", "models", "classes")}
    sent, best = pickle.dumps(parts), [np.inf] * len(folders)
    for turn in range(TURNS * len(folders)):
        i = turn % len(folders)
        told = subprocess.run(
            [sys.executable, "-c", ALONE],
            input=sent,
            capture_output=True,
            check=True,
            env={**os.environ, "PYTHONPATH": str(folders[i]), "OMP_NUM_THREADS": "1"},
        )
        best[i] = min(best[i], float(told.stdout))
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--rows", type=int, default=1_000_000, help="largest number of rows")
    parser.add_argument("--other", type=Path, help="src folder of another version of ssme")
    args = parser.parse_args()
    if args.other:
        own = Path(__file__).parents[2] / "src"
        ours, theirs = measure_versions([own, args.other], simulate_scores(1020, 7, 2, 20))
        print(f"1,020 rows x 7   {ours:.3f} s, other version {theirs:.3f} s, {ours / theirs:.2f}")
        return
    run_auto(simulate_scores(200, 2, 2, 20))

    usual = simulate_scores(1020, 7, 2, 20)
    ours = measure_seconds(lambda: run_auto(usual))
    kde = measure_seconds(lambda: get_method("ssme").fit(usual, np.random.default_rng(0)))
    print(f"1,020 rows x 7, 4 metrics, 200 joint draws   {ours:8.3f} s")
    print(f"KDE fit of ssme on the same rows             {kde:8.3f} s   ratio {ours / kde:.2f}")
    wide = simulate_scores(1000, 100, 26, 100)
    taken = measure_seconds(lambda: run_auto(wide))
    print(f"1,000 rows x 100 classifiers x 26 classes    {taken:8.3f} s")
    few, many = (
        measure_seconds(lambda k=k: run_auto(simulate_scores(2000, 3, k, 100)), turns=2)  # type: ignore[misc]
        for k in (20, 200)
    )
    print(f"2,000 rows x 3 classifiers, 20 classes       {few:8.3f} s")
    print(f"2,000 rows x 3 classifiers, 200 classes      {many:8.3f} s   ratio {many / few:.1f}")

    sizes = [n for n in (10_000, 100_000, 1_000_000) if n <= args.rows]
    times = []
    for n in sizes:
        many = simulate_scores(n, 5, 2, 100)
        times.append(measure_seconds(lambda many=many: run_auto(many), turns=2))  # type: ignore[misc]
        columns = [np.ascontiguousarray(many.scores[:, j, 1]) for j in range(5)]
        sort = measure_seconds(lambda columns=columns: [np.argsort(c) for c in columns])  # type: ignore[misc]
        print(
            f"{n:>9,} rows x 5, 4 metrics with intervals   {times[-1]:8.3f} s   "
            f"np.argsort of the columns {sort:.3f} s   ratio {times[-1] / sort:.1f}"
        )
    if len(sizes) > 1:
        slope = np.polyfit(np.log(sizes), np.log(times), 1)[0]
        last = np.log(times[-1] / times[-2]) / np.log(sizes[-1] / sizes[-2])
        print(f"growth n^{slope:.2f}, over the last decade n^{last:.2f}")
    print(f"peak resident memory {_common.measure_peak() / 1024**3:.2f} GB")


if __name__ == "__main__":
    main()
