"""Every rival under the paper's protocol, beside the paper's own numbers, and what each costs.

    python -m benchmarks.accuracy.rivals_paper [--runs 50] [--sets civilcomments multinli]
        [--methods majority_vote ...]

Writes benchmarks/results/rivals_paper.csv (lines of the sets and methods asked for are replaced):
mean absolute error in percentage points with its 95 % half width, the paper's, and the verdict:
``matched`` if the two differ by no more than the half widths added, else ``better`` or ``worse``;
the share of 95 % intervals that hold the truth, and their mean width, where there are intervals;
and benchmarks/results/rivals_cost.csv: processor time of a fit with all its estimates on
1,020 rows x 7 classifiers, as a ratio to ``labeled`` (docs/rivals.md tells why they differ).

The table of docs/rivals.md is printed at the end; ``--sets`` with no name and ``--no-cost`` print
it and run nothing. Splits are those of `ssme.bench`: at least one label of each class.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections import defaultdict
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.accuracy.protocol import METRICS, RESULTS, mean_and_half_width, paper_cells
from ssme.bench import split_rows
from ssme.data.datasets import load_dataset
from ssme.data.scoreset import UNLABELED, ScoreSet
from ssme.methods.base import Estimate
from ssme.methods.registry import get_method, method_class
from ssme.metrics import get_metric
from ssme.metrics.base import FloatArray, one_hot_mass

N_LABELED, N_UNLABELED = (20, 50, 100), 1000
PAPER_COLUMN = {
    "labeled": "Labeled",
    "majority_vote": "Majority-Vote",
    "pseudo_label": "PL",
    "dawid_skene": "Dawid-Skene",
    "spe": "SPE",
    "bayesian_calibration": "BC",
    "autoeval": "AutoEval",
    "active_testing": "Active-Testing",
}
"""Our methods that have a column in the paper's tables."""
VARIANTS: dict[str, tuple[str, dict[str, object]]] = {
    "majority_vote, hard": ("majority_vote", {"hard": True}),
    "bayesian_calibration, tighter prior": (
        "bayesian_calibration",
        {"slope_sd": 0.25, "shift_sd": 1.4},
    ),
    "active_testing, hardly uniform": ("active_testing", {"uniform": 1e-3}),
}
"""Other readings of a method, to find where a difference comes from."""
ALSO = ("ensemble", "weighted_ensemble", "ppi", "stratified_ppi", "cbpe", "atc", "agreement")
COST_REPEATS = 5


def estimates(
    method: str, seen: ScoreSet, truth_of_seen: ScoreSet, metrics: tuple[str, ...], seed: int
) -> dict[str, Estimate]:
    """Metric -> estimate for those of ``metrics`` that the method declares."""
    method, options = VARIANTS.get(method, (method, {}))
    spec = method_class(method).spec
    if method == "active_testing":
        asked = {"oracle": truth_of_seen.label_values, "budget": seen.n_labeled}
        options = options | asked
    if not getattr(spec, "binary" if seen.n_classes == 2 else "multiclass"):
        return {}
    able = [m for m in metrics if spec.metrics is None or m in spec.metrics]
    belief = get_method(method, **options).fit(seen, np.random.default_rng(seed))
    answers = belief.estimate([get_metric(m) for m in able], [None])[0]
    return dict(zip(able, answers, strict=True))


class Errors:
    """Of one method, size and metric: error, coverage and width of every run."""

    def __init__(self) -> None:
        self.gap: list[float] = []
        self.covered: list[float] = []
        self.width: list[float] = []

    def add(self, estimate: Estimate, truth: FloatArray) -> None:
        """One run, averaged over classifiers."""
        low, high = estimate.interval(0.95)
        self.gap.append(float(np.nanmean(np.abs(estimate.value - truth))))
        if np.isfinite(low).any():
            self.covered.append(float(np.mean((low <= truth) & (truth <= high))))
            self.width.append(float(np.nanmean(high - low)))


def run_set(name: str, methods: list[str], n_runs: int) -> dict[tuple[str, int, str], Errors]:
    """(method, n_l, metric) -> its errors."""
    data, errors = load_dataset(name), defaultdict(Errors)
    for run in range(n_runs):
        for n in N_LABELED:
            split = split_rows(data.labels, n, N_UNLABELED, run, seed=0, dataset=name)
            if n == N_LABELED[0]:
                held = data.take(split.truth)
                mass = one_hot_mass(held.labels, held.n_classes)
                truth = {m: get_metric(m)(held.scores, mass)[0] for m in METRICS[name]}
            known, seen = as_seen(data, split.labeled, split.unlabeled)
            for method in methods:
                for metric, answer in estimates(method, seen, known, METRICS[name], run).items():
                    errors[method, n, metric].add(answer, truth[metric])
        print(f"{name}: run {run + 1} of {n_runs}", flush=True)
    return errors


def as_seen(
    data: ScoreSet, labeled: NDArray[np.int64], unlabeled: NDArray[np.int64]
) -> tuple[ScoreSet, ScoreSet]:
    """The rows of a run with all their labels, and as a method sees them."""
    known = data.take(np.concatenate([labeled, unlabeled]))
    hidden = np.where(np.arange(known.n_rows) < len(labeled), known.labels, UNLABELED)
    return known, known.replace(labels=hidden)


def verdict(ours: tuple[float, float], paper: tuple[float, float]) -> str:
    if abs(ours[0] - paper[0]) <= ours[1] + paper[1]:
        return "matched"
    return "better" if ours[0] < paper[0] else "worse"


def result_rows(name: str, errors: dict[tuple[str, int, str], Errors]) -> list[dict[str, object]]:
    published = paper_cells(name)
    rows = []
    for (method, n, metric), found in errors.items():
        ours = mean_and_half_width(found.gap)
        column = PAPER_COLUMN.get(VARIANTS.get(method, (method, {}))[0], "")
        paper = published.get((column, n, metric))
        rows.append(
            {
                "dataset": name,
                "method": method,
                "n_labeled": n,
                "metric": metric,
                "runs": len(found.gap),
                "mae_pct": f"{ours[0]:.2f}",
                "half_width_pct": f"{ours[1]:.2f}",
                "paper_mae_pct": f"{paper[0]:.2f}" if paper else "",
                "paper_half_width_pct": f"{paper[1]:.2f}" if paper else "",
                "verdict": verdict(ours, paper) if paper else "",
                "coverage_pct": f"{100 * np.mean(found.covered):.1f}" if found.covered else "",
                "width_pct": f"{100 * np.mean(found.width):.2f}" if found.width else "",
            }
        )
    return rows


def cost_rows(methods: list[str]) -> list[dict[str, object]]:
    """Least processor time of each method on 1,020 x 7, all methods timed in turn."""
    name = "civilcomments"
    data = load_dataset(name)
    split = split_rows(data.labels, 20, 1000, 0, seed=0, dataset=name)
    known, seen = as_seen(data, split.labeled, split.unlabeled)
    best = dict.fromkeys(methods, np.inf)
    for _ in range(COST_REPEATS):
        for method in methods:
            start = time.process_time()
            estimates(method, seen, known, METRICS[name], 0)
            best[method] = min(best[method], time.process_time() - start)
    return [
        {
            "method": method,
            "metrics": len(method_class(method).spec.metrics or METRICS[name]),
            "seconds": f"{seconds:.3f}",
            "ratio_to_labeled": f"{seconds / best['labeled']:.1f}",
        }
        for method, seconds in best.items()
    ]


def replace_rows(path: Path, rows: list[dict[str, object]], keys: tuple[str, ...]) -> None:
    """Write ``rows`` to ``path`` in place of those with the same ``keys``; keep the others."""
    merged: dict[tuple[str, ...], dict[str, object]] = {}
    if path.exists():
        with path.open(newline="") as file:
            merged = {tuple(row[k] for k in keys): dict(row) for row in csv.DictReader(file)}
    merged |= {tuple(str(row[k]) for k in keys): row for row in rows}
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(merged[key] for key in sorted(merged, key=_numbers_as_numbers))


def markdown() -> str:
    """The result files as the tables of docs/rivals.md: errors, intervals, cost."""
    rows = read_rows("rivals_paper.csv")
    order = [*PAPER_COLUMN, *VARIANTS, *ALSO]
    rows.sort(key=lambda row: (row["dataset"], order.index(row["method"]), row["metric"]))
    errors: dict[tuple[str, ...], list[str]] = defaultdict(list)
    intervals: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for row in rows:
        cell = f"{row['mae_pct']} ± {row['half_width_pct']}"
        if row["verdict"]:
            cell += f" / {row['paper_mae_pct']} ± {row['paper_half_width_pct']} {row['verdict']}"
        errors[row["dataset"], row["method"], row["metric"]].append(cell)
        if row["coverage_pct"] and row["method"] not in VARIANTS:
            cell = f"{row['coverage_pct']} ({row['width_pct']})"
            intervals[row["dataset"], row["method"], row["metric"]].append(cell)
    sizes = [f"{n} labels" for n in N_LABELED]
    head = ["set", "method", "metric", *sizes]
    cost = {
        (row["method"], row["metrics"]): [row["ratio_to_labeled"], row["seconds"]]
        for row in read_rows("rivals_cost.csv")
    }
    tables = (
        table(head, errors),
        table(head, intervals),
        table(["method", "metrics", "ratio to `labeled`", "seconds"], cost),
    )
    return "\n\n".join(tables)


def table(head: list[str], lines: dict[tuple[str, ...], list[str]]) -> str:
    cells = [head, ["---"] * len(head), *([*key, *values] for key, values in lines.items())]
    return "\n".join(f"| {' | '.join(line)} |" for line in cells)


def read_rows(name: str) -> list[dict[str, str]]:
    """Lines of a results file; none if it was never written."""
    if not (RESULTS / name).exists():
        return []
    with (RESULTS / name).open(newline="") as file:
        return list(csv.DictReader(file))


def _numbers_as_numbers(key: tuple[str, ...]) -> list[tuple[float, str]]:
    return [(float(part), "") if part.isdigit() else (0.0, part) for part in key]


def main() -> None:
    everything = [*PAPER_COLUMN, *VARIANTS, *ALSO]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--sets", nargs="*", default=list(METRICS), choices=list(METRICS))
    parser.add_argument("--methods", nargs="+", default=everything, choices=everything)
    parser.add_argument("--no-cost", action="store_true", help="leave out the timing")
    arguments = parser.parse_args()
    for name in arguments.sets:
        rows = result_rows(name, run_set(name, arguments.methods, arguments.runs))
        keys = ("dataset", "method", "n_labeled", "metric")
        replace_rows(RESULTS / "rivals_paper.csv", rows, keys)
    if not arguments.no_cost:
        timed = [*PAPER_COLUMN, *ALSO, "ssme", "ssme_m"]
        replace_rows(RESULTS / "rivals_cost.csv", cost_rows(timed), ("method",))
    print(markdown())


if __name__ == "__main__":
    main()
