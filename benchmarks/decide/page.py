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
from benchmarks.decide.labeling_page import groups, plan, suggestion
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
    count = f"Labels alone were nearer in {len(worse)} of {len(own)} comparisons"
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


def choices() -> str:
    pairs, said, regret = (read(f"decide_{n}") for n in ("pairs", "probabilities", "regret"))
    whole = pairs[pairs["dataset"] == "all"]
    least = pairs[pairs["dataset"] != "all"].groupby(["method", "metric", "n_labeled"])
    worst = least["pair_coverage"].min().rename("least").reset_index()
    merged = whole.merge(worst, on=["method", "metric", "n_labeled"])
    first = merged[
        [
            "method",
            "metric",
            "n_labeled",
            "pair_coverage",
            "least",
            "set_coverage",
            "set_size",
        ]
    ].rename(
        columns={
            "n_labeled": "labels",
            "pair_coverage": "95 % interval of a difference holds",
            "least": "on the worst set",
            "set_coverage": "95 % set holds the best",
            "set_size": "models in it",
        }
    )
    formats = {
        "95 % interval of a difference holds": ".1%",
        "on the worst set": ".1%",
        "95 % set holds the best": ".1%",
        "models in it": ".1f",
    }
    every = regret[regret["dataset"] == "all"]
    second = every[
        ["method", "metric", "n_labeled", "said", "true", "held", "within", "p_within", "picked"]
    ].rename(
        columns={
            "n_labeled": "labels",
            "said": "regret said",
            "true": "regret in truth",
            "held": "its interval holds",
            "within": "pick within 0.01 of the best",
            "p_within": "said",
            "picked": "pick is the best",
        }
    )
    more = {"regret said": ".4f", "regret in truth": ".4f"} | dict.fromkeys(
        second.columns[5:], ".0%"
    )
    draw("decide_probabilities", probability_chart(said))
    words = "P(best) and P(better) said against the share that was true, by bins"
    return "\n".join(
        [
            f"Paired differences and the set of possible best models ({origin('decide_pairs')}):\n",
            table(first, formats),
            "Regret:\n",
            table(second, more),
            "What was said against what was true, with 20, 50 and 100 labels together:\n",
            picture("decide_probabilities", words),
        ]
    )


def probability_chart(said: pd.DataFrame) -> Any:
    import altair as alt

    weighted = said.assign(s=said["said"] * said["count"], t=said["true"] * said["count"])
    sums = weighted.groupby(["method", "metric", "what", "bin"], as_index=False)[
        ["s", "t", "count"]
    ].sum()
    sums["said"], sums["true"] = sums["s"] / sums["count"], sums["t"] / sums["count"]
    sums["what"] = sums["what"].map({"best": "P(best)", "pair": "P(better)"})
    told = series(sums, "method")
    base = alt.Chart(sums).encode(
        x=alt.X("said:Q", title="probability said", scale=alt.Scale(domain=[0, 1])),
        y=alt.Y("true:Q", title="share that was true", scale=alt.Scale(domain=[0, 1])),
        **told,
    )
    even = pd.DataFrame({"said": [0.0, 1.0], "true": [0.0, 1.0]})
    line = alt.Chart(even).mark_line(color="#999999", strokeDash=[4, 4]).encode(x="said", y="true")
    drawn = alt.layer(
        base.mark_line(strokeWidth=1.5), base.mark_point(filled=True, size=55), data=sums
    )
    panels = []
    for what in ("P(best)", "P(better)"):
        row = [
            alt.layer(line, drawn.transform_filter(_is(what, metric))).properties(
                width=200, height=200, title=f"{what}, {metric}"
            )
            for metric in ("accuracy", "roc_auc")
        ]
        panels.append(alt.hconcat(*row))
    return alt.vconcat(*panels)


def _is(what: str, metric: str) -> str:
    return f"datum.what == '{what}' && datum.metric == '{metric}'"


PARTS: dict[str, dict[str, Callable[[], str]]] = {
    "deciding.md": {
        "thresholds": thresholds,
        "monoculture": monoculture,
        "shift": shift,
        "choices": choices,
    },
    "labeling.md": {"suggestion": suggestion, "plan": plan},
    "groups.md": {"groups": groups},
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
