"""REPORT.md and the figures, made from the committed results: every claim of the paper, and ours.

python -m benchmarks.report            # write the report and draw the figures
python -m benchmarks.report --check    # fail if the report differs from the results
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import pandas as pd

from benchmarks.charts import DRAWINGS
from benchmarks.claims import (
    ABSENT,
    CONFIRMED,
    FAILS,
    FIT,
    METRICS,
    NOISE,
    PARTLY,
    REFUTED,
    STAND_IN,
    TRENDS,
    join,
    list_claims,
    read_theirs,
    tabulate_trends,
)
from benchmarks.decide.page import PICTURES
from benchmarks.experiment import FIGURES, RESULTS, ROOT, draw, save_chart
from benchmarks.markdown import format_rows
from benchmarks.paper import PAPER_METHODS, PAPER_NAMES, REPRODUCES, read_paper_file
from benchmarks.provenance import read
from benchmarks.quotes import read_all_sets

SECTIONS: dict[str, tuple[str, Callable[[pd.DataFrame], str]]] = {}
"""Title and text of each result that has a section."""
MOST_WORDS = 6_000
INTRODUCTION = """\
# Benchmark report

How our SSME and the other methods compare with the paper (Shanmugam et al., *Evaluating
multiple models using labeled and unlabeled data*, NeurIPS 2025), claim by claim. It has seven
tasks. Predictions are public for two: CivilComments (its Toxicity Detection) and MultiNLI."""
RULES = """\
How to read a row:

- *The paper*: what its text says, then, after "our set" (CivilComments) or "MultiNLI", what its
  tables give there. *Ours* is compared with the latter.
- *Error*: mean absolute error over runs, in points (hundredths). *RMAE*: error divided by that of
  labels alone. *N times smaller*: mean of 1 / RMAE (language models: 1 / mean RMAE). *Cell*: one
  set, metric and number of labels.
- A figure *reproduces* within 15% of the paper's, higher or lower, a count if it is equal, a cell
  within the sum of both half-widths of 95% intervals. That one error is smaller is *confirmed* or
  *refuted* beyond the same sum, else *within the noise*; over several pairs it is confirmed if it
  is for all, refuted if more are refuted than confirmed. That errors do not differ is refuted by
  any pair that does.
- `paper` / `public_code`: the [presets of SSME](../docs/ssme-as-published.md). A single figure is
  that of `paper`; `public_code`, where it was run, gives the same verdict.
- *Result*: its file; the [command](#commands) is at the end.

Made by `python -m benchmarks.report` from `benchmarks/results`; a test computes every verdict
again, and `make docs-check` fails if the page differs."""
NAMES = {"civilcomments": "CivilComments", "multinli": "MultiNLI", "mmlupro_llm_logit": "MMLU-Pro"}
"""Sets as a reader knows them."""
AGREES, BY_PRESET = "reproduces or is confirmed", "depends on the preset"
FITTED = "only with a number that was fitted"
SUMMARY = (AGREES, PARTLY, BY_PRESET, NOISE, FITTED, FAILS, REFUTED, STAND_IN, ABSENT)
"""Kinds of verdicts, best first."""


def register(name: str, title: str) -> Callable[[Any], Any]:
    """Register the text of one result file."""

    def keep(text: Callable[[pd.DataFrame], str]) -> Callable[[pd.DataFrame], str]:
        SECTIONS[name] = title, text
        return text

    return keep


def format_table(frame: pd.DataFrame, digits: int = 2) -> str:
    """A Markdown table; numbers rounded, missing ones empty."""

    def format_cell(value: object) -> str:
        if isinstance(value, float):
            return "" if value != value else f"{value:.{digits}f}"
        return str(value)

    rows = ([format_cell(v) for v in row] for row in frame.itertuples(index=False))
    return format_rows(frame.columns, rows).rstrip()


def spread(frame: pd.DataFrame, rows: str | list[str], columns: str | list[str], value: str) -> str:
    """A table of one column of a result, cells by rows and columns."""
    frame = frame.replace({"dataset": NAMES, "metric": METRICS})
    wide = frame.pivot_table(index=rows, columns=columns, values=value, sort=False)
    if isinstance(wide.columns, pd.MultiIndex):
        wide.columns = [" ".join(map(str, names)) for names in wide.columns]
    return format_table(wide.reset_index())


@register("main_tables", "Errors on the paper's sets, 20 labels")
def write_main_tables(frame: pd.DataFrame) -> str:
    def show(row: pd.Series[Any]) -> str:
        ours = f"{100 * row['mae']:.2f}"
        if pd.isna(row["paper"]):
            return ours
        return f"{ours} / {100 * row['paper']:.2f}{' ✓' * (row['verdict'] == REPRODUCES)}"

    at = name_auto(frame[frame["n_labeled"] == 20], "main_tables")
    at = at.replace({"dataset": NAMES, "metric": METRICS})
    at = at.assign(cell=at["dataset"] + " " + at["metric"], shown=at.apply(show, axis=1))
    wide = at.pivot(index="method", columns="cell", values="shown").fillna("")
    cells = [f"{name} {metric}" for name in NAMES.values() for metric in METRICS.values()]
    wide = wide[[cell for cell in cells if cell in wide]]
    return (
        "In points, ours / the paper's; ✓ marks a cell that reproduces. All label counts and "
        "`public_code`: [SSME](evidence/ssme.md). Why other methods differ: "
        "[rivals](evidence/rivals.md).\n\n" + format_table(wide.reset_index())
    )


@register("active_testing", "Active testing by number of labels")
def write_active_testing(frame: pd.DataFrame) -> str:
    shown = frame.assign(mae=100 * frame["mae"], reading=frame["reading"].str.split().str[-1])
    shown = shown[shown["reading"] != "0.1"]
    theirs = read_theirs().query("method == 'Active-Testing'").sort_values("n_labeled")
    binary, language = (
        join(theirs[theirs["dataset"] == title]["mae"], scale=100) for title in PAPER_NAMES.values()
    )
    return (
        "Error of accuracy in points, by the share of labels that is drawn uniformly (ours: "
        f"0.5). With 20, 50 and 100 labels the paper has {binary} on CivilComments and {language} "
        "on MultiNLI. With any share our error falls as labels grow. The paper's does not, and is "
        "that of a few labels. How few is a fit: the paper does not say.\n\n"
        + spread(shown, "n_labeled", ["dataset", "reading"], "mae")
    )


@register("synthetic_trends", "Figure S2 under both presets")
def write_trends(frame: pd.DataFrame) -> str:
    axes = {"n_u": "unlabeled rows", "d": "classifiers", "c": "separation"}
    trends = tabulate_trends().replace({"axis": axes})
    trends["cell"] = trends["errors"] + ", " + trends["verdict"]
    world = ["axis", "reading", "noise"]
    words = trends.pivot(index=world, columns="preset", values="verdict")
    wide = trends.pivot(index=world, columns="preset", values="cell")
    wide = wide.loc[list(axes.values())]
    changed = int((words["paper"] != words["public_code"]).sum())
    wide = wide[list(TRENDS)].rename(columns={"gmm": "Gaussians instead of kernels"})
    return (
        "Error of accuracy in points from the least to the most of each axis, and whether it "
        f"falls. The preset changes {changed} of {len(words)} verdicts. Scores are log-odds *as "
        "drawn*, as the paper says, or *calibrated*; *student* has heavy tails.\n\n"
        + format_table(wide.reset_index().rename(columns={"axis": "more", "noise": "scores"}))
    )


@register("dependencies", "Inferred dependencies")
def write_dependencies(frame: pd.DataFrame) -> str:
    told = [f"{row.dependent:.1f} of {row.pairs}" for row in frame.itertuples()]
    shown = frame.assign(told=told).replace({"dataset": NAMES})
    shown["at"] = shown["dataset"] + ", " + shown["steps"].map("{:,} steps".format)
    wide = shown.pivot(index="penalty", columns="at", values="told").reset_index()
    wide["penalty"] = wide["penalty"].map("{:g}".format)
    return (
        "Pairs of classifiers that the method of Bach et al. (2017), which the paper applied, "
        "infers to depend on each other, by penalty and steps of its optimizer.\n\n"
        + format_table(wide)
    )


@register("all_sets_overall", "All real sets: which method can be trusted?")
def write_all_sets(frame: pd.DataFrame) -> str:
    every, runs = read_all_sets()
    frame = every.reset_index()
    wide = frame.pivot(index="method", columns="n_labeled", values="rmae").add_prefix("RMAE at ")
    last = frame[frame["n_labeled"] == 100].set_index("method")
    above = last[["cells_above_1", "cells"]].astype(int).astype(str)
    wide["above 1 at 100"] = above["cells_above_1"] + "/" + above["cells"]
    wide["coverage at 100"], wide["width ratio"] = last["coverage"], last["width_ratio"]
    return (
        "Geometric mean of RMAE over all sets and metrics, cells worse than labels alone, coverage "
        "of 95% intervals and their width relative to labels alone. Cell by cell: "
        f"[all_sets.csv](results/all_sets.csv). `auto` as it is now, {runs} runs "
        "(`python -m benchmarks.auto.campaign`); in the other tables it is that of the version "
        "given.\n\n" + format_table(wide.sort_values("RMAE at 20").reset_index())
    )


def name_auto(frame: pd.DataFrame, experiment: str) -> pd.DataFrame:
    """``frame`` of a result with the version behind `auto`, which changes with versions."""
    version = read(RESULTS).set_index("experiment").loc[experiment, "ssme"]
    return frame.replace({"method": {"auto": f"auto {version}"}})


@register("llm", "Case study: large language models")
def write_llm(frame: pd.DataFrame) -> str:
    main = pd.read_csv(RESULTS / "main_tables.csv").query("dataset == 'multinli'")
    both = pd.concat([main, frame[frame["dataset"] != "multinli"]])
    at = both[(both["n_labeled"] == 20) & both["method"].isin(frame["method"])]
    at = name_auto(at, "llm")
    return (
        "RMAE with 20 labels; MultiNLI is that of `main_tables`. In place of AG News: real answers "
        "of nine language models to MMLU-Pro, each with one probability. The chosen option gets "
        "it; the other options share the rest.\n\n"
        + spread(at, "method", ["dataset", "metric"], "rmae")
    )


@register("subgroups", "Case study: subgroups")
def write_subgroups(frame: pd.DataFrame) -> str:
    paper = read_paper_file("subgroups").set_index("method").T.rename_axis("category")
    paper = paper.reset_index().melt("category", var_name="method", value_name="rmae")
    both = pd.concat([paper.assign(dataset="the paper: MIMIC-IV"), frame])
    both = both[both["method"].isin([*paper["method"].unique(), "auto"])]
    both = name_auto(both[both["dataset"] != "diabetes_readmit"], "subgroups")
    return (
        "RMAE with 20 labels, mean over metrics and subgroups; another set is in "
        "[subgroups.csv](results/subgroups.csv).\n\n"
    ) + spread(both, ["dataset", "category"], "method", "rmae")


@register("cost", "Computational cost")
def write_cost(frame: pd.DataFrame) -> str:
    alone = frame.set_index("method")["seconds"]
    shown = pd.DataFrame(
        {
            "method": name_auto(frame, "cost")["method"],
            "time / `labeled`": frame["ratio_to_labeled"],
            "/ Bayesian calibration": frame["seconds"] / alone["bayesian_calibration"],
        }
    )
    return (
        "One evaluation with intervals on 1,020 rows and 7 simulated classifiers, one core, least "
        "of the runs.\n\n" + format_table(shown.sort_values("time / `labeled`"))
    )


@register("theory", "Theorem 1 measured")
def write_theory(frame: pd.DataFrame) -> str:
    names = {
        "ul_plus": "UL+",
        "ul_plus, labels in EM": "UL+ with labels in EM",
        "ssme, gmm": "SSME, Gaussians",
        "ssme, gmm, diagonal": "diagonal",
    }
    rows = []
    for world, part in frame[frame["applies"]].groupby("world", sort=False):
        within = part.loc[part["method"] == "ul_plus", "within"]
        wide = part.pivot(index=["axis", "value"], columns="method", values="mean_auc_error")
        errors = 100 * wide.dropna().mean()
        share = {"within": f"{(within >= 0.9).sum()} of {len(within)}", "lowest": within.min()}
        rows.append({"scores": world, **share, **errors[list(names)].rename(names)})
    return (
        "UL+ against the bound on the separation, all open constants 1 "
        "([theory](../docs/theory.md)): settings with at least 90% of runs *within*, and the "
        "*lowest* share. Then errors of AUC in points, where all were fitted; *diagonal* has one "
        "variance for each class and classifier.\n\n" + format_table(pd.DataFrame(rows))
    )


def tabulate_claims() -> str:
    """Every claim, numbered, with its part as a line before the first of it."""
    lines, part = [], ""
    for number, claim in enumerate(list_claims(), start=1):
        if claim.part != part:
            part = claim.part
            head = "| | claim | the paper | ours | verdict | cause or remark | result |"
            lines += ["", f"### {part}", "", head, "|---" * 7 + "|"]
        name = ", ".join(f"`{each}`" for each in claim.experiment.split())
        cells = (number, claim.claim, claim.paper, claim.ours, claim.verdict, claim.cause, name)
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines)


def group_verdict(verdict: str) -> str:
    """The line of the summary to which a verdict belongs."""
    if verdict.startswith(FIT):
        return FITTED
    if " / " in verdict:
        return BY_PRESET
    if verdict in (REPRODUCES, CONFIRMED):
        return AGREES
    return verdict.partition(":")[0]


HEADLINES = (
    "gain",
    "next",
    "on par",
    "language SSME",
    "column ssme",
    "column ssme, public code",
    "trend n_u",
    "trend d",
    "bends accuracy",
    "theorem",
    "cost",
)
"""The claims that the paper is cited for, and those that decide whether they can be trusted."""


def write_summary() -> str:
    """What to take from the table of claims."""
    found = list_claims()
    kinds = [group_verdict(claim.verdict) for claim in found]
    counts = [f"{kind} {kinds.count(kind)}" for kind in SUMMARY if kind in kinds]
    by_key = {claim.key: (row, claim) for row, claim in enumerate(found, start=1)}
    lines = []
    for row, claim in (by_key[key] for key in HEADLINES):
        lines.append([row, claim.claim, claim.paper, claim.ours, claim.verdict])
    head = ["row", "claim", "the paper", "ours", "verdict"]
    columns = {name: by_key[f"column {name}"] for name in PAPER_METHODS if name[:4] != "ssme"}
    told = [f"{name.replace('_', ' ')} {each.ours}" for name, (_, each) in columns.items()]
    first, last = (row for row, _ in (columns["labeled"], columns["active_testing"]))
    rmae = read_all_sets()[0]["rmae"].xs(20, level="n_labeled")
    return (
        f"## In one minute\n\n{format_table(pd.DataFrame(lines, columns=head))}\n\n"
        "The paper's headlines are means over all of its tasks, most of which are not public: ours "
        'are compared with its tables on the same set ("our set", CivilComments).\n\n'
        f"- **All {len(found)} claims, by verdict:** {', '.join(counts)}.\n"
        f"- **Other methods**, cells that reproduce: {', '.join(told)} (rows {first} to {last}). "
        "How far SSME is ahead depends on majority vote.\n"
        f"- **Beyond the paper:** over all real sets with 20 labels RMAE is {rmae['auto']:.2f} for "
        f"`auto` and {rmae['ssme']:.2f} for SSME."
    )


def write_commands() -> str:
    """Command, state of the source and runs of every result of this page."""
    names = {name for claim in list_claims() for name in claim.experiment.split()} | set(SECTIONS)
    lines = read(RESULTS).set_index("experiment")
    lines = lines.loc[sorted(names & set(lines.index))]
    rows = []
    for name, line in lines.iterrows():
        command = line["command"].removeprefix("python -m benchmarks.accuracy ")
        frame = pd.read_csv(RESULTS / f"{name}.csv")
        runs = "/".join(map(str, sorted(set(frame["runs"])))) if "runs" in frame else ""
        drawn = (FIGURES / f"{name}.png").exists()
        figure = f", [figure](figures/{name}.png)" if drawn else ""
        linked = f"[{name}](results/{name}.csv){figure}"
        rows.append([linked, f"`{command}`", runs, line["commit"]])
    head = ["result", "command", "runs", "commit"]
    return "Each follows `python -m benchmarks.accuracy`\n\n" + format_table(
        pd.DataFrame(rows, columns=head)
    )


def write_text() -> str:
    """The whole report, from the committed results."""
    parts = [INTRODUCTION, write_summary(), "\n## Every claim of the paper\n", RULES]
    parts.append(tabulate_claims())
    for name, (title, write) in SECTIONS.items():
        parts += [f"\n## {title}\n", write(pd.read_csv(RESULTS / f"{name}.csv"))]
    return "\n".join([parts[0], "", *parts[1:], "\n## Commands\n", write_commands(), ""])


def draw_all() -> None:
    """The figures of all results."""
    for name in DRAWINGS:
        if (RESULTS / f"{name}.csv").exists():
            draw(name)
    for name, (result, make) in PICTURES.items():
        save_chart(name, make(pd.read_csv(RESULTS / f"{result}.csv")))


def main(check: bool = False) -> None:
    path, text = ROOT / "REPORT.md", write_text()
    words = len(text.split())
    if check and path.read_text(encoding="utf-8") != text:
        raise SystemExit("benchmarks/REPORT.md: run python -m benchmarks.report")
    if words > MOST_WORDS:
        raise SystemExit(f"benchmarks/REPORT.md has {words:,} words, at most {MOST_WORDS:,}")
    if not check:
        draw_all()
        path.write_text(text, encoding="utf-8")
    print(f"REPORT.md: {len(list_claims())} claims, {words:,} words of at most {MOST_WORDS:,}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing, fail if it differs")
    main(parser.parse_args().check)
