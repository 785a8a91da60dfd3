"""How far draws are drawn towards the estimates for P(better), and the exponent of P(best).

The factor of a kind of metric (`RecenteringConstants.pairs`) is the one with the least log score of
P(better) on runs 0 to 9 of the development sets. Runs 10 to 24 and the further sets, which it was
not chosen with, are beside it. The exponent (`RecenteringConstants.best`) is one for all kinds; it
was chosen on the log score of P(best) over development and further sets together, each set
counting alike. Factors and exponents are those that are applied, after fading. Written to
``benchmarks/results``: auto_pair_factors.csv, log scores of pairs by sets, metric and factor;
auto_best_exponents.csv, log scores of the best by sets, metric and exponent, with the factors as
they are shipped; "draws" are the draws as they are, without factor and exponent.

    python -m benchmarks.auto.pair_factors --workers 15 --extra extra
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.auto.priors import SETS
from benchmarks.auto.study import compute, make_parser, plan_study, write
from ssme.bench.runner import Truth
from ssme.results.comparison import compute_probability_best, compute_probability_better
from ssme.results.evaluation import Evaluation
from ssme.results.groups import ALL

FACTORS = tuple(round(0.5 + 0.05 * i, 2) for i in range(13))
EXPONENTS = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5)
LEAST = 0.0025
"""Least probability in the log score: half of one of 200 draws."""
FITTED = 10
"""Runs from this one on are not fitted on."""


def measure_factors(result: Evaluation, truth: Truth) -> list[dict[str, Any]]:
    """What a cell keeps: log scores per metric, of pairs by factor and of the best by exponent."""
    rows = []
    for metric, estimate in zip(result.metrics, result.estimates[0], strict=True):
        exact = np.array([truth[ALL, metric.name, model] for model in result.data.models])
        upwards = bool(metric.greater_is_better)
        first, second = np.triu_indices(exact.size, 1)
        larger = exact[first] > exact[second]
        best = exact == (exact.max() if upwards else exact.min())
        for factor in FACTORS:
            drawn = replace(estimate, pair_factor=factor)
            said = compute_probability_better(drawn, True)[first, second]
            of_truth = np.clip(np.where(larger, said, 1.0 - said), LEAST, 1.0 - LEAST)
            score = float(-np.log(of_truth).mean())
            rows.append({"metric": metric.name, "what": "factor", "value": factor, "score": score})
        tried = {str(e): replace(estimate, best_exponent=e) for e in EXPONENTS}
        tried["draws"] = replace(estimate, pair_factor=1.0, best_exponent=1.0)
        for value, drawn in tried.items():
            leads = compute_probability_best(drawn, upwards)
            score = float(-np.log(max(leads[best].sum(), LEAST)))
            row = {"metric": metric.name, "what": "exponent", "value": value, "score": score}
            rows.append(row)
    return rows


def tabulate(frame: pd.DataFrame, sets: str) -> pd.DataFrame:
    """Mean log scores by what was tried; sets count alike."""
    by = ["what", "metric", "value"]
    each = frame.groupby([*by, "dataset"])["score"].mean()
    return each.groupby(by).mean().rename("log_score").reset_index().assign(sets=sets)


def main() -> None:
    parser = make_parser(__doc__, runs=25, labels=[20, 50, 100])
    parser.add_argument("--extra", type=Path, help="folder with the sets of extra_sets.py")
    args = parser.parse_args()
    shipped: dict[str, dict[str, Any]] = {"auto": {}}
    plain = plan_study(shipped, list(SETS), args.labels, range(args.runs), measure=measure_factors)
    names = sorted(map(str, args.extra.glob("*.npz"))) if args.extra else []
    further = plan_study(shipped, names, args.labels, range(6), measure=measure_factors)
    every, times = compute([plain, further], "auto_pair_factors", args.workers)
    frame, more = (every[every["dataset"].isin(SETS) == near] for near in (True, False))
    tables = [
        tabulate(frame[frame["run"] < FITTED], f"development, runs 0 to {FITTED - 1}"),
        tabulate(frame[frame["run"] >= FITTED], f"development, runs from {FITTED}"),
    ]
    if names:
        tables += [tabulate(more, "further"), tabulate(every, "all")]
    table = pd.concat([part for part in tables if len(part)])
    for what, name in (("factor", "auto_pair_factors"), ("exponent", "auto_best_exponents")):
        part = table[table["what"] == what].drop(columns="what").rename(columns={"value": what})
        write({name: part}, times)
        wide = part.pivot_table(index=["sets", "metric"], columns=what, values="log_score")
        print(name, wide.round(4).to_string(), sep="\n")


if __name__ == "__main__":
    main()
