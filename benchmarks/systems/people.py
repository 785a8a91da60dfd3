"""Rates of systems where people err: labels alone, ignored, with a declared rate, and estimated.

    python -m benchmarks.systems.people --runs 200

The worlds are those of `benchmarks.systems.systems.simulate`; people judge 100 rows at random and
are wrong with the same probability about passes and fails. "declared" is told this probability,
"estimated" sees the labels of two people on each of these rows. Writes ``people.csv``.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from benchmarks.experiment import RESULTS, read_arguments, write_table
from benchmarks.systems.systems import simulate
from ssme.systems.evaluation import evaluate_systems

ERRORS, LABELS = (0.0, 0.05, 0.1, 0.2), 100


def run_world(error: float, seed: int) -> list[dict[str, object]]:
    """Error, coverage and width of each treatment of wrong labels."""
    rng = np.random.default_rng([seed, int(100 * error)])
    world = simulate(rng)
    chosen = rng.permutation(world.outcomes.size)[:LABELS]
    columns = {f"judge_{j}": verdicts for j, verdicts in enumerate(world.verdicts.T)}
    table = pd.DataFrame({"system": world.systems, "item": world.items, **columns})
    for person in ("human_1", "human_2"):
        wrong = rng.random(LABELS) < error
        table[person] = np.nan
        said = np.where(wrong, 1.0 - world.outcomes[chosen], world.outcomes[chosen])
        table.loc[chosen, person] = said
    rows = []
    for name, people, asked in (
        ("ignored", ["human_1"], None),
        ("declared", ["human_1"], error),
        ("estimated", ["human_1", "human_2"], "estimated"),
    ):
        kept = table[["system", "item", *columns, *people]]
        found = evaluate_systems(kept, people, label_error=asked, n_draws=2000).frame()
        found = found.set_index("system").loc[[str(s) for s in range(world.truth.size)]]
        ours = (found["estimate"], found["low"], found["high"])
        alone = (found["labels_only"], found["labels_only_low"], found["labels_only_high"])
        for method, (value, low, high) in (("ssme", ours), ("labels alone", alone)):
            rows.append(
                {
                    "label_error": error,
                    "people": name,
                    "method": method,
                    "error": (value - world.truth).abs().mean(),
                    "coverage": ((low <= world.truth) & (world.truth <= high)).mean(),
                    "width": (high - low).mean(),
                }
            )
    return rows


def main() -> None:
    args = read_arguments(__doc__, runs=200)
    rows = [row for error in ERRORS for run in range(args.runs) for row in run_world(error, run)]
    found = pd.DataFrame(rows).groupby(["label_error", "people", "method"], sort=False)
    summary = found.mean().assign(runs=found.size()).reset_index()
    write_table(RESULTS / "people.csv", summary, digits=4)
    print(summary.round(3).to_string())


if __name__ == "__main__":
    main()
