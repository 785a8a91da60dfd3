"""How far differences are drawn towards the estimated one for P(better): factors tried.

The factor of a kind of metric (`RecenteringConstants.pairs`) is the one with the least log score of
P(better) on runs 0 to 9 of the development sets. Runs 10 to 24 and the further sets, which it was
not chosen with, are beside it. Factors are those that are applied, after fading. P(best) from draws
that are drawn towards the estimates alike is scored too; it has no factor, since its score hardly
gains and favorites, which are too sure as it is, become surer. Written to
``benchmarks/results``: auto_pair_factors.csv, log scores by runs, metric and factor.

    python -m benchmarks.auto.pair_factors --workers 15 --extra extra
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.auto.priors import SETS
from benchmarks.auto.study import compute, plan_study, study_arguments, write
from ssme.bench.runner import Truth
from ssme.evaluation import Evaluation
from ssme.results.comparison import compute_probability_best, compute_probability_better
from ssme.results.groups import ALL

FACTORS = tuple(round(0.5 + 0.05 * i, 2) for i in range(13))
LEAST = 0.0025
"""Least probability in the log score: half of one of 200 draws."""
FITTED = 10
"""Runs from this one on are not fitted on."""


def measure_factors(result: Evaluation, truth: Truth) -> list[dict[str, Any]]:
    """What a cell keeps: per metric and factor, pairs and the sum of their log scores."""
    rows = []
    for metric, estimate in zip(result.metrics, result.estimates[0], strict=True):
        exact = np.array([truth[ALL, metric.name, model] for model in result.data.models])
        first, second = np.triu_indices(exact.size, 1)
        larger = exact[first] > exact[second]
        best = exact == (exact.max() if metric.greater_is_better else exact.min())
        for factor in FACTORS:
            drawn = replace(estimate, pair_factor=factor)
            said = compute_probability_better(drawn, True)[first, second]
            of_truth = np.clip(np.where(larger, said, 1.0 - said), LEAST, 1.0 - LEAST)
            score = float(-np.log(of_truth).sum())
            towards = estimate.value + factor * (estimate.draws - estimate.value)
            leads = compute_probability_best(towards, bool(metric.greater_is_better))
            of_best = float(-np.log(max(leads[best].sum(), LEAST)))
            one = {"metric": metric.name, "factor": factor, "pairs": first.size, "score": score}
            rows.append({**one, "best_score": of_best})
    return rows


def tabulate(frame: pd.DataFrame, sets: str) -> pd.DataFrame:
    """Mean log scores of pairs and of the best, by metric and factor; sets count alike."""
    cells = frame.groupby(["metric", "factor", "dataset"])
    sums, best = cells[["pairs", "score"]].sum(), cells["best_score"].mean()
    scores = pd.DataFrame({"log_score": sums["score"] / sums["pairs"], "log_score_best": best})
    return scores.groupby(["metric", "factor"]).mean().reset_index().assign(sets=sets)


def main() -> None:
    parser = study_arguments(__doc__, runs=25, labels=[20, 50, 100])
    parser.add_argument("--extra", type=Path, help="folder with the sets of extra_sets.py")
    args = parser.parse_args()
    shipped: dict[str, dict[str, Any]] = {"auto": {}}
    plain = plan_study(shipped, list(SETS), args.labels, range(args.runs), measure=measure_factors)
    frame = compute([plain], "auto_pair_factors", args.workers)
    tables = [
        tabulate(frame[frame["run"] < FITTED], f"development, runs 0 to {FITTED - 1}"),
        tabulate(frame[frame["run"] >= FITTED], f"development, runs from {FITTED}"),
    ]
    if args.extra:
        names = sorted(map(str, args.extra.glob("*.npz")))
        further = plan_study(shipped, names, args.labels, range(6), measure=measure_factors)
        tables.append(tabulate(compute([further], "auto_pair_factors", args.workers), "further"))
    table = pd.concat([part for part in tables if len(part)])
    write("auto_pair_factors", table)
    for score in ("log_score", "log_score_best"):
        wide = table.pivot_table(index=["sets", "metric"], columns="factor", values=score)
        print(score, wide.round(4).to_string(), sep="\n")


if __name__ == "__main__":
    main()
