"""Every rival under the paper's protocol, beside the paper's own numbers, with its intervals.

Shows where our rivals match the paper's and where they do not, with other readings of three of them
to find where a difference comes from (docs/rivals.md), and what share of their 95 % intervals hold
the truth. The runs of the methods of the main tables are read from there.
"""

from __future__ import annotations

from typing import Any

from benchmarks.accuracy.main_tables import DATASETS, RUNS
from benchmarks.experiment import REAL_SETS, Setup, run, save, start
from benchmarks.paper import PAPER_METHODS, join_paper
from benchmarks.studies import Protocol
from ssme.bench import summarize

RIVALS = [name for name in PAPER_METHODS if name not in ("ssme", "ssme_m")]
READINGS: dict[str, tuple[str, dict[str, Any]]] = {
    "pseudo_label, nearest neighbors": ("pseudo_label", {"model": "knn"}),
    "majority_vote, hard": ("majority_vote", {"hard": True}),
    "bayesian_calibration, tighter prior": (
        "bayesian_calibration",
        {"slope_sd": 0.25, "shift_sd": 1.4},
    ),
    "active_testing, hardly uniform": ("active_testing", {"uniform": 1e-3}),
}
"""Other readings of a method of the paper."""
ALSO = ["ensemble", "weighted_ensemble", "ppi", "stratified_ppi", "cbpe", "atc", "agreement"]


def main(setup: Setup) -> None:
    methods = {name: (name, {}) for name in RIVALS} | READINGS | {name: (name, {}) for name in ALSO}
    methods["ensemble, no labels"] = ("ensemble", {"labels": False})
    summary = summarize(run(Protocol(methods, runs=setup.runs), DATASETS, setup, cells=REAL_SETS))
    columns = {label: PAPER_METHODS[name] for label, (name, _) in READINGS.items()}
    result = join_paper(summary, also=columns).drop(columns=["subset", "group"])
    order = {label: place for place, label in enumerate(methods)}
    result["order"] = result["method"].map(order)
    result = result.sort_values(["dataset", "order", "metric", "n_labeled"]).drop(columns="order")
    save(result, setup)


if __name__ == "__main__":
    start(main, __doc__, runs=RUNS)
