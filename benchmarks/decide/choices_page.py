"""The part of benchmarks/evidence/deciding.md about how far to trust a choice."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.charts import encode_series
from benchmarks.markdown import (
    describe_origin,
    embed_picture,
    format_columns,
    format_table,
    read,
)

BY = ["method", "metric", "n_labeled"]
LEADING = ("accuracy", "roc_auc")
KINDS = ("development", "further", "all")
NAMES = {"best": "P(best)", "better": "P(better)", "within": "P(within)"}
"""What probabilities are called, by what they are about."""


def write_choices() -> str:
    """Sentences, tables and the picture."""
    pairs, said, regret = (read(f"decide_{n}") for n in ("pairs", "probabilities", "regret"))
    words = "Reported P(best) and P(better) against the observed share, by bins of probability"
    return "\n".join(
        [
            f"{tell_coverage(pairs)}\n",
            f"{tell_probabilities(said)}\n",
            "Coverage of the 95% intervals of paired differences (the difference between two "
            "models in a metric), and how often the set of possible best models contains the best "
            f"one. The figures are means over sets ({describe_origin('decide_pairs')}):\n",
            tabulate_coverage(pairs),
            "The next table compares reported probabilities with observed shares, for 20, 50 and "
            "100 labels together; every set has the same weight. Each entry has the mean reported "
            "probability, the observed share ± the standard error of their difference (from "
            "leaving out one set at a time; it is missing where all cases are of one set), and in "
            "brackets the number of cases:\n",
            tabulate_said(said),
            "The expected regret that was reported, and the true regret:\n",
            tabulate_regret(regret),
            embed_picture("decide_probabilities", words),
        ]
    )


def tell_coverage(pairs: pd.DataFrame) -> str:
    """Coverage of differences and sets of the two leading metrics, and the least of any set."""
    told = []
    each = pairs[~pairs["dataset"].isin(KINDS) & pairs["metric"].isin(LEADING)]
    for method in ("auto", "labeled"):
        whole = pairs[(pairs["dataset"] == "all") & pairs["metric"].isin(LEADING)]
        mine, own = whole[whole["method"] == method], each[each["method"] == method]
        least = own.loc[own["pair_coverage"].idxmin()]
        held = own.loc[own["set_coverage"].idxmin()]
        told.append(
            f"With `{method}`, 95% intervals of differences in accuracy and ROC AUC contain the "
            f"true difference in {_format_span(mine['pair_coverage'])} of the cases. "
            "The lowest coverage "
            f"is {least['pair_coverage']:.0%}, on {least['dataset']} ({least['metric']}, "
            f"{least['n_labeled']} labels). The set of possible best models contains the best one "
            f"in {_format_span(mine['set_coverage'])} of the cases. The lowest share is "
            f"{held['set_coverage']:.0%}, on {held['dataset']} ({held['metric']}, "
            f"{held['n_labeled']} labels)."
        )
    return "\n\n".join(told)


def tell_probabilities(said: pd.DataFrame) -> str:
    """Where probabilities are off by more than 0.05, over all sets."""
    rows = []
    whole = _pool(said[said["sets"] == "all"])
    for method in ("auto", "labeled"):
        for what in ("better", "best", "within"):
            mine = whole[(whole["method"] == method) & (whole["what"] == what)]
            mine = mine[mine["cases"] >= 100]
            if mine.empty:
                continue
            off = mine[(mine["said"] - mine["true"]).abs() > 0.05]
            named = {
                metric: "; ".join(f"{row.said:.2f} → {row.true:.2f}" for row in part.itertuples())
                for metric, part in off.groupby("metric")
            }
            own = {metric: named.get(metric, "none") for metric in sorted(set(mine["metric"]))}
            rows.append({"method": method, "probability": NAMES[what], **own})
    return (
        "The next table lists the bins with 100 cases or more in which the reported probability "
        "and the observed share differ by more than 0.05, as reported → observed:\n\n"
        + format_table(pd.DataFrame(rows), {})
    )


def tabulate_coverage(pairs: pd.DataFrame) -> str:
    kinds = pairs[pairs["dataset"].isin(KINDS[:2]) & pairs["metric"].isin(LEADING)]
    each = pairs[~pairs["dataset"].isin(KINDS)]
    near = pairs[pairs["dataset"] == "development"].set_index(BY).index
    least = each.groupby(BY)["pair_coverage"].min().rename("least over all sets")
    merged = kinds.merge(least.reset_index(), on=BY) if len(near) else kinds
    columns = {
        "dataset": "sets",
        "method": "method",
        "metric": "metric",
        "n_labeled": "labels",
        "pair_coverage": "coverage of differences|.1%",
        "pair_se": "its standard error|.1%",
        "least over all sets": "least over all sets|.1%",
        "set_coverage": "95% set contains the best|.1%",
        "set_se": "standard error of this share|.1%",
        "set_size": "models in it|.1f",
    }
    return format_columns(merged, columns)


def tabulate_said(said: pd.DataFrame) -> str:
    whole = _pool(said[said["sets"] == "all"])
    whole["bin"] = [f"{row.low:.2f} to {min(row.high, 1.0):.2f}" for row in whole.itertuples()]
    whole["cell"] = [
        f"{row.said:.2f}, {row.true:.2f}{_format_error(row.se)} ({row.cases:,})"
        for row in whole.itertuples()
    ]
    whole["what"] = whole["what"].map(NAMES)
    wide = whole.pivot_table(
        index=["method", "what", "bin"], columns="metric", values="cell", aggfunc="first"
    )
    return format_table(wide.fillna("-").reset_index(), {})


def _format_error(se: float) -> str:
    return f" ± {se:.2f}" if math.isfinite(se) else ""


def tabulate_regret(regret: pd.DataFrame) -> str:
    shown = regret[regret["sets"].isin(KINDS[:2])]
    columns = {
        "sets": "sets",
        "method": "method",
        "metric": "metric",
        "n_labeled": "labels",
        "said": "regret, reported|.4f",
        "true": "regret in truth|.4f",
        "off_se": "standard error of the difference|.4f",
        "held": "coverage of its interval|.0%",
        "within": "pick within 0.01 of the best|.0%",
        "p_within": "the same, reported|.0%",
        "picked": "pick is the best|.0%",
    }
    return format_columns(shown, columns)


def draw_probabilities(said: pd.DataFrame) -> Any:
    import altair as alt

    sums = _pool(said[said["sets"] == "all"])
    sums = sums[sums["what"].isin(["best", "better"])]
    sums = sums.assign(what=sums["what"].map(NAMES))
    told = encode_series(sums, "method")
    base = alt.Chart(sums).encode(
        x=alt.X("said:Q", title="reported probability", scale=alt.Scale(domain=[0, 1])),
        y=alt.Y("true:Q", title="observed share", scale=alt.Scale(domain=[0, 1])),
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
            alt.layer(line, drawn.transform_filter(_write_condition(what, metric))).properties(
                width=200, height=200, title=f"{what}, {metric}"
            )
            for metric in LEADING
        ]
        panels.append(alt.hconcat(*row))
    return alt.vconcat(*panels)


def _pool(said: pd.DataFrame) -> pd.DataFrame:
    """Numbers of labels together, by their cases; the largest standard error of them."""
    by = ["method", "metric", "what", "low", "high"]
    weighed = said.assign(s=said["said"] * said["cases"], t=said["true"] * said["cases"])
    out = weighed.groupby(by).agg(
        cases=("cases", "sum"), s=("s", "sum"), t=("t", "sum"), se=("se", "max")
    )
    out["said"], out["true"] = out["s"] / out["cases"], out["t"] / out["cases"]
    return out.reset_index()


def _format_span(values: pd.Series) -> str:
    low, high = np.floor(100 * values.min()), np.floor(100 * values.max())
    return f"{low:.0f}% to {high:.0f}%"


def _write_condition(what: str, metric: str) -> str:
    return f"datum.what == '{what}' && datum.metric == '{metric}'"
