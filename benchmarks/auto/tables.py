"""The tables of benchmarks/evidence/auto.md and docs/warnings.md, from committed results."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

import numpy as np
import pandas as pd

from benchmarks.auto.goals import LABELS, tabulate_goals
from benchmarks.auto.priors import TORTURE
from benchmarks.markdown import format_rows, read
from ssme.diagnostics.page import read_sections

METRICS = {"accuracy": "accuracy", "ece": "ECE", "roc_auc": "AUC", "average_precision": "AP"}
WORDS = {
    "made: ": "simulated: ",
    "unseen: ": "",
    "judges, scores 0 or 1": "answers of 0 or 1",
    "as they are": "unaltered",
}
"""Words of the result files that the tables put in another way."""


def format_table(head: Collection[str], rows: Iterable[Iterable[object]]) -> str:
    text = format_rows(head, rows)
    for word, shown in WORDS.items():
        text = text.replace(word, shown)
    return text


def tabulate_errors() -> str:
    """RMAE and the worst cell at each number of labels, however the constants were learned."""
    overall = read("auto_overall")
    rows = []
    for title, sets in (
        ("the eleven development sets", "development sets"),
        (f"the same and {TORTURE}", "with the torture test"),
    ):
        part = overall[(overall["variant"] == "auto") & (overall["sets"] == sets)]
        rows.append(_make_errors_row(title, part.set_index("n_labeled")))
    last = "cells above 1.05 by more than their standard error"
    return format_table(["", "20 labels", "50", "100", last], rows)


def _make_errors_row(title: str, part: pd.DataFrame) -> list[object]:
    cells = [f"{row.rmae:.3f} (worst {row.worst:.2f})" for row in part.itertuples()]
    return [title, *cells, int(part["above_1.05_beyond_se"].sum())]


CELL = ["variant", "n_labeled", "dataset"]


def _find_covered(frame: pd.DataFrame, n: int, metric: str, variant: str = "auto") -> pd.Series:
    keys = {"n_labeled": n, "metric": metric, "dataset": "all", "variant": variant}
    return frame.loc[np.logical_and.reduce([frame[k] == v for k, v in keys.items()])].iloc[0]


def tabulate_intervals() -> str:
    """Coverage and width by metric, the lowest set, and the same where sets were left out."""
    frame = read("auto_coverage")
    rows = []
    for n in (20, 50, 100):
        cells = [_find_covered(frame, n, metric) for metric in (*METRICS, "all")]
        row: list[object] = [n, *(f"{c.covered:.3f} ({c.width_ratio:.2f})" for c in cells)]
        row.append(_find_lowest(frame, n))
        rows.append(row)
    return format_table(["labels", *METRICS.values(), "all", "lowest set"], rows)


def _find_lowest(frame: pd.DataFrame, n: int) -> str:
    """The set that is covered least with ``n`` labels, its metrics together."""
    sets = frame[(frame["n_labeled"] == n) & (frame["variant"] == "auto")]
    sets = sets[(sets["metric"] == "all") & (sets["dataset"] != "all")]
    worst = sets.loc[sets["covered"].idxmin()]
    return f"{worst.dataset} {worst.covered:.2f}"


def tabulate_elsewhere() -> str:
    """Where a set was left out, with many labels and on further sets: errors and coverage."""
    rows = []
    for row in read("auto_nested").to_dict("records"):
        covered = np.mean([row[f"covered_{metric}"] for metric in METRICS])
        lowest = f"{row['lowest_set']} {row['lowest_covered']:.2f}"
        rows.append(["set left out", row, covered, row["width_ratio"], lowest])
    for title, name, sets in (
        ("many labels", "consistency", "with the torture test"),
        ("further sets", "further", "development sets"),
    ):
        overall, frame = read(f"auto_{name}_overall"), read(f"auto_{name}_coverage")
        for row in overall[overall["sets"] == sets].to_dict("records"):
            cell = _find_covered(frame, row["n_labeled"], "all")
            lowest = _find_lowest(frame, row["n_labeled"])
            rows.append([title, row, cell.covered, cell.width_ratio, lowest])
    lines = [
        [
            title,
            row["n_labeled"],
            f"{row['rmae']:.3f}",
            f"{row['worst']:.2f} {row['worst_cell']}",
            f"{covered:.3f} ({width:.2f})",
            lowest,
        ]
        for title, row, covered, width, lowest in rows
    ]
    return format_table(["", "labels", "RMAE", "worst cell", "coverage", "lowest set"], lines)


def _tabulate_changes(name: str, column: str) -> str:
    """RMAE and coverage with 20 and 100 labels, the lowest set; the unchanged one first.

    What decides nothing is left out: ablations with an error within 8%, and a coverage and a width
    ratio within 0.03 and 0.1 of what is shipped; stresses without a set covered below 0.88.
    """
    frame = read(f"auto_{name}").set_index([column, "n_labeled"])
    numbers, first = (20, 100), {"as shipped": 0, "as they are": 0}
    measured = ["rmae", "covered", "width_ratio"]
    rows = []
    for change in sorted(frame.index.unique(column), key=lambda c: (first.get(c, 1), c)):
        own = frame.loc[change]
        if name == "ablations" and change != "as shipped":
            apart = (own[measured] - frame.loc["as shipped", measured]).abs()
            apart["rmae"] /= frame.loc["as shipped", "rmae"]
            if (apart < [0.08, 0.03, 0.1]).all(axis=None):
                continue
        if name != "ablations" and own["lowest_covered"].min() >= 0.88:
            continue
        least = own.loc[own["lowest_covered"].idxmin()]
        cells = [
            f"{one.rmae:.3f}, {one.covered:.3f} ({one.width_ratio:.2f})"
            for one in own.loc[[n for n in numbers if n in own.index]].itertuples()
        ]
        rows.append([change, *cells, f"{least.lowest_covered:.2f} {least.lowest_set}"])
    return format_table([column, *(f"{n} labels" for n in numbers), "lowest set"], rows)


def tabulate_corpus(part: str) -> str:
    """Errors, coverage and the pick by pattern of panels of a part of the corpus."""
    frame = read(f"corpus_{part}").query("metric == 'all'")
    few, many = (frame[frame["n_labeled"] == n].set_index("pattern") for n in (20, 100))
    rows = [
        [
            pattern,
            f"{few.error[pattern]:.2f}, {many.error[pattern]:.2f}",
            f"{few.covered[pattern]:.2f}, {many.covered[pattern]:.2f}",
            f"{few.width[pattern] / few.labels_width[pattern]:.2f}, "
            f"{many.width[pattern] / many.labels_width[pattern]:.2f}",
            f"{few.best_covered[pattern]:.2f}, {many.best_covered[pattern]:.2f}",
            f"{few.best_bias[pattern]:.3f}, {many.best_bias[pattern]:.3f}",
            f"{few.regret[pattern]:.3f} ({few.labels_regret[pattern]:.3f}), "
            f"{many.regret[pattern]:.3f} ({many.labels_regret[pattern]:.3f})",
        ]
        for pattern in few.index
    ]
    head = ["panels", "RMAE", "coverage", "width ratio", "coverage of the best", "its bias"]
    return format_table([*head, "regret of the pick (labels alone)"], rows)


def tabulate_dropped() -> str:
    """What the parts of the second generation earned on the corpus and the development sets."""
    frame = read("corpus_dropped")
    rows = []
    for change in frame["variant"].unique():
        own = frame[frame["variant"] == change].set_index(["part", "n_labeled"])
        cells = [
            f"{own.error[part, n]:.3f}, {own.covered[part, n]:.3f} ({own.width[part, n]:.3f})"
            for part in ("choose", "shared")
            for n in (20, 100)
        ]
        rows.append([change, *cells])
    head = [f"{part}, {n} labels" for part in ("corpus", "development sets") for n in (20, 100)]
    return format_table(["second generation", *head], rows)


def tabulate_simulations() -> str:
    """Simulated worlds: errors and coverage, runs that fail, and how many of these are warned."""
    frame = read("auto_simulations").set_index(["world", "n_labeled"])
    rows = []
    for world in frame.index.unique("world"):
        lines = [frame.loc[(world, n)] for n in (20, 100)]
        row = [str(world), *(f"{x.rmae:.2f}, {x.covered:.2f} ({x.width_ratio:.2f})" for x in lines)]
        warned = (f"{x.warned_if_failed:.0%}" if x.failed else "-" for x in lines)
        failed = (f"{x.failed:.0%}" for x in lines)
        rows.append([*row, ", ".join(failed), ", ".join(warned)])
    head = ["world", "20 labels", "100 labels", "runs that fail", "of these with a warning"]
    return format_table(head, rows)


def tabulate_warnings() -> str:
    """How often each warning was raised on sound panels and on altered ones."""
    frame = read("corpus_choose_warnings").set_index(["altered", "n_labeled"])
    keys = [(altered, n) for altered in (False, True) for n in (20, 100)]
    codes = ["any", *sorted(column for column in frame if str(column).startswith("D"))]
    pages = {code: section.page for code, section in read_sections().items()}
    links = {"any": "more than a note"}
    links |= {code: f"[{code}]({page}#{code.lower()})" for code, page in pages.items()}
    rows = [[links[code], *(f"{frame.loc[key, code]:.0%}" for key in keys)] for code in codes]
    head = [
        f"{'altered' if altered else 'sound'}, {n} labels ({frame.loc[(altered, n), 'panels']:.0f})"
        for altered, n in keys
    ]
    return format_table(["warning", *head], rows)


def write_goals() -> str:
    """What was asked for, beside what is."""
    return format_table(["goal", *(f"{n} labels" for n in LABELS)], tabulate_goals())


TABLES: dict[str, Callable[[], str]] = {
    "goals": write_goals,
    "errors": tabulate_errors,
    "intervals": tabulate_intervals,
    "elsewhere": tabulate_elsewhere,
    "ablations": lambda: _tabulate_changes("ablations", "change"),
    "stress": lambda: _tabulate_changes("stress", "stress"),
    "unseen": lambda: _tabulate_changes("stress_unseen", "stress"),
    "simulations": tabulate_simulations,
    "dropped": tabulate_dropped,
    "corpus": lambda: tabulate_corpus("test"),
}


def _enclose(make: Callable[[], str]) -> Callable[[], str]:
    return lambda: f"\n{make()}\n"


PARTS = {
    "benchmarks/evidence/auto.md": {name: _enclose(make) for name, make in TABLES.items()},
    "docs/warnings.md": {"rates": _enclose(tabulate_warnings)},
}
"""What is between which marks of which page."""
