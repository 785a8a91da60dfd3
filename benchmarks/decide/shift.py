"""Shift between labeled and unlabeled rows: errors with and without a correction.

    python -m benchmarks.decide.shift --runs 2

Labels are a random sample of one half; the unlabeled rows of that half, and the truth, are drawn
with the positives halved or doubled in frequency (label shift), or by the classifiers' mean top
score (covariate shift: the least sure row nine times as often as the surest). Written to
benchmarks/results/decide_shift_errors.csv: the mean absolute error over models of labels alone and
of `auto`, as it is, with labels weighted for label shift and for covariate shift, and with the
designs "by_class" and "by_score"; empty where a method cannot use one.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.decide.common import compute_truth, start_study
from benchmarks.studies import Scene, Trial
from ssme.arrays import FloatArray, IntArray
from ssme.bench.protocol import Split
from ssme.data.scoreset import UNLABELED, ScoreSet
from ssme.methods.registry import find_method_class
from ssme.metrics import get_metric
from ssme.results.shift import correct_shift
from ssme.run import evaluate

SETS = ("adult", "civilcomments", "diabetes_readmit", "hiv_molecules")
"""Sets of two classes whose positives can be doubled."""
SHIFTS = ("none", "halved", "doubled", "covariate")
METHODS = ("labeled", "auto")
METRICS = ("accuracy", "average_precision")
SURE = 3.0
"""How much more often an unsure row is drawn than a sure one."""


def weigh_rows(data: ScoreSet, shift: str) -> FloatArray:
    """Weight (n,) with which a row is drawn."""
    n = data.n_rows
    if shift in ("halved", "doubled"):
        share = float((data.labels == 1).mean())
        new = share * (0.5 if shift == "halved" else 2.0)
        return np.where(data.labels == 1, new / share, (1.0 - new) / (1.0 - share))
    if shift == "covariate":
        sure = np.argsort(np.argsort(np.nanmean(data.scores.max(axis=2), axis=1))) / n
        return SURE ** (1.0 - 2.0 * sure)
    return np.ones(n)


@dataclass(frozen=True)
class RandomHalf(Scene):
    """Labels are any rows of one half, whose other rows are all unlabeled.

    No class has a label by right: what is studied is how often each is met.
    """

    def split(self, labels: IntArray, /, *size: int, seed: int, dataset: str) -> Split:
        n_labeled, _, run = size
        _, order = start_drawing(len(labels), n_labeled, run)
        middle = len(labels) // 2
        return Split(order[:n_labeled], order[n_labeled:middle], order[middle:])


def start_drawing(n_rows: int, n_labeled: int, run: int) -> tuple[np.random.Generator, IntArray]:
    """The random numbers of a run, and the order of all rows, which is drawn first."""
    rng = np.random.default_rng([run, n_labeled, 7])
    return rng, rng.permutation(n_rows)


def find_scene(name: str) -> Scene:
    """That of a set by its name: the same for all."""
    return RandomHalf("random half")


def draw_sets(trial: Trial) -> Iterator[tuple[ScoreSet, ScoreSet]]:
    """Per shift, what a method sees and the held-out rows that it is judged on."""
    data = trial.data
    labeled, rest, other = trial.split.labeled, trial.split.unlabeled, trial.split.truth
    rng, _ = start_drawing(data.n_rows, trial.n_labeled, trial.run)
    for shift in SHIFTS:
        weight = weigh_rows(data, shift)
        chance = weight[rest] / weight[rest].sum()
        unlabeled = rng.choice(rest, trial.n_unlabeled, replace=False, p=chance)
        held = data.take(rng.choice(other, 5000, p=weight[other] / weight[other].sum()))
        seen = data.take(np.concatenate([labeled, unlabeled]))
        labels = seen.labels.copy()
        labels[trial.n_labeled :] = UNLABELED
        yield seen.replace(labels=labels), held


def compute(trial: Trial) -> list[dict[str, Any]]:
    sets = zip(SHIFTS, draw_sets(trial), strict=True)
    return [row for shift, (seen, held) in sets for row in _compare_arms(seen, held, shift, trial)]


def _compare_arms(seen: ScoreSet, held: ScoreSet, shift: str, trial: Trial) -> list[dict[str, Any]]:
    ways = {
        "as it is": seen,
        "label": correct_shift(seen, "label"),
        "covariate": correct_shift(seen, "covariate"),
        "by_score": seen.with_design("by_score"),
    }
    if np.unique(seen.labels[seen.labeled]).size > 1:
        ways["by_class"] = seen.with_design("by_class")
    rows = []
    for method in METHODS:
        for way, data in ways.items():
            if data.design.kind and data.design.kind not in find_method_class(method).spec.designs:
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                r = evaluate(data, method=method, metrics=METRICS, by=[], random_state=trial.run)
            for name in METRICS:
                true = compute_truth(get_metric(name), held)
                rows.append(
                    {
                        "shift": shift,
                        "method": method,
                        "correction": way,
                        "metric": name,
                        "error": float(np.nanmean(np.abs(r.estimate(name).value - true))),
                    }
                )
    return rows


def summarize(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    both = pd.concat([frame.assign(dataset="all"), frame])
    which = ["method", "metric", "shift", "n_labeled", "dataset"]
    error = both.pivot_table(index=which, columns="correction", values="error").reset_index()
    return {"decide_shift_errors": error}


if __name__ == "__main__":
    start_study(
        "decide_shift",
        __doc__,
        compute,
        summarize,
        sets=SETS,
        labels=(50,),
        runs=2,
        scene=find_scene,
    )
