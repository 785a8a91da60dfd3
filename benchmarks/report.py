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
from benchmarks.paper import HIGHER, LOWER, REPRODUCES, paper_file
from benchmarks.provenance import read
from benchmarks.trends import trends

SECTIONS: list[tuple[str, str, Callable[[pd.DataFrame], str]]] = []
FIGURE_MODULES = {"all_sets_overall": "all_sets"}
"""Results whose figure is drawn by a script of another name."""
UNDRAWN = ("all_sets",)
"""Results without a figure."""


def section(name: str, title: str) -> Callable[[Any], Any]:
    """Register the text of one result file."""

    def register(text: Callable[[pd.DataFrame], str]) -> Callable[[pd.DataFrame], str]:
        SECTIONS.append((name, title, text))
        return text

    return register


def table(frame: pd.DataFrame, digits: int = 2) -> str:
    """A Markdown table; numbers rounded, missing ones empty."""

    def cell(value: object) -> str:
        if isinstance(value, float):
            return "" if value != value else f"{value:.{digits}f}"
        return str(value)

    head = "| " + " | ".join(map(str, frame.columns)) + " |"
    rule = "|" + "---|" * len(frame.columns)
    rows = ["| " + " | ".join(cell(v) for v in row) + " |" for row in frame.itertuples(index=False)]
    return "\n".join([head, rule, *rows])


def points(frame: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    """Errors in points (hundredths), as the paper prints them."""
    return frame.assign(**{column: 100 * frame[column] for column in columns})


@section("main_tables", "Main tables: CivilComments and MultiNLI")
def main_tables(frame: pd.DataFrame) -> str:
    shown = points(frame, ["mae", "ci95", "paper", "paper_ci95"])
    shown = shown.assign(difference=shown["mae"] - shown["paper"])
    parts = []
    for (dataset, metric), part in shown.groupby(["dataset", "metric"], sort=False):
        columns = ["n_labeled", "method", "mae", "ci95", "paper", "paper_ci95", "difference"]
        parts.append(f"### {dataset}, {metric}\n")
        parts.append(table(part[[*columns, "verdict", "rmae"]]))
        parts.append("")
    known = frame[frame["verdict"].isin([REPRODUCES, LOWER, HIGHER])]
    counts = known.groupby("method")["verdict"].value_counts().unstack(fill_value=0)
    verdicts = counts.reset_index()
    return (
        "Mean absolute error in points, half-widths of 95 % intervals, the paper's figures beside "
        "ours (its tables S3 to S6, S11 and S12, figures 2 and 3). A cell reproduces where the "
        "difference is within both half-widths added; a lower error than the paper's is not a "
        "success but a figure that does not reproduce.\n\nCells by verdict:\n\n"
        + table(verdicts)
        + "\n\n"
        + "\n".join(parts)
        + ensemble_reading(frame)
    )


def ensemble_reading(frame: pd.DataFrame) -> str:
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
        f"**SSME as published against averaging the classifiers**: in {no_better} of {len(wide)} "
        "cells it is not better than the ensemble by more than the noise of the two.",
        f"**SSME as published against labels alone**: worse in {worse} of {len(wide)} cells"
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
            f"**Our own `auto` on these two sets**: a larger error than SSME's in {len(behind)} of "
            f"{len(wide)} cells" + (f" ({', '.join(behind)})." if behind else ".")
        )
    return "\n\n".join(lines)


@section("all_sets_overall", "All real sets: which method can be trusted?")
def all_sets_overall(frame: pd.DataFrame) -> str:
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
        "Geometric mean over set x metric cells of the error relative to labels alone (RMAE). "
        "1 means: no better than ignoring the unlabeled rows.\n\n"
        + table(ordered)
        + f"\n\nCells in which SSME as published is worse than labels alone: {told}."
    )


@section("all_sets", "All real sets, cell by cell (auto, ssme, ensemble)")
def all_sets(frame: pd.DataFrame) -> str:
    chosen = frame[frame["method"].isin(["auto", "ssme", "ensemble"])]
    wide = chosen.pivot_table(
        index=["dataset", "metric"], columns=["method", "n_labeled"], values="rmae"
    )
    wide.columns = [f"{method} {n}" for method, n in wide.columns]
    coverage = frame[frame["method"] == "auto"].groupby(["dataset", "metric"])["coverage"].mean()
    return table(wide.join(coverage.rename("auto coverage")).reset_index())


@section("per_classifier", "Classifier by classifier, 20 labels")
def per_classifier(frame: pd.DataFrame) -> str:
    columns = ["truth", "estimate", "spread", "mae", "paper_truth", "paper_estimate"]
    shown = points(frame, [*columns, "paper_spread"])
    names = ["metric", "model", "method", *columns, "paper_spread"]
    parts = [
        f"### Classifier by classifier: {dataset}\n\n" + table(part[names])
        for dataset, part in shown.groupby("dataset")
    ]
    return (
        "Mean estimate over runs, 1.96 standard deviations of it (spread) and mean absolute error, "
        "in points, 20 labels, beside the paper's estimate and spread where it has them "
        "(CivilComments).\n\n" + "\n\n".join(parts)
    )


@section("ess", "Effective sample size")
def ess(frame: pd.DataFrame) -> str:
    wide = frame.pivot_table(
        index=["dataset", "metric", "method"], columns="n_labeled", values="ess"
    )
    wide.columns = [f"with {n} labels" for n in wide.columns]
    at_20 = frame[(frame["n_labeled"] == 20) & (frame["metric"] == "ece")]
    mean = at_20.groupby("method")["ess"].mean().sort_values(ascending=False)
    told = ", ".join(f"{method} {value:.0f}" for method, value in mean.items())
    return (
        "The number of labels (10 to 1,000) with which labels alone do as well.\n\n"
        + table(wide.reset_index(), 0)
        + f"\n\nFor ECE with 20 labels, mean over the two sets: {told}. The paper, over its own "
        "tasks: SSME 539, the next best method 110."
    )


@section("ssme_vs_ssme_m", "SSME against SSME-M")
def ssme_vs_ssme_m(frame: pd.DataFrame) -> str:
    keys = ["dataset", "metric", "n_labeled"]
    wide = points(frame, ["mae"]).pivot_table(index=keys, columns="method", values="mae")
    wide["ssme_m / ssme"] = wide["ssme_m"] / wide["ssme"]
    better = (wide["ssme_m / ssme"] > 1).sum()
    return (
        "Mean absolute error in points: all classifiers together, or one at a time.\n\n"
        + table(wide.reset_index())
        + f"\n\nSSME has the smaller error in {better} of {len(wide)} cells; the ensemble, which "
        f"fits nothing, has a smaller one than SSME in {(wide['ensemble'] < wide['ssme']).sum()}."
    )


def variant_table(frame: pd.DataFrame) -> str:
    shown = points(frame[frame["metric"].isin(["accuracy", "ece"])], ["mae"])
    wide = shown.pivot_table(index=["n_labeled", "method"], columns="metric", values="mae")
    return "Mean absolute error in points, CivilComments.\n\n" + table(wide.reset_index())


def best_at(frame: pd.DataFrame, metric: str = "accuracy") -> str:
    part = frame[frame["metric"] == metric]
    best = part.loc[part.groupby("n_labeled")["mae"].idxmin()]
    return "; ".join(
        f"at {row.n_labeled} labels {row.method} ({100 * row.mae:.2f} points)"
        for row in best.itertuples()
    )


@section("bandwidths", "Bandwidth rule")
def bandwidths(frame: pd.DataFrame) -> str:
    return (
        variant_table(frame)
        + "\n\nThe paper: Sheather-Jones 2.3 / 2.2 / 2.1 points of accuracy, Silverman 3.8 / 6.5 / "
        "4.7, fixed 1.0: 3.6 / 6.2 / 5.5, fixed 2.0: 4.4 / 4.4 / 3.2. Here the smallest error in "
        f"accuracy: {best_at(frame)}. The ensemble row is the same estimate without any density."
    )


@section("kernels", "Kernel")
def kernels(frame: pd.DataFrame) -> str:
    return variant_table(frame) + "\n\nThe paper finds no significant difference between kernels."


@section("initialization", "Initialization")
def initialization(frame: pd.DataFrame) -> str:
    return (
        variant_table(frame)
        + "\n\nThe paper: draw 3.4 / 4.3 / 3.6 points of accuracy, knn 4.6 / 4.0 / 3.3: comparable."
    )


@section("classifiers", "More classifiers")
def classifiers(frame: pd.DataFrame) -> str:
    wide = points(frame[frame["metric"].isin(["accuracy", "ece"])], ["mae"]).pivot_table(
        index="classifiers", columns=["method", "metric"], values="mae"
    )
    wide.columns = [f"{method} {metric}" for method, metric in wide.columns]
    return (
        "Mean absolute error in points with 1 to 7 of the CivilComments classifiers, 20 labels.\n\n"
        + table(wide.reset_index())
        + "\n\nThe paper (accuracy): 4.71 with 2, 3.08 with 3, 2.73, 2.53, 2.35, 2.23 with 7."
    )


@section("llm", "Case study: large language models")
def llm(frame: pd.DataFrame) -> str:
    wide = frame.pivot_table(
        index=["dataset", "metric", "method"], columns="n_labeled", values="rmae"
    )
    wide.columns = [f"RMAE at {n}" for n in wide.columns]
    at_20 = frame[frame["n_labeled"] == 20]
    mean = 1 / at_20.groupby(["method", "dataset"])["rmae"].mean().unstack()
    gains = table(mean.reset_index())
    worse = frame[(frame["method"] == "ssme") & (frame["rmae"] > 1)]
    told = ", ".join(f"{r.dataset} {r.metric} {r.n_labeled}" for r in worse.itertuples()) or "none"
    return (
        "The paper's AG News predictions are not public; MultiNLI is its own, and MMLU-Pro holds "
        "real answers of nine LLMs. Such an answer has one number, the mean probability of its "
        "tokens: the chosen option gets it and the nine others share the rest evenly. Error "
        f"relative to labels alone (RMAE).\n\n{table(wide.reset_index())}\n\n"
        "Improvement over labels alone with 20 labels, 1 / mean RMAE over the metrics of a set "
        "(the paper, over MultiNLI and AG News: SSME 2.3, Majority-Vote 1.3):\n\n"
        f"{gains}\n\n"
        f"Cells in which SSME as published is worse than labels alone: {told}."
    )


@section("subgroups", "Case study: subgroups")
def subgroups(frame: pd.DataFrame) -> str:
    wide = frame.pivot_table(index=["dataset", "category"], columns="method", values="rmae")
    paper = paper_file("subgroups").set_index("method").T.rename_axis("category")
    return (
        "Mean over metrics and the subgroups of a category of the error relative to labels alone "
        "(RMAE), 20 labels in all; ages in decades; labels alone fall back to all labeled rows "
        "where a group has none. MIMIC-IV is not public: Adult and diabetes readmission stand in, "
        "so these figures neither reproduce nor refute the paper's.\n\n"
        + table(wide.reset_index())
        + "\n\nThe paper's table 1 (MIMIC-IV):\n\n"
        + table(paper.reset_index())
    )


@section("synthetic_trends", "Synthetic trends (figure S2)")
def synthetic_trends(frame: pd.DataFrame) -> str:
    parts = []
    chosen = frame[frame["metric"] == "accuracy"]
    for (reading, noise, axis), part in chosen.groupby(["reading", "noise", "axis"]):
        wide = points(part, ["mae"]).pivot_table(index="value", columns="method", values="mae")
        told = f"Scores {reading}, {noise} noise, by {axis}:"
        parts.append(f"{told}\n\n" + table(wide.reset_index()) + "\n")
    return (
        "Mean absolute error of accuracy in points, 20 labels. The paper draws the scores "
        "themselves; the other reading feeds calibrated log-odds. The verdicts by reading and "
        "density are in [the trends](#the-papers-trends); why SSME follows the ensemble is in "
        "[SSME as published](../docs/ssme-as-published.md#why-it-matches-the-ensemble-too).\n\n"
        + "\n".join(parts)
    )


@section("bounds", "Bounds (figure S1)")
def bounds(frame: pd.DataFrame) -> str:
    worst = frame.groupby(["metric", "epsilon"])["bound"].max().reset_index()
    return "Largest bound over all classifiers, by error in the separation:\n\n" + table(worst, 3)


@section("ensembling", "Ensembling against miscalibration (figure S3)")
def ensembling(frame: pd.DataFrame) -> str:
    wide = points(frame, ["mae"]).pivot_table(
        index=["metric", "bend"], columns="method", values="mae"
    )
    return (
        "Mean absolute error in points; bend 1 leaves the scores as they are, above 1 they are "
        "overconfident, below 1 underconfident.\n\n" + table(wide.reset_index())
    )


@section("cost", "Computational cost")
def cost(frame: pd.DataFrame) -> str:
    shown = frame[["method", "ratio_to_labeled"]].sort_values("ratio_to_labeled")
    return (
        "One evaluation with intervals on 1,020 rows and 7 classifiers, one core, as a ratio to "
        "`labeled` in the same run. The paper: SSME 21.5 s, Bayesian calibration 32.1 s.\n\n"
        + table(shown, 1)
    )


@section("ssme_paper", "SSME and SSME-M under both presets")
def ssme_paper(frame: pd.DataFrame) -> str:
    columns = ["mae", "ci95", "paper", "paper_ci95"]
    shown = points(frame, columns)
    counts = frame[frame["verdict"].notna()].groupby(["dataset", "method"])["verdict"]
    return (
        "Mean absolute error in points. Cells by verdict:\n\n"
        + table(counts.value_counts().unstack(fill_value=0).reset_index())
        + "\n\n"
        + table(shown[["dataset", "method", "n_labeled", "metric", *columns, "verdict"]])
    )


@section("ground_truth", "Ground truth (tables S1 and S2)")
def ground_truth(frame: pd.DataFrame) -> str:
    known = frame[(frame["model"] != "all") & frame["paper"].notna()]
    gap = 100 * (known["ours"] - known["paper"]).abs()
    return (
        "Metrics of every classifier on all rows, as fractions; correlation is the mean over pairs "
        f"of classifiers. Largest difference from the paper's figures: {gap.max():.2f} points over "
        f"{len(gap)} of them.\n\n"
        + table(frame[["dataset", "model", "metric", "ours", "paper"]], 3)
    )


@section("theory", "Theorem 1 measured")
def theory(frame: pd.DataFrame) -> str:
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
        "The 90 % quantile of the error of UL+ in the separation beside theorem 1's bound with all "
        "open constants 1, where the assumptions hold and where one is broken; SSME with Gaussians "
        "is held to the bound on AUC ([theory](../docs/theory.md)).\n\n"
        + table(pd.DataFrame(verdict))
        + "\n\n"
        + table(frame[[*columns, *more]], 3)
    )


@section("flow_readings", "Readings of the flow (tables S14 and S15)")
def flow_readings(frame: pd.DataFrame) -> str:
    shown = points(frame, ["mae", "ci95", "paper", "paper_ci95"])
    shown = shown.assign(
        error=shown["mae"].map("{:.2f}".format) + " (" + shown["ci95"].map("{:.2f}".format) + ")"
    )
    keys = ["dataset", "metric", "n_labeled"]
    wide = shown.pivot(index=keys, columns="method", values="error")
    wide["the paper's SSME-NF"] = shown.groupby(keys)["paper"].first()
    counts = frame[frame["verdict"].notna()].groupby("method")["verdict"].value_counts()
    return (
        "Mean absolute error in points, half-widths of 95 % intervals in brackets, beside the "
        "paper's SSME-NF where it has a figure. Readings by verdict:\n\n"
        + table(counts.unstack(fill_value=0).reset_index())
        + "\n\n"
        + table(wide.reset_index())
    )


@section("rivals_paper", "Rivals")
def rivals_paper(frame: pd.DataFrame) -> str:
    counts = frame[frame["verdict"].notna()].groupby("method")["verdict"]
    return (
        "The other methods, and readings of them that the paper leaves open, by verdict "
        "([what is behind each](../docs/rivals.md)):\n\n"
        + table(counts.value_counts().unstack(fill_value=0).reset_index())
    )


def caption(name: str, frame: pd.DataFrame) -> str:
    """Runs, command and state of the source of one result."""
    line = read(RESULTS).set_index("experiment").loc[name]
    told = f"Runs: {', '.join(map(str, sorted(set(frame['runs']))))}. " if "runs" in frame else ""
    note = f" Note: {line['note']}." if line["note"] else ""
    return f"*{told}`{line['command']}`, source of commit {line['commit']}.{note}*"


def headline_table() -> str:
    """The first table: what the paper says, what its tables give, what ours give."""
    frame = pd.read_csv(RESULTS / "headline.csv", keep_default_na=False, na_values={"ours": [""]})

    def figure(value: object) -> str:
        return "" if value in ("", None) or value != value else f"{float(str(value)):.3g}"

    rows = [
        {
            "claim": row.claim,
            "the paper": row.paper,
            "its tables, all sets": figure(row.paper_tables),
            "its tables, our set": figure(row.paper_tables_same_set),
            "ours": figure(row.ours) + row.of,
            "verdict": row.verdict,
            "command": f"`{row.command}`",
        }
        for row in frame.itertuples()
    ]
    return table(pd.DataFrame(rows))


def summary() -> list[str]:
    """One screen: every sentence is computed."""
    cells = pd.read_csv(RESULTS / "headline.csv", keep_default_na=False)
    first = cells[cells["experiment"] == "ssme_paper"]
    held = trends()
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

    def told(rows: list[Any]) -> str:
        return "; ".join(f"{r.claim}: {float(r.ours):.0f}{r.of}" for r in rows)

    return [
        f"- **Reproduces**: {told(full)}. In the main tables every cell of {', '.join(whole)}.",
        f"- **Reproduces in part**: {told(rest)}. In the main tables {', '.join(partly)}.",
        f"- **Does not reproduce in any cell of the main tables**: {', '.join(none) or 'none'}.",
        "- **Trends of the paper** ([table](#the-papers-trends)): "
        + ", ".join(f"{word}: {n}" for word, n in words.items())
        + ".",
        "- **Cannot be obtained**: MIMIC-IV tasks (critical outcome, revisit, admission), the "
        "SARS-CoV predictions, AG News and ImnetBG. Stand-ins: Adult and diabetes readmission for "
        "the subgroups, MMLU-Pro for AG News; their figures neither reproduce nor refute.",
        f"- **Beyond the paper**: over all real sets with 20 labels the error relative to labels "
        f"alone is {rmae['auto']:.2f} for `auto` and {rmae['ssme']:.2f} for SSME as published.",
    ]


WHERE = (
    ("Table 1", "subgroups, MIMIC-IV", "subgroups", "stand-ins: the data are not public"),
    ("Figure 1", "explains the method", "", "no result in it"),
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


def anchor(title: str) -> str:
    """GitHub's anchor of a heading."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def where_table(titles: dict[str, str]) -> str:
    rows = [
        {
            "the paper": name,
            "what": what,
            "here": f"[{titles[own]}](#{anchor(titles[own])})" if own in titles else "not here",
            "remark": remark,
        }
        for name, what, own, remark in WHERE
    ]
    return table(pd.DataFrame(rows))


def text() -> str:
    """The whole report, from the committed results."""
    present = [s for s in SECTIONS if (RESULTS / f"{s[0]}.csv").exists()]
    titles = {name: title for name, title, _ in present}
    heads = ["Summary", "Headline claims", "The paper's trends", *titles.values(), LAST]
    parts = [
        "# Benchmark report",
        "",
        "Made by `python -m benchmarks.report` from the files in `benchmarks/results`; "
        "`results/runs.csv` has the command, versions, machine and commit behind each. Figures of "
        "ours are computed from those files, and `make docs-check` fails where this page differs "
        "from them.",
        "",
        "## Contents",
        "",
        *(f"- [{head}](#{anchor(head)})" for head in heads),
        "",
        "## Summary",
        "",
        *summary(),
        "",
        "## Headline claims",
        "",
        "What the paper says, what its own tables give over all its sets and over the one that is "
        "public, and what our runs give on that one. Definitions: `benchmarks/headline.py`. A "
        "figure reproduces within 15 % of the paper's tables on the same set, a count where equal.",
        "",
        headline_table(),
        "",
        caption("headline", pd.DataFrame()),
        "",
        "## The paper's trends",
        "",
        "Error in accuracy, in points. A trend holds or is refuted where the difference exceeds "
        "both half-widths added.",
        "",
        table(trends()),
        "",
    ]
    for name, title, write in present:
        frame = pd.read_csv(RESULTS / f"{name}.csv")
        parts += [f"## {title}", "", caption(name, frame), "", write(frame), ""]
        if (FIGURES / f"{name}.png").exists():
            parts += [f"![{title}](figures/{name}.png)", ""]
    parts += [f"## {LAST}", "", where_table(titles), ""]
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
        if path.read_text(encoding="utf-8") != text():
            raise SystemExit("benchmarks/REPORT.md: run python -m benchmarks.report")
        return
    draw_all()
    path.write_text(text(), encoding="utf-8")
    print("wrote REPORT.md")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing, fail if it differs")
    main(parser.parse_args().check)
