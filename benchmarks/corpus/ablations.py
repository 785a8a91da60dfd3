"""What each part of `auto` earns on the corpus: the study again with a part left out.

    python -m benchmarks.corpus.ablations --runs 1

writes ``benchmarks/results/corpus_ablations.csv``: error, coverage, width and the lowest coverage
of a pattern (of a set, on the shared ones) of every variant on the part "choose" and on the
development sets.
"""

from __future__ import annotations

import pandas as pd

from benchmarks.auto.ablations import CHANGES
from benchmarks.auto.study import compute, make_parser, write
from benchmarks.corpus.study import SHARED, name_cells, plan, summarize

PARTS = (
    "distorted scores: scale 0.2",
    "distorted scores: scale 0.8",
    "bias twice as large",
    "no regime 'distorted'",
    "no regime 'selected'",
    "no residual correction",
    "nothing unknown of the bias in the draws",
    "own part not evened out",
    "no class shifts",
    "no tilts",
    "no families beyond the mode",
    "all classifiers of one standing",
)
"""Changes of `benchmarks.auto.ablations` that are tried here."""


def tabulate(frame: pd.DataFrame, part: str) -> pd.DataFrame:
    """A line per variant and number of labels, of all patterns and metrics together."""
    table = summarize(frame)
    both = (table["pattern"] == "all") & (table["metric"] == "all")
    line = table[both].set_index(["variant", "n_labeled"])
    group = "family" if part == SHARED else "pattern"
    lowest = frame.groupby(["variant", "n_labeled", group])["covered"].mean().unstack()
    line = line.assign(lowest=lowest.min(axis=1), lowest_of=lowest.idxmin(axis=1))
    kept = ["error", "covered", "width", "best_covered", "best_bias", "regret", "cells"]
    return line[[*kept, "lowest", "lowest_of"]].reset_index().assign(part=part)


def main() -> None:
    parser = make_parser(__doc__, runs=1, labels=[20, 100])
    parser.add_argument("--changes", nargs="+", choices=PARTS, default=list(PARTS))
    args = parser.parse_args()
    variants = {
        name: ("auto", options)
        for name, options in CHANGES.items()
        if name in ("as shipped", *args.changes)
    }
    tables, times = [], []
    for part, runs in (("choose", args.runs), (SHARED, args.runs)):
        study = plan(variants, part, args.labels, runs)
        found = compute([study], f"corpus_ablations_{part}", args.workers, leave_out=True)
        tables.append(tabulate(name_cells(found.rows), part))
        times.append(found.times)
    write({"corpus_ablations": pd.concat(tables, ignore_index=True)}, pd.concat(times))
    print(pd.concat(tables).round(3).to_string(index=False))


if __name__ == "__main__":
    main()
