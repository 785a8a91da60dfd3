"""The tables of benchmarks/evidence/answers.md, written from the committed results of the study.

Each stands between ``<!-- NAME -->`` and ``<!-- end NAME -->`` and is replaced: results, ratings,
readings, speed and runs.

    python -m benchmarks.answers.tables            # write it
    python -m benchmarks.answers.tables --check    # fail if it differs from the results
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from benchmarks.experiment import RESULTS
from benchmarks.markdown import ask_check, format_rows, rewrite

DOCUMENT = Path(__file__).resolve().parents[1] / "evidence" / "answers.md"
TITLES = {
    "labels by class": "labels chosen by class, design not given",
    "labels by class, said": "labels chosen by class, design given",
    "labels by score, said": "labels chosen by score, design given",
    "mixed": "answers and scores mixed",
}
"""Kinds of data in words, where the name in the result file is not enough."""


def tabulate_results() -> str:
    """Error, coverage, lowest coverage of a set and width, by kind of cell, method and metric."""
    overall = pd.read_csv(RESULTS / "answers_overall.csv")
    numbers = sorted(overall["n_labeled"].unique())
    entry = "error; coverage (lowest set); width"
    head, lines = ["data", "method", "metric", *(f"{n} labels: {entry}" for n in numbers)], []
    keys = ["kind", "method", "metric"]
    for (kind, method, metric), part in overall.groupby(keys, sort=False):
        by_labels = part.set_index("n_labeled")
        name = TITLES.get(kind, kind)
        lines.append([name, method, metric, *(_format_cell(by_labels, n) for n in numbers)])
    return format_rows(head, lines)


def tabulate_ratings() -> str:
    """Error with grades over that with scores."""
    ratios = pd.read_csv(RESULTS / "answers_ratings.csv")
    numbers = sorted(ratios["n_labeled"].unique())
    head, lines = ["data", "metric", *(f"{n} labels" for n in numbers)], []
    for (kind, metric), part in ratios.groupby(["kind", "metric"], sort=False):
        by_labels = part.set_index("n_labeled")
        cells = [
            f"{row['error_ratio']:.2f} (of relative errors {row['rmae_ratio']:.2f}; "
            f"largest {row['worst_error_ratio']:.1f} on {row['worst_set']})"
            for row in (by_labels.loc[n] for n in numbers)
        ]
        lines.append([kind, metric, *cells])
    return format_rows(head, lines)


def tabulate_readings() -> str:
    """Error relative to labels alone, by what a grade is taken to stand for."""
    table = pd.read_csv(RESULTS / "answers_readings.csv")
    columns = [(m, n) for m in ("accuracy", "roc_auc") for n in sorted(table["n_labeled"].unique())]
    head, lines = ["data", "reading", *(f"{m}, {n} labels" for m, n in columns)], []
    for (kind, reading), part in table.groupby(["kind", "reading"], sort=False):
        by_cell = part.set_index(["metric", "n_labeled"])["rmae"]
        lines.append([kind, reading, *(f"{by_cell[cell]:.2f}" for cell in columns)])
    return format_rows(head, lines)


def tabulate_speed() -> str:
    """Seconds of a whole evaluation."""
    speed = pd.read_csv(RESULTS / "answers_speed.csv")
    head, lines = ["rows", "judges", "classes", "seconds", "CPU seconds"], []
    for row in speed.itertuples():
        sizes = [f"{row.rows:,}", str(row.judges), str(row.classes)]
        lines.append([*sizes, f"{row.seconds:.2f}", f"{row.cpu_seconds:.2f}"])
    return format_rows(head, lines)


def tell_runs() -> str:
    """How many runs there are."""
    overall = pd.read_csv(RESULTS / "answers_overall.csv")
    fewest, most = overall["runs"].min(), overall["runs"].max()
    return f"{most} runs\n" if fewest == most else f"{fewest} to {most} runs\n"


def _format_cell(part: pd.DataFrame, n: int) -> str:
    if n not in part.index:
        return ""
    row = part.loc[n]
    if pd.isna(row["covered"]):
        return f"{row['rmae']:.2f}"
    lowest = f"lowest {row['lowest_covered']:.2f} {row['lowest_set']}"
    return f"{row['rmae']:.2f}; {row['covered']:.2f} ({lowest}); {row['width_ratio']:.2f}"


TABLES = {
    "results": tabulate_results,
    "ratings": tabulate_ratings,
    "readings": tabulate_readings,
    "speed": tabulate_speed,
    "runs": tell_runs,
}
"""What stands between which marks."""


def main() -> None:
    rewrite(DOCUMENT, TABLES, check=ask_check(__doc__))


if __name__ == "__main__":
    main()
