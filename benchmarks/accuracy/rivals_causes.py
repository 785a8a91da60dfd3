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
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.accuracy.protocol import METRICS, N_UNLABELED, RESULTS, compute_mean_and_half_width
from benchmarks.datasets.registry import load_dataset
from benchmarks.experiment import add_places, open_places, run_cells, write_table
from ssme.bench import Protocol, Runner, Scene, Study
from ssme.bench.runner import Truth
from ssme.data.scoreset import UNLABELED, ScoreSet
from ssme.methods.votes import cast_votes
from ssme.metrics.base import FloatArray, one_hot_mass
from ssme.results.evaluation import Evaluation
from ssme.results.groups import ALL

NAME = "civilcomments"
RARE, VOTES = (1, 2, 3, 4), range(1, 8)
UNIFORM, BUDGETS = (0.001, 0.1, 0.5), (10, 20, 50, 100)


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


def measure_hard_votes(result: Evaluation, truth: Truth) -> list[dict[str, Any]]:
    """What a cell keeps: the errors of a hard vote, by how many votes it needs."""
    data, rows = result.data, []
    votes = cast_votes(data.scores)[:, :, 1].sum(axis=1)
    for needed in VOTES:
        labels = np.where(data.labeled, data.labels, (votes >= needed).astype(np.int64))
        mass = one_hot_mass(labels, data.n_classes)
        for metric in result.metrics:
            error = find_error(metric.name, data.models, metric(data.scores, mass)[0], truth)
            rows.append({"metric": metric.name, "error": error, "votes": needed})
    return rows


def plan_studies(runs: int) -> list[Study]:
    """Labels alone by least number of rare labels, hard votes, active testing."""

    def plan(
        methods: dict[str, tuple[str, dict[str, Any]]], n_labeled: tuple[int, ...]
    ) -> Protocol:
        return Protocol(methods, METRICS[NAME], n_labeled, (N_UNLABELED,), runs)

    labeled: tuple[str, dict[str, Any]] = ("labeled", {"joint_draws": False})
    runners = [
        *(
            Runner(
                plan({f"labeled, {rare} or more rare labels": labeled}, (20,)),
                load_dataset,
                measure_errors,
                RareLabels(f"{rare} rare labels", rare),
            )
            for rare in RARE
        ),
        Runner(plan({"hard vote": labeled}, (20, 100)), load_dataset, measure_hard_votes),
        Runner(
            plan(
                {
                    f"active testing, uniform share {share}": ("active_testing", {"uniform": share})
                    for share in UNIFORM
                },
                BUDGETS,
            ),
            load_dataset,
            measure_errors,
        ),
    ]
    return [Study(runner, (NAME,)) for runner in runners]


def summarize(cells: pd.DataFrame, runs: int) -> pd.DataFrame:
    """One row per reading and number of labels: error and half width of every metric."""
    hard = cells["method"] == "hard vote"
    counted = "hard vote, " + cells["votes"].fillna(0).astype(int).astype(str) + " of 7"
    cells = cells.assign(reading=cells["method"].where(~hard, counted))
    rows = []
    for (reading, n_labeled), part in cells.groupby(["reading", "n_labeled"], sort=False):
        errors = {name: part.loc[part["metric"] == name, "error"] for name in METRICS[NAME]}
        told = {
            name: "{:.2f} ({:.2f})".format(*compute_mean_and_half_width(own.tolist()))
            if own.size
            else ""
            for name, own in errors.items()
        }
        rows.append({"reading": reading, "n_labeled": n_labeled, "runs": runs, **told})
    return pd.DataFrame(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=50)
    add_places(parser)
    args = parser.parse_args()
    with open_places(args) as executor:
        cells = run_cells(plan_studies(args.runs), "rivals_causes", executor)
    table = summarize(cells.rows, args.runs)
    write_table(RESULTS / "rivals_causes.csv", table, cells.times)


if __name__ == "__main__":
    main()
