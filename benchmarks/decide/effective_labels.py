"""Are the labels worth as many as `effective_labels` says, at random rows and at suggested ones?

    python -m benchmarks.decide.effective_labels --runs 10 --minutes 30

Per run, `auto` sees 30 labels of random rows among 1,000, then 50 more: of random rows ("random")
or of rows that `Evaluation.suggest` chose for the goal best, 25 at a time ("suggested"). The truth
is that of the 1,000 rows. Before the last batch of suggested rows, what `suggest` says of its goal
(metric "goal") is compared with what labels alone tell about the differences to the pick, weighted
as the goal weighs them: the weighted mean over 25 suggested rows, and the mean over 25 random ones.

``benchmarks/results/decide_effective_labels.csv`` has per set, arm and metric

    claimed    ``effective_labels`` of the evaluation with 80 labels, median over runs and models;
               for the goal 25 times `SuggestedRows.gain`
    measured   the number of random labels that alone have the error of the estimates (root of the
               mean square over runs and models): from draws of 10 to 999 labels of the same rows
    ratio      claimed over measured

and, in the line of all sets, the median over sets of each.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from benchmarks.decide.common import start_study
from benchmarks.studies import Trial
from ssme.data.scoreset import ScoreSet
from ssme.metrics import get_metric, one_hot_mass
from ssme.results.evaluation import Evaluation
from ssme.results.suggest import SuggestConstants, find_goal
from ssme.run import evaluate

METRICS = ("accuracy", "roc_auc", "ece")
SIZES = (10, 20, 40, 80, 160, 320, 640, 900, 999)
"""Numbers of labels alone whose errors are measured."""
DRAWS = 20
"""Draws of each number for each run."""
FIRST, BATCHES = 30, (25, 25)


def compute(trial: Trial) -> list[dict[str, Any]]:
    pool, rng = trial.rows, np.random.default_rng(trial.run)
    mass = one_hot_mass(pool.labels, pool.n_classes)
    names = [name for name in METRICS if name != "roc_auc" or pool.n_classes == 2]
    plans = {name: get_metric(name).plan(pool.scores) for name in names}
    truth = {name: plan(mass)[0] for name, plan in plans.items()}
    rows = []
    for size in SIZES:
        for _ in range(DRAWS):
            seen = np.zeros((1, pool.n_rows, 1))
            seen[:, rng.choice(pool.n_rows, size, replace=False)] = 1.0
            for name, plan in plans.items():
                error = plan(mass * seen)[0] - truth[name]
                rows.append(_describe("alone", size, name, error, np.full(error.shape, size)))
    first = np.where(np.isin(np.arange(pool.n_rows), rng.permutation(pool.n_rows)[:FIRST]), 0, -1)
    for arm in ("random", "suggested"):
        seen = pool.replace(labels=np.where(first == 0, pool.labels, -1))
        for n, batch in enumerate(BATCHES):
            result = evaluate(seen, metrics=names, by=[], random_state=trial.run)
            design = "random" if arm == "random" else "goal"
            found = result.suggest(batch, "best", draw=design, random_state=100 * trial.run + n)
            seen = found.fill_in(pool.label_values[found.rows].tolist())
            if arm == "suggested" and n == len(BATCHES) - 1:
                rows += _try_goal(result, pool, batch, rng)
        result = evaluate(seen, metrics=names, by=[], random_state=trial.run)
        table = result.frame("pandas").set_index("metric")
        for name in names:
            error = result.estimate(name).value - truth[name]
            claimed = table.loc[[name], "effective_labels"].to_numpy(dtype=float)
            rows.append(_describe(arm, FIRST + sum(BATCHES), name, error, claimed))
    return rows


def _try_goal(
    result: Evaluation, pool: ScoreSet, n: int, rng: np.random.Generator
) -> list[dict[str, Any]]:
    """Squared errors of the differences that the goal is about, from labels alone."""
    goal = find_goal(result, "best:accuracy", SuggestConstants())
    (asked,) = goal.questions
    right = pool.scores.argmax(axis=2) == pool.labels[:, None]
    moves = right @ asked.contrasts.T  # (n, C)
    open_rows = np.flatnonzero(~result.data.labeled)
    truth = moves[open_rows].mean(axis=0)
    scale, rows = np.sqrt(asked.weights), []
    for draw in range(DRAWS):
        chosen = rng.choice(open_rows, n, replace=False)
        error = scale * (moves[chosen].mean(axis=0) - truth)
        rows.append(_describe("alone", n, "goal", error, np.full(1, n)))
        found = result.suggest(n, "best:accuracy", random_state=draw)
        mean = np.average(moves[found.rows], axis=0, weights=1.0 / found.probability)
        rows.append(_describe("suggested", n, "goal", scale * (mean - truth), [n * found.gain]))
    return rows


def _describe(arm: str, labels: int, metric: str, error: Any, claimed: Any) -> dict[str, Any]:
    return {
        "arm": arm,
        "labels": labels,
        "metric": metric,
        "square": float(pd.Series(error**2).mean()),
        "claimed": float(pd.Series(claimed).median()),
    }


def summarize(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    lines = []
    for (dataset, metric), part in frame.groupby(["dataset", "metric"], sort=False):
        alone = part[part["arm"] == "alone"].groupby("labels")["square"].mean()
        for arm, own in part[part["arm"] != "alone"].groupby("arm", sort=False):
            sizes, error = alone.index.to_numpy(dtype=float), own["square"].mean()
            if metric == "goal":
                measured = sizes[0] * alone.iloc[0] / error
            else:  # errors fall: the logarithm of labels is read off that of the error
                logs = -np.log(error), -np.log(alone.to_numpy()), np.log(sizes)
                measured = np.exp(np.interp(*logs))
            claimed = own["claimed"].median()
            lines.append(
                {
                    "dataset": dataset,
                    "metric": metric,
                    "arm": arm,
                    "runs": own["run"].nunique(),
                    "claimed": claimed,
                    "measured": measured,
                    "ratio": claimed / measured,
                }
            )
    table = pd.DataFrame(lines)
    numbers = ["claimed", "measured", "ratio"]
    pooled = table.groupby(["metric", "arm"], sort=False)[numbers].median().reset_index()
    return {"decide_effective_labels": pd.concat([table, pooled.assign(dataset="all")])}


if __name__ == "__main__":
    start_study("decide_effective_labels", __doc__, compute, summarize, labels=(30,), rows=1000)
