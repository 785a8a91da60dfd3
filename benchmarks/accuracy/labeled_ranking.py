"""P(a better than b) from labels alone: of pairs called with 0.9 or more, how many truly are?

    python -m benchmarks.accuracy.labeled_ranking --runs 8

The SSME paper's protocol (`ssme.bench`) without unlabeled rows; the truth is the metric on at most
30,000 rows of the other half. Writes benchmarks/results/labeled_ranking.csv: metric, n_labeled,
pairs called, share right, mean called probability, over the real sets (SSME_DATA).
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
import pandas as pd
from tests.shared_data import set_names

from benchmarks.accuracy.labeled_intervals import N_LABELED, TORTURE, load_scores
from benchmarks.experiment import RESULTS, add_places, open_places, run_cells, write_table
from benchmarks.studies import Protocol, Runner, Study
from ssme.bench.runner import Truth
from ssme.results.comparison import compute_probability_better
from ssme.results.evaluation import Evaluation
from ssme.results.groups import ALL

TRUTH_ROWS = 30_000
CALLED = 0.9


def count_calls(result: Evaluation, truth: Truth) -> list[dict[str, Any]]:
    """What a cell keeps: per metric, pairs that are called, those that are right, said in all."""
    rows = []
    for metric, got in zip(result.metrics, result.estimates[0], strict=True):
        exact = np.array([truth[ALL, metric.name, model] for model in result.data.models])
        better = compute_probability_better(got, bool(metric.greater_is_better))
        gap = exact[:, None] - exact[None, :]
        right = gap > 0 if metric.greater_is_better else gap < 0
        called = better >= CALLED
        found = {"called": int(called.sum()), "right": int(right[called].sum())}
        rows.append({"metric": metric.name, **found, "said": float(better[called].sum())})
    return rows


def plan_study(sets: list[str], runs: int) -> Study:
    """`labeled` on each set, by the metrics that are estimated where none is asked for."""
    protocol = Protocol(
        {"labeled": ("labeled", {"n_draws": 400})},
        n_labeled=N_LABELED,
        n_unlabeled=(0,),
        runs=runs,
        truth_rows=TRUTH_ROWS,
    )
    return Study(Runner(protocol, load_scores, count_calls), tuple(sets))


def summarize(cells: pd.DataFrame) -> pd.DataFrame:
    """Share right and mean probability of all pairs called, by metric and number of labels."""
    sums = cells.groupby(["metric", "n_labeled"])[["called", "right", "said"]].sum()
    shares = sums[["right", "said"]].div(sums["called"], axis=0).round(3)
    found = sums[["called"]].join(shares.rename(columns={"said": "mean_probability"}))
    return found.reset_index()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=8)
    parser.add_argument("--sets", nargs="*", default=None)
    add_places(parser)
    options = parser.parse_args()
    sets = options.sets or [name for name in set_names() if name not in TORTURE]
    with open_places(options) as executor:
        study = plan_study(sets, options.runs)
        cells = run_cells([study], "labeled_ranking", executor)
    table = summarize(cells.rows)
    write_table(RESULTS / "labeled_ranking.csv", table, cells.times)
    print(table.to_string(index=False))


if __name__ == "__main__":
    main()
