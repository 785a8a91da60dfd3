"""What the studies of decisions share: arguments, splits, jobs run by run, results.

    python -m benchmarks.decide.pairs --runs 10 --minutes 5 --workers 2

Jobs are computed run by run. A study that is stopped by ``--minutes`` leaves out the run that it
was in the middle of, unless it is the first. It sees the rows of `ssme.bench.split_rows`: labeled
and unlabeled rows of one random half, the truth on the other half.
"""

from __future__ import annotations

import argparse
import math
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.auto.priors import SETS
from benchmarks.experiment import RESULTS
from benchmarks.provenance import record
from ssme.bench import seen_rows, split_rows
from ssme.bench.provenance import describe_process
from ssme.data.scoreset import ScoreSet
from ssme.datasets.registry import load_dataset
from ssme.engines.executors import map_in_order, open_executor
from ssme.evaluation import Evaluation
from ssme.metrics.base import FloatArray, Metric, one_hot_mass
from ssme.run import evaluate

__all__ = [
    "BINARY",
    "DEVELOPMENT",
    "Job",
    "load",
    "mean_with_error",
    "splits_of",
    "study",
    "truth_of",
]

DEVELOPMENT = tuple(SETS)
"""The sets that `auto` was developed on."""
BINARY = tuple(
    name
    for name in DEVELOPMENT
    if name
    in {"adult", "adult_shift", "civilcomments", "diabetes_readmit", "hiv_molecules", "subj"}
)
"""Those of two classes."""


@dataclass(frozen=True)
class Job:
    """One split: a set, a number of labels and a run."""

    dataset: str
    n_labeled: int
    run: int
    n_unlabeled: int = 1000


@lru_cache(maxsize=16)
def load(name: str) -> ScoreSet:
    """A named data set, or the one in a npz file."""
    return ScoreSet.read(name) if name.endswith(".npz") else load_dataset(name)


def splits_of(job: Job) -> tuple[ScoreSet, ScoreSet]:
    """What a method sees in a job, and the held-out rows with all their labels."""
    data = load(job.dataset)
    unlabeled = min(job.n_unlabeled, len(data.labels) // 2 - job.n_labeled)
    split = split_rows(
        data.labels, job.n_labeled, unlabeled, job.run, seed=0, dataset=Path(job.dataset).stem
    )
    return seen_rows(data, split), data.take(split.truth)


def evaluated(seen: ScoreSet, job: Job, method: str, metrics: Any, **options: Any) -> Evaluation:
    """The evaluation of what a method sees, on all rows only."""
    return evaluate(seen, method=method, metrics=metrics, by=[], random_state=job.run, **options)


def truth_of(metric: Metric, held: ScoreSet) -> FloatArray:
    """The metric (M,) of every classifier on held-out rows."""
    values: FloatArray = metric(held.scores, one_hot_mass(held.labels, held.n_classes))[0]
    return values


def study(
    name: str,
    doc: str | None,
    compute: Callable[[Job], list[dict[str, Any]]],
    summarize: Callable[[pd.DataFrame], dict[str, pd.DataFrame]],
    *,
    sets: Sequence[str] = DEVELOPMENT,
    labels: Sequence[int] = (20, 50, 100),
    runs: int = 10,
) -> None:
    """Run a study from the command line and write its tables to ``benchmarks/results``."""
    parser = argparse.ArgumentParser(description=(doc or "").split("\n")[0])
    parser.add_argument("--runs", type=int, default=runs, help="random splits")
    parser.add_argument("--first-run", type=int, default=0, help="number of the first split")
    parser.add_argument("--minutes", type=float, default=math.inf, help="begin nothing after")
    parser.add_argument("--workers", type=int, default=2, help="processes")
    parser.add_argument("--sets", nargs="+", default=list(sets), help="data sets")
    parser.add_argument("--labels", nargs="+", type=int, default=list(labels))
    parser.add_argument("--extra", type=Path, help="folder with further sets (npz files)")
    parser.add_argument("--extra-runs", type=int, default=8, help="splits of further sets")
    args = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    end = time.monotonic() + 60.0 * args.minutes
    further = sorted(map(str, args.extra.glob("*.npz"))) if args.extra else []
    planned = [
        Job(name, n, args.first_run + i)
        for i in range(args.runs)
        for name in [*args.sets, *(further if i < args.extra_runs else [])]
        for n in args.labels
    ]
    jobs = takewhile(lambda _: time.monotonic() < end, planned)
    rows, times = [], []
    with open_executor("processes", workers=args.workers) as pool:
        for found, seconds in map_in_order(pool, _Timed(compute), jobs, ahead=2 * args.workers):
            rows.append(found)
            times.append({**describe_process(), "seconds": seconds})
    kept = len(rows)
    if kept < len(planned):
        broken = planned[kept].run
        whole = sum(job.run < broken for job in planned)
        print(
            f"stopped after {broken - args.first_run} whole runs: {args.minutes:g} minutes are over"
        )
        kept = whole or kept
    rows, times = [row for found in rows[:kept] for row in found], times[:kept]
    tables = summarize(pd.DataFrame(rows))
    for each, table in tables.items():
        path = RESULTS / f"{each}.csv"
        table.to_csv(path, index=False, float_format="%.5g")
        record(path, None, pd.DataFrame(times))
        print(f"\n{each}\n{table.round(4).to_string(index=False)}")


@dataclass(frozen=True)
class _Timed:
    compute: Callable[[Job], list[dict[str, Any]]]

    def __call__(self, job: Job) -> tuple[list[dict[str, Any]], float]:
        start = time.perf_counter()
        rows = self.compute(job)
        place = {"dataset": Path(job.dataset).stem, "n_labeled": job.n_labeled, "run": job.run}
        return [{**place, **row} for row in rows], time.perf_counter() - start


def mean_with_error(frame: pd.DataFrame, by: list[str], columns: list[str]) -> pd.DataFrame:
    """Means of ``columns`` over splits, with the standard error between the splits."""
    splits = frame.groupby([*by, *[c for c in ("dataset", "run") if c not in by]])[columns].mean()
    grouped = splits.groupby(by)
    out = grouped.mean()
    for column in columns:
        out[f"{column}_se"] = grouped[column].std(ddof=1) / np.sqrt(grouped.size())
    return out.reset_index()
