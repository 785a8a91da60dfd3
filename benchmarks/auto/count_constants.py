"""How many numbers of ``auto`` are learned, how many are numerical limits, how many set by hand.

    python -m benchmarks.auto.count_constants

``benchmarks/results/auto_constants.csv`` has every number of `Constants` with its origin; the
reasons for each are in benchmarks/evidence/auto.md. What neither list below names is set by hand.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass

import pandas as pd

from benchmarks.experiment import write_tables
from ssme.methods.auto.constants import Constants
from ssme.metrics.kinds import Kind

LEARNED = {
    "benchmarks.corpus.learn": (
        "prior.coefficients",
        "prior.scale",
        "prior.usual_rho",
        "agreement.line",
    ),
    "benchmarks.corpus.bias": ("correction.bias", "correction.bias_growth"),
    "benchmarks.auto.priors": ("agreement.offset", "agreement.offset_few", "prior.knee"),
    "benchmarks.corpus.study": (
        "recentering.spread",
        "recentering.few",
        "recentering.rarity",
    ),
    "benchmarks.auto.pair_factors": ("recentering.pairs", "recentering.best"),
    "benchmarks.decide.suggestion": ("correction.bias_labels", "correction.ranking_bias_labels"),
}
"""Numbers that were fitted, or chosen by an error or coverage, and the command that measures it."""

NUMERICAL = (
    "agreement.rows",
    "agreement.tie",
    "agreement.furthest",
    "agreement.halvings",
    "regimes.negligible",
    "regimes.least_weight",
    "sampler.steps",
    "sampler.start_spread",
    "sampler.laplace_rows",
    "sampler.chain_cells",
    "sampler.shrinks",
    "correction.label_draws",
    "correction.influence_rows",
    "fit_rows",
    "world_rows",
    "batch_cells",
)
"""Numbers that trade time for precision, and say nothing about classifiers."""


def list_numbers(value: object, name: str = "") -> Iterator[tuple[str, float]]:
    """Every number of a record with its path; a tuple has one per place."""
    if isinstance(value, int | float):
        yield name, float(value)
    elif isinstance(value, Mapping):
        for key, each in value.items():
            yield from list_numbers(each, f"{name}.{key}")
    elif isinstance(value, tuple):
        for each in value:
            if not isinstance(each, Kind):
                yield from list_numbers(each, name)
    elif is_dataclass(value):
        for each in fields(value):
            yield from list_numbers(getattr(value, each.name), f"{name}.{each.name}".lstrip("."))


def find_origin(name: str) -> str:
    """The command that a number was learned with, "numerical" or "by hand"."""
    if name in NUMERICAL:
        return "numerical"
    return next((command for command, names in LEARNED.items() if name in names), "by hand")


def main() -> None:
    argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0]).parse_args()
    rows = list(list_numbers(Constants()))
    unknown = {*NUMERICAL, *(n for names in LEARNED.values() for n in names)} - {n for n, _ in rows}
    if unknown:
        raise SystemExit(f"no such constant: {', '.join(sorted(unknown))}")
    table = pd.DataFrame(rows, columns=["constant", "value"])
    table["origin"] = table["constant"].map(find_origin)
    table["kind"] = table["origin"].where(table["origin"].isin(["numerical", "by hand"]), "learned")
    write_tables({"auto_constants": table})
    print(table["kind"].value_counts().to_string())


if __name__ == "__main__":
    main()
