"""Are paired differences, the set of possible best models, P(best), P(better) and regret right?

    python -m benchmarks.decide.choices --runs 10

Per split and metric (accuracy, and ROC AUC of two classes), `auto` and labels alone choose among
the models of each set; the truth is that of the held-out half. Written to benchmarks/results:

- decide_pairs.csv: coverage of the 95 % intervals of paired differences and of the 95 % set of
  possible best models (the set holds the truly best one), pooled and per set, by number of labels;
- decide_probabilities.csv: what was said against what was true, for P(best) of every model and
  P(better) of every pair, in bins of the probability said;
- decide_regret.csv: expected regret said, regret in truth, and how often its interval held it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from benchmarks.decide.common import Job, evaluated, splits_of, study, truth_of

METHODS = ("auto", "labeled")
BINS = np.array([0.0, 0.05, 0.2, 0.4, 0.6, 0.8, 0.95, 1.0 + 1e-9])


def compute(job: Job) -> list[dict[str, Any]]:
    seen, held = splits_of(job)
    names = ["accuracy", "roc_auc"] if seen.n_classes == 2 else ["accuracy"]
    rows: list[dict[str, Any]] = []
    for method in METHODS:
        r = evaluated(seen, job, method, names)
        for metric in r.metrics:
            true = dict(zip(seen.models, truth_of(metric, held), strict=True))
            at = {"method": method, "metric": metric.name}
            for one in r.compare(metric.name).rows:
                gap = true[one.a] - true[one.b]
                rows.append(
                    {
                        **at,
                        "what": "pair",
                        "covered": float(one.low <= gap <= one.high),
                        "said": one.p_better,
                        "true": 1.0 if gap > 0 else 0.5 if gap == 0 else 0.0,
                        "width": one.high - one.low,
                    }
                )
            choice = r.choose(metric.name)
            top = max(true.values())
            best = {name for name, value in true.items() if value == top}
            for each in choice.contenders:
                known = 1.0 / len(best) if each.model in best else 0.0
                rows.append({**at, "what": "best", "said": each.p_best, "true": known})
            regret = top - true[choice.pick]
            low, high = choice.regret_low - 1e-12, choice.regret_high + 1e-12
            rows.append(
                {
                    **at,
                    "what": "choice",
                    "covered": float(bool(best & set(choice.possible_best))),
                    "size": float(len(choice.possible_best)),
                    "picked": float(choice.pick in best),
                    "within": float(regret <= 0.01),
                    "said": choice.regret,
                    "true": regret,
                    "held": float(low <= regret <= high),
                    "p_within": choice.p_within,
                }
            )
    return rows


def summarize(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    by = ["method", "metric", "n_labeled"]
    pooled = frame.assign(dataset="all")
    both = pd.concat([pooled, frame])
    pairs = both[both["what"] == "pair"].groupby([*by, "dataset"])
    sets = both[both["what"] == "choice"].groupby([*by, "dataset"])
    covered = pd.DataFrame(
        {
            "pairs": pairs.size(),
            "pair_coverage": pairs["covered"].mean(),
            "pair_width": pairs["width"].mean(),
            "choices": sets.size(),
            "set_coverage": sets["covered"].mean(),
            "set_size": sets["size"].mean(),
        }
    ).reset_index()
    said = frame[frame["what"].isin(["pair", "best"])].copy()
    said["bin"] = pd.cut(said["said"], BINS, right=False).astype(str)
    groups = said.groupby(["method", "metric", "n_labeled", "what", "bin"])
    probabilities = pd.DataFrame(
        {"count": groups.size(), "said": groups["said"].mean(), "true": groups["true"].mean()}
    ).reset_index()
    chosen = sets[["said", "true", "held", "picked", "within", "p_within"]].mean().reset_index()
    return {
        "decide_pairs": covered,
        "decide_probabilities": probabilities,
        "decide_regret": chosen,
    }


if __name__ == "__main__":
    study("decide_choices", __doc__, compute, summarize, runs=10)
