"""Are paired differences, the set of possible best models, P(best), P(better) and regret right?

    python -m benchmarks.decide.choices --first-run 20 --runs 25 --extra FOLDER

Per split and default metric, `auto` and labels alone choose among the models of each set; the truth
is that of the held-out half. ``--extra`` names a folder with further sets, those of
``benchmarks.auto.extra_sets``. Sets count alike: "development", "further" and "all" are means over
sets, and standard errors come from leaving out one set at a time, since the best of a set is one
fact for all its runs. Written to benchmarks/results:

- decide_pairs.csv: coverage of the 95% intervals of paired differences and of the 95% set of
  possible best models (the set holds the truly best one), by number of labels;
- decide_probabilities.csv: what was said against what was true, for P(best) of every model,
  P(better) of every pair (the one called better) and P(within) of the pick for three margins, in
  bins of the probability said;
- decide_regret.csv: expected regret said, regret in truth, and how often its interval held it.

`python -m benchmarks.decide.record` makes what the library says of itself from them, `python -m
benchmarks.quotes` the tables of benchmarks/evidence/deciding.md.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from benchmarks.decide.common import DEVELOPMENT, compute_truth, evaluate_seen, start_study
from benchmarks.decide.said import BY, tabulate_said
from benchmarks.studies import Trial
from ssme.metrics import default_metrics
from ssme.metrics.base import Metric
from ssme.results.evaluation import Evaluation
from ssme.results.reliability import MARGINS

METHODS = ("auto", "labeled")


def compute(trial: Trial) -> list[dict[str, Any]]:
    """What each method says of each metric on one split, beside the truth."""
    seen, held = trial.seen, trial.held
    rows: list[dict[str, Any]] = []
    for method in METHODS:
        r = evaluate_seen(seen, trial, method, default_metrics(seen.n_classes))
        for metric in r.metrics:
            true = dict(zip(seen.models, compute_truth(metric, held).tolist(), strict=True))
            at = {"method": method, "metric": metric.name}
            rows += [{**at, **row} for row in _judge(r, metric, true)]
    return rows


def _judge(r: Evaluation, metric: Metric, true: dict[str, float]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    sign = 1.0 if metric.greater_is_better else -1.0
    for one in r.compare(metric.name).rows:
        gap = true[one.a] - true[one.b]
        side = sign * gap if one.p_better_raw >= 0.5 else -sign * gap
        rows.append(
            {
                "what": "better",
                "covered": float(one.low <= gap <= one.high),
                "said": max(one.p_better_raw, 1.0 - one.p_better_raw),
                "true": 0.5 + 0.5 * float(np.sign(side)),
                "width": one.high - one.low,
            }
        )
    choice = r.choose(metric.name)
    top = max(sign * value for value in true.values())
    best = {name for name, value in true.items() if sign * value == top}
    for each in choice.contenders:
        known = 1.0 / len(best) if each.model in best else 0.0
        rows.append({"what": "best", "said": each.p_best_raw, "true": known})
    regret = top - sign * true[choice.pick]
    for margin in MARGINS:
        said = r.choose(metric.name, margin=margin).p_within_raw
        rows.append({"what": "within", "said": said, "true": float(regret <= margin)})
    low, high = choice.regret_low - 1e-12, choice.regret_high + 1e-12
    rows.append(
        {
            "what": "choice",
            "covered": float(bool(best & set(choice.possible_best))),
            "size": float(len(choice.possible_best)),
            "picked": float(choice.pick in best),
            "within": float(regret <= 0.01),
            "said": choice.regret,
            "true": regret,
            "held": float(low <= regret <= high),
            "p_within": choice.p_within_raw,
        }
    )
    return rows


def summarize(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The three tables."""
    near = frame["dataset"].isin(DEVELOPMENT)
    parts = {"development": frame[near], "further": frame[~near], "all": frame}
    kept = {name: part for name, part in parts.items() if len(part)}
    return {
        "decide_pairs": pd.concat([tabulate_coverage(part, n) for n, part in kept.items()]),
        "decide_probabilities": pd.concat([tabulate_said(part, n) for n, part in kept.items()]),
        "decide_regret": pd.concat([tabulate_regret(part, n) for n, part in kept.items()]),
    }


def tabulate_coverage(frame: pd.DataFrame, name: str) -> pd.DataFrame:
    """Coverage of differences and sets, mean over sets; and set by set, among all of them."""
    pairs, sets = frame[frame["what"] == "better"], frame[frame["what"] == "choice"]
    each = pd.DataFrame(
        {
            "pairs": pairs.groupby([*BY, "dataset"]).size(),
            "pair_coverage": pairs.groupby([*BY, "dataset"])["covered"].mean(),
            "pair_width": pairs.groupby([*BY, "dataset"])["width"].mean(),
            "choices": sets.groupby([*BY, "dataset"]).size(),
            "set_coverage": sets.groupby([*BY, "dataset"])["covered"].mean(),
            "set_size": sets.groupby([*BY, "dataset"])["size"].mean(),
        }
    )
    over = each.groupby(BY)
    mean = over.mean().assign(
        pairs=over["pairs"].sum(),
        choices=over["choices"].sum(),
        pair_se=over["pair_coverage"].sem(),
        set_se=over["set_coverage"].sem(),
        dataset=name,
    )
    rows = mean.reset_index()
    return pd.concat([rows, each.reset_index()]) if name == "all" else rows


def tabulate_regret(frame: pd.DataFrame, name: str) -> pd.DataFrame:
    """Regret said and true, mean over sets, with the error of the difference between sets."""
    chosen = frame[frame["what"] == "choice"]
    columns = ["said", "true", "held", "picked", "within", "p_within"]
    over = chosen.groupby([*BY, "dataset"])[columns].mean()
    over["off"] = over["said"] - over["true"]
    means = over.groupby(BY)[columns].mean().assign(off_se=over.groupby(BY)["off"].sem())
    return means.reset_index().assign(sets=name)


if __name__ == "__main__":
    start_study("decide_choices", __doc__, compute, summarize, runs=10)
