"""The measured parts of benchmarks/evidence/labeling.md."""

from __future__ import annotations

from typing import Any

import pandas as pd

from benchmarks.charts import encode_series
from benchmarks.markdown import (
    describe_origin,
    embed_picture,
    format_columns,
    format_table,
    read,
)

ARMS = {
    "random": "random",
    "best": "suggested for `best`",
    "roc_auc": "suggested for `metric:roc_auc`",
    "uncertainty": "uncertainty sampling",
}
NAMES = {"said": "expected", "true": "true"}
"""What the worth of a label is called: as the method expects it, and in truth."""


def write_suggestion() -> str:
    found = read("decide_suggestion")
    sets, over = found[found["dataset"] != "all"], found[found["dataset"] == "all"]
    picks = _tabulate_by_arm(sets, "labels_to_pick", ("random", "best", "uncertainty"))
    start = sets[sets["arm"] == "random"].set_index("dataset")["right_without_labels"]
    picks.insert(1, "runs that need none", picks["set"].map(start))
    ratio = sets[sets["arm"] == "best"].set_index("dataset")["labels_to_pick_ratio"]
    picks["ratio to random"] = picks["set"].map(ratio)
    counts = dict.fromkeys(picks.columns[2:-1], ".0f")
    formats = {"runs that need none": ".0%", **counts, "ratio to random": ".2f"}
    areas = _tabulate_by_arm(sets, "auc_error", ("random", "roc_auc", "uncertainty"))
    ratio = sets[sets["arm"] == "roc_auc"].set_index("dataset")["auc_error_ratio"]
    areas["ratio to random"] = areas["set"].map(ratio)
    errors = dict.fromkeys(areas.columns[1:-1], ".4f")
    worth = _tabulate_by_arm(sets, "labels_to_auc_error", ("random", "roc_auc", "uncertainty"))
    labels = dict.fromkeys(worth.columns[1:], ".0f")
    for name in ("said", "true"):
        for arm, goal in (("best", "`best`"), ("roc_auc", "ROC AUC")):
            by_set = sets[sets["arm"] == arm].set_index("dataset")
            found_gain = by_set.reindex(columns=[f"gain_{name}"]).iloc[:, 0]
            worth[f"a label drawn for {goal} is worth ({NAMES[name]})"] = worth["set"].map(
                found_gain
            )
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
    words = "Share of runs in which the pick is within 0.01 of the best, by number of labels"
    best, unsure = (medians.loc[arm, "labels_to_pick_ratio"] for arm in ("best", "uncertainty"))
    reached = medians["labels_to_auc_error_ratio"]
    area, spread = reached["roc_auc"], reached["uncertainty"]
    return "\n".join(
        [
            "The number of labels, starting from none, after which the accuracy of the model that "
            "`auto` picks is within 0.01 of the best and stays so "
            f"({describe_origin('decide_suggestion')}; "
            "`~` marks sets whose classifiers were miscalibrated "
            "at random):\n",
            format_table(picks, formats),
            f"The median ratio to random labeling is {best:.2f} for suggested rows and "
            f"{unsure:.2f} for uncertainty sampling. Suggested rows needed fewer labels than "
            f"random ones on {_count_below_one(picks)}.\n",
            embed_picture("decide_suggestion", words),
            "Mean absolute error of `auto` for ROC AUC, over all batches:\n",
            format_table(areas, errors | {"ratio to random": ".2f"}),
            f"Rows drawn for ROC AUC left a smaller error than random ones on "
            f"{_count_below_one(areas)}.\n",
            "The next table has the number of labels after which the mean error of ROC AUC is that "
            "of 80 random labels (320 means that 160 labels were not enough). The median ratio to "
            f"random is {area:.2f} for rows suggested for `metric:roc_auc` and {spread:.2f} for "
            "uncertainty sampling. The last four columns say how many labels of random rows one "
            "label of a drawn row is worth, as the method expects it and in truth:\n",
            format_table(worth, labels),
            "Coverage of the 95% intervals of `auto` after rows were chosen in each of these "
            "ways, over all batches:\n",
            format_table(held, dict.fromkeys(held.columns[1:], ".0%")),
        ]
    )


def _count_below_one(rows: pd.DataFrame) -> str:
    """On how many sets the ratio to random is below one, and on which it is not."""
    rest = rows[~(rows["ratio to random"] < 1.0)]["set"].tolist()
    count = f"{len(rows) - len(rest)} of {len(rows)} sets"
    return f"{count} (not on {', '.join(rest)})" if rest else count


def write_memory() -> str:
    found = read("decide_memory")
    sums = found[["events", "kills", "lost", "doubled"]].sum()
    return (
        f"`python -m benchmarks.decide.memory` writes {sums['events']:,} label events from two "
        f"processes into {len(found)} files and kills the processes {sums['kills']} times. "
        f"{sums['lost']} events were lost and {sums['doubled']} were stored twice "
        "([decide_memory.csv](../results/decide_memory.csv)).\n"
    )


def _tabulate_by_arm(sets: pd.DataFrame, value: str, arms: tuple[str, ...]) -> pd.DataFrame:
    """One line per set, one column per arm."""
    wide = sets.pivot_table(index="dataset", columns="arm", values=value, sort=False)
    out = wide[list(arms)].rename(columns=ARMS).reset_index()
    return out.rename(columns={"dataset": "set"}).rename_axis(columns=None)


def draw_suggestion(curves: pd.DataFrame) -> Any:
    import altair as alt

    kept = curves[curves["arm"].isin(["random", "best", "uncertainty"])].copy()
    kept["arm"] = kept["arm"].map({**ARMS, "best": "suggested"})
    return (
        alt.Chart(kept)
        .mark_line(strokeWidth=1.5, point=True)
        .encode(
            x=alt.X("labels:Q", title="labels"),
            y=alt.Y("correct:Q", title="pick within 0.01", scale=alt.Scale(domain=[0, 1])),
            **encode_series(kept, "arm"),
        )
        .properties(width=170, height=130)
        .facet(facet=alt.Facet("dataset:N", title=None), columns=4)
    )


def write_plan() -> str:
    found = read("decide_plan")
    kept = found[found["dataset"] == "all"]
    columns = {
        "method": "method",
        "target": "target",
        "case": "labels are",
        "cases": "cases",
        "ratio": "median of planned over needed|.2f",
        "within": "within a factor of 1.5|.0%",
        "within_one": "the same for one run|.0%",
        "reachable": "reachable for one run|.0%",
        "inside_one": "one run is in the 80% range|.0%",
        "seconds": "CPU seconds|.0f",
    }
    whole = kept[kept["target"] == "all"].set_index(["method", "case"])["within"]
    auto, alone = (
        f"{whole[method, 'simulated']:.0%} of the simulated and {whole[method, 'real']:.0%} of the "
        "real cases"
        for method in ("auto", "labeled")
    )
    head = f"With `auto`, {auto} are within a factor of 1.5. With labels alone, {alone} are"
    return f"{head} ({describe_origin('decide_plan')}).\n\n{format_columns(kept, columns)}"
