"""How many labels suggested rows save, and whether intervals hold after them.

    python -m benchmarks.decide.suggestion --runs 25 --minutes 30 --workers 2

Nobody has a label at first; labels come in batches up to 160 in all, from the first one on by

- random       rows drawn at random
- best         `Evaluation.suggest` for the goal best
- roc_auc      `Evaluation.suggest` for the goal metric:roc_auc
- uncertainty  the rows of which the mean score is least sure, by entropy; `auto` is told that
               labels were chosen by score

After every batch ``auto`` is fitted. The truth is that of 1,000 rows at hand, whose labels are all
known to the study. On most sets as they are the pick by ``auto`` is right without any label. A set
with ``~`` has its classifiers miscalibrated at random: logarithms of the scores times exp(t),
t ~ N(0, 0.7) for each classifier and run, which changes no decision of theirs.

``decide_suggestion`` has, per set and arm, the labels needed until the pick by accuracy is within
0.01 of the best model and stays so (the mean over runs; a run that does not get there counts as
twice the largest number, one that is right from the start as none), those until the mean error of
ROC AUC, as a curve that falls, is that of 80 random labels, the ratios of both to random (empty
where random labels need none), the error of ROC AUC over all batches as a ratio to random, and how
often the 95% intervals hold. ``gain_said`` and ``gain_true`` are for how many labels of rows drawn
alike one label stands, drawn in proportion to what it tells (Neyman's allocation), before there is
a label: if the belief is right, and with the labels that the rows have. The line of all sets has
medians over sets, and means of what intervals hold.

Runs 0 to 9 were looked at while constants and rules were chosen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.decide.common import start_study
from benchmarks.studies import Scene, Trial
from ssme.arrays import IntArray
from ssme.bench.protocol import Split
from ssme.data.scoreset import ScoreSet
from ssme.metrics import get_metric, one_hot_mass
from ssme.metrics.influence import measure_influence, measure_spread
from ssme.results.evaluation import Evaluation
from ssme.results.reliability import make_falling
from ssme.results.suggest import (
    SuggestConstants,
    believe,
    find_goal,
    measure_gain,
    set_probabilities,
)
from ssme.run import evaluate
from ssme.schema import SUGGEST

ARMS = ("random", "best", "roc_auc", "uncertainty")
GOALS = {"best": "best:accuracy", "roc_auc": "metric:roc_auc"}
BATCHES = (10, 10, 10, 10, 20, 20, 40, 40)
"""Sizes of the batches; 160 labels in all."""
ROWS = 1000
MARK = "~"
SETS = ("adult", "adult_shift", "adult~", "civilcomments~", "multinli~", "subj~", "agnews~")
SPREAD = 0.7
CLOSE = 0.01
METRICS = ("accuracy", "roc_auc")


@dataclass(frozen=True)
class Miscalibrated(Scene):
    """The rows of the set of that name, less its mark, with their classifiers miscalibrated."""

    def change(self, data: ScoreSet, run: int) -> ScoreSet:
        rng = np.random.default_rng([run, *self.name.rstrip(MARK).encode()])
        sharper = np.exp(rng.normal(0.0, SPREAD, data.n_models))
        logs = np.log(np.clip(data.scores, 1e-6, 1.0)) * sharper[:, None]
        scores = np.exp(logs - logs.max(axis=2, keepdims=True))
        return data.replace(scores=scores / scores.sum(axis=2, keepdims=True))

    def split(self, labels: IntArray, /, *size: int, seed: int, dataset: str) -> Split:
        return super().split(labels, *size, seed=seed, dataset=dataset.rstrip(MARK))


def find_scene(name: str) -> Scene:
    """That of a set by its name."""
    return Miscalibrated(name) if name.endswith(MARK) else Scene()


def compute(trial: Trial) -> list[dict[str, Any]]:
    """Rows of one run: per arm and number of labels the regret, errors and what intervals hold."""
    pool = trial.rows
    mass = one_hot_mass(pool.labels, pool.n_classes)
    truth = [get_metric(name)(pool.scores, mass)[0] for name in METRICS]

    def look(seen: ScoreSet) -> Evaluation:
        return evaluate(seen, metrics=list(METRICS), by=[], random_state=trial.run)

    nothing = look(pool.replace(labels=np.full(pool.n_rows, -1)))
    rows = []
    for arm in ARMS:
        result = nothing
        gains = _measure_gains(result, pool, GOALS[arm]) if arm in GOALS else {}
        rows.append({"arm": arm, "labels": 0, **_judge(result, truth), **gains})
        for batch, n in enumerate(BATCHES):
            result = look(_add_labels(result, pool, n, arm, trial.run * 100 + batch))
            rows.append({"arm": arm, "labels": result.data.n_labeled, **_judge(result, truth)})
    return rows


def _add_labels(result: Evaluation, pool: ScoreSet, n: int, arm: str, seed: int) -> ScoreSet:
    """The data with ``n`` labels more, chosen as the arm does."""
    if arm == "uncertainty":
        mean = result.data.scores.mean(axis=1)
        entropy = -(mean * np.log(np.maximum(mean, 1e-12))).sum(axis=1)
        entropy[result.data.labeled] = -1.0
        labels = result.data.labels.copy()
        chosen = np.argsort(-entropy)[:n]
        labels[chosen] = pool.labels[chosen]
        return pool.replace(labels=labels).with_design("by_score")
    design = "random" if arm == "random" else "goal"
    found = result.suggest(n, GOALS.get(arm, "best"), draw=design, random_state=seed)
    return found.fill_in(pool.label_values[found.rows].tolist())


def _measure_gains(result: Evaluation, pool: ScoreSet, text: str) -> dict[str, float]:
    """What a label is worth if rows are drawn by what it tells: as said, and in truth."""
    of = SuggestConstants()
    goal = find_goal(result, text, of)
    (asked,) = goal.questions
    belief, every = believe(result, of.hedge), np.ones(pool.n_rows, dtype=bool)
    moves = measure_influence(goal.metric, pool.scores, belief, None, every, 0.0)
    moves = moves @ asked.contrasts.T
    said = np.sqrt((measure_spread(moves, belief) * asked.weights).sum(axis=1))
    seen = moves[np.arange(pool.n_rows), pool.labels] - np.einsum("nk,nkc->nc", belief, moves)
    true = np.sqrt((seen**2 * asked.weights).sum(axis=1))
    chance = set_probabilities(said, BATCHES[0], SUGGEST["uniform"].default)
    return {"gain_said": measure_gain(said, chance), "gain_true": measure_gain(true, chance)}


def _judge(result: Evaluation, truth: list[Any]) -> dict[str, float]:
    accuracy = result.estimate("accuracy")
    found = {"regret": float(truth[0].max() - truth[0][int(np.argmax(accuracy.value))])}
    for name, true in zip(METRICS, truth, strict=True):
        estimate = result.estimate(name)
        low, high = estimate.interval(0.95)
        found[f"{name}_error"] = float(np.abs(estimate.value - true).mean())
        found[f"{name}_held"] = float(((low <= true) & (true <= high)).mean())
        found[f"{name}_width"] = float((high - low).mean())
    return found


def summarize(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The tables of the study."""
    largest = frame["labels"].max()
    lines = []
    for dataset, of_set in frame.groupby("dataset", sort=False):
        given = float(_make_falling(of_set[of_set["arm"] == "random"])[80])
        for arm in ARMS:
            own = of_set[of_set["arm"] == arm]
            later = own[own["labels"] > 0]
            needed = [
                _find_needed(run["labels"], run["regret"] <= CLOSE, largest)
                for _, run in own.groupby("run")
            ]
            lines.append(
                {
                    "dataset": dataset,
                    "arm": arm,
                    "runs": own["run"].nunique(),
                    "right_without_labels": np.mean([n == 0.0 for n in needed]),
                    "labels_to_pick": np.mean(needed),
                    "never_right": np.mean([n > largest for n in needed]),
                    "given_auc_error": given,
                    "labels_to_auc_error": _find_reached(own, given, largest),
                    "auc_error": later["roc_auc_error"].mean(),
                    "accuracy_held": later["accuracy_held"].mean(),
                    "roc_auc_held": later["roc_auc_held"].mean(),
                    "gain_said": own["gain_said"].mean(),
                    "gain_true": own["gain_true"].mean(),
                }
            )
    table = pd.DataFrame(lines)
    for column in ("labels_to_pick", "labels_to_auc_error", "auc_error"):
        base = table[table["arm"] == "random"].set_index("dataset")[column]
        table[f"{column}_ratio"] = table[column] / table["dataset"].map(base.where(base > 0.0))
    curves = (
        frame.groupby(["dataset", "arm", "labels"], sort=False)
        .agg(
            regret=("regret", "mean"),
            correct=("regret", lambda values: (values <= CLOSE).mean()),
            accuracy_error=("accuracy_error", "mean"),
            roc_auc_error=("roc_auc_error", "mean"),
            accuracy_held=("accuracy_held", "mean"),
            roc_auc_held=("roc_auc_held", "mean"),
        )
        .reset_index()
    )
    return {
        "decide_suggestion": pd.concat([table, _summarize_sets(table)]),
        "decide_suggestion_curves": curves,
    }


def _summarize_sets(table: pd.DataFrame) -> pd.DataFrame:
    """Medians over the sets, per arm; coverage is their mean."""
    held = ["accuracy_held", "roc_auc_held"]
    by_arm = table.groupby("arm", sort=False)
    out = by_arm.median(numeric_only=True)
    out[held] = by_arm[held].mean()
    return out.reset_index().assign(dataset="all")[table.columns]


def _find_needed(labels: pd.Series, right: pd.Series, largest: int) -> float:
    """The least number of labels from which on the pick stays right."""
    wrong = np.flatnonzero(~right.to_numpy())
    if wrong.size == 0:
        return float(labels.iloc[0])
    return float(labels.iloc[wrong[-1] + 1]) if wrong[-1] + 1 < len(labels) else 2.0 * largest


def _make_falling(own: pd.DataFrame) -> pd.Series:
    """Mean error of ROC AUC by number of labels, made to fall: the nearest in least squares."""
    error = own.groupby("labels")["roc_auc_error"].mean()
    return pd.Series(make_falling(error.to_numpy()), error.index)


def _find_reached(own: pd.DataFrame, given: float, largest: int) -> float:
    """Where the mean error over runs falls to ``given``, on the line between batches."""
    error = _make_falling(own)
    labels, values = error.index.to_numpy(float), error.to_numpy()
    below = np.flatnonzero(values <= given)
    if below.size == 0:
        return 2.0 * largest
    i = below[0]
    if i == 0:
        return 0.0
    share = (values[i - 1] - given) / (values[i - 1] - values[i])
    return float(labels[i - 1] + share * (labels[i] - labels[i - 1]))


if __name__ == "__main__":
    start_study(
        "suggestion",
        __doc__,
        compute,
        summarize,
        sets=SETS,
        labels=(0,),
        runs=25,
        rows=ROWS,
        scene=find_scene,
        marks=MARK,
    )
