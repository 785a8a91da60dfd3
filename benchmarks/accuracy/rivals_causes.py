"""Where our numbers and the paper's part: other readings of three of its baselines.

    python -m benchmarks.accuracy.rivals_causes [--runs 50]

On CivilComments, writes benchmarks/results/rivals_causes.csv: mean absolute error in percentage
points, 95 % half width in brackets, of

- labels alone, if every labeled set holds at least k rows of the rare class (20 labels);
- a hard vote that says "toxic" from t of the 7 votes on (labeled rows keep their label);
- active testing by the share of its acquisition that is uniform.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from benchmarks.accuracy.protocol import METRICS, RESULTS, mean_and_half_width
from benchmarks.provenance import record
from ssme.data.scoreset import ScoreSet
from ssme.datasets.registry import load_dataset
from ssme.methods.estimators.active_testing import ActiveTesting
from ssme.methods.parts.votes import cast_votes
from ssme.metrics import get_metric
from ssme.metrics.base import FloatArray, one_hot_mass

NAME, N_UNLABELED = "civilcomments", 1000
Reading = Callable[[ScoreSet, int, int], dict[str, FloatArray]]
"""(rows seen with all labels, how many come labeled, run) -> metric -> (M,)."""


def on_labels(data: ScoreSet, labels: NDArray[np.int64]) -> dict[str, FloatArray]:
    mass = one_hot_mass(labels, data.n_classes)
    return {m: get_metric(m)(data.scores, mass)[0] for m in METRICS[NAME]}


def labels_alone(data: ScoreSet, n_labeled: int, run: int) -> dict[str, FloatArray]:
    part = data.take(np.arange(n_labeled))
    return on_labels(part, part.labels)


def hard_vote(votes_needed: int) -> Reading:
    def reading(data: ScoreSet, n_labeled: int, run: int) -> dict[str, FloatArray]:
        labels = (cast_votes(data.scores)[:, :, 1].sum(axis=1) >= votes_needed).astype(np.int64)
        labels[:n_labeled] = data.labels[:n_labeled]
        return on_labels(data, labels)

    return reading


def actively_tested(budget: int, uniform: float) -> Reading:
    def reading(data: ScoreSet, n_labeled: int, run: int) -> dict[str, FloatArray]:
        belief = ActiveTesting(budget=budget, uniform=uniform).fit(data, np.random.default_rng(run))
        return {"accuracy": belief.estimate([get_metric("accuracy")], [None])[0][0].value}

    return reading


def readings() -> Iterator[tuple[str, int, int, Reading]]:
    """(name, labeled rows, least number of rare labels among them, reading)."""
    for rare in (1, 2, 3, 4):
        yield f"labeled, {rare} or more rare labels", 20, rare, labels_alone
    for n_labeled in (20, 100):
        for votes in range(1, 8):
            yield f"hard vote, {votes} of 7", n_labeled, 1, hard_vote(votes)
    for uniform in (0.001, 0.1, 0.5):
        for budget in (10, 20, 50, 100):
            name = f"active testing, uniform share {uniform}"
            yield name, budget, 1, actively_tested(budget, uniform)


def rows_of_run(
    data: ScoreSet, n_labeled: int, rare: int, run: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows seen, labeled ones first and redrawn until ``rare`` are of class 1; held-out half."""
    rng = np.random.default_rng([20, run])
    order = rng.permutation(data.n_rows)
    pool, held = np.array_split(order, 2)
    while data.labels[pool[:n_labeled]].sum() < rare:
        pool = rng.permutation(pool)
    return pool[: n_labeled + N_UNLABELED], held


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=50)
    n_runs = parser.parse_args().runs
    data = load_dataset(NAME)
    names = METRICS[NAME]
    errors = {(name, n): {m: [] for m in names} for name, n, _, _ in readings()}
    for run in range(n_runs):
        held = data.take(rows_of_run(data, 1, 0, run)[1])
        truth = on_labels(held, held.labels)
        for name, n_labeled, rare, reading in readings():
            seen = data.take(rows_of_run(data, n_labeled, rare, run)[0])
            for metric, value in reading(seen, n_labeled, run).items():
                gap = float(np.nanmean(np.abs(value - truth[metric])))
                errors[name, n_labeled][metric].append(gap)
        print(f"run {run + 1} of {n_runs}", flush=True)
    with (RESULTS / "rivals_causes.csv").open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["reading", "n_labeled", "runs", *names])
        for (name, n_labeled), gaps in errors.items():
            cells = [
                "{:.2f} ({:.2f})".format(*mean_and_half_width(g)) if g else ""
                for g in gaps.values()
            ]
            writer.writerow([name, n_labeled, n_runs, *cells])
    record(RESULTS / "rivals_causes.csv")


if __name__ == "__main__":
    main()
