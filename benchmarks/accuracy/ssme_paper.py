"""SSME and SSME-M under the paper's protocol, beside the paper's own numbers.

    python -m benchmarks.accuracy.ssme_paper [--runs 50] [--sets civilcomments multinli]
        [--variants "ssme, paper preset" ...]

Writes benchmarks/results/ssme_paper.csv (lines of the sets and variants asked for are replaced):
mean absolute error in percentage points with its 95 % half width, the paper's, and whether the two
differ by no more than the half widths added. Beside the presets stand the choices the paper leaves
open, labels only (which checks the protocol) and the ensemble.
"""

from __future__ import annotations

import argparse
import csv
import warnings
from collections import defaultdict

import numpy as np

from benchmarks.accuracy.protocol import (
    METRICS,
    RESULTS,
    mean_and_half_width,
    mean_over_draws,
    on_labels,
    paper_cells,
    runs,
)
from ssme.data.scoreset import ScoreSet
from ssme.errors import ConvergenceWarning
from ssme.methods.beliefs.posterior import LabelPosterior
from ssme.methods.registry import get_method
from ssme.metrics import get_metric
from ssme.metrics.base import FloatArray

N_LABELED = (20, 50, 100)
SAVE_EVERY = 10
TABLE = RESULTS / "ssme_paper.csv"
VARIANTS: dict[str, tuple[str, str, dict[str, object]]] = {
    "labels only": ("Labeled", "labeled", {}),
    "ensemble": ("", "ensemble", {}),
    "ssme, paper preset": ("SSME", "ssme", {"n_bootstrap": 0}),
    "ssme, a bandwidth per dimension": ("SSME", "ssme", {"across": "each", "n_bootstrap": 0}),
    "ssme, public code preset": ("SSME", "ssme", {"preset": "public_code", "n_bootstrap": 0}),
    "ssme_m, paper preset": ("SSME-M", "ssme_m", {}),
    "ssme_m, public code preset": ("SSME-M", "ssme_m", {"preset": "public_code"}),
    "ssme_m, public code preset, 5 steps": (
        "SSME-M",
        "ssme_m",
        {"preset": "public_code", "max_iter": 5},
    ),
}
"""What is run: the paper's column it belongs to, our method, its options."""


def estimates(
    method: str, options: dict[str, object], data: ScoreSet, seed: int
) -> list[FloatArray]:
    """One (M,) estimate per metric of the set."""
    metrics = METRICS["civilcomments" if data.n_classes == 2 else "multinli"]
    if method == "labeled":
        rows = data.labeled
        return [on_labels(m, data.scores[rows], data.labels[rows]) for m in metrics]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        belief = get_method(method, **options).fit(data, np.random.default_rng(seed))
    if isinstance(belief, LabelPosterior):
        return mean_over_draws(belief, [get_metric(m).plan(data.scores) for m in metrics])
    return [e.value for e in belief.estimate([get_metric(m) for m in metrics], [None])[0]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--sets", nargs="+", default=list(METRICS), choices=list(METRICS))
    parser.add_argument("--variants", nargs="+", default=list(VARIANTS), choices=list(VARIANTS))
    arguments = parser.parse_args()
    for name in arguments.sets:
        errors: dict[tuple[str, int, str], list[float]] = defaultdict(list)
        for run in runs(name, arguments.runs, N_LABELED):
            for variant in arguments.variants:
                _, method, options = VARIANTS[variant]
                for n, data in run.data.items():
                    values = estimates(method, options, data, run.number)
                    for metric, value in zip(METRICS[name], values, strict=True):
                        gap = np.abs(value - run.truth[metric]).mean()
                        errors[variant, n, metric].append(float(gap))
            done = run.number + 1
            print(f"{name}: run {done} of {arguments.runs}", flush=True)
            if done % SAVE_EVERY == 0 or done == arguments.runs:
                published = paper_cells(name)
                save([line(name, *key, values, published) for key, values in errors.items()])


def save(rows: list[dict[str, object]]) -> None:
    """Print ``rows`` and put them in the place of their predecessors in the table."""
    fresh = {(row["set"], row["variant"]) for row in rows}
    kept: list[dict[str, object]] = []
    if TABLE.exists():
        with TABLE.open() as file:
            kept = [r for r in csv.DictReader(file) if (r["set"], r["variant"]) not in fresh]
    order = list(VARIANTS)
    table = sorted(kept + rows, key=lambda r: (r["set"], order.index(str(r["variant"]))))
    with TABLE.open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(table)
    for row in rows:
        print(*row.values(), sep="\t")


def line(
    name: str,
    variant: str,
    n: int,
    metric: str,
    errors: list[float],
    published: dict[tuple[str, int, str], tuple[float, float]],
) -> dict[str, object]:
    """One line of the table."""
    ours, half_width = mean_and_half_width(errors)
    column = VARIANTS[variant][0]
    paper, paper_half_width = published.get((column, n, metric), (float("nan"), float("nan")))
    allowed = half_width + paper_half_width
    verdict = "" if np.isnan(paper) else "yes" if abs(ours - paper) <= allowed else "no"
    return {
        "set": name,
        "variant": variant,
        "n_labeled": n,
        "metric": metric,
        "mae_pct": f"{ours:.2f}",
        "half_width_pct": f"{half_width:.2f}",
        "paper_column": column,
        "paper_mae_pct": "" if np.isnan(paper) else f"{paper:.2f}",
        "paper_half_width_pct": "" if np.isnan(paper) else f"{paper_half_width:.2f}",
        "within_both_intervals": verdict,
        "runs": len(errors),
    }


if __name__ == "__main__":
    main()
