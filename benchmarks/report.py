"""REPORT.md and the figures, made from the committed results: our number, the paper's, a reading.

python -m benchmarks.report            # write the report and draw the figures
python -m benchmarks.report --check    # fail if the report differs from the results
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from importlib import import_module
from typing import Any

import pandas as pd

from benchmarks.experiment import FIGURES, RESULTS, ROOT, draw
from benchmarks.paper import HIGHER, LOWER, REPRODUCES, read_paper_file
from benchmarks.provenance import read
from benchmarks.trends import judge_trends

SECTIONS: list[tuple[str, str, Callable[[pd.DataFrame], str]]] = []
FIGURE_MODULES = {"all_sets_overall": "all_sets"}
"""Results whose figure is drawn by a script of another name."""
UNDRAWN = ("all_sets",)
"""Results without a figure."""
COLUMNS = {
    "dataset": "set",
    "n_labeled": "labels",
    "mae": "error",
    "ci95": "half-width",
    "rmae": "RMAE",
    "paper": "the paper",
    "paper_ci95": "half-width of the paper",
    "paper_truth": "the paper: truth",
    "paper_estimate": "the paper: estimate",
    "paper_spread": "the paper: spread",
    "ratio_to_labeled": "time relative to `labeled`",
    "world": "simulated data",
    "within": "share of runs within the bound",
    "auc_error": "error of AUC",
    "auc_bound": "bound on AUC",
    "auc_within": "share of runs within the bound on AUC",
    "applies": "theorem applies",
}
"""What the tables call the columns of the result files."""
WORDS = (
    "- *Labels alone* is the estimate from the labeled rows by themselves, without any use of the "
    "unlabeled rows.",
    "- *Error* is the mean absolute error over runs, often in *points*, which are hundredths. "
    "*RMAE* (relative mean absolute error) is the error divided by that of labels alone, so that 1 "
    "means no better than ignoring the unlabeled rows. An error that is *N times smaller* has an "
    "RMAE of 1 / N.",
    "- A *run* is one random split of a data set into labeled, unlabeled and test rows. "
    "The *half-width* is that of the 95 % interval of a mean over runs.",
    "- A *cell* is one entry of a table of results: one data set with one metric and, where the "
    "table has several, one number of labels.",
    "- A cell *reproduces* if our figure and the paper's differ by no more than the sum of the two "
    "half-widths. A lower error than the paper's does not count as a success: such a figure does "
    "not reproduce. A *reading* is one way to fill in what the paper leaves open.",
    "- *Coverage* is how often 95 % intervals contain the true value. The *width ratio* is their "
    "width divided by that of labels alone.",
)
"""What the words of the report mean."""


def register_section(name: str, title: str) -> Callable[[Any], Any]:
    """Register the text of one result file."""

    def register(text: Callable[[pd.DataFrame], str]) -> Callable[[pd.DataFrame], str]:
        SECTIONS.append((name, title, text))
        return text

    return register


def format_table(frame: pd.DataFrame, digits: int = 2) -> str:
    """A Markdown table; numbers rounded, missing ones empty."""

    def format_cell(value: object) -> str:
        if isinstance(value, float):
            return "" if value != value else f"{value:.{digits}f}"
        return str(value)

    head = "| " + " | ".join(COLUMNS.get(str(c), str(c)) for c in frame.columns) + " |"
    rule = "|" + "---|" * len(frame.columns)
    rows = [
        "| " + " | ".join(format_cell(v) for v in row) + " |"
        for row in frame.itertuples(index=False)
    ]
    return "\n".join([head, rule, *rows])


def to_points(frame: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    """Errors in points (hundredths), as the paper prints them."""
    return frame.assign(**{column: 100 * frame[column] for column in columns})


@register_section("main_tables", "Main tables: CivilComments and MultiNLI")
def write_main_tables(frame: pd.DataFrame) -> str:
    shown = to_points(frame, ["mae", "ci95", "paper", "paper_ci95"])
    shown = shown.assign(difference=shown["mae"] - shown["paper"])
    parts = []
    for (dataset, metric), part in shown.groupby(["dataset", "metric"], sort=False):
        columns = ["n_labeled", "method", "mae", "ci95", "paper", "paper_ci95", "difference"]
        parts.append(f"### {dataset}, {metric}\n")
        parts.append(format_table(part[[*columns, "verdict", "rmae"]]))
        parts.append("")
    known = frame[frame["verdict"].isin([REPRODUCES, LOWER, HIGHER])]
    counts = known.groupby("method")["verdict"].value_counts().unstack(fill_value=0)
    verdicts = counts.reset_index()
    return (
        "The tables have the mean absolute error in points and the half-width of its 95 % "
        "interval, with the paper's figures beside ours (its tables S3 to S6, S11 and S12, and "
        "figures 2 and 3).\n\nNumber of cells by verdict:\n\n"
        + format_table(verdicts)
        + "\n\n"
        + "\n".join(parts)
        + compare_with_ensemble(frame)
    )


def compare_with_ensemble(frame: pd.DataFrame) -> str:
    """Where SSME as published is no better than the mean score, or worse than labels alone."""
    keys = ["dataset", "metric", "n_labeled"]
    known = frame.assign(ci95=frame["ci95"].fillna(0.0))
    wide = known.pivot_table(index=keys, columns="method", values=["mae", "ci95"])
    ssme, mean = wide["mae"]["ssme"], wide["mae"]["ensemble"]
    noise = wide["ci95"]["ssme"] + wide["ci95"]["ensemble"]
    no_better = (ssme > mean - noise).sum()
    alone = wide["mae"]["labeled"]
    worse = (ssme > alone).sum()
    lines = [
        f"**SSME as published compared with the mean score of the classifiers** (`ensemble`): in "
        f"{no_better} of {len(wide)} cells SSME is not better by more than the two half-widths "
        "together.",
        f"**SSME as published compared with labels alone**: SSME is worse in {worse} of "
        f"{len(wide)} cells"
        + (
            ": " + ", ".join(" ".join(map(str, k)) for k in ssme[ssme > alone].index) + "."
            if worse
            else "."
        ),
    ]
    if "auto" in wide["mae"]:
        ours = wide["mae"]["auto"]
        behind = [" ".join(map(str, key)) for key in ours[ours > ssme].index]
        lines.append(
            "**Our own `auto` on these two sets**: it has a larger error than SSME in "
            f"{len(behind)} of {len(wide)} cells" + (f" ({', '.join(behind)})." if behind else ".")
        )
    return "\n\n".join(lines)


@register_section("all_sets_overall", "All real sets: which method can be trusted?")
def write_all_sets_overall(frame: pd.DataFrame) -> str:
    wide = frame.pivot(index="method", columns="n_labeled", values="rmae")
    wide.columns = [f"RMAE at {n}" for n in wide.columns]
    others = frame[frame["n_labeled"] == 100].set_index("method")
    wide["worst cell at 100"] = others["worst"].map("{:.2f}".format) + " " + others["worst_cell"]
    wide["cells above 1 at 100"] = (
        others["cells_above_1"].astype(str) + " of " + others["cells"].astype(str)
    )
    wide["coverage at 100"] = others["coverage"]
    wide["width ratio at 100"] = others["width_ratio"]
    ordered = wide.sort_values(wide.columns[0]).reset_index()
    above = frame[(frame["method"] == "ssme")].set_index("n_labeled")["cells_above_1"].to_dict()
    told = ", ".join(f"{count} at {n} labels" for n, count in above.items())
    return (
        "The table has the geometric mean of RMAE over all cells, which here are all combinations "
        "of a set and a metric, and the largest RMAE of a cell.\n\n"
        + format_table(ordered)
        + f"\n\nNumber of cells in which SSME as published is worse than labels alone: {told}."
    )


@register_section("all_sets", "All real sets, cell by cell (auto, ssme, ensemble)")
def write_all_sets(frame: pd.DataFrame) -> str:
    chosen = frame[frame["method"].isin(["auto", "ssme", "ensemble"])]
    wide = chosen.pivot_table(
        index=["dataset", "metric"], columns=["method", "n_labeled"], values="rmae"
    )
    wide.columns = [f"{method} {n}" for method, n in wide.columns]
    coverage = frame[frame["method"] == "auto"].groupby(["dataset", "metric"])["coverage"].mean()
    return format_table(wide.join(coverage.rename("auto coverage")).reset_index())


@register_section("per_classifier", "Classifier by classifier, 20 labels")
def write_per_classifier(frame: pd.DataFrame) -> str:
    columns = ["truth", "estimate", "spread", "mae", "paper_truth", "paper_estimate"]
    shown = to_points(frame, [*columns, "paper_spread"])
    names = ["metric", "model", "method", *columns, "paper_spread"]
    parts = [
        f"### Classifier by classifier: {dataset}\n\n" + format_table(part[names])
        for dataset, part in shown.groupby("dataset")
    ]
    return (
        "The tables have the mean estimate over runs with 20 labels, 1.96 standard deviations of "
        "the estimate (spread) and the mean absolute error, in points. The paper's estimate and "
        "spread stand beside them where the paper has them (CivilComments).\n\n"
        + "\n\n".join(parts)
    )


@register_section("ess", "Effective sample size")
def write_ess(frame: pd.DataFrame) -> str:
    wide = frame.pivot_table(
        index=["dataset", "metric", "method"], columns="n_labeled", values="ess"
    )
    wide.columns = [f"with {n} labels" for n in wide.columns]
    at_20 = frame[(frame["n_labeled"] == 20) & (frame["metric"] == "ece")]
    mean = at_20.groupby("method")["ess"].mean().sort_values(ascending=False)
    told = ", ".join(f"{method} {value:.0f}" for method, value in mean.items())
    return (
        "The effective sample size is the number of labels, from 10 to 1,000, with which labels "
        "alone have the same error.\n\n"
        + format_table(wide.reset_index(), 0)
        + f"\n\nThe means over the two sets for ECE with 20 labels are: {told}. The paper reports "
        "539 for SSME and 110 for the next best method, over its own tasks."
    )


@register_section("ssme_vs_ssme_m", "SSME against SSME-M")
def write_ssme_vs_ssme_m(frame: pd.DataFrame) -> str:
    keys = ["dataset", "metric", "n_labeled"]
    wide = to_points(frame, ["mae"]).pivot_table(index=keys, columns="method", values="mae")
    wide["ssme_m / ssme"] = wide["ssme_m"] / wide["ssme"]
    better = (wide["ssme_m / ssme"] > 1).sum()
    return (
        "Mean absolute error in points. SSME is fitted to all classifiers together, and SSME-M to "
        "one at a time.\n\n"
        + format_table(wide.reset_index())
        + f"\n\nSSME has a smaller error than SSME-M in {better} of {len(wide)} cells. The "
        "ensemble, which fits nothing, has a smaller error than SSME in "
        f"{(wide['ensemble'] < wide['ssme']).sum()} cells."
    )


def tabulate_variants(frame: pd.DataFrame) -> str:
    shown = to_points(frame[frame["metric"].isin(["accuracy", "ece"])], ["mae"])
    wide = shown.pivot_table(index=["n_labeled", "method"], columns="metric", values="mae")
    return "Mean absolute error in points on CivilComments.\n\n" + format_table(wide.reset_index())


def find_best(frame: pd.DataFrame, metric: str = "accuracy") -> str:
    part = frame[frame["metric"] == metric]
    best = part.loc[part.groupby("n_labeled")["mae"].idxmin()]
    return "; ".join(
        f"at {row.n_labeled} labels {row.method} ({100 * row.mae:.2f} points)"
        for row in best.itertuples()
    )


@register_section("bandwidths", "Bandwidth rule")
def write_bandwidths(frame: pd.DataFrame) -> str:
    return (
        tabulate_variants(frame)
        + "\n\nThe paper's errors of accuracy with 20 / 50 / 100 labels, in points, are "
        "2.3 / 2.2 / 2.1 with the rule of Sheather and Jones, 3.8 / 6.5 / 4.7 with Silverman's, "
        "3.6 / 6.2 / 5.5 with the fixed bandwidth 1.0 and 4.4 / 4.4 / 3.2 with 2.0. The smallest "
        f"errors of accuracy here are: {find_best(frame)}. The rows `ensemble` have the same "
        "estimate without any density."
    )


@register_section("kernels", "Kernel")
def write_kernels(frame: pd.DataFrame) -> str:
    return (
        tabulate_variants(frame) + "\n\nThe paper finds no significant difference between kernels."
    )


@register_section("initialization", "Initialization")
def write_initialization(frame: pd.DataFrame) -> str:
    return (
        tabulate_variants(frame)
        + "\n\nThe paper's errors of accuracy with 20 / 50 / 100 labels, in points, are "
        "3.4 / 4.3 / 3.6 for `draw` and 4.6 / 4.0 / 3.3 for `knn`, which it calls comparable."
    )


@register_section("classifiers", "More classifiers")
def write_classifiers(frame: pd.DataFrame) -> str:
    wide = to_points(frame[frame["metric"].isin(["accuracy", "ece"])], ["mae"]).pivot_table(
        index="classifiers", columns=["method", "metric"], values="mae"
    )
    wide.columns = [f"{method} {metric}" for method, metric in wide.columns]
    return (
        "Mean absolute error in points with 1 to 7 of the classifiers of CivilComments and 20 "
        "labels.\n\n"
        + format_table(wide.reset_index())
        + "\n\nThe paper's errors of accuracy with 2 to 7 classifiers are 4.71, 3.08, 2.73, 2.53, "
        "2.35 and 2.23."
    )


@register_section("llm", "Case study: large language models")
def write_llm(frame: pd.DataFrame) -> str:
    wide = frame.pivot_table(
        index=["dataset", "metric", "method"], columns="n_labeled", values="rmae"
    )
    wide.columns = [f"RMAE at {n}" for n in wide.columns]
    at_20 = frame[frame["n_labeled"] == 20]
    mean = 1 / at_20.groupby(["method", "dataset"])["rmae"].mean().unstack()
    gains = format_table(mean.reset_index())
    worse = frame[(frame["method"] == "ssme") & (frame["rmae"] > 1)]
    told = ", ".join(f"{r.dataset} {r.metric} {r.n_labeled}" for r in worse.itertuples()) or "none"
    return (
        "The paper uses MultiNLI and AG News. Its predictions for AG News are not public, and "
        "MMLU-Pro takes their place: it has real answers of nine large language models. Such an "
        "answer comes with one number, the mean probability of its tokens. The chosen option gets "
        "this probability, and the nine other options share the rest evenly. The table has RMAE."
        f"\n\n{format_table(wide.reset_index())}\n\n"
        "The next table has the improvement over labels alone with 20 labels, which is 1 / mean "
        "RMAE over the metrics of a set. The paper reports 2.3 for SSME and 1.3 for Majority-Vote, "
        "over MultiNLI and AG News.\n\n"
        f"{gains}\n\n"
        f"Cells in which SSME as published is worse than labels alone: {told}."
    )


@register_section("subgroups", "Case study: subgroups")
def write_subgroups(frame: pd.DataFrame) -> str:
    wide = frame.pivot_table(index=["dataset", "category"], columns="method", values="rmae")
    paper = read_paper_file("subgroups").set_index("method").T.rename_axis("category")
    return (
        "The table has the mean of RMAE over metrics and over the subgroups of a category, with 20 "
        "labels in all. Ages are grouped by decade. Where a group has no label, labels alone use "
        "all labeled rows. MIMIC-IV is not public, and Adult and diabetes readmission take its "
        "place, so that these figures neither reproduce nor refute the paper's.\n\n"
        + format_table(wide.reset_index())
        + "\n\nThe paper's table 1 (MIMIC-IV):\n\n"
        + format_table(paper.reset_index())
    )


AXES = {
    "c": "separation",
    "d": "number of classifiers",
    "n_u": "number of unlabeled rows",
}
"""What varies in the synthetic trends."""


@register_section("synthetic_trends", "Synthetic trends (figure S2)")
def write_synthetic_trends(frame: pd.DataFrame) -> str:
    parts = []
    chosen = frame[frame["metric"] == "accuracy"]
    for (reading, noise, axis), part in chosen.groupby(["reading", "noise", "axis"]):
        wide = to_points(part, ["mae"]).pivot_table(index="value", columns="method", values="mae")
        told = f"Scores {reading}, {noise} noise, by {AXES[axis]}:"
        parts.append(f"{told}\n\n" + format_table(wide.reset_index()) + "\n")
    return (
        "Mean absolute error of accuracy in points, with 20 labels. The paper draws the scores "
        "themselves (scores as drawn). The other reading gives SSME calibrated log-odds (scores "
        "calibrated). The verdicts by reading and density are in [the trends](#the-papers-trends). "
        "The reason why SSME follows the ensemble is explained in "
        "[SSME as published](../docs/ssme-as-published.md#why-it-matches-the-ensemble-too).\n\n"
        + "\n".join(parts)
    )


@register_section("bounds", "Bounds (figure S1)")
def write_bounds(frame: pd.DataFrame) -> str:
    worst = frame.groupby(["metric", "epsilon"])["bound"].max().reset_index()
    return (
        "The largest bound over all classifiers, by the error in the separation:\n\n"
        + format_table(worst, 3)
    )


@register_section("ensembling", "Ensembling against miscalibration (figure S3)")
def write_ensembling(frame: pd.DataFrame) -> str:
    wide = to_points(frame, ["mae"]).pivot_table(
        index=["metric", "bend"], columns="method", values="mae"
    )
    return (
        "Mean absolute error in points. A bend of 1 leaves the scores as they are. Above 1 they "
        "are made overconfident, and below 1 underconfident.\n\n" + format_table(wide.reset_index())
    )


@register_section("cost", "Computational cost")
def write_cost(frame: pd.DataFrame) -> str:
    shown = frame[["method", "ratio_to_labeled"]].sort_values("ratio_to_labeled")
    return (
        "The time of one evaluation with intervals on 1,020 rows and 7 classifiers, on one core, "
        "divided by the time of `labeled` in the same run. The paper reports 21.5 s for SSME and "
        "32.1 s for Bayesian calibration.\n\n" + format_table(shown, 1)
    )


@register_section("ssme_paper", "SSME and SSME-M under both presets")
def write_ssme_paper(frame: pd.DataFrame) -> str:
    columns = ["mae", "ci95", "paper", "paper_ci95"]
    shown = to_points(frame, columns)
    counts = frame[frame["verdict"].notna()].groupby(["dataset", "method"])["verdict"]
    return (
        "Number of cells by verdict:\n\n"
        + format_table(counts.value_counts().unstack(fill_value=0).reset_index())
        + "\n\nMean absolute error in points:\n\n"
        + format_table(shown[["dataset", "method", "n_labeled", "metric", *columns, "verdict"]])
    )


@register_section("ground_truth", "Ground truth (tables S1 and S2)")
def write_ground_truth(frame: pd.DataFrame) -> str:
    known = frame[(frame["model"] != "all") & frame["paper"].notna()]
    gap = 100 * (known["ours"] - known["paper"]).abs()
    return (
        "Metrics of every classifier on all rows, as fractions. The correlation is the mean over "
        "pairs of classifiers. The largest difference from the paper's figures is "
        f"{gap.max():.2f} points, among {len(gap)} figures.\n\n"
        + format_table(frame[["dataset", "model", "metric", "ours", "paper"]], 3)
    )


@register_section("theory", "Theorem 1 measured")
def write_theory(frame: pd.DataFrame) -> str:
    verdict = []
    for (world, method), part in frame[frame["applies"]].groupby(["world", "method"], sort=False):
        column = "within" if method == "ul_plus" else "auc_within"
        verdict.append(
            {
                "world": world,
                "method": method,
                "settings": len(part),
                "settings with 90 % of runs within the bound": int((part[column] >= 0.9).sum()),
                "lowest share of runs within": part[column].min(),
                "mean AUC error, points": 100 * part["mean_auc_error"].mean(),
            }
        )
    columns = ["world", "axis", "value", "method", "quantile", "bound", "within"]
    more = ["auc_error", "auc_bound", "auc_within", "applies"]
    return (
        "The tables compare the 90 % quantile of the error of UL+ in the separation with the bound "
        "of theorem 1, in which all open constants are set to 1. This is done on simulated data "
        "that meet the assumptions and on data that violate one of them. SSME with Gaussian "
        "densities is compared with the bound on AUC ([theory](../docs/theory.md)).\n\n"
        + format_table(pd.DataFrame(verdict))
        + "\n\n"
        + format_table(frame[[*columns, *more]], 3)
    )


@register_section("flow_readings", "Readings of the flow (tables S14 and S15)")
def write_flow_readings(frame: pd.DataFrame) -> str:
    shown = to_points(frame, ["mae", "ci95", "paper", "paper_ci95"])
    shown = shown.assign(
        error=shown["mae"].map("{:.2f}".format) + " (" + shown["ci95"].map("{:.2f}".format) + ")"
    )
    keys = ["dataset", "metric", "n_labeled"]
    wide = shown.pivot(index=keys, columns="method", values="error")
    wide["the paper's SSME-NF"] = shown.groupby(keys)["paper"].first()
    counts = frame[frame["verdict"].notna()].groupby("method")["verdict"].value_counts()
    return (
        "Number of cells by reading and verdict:\n\n"
        + format_table(counts.unstack(fill_value=0).reset_index())
        + "\n\nMean absolute error in points, with half-widths of 95 % intervals in brackets, "
        "beside the paper's SSME-NF where it has a figure:\n\n" + format_table(wide.reset_index())
    )


@register_section("rivals_paper", "Rivals")
def write_rivals_paper(frame: pd.DataFrame) -> str:
    counts = frame[frame["verdict"].notna()].groupby("method")["verdict"]
    return (
        "Number of cells by verdict, for the other methods and for readings of them where the "
        "paper leaves something open ([rivals](../docs/rivals.md) explains each):\n\n"
        + format_table(counts.value_counts().unstack(fill_value=0).reset_index())
    )


def write_caption(name: str, frame: pd.DataFrame) -> str:
    """Runs, command and state of the source of one result."""
    line = read(RESULTS).set_index("experiment").loc[name]
    told = f"Runs: {', '.join(map(str, sorted(set(frame['runs']))))}. " if "runs" in frame else ""
    note = f" Note: {line['note']}." if line["note"] else ""
    return f"*{told}`{line['command']}`, source of commit {line['commit']}.{note}*"


def tabulate_headline() -> str:
    """The first table: what the paper says, what its tables give, what ours give."""
    frame = pd.read_csv(RESULTS / "headline.csv", keep_default_na=False, na_values={"ours": [""]})

    def format_figure(value: object) -> str:
        return "" if value in ("", None) or value != value else f"{float(str(value)):.3g}"

    rows = [
        {
            "claim": row.claim,
            "the paper": row.paper,
            "its tables, all sets": format_figure(row.paper_tables),
            "its tables, our set": format_figure(row.paper_tables_same_set),
            "ours": format_figure(row.ours) + row.of,
            "verdict": row.verdict,
            "command": f"`{row.command}`",
        }
        for row in frame.itertuples()
    ]
    return format_table(pd.DataFrame(rows))


TREND_WORDS = {
    "holds": "hold",
    "refuted": "are refuted",
    "within the noise": "are within the noise",
}
"""Verdicts on trends as verbs."""


def write_summary() -> list[str]:
    """One screen: every sentence is computed."""
    cells = pd.read_csv(RESULTS / "headline.csv", keep_default_na=False)
    first = cells[cells["experiment"] == "ssme_paper"]
    held = judge_trends()
    words = held["verdict"].value_counts()
    main = pd.read_csv(RESULTS / "main_tables.csv")
    known = main[main["verdict"].isin([REPRODUCES, LOWER, HIGHER])]
    by_method = known.groupby("method")["verdict"]
    shares = {m: f"{m} {(v == REPRODUCES).sum()} of {len(v)}" for m, v in by_method}
    whole = [m for m, v in by_method if (v == REPRODUCES).all()]
    none = [m for m, v in by_method if (v != REPRODUCES).all()]
    partly = [shares[m] for m in shares if m not in whole and m not in none]
    full = [r for r in first.itertuples() if f" of {float(r.ours):.0f}" == r.of]
    rest = [r for r in first.itertuples() if r not in full]
    overall = pd.read_csv(RESULTS / "all_sets_overall.csv").query("n_labeled == 20")
    rmae = overall.set_index("method")["rmae"]

    def join(rows: list[Any]) -> str:
        return "; ".join(f"{r.claim} ({float(r.ours):.0f}{r.of})" for r in rows)

    return [
        f"- **Reproduces completely**: {join(full)}. In the main tables, every cell of the methods "
        f"{', '.join(whole)}.",
        f"- **Reproduces in part**: {join(rest)}. In the main tables, these numbers of cells: "
        f"{', '.join(partly)}.",
        f"- **Does not reproduce in any cell of the main tables**: {', '.join(none) or 'none'}.",
        "- **Trends of the paper** ([table](#the-papers-trends)), by verdict: "
        + ", ".join(f"{n} {TREND_WORDS.get(word, word)}" for word, n in words.items())
        + ".",
        "- **Data that cannot be obtained**: the tasks of MIMIC-IV (critical outcome, revisit, "
        "admission), the SARS-CoV predictions, AG News and ImnetBG. Adult and diabetes readmission "
        "take the place of MIMIC-IV for the subgroups, and MMLU-Pro that of AG News. Figures from "
        "these other sets neither reproduce nor refute the paper's.",
        f"- **Beyond the paper**: over all real sets with 20 labels the error relative to labels "
        f"alone is {rmae['auto']:.2f} for `auto` and {rmae['ssme']:.2f} for SSME as published.",
    ]


WHERE = (
    ("Table 1", "subgroups, MIMIC-IV", "subgroups", "other sets: the data are not public"),
    ("Figure 1", "explains the method", "", "contains no result"),
    ("Figure 2", "RMAE on binary tasks", "main_tables", "CivilComments only"),
    ("Figure 3", "RMAE of LLM classifiers", "llm", "MultiNLI; MMLU-Pro for AG News"),
    ("Tables S1, S2", "ground truth", "ground_truth", "the two public sets"),
    ("Tables S3 to S6", "errors on binary tasks", "main_tables", "CivilComments only"),
    ("Tables S7 to S10", "classifier by classifier", "per_classifier", ""),
    ("Tables S11, S12", "errors on multiclass tasks", "main_tables", "MultiNLI only"),
    ("Table S13", "kernels", "kernels", ""),
    ("Tables S14, S15", "normalizing flow", "flow_readings", "8 runs"),
    ("Table S16", "ImnetBG", "", "the predictions are not public"),
    ("Table S17", "initialization", "initialization", ""),
    ("Table S18", "number of classifiers", "classifiers", ""),
    ("Table S19", "bandwidths", "bandwidths", ""),
    ("Figure S1", "bounds", "bounds", ""),
    ("Figure S2", "synthetic trends", "synthetic_trends", "both readings of the scores"),
    ("Figure S3", "against the ensemble", "ensembling", ""),
    ("Theorem 1", "bound on the error", "theory", ""),
    ("Section 5", "effective sample size", "ess", ""),
    ("Section 5", "SSME against SSME-M", "ssme_vs_ssme_m", ""),
    ("Appendix D", "run times", "cost", ""),
)
"""Every table and figure of the paper: its name, what it shows, our result, a remark."""


def make_anchor(title: str) -> str:
    """GitHub's anchor of a heading."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def tabulate_places(titles: dict[str, str]) -> str:
    rows = [
        {
            "the paper": name,
            "what": what,
            "here": f"[{titles[own]}](#{make_anchor(titles[own])})"
            if own in titles
            else "not here",
            "remark": remark,
        }
        for name, what, own, remark in WHERE
    ]
    return format_table(pd.DataFrame(rows))


def write_text() -> str:
    """The whole report, from the committed results."""
    present = [s for s in SECTIONS if (RESULTS / f"{s[0]}.csv").exists()]
    titles = {name: title for name, title, _ in present}
    heads = ["Summary", "Headline claims", "The paper's trends", *titles.values(), LAST]
    parts = [
        "# Benchmark report",
        "",
        "This report is made by `python -m benchmarks.report` from the files in "
        "`benchmarks/results`. The file `results/runs.csv` has the command, versions, machine and "
        "commit behind each of them. Our figures are computed from those files, and "
        "`make docs-check` fails if this page differs from them.",
        "",
        "Words used in this report:",
        "",
        *WORDS,
        "",
        "## Contents",
        "",
        *(f"- [{head}](#{make_anchor(head)})" for head in heads),
        "",
        "## Summary",
        "",
        *write_summary(),
        "",
        "## Headline claims",
        "",
        "The table has the claims of the paper's text, what the paper's own tables give over all "
        "its sets and over the one that is public, and what our runs give on the public one. "
        "`benchmarks/headline.py` has the definitions. A figure reproduces if it is within 15 % of "
        "the paper's tables on the same set, and a count if it is equal.",
        "",
        tabulate_headline(),
        "",
        write_caption("headline", pd.DataFrame()),
        "",
        "## The paper's trends",
        "",
        "Each trend says that one error is smaller than another. The errors are those of accuracy, "
        "in points. A trend holds, or is refuted, if the difference exceeds the sum of the two "
        "half-widths. Otherwise it is within the noise.",
        "",
        format_table(judge_trends()),
        "",
    ]
    for name, title, write in present:
        frame = pd.read_csv(RESULTS / f"{name}.csv")
        parts += [f"## {title}", "", write_caption(name, frame), "", write(frame), ""]
        if (FIGURES / f"{name}.png").exists():
            parts += [f"![{title}](figures/{name}.png)", ""]
    parts += [f"## {LAST}", "", tabulate_places(titles), ""]
    return "\n".join(parts)


LAST = "Every table and figure of the paper"


def draw_all() -> None:
    """The figures of all sections."""
    for name, _, _ in SECTIONS:
        if name not in UNDRAWN and (RESULTS / f"{name}.csv").exists():
            module = import_module(f"benchmarks.accuracy.{FIGURE_MODULES.get(name, name)}")
            draw(name, module.draw_figure)


def main(check: bool = False) -> None:
    path = ROOT / "REPORT.md"
    if check:
        if path.read_text(encoding="utf-8") != write_text():
            raise SystemExit("benchmarks/REPORT.md: run python -m benchmarks.report")
        return
    draw_all()
    path.write_text(write_text(), encoding="utf-8")
    print("wrote REPORT.md")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing, fail if it differs")
    main(parser.parse_args().check)
