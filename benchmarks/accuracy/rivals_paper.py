"""Every rival under the paper's protocol, beside the paper's own numbers, with its intervals.

Shows where our rivals match the paper's and where they do not, with other readings of three of them
to find where a difference comes from (docs/rivals.md), and what share of their 95 % intervals hold
the truth. The runs of the methods of the main tables are read from there. Prints the tables of
docs/rivals.md.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd

from benchmarks.accuracy.main_tables import DATASETS, RUNS
from benchmarks.charts import draw_bars
from benchmarks.experiment import REAL_SETS, Setup, run, save, start
from benchmarks.paper import PAPER_METHODS, join_paper
from ssme.bench import Protocol, summarize

RIVALS = [name for name in PAPER_METHODS if name not in ("ssme", "ssme_m")]
READINGS: dict[str, tuple[str, dict[str, Any]]] = {
    "pseudo_label, nearest neighbors": ("pseudo_label", {"model": "knn"}),
    "majority_vote, hard": ("majority_vote", {"hard": True}),
    "bayesian_calibration, tighter prior": (
        "bayesian_calibration",
        {"slope_sd": 0.25, "shift_sd": 1.4},
    ),
    "active_testing, hardly uniform": ("active_testing", {"uniform": 1e-3}),
}
"""Other readings of a method of the paper."""
ALSO = ["ensemble", "weighted_ensemble", "ppi", "stratified_ppi", "cbpe", "atc", "agreement"]


def main(setup: Setup) -> None:
    methods = {name: (name, {}) for name in RIVALS} | READINGS | {name: (name, {}) for name in ALSO}
    methods["ensemble, no labels"] = ("ensemble", {"labels": False})
    summary = summarize(run(Protocol(methods, runs=setup.runs), DATASETS, setup, cells=REAL_SETS))
    columns = {label: PAPER_METHODS[name] for label, (name, _) in READINGS.items()}
    result = join_paper(summary, also=columns).drop(columns=["subset", "group"])
    order = {label: place for place, label in enumerate(methods)}
    result["order"] = result["method"].map(order)
    result = result.sort_values(["dataset", "order", "metric", "n_labeled"]).drop(columns="order")
    save(result, setup, draw_figure)
    intervals = result[result["coverage"].notna() & ~result["method"].isin(READINGS)]
    print(f"\n{write_wide_table(result, format_error)}")
    print(f"\n{write_wide_table(intervals, format_interval)}")


def draw_figure(frame: pd.DataFrame) -> Any:
    shown = frame[frame["n_labeled"] == 20]
    panel = shown["dataset"] + " " + shown["metric"]
    return draw_bars(shown.assign(panel=panel), "mae:Q", "method:N", row="panel", color="method")


def format_error(row: Any) -> str:
    """Ours, and the paper's with the verdict where it has that cell."""
    ours = f"{100 * row.mae:.2f} ± {100 * row.ci95:.2f}"
    if not row.verdict:
        return ours
    return f"{ours} / {100 * row.paper:.2f} ± {100 * row.paper_ci95:.2f} {row.verdict}"


def format_interval(row: Any) -> str:
    """Coverage in percent, and the width in points."""
    return f"{100 * row.coverage:.1f} ({100 * row.width:.2f})"


def write_wide_table(frame: pd.DataFrame, cell: Callable[[Any], str]) -> str:
    """A Markdown table with a column for each number of labels."""
    sizes = sorted(set(frame["n_labeled"]))
    lines = [
        ["set", "method", "metric", *(f"{n} labels" for n in sizes)],
        ["---"] * (3 + len(sizes)),
    ]
    for key, rows in frame.groupby(["dataset", "method", "metric"], sort=False):
        lines.append([*key, *(cell(row) for row in rows.itertuples())])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


if __name__ == "__main__":
    start(main, __doc__, runs=RUNS)
