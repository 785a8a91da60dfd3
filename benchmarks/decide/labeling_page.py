"""The measured parts of docs/labeling.md and docs/groups.md."""

from __future__ import annotations

from typing import Any

import pandas as pd

from benchmarks.charts import series
from benchmarks.decide.groups import SIZE_NAMES
from benchmarks.decide.markdown import draw, origin, picture, read, table

__all__ = ["groups", "plan", "suggestion"]

ARMS = {
    "random": "random",
    "best": "suggested for `best`",
    "roc_auc": "suggested for `metric:roc_auc`",
    "uncertainty": "uncertainty sampling",
}


def suggestion() -> str:
    found = read("decide_suggestion")
    sets, over = found[found["dataset"] != "all"], found[found["dataset"] == "all"]
    picks = _by_arm(sets, "labels_to_pick", ("random", "best", "uncertainty"))
    start = sets[sets["arm"] == "random"].set_index("dataset")["right_without_labels"]
    picks.insert(1, "runs that need none", picks["set"].map(start))
    ratio = sets[sets["arm"] == "best"].set_index("dataset")["labels_to_pick_ratio"]
    picks["ratio to random"] = picks["set"].map(ratio)
    counts = dict.fromkeys(picks.columns[2:-1], ".0f")
    formats = {"runs that need none": ".0%", **counts, "ratio to random": ".2f"}
    areas = _by_arm(sets, "auc_error", ("random", "roc_auc", "uncertainty"))
    ratio = sets[sets["arm"] == "roc_auc"].set_index("dataset")["auc_error_ratio"]
    areas["ratio to random"] = areas["set"].map(ratio)
    errors = dict.fromkeys(areas.columns[1:-1], ".4f")
    worth = _by_arm(sets, "labels_to_auc_error", ("random", "roc_auc", "uncertainty"))
    labels = dict.fromkeys(worth.columns[1:], ".0f")
    for name in ("said", "true"):
        for arm, goal in (("best", "`best`"), ("roc_auc", "ROC AUC")):
            by_set = sets[sets["arm"] == arm].set_index("dataset")
            found_gain = by_set.reindex(columns=[f"gain_{name}"]).iloc[:, 0]
            worth[f"a label drawn for {goal} is worth ({name})"] = worth["set"].map(found_gain)
    labels |= dict.fromkeys(worth.columns[4:], ".1f")
    medians = over.set_index("arm")
    low = sets.groupby("arm")[["accuracy_held", "roc_auc_held"]].min()
    held = pd.DataFrame(
        {
            "rows": [ARMS[arm] for arm in ARMS],
            "accuracy": [medians.loc[arm, "accuracy_held"] for arm in ARMS],
            "lowest set": [low.loc[arm, "accuracy_held"] for arm in ARMS],
            "ROC AUC": [medians.loc[arm, "roc_auc_held"] for arm in ARMS],
            "lowest set ": [low.loc[arm, "roc_auc_held"] for arm in ARMS],
        }
    )
    draw("decide_suggestion", suggestion_chart(read("decide_suggestion_curves")))
    words = "Share of runs in which the pick is within 0.01 of the best, by number of labels"
    best, unsure = (medians.loc[arm, "labels_to_pick_ratio"] for arm in ("best", "uncertainty"))
    reached = medians["labels_to_auc_error_ratio"]
    area, spread = reached["roc_auc"], reached["uncertainty"]
    return "\n".join(
        [
            "Labels until the pick of `auto` by accuracy is within 0.01 of the best and stays so, "
            f"counted from none ({origin('decide_suggestion')}; `~` marks sets whose classifiers "
            "were miscalibrated at random):\n",
            table(picks, formats),
            f"The median ratio to random labeling is {best:.2f} for suggested rows and "
            f"{unsure:.2f} for uncertainty sampling.\n",
            picture("decide_suggestion", words),
            "Mean absolute error of ROC AUC by `auto` over all batches:\n",
            table(areas, errors | {"ratio to random": ".2f"}),
            "Labels until the mean error of ROC AUC is that of 80 random labels (320: not within "
            f"160); the median ratio to random is {area:.2f} for rows suggested for "
            f"`metric:roc_auc` and {spread:.2f} for uncertainty sampling. Beside it, how many "
            "labels of rows drawn alike one label is worth where rows are drawn by what a label "
            "tells, if the belief is right and in truth:\n",
            table(worth, labels),
            "How often the 95 % intervals of `auto` hold after rows were chosen so, over all "
            "batches:\n",
            table(held, dict.fromkeys(held.columns[1:], ".0%")),
        ]
    )


def _by_arm(sets: pd.DataFrame, value: str, arms: tuple[str, ...]) -> pd.DataFrame:
    """One line per set, one column per arm."""
    wide = sets.pivot_table(index="dataset", columns="arm", values=value, sort=False)
    out = wide[list(arms)].rename(columns=ARMS).reset_index()
    return out.rename(columns={"dataset": "set"}).rename_axis(columns=None)


def suggestion_chart(curves: pd.DataFrame) -> Any:
    import altair as alt

    kept = curves[curves["arm"].isin(["random", "best", "uncertainty"])].copy()
    kept["arm"] = kept["arm"].map({**ARMS, "best": "suggested"})
    return (
        alt.Chart(kept)
        .mark_line(strokeWidth=1.5, point=True)
        .encode(
            x=alt.X("labels:Q", title="labels"),
            y=alt.Y("correct:Q", title="pick within 0.01", scale=alt.Scale(domain=[0, 1])),
            **series(kept, "arm"),
        )
        .properties(width=170, height=130)
        .facet(facet=alt.Facet("dataset:N", title=None), columns=4)
    )


def plan() -> str:
    found = read("decide_plan")
    kept = found[found["dataset"] == "all"]
    columns = {
        "method": "method",
        "target": "target",
        "case": "labels are",
        "cases": "cases",
        "ratio": "said over needed, median",
        "within": "within a factor of 1.5",
        "within_one": "of one run",
        "reachable": "reachable for one run",
        "inside_one": "one run is in the 80 % range",
        "seconds": "CPU seconds",
    }
    shown = kept[list(columns)].rename(columns=columns)
    percents = dict.fromkeys(list(columns.values())[5:9], ".0%")
    formats = {columns["ratio"]: ".2f", columns["seconds"]: ".0f"} | percents
    whole = kept[kept["target"] == "all"].set_index(["method", "case"])["within"]
    auto, alone = (
        f"{whole[method, 'simulated']:.0%} of the simulated and {whole[method, 'real']:.0%} of the "
        "real cases"
        for method in ("auto", "labeled")
    )
    head = f"With `auto` {auto} are within the factor, with labels alone {alone}"
    return f"{head} ({origin('decide_plan')}).\n\n{table(shown, formats)}"


def groups() -> str:
    sizes, gaps = read("decide_groups"), read("decide_group_gaps")
    parts = [f"({origin('decide_groups')})\n"]
    for target in ("population", "rows"):
        own = sizes[sizes["target"] == target]
        parts.append(table(_held(own, f"rows of the group, `{target}`"), _percents()))
    own = sizes[(sizes["target"] == "population") & sizes["size"].isin(SIZE_NAMES[2:])]
    by_set = own.assign(size=own["dataset"] + ", " + own["n_labeled"].astype(str) + " labels")
    parts += [
        "Groups of 30 rows or more, `population`, by set:\n",
        table(_held(by_set, "set"), _percents()),
    ]
    gaps = gaps.assign(gap=gaps["gap"] + " " + gaps["metric"].fillna(""))
    wide = gaps.assign(hit=gaps["held"] * gaps["intervals"])
    sums = wide.groupby(["gap", "dataset"])[["hit", "intervals"]].sum()
    held = (sums["hit"] / sums["intervals"]).unstack("dataset").reset_index()
    parts += [
        "Gaps, 20, 50 and 100 labels together:\n",
        table(held.rename_axis(columns=None), dict.fromkeys(held.columns[1:], ".1%")),
    ]
    try:
        worst = read("decide_worst")
    except FileNotFoundError:
        return "\n".join(parts)
    parts += [
        "P(worst), the probability that a group is the worst of its grouping, said against how "
        "often it was so on the rows that were not seen; all sets alike, 20, 50 and 100 labels "
        f"together ({origin('decide_worst')}; in brackets the number of cases):\n",
        table(*tabulate_worst(worst)),
    ]
    return "\n".join(parts)


def tabulate_worst(worst: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, str]]:
    """Said and true by bin and metric, numbers of labels together by their cases."""
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
    return wide.rename_axis(columns=None).reset_index(), {}


def _percents() -> dict[str, str]:
    return dict.fromkeys(["accuracy", "ROC AUC", "average precision", "ECE"], ".0%")


def _held(own: pd.DataFrame, title: str) -> pd.DataFrame:
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
