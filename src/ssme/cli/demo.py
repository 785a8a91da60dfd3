"""``ssme demo``: labels alone, estimates and the truth side by side on the bundled sample."""

from __future__ import annotations

import csv
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ssme.cli.options import ReportOptions
from ssme.cli.output import Output, format_json
from ssme.cli.program import register_command
from ssme.writing import format_csv

if TYPE_CHECKING:
    from rich.table import Table

    from ssme.results.evaluation import Evaluation

METHODS = ("ssme", "auto")
LABELS_ONLY = "labels only"


@register_command("Try")
def demo(out: ReportOptions) -> None:
    """Compare estimates from 30 labels with the truth, for six real classifiers.

    The bundled sample has 1,297 rows; the truth is what all of their labels give.

    Example:

    [cyan]ssme demo --html demo.html[/cyan]
    """
    import numpy as np

    from ssme.data.scoreset import ScoreSet
    from ssme.errors import ConvergenceWarning
    from ssme.progress import track
    from ssme.run import evaluate
    from ssme.sample import sample_path, truth_path

    output = Output(out)
    data = ScoreSet.read(sample_path(), label="label", id="id")
    with truth_path().open(encoding="utf-8", newline="") as stream:
        labels = np.array([int(row["label"]) for row in csv.DictReader(stream)])
    truth = evaluate(data.with_labels(labels), method="labeled")
    with output.show_progress("demo"), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # told below the tables
        results = {name: evaluate(data, method=name) for name in track(METHODS, "methods")}
    rows = _make_rows(truth, results)
    output.write(out.json, format_json(rows))
    output.write(out.csv, format_csv(rows))
    if out.html is not None:
        from ssme.show.report import render_report

        output.write(out.html, render_report(results[METHODS[-1]]))
    output.console.print(
        f"Six classifiers tell whether a digit is five or more. {data.n_labeled} of "
        f"{data.n_rows:,} images have a label.\n"
        "The truth is what all labels give; no method saw it. The method ssme is the paper's, auto "
        "is our default.",
        markup=False,
    )
    for metric in truth.metrics:
        output.console.print()
        output.console.print(
            _make_table(metric.name, [r for r in rows if r["metric"] == metric.name])
        )
    output.console.print()
    output.console.print(_make_error_table(rows))
    output.console.print(f"\n{_count_held(rows)}", markup=False)
    for name, result in results.items():
        for line in _list_warnings(name, result):
            output.console.print(line, markup=False)


def _make_rows(truth: Evaluation, results: dict[str, Evaluation]) -> list[dict[str, Any]]:
    """One row per metric and model: the truth, labels alone, each method with its interval."""
    rows = []
    tables = {name: list(result.rows()) for name, result in results.items()}
    for i, true in enumerate(truth.rows()):
        first = next(iter(tables.values()))[i]
        row = {
            "metric": true["metric"],
            "model": true["model"],
            "truth": true["estimate"],
            LABELS_ONLY: first["labels_only"],
        }
        for name, table in tables.items():
            row |= {
                name: table[i]["estimate"],
                f"{name} low": table[i]["low"],
                f"{name} high": table[i]["high"],
            }
        rows.append(row)
    return rows


def _make_table(metric: str, rows: list[dict[str, Any]]) -> Table:
    from ssme.show.sections import format_number, format_span
    from ssme.show.terminal import make_table

    table = make_table(
        metric, "model", "truth", LABELS_ONLY, *METHODS, right=("truth", LABELS_ONLY)
    )
    for row in rows:
        table.add_row(
            row["model"],
            format_number(row["truth"]),
            format_number(row[LABELS_ONLY]),
            *(
                f"{format_number(row[name])} "
                f"({format_span(row[f'{name} low'], row[f'{name} high'])})"
                for name in METHODS
            ),
        )
    return table


def _make_error_table(rows: list[dict[str, Any]]) -> Table:
    """Mean absolute error of each way, and how many times closer than labels alone."""
    from ssme.show.terminal import make_table

    table = make_table("Mean distance from the truth", "metric", LABELS_ONLY, *METHODS)
    names = list(dict.fromkeys(row["metric"] for row in rows))
    for metric in [*names, "all"]:
        mine = [row for row in rows if metric in ("all", row["metric"])]
        mean = {
            way: sum(abs(row[way] - row["truth"]) for row in mine) / len(mine)
            for way in (LABELS_ONLY, *METHODS)
        }
        table.add_row(
            metric,
            f"{mean[LABELS_ONLY]:.4f}",
            *(
                f"{mean[way]:.4f} ({_describe_ratio(mean[LABELS_ONLY], mean[way])})"
                for way in METHODS
            ),
            style="bold" if metric == "all" else None,
        )
    return table


def _count_held(rows: list[dict[str, Any]]) -> str:
    """How many intervals contain the true value."""
    counts = (
        f"{name} {sum(row[f'{name} low'] <= row['truth'] <= row[f'{name} high'] for row in rows)} "
        f"of {len(rows)}"
        for name in METHODS
    )
    return f"Intervals that contain the true value: {', '.join(counts)}."


def _list_warnings(name: str, result: Evaluation) -> Iterator[str]:
    """What an evaluation warns of, a line each."""
    if not result.warnings:
        yield f"\nThe method {name} has no warnings here."
        return
    yield f"\nWarnings of the method {name}, without the truth (`ssme explain CODE` says why):"
    for warning in result.warnings:
        yield f"{warning.severity}: {warning.code} {warning.title}"


def _describe_ratio(alone: float, mine: float) -> str:
    return f"{alone / mine:.1f}x closer" if mine <= alone else f"{mine / alone:.1f}x farther"
