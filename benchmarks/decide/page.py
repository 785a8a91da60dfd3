"""The measured parts of the pages on decisions, from the result files, and their pictures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd

from benchmarks.charts import encode_series
from benchmarks.decide.choices_page import draw_probabilities, write_choices
from benchmarks.decide.groups_page import write_groups, write_many_groups, write_subgroups
from benchmarks.decide.labeling_page import (
    draw_suggestion,
    write_memory,
    write_picking,
    write_picking_chosen,
    write_plan,
    write_suggestion,
)
from benchmarks.markdown import describe_origin, embed_picture, format_columns, read


def write_thresholds() -> str:
    found = read("decide_thresholds")
    columns = {
        "method": "method",
        "goal": "goal",
        "metric": "metric",
        "plain_too_good": "plain estimate too good by|+.3f",
        "reported_too_good": "reported estimate too good by|+.3f",
        "covered": "coverage|.0%",
        "said": "P(demand is met), reported|.0%",
        "held": "demand was met|.0%",
    }
    head = (
        f"Results with 50 labels on sets with two classes ({describe_origin('decide_thresholds')}):"
    )
    return f"{head}\n\n{format_columns(found[found['n_labeled'] == 50], columns)}"


def write_monoculture() -> str:
    found = read("decide_monoculture")
    columns = {
        "figure": "figure",
        "n_labeled": "labels",
        "error": "error|.4f",
        "labels_error": "error of labels alone|.4f",
        "ratio": "ratio|.2f",
        "covered": "coverage|.0%",
        "labels_covered": "coverage of labels alone|.0%",
    }
    words = "Share of rows that all models get wrong: error of auto and of labels alone by set"
    head = f"Means over the development sets ({describe_origin('decide_monoculture')}). "
    head += "The ratio is that of the two errors:"
    own = found[found["dataset"] != "all"]
    worse = own[own["ratio"] > 1.0]
    named = "\n".join(
        f"- {row.figure} on {row.dataset} with {row.n_labeled} labels ({row.ratio:.2f})"
        for row in worse.itertuples()
    )
    sets_below = own.groupby("dataset")[["error", "labels_error"]].mean()
    above = sets_below.index[sets_below["error"] >= sets_below["labels_error"]].tolist()
    which = f"on every set but {', '.join(above)}" if above else "on every set"
    count = f"Over all figures together the error is below that of labels alone {which}. "
    count += f"Labels alone had the smaller error in {len(worse)} of {len(own)} comparisons"
    count += f" (in brackets the ratio of the errors):\n\n{named}" if named else "."
    by_set = own.groupby("dataset").agg(
        error=("error", "mean"),
        labels_error=("labels_error", "mean"),
        covered=("covered", "mean"),
        worst=("ratio", "max"),
    )
    figures = own.groupby(["dataset", "figure"])["covered"].mean().groupby("dataset")
    by_set["ratio"] = by_set["error"] / by_set["labels_error"]
    by_set["lowest"] = figures.min()
    by_set["figure"] = figures.idxmin().map(lambda place: place[1])
    set_columns = {
        "dataset": "set",
        "error": "error|.4f",
        "labels_error": "error of labels alone|.4f",
        "ratio": "ratio|.2f",
        "worst": "largest ratio of a figure|.2f",
        "covered": "coverage|.0%",
        "lowest": "lowest coverage|.0%",
        "figure": "of the figure",
    }
    return "\n".join(
        [
            f"{head}\n",
            format_columns(found[found["dataset"] == "all"], columns),
            f"The next table has means over all figures and numbers of labels, by set. {count}\n",
            format_columns(by_set.reset_index(), set_columns),
            embed_picture("decide_monoculture", words),
        ]
    )


def draw_monoculture(found: pd.DataFrame) -> Any:
    import altair as alt

    kept = found[(found["figure"] == "all_wrong") & (found["dataset"] != "all")]
    long = kept.melt(["dataset", "n_labeled"], ["error", "labels_error"], "who", "error of it")
    long["who"] = long["who"].map({"error": "auto", "labels_error": "labels alone"})
    told = encode_series(long, "who")
    return (
        alt.Chart(long)
        .mark_point(filled=True, size=60, opacity=1)
        .encode(
            y=alt.Y("dataset:N", title=None),
            x=alt.X("error of it:Q", title="mean absolute error"),
            **told,
        )
        .properties(width=190, height=220)
        .facet(column=alt.Column("n_labeled:O", title="labels"))
    )


def write_shift() -> str:
    alarms, errors = read("decide_shift_alarms"), read("decide_shift_errors")
    first = alarms[alarms["dataset"] == "all"]
    second = errors[errors["dataset"] == "all"]
    limits = {
        "limit_scores": "best test on scores|.0%",
        "limit_classes": "if all classes were known|.0%",
    }
    columns = {
        "shift": "shift",
        "n_labeled": "labels",
        "runs": "runs",
        "alarm": "alarm|.0%",
        "D104": "D104|.0%",
        "D108": "D108|.0%",
        "label_safe": "label shift not refuted|.0%",
        "covariate_safe": "covariate shift not refuted|.0%",
        **limits,
    }
    ways = ["as it is", "by_class", "by_score", "covariate", "label"]
    error_columns = {name: name for name in ("method", "metric", "shift")}
    error_columns |= {"n_labeled": "labels", **{way: f"{way}|.3f" for way in ways}}
    by_set = alarms[alarms["shift"].isin(["halved", "doubled"]) & (alarms["dataset"] != "all")]
    set_columns = {"dataset": "set", "shift": "shift", "alarm": "alarm|.0%", **limits}
    words = "Share of runs with an alarm by set and shift"
    rate = first.set_index("shift")[["alarm", *limits]]
    told = {name: [f"{each:.0%}" for each in rate.loc[name]] for name in rate.index}
    return "\n".join(
        [
            f"Without a shift {told['none'][0]} of the runs raised an alarm. Covariate shift was "
            f"found in {told['covariate'][0]} of the runs. A halved class was found in "
            f"{told['halved'][0]} of the runs with 50 labels and a doubled one in "
            f"{told['doubled'][0]}. The best test on scores would find {told['halved'][1]} "
            f"and {told['doubled'][1]} of them, and a test "
            "that knew the class of every row would find "
            f"{told['halved'][2]} and {told['doubled'][2]}.\n",
            "How often an alarm (D104 or D108) was raised. The shifts are: the positives among the "
            "unlabeled rows halved or doubled, other rows (covariate), and none "
            f"({describe_origin('decide_shift_alarms')}):\n",
            format_columns(first, columns),
            embed_picture("decide_shift", words),
            "The next table shows how much could be found at all. It has the share of runs with an "
            "alarm, the power of the best test on scores, and the power of a test that knows the "
            "class of every unlabeled row, both at the level of 2%. An alarm is raised by any of "
            "three tests, which have a level of 5% together, so that alarms may be more frequent "
            "than the power of one test.\n",
            format_columns(by_set, set_columns),
            "Mean absolute error without any correction (`as it is`), with labels weighted by a "
            "correction (`covariate`, `label`), and with a design that tells the method how rows "
            f"were chosen (`by_class`, `by_score`; {describe_origin('decide_shift_errors')}):\n",
            format_columns(second, error_columns),
        ]
    )


def draw_shift(alarms: pd.DataFrame) -> Any:
    import altair as alt

    kept = alarms[alarms["dataset"] != "all"]
    told = encode_series(kept, "shift")
    return (
        alt.Chart(kept)
        .mark_point(filled=True, size=60, opacity=1)
        .encode(
            y=alt.Y("dataset:N", title=None),
            x=alt.X("alarm:Q", title="share of runs with an alarm", scale=alt.Scale(domain=[0, 1])),
            **told,
        )
        .properties(width=220, height=160)
        .facet(column=alt.Column("n_labeled:O", title="labels"))
    )


PARTS: dict[str, dict[str, Callable[[], str]]] = {
    "benchmarks/evidence/deciding.md": {
        "thresholds": write_thresholds,
        "monoculture": write_monoculture,
        "shift": write_shift,
        "choices": write_choices,
    },
    "benchmarks/evidence/labeling.md": {
        "memory": write_memory,
        "suggestion": write_suggestion,
        "picking": write_picking,
        "picking_chosen": write_picking_chosen,
        "plan": write_plan,
    },
    "benchmarks/evidence/groups.md": {
        "groups": write_groups,
        "many_groups": write_many_groups,
        "subgroups": write_subgroups,
    },
}


PICTURES: dict[str, tuple[str, Callable[[pd.DataFrame], Any]]] = {
    "decide_monoculture": ("decide_monoculture", draw_monoculture),
    "decide_shift": ("decide_shift_alarms", draw_shift),
    "decide_probabilities": ("decide_probabilities", draw_probabilities),
    "decide_suggestion": ("decide_suggestion_curves", draw_suggestion),
}
"""The result that each picture shows, and how it is drawn."""
