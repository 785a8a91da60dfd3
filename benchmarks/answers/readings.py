"""What a grade may stand for: readings of five grades, each given to ``auto``, beside the method.

The binary development sets, scores cut into five grades at fixed places, at each classifier's own
quintiles, and leniently (at 0.02, 0.1, 0.3 and 0.6). A reading puts a probability in the place of
every grade of every rater:

- middle: the middle of the grade's part of the scale, 0.1 to 0.9;
- learned: the mean of P(y) under the method ``answers`` over the rows with that grade, monotone;
- true: the share of positives among all rows with that grade, which nobody knows: the best that
  any reading of grades one by one can be.

``auto`` is fitted to that, and the metric is that of its posterior on the grades as they are
(without the residual of the labels); "method" is the same of ``answers``. Written to
``benchmarks/results/answers_readings.csv``: error relative to that of labels alone.

    python -m benchmarks.answers.readings --runs 2 --workers 2
"""

from __future__ import annotations

import argparse
import os
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.answers.study import CUT, GRADES, NOT_BINARY, Job, load, rows_of
from benchmarks.auto.priors import SETS
from benchmarks.experiment import RESULTS
from benchmarks.provenance import record
from ssme.data.answers import Judge, score_grades
from ssme.data.scoreset import ScoreSet
from ssme.datasets.registry import load_dataset
from ssme.methods.registry import get_method
from ssme.metrics import get_metric
from ssme.metrics.base import FloatArray, one_hot_mass
from ssme.suggest.monotone import make_falling

LENIENT = (0.02, 0.1, 0.3, 0.6)
KINDS = ("fixed grades", "quintile grades", "lenient grades")


def load_graded(kind: str, name: str) -> ScoreSet:
    """The set with its scores cut into five grades."""
    if kind != "lenient grades":
        return load(kind, name)
    data = load_dataset(name)
    grade = np.searchsorted(LENIENT, data.scores[:, :, 1], side="right")
    steps = score_grades(len(GRADES), CUT)[grade]
    judges = dict.fromkeys(data.models, Judge("ratings", GRADES, GRADES[CUT]))
    return data.replace(scores=np.stack([1.0 - steps, steps], axis=2), judges=judges)


def read_grades(data: ScoreSet, told: list[FloatArray]) -> ScoreSet:
    """``data`` with the probabilities ``told`` (G,) of every rater in the place of its grades."""
    positive = np.stack(
        [table[_codes(data, m)] for m, table in enumerate(told)],
        axis=1,
    )
    return data.replace(scores=np.stack([1.0 - positive, positive], axis=2), judges={})


def learn_grades(data: ScoreSet, positive: FloatArray) -> list[FloatArray]:
    """Mean (G,) of ``positive`` (n,) over the rows with each grade of each rater, monotone."""
    told = []
    for m in range(data.n_models):
        codes = _codes(data, m)
        counts = np.bincount(codes, minlength=len(GRADES))
        mean = np.bincount(codes, positive, len(GRADES)) + positive.mean()
        rising = -make_falling(-mean / (counts + 1.0), counts + 1.0)
        told.append(np.clip(rising + 1e-6 * np.arange(len(GRADES)), 1e-3, 1.0 - 1e-3))
    return told


def _codes(data: ScoreSet, m: int) -> Any:
    return data.judges[data.models[m]].find_codes(data.scores[:, m])


def measure(job: Job) -> list[dict[str, Any]]:
    """One row per reading and metric, means over the raters."""
    data = load_graded(job.kind, job.dataset)
    metrics = [get_metric("accuracy"), get_metric("roc_auc")]
    seen, held = rows_of(data, job)
    mass = one_hot_mass(held.labels, held.n_classes)
    truth = [metric(held.scores, mass)[0] for metric in metrics]
    labeled = get_method("labeled", joint_draws=False)
    alone = labeled.fit(seen, np.random.default_rng(job.run)).estimate(metrics, [None])[0]
    own = get_method("answers").fit(seen, np.random.default_rng(job.run)).soft
    middle = (np.arange(len(GRADES)) + 0.5) / len(GRADES)
    known = learn_grades(data, data.labels.astype(np.float64))
    readings = {
        "middle": [middle] * data.n_models,
        "learned": learn_grades(seen, own[:, 1]),
        "true": known,
    }
    softs = {"method": own}
    for name, told in readings.items():
        read = read_grades(seen, told)
        softs[name] = get_method("auto").fit(read, np.random.default_rng(job.run)).soft
    rows = []
    for name, soft in softs.items():
        for metric, exact, labels in zip(metrics, truth, alone, strict=True):
            value = metric.plan(seen.scores)(soft[None])[0]
            rows.append(
                {
                    "kind": job.kind,
                    "reading": name,
                    "metric": metric.name,
                    "n_labeled": job.n_labeled,
                    "dataset": job.dataset,
                    "run": job.run,
                    "error": np.abs(value - exact).mean(),
                    "labels_error": np.abs(labels.value - exact).mean(),
                }
            )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--first-run", type=int, default=6)
    parser.add_argument("--workers", type=int, default=2)
    args = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    jobs = [
        Job(kind, name, n_labeled, run)
        for run in range(args.first_run, args.first_run + args.runs)
        for kind in KINDS
        for name in SETS
        if name not in NOT_BINARY
        for n_labeled in (20, 100)
    ]
    with ProcessPoolExecutor(args.workers) as pool:
        rows = [row for part in pool.map(measure, jobs) for row in part]
    keys = ["kind", "reading", "metric", "n_labeled"]
    frame = pd.DataFrame(rows)
    cells = frame.groupby([*keys, "dataset"], sort=False)[["error", "labels_error"]].mean()
    ratio = np.log(cells["error"] / cells["labels_error"]).groupby(level=keys, sort=False).mean()
    table = np.exp(ratio).rename("rmae").reset_index()
    table["sets"], table["runs"] = frame["dataset"].nunique(), frame["run"].nunique()
    file = RESULTS / "answers_readings.csv"
    table.to_csv(file, index=False, float_format="%.4g")
    record(file)
    print(table.round(3).to_string(index=False))


if __name__ == "__main__":
    main()
