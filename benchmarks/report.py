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
from benchmarks.claims import ABSENT, PARTLY, STAND_IN, join, list_claims, read_theirs
from benchmarks.experiment import FIGURES, RESULTS, ROOT, draw
from benchmarks.paper import PAPER_NAMES, REPRODUCES, read_paper_file
from benchmarks.provenance import read

SECTIONS: dict[str, tuple[str, Callable[[pd.DataFrame], str]]] = {}
"""Title and text of each result that has a section."""
MOST_WORDS = 6_000
INTRODUCTION = """\
# Benchmark report

Made by `python -m benchmarks.report` from the files in `benchmarks/results`; `make docs-check`
fails if this page differs from them. Every verdict is computed from those files by the rule of its
kind (`benchmarks/claims.py`), and a test computes it again.

- *Error*: mean absolute error over runs, in points (hundredths). *RMAE*: error divided by that of
  labels alone. *N times smaller*: RMAE 1 / N. A *cell* is one set, metric and number of labels.
- A figure *reproduces* within 15 % of the paper's tables on the same set, a count if equal, a cell
  within the sum of the two half-widths of 95 % intervals. A lower error than the paper's does not
  count as success. That one of two errors is smaller is *confirmed* or *refuted* beyond the same
  sum; else it is *within the noise*.
- Where a preset of SSME decides, both are given: `paper` / `public_code`.
- The last column names the [command](#commands)."""


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

    lines = [list(map(str, frame.columns)), ["---"] * frame.shape[1]]
    lines += [[format_cell(v) for v in row] for row in frame.itertuples(index=False)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def spread(frame: pd.DataFrame, rows: str | list[str], columns: str | list[str], value: str) -> str:
    """A table of one column of a result, cells by rows and columns."""
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

    at = frame[frame["n_labeled"] == 20]
    at = at.assign(cell=at["dataset"] + " " + at["metric"], shown=at.apply(show, axis=1))
    wide = at.pivot(index="method", columns="cell", values="shown").fillna("")
    return (
        "Points, ours / the paper's; ✓ marks a cell that reproduces. `public_code` is in "
        "[SSME](evidence/ssme.md), the other methods' reasons are in "
        "[rivals](evidence/rivals.md).\n\n" + format_table(wide.reset_index())
    )


@register("active_testing", "Active testing by number of labels")
def write_active_testing(frame: pd.DataFrame) -> str:
    shown = frame.assign(mae=100 * frame["mae"], reading=frame["reading"].str.split().str[-1])
    theirs = read_theirs().query("method == 'Active-Testing'").sort_values("n_labeled")
    binary, language = (
        join(theirs[theirs["dataset"] == title]["mae"], scale=100) for title in PAPER_NAMES.values()
    )
    return (
        "Error of accuracy in points, by the share of the acquisition that is uniform (ours is "
        f"0.5). The paper has {binary} on CivilComments and {language} on MultiNLI "
        "at 20, 50, 100 labels. No share makes our curve flat; a number of labels fixed at a few "
        "gives errors of that size. That number is a fit: the paper does not state it.\n\n"
        + spread(shown, "n_labeled", ["dataset", "reading"], "mae")
    )


@register("all_sets_overall", "All real sets: which method can be trusted?")
def write_all_sets(frame: pd.DataFrame) -> str:
    wide = frame.pivot(index="method", columns="n_labeled", values="rmae").add_prefix("RMAE at ")
    last = frame[frame["n_labeled"] == 100].set_index("method")
    wide["above 1 at 100"] = last["cells_above_1"].astype(str) + "/" + last["cells"].astype(str)
    wide["coverage at 100"], wide["width ratio"] = last["coverage"], last["width_ratio"]
    return (
        "Geometric mean of RMAE over all sets and metrics, cells worse than labels alone, coverage "
        "of 95 % intervals and their width relative to labels alone. Cell by cell: "
        "[all_sets.csv](results/all_sets.csv).\n\n"
        + format_table(wide.sort_values("RMAE at 20").reset_index())
    )


@register("llm", "Case study: large language models")
def write_llm(frame: pd.DataFrame) -> str:
    main = pd.read_csv(RESULTS / "main_tables.csv").query("dataset == 'multinli'")
    both = pd.concat([main, frame[frame["dataset"] != "multinli"]])
    at = both[(both["n_labeled"] == 20) & both["method"].isin(frame["method"])]
    return (
        "RMAE with 20 labels; MultiNLI is that of `main_tables`. MMLU-Pro takes the place of AG "
        "News: real answers of nine language models, each with one number. The chosen option gets "
        "it; the others share the rest.\n\n" + spread(at, "method", ["dataset", "metric"], "rmae")
    )


@register("subgroups", "Case study: subgroups")
def write_subgroups(frame: pd.DataFrame) -> str:
    paper = read_paper_file("subgroups").set_index("method").T.rename_axis("category")
    paper = paper.reset_index().melt("category", var_name="method", value_name="rmae")
    both = pd.concat([paper.assign(dataset="the paper: MIMIC-IV"), frame])
    both = both[both["method"].isin([*paper["method"].unique(), "auto"])]
    return "RMAE with 20 labels, mean over metrics and subgroups.\n\n" + spread(
        both, ["dataset", "category"], "method", "rmae"
    )


@register("presets_choices", "Bandwidths and starts under both presets")
def write_choices(frame: pd.DataFrame) -> str:
    names = ("bandwidths", "initialization")
    paper = pd.concat([pd.read_csv(RESULTS / f"{name}.csv") for name in names])
    paper = paper[~paper["method"].isin(["ensemble", "draw", "public code"])]
    both = pd.concat([paper.assign(method="paper, " + paper["method"]), frame])
    both = both[both["metric"] == "accuracy"].assign(mae=lambda f: 100 * f["mae"])
    return (
        "Error of accuracy on CivilComments in points. Silverman's rule of the public code takes "
        "the mean standard deviation over dimensions, ours the smallest bandwidth.\n\n"
        + spread(both, "method", "n_labeled", "mae")
    )


@register("cost", "Computational cost")
def write_cost(frame: pd.DataFrame) -> str:
    alone = frame.set_index("method")["seconds"]
    shown = pd.DataFrame(
        {
            "method": frame["method"],
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
    rows = []
    for (world, method), part in frame[frame["applies"]].groupby(["world", "method"], sort=False):
        within = part["within" if method == "ul_plus" else "auc_within"]
        rows.append(
            {
                "scores": world,
                "method": method,
                "settings with 90 % of runs within": f"{(within >= 0.9).sum()} of {len(part)}",
                "lowest share": within.min(),
                "error of AUC, points": 100 * part["mean_auc_error"].mean(),
            }
        )
    return (
        "UL+ against the bound on the separation, SSME with Gaussians against that on AUC, all "
        "open constants 1 ([theory](../docs/theory.md)).\n\n" + format_table(pd.DataFrame(rows))
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


def write_summary() -> str:
    """How many claims have which verdict."""
    claims = list_claims()
    verdicts = pd.Series([claim.verdict for claim in claims])
    good = verdicts.isin([REPRODUCES, "confirmed", "drawn"]) | verdicts.str.startswith(
        "a fit: repr"
    )
    absent, other = verdicts == ABSENT, verdicts == STAND_IN
    partly = verdicts.isin(
        [PARTLY, "confirmed in most", "within the noise"]
    ) | verdicts.str.contains(" / ")
    rest = ~(good | absent | other | partly)
    rmae = pd.read_csv(RESULTS / "all_sets_overall.csv").query("n_labeled == 20")
    rmae = rmae.set_index("method")["rmae"]
    return (
        f"**Of {len(claims)} claims, tables and figures {good.sum()} reproduce or are confirmed, "
        f"{partly.sum()} do in part, under one preset or within the noise, {rest.sum()} do not, "
        f"{other.sum()} are not comparable, and {absent.sum()} cannot be had.** SSME's "
        "own cells of the public sets reproduce completely under both presets. Beyond the paper: "
        f"over all real sets with 20 labels RMAE is {rmae['auto']:.2f} for `auto` and "
        f"{rmae['ssme']:.2f} for SSME as published."
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
        figure = f"[figure](figures/{name}.png)" if (FIGURES / f"{name}.png").exists() else ""
        rows.append([f"[{name}](results/{name}.csv)", f"`{command}`", runs, line["commit"], figure])
    head = ["result", "command", "runs", "commit", ""]
    return "Each follows `python -m benchmarks.accuracy`\n\n" + format_table(
        pd.DataFrame(rows, columns=head)
    )


def write_text() -> str:
    """The whole report, from the committed results."""
    parts = [INTRODUCTION, write_summary() + "\n", "## Every claim of the paper", tabulate_claims()]
    for name, (title, write) in SECTIONS.items():
        parts += [f"\n## {title}\n", write(pd.read_csv(RESULTS / f"{name}.csv"))]
    return "\n".join([parts[0], "", *parts[1:], "\n## Commands\n", write_commands(), ""])


def draw_all() -> None:
    """The figures of all results."""
    for name in DRAWINGS:
        if (RESULTS / f"{name}.csv").exists():
            draw(name)


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
