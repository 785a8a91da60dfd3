"""What every experiment shares: arguments, resumable runs, the paper's numbers, CSV and figure.

Each script in ``benchmarks/accuracy`` reproduces one table or figure:

    python -m benchmarks.accuracy.bandwidths --runs 50 --workers 2

Finished cells are kept under ``.benchmarks-cache`` and not computed again. Results are small CSV
files in ``benchmarks/results``, with the command, the machine and the versions of each in
``results/runs.csv``; figures, drawn from those files, are in ``benchmarks/figures``.
"""

from __future__ import annotations

import argparse
import csv
import importlib.util
import os
import platform
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import ssme
from ssme import progress
from ssme.bench import Protocol, run_protocol
from ssme.data.datasets import data_folder, load_dataset
from ssme.engines.executors import open_executor

ROOT = Path(__file__).resolve().parent
RESULTS, FIGURES = ROOT / "results", ROOT / "figures"
CACHE = ROOT.parent / ".benchmarks-cache"

PALETTE = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999"]
"""Okabe and Ito's colors: told apart by colour-blind readers; shapes carry the same meaning."""

PAPER_NAMES = {"civilcomments": "Toxicity Detection", "multinli": "MultiNLI"}
"""Data sets whose predictions are the paper's own, by their name in its tables."""

PAPER_METHODS = {
    "labeled": "Labeled",
    "majority_vote": "Majority-Vote",
    "pseudo_label": "PL",
    "dawid_skene": "Dawid-Skene",
    "spe": "SPE",
    "bayesian_calibration": "BC",
    "autoeval": "AutoEval",
    "active_testing": "Active-Testing",
    "ssme_m": "SSME-M",
    "ssme": "SSME",
}


def arguments(description: str | None, *, runs: int) -> argparse.Namespace:
    """The arguments every experiment takes."""
    parser = argparse.ArgumentParser(description=(description or "").split("\n")[0])
    parser.add_argument(
        "--runs", type=int, default=runs, help="random splits (default %(default)s)"
    )
    parser.add_argument("--workers", type=int, default=2, help="processes (default %(default)s)")
    parser.add_argument("--scheduler", help="address of a Dask scheduler to run on instead")
    parsed = parser.parse_args()
    parsed.started = time.time()
    return parsed


def run(
    name: str,
    protocol: Protocol,
    datasets: list[str],
    args: argparse.Namespace,
    load: Any = load_dataset,
) -> pd.DataFrame:
    """The protocol's table; goes on where an earlier, interrupted run stopped."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    kind = "dask" if args.scheduler else "processes" if args.workers > 1 else "serial"
    options: dict[str, Any] = {"scheduler": args.scheduler} if args.scheduler else {}
    if kind == "processes":
        options["workers"] = args.workers
    with progress.show(name), open_executor(kind, **options) as executor:
        table: pd.DataFrame = run_protocol(
            protocol, datasets, load, executor=executor, folder=CACHE / name
        )
    return table


def save(name: str, frame: pd.DataFrame, args: argparse.Namespace, figure: Any = None) -> None:
    """Write the result, its figure, and one line on how it was made; print the result."""
    RESULTS.mkdir(exist_ok=True)
    frame.to_csv(RESULTS / f"{name}.csv", index=False, float_format="%.5g")
    record_run(name, args)
    if figure is not None and importlib.util.find_spec("altair"):
        draw(name, figure)
    with pd.option_context("display.width", 200, "display.max_rows", 200):
        print(frame.round(4).to_string(index=False))


def draw(name: str, figure: Any) -> None:
    """Draw ``figure(frame)`` from the committed result of ``name``."""
    FIGURES.mkdir(exist_ok=True)
    chart = figure(pd.read_csv(RESULTS / f"{name}.csv"))
    chart.save(str(FIGURES / f"{name}.png"), ppi=90)


def record_run(name: str, args: argparse.Namespace) -> None:
    """Keep, per experiment, the command, machine, versions and time of its last run."""
    path = RESULTS / "runs.csv"
    known = {}
    if path.exists():
        with path.open(newline="") as file:
            known = {row["experiment"]: row for row in csv.DictReader(file)}
    known[name] = {
        "experiment": name,
        "command": " ".join(["python -m", script_name(), *sys.argv[1:]]),
        "cores": str(os.cpu_count()),
        "machine": platform.machine(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "ssme": ssme.__version__,
        "minutes": f"{(time.time() - args.started) / 60:.1f}",
        "note": "",
    }
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(known[name]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(known[key] for key in sorted(known))


def script_name() -> str:
    """The module that was started, as one would start it again."""
    spec = getattr(sys.modules["__main__"], "__spec__", None)
    return spec.name if spec is not None else Path(sys.argv[0]).stem


def paper_table() -> pd.DataFrame:
    """The paper's mean absolute errors (a fraction, not percent), from its file beside the data."""
    table = pd.read_csv(data_folder().parent / "paper" / "mae.csv")
    table["paper"] = table["mae_pct"] / 100
    table["paper_ci95"] = table["ci95_halfwidth_pct"] / 100
    return table.drop(columns=["mae_pct", "ci95_halfwidth_pct"])


def beside_paper(summary: pd.DataFrame) -> pd.DataFrame:
    """``summary`` with the paper's number and a verdict where the paper has that cell."""
    paper = paper_table()
    paper = paper[~paper["table"].str.contains("nf")]
    ours = summary.assign(
        paper_dataset=summary["dataset"].map(PAPER_NAMES),
        paper_method=summary["method"].map(PAPER_METHODS),
    )
    both = ours.merge(
        paper,
        how="left",
        left_on=["paper_dataset", "paper_method", "metric", "n_labeled", "n_unlabeled"],
        right_on=["dataset", "method", "metric", "n_labeled", "n_unlabeled"],
        suffixes=("", "_paper"),
    )
    gap = both["mae"] - both["paper"]
    allowed = both["ci95"] + both["paper_ci95"]
    verdict = np.select(
        [both["paper"].isna(), gap.abs() <= allowed, gap < 0], ["", "matched", "better"], "worse"
    )
    columns = [*summary.columns, "paper", "paper_ci95"]
    return both[columns].assign(verdict=verdict)


def lines(frame: pd.DataFrame, x: str, y: str, color: str, *, facet: str | None = None) -> Any:
    """A line chart with points whose shape and color both tell the series."""
    import altair as alt

    order = list(dict.fromkeys(frame[color]))
    scale = alt.Scale(domain=order, range=[PALETTE[i % len(PALETTE)] for i in range(len(order))])
    base = alt.Chart(frame).encode(
        x=alt.X(x),
        y=alt.Y(y),
        color=alt.Color(f"{color}:N", scale=scale, legend=alt.Legend(title=None)),
        shape=alt.Shape(f"{color}:N", scale=alt.Scale(domain=order), legend=alt.Legend(title=None)),
    )
    chart = (base.mark_line(strokeWidth=1.5) + base.mark_point(filled=True, size=55)).properties(
        width=230, height=190
    )
    if facet is None:
        return chart
    return chart.facet(facet=alt.Facet(f"{facet}:N", title=None), columns=4).resolve_scale(
        y="independent"
    )


def bars(frame: pd.DataFrame, x: str, y: str, *, row: str, color: str) -> Any:
    """Dots with error bars (columns ``mae`` and ``ci95``), one panel per value of ``row``."""
    import altair as alt

    frame = frame.assign(low=frame["mae"] - frame["ci95"], high=frame["mae"] + frame["ci95"])
    order = list(dict.fromkeys(frame[color]))
    scale = alt.Scale(domain=order, range=[PALETTE[i % len(PALETTE)] for i in range(len(order))])
    color_of = alt.Color(f"{color}:N", scale=scale, legend=alt.Legend(title=None))
    shape_of = alt.Shape(f"{color}:N", scale=alt.Scale(domain=order), legend=alt.Legend(title=None))
    base = alt.Chart(frame).encode(y=alt.Y(y, title=None, sort=None), color=color_of)
    whiskers = base.mark_rule(strokeWidth=1.5).encode(
        x=alt.X("low:Q", title="mean absolute error"), x2="high:Q"
    )
    dots = base.mark_point(filled=True, size=60, opacity=1).encode(x=alt.X(x), shape=shape_of)
    return (
        (whiskers + dots)
        .properties(width=200, height=190)
        .facet(facet=alt.Facet(f"{row}:N", title=None), columns=4)
        .resolve_scale(x="independent")
    )
