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
WAYS = {
    "`suggest`, growing batches": ("goal", "growing", "auto"),
    "`suggest`, batches of ten": ("goal", "10", "auto"),
    "`suggest`, one by one": ("goal", "1", "auto"),
    "`suggest`, growing; greatest P(best)": ("goal", "growing", "sure"),
    "`suggest`, growing; P(best) times that of CODA": ("goal", "growing", "both"),
    "CODA's rows in tens, best estimate of `auto`": ("coda", "10", "auto"),
    "random rows in tens, best estimate of `auto`": ("random", "10", "auto"),
    "CODA, one by one": ("coda", "1", "coda"),
    "Model Selector, one by one": ("selector", "1", "count"),
    "random rows, most right labels": ("random", "1", "count"),
}
"""Rows, batch and pick of `benchmarks.decide.picking` that the page compares."""
BATCHES = {"1": "of one", "5": "of five", "10": "of ten", "growing": "that grow"}
SHORT = {"coda": "CODA", "selector": "Model Selector", "random": "random"}
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


def write_picking() -> str:
    return _write_part("decide_picking_test")


def write_picking_chosen() -> str:
    return _write_part("decide_picking")


def _write_part(name: str) -> str:
    """Means over the sets of a part, and each set with the best rival."""
    keys = ["way", "batch", "estimator"]
    sets, over = read(name), read(f"{name}_overall").set_index(keys)
    runs = sets.groupby(keys)["runs"].min()
    ways = {title: way for title, way in WAYS.items() if way in over.index}
    lines = [
        {"rows and pick": title, "runs": runs[way], **over.loc[way]} for title, way in ways.items()
    ]
    columns = {
        "rows and pick": "rows and pick",
        "runs": "runs",
        "mean_100": "mean|.0f",
        "median_100": "median|.0f",
        "as_good_as_rivals": "sets as good as the best rival|.0%",
        "worst_to_random": "largest ratio to random|.2f",
        "labels_to_random": "labels needed to random|.2f",
        "right_0": "within 0.01 after 0|.0%",
        "right_25": "25|.0%",
        "right_100": "100 labels|.0%",
        "held_outside": "coverage outside the pool|.0%",
        "held": "on the pool|.0%",
    }
    pairs = read(f"{name}_pairs")
    return "\n".join(
        [
            f"({describe_origin(name)}; runs: the fewest of a set)\n",
            format_columns(pd.DataFrame(lines), columns),
            f"{_count_verdicts(pairs)}\n",
            _list_pairs(pairs, sets),
            "How often a pick was the best model, by the P(best) that `auto` reported for it:\n",
            format_columns(
                read(f"{name}_sureness").replace({"said": {"(-0.001, 0.2]": "(0.0, 0.2]"}}),
                {
                    "said": "P(best)",
                    "picks": "picks|,.0f",
                    "p_best": "mean P(best)|.0%",
                    "right": "was the best|.0%",
                },
            ),
            "Where P(regret<=0.01) first reached a probability, and how often its promise was "
            "kept:\n",
            format_columns(
                read(f"{name}_stops"),
                {
                    "batch": "batches",
                    "sure": "probability|.2f",
                    "runs": "runs|,.0f",
                    "stopped": "stopped|.0%",
                    "labels": "labels (median)|.0f",
                    "kept": "kept|.0%",
                    "held_outside": "coverage outside the pool then|.0%",
                    "held": "on the pool|.0%",
                },
            ),
        ]
    )


def _count_verdicts(pairs: pd.DataFrame) -> str:
    """On how many sets ours is clearly better or worse than the best rival, by batch."""
    texts = []
    for batch, own in pairs.groupby("batch", sort=False):
        better = (own["verdict"] == "better").sum()
        worse = own.loc[own["verdict"] == "worse", "dataset"].tolist()
        named = f" ({', '.join(worse)})" if worse else ""
        texts.append(
            f"batches {BATCHES[batch]}: better than the best rival by more than two standard "
            f"errors on {better} of {len(own)} sets, worse on {len(worse)}{named}"
        )
    return f"On the runs that all have, in {'; in '.join(texts)}."


def _list_pairs(pairs: pd.DataFrame, sets: pd.DataFrame) -> str:
    """A line per set: the regret of every way, and the difference to the best rival."""
    wide = sets.pivot_table(
        index="dataset", columns=["way", "batch", "estimator"], values="regret_100", sort=False
    )
    growing = pairs[pairs["batch"] == "growing"].set_index("dataset")
    names = {
        "`suggest`, growing": WAYS["`suggest`, growing batches"],
        "tens": WAYS["`suggest`, batches of ten"],
        "CODA": WAYS["CODA, one by one"],
        "Model Selector": WAYS["Model Selector, one by one"],
        "random": WAYS["random rows, most right labels"],
    }
    table = pd.DataFrame({title: wide[way] for title, way in names.items() if way in wide})
    table.insert(0, "set", table.index)
    table["best rival"] = growing["rival"].map(SHORT)
    table["difference (growing)"] = growing["difference"]
    table["standard error"] = growing["error"]
    return format_table(
        table, dict.fromkeys([*names], ".0f") | dict.fromkeys(table.columns[-2:], ".0f")
    )


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
