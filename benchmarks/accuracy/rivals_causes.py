"""Where our numbers and the paper's part: other readings of three of its baselines.

    python -m benchmarks.accuracy.rivals_causes [--runs 50]

Writes two results, mean absolute errors with the half-width of their 95 % interval:

- ``rivals_causes``, on CivilComments: labels alone, if every labeled set holds at least k rows of
  the rare class (20 labels), and rules by which seven votes may become a label (labeled rows keep
  theirs);
- ``active_testing``, on both sets: the error of accuracy by the number of labels asked for and by
  the share of the acquisition that is uniform. The paper's error does not fall with its number of
  labels, as if that number were fixed.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.accuracy.main_tables import DATASETS
from benchmarks.accuracy.protocol import METRICS, N_UNLABELED, summarize_errors
from benchmarks.datasets.registry import load_dataset
from benchmarks.experiment import add_places, open_places, run_cells, write_tables
from benchmarks.studies import Protocol, Runner, Scene, Study
from ssme.bench.runner import Truth
from ssme.data.scoreset import UNLABELED, ScoreSet
from ssme.methods.votes import cast_votes
from ssme.metrics.base import FloatArray, one_hot_mass
from ssme.results.evaluation import Evaluation
from ssme.results.groups import ALL

NAME = "civilcomments"
RARE = (1, 2, 3, 4)
UNIFORM = (0.001, 0.1, 0.5)
BUDGETS = (3, 4, 5, 6, 7, 8, 10, 12, 15, 20, 50, 100)
VoteRule = Callable[[FloatArray, FloatArray, float], NDArray[np.bool_]]
"""Who is positive: votes (n, M), labeled accuracies (M,), share of positive labels."""


def need_votes(least: int) -> VoteRule:
    return lambda votes, accuracy, prior: votes.sum(axis=1) >= least


def follow_best(votes: FloatArray, accuracy: FloatArray, prior: float) -> NDArray[np.bool_]:
    best: NDArray[np.bool_] = votes[:, accuracy.argmax()] > 0.5
    return best


def weigh_by_log_odds(votes: FloatArray, accuracy: FloatArray, prior: float) -> NDArray[np.bool_]:
    """An infinite weight, of a classifier without an error, makes every share NaN: no positive."""
    with np.errstate(all="ignore"):
        weights = np.log(accuracy / (1.0 - accuracy))
        share = votes @ weights / weights.sum()
    positive: NDArray[np.bool_] = share > 0.5
    return positive


def share_above(threshold: Callable[[float], float], *, plain: bool = False) -> VoteRule:
    """The accuracy-weighted share, or the ``plain`` mean of vote times accuracy, is above."""

    def rule(votes: FloatArray, accuracy: FloatArray, prior: float) -> NDArray[np.bool_]:
        total = len(accuracy) if plain else accuracy.sum()
        positive: NDArray[np.bool_] = votes @ accuracy / total > threshold(prior)
        return positive

    return rule


VOTE_RULES: dict[str, VoteRule] = {
    **{f"hard vote, {votes} of 7": need_votes(votes) for votes in range(1, 8)},
    "votes, mean of vote times accuracy above 1/2": share_above(lambda prior: 0.5, plain=True),
    "votes, share above the positive share of labels": share_above(lambda prior: prior),
    "votes, share above the negative share of labels": share_above(lambda prior: 1.0 - prior),
    "votes, weights log-odds of accuracy": weigh_by_log_odds,
    "votes, most accurate classifier alone": follow_best,
}


@dataclass(frozen=True)
class RareLabels(Scene):
    """Labels drawn again until at least ``least`` of them are of class 1."""

    least: int = 1

    def label(self, rows: ScoreSet, n_labeled: int, run: int) -> ScoreSet:
        rng, order = np.random.default_rng([20, run]), np.arange(rows.n_rows)
        while rows.labels[order[:n_labeled]].sum() < self.least:
            order = rng.permutation(order)
        labels = np.full(rows.n_rows, UNLABELED)
        labels[order[:n_labeled]] = rows.labels[order[:n_labeled]]
        return rows.replace(labels=labels)


def find_error(metric: str, models: tuple[str, ...], value: FloatArray, truth: Truth) -> float:
    """Mean absolute error over the classifiers."""
    exact = np.array([truth[ALL, metric, model] for model in models])
    return float(np.nanmean(np.abs(value - exact)))


def measure_errors(result: Evaluation, truth: Truth) -> list[dict[str, Any]]:
    """What a cell keeps: the error of each metric."""
    return [
        {
            "metric": metric.name,
            "error": find_error(metric.name, result.data.models, estimate.value, truth),
        }
        for metric, estimate in zip(result.metrics, result.estimates[0], strict=True)
    ]


def measure_votes(result: Evaluation, truth: Truth) -> list[dict[str, Any]]:
    """What a cell keeps: the errors of every rule."""
    data, rows = result.data, []
    votes, seen = cast_votes(data.scores)[:, :, 1], data.labels[data.labeled]
    accuracy = (votes[data.labeled] == seen[:, None]).mean(axis=0)
    for name, rule in VOTE_RULES.items():
        guessed = rule(votes, accuracy, seen.mean()).astype(np.int64)
        mass = one_hot_mass(np.where(data.labeled, data.labels, guessed), data.n_classes)
        for metric in result.metrics:
            error = find_error(metric.name, data.models, metric(data.scores, mass)[0], truth)
            rows.append({"metric": metric.name, "error": error, "rule": name})
    return rows


def plan_studies(runs: int) -> list[Study]:
    """Labels alone by least number of rare labels, rules of votes, active testing."""
    labeled: tuple[str, dict[str, Any]] = ("labeled", {"joint_draws": False})

    def plan(
        methods: dict[str, tuple[str, dict[str, Any]]], n_labeled: tuple[int, ...], **rest: Any
    ) -> Runner:
        metrics = ("accuracy",) if n_labeled == BUDGETS else METRICS[NAME]
        protocol = Protocol(methods, metrics, n_labeled, (N_UNLABELED,), runs)
        return Runner(protocol, load_dataset, **rest)

    rare = [
        plan(
            {f"labeled, {least} or more rare labels": labeled},
            (20,),
            measure=measure_errors,
            scene=RareLabels(f"{least} rare labels", least),
        )
        for least in RARE
    ]
    votes = plan({"votes": labeled}, (20, 50, 100), measure=measure_votes)
    asked: dict[str, tuple[str, dict[str, Any]]] = {
        f"uniform share {share}": ("active_testing", {"uniform": share}) for share in UNIFORM
    }
    testing = plan(asked, BUDGETS, measure=measure_errors)
    return [*(Study(r, (NAME,)) for r in (*rare, votes)), Study(testing, tuple(DATASETS))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=50)
    add_places(parser)
    args = parser.parse_args()
    with open_places(args) as executor:
        rows, times = run_cells(plan_studies(args.runs), "rivals_causes", executor)
    rows["reading"] = rows["method"].where(rows["method"] != "votes", rows["rule"])
    testing = rows["reading"].str.startswith("uniform")
    keys = ["reading", "n_labeled", "metric"]
    tables = {
        "rivals_causes": summarize_errors(rows[~testing], keys),
        "active_testing": summarize_errors(rows[testing], ["dataset", *keys]),
    }
    write_tables(tables, times)


if __name__ == "__main__":
    main()
