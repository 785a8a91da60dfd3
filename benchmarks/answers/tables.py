"""The tables of benchmarks/evidence/answers.md, from the committed results of the study."""

from __future__ import annotations

import pandas as pd

from benchmarks.markdown import format_rows, read

TITLES = {
    "labels by class": "labels chosen by class, design not given",
    "labels by class, said": "labels chosen by class, design given",
    "labels by score, said": "labels chosen by score, design given",
    "mixed": "answers and scores mixed",
}
"""Kinds of data in words, where the name in the result file is not enough."""


def tabulate_results() -> str:
    """Error, coverage, lowest coverage of a set and width, by kind of cell, method and metric."""
    overall = read("answers_overall")
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
    ratios = read("answers_ratings")
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
    table = read("answers_readings")
    columns = [(m, n) for m in ("accuracy", "roc_auc") for n in sorted(table["n_labeled"].unique())]
    head, lines = ["data", "reading", *(f"{m}, {n} labels" for m, n in columns)], []
    for (kind, reading), part in table.groupby(["kind", "reading"], sort=False):
        by_cell = part.set_index(["metric", "n_labeled"])["rmae"]
        lines.append([kind, reading, *(f"{by_cell[cell]:.2f}" for cell in columns)])
    return format_rows(head, lines)


def tabulate_speed() -> str:
    """Seconds of a whole evaluation."""
    speed = read("answers_speed")
    head, lines = ["rows", "judges", "classes", "seconds", "CPU seconds"], []
    for row in speed.itertuples():
        sizes = [f"{row.rows:,}", str(row.judges), str(row.classes)]
        lines.append([*sizes, f"{row.seconds:.2f}", f"{row.cpu_seconds:.2f}"])
    return format_rows(head, lines)


def tell_runs() -> str:
    """How many runs there are."""
    overall = read("answers_overall")
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
"""What is between which marks."""
