"""The tables of docs/auto-notebook.md, written from the committed results of the studies.

A table named NAME stands between ``<!-- NAME -->`` and ``<!-- /NAME -->`` and is replaced.

    python -m benchmarks.auto.tables            # write them
    python -m benchmarks.auto.tables --check    # fail if any differs from the results
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.auto.study import TORTURE
from benchmarks.experiment import RESULTS

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "auto-notebook.md"
METRICS = {"accuracy": "accuracy", "ece": "ECE", "roc_auc": "AUC", "average_precision": "AP"}


def result(name: str) -> pd.DataFrame:
    return pd.read_csv(RESULTS / f"auto_{name}.csv")


def markdown(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    lines = [list(head), *([str(cell) for cell in row] for row in rows)]
    lines.insert(1, ["---"] * len(lines[0]))
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def errors() -> str:
    """RMAE and the worst cell at each number of labels, however the constants were learned."""
    overall, nested = result("overall"), result("nested").set_index("n_labeled")
    rows = []
    for title, variant, sets in (
        ("as shipped", "auto", "development sets"),
        ("prior's line learned without the set", "left_out", "development sets"),
        ("as shipped, with the torture test", "auto", "with the torture test"),
    ):
        part = overall[(overall["variant"] == variant) & (overall["sets"] == sets)]
        rows.append(_errors_row(title, part.set_index("n_labeled")))
    rows.insert(2, _errors_row("line, scale, margin and stretch learned without the set", nested))
    return markdown(["", "20 labels", "50", "100", "cells above 1.05 beyond their se"], rows)


def _errors_row(title: str, part: pd.DataFrame) -> list[object]:
    cells = [f"{row.rmae:.3f} (worst {row.worst:.2f})" for row in part.itertuples()]
    return [title, *cells, int(part["above_1.05_beyond_se"].sum())]


def by_set() -> str:
    cells = result("rmae")
    mean = np.exp(np.log(cells["rmae"]).groupby([cells[c] for c in CELL]).mean())
    rows = []
    for name in sorted(cells["dataset"].unique()):
        values = []
        for n in (20, 50, 100):
            own = [f"{mean[v, n, name]:.2f}" for v in ("auto", "left_out") if (v, n, name) in mean]
            values.append(" / ".join(own))
        rows.append([name, *values])
    return markdown(["set", "20", "50", "100"], rows)


CELL = ["variant", "n_labeled", "dataset"]


def _covered(frame: pd.DataFrame, n: int, metric: str, variant: str = "auto") -> pd.Series:
    keys = {"n_labeled": n, "metric": metric, "dataset": "all", "variant": variant}
    return frame.loc[np.logical_and.reduce([frame[k] == v for k, v in keys.items()])].iloc[0]


def intervals() -> str:
    """Coverage and width by metric, the lowest set, and the same where sets were left out."""
    frame, nested = result("coverage"), result("nested").set_index("n_labeled")
    rows = []
    for n in (20, 50, 100):
        cells = [_covered(frame, n, metric) for metric in (*METRICS, "all")]
        row: list[object] = [n, *(f"{c.covered:.3f} ({c.width_ratio:.2f})" for c in cells)]
        for variant in ("auto", "left_out"):
            lowest = frame[(frame["n_labeled"] == n) & (frame["variant"] == variant)]
            lowest = lowest[(lowest["metric"] == "all") & (lowest["dataset"] != "all")]
            worst = lowest.loc[lowest["covered"].idxmin()]
            row.append(f"{worst.dataset} {worst.covered:.2f}")
        left = [nested.loc[n, f"covered_{metric}"] for metric in METRICS]
        row.append(" ".join(f"{value:.3f}" for value in left))
        rows.append(row)
    head = ["labels", *METRICS.values(), "all", "lowest set", "lowest set, line left out"]
    return markdown([*head, "by metric, all left out"], rows)


def pairs() -> str:
    frame = result("pairs")
    frame = frame[frame["variant"] == "auto"]
    rows = []
    for n, part in frame.groupby("n_labeled"):
        pooled = part[part["dataset"] == "all"].set_index("metric")["right"]
        sets = part[(part["metric"] == "all") & (part["dataset"] != TORTURE)]
        worst = sets.loc[sets["right"].idxmin()]
        cells = [f"{pooled[metric]:.3f}" for metric in METRICS]
        rows.append([n, *cells, f"{worst.dataset} {worst.right:.2f}"])
    return markdown(["labels", *METRICS.values(), "lowest set"], rows)


def _by_labels(name: str, sets: str) -> Iterator[tuple[dict[str, Any], list[pd.Series]]]:
    """At each number of labels: the errors over ``sets``, the coverage by metric and of all."""
    overall, frame = result(f"{name}_overall"), result(f"{name}_coverage")
    for row in overall[overall["sets"] == sets].to_dict("records"):
        row["worst"] = f"{row['worst']:.2f} {row['worst_cell']}"
        yield row, [_covered(frame, row["n_labeled"], metric) for metric in (*METRICS, "all")]


def consistency() -> str:
    rows = [
        [row["n_labeled"], f"{row['rmae']:.3f}", row["worst"], row["above_1.05"]]
        + [f"{cell.covered:.3f} ({cell.width_ratio:.2f})" for cell in cells]
        for row, cells in _by_labels("consistency", "with the torture test")
    ]
    head = ["labels", "RMAE", "worst cell", "cells above 1.05"]
    return markdown([*head, *METRICS.values(), "all"], rows)


def further() -> str:
    rows = [
        [row["n_labeled"], f"{row['rmae']:.3f}", row["worst"]]
        + [f"{cell.covered:.3f}" for cell in cells]
        + [f"{cells[-1].width_ratio:.2f}"]
        for row, cells in _by_labels("further", "development sets")
    ]
    head = ["labels", "RMAE", "worst cell", "coverage: accuracy", "ECE", "AUC", "AP"]
    return markdown([*head, "all", "width ratio"], rows)


def _changes(name: str, column: str) -> str:
    """RMAE, coverage and width at each number of labels, the unchanged one first."""
    frame = result(name)
    numbers = sorted(frame["n_labeled"].unique())
    first = {"as shipped": 0, "as they are": 0}
    rows = []
    for change in sorted(frame[column].unique(), key=lambda c: (first.get(c, 1), c)):
        own = frame[frame[column] == change].set_index("n_labeled")
        row: list[object] = [change]
        for n in numbers:
            one = own.loc[n]
            row.append(f"{one.rmae:.3f}, {one.covered:.3f} ({one.width_ratio:.2f})")
        rows.append(
            [*row, f"{own['worst'].max():.2f} {own.loc[own['worst'].idxmax(), 'worst_cell']}"]
        )
    return markdown([column, *(f"{n} labels" for n in numbers), "worst cell"], rows)


def alternatives() -> str:
    frame = pd.read_csv(RESULTS / "auto_prior_alternatives.csv")
    rows = [(row.regressors, f"{row.rmse:.3f}") for row in frame.itertuples()]
    return markdown(["regressors", "RMSE of log b, set left out (36 sets)"], rows)


TABLES: dict[str, Callable[[], str]] = {
    "errors": errors,
    "by set": by_set,
    "intervals": intervals,
    "pairs": pairs,
    "consistency": consistency,
    "further": further,
    "ablations": lambda: _changes("ablations", "change"),
    "stress": lambda: _changes("stress", "stress"),
    "alternatives": alternatives,
}


def rewritten(text: str) -> str:
    """``text`` with every table made anew."""
    for name, table in TABLES.items():
        place = re.compile(rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)", re.DOTALL)
        if not place.search(text):
            raise SystemExit(f"{DOCUMENT.name} has no place for the table {name!r}")
        made = table()
        text = place.sub(lambda found, made=made: f"{found[1]}\n{made}\n\n{found[2]}", text)
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing")
    old = DOCUMENT.read_text(encoding="utf-8")
    new = rewritten(old)
    if not parser.parse_args().check:
        DOCUMENT.write_text(new, encoding="utf-8")
    elif new != old:
        raise SystemExit("docs/auto-notebook.md: run python -m benchmarks.auto.tables")


if __name__ == "__main__":
    main()
