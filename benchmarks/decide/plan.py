"""Whether plans hold: the number of labels that was said against the number that was needed.

    python -m benchmarks.decide.plan --runs 5 --minutes 20 --workers 2

With 30 labels, targets are set from what is seen: intervals of accuracy of which the widest is 0.75
times as wide, half the expected regret, and half the doubt 1 - P(best). A plan says how many labels
each takes. Then rows are labeled at random until the target is met, in two kinds of cases:

- real        with the labels that the rows have
- simulated   in a world that the plan thinks possible: a joint draw is taken for the truth and a
              class is drawn for every unlabeled row that agrees with it (`ssme.suggest.possible`)

``decide_plan`` has, per method, target, kind of case and set, the median of said over needed
(numbers of labels in all), the share of cases in which the two are within a factor of 1.5
(``within``), also of the labels more (``within_more``), and in which the needed number is in the
range that the plan gives for 80 % (``inside``). ``reachable`` (regret and P(best)) is the share of
the plan's own 200 simulated truths that are within a factor of 1.5 of their median: no number said
beforehand can be within that factor more often, if the simulations are right. A case whose target
is not met with 1,000 labels counts as right where the plan says 1,000 or more, else as wrong.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.decide.common import DEVELOPMENT, Job, load, study
from ssme.bench import split_rows
from ssme.data.scoreset import ScoreSet
from ssme.evaluation import Evaluation
from ssme.run import evaluate
from ssme.suggest.constants import SuggestConstants
from ssme.suggest.influence import measure_influence
from ssme.suggest.plan import LabelPlan
from ssme.suggest.possible import draw_truth, tilt_belief
from ssme.suggest.rows import believe
from ssme.suggest.targets import Target, read_target

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
        targets = [read_target(first, what) for what in _set_targets(first)]
        plans = [first.plan(target.text, random_state=job.run) for target in targets]
        worlds = {"real": pool.labels, "simulated": _imagine(first, job.run)}
        for case, labels in worlds.items():
            needed = _find(pool.replace(labels=labels), n, targets, first, method, job.run)
            rows += [
                {
                    "method": method,
                    "target": target.what,
                    "case": case,
                    "said": n + plan.more,
                    "said_low": n + plan.more_low,
                    "said_high": n + plan.more_high,
                    "reachable": _near_median(plan) if target.what != "width" else np.nan,
                    "needed": found,
                }
                for target, plan, found in zip(targets, plans, needed, strict=True)
            ]
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


def _imagine(first: Evaluation, seed: int) -> NDArray[np.int64]:
    """Labels of all rows in a world that one joint draw describes."""
    data, metric, estimate = first.data, first.metrics[0], first.estimates[0][0]
    rng = np.random.default_rng([seed, 11])
    belief = believe(first, SuggestConstants().doubt)
    wanted = estimate.value
    if estimate.draws is not None:
        wanted = estimate.draws[rng.integers(len(estimate.draws))]
    psi = measure_influence(
        metric, data.scores, belief, data.weights, np.ones(data.n_rows, dtype=bool)
    )
    tilted = tilt_belief(metric, data.scores, belief, data.weights, psi, wanted)
    return draw_truth(tilted, data.labels, rng)


def _near_median(plan: LabelPlan) -> float:
    """Share of the plan's simulations within the factor of their median."""
    middle = plan.n_labeled + plan.more
    if not np.isfinite(middle):
        return float("nan")
    labels = np.log([step.labels for step in plan.curve])
    met = np.maximum.accumulate([step.met for step in plan.curve])
    ends = np.interp(np.log([middle / FACTOR, middle * FACTOR]), labels, met, left=0.0)
    return float(ends[1] - ends[0])


def _look(pool: ScoreSet, n: int, method: str, seed: int) -> Evaluation:
    labels = pool.labels.copy()
    labels[n:] = -1
    seen = pool.replace(labels=labels)
    return evaluate(seen, metrics="accuracy", method=method, by=[], random_state=seed)


def _find(
    pool: ScoreSet, n: int, targets: list[Target], first: Evaluation, method: str, seed: int
) -> list[float]:
    """Labels in all at which each target is first met; infinite where it never is."""
    found = [float("inf")] * len(targets)
    before, values = n, [_measure(target, first) for target in targets]
    while before < MOST and not np.isfinite(found).all():
        here = min(int(np.ceil(before * RATIO)), MOST)
        result = _look(pool, here, method, seed)
        for i, target in enumerate(targets):
            now, value = _measure(target, result), values[i]
            if not np.isfinite(found[i]) and target.is_met(now):
                share = (value - target.bound) / (value - now) if value != now else 1.0
                found[i] = float(np.exp(np.log(before) + share * np.log(here / before)))
            values[i] = now
        before = here
    return found


def _measure(target: Target, result: Evaluation) -> float:
    return target.measure(result.data.models, result.estimates[0][0], 0.95)


def summarize(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """One line per method, target, kind of case and set, and one for all sets."""
    start, said, needed = frame["n_labeled"], frame["said"], frame["needed"]
    met = np.isfinite(needed)
    beyond = (said >= MOST).astype(float)
    ratio = (said / needed).where(met & np.isfinite(said))
    more = (said - start) / np.maximum(needed - start, 1.0)
    frame = frame.assign(
        met=met,
        ratio=ratio,
        within=_within(said / needed).where(met, beyond),
        within_more=_within(more).where(met, beyond),
        inside=((frame["said_low"] <= needed) & (needed <= frame["said_high"])).astype(float),
    )
    parts = [frame.assign(dataset="all"), frame]
    table = pd.concat(
        part.groupby(["method", "target", "case", "dataset"], sort=False)
        .agg(
            cases=("met", "size"),
            met=("met", "sum"),
            needed=("needed", "median"),
            ratio=("ratio", "median"),
            within=("within", "mean"),
            within_more=("within_more", "mean"),
            inside=("inside", "mean"),
            reachable=("reachable", "mean"),
        )
        .reset_index()
        for part in parts
    )
    return {"decide_plan": table}


def _within(ratio: pd.Series) -> pd.Series:
    return ((ratio <= FACTOR) & (ratio >= 1.0 / FACTOR)).astype(float)


if __name__ == "__main__":
    study("plan", __doc__, compute, summarize, sets=DEVELOPMENT, labels=(30,), runs=5)
