"""SSME and SSME-M under both presets, beside the paper's own numbers.

The preset ``paper`` runs EM to convergence as the paper says, ``public_code`` runs the loop of the
paper's public code. Beside them stand a choice that the paper leaves open (one bandwidth a
dimension instead of the smallest), labels alone, which check the protocol, and the ensemble. The
methods at their defaults are those of the main tables, on the same runs.
"""

from __future__ import annotations

from typing import Any

from benchmarks.accuracy.main_tables import DATASETS, RUNS
from benchmarks.experiment import REAL_SETS, Setup, run, save, start
from benchmarks.paper import PAPER_METHODS, join_paper
from benchmarks.studies import Protocol
from ssme.bench import summarize

METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "labeled": ("labeled", {}),
    "ensemble": ("ensemble", {}),
    "ssme": ("ssme", {}),
    "ssme, a bandwidth per dimension": ("ssme", {"across": "each", "n_bootstrap": 0}),
    "ssme, public code": ("ssme", {"preset": "public_code", "n_bootstrap": 0}),
    "ssme_m": ("ssme_m", {}),
    "ssme_m, public code": ("ssme_m", {"preset": "public_code"}),
}


def main(setup: Setup) -> None:
    table = run(Protocol(METHODS, runs=setup.runs), DATASETS, setup, cells=REAL_SETS)
    columns = {label: PAPER_METHODS.get(name, "") for label, (name, _) in METHODS.items()}
    result = join_paper(summarize(table), also=columns).drop(columns=["subset", "group"])
    order = {label: place for place, label in enumerate(METHODS)}
    result = result.sort_values(
        ["dataset", "method", "n_labeled", "metric"],
        key=lambda column: column.map(order) if column.name == "method" else column,
    )
    save(result, setup)


if __name__ == "__main__":
    start(main, __doc__, runs=RUNS)
