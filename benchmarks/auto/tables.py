"""The tables of docs/auto-notebook.md, written from the committed results of the studies.

A table named NAME stands between ``<!-- NAME -->`` and ``<!-- /NAME -->`` and is replaced.

    python -m benchmarks.auto.tables            # write them
    python -m benchmarks.auto.tables --check    # fail if any differs from the results
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.auto.goals import LABELS, tabulate_goals
from benchmarks.auto.priors import TORTURE
from benchmarks.experiment import RESULTS
from benchmarks.markdown import ask_check, format_rows, rewrite

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "auto-notebook.md"
METRICS = {"accuracy": "accuracy", "ece": "ECE", "roc_auc": "AUC", "average_precision": "AP"}
WORDS = {
    "made: ": "simulated: ",
    "unseen: ": "",
    "judges, scores 0 or 1": "answers of 0 or 1",
    "as they are": "unaltered",
}
"""Words of the result files that the tables put in another way."""


def read_result(name: str) -> pd.DataFrame:
    return pd.read_csv(RESULTS / f"auto_{name}.csv")


def format_table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    text = format_rows(head, rows)
    for word, shown in WORDS.items():
        text = text.replace(word, shown)
    return text


def tabulate_errors() -> str:
    """RMAE and the worst cell at each number of labels, however the constants were learned."""
    overall = read_result("overall")
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


def tabulate_by_set() -> str:
    cells = read_result("rmae")
    mean = np.exp(np.log(cells["rmae"]).groupby([cells[c] for c in CELL]).mean())
    rows = []
    for name in sorted(cells["dataset"].unique()):
        values = []
        for n in (20, 50, 100):
            own = [f"{mean[v, n, name]:.2f}" for v in ("auto", "left_out") if (v, n, name) in mean]
            values.append(" / ".join(own))
        rows.append([name, *values])
    return format_table(["set", "20", "50", "100"], rows)


CELL = ["variant", "n_labeled", "dataset"]


def _find_covered(frame: pd.DataFrame, n: int, metric: str, variant: str = "auto") -> pd.Series:
    keys = {"n_labeled": n, "metric": metric, "dataset": "all", "variant": variant}
    return frame.loc[np.logical_and.reduce([frame[k] == v for k, v in keys.items()])].iloc[0]


def tabulate_intervals() -> str:
    """Coverage and width by metric, the lowest set, and the same where sets were left out."""
    frame = read_result("coverage")
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


def tabulate_pairs() -> str:
    frame = read_result("pairs")
    frame = frame[frame["variant"] == "auto"]
    rows = []
    for n, part in frame.groupby("n_labeled"):
        pooled = part[part["dataset"] == "all"].set_index("metric")
        sets = part[(part["metric"] == "all") & (part["dataset"] != TORTURE)]
        row: list[object] = [n]
        for column in ("held", "right"):
            worst = sets.loc[sets[column].idxmin()]
            row += [f"{pooled[column][metric]:.3f}" for metric in METRICS]
            row.append(f"{worst.dataset} {worst[column]:.2f}")
        rows.append(row)
    held = [f"coverage: {name}" for name in METRICS.values()]
    right = [f"truly better: {name}" for name in METRICS.values()]
    return format_table(["labels", *held, "lowest set", *right, "lowest set"], rows)


def tabulate_decisions() -> str:
    """P(better) and P(best) as said, and as they turned out, by number of labels."""
    return _tabulate_bins(read_result("decisions"))


def tabulate_further_decisions() -> str:
    """The same on the further sets."""
    return _tabulate_bins(read_result("further_decisions"))


def tabulate_decisions_together() -> str:
    """The same over development sets and further ones, as many runs of each."""
    return _tabulate_bins(read_result("decisions_together"))


def tabulate_decisions_by_metric() -> str:
    """P(better) and P(best) of each metric, all numbers of labels together."""
    rows = []
    parts = [("development", "decisions_by_metric"), ("further", "further_decisions_by_metric")]
    for sets, name in parts:
        frame = read_result(name)
        sums = frame.assign(said=frame["said"] * frame["cases"], so=frame["so"] * frame["cases"])
        keys = ["kind", "low", "high"]
        for (kind, low, high), part in sums.groupby(keys, sort=False):
            row: list[object] = [sets, f"P({kind}) {low:g} to {high:g}"]
            totals = part.groupby("metric")[["cases", "said", "so"]].sum()
            for metric in METRICS:
                cases, said, so = totals.loc[metric]
                known = f"{said / max(cases, 1):.2f}, {so / max(cases, 1):.2f} ({int(cases):,})"
                row.append(known if cases else "none")
            rows.append(row)
    return format_table(["sets", "reported probability", *METRICS.values()], rows)


def _tabulate_bins(frame: pd.DataFrame) -> str:
    rows = []
    for (kind, low, high), part in frame.groupby(["kind", "low", "high"], sort=False):
        row: list[object] = [f"P({kind}) {low:g} to {high:g}"]
        for one in part.sort_values("n_labeled").itertuples():
            known = f"{one.said:.2f}, {one.so:.2f} ± {one.se:.2f} ({one.cases:,})"
            row.append(known if one.cases else "none")
        rows.append(row)
    numbers = sorted(frame["n_labeled"].unique())
    entry = "reported, observed ± se (cases)"
    head = ["reported probability", *(f"{n} labels: {entry}" for n in numbers)]
    return format_table(head, rows)


DOUBTS = ("D208", "D209", "D210", "D306", "D307")


def tabulate_doubts() -> str:
    """How often doubts were raised, on ordinary sets first."""
    plain = read_result("doubts").assign(variant="ordinary sets")
    frame = pd.concat([plain, read_result("stress_doubts")]).fillna(0.0)
    rows = []
    for name, part in frame.groupby("variant", sort=False):
        row: list[object] = [name]
        for code in DOUBTS:
            shares = part.sort_values("n_labeled").get(code, pd.Series(0.0, part.index))
            row.append(" / ".join(f"{share:.2f}" for share in shares))
        rows.append(row)
    return format_table(["data", *(f"{code} at 20 / 50 / 100 labels" for code in DOUBTS)], rows)


def _read_by_labels(name: str, sets: str) -> Iterator[tuple[dict[str, Any], list[pd.Series]]]:
    """At each number of labels: the errors over ``sets``, the coverage by metric and of all."""
    overall, frame = read_result(f"{name}_overall"), read_result(f"{name}_coverage")
    for row in overall[overall["sets"] == sets].to_dict("records"):
        row["worst"] = f"{row['worst']:.2f} {row['worst_cell']}"
        yield row, [_find_covered(frame, row["n_labeled"], metric) for metric in (*METRICS, "all")]


def tabulate_consistency() -> str:
    rows = [
        [row["n_labeled"], f"{row['rmae']:.3f}", row["worst"], row["above_1.05"]]
        + [f"{cell.covered:.3f} ({cell.width_ratio:.2f})" for cell in cells]
        for row, cells in _read_by_labels("consistency", "with the torture test")
    ]
    head = ["labels", "RMAE", "worst cell", "cells above 1.05"]
    return format_table([*head, *METRICS.values(), "all"], rows)


def tabulate_further() -> str:
    rows = [
        [row["n_labeled"], f"{row['rmae']:.3f}", row["worst"]]
        + [f"{cell.covered:.3f}" for cell in cells]
        + [
            f"{cells[-1].width_ratio:.2f}",
            _find_lowest(read_result("further_coverage"), row["n_labeled"]),
        ]
        for row, cells in _read_by_labels("further", "development sets")
    ]
    head = ["labels", "RMAE", "worst cell", "coverage: accuracy", "ECE", "AUC", "AP"]
    return format_table([*head, "all", "width ratio", "lowest set"], rows)


def _tabulate_changes(name: str, column: str) -> str:
    """RMAE, coverage and width at each number of labels, the unchanged one first."""
    frame = read_result(name)
    numbers = sorted(frame["n_labeled"].unique())
    first = {"as shipped": 0, "as they are": 0}
    rows = []
    for change in sorted(frame[column].unique(), key=lambda c: (first.get(c, 1), c)):
        own = frame[frame[column] == change].set_index("n_labeled")
        row: list[object] = [change]
        for n in numbers:
            done = n in own.index
            one = own.loc[n] if done else None
            shown = f"{one.rmae:.3f}, {one.covered:.3f} ({one.width_ratio:.2f})" if done else "-"
            row.append(shown)
        worst, least = own.loc[own["worst"].idxmax()], own.loc[own["lowest_covered"].idxmin()]
        row.append(f"{worst.worst:.2f} {worst.worst_cell}")
        rows.append([*row, f"{least.lowest_covered:.2f} {least.lowest_set}"])
    return format_table(
        [column, *(f"{n} labels" for n in numbers), "worst cell", "lowest set"], rows
    )


def tabulate_coverage_by_set() -> str:
    """Coverage of intervals and of paired differences on every development set."""
    covered, held = read_result("coverage"), read_result("pairs")
    covered = covered[(covered["metric"] == "all") & (covered["variant"] == "auto")]
    held = held[(held["metric"] == "all") & (held["variant"] == "auto")]
    rows = []
    for name in sorted(set(covered["dataset"]) - {"all"}):
        one = covered[covered["dataset"] == name].set_index("n_labeled")
        other = held[held["dataset"] == name].set_index("n_labeled")
        cells = [f"{one['covered'][n]:.3f}, {other['held'][n]:.3f}" for n in (20, 50, 100)]
        rows.append([name, *cells])
    return format_table(
        ["set: coverage of intervals, of differences", "20 labels", "50", "100"], rows
    )


def tabulate_nested() -> str:
    """Everything that a fit decides decided without the set."""
    rows = []
    for row in read_result("nested").to_dict("records"):
        cells = [f"{row[f'covered_{metric}']:.3f}" for metric in METRICS]
        worst = f"{row['worst']:.2f} {row['worst_cell']}"
        lowest = f"{row['lowest_set']} {row['lowest_covered']:.2f}"
        width = f"{row['width_ratio']:.2f}"
        rows.append([row["n_labeled"], f"{row['rmae']:.3f}", worst, *cells, width, lowest])
    head = ["labels", "RMAE", "worst cell", "coverage: accuracy", "ECE", "AUC", "AP"]
    return format_table([*head, "width ratio", "lowest set"], rows)


def tabulate_nested_sets() -> str:
    """The same of each set: error, coverage and width, its metrics together."""
    frame = read_result("nested_sets")
    frame = frame[frame["metric"] == "all"]
    numbers = sorted(frame["n_labeled"].unique())
    rows = []
    for name, part in frame.groupby("dataset"):
        by_labels = part.set_index("n_labeled").loc[numbers].itertuples()
        cells = [f"{one.rmae:.2f}, {one.covered:.2f} ({one.width_ratio:.2f})" for one in by_labels]
        rows.append([name, *cells])
    return format_table(["set left out", *(f"{n} labels" for n in numbers)], rows)


def tabulate_low_sets(name: str) -> str:
    """Where a single set under a stress is covered less than `LOW`, the lowest first."""
    frame = read_result(f"{name}_sets")
    frame = frame[frame["covered"] < LOW].sort_values("covered")
    rows = [
        [row.stress, row.dataset, row.n_labeled, f"{row.covered:.2f}", f"{row.rmae:.2f}", row.runs]
        for row in frame.itertuples()
    ]
    return format_table(["stress", "set", "labels", "coverage", "RMAE", "runs"], rows)


LOW = 0.8


def tabulate_alternatives() -> str:
    frame = pd.read_csv(RESULTS / "auto_prior_alternatives.csv")
    rows = [(row.regressors, f"{row.rmse:.3f}") for row in frame.itertuples()]
    return format_table(["regressors", "RMSE of log b, set left out (36 sets)"], rows)


def write_goals() -> str:
    """What was asked for, beside what is."""
    return format_table(["goal", *(f"{n} labels" for n in LABELS)], tabulate_goals())


TABLES: dict[str, Callable[[], str]] = {
    "goals": write_goals,
    "errors": tabulate_errors,
    "by set": tabulate_by_set,
    "intervals": tabulate_intervals,
    "pairs": tabulate_pairs,
    "decisions": tabulate_decisions,
    "further decisions": tabulate_further_decisions,
    "decisions together": tabulate_decisions_together,
    "decisions by metric": tabulate_decisions_by_metric,
    "consistency": tabulate_consistency,
    "further": tabulate_further,
    "coverage by set": tabulate_coverage_by_set,
    "nested": tabulate_nested,
    "nested sets": tabulate_nested_sets,
    "ablations": lambda: _tabulate_changes("ablations", "change"),
    "stress": lambda: _tabulate_changes("stress", "stress"),
    "low sets": lambda: tabulate_low_sets("stress"),
    "unseen": lambda: _tabulate_changes("stress_unseen", "stress"),
    "unseen low sets": lambda: tabulate_low_sets("stress_unseen"),
    "doubts": tabulate_doubts,
    "alternatives": tabulate_alternatives,
}


def main() -> None:
    parts = {name: lambda make=make: f"\n{make()}\n" for name, make in TABLES.items()}
    rewrite(DOCUMENT, parts, end="/", check=ask_check(__doc__))


if __name__ == "__main__":
    main()
