"""Judges: errors and intervals of the method ``answers`` beside others, on answers and ratings.

Kinds of cells, with 20 and 100 labels:

- answers: the development sets with only the predicted class of every classifier kept (1,000
  unlabeled rows, truth on the held-out half), and the sets of real judges in the folder
  ``answers`` of SSME_DATA (all rows, truth on all rows; sets with too few rows are left out);
- ratings: the binary development sets with scores cut into five grades, at fixed places or at the
  classifier's own quintiles, beside ``auto`` on the scores themselves;
- mixed: the development sets with every second classifier giving its class only;
- labels by class, not said and said: answers again, as many labels of each class;
- labels by score, said: answers again, labels among the third of the rows on which judges agree
  least.

Written to ``benchmarks/results``: answers_cells.csv (error / error of labels alone, coverage, width
/ width of labels alone, per set), answers_overall.csv (geometric mean over sets, lowest coverage of
a set, share of runs in which a world that is not the usual one is the likelier, which is warning
D306) and answers_ratings.csv: the error with grades over that with the scores they were cut from,
each the error of its own metric (that of the grades, cut at the fourth, ties counting half in the
AUC; that of the scores), in points and relative to labels alone, and the set with the largest. It
stops after ``--minutes``, with as many whole runs as there was time for.

    python -m benchmarks.answers.study --runs 8 --workers 2 --minutes 20
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.answers.scenes import BINARY, JUDGED, find_scene, load_set
from benchmarks.auto.priors import SETS
from benchmarks.experiment import add_runs, run_whole, write_tables
from benchmarks.studies import Protocol, Runner, Study, Trial, Work
from ssme.arrays import FloatArray
from ssme.methods.registry import get_method
from ssme.metrics import get_metric
from ssme.metrics.base import one_hot_mass

LARGEST_SHARE = 0.6
"""Sets of judges are used with labels on at most this share of their rows."""

METHODS = {
    "answers": ("answers", "dawid_skene", "majority_vote", "ppi"),
    "fixed grades": ("answers",),
    "quintile grades": ("answers",),
    "scores": ("auto",),
    "mixed": ("answers",),
    "labels by class": ("answers",),
    "labels by class, said": ("answers",),
    "labels by score, said": ("answers",),
}
KINDS: dict[str, Sequence[str]] = {
    "answers": (*SETS, *JUDGED),
    "fixed grades": BINARY,
    "quintile grades": BINARY,
    "scores": BINARY,
    "mixed": SETS,
    "labels by class": SETS,
    "labels by class, said": SETS,
    "labels by score, said": SETS,
}
"""The sets of each kind of cell."""


def measure(trial: Trial, kind: str) -> list[dict[str, Any]]:
    """One row per method and metric, means over the judges that have a labeled answer."""
    if trial.n_labeled > LARGEST_SHARE * trial.data.n_rows:
        return []
    names = ["accuracy"]
    if kind in ("fixed grades", "quintile grades", "scores"):
        names.append("roc_auc")
    metrics = [get_metric(name) for name in names]
    seen, held = trial.seen, trial.held
    mass = one_hot_mass(held.labels, held.n_classes)
    truth: list[FloatArray] = [metric(held.scores, mass)[0] for metric in metrics]
    labeled = get_method("labeled", joint_draws=False)
    alone = labeled.fit(seen, np.random.default_rng(trial.run)).estimate(metrics, [None])[0]
    rows = []
    for name in METHODS[kind]:
        start = time.process_time()
        belief = get_method(name).fit(seen, np.random.default_rng(trial.run))
        estimates = belief.estimate(metrics, [None])[0]
        seconds = time.process_time() - start
        odd = sum(chance for chance, _ in belief.facts.other_worlds.values()) >= 0.5
        for metric, exact, ours, labels in zip(metrics, truth, estimates, alone, strict=True):
            (low, high), (labels_low, labels_high) = ours.interval(), labels.interval()
            known = np.isfinite(labels.value) & np.isfinite(exact)
            rows.append(
                {
                    "kind": kind,
                    "method": name,
                    "metric": metric.name,
                    "error": np.abs(ours.value - exact)[known].mean(),
                    "labels_error": np.abs(labels.value - exact)[known].mean(),
                    "covered": ((low <= exact) & (exact <= high))[known].mean(),
                    "width": (high - low)[known].mean(),
                    "labels_width": (labels_high - labels_low)[known].mean(),
                    "odd": float(odd),
                    "seconds": seconds,
                }
            )
    return rows


CELL = ["kind", "method", "metric", "n_labeled", "dataset"]


def summarize(frame: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Cells per set, and all sets together."""
    sums = frame.groupby(CELL, sort=False)[
        ["error", "labels_error", "covered", "width", "labels_width", "odd", "seconds"]
    ].mean()
    sums["rmae"] = sums["error"] / sums["labels_error"]
    sums["width_ratio"] = sums["width"] / sums["labels_width"]
    sums["runs"] = frame.groupby(CELL, sort=False)["run"].nunique()
    cells = sums.reset_index()
    rows = []
    for key, part in cells.groupby(CELL[:-1], sort=False):
        lowest = part.loc[part["covered"].idxmin()] if part["covered"].notna().any() else None
        rows.append(
            {
                **dict(zip(CELL[:-1], key, strict=True)),
                "sets": len(part),
                "rmae": float(np.exp(np.log(part["rmae"]).mean())),
                "covered": part["covered"].mean(),
                "lowest_covered": None if lowest is None else lowest["covered"],
                "lowest_set": None if lowest is None else lowest["dataset"],
                "width_ratio": part["width_ratio"].mean(),
                "odd": part["odd"].mean(),
                "seconds": part["seconds"].mean(),
                "runs": int(part["runs"].min()),
            }
        )
    return cells, pd.DataFrame(rows)


def compare_ratings(cells: pd.DataFrame) -> pd.DataFrame:
    """Error with grades over that with scores: in points, relative to labels, and where worst."""
    keys = ["metric", "n_labeled", "dataset"]
    scores = cells[cells["kind"] == "scores"].set_index(keys)[["error", "rmae"]]
    rows = []
    for kind in ("fixed grades", "quintile grades"):
        rated = cells[cells["kind"] == kind].set_index(keys)[["error", "rmae"]]
        both = (rated / scores).dropna()
        for (metric, n_labeled), part in both.groupby(level=["metric", "n_labeled"]):
            worst = part["error"].idxmax()[2]
            means = np.exp(np.log(part).mean())
            rows.append(
                {
                    "kind": kind,
                    "metric": metric,
                    "n_labeled": n_labeled,
                    "error_ratio": means["error"],
                    "rmae_ratio": means["rmae"],
                    "worst_set": worst,
                    "worst_error_ratio": part["error"].max(),
                }
            )
    return pd.DataFrame(rows)


def plan_studies(
    work: Work,
    kinds: dict[str, Sequence[str]],
    sets: Iterable[str],
    labels: Sequence[int],
    runs: range,
) -> list[Study]:
    """``work`` on those of ``sets`` that each of ``kinds`` has, 1,000 unlabeled rows at most."""
    return [
        Study(
            Runner(
                Protocol(
                    {kind: (work, {"kind": kind})},
                    n_labeled=tuple(labels),
                    n_unlabeled=(1000,),
                    runs=len(runs),
                    first_run=runs.start,
                    fewer_unlabeled=True,
                ),
                load_set,
                scene=find_scene(kind, name),
            ),
            (name,),
        )
        for kind, own in kinds.items()
        for name in own
        if name in sets
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    add_runs(parser, runs=8, labels=(20, 100), minutes=60.0)
    parser.add_argument("--sets", nargs="+", default=[*SETS, *JUDGED], help="data sets")
    parser.add_argument("--name", default="answers", help="first part of the names of the results")
    args = parser.parse_args()
    runs = range(args.first_run, args.first_run + args.runs)
    studies = plan_studies(measure, KINDS, args.sets, args.labels, runs)
    frame, times = run_whole(studies, args.name, args)
    cells, overall = summarize(frame)
    tables = {"cells": cells, "overall": overall, "ratings": compare_ratings(cells)}
    left_out = ["error", "width", "labels_width"]
    write_tables(
        {
            f"{args.name}_{part}": table.drop(columns=left_out, errors="ignore")
            for part, table in tables.items()
        },
        times,
        digits=4,
    )
    print(overall.round(3).to_string(index=False))


if __name__ == "__main__":
    main()
