"""How optimistic is a metric at the threshold that was chosen by it?

    python -m benchmarks.decide.thresholds --runs 10

writes benchmarks/results/decide_thresholds.csv: per method, number of labels and goal, over sets of
two classes and all their models, the mean of (plain estimate at the chosen threshold - truth
there) and of (reported estimate - truth), signed so that positive is too good; the coverage of the
reported interval; how much is lost against the best threshold in truth; and how often a demand
holds in truth beside the probability that was said.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from benchmarks.decide.common import (
    BINARY,
    average_with_error,
    compute_truth,
    evaluate_seen,
    start_study,
)
from benchmarks.studies import Trial
from ssme.metrics import at_threshold, expected_cost
from ssme.results.thresholds import read_goal

METHODS = ("auto", "labeled", "ensemble")
GOALS: dict[str, Any] = {
    "cost 1:5": expected_cost([[0.0, 1.0], [5.0, 0.0]]),
    "f1": "f1",
    "recall>=0.8": "recall>=0.8",
}


def compute(trial: Trial) -> list[dict[str, Any]]:
    seen, held = trial.seen, trial.held
    rows = []
    for method in METHODS:
        r = evaluate_seen(seen, trial, method, "accuracy")
        for name, goal in GOALS.items():
            aim = read_goal(goal)
            sign = 1.0 if aim.best.greater_is_better else -1.0
            for j, pick in enumerate(r.choose_thresholds(goal).picks):
                if np.isnan(pick.threshold):
                    continue
                for at, metric in zip(pick.metrics, (aim.best, aim.demand), strict=False):
                    true = compute_truth(at_threshold(metric, pick.threshold), held)[j]
                    demanded = metric is aim.demand
                    direction = 1.0 if demanded else sign
                    rows.append(
                        {
                            "method": method,
                            "goal": name,
                            "metric": at.metric,
                            "plain_too_good": direction * (at.estimate - true) + at.optimism,
                            "reported_too_good": direction * (at.estimate - true),
                            "plain_error": abs(at.estimate + direction * at.optimism - true),
                            "reported_error": abs(at.estimate - true),
                            "covered": float(at.low <= true <= at.high),
                            "said": pick.p_demand if demanded else np.nan,
                            "held": float(true >= aim.limit) if demanded else np.nan,
                        }
                    )
    return rows


def summarize(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    columns = ["plain_too_good", "reported_too_good", "plain_error", "reported_error"]
    by = ["method", "goal", "metric", "n_labeled"]
    return {
        "decide_thresholds": average_with_error(frame, by, [*columns, "covered", "said", "held"])
    }


if __name__ == "__main__":
    start_study("decide_thresholds", __doc__, compute, summarize, sets=BINARY, runs=10)
