"""A reduced main table in minutes: labels alone, the ensemble, SSME and ours, from nothing.

On CivilComments and MultiNLI where their predictions are found (``SSME_DATA``), otherwise on
synthetic Gaussian sets, whose truth is known in closed form.
"""

from __future__ import annotations

from benchmarks.datasets.registry import data_folder
from benchmarks.experiment import CACHE, Setup, run, start, write
from benchmarks.studies import Protocol
from ssme.bench import summarize

RUNS = 10
METHODS = ["labeled", "ensemble", "ssme", "auto"]


def main(setup: Setup) -> None:
    (CACHE / "cells" / f"{setup.name}.jsonl").unlink(missing_ok=True)
    found = (data_folder() / "civilcomments.npz").exists()
    datasets = ["civilcomments", "multinli"] if found else ["gaussian"]
    summary = summarize(run(Protocol(METHODS, runs=setup.runs), datasets, setup))
    write(summary.drop(columns=["subset", "group"]), setup.name)


if __name__ == "__main__":
    start(main, __doc__, runs=RUNS)
