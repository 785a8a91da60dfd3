"""What the studies of decisions share: arguments, splits, results.

    python -m benchmarks.decide.choices --runs 10 --minutes 5 --workers 2

A study is a function from a `Trial` to rows, one trial per set, number of labels and
run, and the tables that are made of all rows. The protocol engine runs it: finished cells are kept,
and a study that is stopped goes on where it was. One that is stopped by ``--minutes`` leaves out
the runs that are not whole. It sees the rows of `split_rows`: labeled and unlabeled rows
of one random half, the truth on the other half.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.auto.priors import SETS
from benchmarks.experiment import Loader, add_runs, run_whole, write_tables
from benchmarks.studies import Protocol, Runner, Scene, Study, Trial
from ssme.arrays import FloatArray
from ssme.data.scoreset import ScoreSet
from ssme.metrics.base import Metric, one_hot_mass
from ssme.results.evaluation import Evaluation
from ssme.run import evaluate

DEVELOPMENT = tuple(SETS)
"""The sets that `auto` was developed on."""
BINARY = tuple(
    name
    for name in DEVELOPMENT
    if name
    in {"adult", "adult_shift", "civilcomments", "diabetes_readmit", "hiv_molecules", "subj"}
)
"""Those of two classes."""
UNLABELED_ROWS = 1000


def evaluate_seen(seen: ScoreSet, trial: Trial, method: str, metrics: Any) -> Evaluation:
    """The evaluation of what a method sees, on all rows only."""
    return evaluate(seen, method=method, metrics=metrics, by=[], random_state=trial.run)


def compute_truth(metric: Metric, held: ScoreSet) -> FloatArray:
    """The metric (M,) of every classifier on held-out rows."""
    return metric(held.scores, one_hot_mass(held.labels, held.n_classes))[0]


def start_study(
    name: str,
    doc: str | None,
    compute: Callable[[Trial], list[dict[str, Any]]],
    summarize: Callable[[pd.DataFrame], dict[str, pd.DataFrame]],
    *,
    sets: Sequence[str] = DEVELOPMENT,
    labels: Sequence[int] = (20, 50, 100),
    runs: int = 10,
    rows: int | None = None,
    scene: Callable[[str], Scene] | None = None,
    marks: str = "",
) -> None:
    """Run a study from the command line and write its tables to ``benchmarks/results``.

    ``rows`` are those that are seen in all; by default there are 1,000 unlabeled ones beside the
    labeled ones, or as many as there are. ``scene`` finds that of a set by its name, in which
    ``marks`` may follow the name of the data.
    """
    parser = argparse.ArgumentParser(description=(doc or "").split("\n")[0])
    add_runs(parser, runs=runs, labels=labels)
    parser.add_argument("--sets", nargs="+", default=list(sets), help="data sets")
    parser.add_argument("--extra", type=Path, help="folder with further sets (npz files)")
    parser.add_argument("--extra-runs", type=int, default=8, help="splits of further sets")
    args = parser.parse_args()
    files = tuple(sorted(map(str, args.extra.glob("*.npz")))) if args.extra else ()
    further = [Path(file).stem for file in files]
    load = Loader(files, marks)
    planned = [(args.sets, args.runs), (further, min(args.runs, args.extra_runs))]
    studies = [
        Study(
            Runner(
                Protocol(
                    {name: (compute, {})},
                    n_labeled=(n_labeled,),
                    n_unlabeled=(UNLABELED_ROWS if rows is None else rows - n_labeled,),
                    runs=n_runs,
                    first_run=args.first_run,
                    fewer_unlabeled=rows is None,
                ),
                load,
                scene=Scene() if scene is None else scene(dataset),
            ),
            (dataset,),
        )
        for datasets, n_runs in planned
        for dataset in datasets
        for n_labeled in args.labels
        if n_runs > 0
    ]
    frame, times = run_whole(studies, name, args)
    tables = summarize(frame)
    write_tables(tables, times)
    for each, table in tables.items():
        print(f"\n{each}\n{table.round(4).to_string(index=False)}")


def average_with_error(frame: pd.DataFrame, by: list[str], columns: list[str]) -> pd.DataFrame:
    """Means of ``columns`` over splits, with the standard error between the splits."""
    splits = frame.groupby([*by, *[c for c in ("dataset", "run") if c not in by]])[columns].mean()
    grouped = splits.groupby(by)
    out = grouped.mean()
    for column in columns:
        out[f"{column}_se"] = grouped[column].std(ddof=1) / np.sqrt(grouped.size())
    return out.reset_index()
