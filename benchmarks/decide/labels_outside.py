"""How often do labels alone contradict an estimate, and what does widening its interval bring?

    python -m benchmarks.decide.labels_outside --runs 10

writes benchmarks/results/decide_labels_outside.csv: per number of labels and metric, over all
development sets,

    outside        share of estimates whose 95% interval does not contain the value of labels alone
    contradicted   share in which moreover the interval of labels alone does not contain the
                   estimate: `auto` widens these (D309)
    runs           share of runs with a contradicted estimate of this metric; of "any" metric
    covered        coverage of the interval as it was drawn, widened where contradicted, and widened
                   wherever labels alone are outside
    width          widths of the last two over the first, mean
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.decide.common import compute_truth, evaluate_seen, start_study
from benchmarks.studies import Trial

SHARES = [
    "outside",
    "contradicted",
    "covered",
    "covered_widened",
    "covered_if_outside",
    "width_widened",
    "width_if_outside",
]


def compute(trial: Trial) -> list[dict[str, Any]]:
    result = evaluate_seen(trial.seen, trial, "auto", None)
    rows = []
    for metric, estimate, alone in zip(
        result.metrics, result.estimates[0], result.labels_only[0], strict=True
    ):
        truth, value = compute_truth(metric, trial.held), alone.value
        low, high = replace(estimate, contains=None).interval()
        outside = (value < low) | (value > high)
        ends = {
            "": (low, high),
            "_widened": estimate.interval(),
            "_if_outside": (
                np.where(outside, np.minimum(low, value), low),
                np.where(outside, np.maximum(high, value), high),
            ),
        }
        cells = {
            "outside": outside,
            "contradicted": estimate.find_contradictions(alone),
            **{f"covered{k}": (a <= truth) & (truth <= b) for k, (a, b) in ends.items()},
            **{f"width{k}": (b - a) / (high - low) for k, (a, b) in ends.items() if k},
        }
        rows += [
            {"metric": metric.name} | {name: float(values[j]) for name, values in cells.items()}
            for j in np.flatnonzero(np.isfinite(truth) & (high > low))
        ]
    return rows


def summarize(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    both = pd.concat([frame.assign(metric="any"), frame])
    by = ["n_labeled", "metric"]
    table = both.groupby(by)[SHARES].mean()
    runs = both.groupby([*by, "dataset", "run"])["contradicted"].max().groupby(by).mean()
    table.insert(2, "runs", runs)
    table.insert(0, "estimates", both.groupby(by).size())
    return {"decide_labels_outside": table.reset_index()}


if __name__ == "__main__":
    start_study("decide_labels_outside", __doc__, compute, summarize, runs=10)
