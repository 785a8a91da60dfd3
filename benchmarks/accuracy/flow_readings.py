"""Readings of the paper's flow: what its text leaves open about SSME-NF.

The flow as the paper describes it (both phases), stopped after the first phase ("as trained"), with
the EM of the authors' public code, and with scores kept a thousandth away from 0 and 1; the paper's
SSME-NF beside them, at its label counts. Needs torch. Each fit takes ten seconds, so the runs are
few: a search for the reading, not a table to rank by.
"""

from __future__ import annotations

from typing import Any

from benchmarks.accuracy.densities import FLOW, join_paper_flow
from benchmarks.experiment import Setup, run, save, start
from benchmarks.studies import Protocol
from ssme.bench import summarize

RUNS = 5
DATASETS = ["civilcomments", "multinli"]
METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "flow": ("ssme", FLOW),
    "flow, as trained": ("ssme", FLOW | {"max_iter": 1}),
    "flow, public code": ("ssme", FLOW | {"preset": "public_code"}),
    "flow, clipped at 0.001": ("ssme", FLOW | {"clip": 1e-3}),
}


def main(setup: Setup) -> None:
    protocol = Protocol(METHODS, n_labeled=(20, 50, 100), runs=setup.runs)
    summary = summarize(run(protocol, DATASETS, setup)).drop(columns=["subset", "group"])
    save(join_paper_flow(summary), setup)


if __name__ == "__main__":
    start(main, __doc__, runs=RUNS)
