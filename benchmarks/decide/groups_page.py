"""The measured parts of benchmarks/evidence/groups.md."""

from __future__ import annotations

import pandas as pd

from benchmarks.decide.groups import SIZE_NAMES
from benchmarks.markdown import describe_origin, format_table, read

SHOWN = ("auto", "ensemble", "bayesian_calibration", "ssme")
"""Methods of the table of subgroups; benchmarks/results/subgroups.csv has all of them."""


def write_groups() -> str:
    sizes, gaps = read("decide_groups"), read("decide_group_gaps")
    parts = [
        "Coverage of 95% intervals by the number of rows of the group "
        f"({describe_origin('decide_groups')}):\n"
    ]
    for target in ("population", "rows"):
        own = sizes[sizes["target"] == target]
        parts.append(
            format_table(_tabulate_held(own, f"rows of the group, `{target}`"), _choose_formats())
        )
    own = sizes[(sizes["target"] == "population") & sizes["size"].isin(SIZE_NAMES[2:])]
    by_set = own.assign(size=own["dataset"] + ", " + own["n_labeled"].astype(str) + " labels")
    parts += [
        "The same by set, for groups of 30 rows or more and the target `population`:\n",
        format_table(_tabulate_held(by_set, "set"), _choose_formats()),
    ]
    gaps = gaps.assign(gap=gaps["gap"] + " " + gaps["metric"].fillna(""))
    wide = gaps.assign(hit=gaps["held"] * gaps["intervals"])
    sums = wide.groupby(["gap", "dataset"])[["hit", "intervals"]].sum()
    held = (sums["hit"] / sums["intervals"]).unstack("dataset").reset_index()
    parts += [
        "Coverage of the intervals of gaps, for 20, 50 and 100 labels together:\n",
        format_table(held.rename_axis(columns=None), dict.fromkeys(held.columns[1:], ".1%")),
    ]
    worst = read("decide_worst")
    parts += [
        "P(worst), the probability that a group is the worst of its grouping. Each entry has the "
        "mean reported probability, the share of cases in which the group truly was the worst on "
        "rows that the method did not see, and in brackets the number of cases. Every set has the "
        "same weight, and 20, 50 and 100 labels are taken together "
        f"({describe_origin('decide_worst')}):\n",
        format_table(*tabulate_worst(worst)),
    ]
    return "\n".join(parts)


def tabulate_worst(worst: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, str]]:
    """Reported and true by bin and metric, numbers of labels together by their cases."""
    weighed = worst.assign(s=worst["said"] * worst["cases"], t=worst["true"] * worst["cases"])
    sums = weighed.groupby(["metric", "low", "high"])[["cases", "s", "t"]].sum().reset_index()
    sums["said"] = [
        f"{low:.2f} to {min(high, 1.0):.2f}" for low, high in sums[["low", "high"]].to_numpy()
    ]
    sums["cell"] = [
        f"{row.s / row.cases:.2f}, {row.t / row.cases:.2f} ({row.cases:,.0f})"
        for row in sums.itertuples()
    ]
    wide = sums.pivot(index="said", columns="metric", values="cell").fillna("-")
    return wide.rename_axis("reported", axis=0).rename_axis(columns=None).reset_index(), {}


def _choose_formats() -> dict[str, str]:
    return dict.fromkeys(["accuracy", "ROC AUC", "average precision", "ECE"], ".0%")


def _tabulate_held(own: pd.DataFrame, title: str) -> pd.DataFrame:
    """Share of intervals that hold, by size and metric, all of them weighing the same."""
    names = {
        "accuracy": "accuracy",
        "roc_auc": "ROC AUC",
        "average_precision": "average precision",
        "ece": "ECE",
    }
    hits = own.assign(hit=own["held"] * own["intervals"], metric=own["metric"].map(names))
    sums = hits.groupby(["size", "metric"], sort=False)[["hit", "intervals"]].sum()
    wide = (sums["hit"] / sums["intervals"]).unstack("metric")
    order = [name for name in SIZE_NAMES if name in wide.index] or list(wide.index)
    wide = wide.loc[order, [name for name in names.values() if name in wide]]
    return wide.rename_axis(columns=None).rename_axis(title).reset_index()


def write_many_groups() -> str:
    found = read("many_groups").set_index(["way", "max_groups"])
    rows, number = found["rows"].iloc[0], found["groups"].iloc[0]
    few, every = sorted({most for _, most in found.index})
    told = {
        (way, most): f"{line.cpu_seconds:.2g} CPU seconds and {line.peak_mib:.0f} MiB"
        for (way, most), line in zip(found.index, found.itertuples(), strict=True)
    }
    return (
        f"Speed with {number:,} groups of {rows:,} rows (`python -m benchmarks.speed.many_groups`, "
        "[many_groups.csv](../results/many_groups.csv)): by default, when the "
        f"{few} largest groups are estimated by themselves, an evaluation takes "
        f"{told['memory', few]} in memory and {told['stream', few]} streamed. When every group is "
        f"estimated by itself, it takes {told['memory', every]} in memory and "
        f"{told['stream', every]} streamed.\n"
    )


def write_subgroups() -> str:
    found = read("subgroups")
    wide = found.pivot(index=["dataset", "category"], columns="method", values="rmae")
    lowest = (wide.idxmin(axis=1) == "auto").sum()
    shown = wide[list(SHOWN)].rename(columns={name: f"`{name}`" for name in SHOWN})
    shown = shown.rename_axis(columns=None).rename_axis(["set", "category"]).reset_index()
    return (
        "The paper's table of subgroups: the mean error divided by that of labels alone, with 20 "
        f"labels ({describe_origin('subgroups')}; "
        f"`benchmarks/results/subgroups.csv` has all {wide.shape[1]} methods). "
        f"`auto` has the lowest error of all methods in {lowest} of {len(wide)} rows.\n\n"
        + format_table(shown, dict.fromkeys(shown.columns[2:], ".2f"))
    )
