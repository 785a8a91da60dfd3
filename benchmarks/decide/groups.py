"""Groups: do their intervals hold, down to how many rows, and do those of their gaps?

1,000 unlabeled rows beside 20, 50 or 100 labels. For the target "population" the truth is the
metric on all rows of the group that were not seen, where it has 20 rows of each class if the metric
needs classes; for "rows" it is the metric on the rows that were seen. Groups of a gap have 30 rows
or more (smaller ones are put together); its truth is that of the same groups on the rows that were
not seen. P(worst) of a group is held against whether it is the worst one on these rows, for every
model, where every group of the grouping has 20 such rows (of each class, if the metric needs them).

The constants of `ssme.groups` were chosen on adult at 20 labels, runs 0 to 3, and the exponent of
P(worst) on runs 5 to 7 of three sets at 50 labels; runs from 8 on had no part in any of it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from benchmarks.decide.common import start_study
from benchmarks.decide.said import tabulate_said
from benchmarks.studies import Trial
from ssme.arrays import FloatArray
from ssme.data.grouping import Pooling, divide, parse_group_by
from ssme.data.scoreset import ScoreSet
from ssme.metrics import get_metric
from ssme.metrics.base import Metric, one_hot_mass
from ssme.metrics.kinds import Decision
from ssme.results.evaluation import Evaluation
from ssme.results.groups import make_mean_bias
from ssme.run import evaluate

GROUPINGS = {
    "adult": ("sex", "race", "age:edges=20/30/40/50/60/70/80", "sex+race"),
    "adult_shift": ("sex", "race"),
    "diabetes_readmit": ("gender", "race", "age"),
    "mmlupro_llm_logit": ("category",),
    "multinli": ("attribute",),
}
METRICS = {2: ("accuracy", "ece", "roc_auc", "average_precision")}
KINDS = ("difference", "ratio", "equal_opportunity", "equalized_odds", "calibration")
SIZES = (0, 9, 29, 99, 299, 10**9)
SIZE_NAMES = ("1 to 9", "10 to 29", "30 to 99", "100 to 299", "300 and more")
LEAST_OF_CLASS = 20
LEAST_ROWS_OF_GAP = 30


def compute(trial: Trial) -> list[dict[str, Any]]:
    """All intervals of one split, of groups and of gaps, and P(worst), beside the truth."""
    data, seen, split = trial.data, trial.seen, trial.split
    shown = np.concatenate([split.labeled, split.unlabeled])
    held, known = data.take(np.setdiff1d(np.arange(data.n_rows), shown)), trial.rows
    by = GROUPINGS[trial.dataset]
    asked: dict[str, Any] = {"by": list(by), "random_state": trial.run}
    names = METRICS.get(seen.n_classes, ("accuracy", "ece"))
    people = evaluate(seen, metrics=list(names), **asked)
    rows = evaluate(seen, metrics=list(names), group_target="rows", **asked)
    leading = ["accuracy", "roc_auc"] if seen.n_classes == 2 else ["accuracy"]
    larger = evaluate(seen, metrics=leading, min_group_rows=LEAST_ROWS_OF_GAP, **asked)
    return [
        *_judge_groups(people, held, by, "population"),
        *_judge_groups(rows, known, by, "rows"),
        *_judge_worst(people, held, by),
        *_judge_gaps(larger, held),
        *_judge_worst(larger, held, by),
    ]


def _judge_groups(
    result: Evaluation, truth: ScoreSet, by: tuple[str, ...], target: str
) -> list[dict[str, Any]]:
    names = [metric.name for metric in result.metrics]
    table = {(row["group"], row["metric"], row["model"]): row for row in result.rows()}
    found = []
    for text in by:
        for group, inside in _find_rows(truth, text).items():
            for name in names:
                least = LEAST_OF_CLASS if target == "population" else 1
                values = _compute_truth(get_metric(name), truth, inside, least)
                for model, value in zip(truth.models, values, strict=True):
                    row = table.get((group, name, model))
                    if row is None or np.isnan(value) or np.isnan(row["estimate"]):
                        continue
                    found.append(
                        {
                            "kind": target,
                            "metric": name,
                            "rows": row["n_labeled"] + row["n_unlabeled"],
                            "held": row["low"] <= value <= row["high"],
                            "width": row["high"] - row["low"],
                            "error": abs(row["estimate"] - value),
                            "labels_only_error": abs(row["labels_only"] - value),
                        }
                    )
    return found


def _judge_worst(result: Evaluation, held: ScoreSet, by: tuple[str, ...]) -> list[dict[str, Any]]:
    """P(worst) of every group and model, beside whether it is the worst on held-out rows."""
    found = []
    for text in by:
        groups = [group for group in result.groups if group.by == text]
        inside = _find_rows(held, text)
        alone = [inside[group.name] for group in groups if not group.pooled]
        rest = np.setdiff1d(np.arange(held.n_rows), np.concatenate(alone))
        rows = {group.name: rest if group.pooled else inside[group.name] for group in groups}
        if min(map(len, rows.values())) < LEAST_OF_CLASS:
            continue
        for metric in result.metrics:
            values = np.stack(
                [_compute_truth(metric, held, part, LEAST_OF_CLASS) for part in rows.values()]
            )
            bad = values if metric.greater_is_better is not False else -values
            worst = bad == bad.min(axis=0)
            for j, model in enumerate(held.models):
                ranks = result.worst_groups(metric.name, by=text, model=model).rows
                said = {rank.group: rank.p_worst_raw for rank in ranks}
                if not np.isfinite([*values[:, j], *said.values()]).all():
                    continue
                for name, is_worst in zip(rows, worst[:, j] / worst[:, j].sum(), strict=True):
                    at = {"kind": "worst", "what": "worst", "method": "auto"}
                    at |= {"metric": metric.name, "said": said[name], "true": float(is_worst)}
                    found.append(at)
    return found


def _judge_gaps(result: Evaluation, held: ScoreSet) -> list[dict[str, Any]]:
    kinds = KINDS if held.n_classes == 2 else ("difference", "ratio", "calibration")
    found = []
    for gap in result.gaps(kinds=kinds).rows:
        j = result.data.models.index(gap.model)
        groups = [g.name for g in result.groups if g.by == gap.by and not g.pooled]
        inside = _find_rows(held, gap.by)
        values = [
            [_compute_truth(metric, held, inside[name], LEAST_OF_CLASS)[j] for name in groups]
            for metric in _find_metrics(gap.gap, gap.metric, held.n_classes)
        ]
        if not np.isfinite(values).all():
            continue
        if gap.gap == "ratio":
            truth = min(values[0]) / max(values[0])
        else:
            truth = max(max(each) - min(each) for each in values)
        found.append(
            {
                "kind": gap.gap,
                "metric": gap.metric if gap.gap in ("difference", "ratio") else "",
                "rows": gap.n_groups,
                "held": gap.low <= truth <= gap.high,
                "width": gap.high - gap.low,
                "error": abs(gap.estimate - truth),
                "estimate": gap.estimate,
                "truth": truth,
            }
        )
    return found


def _find_metrics(kind: str, metric: str, n_classes: int) -> list[Metric]:
    if kind == "equal_opportunity":
        return [get_metric("recall")]
    if kind == "equalized_odds":
        return [get_metric("recall"), get_metric("specificity")]
    return [make_mean_bias(n_classes)] if kind == "calibration" else [get_metric(metric)]


def _find_rows(data: ScoreSet, text: str) -> dict[str, Any]:
    group_by = parse_group_by(text, data.groups)
    return {each.name: each.rows for each in divide(group_by, data.groups, Pooling(1, 20_000))}


def _compute_truth(metric: Metric, data: ScoreSet, rows: Any, least: int) -> FloatArray:
    """The metric (M,) on rows with their labels; NaN where it needs classes and one has fewer."""
    counts = np.bincount(data.labels[rows], minlength=data.n_classes)
    plain = isinstance(metric.kind, Decision) or data.n_classes > 2
    if not plain and counts.min() < least:
        return np.full(data.n_models, np.nan)
    mass = one_hot_mass(data.labels[rows], data.n_classes)
    return metric(data.scores[rows], mass)[0]


def summarize(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Coverage and width by size of the group, and of gaps; P(worst) said against true."""
    groups = rows[rows["kind"].isin(["population", "rows"])].copy()
    groups["size"] = pd.cut(groups["rows"], SIZES, labels=SIZE_NAMES)
    groups = groups.rename(columns={"kind": "target"})
    measured = ["held", "width", "error", "labels_only_error"]
    keys = ["target", "dataset", "n_labeled", "metric", "size"]
    by_size = groups.groupby(keys, observed=True)[measured].mean()
    by_size["intervals"] = groups.groupby(keys, observed=True).size()
    gaps = rows[rows["kind"].isin(KINDS)].rename(columns={"kind": "gap"})
    keys = ["dataset", "n_labeled", "gap", "metric"]
    apart = gaps.groupby(keys)[["held", "width", "error", "estimate", "truth"]].mean()
    apart["intervals"] = gaps.groupby(keys).size()
    runs = rows["run"].nunique()
    return {
        "decide_groups": by_size.reset_index().assign(runs=runs),
        "decide_group_gaps": apart.reset_index().assign(runs=runs),
        "decide_worst": tabulate_said(rows[rows["kind"] == "worst"], "all"),
    }


if __name__ == "__main__":
    start_study("groups", __doc__, compute, summarize, sets=tuple(GROUPINGS), runs=10)
