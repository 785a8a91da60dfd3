"""``ssme demo``: labels alone, estimates and the truth side by side on the bundled sample."""

from __future__ import annotations

import csv
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ssme.cli import options, program
from ssme.cli.output import Output
from ssme.show.sections import Column, Section

if TYPE_CHECKING:
    from ssme.metrics.base import Metric
    from ssme.results.evaluation import Evaluation

METHODS = ("ssme", "auto")
LABELS_ONLY = "labels only"


@program.register_command("Try", writes=options.REPORT)
def demo(output: Output) -> None:
    """Compare estimates from 30 labels with the truth, for six real classifiers.

    The bundled sample has 1,297 rows; the truth is computed from the labels of all.

    Examples:

    [cyan]ssme demo[/cyan]
    [cyan]ssme demo --html demo.html[/cyan]
    [cyan]ssme demo --csv demo.csv[/cyan]
    """
    import numpy as np

    from ssme.data.scoreset import ScoreSet
    from ssme.errors import ConvergenceWarning
    from ssme.progress import track
    from ssme.run import evaluate
    from ssme.sample import sample_path, truth_path

    data = ScoreSet.read(sample_path(), label="label", id="id")
    with truth_path().open(encoding="utf-8", newline="") as stream:
        labels = np.array([int(row["label"]) for row in csv.DictReader(stream)])
    truth = evaluate(data.with_labels(labels), method="labeled")
    with output.show_progress("demo"), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # told below the tables
        results = {name: evaluate(data, method=name) for name in track(METHODS, "methods")}
    rows = _make_rows(truth, results)
    output.save(rows)
    if "html" in output.targets:
        from ssme.show.report import render_report

        output.write(output.targets["html"], render_report(results[METHODS[-1]]))
    output.say(
        f"Six classifiers tell whether a digit is five or more. {data.n_labeled} of "
        f"{data.n_rows:,} images have a label.\n"
        "The truth is what all labels give; no method saw it. The method ssme is the paper's, auto "
        "is our default."
    )
    output.show(*map(_make_section, truth.metrics, [rows] * len(truth.metrics)))
    output.show(_make_errors(rows))
    output.say(f"\n{_count_held(rows)}")
    for name, result in results.items():
        output.say(*_list_warnings(name, result))


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


def _make_section(metric: Metric, rows: list[dict[str, Any]]) -> Section:
    mine = [row for row in rows if row["metric"] == metric.name]
    columns = [
        Column("model", [row["model"] for row in mine]),
        *(Column(way, [row[way] for row in mine], "number") for way in ("truth", LABELS_ONLY)),
    ]
    for name in METHODS:
        cells = [(row[name], row[f"{name} low"], row[f"{name} high"]) for row in mine]
        columns.append(Column(name, cells, "value"))
    return Section(metric.name, metric.name, (), tuple(columns))


def _make_errors(rows: list[dict[str, Any]]) -> Section:
    """Mean absolute error of each way, and how many times closer than labels alone."""
    names = [*dict.fromkeys(row["metric"] for row in rows), "all"]
    ways = (LABELS_ONLY, *METHODS)
    mean: dict[str, list[float]] = {way: [] for way in ways}
    for metric in names:
        mine = [row for row in rows if metric in ("all", row["metric"])]
        for way in ways:
            mean[way].append(sum(abs(row[way] - row["truth"]) for row in mine) / len(mine))
    alone = mean[LABELS_ONLY]
    columns = [Column("metric", names), Column(LABELS_ONLY, [f"{x:.4f}" for x in alone])]
    for way in METHODS:
        pairs = zip(alone, mean[way], strict=True)
        cells = [f"{mine:.4f} ({_describe_ratio(labels, mine)})" for labels, mine in pairs]
        columns.append(Column(way, cells))
    return Section("errors", "Mean distance from the truth", (), tuple(columns))


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
    yield f"\nWarnings of {name}, which did not see the truth (`ssme explain CODE` explains them):"
    for warning in result.warnings:
        yield f"{warning.severity}: {warning.code} {warning.title}"


def _describe_ratio(alone: float, mine: float) -> str:
    return f"{alone / mine:.1f}x closer" if mine <= alone else f"{mine / alone:.1f}x farther"
