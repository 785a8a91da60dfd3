"""The measured parts of the pages on decisions, written from the result files, with pictures.

    python -m benchmarks.decide.page

puts the tables between the marks of benchmarks/evidence/{deciding,labeling,groups}.md, and
draws benchmarks/figures/decide_*.png. Parts whose result files are not there are left as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.charts import encode_series
from benchmarks.decide.choices_page import write_choices
from benchmarks.decide.groups_page import write_groups, write_many_groups, write_subgroups
from benchmarks.decide.labeling_page import write_memory, write_plan, write_suggestion
from benchmarks.markdown import describe_origin, draw, embed_picture, format_table, read, rewrite

EVIDENCE = Path(__file__).resolve().parents[1] / "evidence"


def write_thresholds() -> str:
    found = read("decide_thresholds")
    kept = found[found["n_labeled"] == 50]
    shown = pd.DataFrame(
        {
            "method": kept["method"],
            "goal": kept["goal"],
            "metric": kept["metric"],
            "plain estimate too good by": kept["plain_too_good"],
            "reported estimate too good by": kept["reported_too_good"],
            "coverage": kept["covered"],
            "P(demand is met), reported": kept["said"],
            "demand was met": kept["held"],
        }
    )
    formats = {
        "plain estimate too good by": "+.3f",
        "reported estimate too good by": "+.3f",
        "coverage": ".0%",
        "P(demand is met), reported": ".0%",
        "demand was met": ".0%",
    }
    head = (
        f"Results with 50 labels on sets with two classes ({describe_origin('decide_thresholds')}):"
    )
    return f"{head}\n\n{format_table(shown, formats)}"


def write_monoculture() -> str:
    found = read("decide_monoculture")
    kept = found[found["dataset"] == "all"]
    shown = kept[
        ["figure", "n_labeled", "error", "labels_error", "ratio", "covered", "labels_covered"]
    ].rename(
        columns={
            "n_labeled": "labels",
            "labels_error": "error of labels alone",
            "covered": "coverage",
            "labels_covered": "coverage of labels alone",
        }
    )
    formats = {
        "error": ".4f",
        "error of labels alone": ".4f",
        "ratio": ".2f",
        "coverage": ".0%",
        "coverage of labels alone": ".0%",
    }
    words = "Share of rows that all models get wrong: error of auto and of labels alone by set"
    draw("decide_monoculture", draw_monoculture(found))
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
    sets = pd.DataFrame(
        {
            "set": by_set.index,
            "error": by_set["error"],
            "error of labels alone": by_set["labels_error"],
            "ratio": by_set["error"] / by_set["labels_error"],
            "largest ratio of a figure": by_set["worst"],
            "coverage": by_set["covered"],
            "lowest coverage": figures.min(),
            "of the figure": figures.idxmin().map(lambda place: place[1]),
        }
    )
    more = {**formats, "largest ratio of a figure": ".2f", "lowest coverage": ".0%"}
    return "\n".join(
        [
            f"{head}\n",
            format_table(shown, formats),
            f"The next table has means over all figures and numbers of labels, by set. {count}\n",
            format_table(sets, more),
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
    first = alarms[alarms["dataset"] == "all"].drop(columns="dataset")
    first = first.rename(
        columns={
            "n_labeled": "labels",
            "label_safe": "label shift not refuted",
            "covariate_safe": "covariate shift not refuted",
            "limit_scores": "best test on scores",
            "limit_classes": "if all classes were known",
        }
    )
    second = errors[errors["dataset"] == "all"].drop(columns="dataset")
    second = second.rename(columns={"n_labeled": "labels"})
    percents = dict.fromkeys(["alarm", *first.columns[4:]], ".0%")
    numbers = dict.fromkeys(["as it is", "label", "covariate", "by_class", "by_score"], ".3f")
    draw("decide_shift", draw_shift(alarms))
    by_set = alarms[alarms["shift"].isin(["halved", "doubled"]) & (alarms["dataset"] != "all")]
    by_set = by_set[["dataset", "shift", "alarm", "limit_scores", "limit_classes"]].rename(
        columns={
            "dataset": "set",
            "limit_scores": "best test on scores",
            "limit_classes": "if all classes were known",
        }
    )
    words = "Share of runs with an alarm by set and shift"
    rate = first.set_index("shift")[["alarm", "best test on scores", "if all classes were known"]]
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
            format_table(first, percents),
            embed_picture("decide_shift", words),
            "The next table shows how much could be found at all. It has the share of runs with an "
            "alarm, the power of the best test on scores, and the power of a test that knows the "
            "class of every unlabeled row, both at the level of 2 %. An alarm is raised by any of "
            "three tests, which have a level of 5 % together, so that alarms may be more frequent "
            "than the power of one test.\n",
            format_table(by_set, percents),
            "Mean absolute error without any correction (`as it is`), with labels weighted by a "
            "correction (`covariate`, `label`), and with a design that tells the method how rows "
            f"were chosen (`by_class`, `by_score`; {describe_origin('decide_shift_errors')}):\n",
            format_table(second, numbers),
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
    "deciding.md": {
        "thresholds": write_thresholds,
        "monoculture": write_monoculture,
        "shift": write_shift,
        "choices": write_choices,
    },
    "labeling.md": {"memory": write_memory, "suggestion": write_suggestion, "plan": write_plan},
    "groups.md": {
        "groups": write_groups,
        "many_groups": write_many_groups,
        "subgroups": write_subgroups,
    },
}


def main() -> None:
    for page, parts in PARTS.items():
        rewrite(EVIDENCE / page, parts)


if __name__ == "__main__":
    main()
