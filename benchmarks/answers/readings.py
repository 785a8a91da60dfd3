"""What a grade may stand for: readings of five grades, each given to ``auto``, beside the method.

The binary development sets, scores cut into five grades at fixed places, at each classifier's own
quintiles, and leniently (at 0.02, 0.1, 0.3 and 0.6). A reading puts a probability in the place of
every grade of every rater:

- middle: the middle of the grade's part of the scale, 0.1 to 0.9;
- stated: the mean within that part, by how often each grade is given;
- learned: the mean of P(y) under the method ``answers`` over the rows with that grade, monotone;
- latent classes: the same of P(y) by latent classes of the raters, labels held;
- weighed: stated, learned and latent classes, each by the marginal likelihood that it gives to the
  labels in the usual regime of ``auto``;
- score means: the mean of the classifier's own scores over the rows with that grade, which were cut
  away: the best that a rater's scale can say;
- true: the share of positives among all rows with that grade, which nobody knows.

``auto`` is fitted to that, and the metric is that of its posterior on the grades as they are
(without the residual of the labels). "method" is the same of ``answers``; "method, share known" has
its log-odds moved to the true share of positives; "scores" is the posterior of ``auto`` on the
scores before they were cut. Written to ``benchmarks/results/answers_readings.csv``: error relative
to that of labels alone.

    python -m benchmarks.answers.readings --runs 5 --workers 2
"""

from __future__ import annotations

import argparse
import os
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.answers.meanings import (
    IntArray,
    average_grades,
    move_share,
    share_classes,
    state_grades,
)
from benchmarks.answers.study import CUT, GRADES, NOT_BINARY, Job, load, rows_of
from benchmarks.auto.priors import SETS
from benchmarks.experiment import RESULTS
from benchmarks.provenance import record
from ssme.data.answers import Judge, make_grade_scores
from ssme.data.scoreset import ScoreSet
from ssme.datasets.registry import load_dataset
from ssme.methods.answers.constants import AnswerConstants
from ssme.methods.auto.constants import Constants
from ssme.methods.auto.method import situate
from ssme.methods.auto.mixture import FittedRegime, fit_regimes
from ssme.methods.registry import get_method
from ssme.metrics import get_metric
from ssme.metrics.base import FloatArray, one_hot_mass

LENIENT = (0.02, 0.1, 0.3, 0.6)
WEIGHED = ("stated", "learned", "latent classes")
KINDS = ("fixed grades", "quintile grades", "lenient grades")


def load_graded(kind: str, name: str) -> ScoreSet:
    """The set with its scores cut into five grades."""
    if kind != "lenient grades":
        return load(kind, name)
    data = load_dataset(name)
    grade = np.searchsorted(LENIENT, data.scores[:, :, 1], side="right")
    steps = make_grade_scores(len(GRADES), CUT)[grade]
    judges = dict.fromkeys(data.models, Judge("ratings", GRADES, GRADES[CUT]))
    return data.replace(scores=np.stack([1.0 - steps, steps], axis=2), judges=judges)


def read_grades(data: ScoreSet, codes: IntArray, told: list[FloatArray]) -> ScoreSet:
    """``data`` with the probabilities ``told`` (G,) of every rater in the place of its grades."""
    positive = np.stack(
        [table[column] for table, column in zip(told, codes.T, strict=True)], axis=1
    )
    return data.replace(scores=np.stack([1.0 - positive, positive], axis=2), judges={})


def find_codes(data: ScoreSet) -> IntArray:
    """Grades (n, M) from 0."""
    each = [data.judges[name].find_codes(data.scores[:, m]) for m, name in enumerate(data.models)]
    return np.stack(each, axis=1)


def weigh_labels(data: ScoreSet, run: int) -> float:
    """Log marginal likelihood of the labels in the usual regime of ``auto`` on ``data``."""
    situation = situate(data, Constants(), np.random.default_rng(run))
    usual = fit_regimes(situation)[0]
    assert isinstance(usual, FittedRegime)
    return usual.log_scores + usual.log_labels - usual.view.log_evidence


def find_softs(data: ScoreSet, seen: ScoreSet, scored: ScoreSet, job: Job) -> dict[str, FloatArray]:
    """W (n, 2) of the rows of ``seen``, by reading; ``scored`` has the scores of the same rows.

    ``data`` are all rows with their labels, which "score means" and "true" look at.
    """
    codes, n_grades = find_codes(seen), len(GRADES)
    own = get_method("answers").fit(seen, np.random.default_rng(job.run)).soft
    shared = share_classes(codes, n_grades, own[:, 1], seen.labels)
    everyone, truth = find_codes(data), data.labels.astype(np.float64)
    cut = load_dataset(job.dataset).scores[:, :, 1]
    readings = {
        "middle": [(np.arange(n_grades) + 0.5) / n_grades] * data.n_models,
        "stated": state_grades(codes, n_grades, AnswerConstants()),
        "learned": average_grades(codes, n_grades, own[:, 1]),
        "latent classes": average_grades(codes, n_grades, shared),
        "score means": average_grades(everyone, n_grades, cut),
        "true": average_grades(everyone, n_grades, truth),
    }
    read = {name: read_grades(seen, codes, told) for name, told in readings.items()}
    softs = {name: fit_auto(each, job.run) for name, each in read.items()}
    logs = np.array([weigh_labels(read[name], job.run) for name in WEIGHED])
    chance = np.exp(logs - logs.max())
    weighed = np.tensordot(chance / chance.sum(), np.stack([softs[name] for name in WEIGHED]), 1)
    return {
        "method": own,
        "method, share known": move_share(own, float(truth.mean())),
        **{name: softs[name] for name in ("middle", "stated", "learned", "latent classes")},
        "weighed": weighed,
        **{name: softs[name] for name in ("score means", "true")},
        "scores": fit_auto(scored, job.run),
    }


def fit_auto(data: ScoreSet, run: int) -> FloatArray:
    return get_method("auto").fit(data, np.random.default_rng(run)).soft


def measure(job: Job) -> list[dict[str, Any]]:
    """One row per reading and metric, means over the raters."""
    data = load_graded(job.kind, job.dataset)
    metrics = [get_metric("accuracy"), get_metric("roc_auc")]
    seen, held = rows_of(data, job)
    scored, _ = rows_of(load_dataset(job.dataset), job)
    mass = one_hot_mass(held.labels, held.n_classes)
    truth = [metric(held.scores, mass)[0] for metric in metrics]
    labeled = get_method("labeled", joint_draws=False)
    alone = labeled.fit(seen, np.random.default_rng(job.run)).estimate(metrics, [None])[0]
    rows = []
    for name, soft in find_softs(data, seen, scored, job).items():
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
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--first-run", type=int, default=5)
    parser.add_argument("--sets", nargs="+", default=[n for n in SETS if n not in NOT_BINARY])
    parser.add_argument("--workers", type=int, default=2)
    args = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    jobs = [
        Job(kind, name, n_labeled, run)
        for run in range(args.first_run, args.first_run + args.runs)
        for kind in KINDS
        for name in args.sets
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
