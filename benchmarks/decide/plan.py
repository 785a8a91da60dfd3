"""Whether plans hold: the number of labels that was said against the number that was needed.

    python -m benchmarks.decide.plan --runs 4 --minutes 20 --workers 2

With 30 labels, targets are set from what is seen: intervals of accuracy of which the widest is 0.75
times as wide, half the expected regret, and half of 1 - P(best). A plan says how many labels each
takes. Then rows are labeled at random and the method is fitted, run by run, in two kinds of
cases:

- real        three orders of labeling, with the labels that the rows have
- simulated   ten worlds that are possible (100 for labels alone): in each another joint draw is
              the truth, and a class is drawn for every unlabeled row that agrees with it

The needed number is the one with which half of the runs meet the target, as in a power analysis.
``decide_plan`` has, per method, target, kind of case and set, the median of said over needed
(numbers of labels in all), the share of cases in which the two are within a factor of 1.5
(``within``), also of the labels more (``within_more``). ``within_one`` and ``inside_one`` are about
single runs: how often what one run needs is within that factor of what was said, and how often it
is in the range that the plan gives for 80% of the runs. ``reachable`` is the share of single runs
within that factor of their own median: no number said beforehand is within it more often. A number
above 600 counts as 600, said or needed. ``seconds`` is the CPU time of the plans for all three
targets together.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.decide.common import start_study
from benchmarks.studies import Trial
from ssme.data.scoreset import ScoreSet
from ssme.methods.registry import get_method
from ssme.results.evaluation import Evaluation
from ssme.results.plan import (
    PlanConstants,
    Sight,
    Target,
    World,
    find_crossing,
    imagine_worlds,
    read_target,
)
from ssme.run import evaluate

ROWS, MOST, FACTOR, ORDERS, RATIO = 1500, 600, 1.5, 3, 2.2
"""Rows at hand, most labels, what counts as near, real runs, steps of the number of labels."""
METHODS = {"auto": 10, "labeled": 100}
"""Simulated runs of each method."""
SETS = (
    "adult",
    "agnews",
    "civilcomments",
    "diabetes_readmit",
    "dry_bean",
    "hiv_molecules",
    "multinli",
    "subj",
)


def compute(trial: Trial) -> list[dict[str, Any]]:
    """Said and needed labels of one split."""
    n, seen, pool = trial.n_labeled, trial.seen, trial.rows
    rows = []
    for method, n_worlds in METHODS.items():
        first = evaluate(seen, metrics="accuracy", method=method, by=[], random_state=trial.run)
        texts = _set_targets(first)
        targets = [read_target(first, text) for text in texts]
        start = time.process_time()
        plans = first.plan_several(texts, random_state=trial.run).plans
        seconds = time.process_time() - start
        rng = np.random.default_rng([trial.run, 11])
        worlds = {
            "real": [_order_rows(seen, pool, rng) for _ in range(ORDERS)],
            "simulated": imagine_worlds(first, targets[0], n_worlds, PlanConstants(), rng),
        }
        for case, runs in worlds.items():
            values = _run(runs, targets, first, method)
            for t, (target, plan) in enumerate(zip(targets, plans, strict=True)):
                said, low, high = (
                    min(n + more, MOST) for more in (plan.more, plan.more_low, plan.more_high)
                )
                sights = [(total, np.array([one[t] for one in each])) for total, each in values]
                needed = _find_crossing(target, plan.now, n, sights)
                ones = [
                    _find_crossing(
                        target, plan.now, n, [(total, own[[w]]) for total, own in sights]
                    )
                    for w in range(len(runs))
                ]
                middle = float(np.median(ones))
                rows.append(
                    {
                        "method": method,
                        "target": target.what,
                        "case": case,
                        "said": said,
                        "needed": needed,
                        "within_one": np.mean([_is_near(said, one) for one in ones]),
                        "inside_one": np.mean([low <= one <= high for one in ones]),
                        "reachable": np.mean([_is_near(middle, one) for one in ones]),
                        "seconds": seconds,
                    }
                )
    return rows


def _set_targets(first: Evaluation) -> list[str]:
    """Targets that are some way off, in words."""
    low, high = first.estimate("accuracy").interval(0.95)
    choice, width = first.choose("accuracy"), float((high - low).max())
    targets = []
    if width > 1e-5:
        targets.append(f"width(accuracy)<={0.75 * width:.5f}")
    if choice.regret > 1e-5:
        targets.append(f"regret(accuracy)<={0.5 * choice.regret:.6f}")
    if choice.p_best < 0.99:
        targets.append(f"P(best:accuracy)>={0.5 + 0.5 * choice.p_best:.4f}")
    return targets


def _order_rows(seen: ScoreSet, pool: ScoreSet, rng: np.random.Generator) -> World:
    """The world as it is, with rows labeled in a random order."""
    return World(seen, pool.labels, rng.permutation(np.flatnonzero(~seen.labeled)))


def _run(
    runs: Sequence[World], targets: Sequence[Target], first: Evaluation, method: str
) -> list[tuple[int, list[list[float]]]]:
    """What the targets bound [run][target] at growing numbers of labels."""
    fitter, found = get_method(method), []
    steps = np.arange(1, np.log(MOST / first.data.n_labeled) / np.log(RATIO))
    totals = [*(first.data.n_labeled * RATIO**steps).astype(int).tolist(), MOST]
    for total in totals:
        each = []
        for number, world in enumerate(runs):
            fitted = fitter.fit(world.give_labels(total), np.random.default_rng(number))
            estimate = fitted.estimate([targets[0].metric], [None])[0][0]
            each.append([t.measure(first.data.models, estimate, first.level) for t in targets])
        found.append((total, each))
        met = [[t.is_met(value) for t, value in zip(targets, one, strict=True)] for one in each]
        if np.mean(met, axis=0).min() >= 0.9:
            break
    return found


def _find_crossing(
    target: Target, now: float, n: int, seen: Sequence[tuple[int, np.ndarray[Any, Any]]]
) -> float:
    """Labels with which half of the runs meet the target, at most `MOST`."""
    return min(find_crossing(target, now, n, [Sight(*each) for each in seen], 0.5), float(MOST))


def _is_near(said: float, needed: float) -> bool:
    return bool(1.0 / FACTOR <= said / needed <= FACTOR)


def summarize(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """One line per method, target, kind of case and set, and one for all sets."""
    start, said, needed = frame["n_labeled"], frame["said"], frame["needed"]
    more = (said - start).clip(lower=1.0) / (needed - start).clip(lower=1.0)
    frame = frame.assign(
        met=(needed < MOST).astype(float),
        ratio=said / needed,
        within=_mark_within(said / needed),
        within_more=_mark_within(more),
    )
    every = frame.assign(dataset="all")
    parts = [every.assign(target="all"), every, frame]
    table = pd.concat(
        part.groupby(["method", "target", "case", "dataset"], sort=False)
        .agg(
            cases=("met", "size"),
            met=("met", "mean"),
            needed=("needed", "median"),
            ratio=("ratio", "median"),
            within=("within", "mean"),
            within_more=("within_more", "mean"),
            within_one=("within_one", "mean"),
            inside_one=("inside_one", "mean"),
            reachable=("reachable", "mean"),
            seconds=("seconds", "mean"),
        )
        .reset_index()
        for part in parts
    )
    return {"decide_plan": table}


def _mark_within(ratio: pd.Series) -> pd.Series:
    return ((ratio <= FACTOR) & (ratio >= 1.0 / FACTOR)).astype(float)


if __name__ == "__main__":
    start_study("plan", __doc__, compute, summarize, sets=SETS, labels=(30,), runs=4, rows=ROWS)
