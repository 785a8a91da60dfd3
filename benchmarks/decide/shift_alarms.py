"""How often is a shift between labeled and unlabeled rows found, with and without one?

    python -m benchmarks.decide.shift_alarms --runs 25

The shifts are those of `benchmarks.decide.shift`. benchmarks/results/decide_shift_alarms.csv has,
per set, shift and number of labels, the share of runs with an alarm (D104 or D108, and each alone),
and the share in which a correction was called safe.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from benchmarks.decide.common import Job, study
from benchmarks.decide.shift import SETS, SHIFTS, drawn_sets
from ssme.decide.shift import find_shift
from ssme.diagnostics.registry import ask_all


def compute(job: Job) -> list[dict[str, Any]]:
    rows = []
    for shift, (seen, _) in zip(SHIFTS, drawn_sets(job), strict=True):
        codes = {outcome.check.code for outcome in ask_all(seen) if outcome.doubt is not None}
        found = find_shift(seen)
        rows.append(
            {
                "shift": shift,
                "alarm": float(bool(codes & {"D104", "D108"})),
                "D104": float("D104" in codes),
                "D108": float("D108" in codes),
                "label_safe": float("label" in found.safe),
                "covariate_safe": float("covariate" in found.safe),
            }
        )
    return rows


def summarize(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    groups = pd.concat([frame.assign(dataset="all"), frame]).groupby(
        ["shift", "n_labeled", "dataset"]
    )
    table = groups[["alarm", "D104", "D108", "label_safe", "covariate_safe"]].mean()
    table.insert(0, "runs", groups.size())
    return {"decide_shift_alarms": table.reset_index()}


if __name__ == "__main__":
    study("decide_shift_alarms", __doc__, compute, summarize, sets=SETS, labels=(50,), runs=25)
