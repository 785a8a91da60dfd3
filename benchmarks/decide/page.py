"""The measured parts of the pages on decisions, written from the result files, with pictures.

    python -m benchmarks.decide.page

puts the tables between the marks of docs/deciding.md, docs/labeling.md and docs/groups.md, and
draws benchmarks/figures/decide_*.png. Parts whose result files are not there are left as they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.charts import series
from benchmarks.decide.choices_page import choices
from benchmarks.decide.groups_page import groups, many_groups, subgroups
from benchmarks.decide.labeling_page import memory, plan, suggestion
from benchmarks.decide.markdown import draw, origin, picture, read, table

DOCS = Path(__file__).resolve().parents[2] / "docs"


def thresholds() -> str:
    found = read("decide_thresholds")
    kept = found[found["n_labeled"] == 50]
    shown = pd.DataFrame(
        {
            "method": kept["method"],
            "goal": kept["goal"],
            "metric": kept["metric"],
            "plain estimate too good by": kept["plain_too_good"],
            "reported estimate too good by": kept["reported_too_good"],
            "interval holds": kept["covered"],
            "demand: said": kept["said"],
            "demand: true": kept["held"],
        }
    )
    formats = {
        "plain estimate too good by": "+.3f",
        "reported estimate too good by": "+.3f",
        "interval holds": ".0%",
        "demand: said": ".0%",
        "demand: true": ".0%",
    }
    head = f"With 50 labels, over sets of two classes ({origin('decide_thresholds')}):"
    return f"{head}\n\n{table(shown, formats)}"


def monoculture() -> str:
    found = read("decide_monoculture")
    kept = found[found["dataset"] == "all"]
    shown = kept[
        ["figure", "n_labeled", "error", "labels_error", "ratio", "covered", "labels_covered"]
    ].rename(
        columns={
            "n_labeled": "labels",
            "labels_error": "error of labels alone",
            "covered": "interval holds",
            "labels_covered": "that of labels alone",
        }
    )
    formats = {
        "error": ".4f",
        "error of labels alone": ".4f",
        "ratio": ".2f",
        "interval holds": ".0%",
        "that of labels alone": ".0%",
    }
    words = "Share of rows that all models get wrong: error of auto and of labels alone by set"
    draw("decide_monoculture", monoculture_chart(found))
    head = f"Means over the development sets ({origin('decide_monoculture')}):"
    own = found[found["dataset"] != "all"]
    worse = own[own["ratio"] > 1.0]
    named = "; ".join(
        f"{row.figure} on {row.dataset} with {row.n_labeled} labels ({row.ratio:.2f})"
        for row in worse.itertuples()
    )
    sets_below = own.groupby("dataset")[["error", "labels_error"]].mean()
    above = sets_below.index[sets_below["error"] >= sets_below["labels_error"]].tolist()
    which = f"on every set but {', '.join(above)}" if above else "on every set"
    count = f"Over all figures together the error is below that of labels alone {which}. "
    count += f"Labels alone were nearer in {len(worse)} of {len(own)} comparisons"
    count += f": {named}." if named else "."
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
            "interval holds": by_set["covered"],
            "least often": figures.min(),
            "for": figures.idxmin().map(lambda place: place[1]),
        }
    )
    more = {**formats, "largest ratio of a figure": ".2f", "least often": ".0%"}
    return "\n".join(
        [
            f"{head}\n",
            table(shown, formats),
            f"By set, over all figures and numbers of labels. {count}\n",
            table(sets, more),
            picture("decide_monoculture", words),
        ]
    )


def monoculture_chart(found: pd.DataFrame) -> Any:
    import altair as alt

    kept = found[(found["figure"] == "all_wrong") & (found["dataset"] != "all")]
    long = kept.melt(["dataset", "n_labeled"], ["error", "labels_error"], "who", "error of it")
    long["who"] = long["who"].map({"error": "auto", "labels_error": "labels alone"})
    told = series(long, "who")
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


def shift() -> str:
    alarms, errors = read("decide_shift_alarms"), read("decide_shift_errors")
    first = alarms[alarms["dataset"] == "all"].drop(columns="dataset")
    first = first.rename(
        columns={
            "n_labeled": "labels",
            "label_safe": "label shift called safe",
            "covariate_safe": "covariate shift called safe",
            "limit_scores": "best test on scores",
            "limit_classes": "if all classes were known",
        }
    )
    second = errors[errors["dataset"] == "all"].drop(columns="dataset")
    second = second.rename(columns={"n_labeled": "labels"})
    percents = dict.fromkeys(["alarm", *first.columns[4:]], ".0%")
    numbers = dict.fromkeys(["as it is", "label", "covariate", "by_class", "by_score"], ".3f")
    draw("decide_shift", shift_chart(alarms))
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
            f"Without a shift {told['none'][0]} of the runs raised an alarm; covariate shift was "
            f"found in {told['covariate'][0]}. A halved class was found in {told['halved'][0]} of "
            f"the runs with 50 labels and a doubled one in {told['doubled'][0]}; the best test on "
            f"scores would find {told['halved'][1]} and {told['doubled'][1]}, and one that knew "
            f"the class of every row {told['halved'][2]} and {told['doubled'][2]}.\n",
            "Alarms (D104 or D108), with the positives of the unlabeled rows halved or doubled, "
            f"with other rows, and without any shift ({origin('decide_shift_alarms')}):\n",
            table(first, percents),
            picture("decide_shift", words),
            "What can be found at all: the share of runs with an alarm beside the power of the "
            "best test on scores, and of one that knows the class of every unlabeled row, both at "
            "the level of 2 %. (An alarm is any of three tests, 5 % together, so that it may be "
            "above the power of one.)\n",
            table(by_set, percents),
            "Mean absolute error as it is, with labels weighted by a correction, and with a design "
            f"that says how rows were chosen ({origin('decide_shift_errors')}):\n",
            table(second, numbers),
        ]
    )


def shift_chart(alarms: pd.DataFrame) -> Any:
    import altair as alt

    kept = alarms[alarms["dataset"] != "all"]
    told = series(kept, "shift")
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
        "thresholds": thresholds,
        "monoculture": monoculture,
        "shift": shift,
        "choices": choices,
    },
    "labeling.md": {"memory": memory, "suggestion": suggestion, "plan": plan},
    "groups.md": {"groups": groups, "many_groups": many_groups, "subgroups": subgroups},
}


def main() -> None:
    for page, parts in PARTS.items():
        text = (DOCS / page).read_text(encoding="utf-8")
        for name, make in parts.items():
            mark = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end {name} -->)", re.DOTALL)
            try:
                made = make()
            except FileNotFoundError as error:
                print(f"{name}: {error.filename} is not there yet")
                continue
            text = mark.sub(lambda found, made=made: found[1] + made + found[2], text)  # type: ignore[misc]
        (DOCS / page).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
