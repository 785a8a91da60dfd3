"""Whether plans hold: the number of labels that was said against the number that was needed.

    python -m benchmarks.decide.plan --runs 5 --minutes 20 --workers 2

With 30 labels, targets are set from what is seen: intervals of accuracy of which the widest is 0.75
times as wide, and half the expected regret. The plan says how many labels that takes; then rows
are labeled at random until the target is met. ``decide_plan`` has, per set and target, the median
of said over needed (numbers of labels in all) and the share of cases within a factor of 1.5, also
of the labels more. Cases whose target is not met with 1,000 labels are left out and counted.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from benchmarks.decide.common import DEVELOPMENT, Job, load, study
from ssme.bench import split_rows
from ssme.data.scoreset import ScoreSet
from ssme.evaluation import Evaluation
from ssme.run import evaluate
from ssme.suggest.targets import read_target

ROWS, MOST, RATIO, FACTOR = 1500, 1000, 1.3, 1.5
METHODS = ("auto", "labeled")


def compute(job: Job) -> list[dict[str, Any]]:
    """Said and needed labels of one run."""
    data = load(job.dataset)
    n = job.n_labeled
    split = split_rows(data.labels, n, ROWS - n, job.run, seed=0, dataset=job.dataset)
    pool = data.take(np.concatenate([split.labeled, split.unlabeled]))
    rows = []
    for method in METHODS:
        first = _look(pool, n, method, job.run)
        low, high = first.estimate("accuracy").interval(0.95)
        regret = first.choose("accuracy").regret
        for what, bound in (
            (f"width(accuracy)<={0.75 * float((high - low).max()):.5f}", float((high - low).max())),
            (f"regret(accuracy)<={0.5 * regret:.6f}", regret),
        ):
            if not bound > 1e-5:
                continue
            plan = first.plan(what, random_state=job.run)
            needed = _find(pool, n, what, first, method, job.run)
            rows.append(
                {
                    "method": method,
                    "target": what.split("(")[0],
                    "said": n + plan.more,
                    "said_low": n + plan.more_low,
                    "said_high": n + plan.more_high,
                    "needed": needed,
                }
            )
    return rows


def _look(pool: ScoreSet, n: int, method: str, seed: int) -> Evaluation:
    labels = pool.labels.copy()
    labels[n:] = -1
    seen = pool.replace(labels=labels)
    return evaluate(seen, metrics="accuracy", method=method, by=[], random_state=seed)


def _find(pool: ScoreSet, n: int, what: str, first: Evaluation, method: str, seed: int) -> float:
    """Labels in all at which the target is first met; infinite where it never is."""
    target = read_target(first, what)
    before, value = n, target.measure(pool.models, first.estimates[0][0], 0.95)
    while before < MOST:
        here = min(int(np.ceil(before * RATIO)), MOST)
        result = _look(pool, here, method, seed)
        now = target.measure(pool.models, result.estimates[0][0], 0.95)
        if target.is_met(now):
            share = (value - target.bound) / (value - now) if value != now else 1.0
            return float(np.exp(np.log(before) + share * np.log(here / before)))
        before, value = here, now
    return float("inf")


def summarize(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """One line per method, target and set, and one for all sets."""
    start = frame["n_labeled"]
    met = np.isfinite(frame["needed"]) & np.isfinite(frame["said"])
    ratio = frame["said"] / frame["needed"]
    more = (frame["said"] - start) / np.maximum(frame["needed"] - start, 1.0)
    frame = frame.assign(
        met=met,
        ratio=ratio.where(met),
        within=_within(ratio).where(met),
        within_more=_within(more).where(met),
        inside=((frame["said_low"] <= frame["needed"]) & (frame["needed"] <= frame["said_high"]))
        .astype(float)
        .where(met),
    )
    parts = [frame.assign(dataset="all"), frame]
    table = pd.concat(
        part.groupby(["method", "target", "dataset"], sort=False)
        .agg(
            cases=("met", "size"),
            counted=("met", "sum"),
            needed=("needed", "median"),
            ratio=("ratio", "median"),
            within=("within", "mean"),
            within_more=("within_more", "mean"),
            inside=("inside", "mean"),
        )
        .reset_index()
        for part in parts
    )
    return {"decide_plan": table}


def _within(ratio: pd.Series) -> pd.Series:
    return ((ratio <= FACTOR) & (ratio >= 1.0 / FACTOR)).astype(float)


if __name__ == "__main__":
    study("plan", __doc__, compute, summarize, sets=DEVELOPMENT, labels=(30,), runs=5)
