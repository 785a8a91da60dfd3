"""``auto`` where it is weak: scores altered on purpose, few classifiers, few or many rows.

Each alteration is applied to every development set, truth included; RMAE, coverage and width over
set x metric cells at 20 and 100 labels. Written to ``benchmarks/results/auto_stress.csv``.

    python -m benchmarks.auto.stress --runs 4 --workers 2
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.auto.priors import SETS
from benchmarks.auto.study import coverage, load, measure_on, overall, rmae, write
from ssme.data.scoreset import ScoreSet
from ssme.metrics.base import FloatArray

Change = Callable[[ScoreSet, np.random.Generator], ScoreSet]


def few(size: int) -> Change:
    def change(data: ScoreSet, rng: np.random.Generator) -> ScoreSet:
        chosen = np.sort(rng.choice(data.n_models, min(size, data.n_models), replace=False))
        return data.select([data.models[j] for j in chosen])

    return change


def rescored(alter: Callable[[FloatArray, np.random.Generator], FloatArray]) -> Change:
    def change(data: ScoreSet, rng: np.random.Generator) -> ScoreSet:
        scores = alter(np.maximum(data.scores, 1e-6), rng)
        return data.replace(scores=scores / scores.sum(axis=2, keepdims=True))

    return change


def shifted(scores: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Classifiers trained where the last class was twice as, or half as, frequent."""
    out = scores.copy()
    out[:, :, -1] *= np.exp(rng.choice([-0.7, 0.7]))
    return out


def judges(scores: FloatArray, rng: np.random.Generator) -> FloatArray:
    return (scores.argmax(axis=2)[:, :, None] == np.arange(scores.shape[2])).astype(np.float64)


def holes(data: ScoreSet, rng: np.random.Generator) -> ScoreSet:
    scores = data.scores.copy()
    missing = rng.random(scores.shape[:2]) < 0.2
    missing[missing.all(axis=1), 0] = False
    scores[missing] = np.nan
    return data.replace(scores=scores)


STRESSES: dict[str, tuple[Change, int]] = {
    "as they are": (lambda data, rng: data, 1000),
    "one classifier": (few(1), 1000),
    "two classifiers": (few(2), 1000),
    "three classifiers": (few(3), 1000),
    "sharpened p^2.5": (rescored(lambda scores, rng: scores**2.5), 1000),
    "flattened p^0.4": (rescored(lambda scores, rng: scores**0.4), 1000),
    "class prior shifted": (rescored(shifted), 1000),
    "judges, scores 0 or 1": (rescored(judges), 1000),
    "20 % of scores missing": (holes, 1000),
    "50 unlabeled rows": (lambda data, rng: data, 50),
    "200 unlabeled rows": (lambda data, rng: data, 200),
    "3,000 unlabeled rows": (lambda data, rng: data, 3000),
}


def measure(job: tuple[str, str, int, int]) -> list[dict[str, Any]]:
    stress, name, n_labeled, run = job
    change, n_unlabeled = STRESSES[stress]
    data = change(load(name), np.random.default_rng([run, len(stress)]))
    return measure_on(data, name, n_labeled, n_unlabeled, run, {stress: {}})


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--runs", type=int, default=4)
    parser.add_argument("--labels", type=int, nargs="+", default=[20, 100])
    parser.add_argument("--workers", type=int, default=2)
    args = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    jobs = [
        (stress, name, n_labeled, run)
        for name in SETS
        for stress in STRESSES
        for n_labeled in args.labels
        for run in range(args.runs)
    ]
    with ProcessPoolExecutor(args.workers) as pool:
        results = list(pool.map(measure, jobs, chunksize=len(STRESSES)))
    frame = pd.DataFrame([row for rows in results for row in rows])
    errors = overall(rmae(frame))
    errors = errors[errors["sets"] == "development sets"].drop(columns="sets")
    covered = coverage(frame)
    covered = covered[(covered["dataset"] == "all") & (covered["metric"] == "all")]
    keys = ["variant", "n_labeled"]
    table = errors.merge(covered[[*keys, "covered", "labels_covered", "width_ratio"]], on=keys)
    table = table.rename(columns={"variant": "stress"})
    write("auto_stress", table)
    print(table.round(3).to_string(index=False))


if __name__ == "__main__":
    main()
