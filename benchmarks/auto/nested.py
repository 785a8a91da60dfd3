"""``auto`` judged on sets that none of its learned constants has seen: nested leave-one-set-out.

For every development set the rest decides alone (sets made of the same rows are left out together):

- the line of the temperature prior, refitted without the set;
- its scale: that of a Student t whose standard deviation is the error of the line on the other
  development sets, each of them predicted without itself;
- its margin, from a grid, by the error on the other sets, judged with lines refitted without both;
- a factor of the spread of each metric's draws, from a grid, such that the intervals of the other
  sets cover `TARGET`.

What was fixed once, in view of all sets, stays: the form of the model, the scales of its other
families, the regimes and their probabilities, what agreement is worth, the power of the likelihood
and the residual correction (docs/auto-notebook.md). Written
to ``benchmarks/results``: auto_nested.csv (error, coverage, width) and auto_nested_choices.csv.

    python -m benchmarks.auto.nested --extra extra --workers 2
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.auto.priors import SETS, coefficients, design, family, table
from benchmarks.auto.study import (
    load,
    overall,
    rmae,
    seen_rows,
    spread_over,
    study_arguments,
    truth_of,
    write,
)
from ssme.methods.auto.constants import Constants
from ssme.methods.auto.method import Auto
from ssme.methods.base import Estimate
from ssme.methods.estimators.labeled import Labeled
from ssme.metrics import get_metric

MARGINS = (0.0, 0.04, 0.08)
STRETCHES = tuple(round(0.6 + 0.05 * i, 2) for i in range(17))
TARGET = 0.97
TYPICAL_MODELS = 8
OF = Constants()

Line = tuple[float, float, float]


@dataclass(frozen=True)
class Learned:
    """A prior that has not seen some sets: its line (with the shipped margin) and scale."""

    line: Line
    scale: float

    def method(self, margin: float, **options: Any) -> Auto:
        """`Auto` with this line at another margin and this scale."""
        alpha, beta, gamma = self.line
        line = (alpha - OF.prior.margin + margin, beta, gamma)
        prior = replace(OF.prior, coefficients=line, scale=self.scale)
        return Auto(constants=replace(OF, prior=prior), **options)


def center_errors(job: tuple[str, int, int, dict[str, Learned]]) -> list[dict[str, Any]]:
    """Errors of the point estimate on one split for what each outer set leaves to learn from."""
    name, n_labeled, run, priors = job
    data = load(name)
    truth, seen = truth_of(data, name, run), seen_rows(data, name, n_labeled, 1000, run)
    metrics = [get_metric(metric) for metric in truth]
    alone = Labeled().fit(seen, np.random.default_rng(run)).estimate(metrics, [None])[0]
    rows = []
    for (outer, prior), margin in product(priors.items(), MARGINS):
        method = prior.method(margin, n_draws=2)
        ours = method.fit(seen, np.random.default_rng(run)).estimate(metrics, [None])[0]
        for metric, estimate, labels in zip(metrics, ours, alone, strict=True):
            exact = truth[metric.name]
            rows.append(
                {
                    "outer": outer,
                    "dataset": name,
                    "n_labeled": n_labeled,
                    "metric": metric.name,
                    "margin": margin,
                    "error": float(np.abs(estimate.value - exact).mean()),
                    "labels_error": float(np.abs(labels.value - exact).mean()),
                }
            )
    return rows


def chosen(errors: pd.DataFrame) -> dict[str, float]:
    """The margin of least geometric-mean RMAE over the other sets, for each outer set."""
    cell = ["outer", "margin", "n_labeled", "dataset", "metric"]
    sums = errors.groupby(cell)[["error", "labels_error"]].sum()
    ratio = np.log(sums["error"] / sums["labels_error"])
    best = ratio.groupby(["outer", "margin"]).mean().groupby("outer").idxmin()
    return {str(outer): key[1] for outer, key in best.items()}


def judged(job: tuple[str, int, int, Learned, float]) -> list[dict[str, Any]]:
    """One split of the outer set with what the others chose, at every stretch of the draws."""
    name, n_labeled, run, prior, margin = job
    data = load(name)
    truth, seen = truth_of(data, name, run), seen_rows(data, name, n_labeled, 1000, run)
    metrics = [get_metric(metric) for metric in truth]
    alone = Labeled().fit(seen, np.random.default_rng(run)).estimate(metrics, [None])[0]
    belief = prior.method(margin).fit(seen, np.random.default_rng(run))
    ours = belief.estimate(metrics, [None])[0]
    rows = []
    for metric, estimate, labels in zip(metrics, ours, alone, strict=True):
        exact, (labels_low, labels_high) = truth[metric.name], labels.interval()
        for stretch in STRETCHES:
            draws = estimate.value + stretch * (estimate.draws - estimate.value)
            draws = np.clip(draws, metric.low, metric.high)
            low, high = Estimate(estimate.value, draws).interval()
            rows.append(
                {
                    "variant": "nested",
                    "dataset": name,
                    "n_labeled": n_labeled,
                    "run": run,
                    "metric": metric.name,
                    "stretch": stretch,
                    "error": float(np.abs(estimate.value - exact).mean()),
                    "bias": float((estimate.value - exact).mean()),
                    "labels_error": float(np.abs(labels.value - exact).mean()),
                    "covered": float(((low <= exact) & (exact <= high)).mean()),
                    "width": float((high - low).mean()),
                    "labels_width": float((labels_high - labels_low).mean()),
                }
            )
    return rows


def calibrated(frame: pd.DataFrame) -> pd.DataFrame:
    """Rows of each set at the stretch with which the other sets cover as `TARGET` asks."""
    kept = []
    for (name, metric), own in frame.groupby(["dataset", "metric"]):
        others = frame[(frame["metric"] == metric) & (frame["dataset"].map(family) != family(name))]
        covered = others.groupby("stretch")["covered"].mean()
        kept.append(own[own["stretch"] == (covered - TARGET).abs().idxmin()])
    return pd.concat(kept)


def line_without(frame: pd.DataFrame, *names: str) -> Line:
    gone = {family(name) for name in names}
    return coefficients(frame[~frame["dataset"].map(family).isin(gone)])


def learned_without(frame: pd.DataFrame, *names: str) -> Learned:
    """What the sets other than ``names`` teach."""
    squares, gone = [], {family(name) for name in names}
    for other in SETS:
        if family(other) not in gone:
            own = frame[frame["dataset"] == other]
            own = own[own["models"] == own["models"].max()]
            line = np.array(line_without(frame, *names, other))
            squares.append(((own["log_b"] + OF.prior.margin - design(own) @ line) ** 2).mean())
    nu = OF.model.nu
    spread = np.sqrt(np.mean(squares) * (nu - 2.0) / nu)
    few = OF.prior.scale_few / TYPICAL_MODELS
    return Learned(line_without(frame, *names), float(spread) - few)


def main() -> None:
    parser = study_arguments(__doc__, runs=25, labels=[20, 50, 100])
    parser.add_argument("--extra", type=Path, help="folder with the sets of extra_sets.py")
    args = parser.parse_args()
    frame = table(args.extra)
    splits = list(product(SETS, args.labels, range(args.runs)))
    inner = {
        name: {
            outer: learned_without(frame, outer, name)
            for outer in SETS
            if family(outer) != family(name)
        }
        for name in SETS
    }
    jobs = [(name, n_labeled, run, inner[name]) for name, n_labeled, run in splits]
    margins = chosen(spread_over(center_errors, jobs, args.workers, 5))
    outer = {name: learned_without(frame, name) for name in SETS}
    final = [(name, n, run, outer[name], margins[name]) for name, n, run in splits]
    result = calibrated(spread_over(judged, final, args.workers, 5))
    choices = result.groupby(["dataset", "metric"])["stretch"].first().unstack()
    choices.insert(0, "margin", pd.Series(margins))
    choices.insert(1, "scale", pd.Series({name: prior.scale for name, prior in outer.items()}))
    write("auto_nested", report(result))
    write("auto_nested_choices", choices.rename_axis("left_out").reset_index())
    print(report(result).round(3).to_string(index=False))
    print(choices.round(3).to_string())


def report(result: pd.DataFrame) -> pd.DataFrame:
    """One row per number of labels: error, cells above 1.05, coverage by metric, width."""
    errors = overall(rmae(result))
    errors = errors[errors["sets"] == "development sets"].drop(columns=["sets", "variant"])
    cells = result.groupby(["n_labeled", "dataset", "metric"])[["covered", "width", "labels_width"]]
    cells = cells.mean().reset_index()
    by_metric = cells.groupby(["n_labeled", "metric"])["covered"].mean().unstack()
    by_set = cells.groupby(["n_labeled", "dataset"])["covered"].mean().unstack()
    table = errors.set_index("n_labeled").join(by_metric.add_prefix("covered_"))
    ratio = (cells["width"] / cells["labels_width"]).groupby(cells["n_labeled"]).mean()
    table["width_ratio"] = ratio
    table["lowest_covered"], table["lowest_set"] = by_set.min(axis=1), by_set.idxmin(axis=1)
    return table.reset_index()


if __name__ == "__main__":
    main()
