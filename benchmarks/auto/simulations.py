"""Simulated worlds in which an earlier `auto` failed: does it now hold, or say that it may not?

    python -m benchmarks.auto.simulations --runs 12

One family of classifiers (correlation 0.9, oversure or calibrated), a hundred classifiers, ones
that err independently, independent judges of two classes, a rare class, positives three times
rarer than those trained on. ``benchmarks/results/auto_simulations.csv`` has, per world and number
of labels: the error relative to labels alone, coverage of 95% intervals and width; the share of
runs that *fail*, in which fewer than 88% of the intervals hold; and the share of the runs, and of
those that fail, with a warning that is more than a note. Constants were not chosen on them.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd

from benchmarks.auto.made_worlds import SIMULATED
from benchmarks.auto.stress import StressScene, load_world
from benchmarks.auto.study import compute, compute_rmae, make_parser, plan_study, write
from benchmarks.corpus.study import measure

HELD = 0.88
"""A run fails where a smaller share of its intervals holds."""

CELL = ["n_labeled", "world"]


def tabulate(frame: pd.DataFrame) -> pd.DataFrame:
    """A line per world and number of labels."""
    frame = frame.rename(columns={"dataset": "world"})
    frame = frame.assign(warned=frame["warnings"].ne(""))
    runs = frame.groupby([*CELL, "run"])[["covered", "best_covered", "warned"]].mean()
    runs["failed"] = runs["covered"] < HELD
    sums = frame.groupby(CELL)[["width", "labels_width"]].mean()
    out = runs.groupby(CELL)[["covered", "best_covered", "failed", "warned"]].mean()
    out["warned_if_failed"] = runs[runs["failed"]].groupby(CELL)["warned"].mean()
    cells = compute_rmae(frame.rename(columns={"world": "dataset"}))
    logs = np.log(cells["rmae"]).groupby([cells["n_labeled"], cells["dataset"]]).mean()
    out.insert(0, "rmae", np.exp(logs).rename_axis(CELL))
    out["width_ratio"] = sums["width"] / sums["labels_width"]
    out["runs"] = runs.groupby(CELL).size()
    return out.reset_index()


def main() -> None:
    args = make_parser(__doc__, runs=12, labels=[20, 100]).parse_args()
    plan = partial(plan_study, {"auto": {}}, labels=args.labels, runs=range(args.runs))
    studies = [
        plan(names=[name], measure=measure, scene=StressScene(name), load=load_world)
        for name in SIMULATED
    ]
    found = compute(studies, "auto_simulations", args.workers, leave_out=True)
    table = tabulate(found.rows)
    write({"auto_simulations": table}, found.times)
    print(table.round(3).to_string(index=False))


if __name__ == "__main__":
    main()
