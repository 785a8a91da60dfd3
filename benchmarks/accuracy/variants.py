"""Choices inside SSME, compared on CivilComments as in the paper's appendix.

What the scripts ``kernels``, ``bandwidths`` and ``initialization`` share. Each names its variants;
the one that is the paper's own is SSME at its defaults, computed once for all three. The ensemble
stands beside them: the same estimate without any density.
"""

from __future__ import annotations

from typing import Any

from benchmarks.experiment import Setup, run, save
from benchmarks.studies import Protocol
from ssme.bench import summarize

RUNS = 50
DATASET = "civilcomments"


def compare(variants: dict[str, dict[str, Any]], setup: Setup) -> None:
    """The table and figure of SSME with each of the options of ``variants``."""
    methods = {
        label: ("ssme", {**options, "n_bootstrap": 0}) for label, options in variants.items()
    }
    protocol = Protocol(methods={**methods, "ensemble": ("ensemble", {})}, runs=setup.runs)
    summary = summarize(run(protocol, [DATASET], setup, cells="variants"))
    save(summary.drop(columns=["subset", "group", "dataset"]), setup)
